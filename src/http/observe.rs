//! `GET /console`, `/errors`, `/requests`, `POST /response/body`: what a page says, and what it gets.

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Map, Value};
use tabvisor_actors::TabRow;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::observe::{Heard, Level, UrlPattern};
use tracing::Instrument;

use crate::TabError;

use super::act::{ActedOn, acted_on};
use super::error::ApiError;
use super::fields::Fields;
use super::service::Service;
use super::{body, json, record_overrun};

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

/// What every one of the three asks.
struct Asked {
    query: Fields,
    row: TabRow,
    budget: Budget,
    since: Option<u64>,
    clear: bool,
}

/// The messages of the console.
pub(super) async fn console(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let mut fields = Fields::of_query(query.as_deref());
    let at_least = match fields.text("level")?.as_deref() {
        None => Level::Debug,
        Some("error") => Level::Error,
        Some("warn" | "warning") => Level::Warn,
        Some("info") => Level::Info,
        Some(_) => return Err(ApiError::wrong("level", "must be error, warn or info.")),
    };
    let Asked { row, budget, since, .. } = read(&service, fields).await?;
    let heard = service.supervisor().console(row.tab_id, since, at_least, &budget).await;
    answer(&service, row, "messages", heard?)
}

/// The errors that nobody caught.
pub(super) async fn errors(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let Asked { row, budget, since, clear, .. } = read(&service, Fields::of_query(query.as_deref())).await?;
    let heard = service.supervisor().page_errors(row.tab_id, since, clear, &budget).await;
    answer(&service, row, "errors", heard?)
}

/// The requests.
pub(super) async fn requests(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let Asked { mut query, row, budget, since, clear } =
        read(&service, Fields::of_query(query.as_deref())).await?;
    let filter = query.text("filter")?;
    let heard = service.supervisor().requests(row.tab_id, since, filter.as_deref(), clear, &budget).await;
    answer(&service, row, "requests", heard?)
}

/// Waits for a response, and gives its body.
pub(super) async fn response_body(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let Some(url) = fields.text("url")? else { return Err(ApiError::wrong("url", "is required")) };
    let pattern = UrlPattern::new(&url).map_err(|why| ApiError::wrong("url", why))?;
    let max_chars = fields.positive("maxChars")?.unwrap_or(BODY_CHARS);
    let budget = fields.budget(service.budgets().navigate(), service.max_budget())?;
    let target = fields.text("targetId")?;
    let profile = service.profile(&mut Fields::of_query(query.as_deref()), &mut fields)?;
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = "response", %tab, budget_ms = budget.left_ms());
    let waiting = service.supervisor().response(tab, &pattern, max_chars, &budget);
    let response = waiting.instrument(span).await;
    record_overrun(&budget);
    let mut named = Map::new();
    named.insert("response".into(), member(&response?)?);
    Ok(json(StatusCode::OK, &Told { ok: true, tab: acted_on(&service, row), named }))
}

#[derive(Serialize)]
struct Told {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(flatten)]
    named: Map<String, Value>,
}

async fn read(service: &Service, mut query: Fields) -> Result<Asked, ApiError> {
    let target = query.text("targetId")?;
    let budget = query.budget(service.budgets().action(), service.max_budget())?;
    let profile = service.profile(&mut query, &mut Fields::default())?;
    let since = query.count("since")?;
    let clear = query.truth("clear").unwrap_or(false);
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    Ok(Asked { query, row, budget, since, clear })
}

fn answer<T: Serialize>(
    service: &Service,
    row: TabRow,
    name: &str,
    mut heard: Heard<T>,
) -> Result<Response, ApiError> {
    let mut named = Map::new();
    named.insert(name.to_owned(), member(&std::mem::take(&mut heard.rows))?);
    Ok(json(StatusCode::OK, &Rows { ok: true, tab: acted_on(service, row), named, heard }))
}

fn member(value: &impl Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(value).map_err(|why| TabError::Internal(why.to_string()).into())
}
