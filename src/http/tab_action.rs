//! `POST /tabs/action`: what can be done with tabs, by the name of an action.

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tabvisor_actors::TabRow;
use tracing::Instrument;

use super::error::ApiError;
use super::fields::Fields;
use super::in_profile::InProfile;
use super::service::Service;
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
            let profile = service.profile(&mut query, &mut fields)?;
            let tabs: Vec<Tab> = profile.tabs().into_iter().map(|row| Tab::new(&profile, row)).collect();
            json(StatusCode::OK, &json!({ "ok": true, "tabs": tabs }))
        }
        Some("new") => {
            let label = label(&mut fields)?;
            let profile = service.profile(&mut query, &mut fields)?;
            let span = tracing::info_span!("request", action = "open", budget_ms = budget.left_ms());
            let opened = profile.open("about:blank", &budget).instrument(span).await;
            record_overrun(&budget);
            let row = opened?;
            profile.names().used(&Candidate::from(&row));
            named(&profile, row, label)
        }
        Some("label") => {
            let (target, label) = (fields.text("targetId")?, label(&mut fields)?);
            let Some((target, label)) = target.zip(label) else {
                return Err(invalid("targetId and label are required").detail("field", "targetId, label"));
            };
            let profile = service.profile(&mut query, &mut fields)?;
            let row = profile.find(&target)?;
            named(&profile, row, Some(label))
        }
        Some("select") => {
            let Some(index) = index(&fields)? else {
                return Err(invalid("index is required").detail("field", "index"));
            };
            let profile = service.profile(&mut query, &mut fields)?;
            let row = at(&profile, index)?;
            bring_to_front(&service, &profile, &row, &budget).await?;
            json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id }))
        }
        Some("close") => {
            let index = index(&fields)?;
            let profile = service.profile(&mut query, &mut fields)?;
            let row = at(&profile, index.unwrap_or_default())?;
            let span = tracing::info_span!("request", action = "close", tab = %row.tab_id, budget_ms = budget.left_ms());
            let closed = service.supervisor().close(row.tab_id, &budget).instrument(span).await;
            record_overrun(&budget);
            closed?;
            json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id }))
        }
        _ => return Err(invalid("unknown tab action").detail("field", "action")),
    })
}

/// The `index` of the list that is meant; `None` if none is given.
fn index(fields: &Fields) -> Result<Option<usize>, ApiError> {
    if !fields.has("index") {
        return Ok(None);
    }
    let wrong = || {
        ApiError::invalid("index must be a non-negative integer.")
            .reason("invalid_argument")
            .detail("field", "index")
    };
    fields.whole::<usize>("index").map(Some).ok_or_else(wrong)
}

/// The tab there, the newest being the first.
fn at(profile: &InProfile, index: usize) -> Result<TabRow, ApiError> {
    let row = profile.tabs().into_iter().nth(index);
    row.ok_or_else(|| match profile.browser() {
        Some(_) => ApiError::new(StatusCode::NOT_FOUND, "tab not found").reason("tab_not_found"),
        None => profile.not_running(),
    })
}

/// Gives a tab its label and tells it.
fn named(profile: &InProfile, row: TabRow, label: Option<String>) -> Response {
    if let Some(label) = label {
        profile.names().claim(label, row.tab_id);
    }
    json(StatusCode::OK, &json!({ "ok": true, "tab": Tab::new(profile, row) }))
}
