//! `POST /navigate`: a tab loads an address; `/navigate/back`, `/forward`, `/reload`: it moves without.

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::Arrived;
use tabvisor_page::navigate::{Landed, Move, WaitUntil};
use tracing::Instrument;

use super::act::{ActedOn, acted_on};
use super::error::ApiError;
use super::fields::Fields;
use super::service::Service;
use super::{body, json, record_overrun};

/// Loads an address and answers once the page has loaded.
pub(super) async fn navigate(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let url = fields.address()?;
    load(&service, query.as_deref(), fields, To::Address(url)).await
}

/// Goes back in the history.
pub(super) async fn back(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let fields = body::fields(request, service.max_body_bytes()).await?;
    load(&service, query.as_deref(), fields, To::Move(Move::Back)).await
}

/// Goes forward in the history.
pub(super) async fn forward(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let fields = body::fields(request, service.max_body_bytes()).await?;
    load(&service, query.as_deref(), fields, To::Move(Move::Forward)).await
}

/// Loads the page again.
pub(super) async fn reload(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let fields = body::fields(request, service.max_body_bytes()).await?;
    load(&service, query.as_deref(), fields, To::Move(Move::Reload)).await
}

enum To {
    Address(String),
    Move(Move),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    ok: bool,
    target_id: String,
    #[serde(flatten)]
    landed: Landed,
}

async fn load(
    service: &Service,
    query: Option<&str>,
    mut fields: Fields,
    to: To,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let until = match fields.text("waitUntil")?.as_deref() {
        None | Some("load") => WaitUntil::Load,
        Some("domcontentloaded") => WaitUntil::DomContentLoaded,
        Some("commit") => WaitUntil::Commit,
        Some(_) => return Err(ApiError::wrong("waitUntil", "must be load, domcontentloaded or commit.")),
    };
    let target = fields.text("targetId")?;
    let budget = fields.budget(service.budgets().navigate(), service.max_budget())?;
    let profile = service.profile(&mut Fields::of_query(query), &mut fields)?;
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    let tab = row.tab_id;
    let name = if let To::Move(to) = &to { to.name() } else { "navigate" };
    let span = tracing::info_span!("request", action = name, %tab, budget_ms = budget.left_ms());
    let supervisor = service.supervisor();
    let arrived = match to {
        To::Address(url) => supervisor.navigate_or_download(tab, &url, until, &budget).instrument(span).await,
        To::Move(to) => supervisor.go(tab, to, until, &budget).instrument(span).await.map(Arrived::Document),
    };
    record_overrun(&budget);
    Ok(match arrived? {
        Arrived::Document(landed) => {
            json(StatusCode::OK, &Answer { ok: true, target_id: row.target_id, landed })
        }
        Arrived::Download(download) => {
            let ActedOn { target_id, url } = acted_on(service, row);
            let said = json!({ "ok": true, "targetId": target_id, "url": url, "download": download });
            json(StatusCode::OK, &said)
        }
    })
}
