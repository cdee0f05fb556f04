//! `GET /console`, `/errors`, `/requests`, `POST /response/body`: what a page says, and what it gets.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Map, Value};
use tabvisor_page::observe::{Heard, Level, UrlPattern};

use crate::TabError;

use super::act::ActedOn;
use super::call::{Call, OnTab};
use super::error::ApiError;
use super::json;

/// Characters of a body, unless the request says otherwise.
const BODY_CHARS: usize = 200_000;

/// Rows under the name that clients know, and what is not among them.
#[derive(Serialize)]
struct Rows<T: Serialize> {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(flatten)]
    named: Map<String, Value>,
    #[serde(flatten)]
    heard: Heard<T>,
}

/// The messages of the console.
pub(super) async fn console(mut call: Call) -> Result<Response, ApiError> {
    let at_least = match call.query.text("level")?.as_deref() {
        None => Level::Debug,
        Some("error") => Level::Error,
        Some("warn" | "warning") => Level::Warn,
        Some("info") => Level::Info,
        Some(_) => return Err(ApiError::wrong("level", "must be error, warn or info.")),
    };
    let since = call.query.count("since")?;
    let on = call.on_tab(call.service.budgets().action()).await?;
    let heard = on.service.supervisor().console(on.tab(), since, at_least, &on.budget);
    let heard = on.run("console", heard).await?;
    answer(&on, "messages", heard)
}

/// The errors that nobody caught.
pub(super) async fn errors(mut call: Call) -> Result<Response, ApiError> {
    let (since, clear) = (call.query.count("since")?, call.query.truth("clear").unwrap_or(false));
    let on = call.on_tab(call.service.budgets().action()).await?;
    let heard = on.service.supervisor().page_errors(on.tab(), since, clear, &on.budget);
    let heard = on.run("errors", heard).await?;
    answer(&on, "errors", heard)
}

/// The requests.
pub(super) async fn requests(mut call: Call) -> Result<Response, ApiError> {
    let (since, clear) = (call.query.count("since")?, call.query.truth("clear").unwrap_or(false));
    let filter = call.query.text("filter")?;
    let on = call.on_tab(call.service.budgets().action()).await?;
    let heard = on.service.supervisor().requests(on.tab(), since, filter.as_deref(), clear, &on.budget);
    let heard = on.run("requests", heard).await?;
    answer(&on, "requests", heard)
}

/// Waits for a response, and gives its body.
pub(super) async fn response_body(mut call: Call) -> Result<Response, ApiError> {
    let Some(url) = call.body.text("url")? else { return Err(ApiError::wrong("url", "is required")) };
    let pattern = UrlPattern::new(&url).map_err(|why| ApiError::wrong("url", why))?;
    let max_chars = call.body.positive("maxChars")?.unwrap_or(BODY_CHARS);
    let on = call.on_tab(call.service.budgets().navigate()).await?;
    let waiting = on.service.supervisor().response(on.tab(), &pattern, max_chars, &on.budget);
    let response = on.run("response", waiting).await?;
    let mut named = Map::new();
    named.insert("response".into(), member(&response)?);
    Ok(json(StatusCode::OK, &Told { ok: true, tab: on.acted_on(), named }))
}

#[derive(Serialize)]
struct Told {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(flatten)]
    named: Map<String, Value>,
}

fn answer<T: Serialize>(on: &OnTab, name: &str, mut heard: Heard<T>) -> Result<Response, ApiError> {
    let mut named = Map::new();
    named.insert(name.to_owned(), member(&std::mem::take(&mut heard.rows))?);
    Ok(json(StatusCode::OK, &Rows { ok: true, tab: on.acted_on(), named, heard }))
}

fn member(value: &impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(value).map_err(|why| TabError::Internal(why.to_string()).into())
}
