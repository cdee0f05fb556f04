//! `POST /navigate`: a tab loads an address.

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tabvisor_actors::Arrived;
use tabvisor_page::navigate::WaitUntil;
use tracing::Instrument;

use super::act::{ActedOn, acted_on};
use super::error::ApiError;
use super::fields::Fields;
use super::service::{Service, check_profile};
use super::{body, json, record_overrun};

/// Loads an address and answers once the page has loaded.
pub(super) async fn navigate(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let url = fields.address()?;
    let until = match fields.text("waitUntil")?.as_deref() {
        None | Some("load") => WaitUntil::Load,
        Some("domcontentloaded") => WaitUntil::DomContentLoaded,
        Some("commit") => WaitUntil::Commit,
        Some(_) => return Err(ApiError::invalid("waitUntil must be load, domcontentloaded or commit.")),
    };
    let target = fields.text("targetId")?;
    let budget = fields.budget(service.budgets().navigate(), service.max_budget())?;
    check_profile(&mut Fields::of_query(query.as_deref()), &mut fields)?;
    let row = service.named_or_last(target.as_deref(), &budget).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = "navigate", %tab, budget_ms = budget.left_ms());
    let arrived = service.supervisor().navigate_or_download(tab, &url, until, &budget).instrument(span).await;
    record_overrun(&budget);
    let said = match arrived? {
        Arrived::Document(landed) => json!({
            "ok": true, "targetId": row.target_id, "url": landed.url, "sameDocument": landed.same_document,
        }),
        Arrived::Download(download) => {
            let ActedOn { target_id, url } = acted_on(&service, row);
            json!({ "ok": true, "targetId": target_id, "url": url, "download": download })
        }
    };
    Ok(json(StatusCode::OK, &said))
}
