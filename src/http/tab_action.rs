//! `POST /tabs/action`: what can be done with tabs, by the name of an action.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tabvisor_actors::TabRow;

use super::call::Call;
use super::error::ApiError;
use super::fields::Fields;
use super::in_profile::InProfile;
use super::json;
use super::tabs::{Tab, bring_to_front, close_row, label, open_labelled};

/// Does what `action` says: list, new, label, select or close.
pub(super) async fn act(mut call: Call) -> Result<Response, ApiError> {
    let action = call.body.text("action")?;
    let budget = call.budget(call.service.budgets().action())?;
    match action.as_deref() {
        Some("list") => {
            let tabs = Tab::all(&call.profile()?);
            Ok(json(StatusCode::OK, &json!({ "ok": true, "tabs": tabs })))
        }
        Some("new") => {
            let label = label(&mut call)?;
            let tab = open_labelled(&call.profile()?, "about:blank", label, &budget).await?;
            Ok(json(StatusCode::OK, &json!({ "ok": true, "tab": tab })))
        }
        Some("label") => {
            let (target, label) = (call.body.text("targetId")?, label(&mut call)?);
            let Some((target, label)) = target.zip(label) else {
                return Err(ApiError::about("targetId, label", "targetId and label are required"));
            };
            let profile = call.profile()?;
            let row = profile.find(&target)?;
            profile.names().claim(label, row.tab_id);
            Ok(json(StatusCode::OK, &json!({ "ok": true, "tab": Tab::new(&profile, row) })))
        }
        Some("select") => {
            let Some(index) = index(&call.body)? else {
                return Err(ApiError::about("index", "index is required"));
            };
            let profile = call.profile()?;
            let row = at(&profile, index)?;
            bring_to_front(&profile, row, &budget).await
        }
        Some("close") => {
            let index = index(&call.body)?;
            let profile = call.profile()?;
            let row = at(&profile, index.unwrap_or_default())?;
            close_row(&profile, row, &budget).await
        }
        _ => Err(ApiError::about("action", "unknown tab action")),
    }
}

/// The `index` of the list that is meant; `None` if none is given.
fn index(fields: &Fields) -> Result<Option<usize>, ApiError> {
    if !fields.has("index") {
        return Ok(None);
    }
    let wrong = || ApiError::wrong("index", "must be a non-negative integer.");
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
