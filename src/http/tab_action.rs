//! `POST /tabs/action`: what can be done with tabs, by the name of an action.

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tabvisor_actors::TabRow;
use tracing::Instrument;

use super::error::ApiError;
use super::fields::Fields;
use super::service::{Service, check_profile};
use super::tabs::{Tab, bring_to_front};
use super::targets::{Candidate, check_label};
use super::{body, json, record_overrun};

/// Does what `action` says: list, new, label, select or close.
pub(super) async fn act(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let action = fields.text("action")?;
    let budget = fields.budget(service.budgets().action(), service.max_budget())?;
    let invalid = |error: &str| ApiError::invalid(error).reason("invalid_argument");
    let label = |fields: &mut Fields| match fields.text("label")? {
        Some(label) => check_label(&label).map(|()| Some(label)),
        None => Ok(None),
    };
    let mut query = Fields::of_query(query.as_deref());
    Ok(match action.as_deref() {
        Some("list") => {
            check_profile(&mut query, &mut fields)?;
            let tabs: Vec<Tab> = service.tabs().into_iter().map(|row| Tab::new(&service, row)).collect();
            json(StatusCode::OK, &json!({ "ok": true, "tabs": tabs }))
        }
        Some("new") => {
            let label = label(&mut fields)?;
            check_profile(&mut query, &mut fields)?;
            let span = tracing::info_span!("request", action = "open", budget_ms = budget.left_ms());
            let opened = service.open("about:blank", &budget).instrument(span).await;
            record_overrun(&budget);
            let row = opened?;
            service.names().used(&Candidate::from(&row));
            named(&service, row, label)
        }
        Some("label") => {
            let (target, label) = (fields.text("targetId")?, label(&mut fields)?);
            let Some((target, label)) = target.zip(label) else {
                return Err(invalid("targetId and label are required").detail("field", "targetId, label"));
            };
            check_profile(&mut query, &mut fields)?;
            let row = service.find(&target)?;
            named(&service, row, Some(label))
        }
        Some("select") => {
            let Some(row) = by_index(&service, &fields)? else {
                return Err(invalid("index is required").detail("field", "index"));
            };
            check_profile(&mut query, &mut fields)?;
            bring_to_front(&service, &row, &budget).await?;
            json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id }))
        }
        Some("close") => {
            let row = by_index(&service, &fields)?;
            check_profile(&mut query, &mut fields)?;
            let row = row.or_else(|| service.tabs().into_iter().next()).ok_or_else(not_found)?;
            let span = tracing::info_span!("request", action = "close", tab = %row.tab_id, budget_ms = budget.left_ms());
            let closed = service.supervisor().close(row.tab_id, &budget).instrument(span).await;
            record_overrun(&budget);
            closed?;
            json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id }))
        }
        _ => return Err(invalid("unknown tab action").detail("field", "action")),
    })
}

/// The tab at `index` of the list, the newest being the first; `None` if none is given.
fn by_index(service: &Service, fields: &Fields) -> Result<Option<TabRow>, ApiError> {
    if !fields.has("index") {
        return Ok(None);
    }
    let wrong = || {
        ApiError::invalid("index must be a non-negative integer.")
            .reason("invalid_argument")
            .detail("field", "index")
    };
    let index = fields.whole::<usize>("index").ok_or_else(wrong)?;
    service.tabs().into_iter().nth(index).map(Some).ok_or_else(not_found)
}

fn not_found() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "tab not found").reason("tab_not_found")
}

/// Gives a tab its label and tells it.
fn named(service: &Service, row: TabRow, label: Option<String>) -> Response {
    if let Some(label) = label {
        service.names().claim(label, row.tab_id);
    }
    json(StatusCode::OK, &json!({ "ok": true, "tab": Tab::new(service, row) }))
}
