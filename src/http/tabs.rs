//! `GET /tabs`, `POST /tabs/open`, `POST /tabs/focus`, `DELETE /tabs/{target}`.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::TabRow;
use tabvisor_cdp::budget::Budget;

use super::call::{Call, Look, run};
use super::error::ApiError;
use super::in_profile::InProfile;
use super::json;
use super::targets::{Candidate, check_label, not_found};

/// A tab as clients know it, with what more is known of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tab {
    #[serde(flatten)]
    row: TabRow,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// What to call it by.
    suggested_target_id: String,
}

#[derive(Serialize)]
struct List {
    running: bool,
    tabs: Vec<Tab>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    #[serde(flatten)]
    tab: Tab,
    ownership: Ownership,
    resolved_profile: String,
}

/// Whether a client may find this very tab again after it was restarted itself.
#[derive(Serialize)]
struct Ownership {
    status: &'static str,
    reason: &'static str,
}

impl Tab {
    pub(super) fn new(profile: &InProfile, row: TabRow) -> Self {
        let label = profile.names().label(row.tab_id).map(str::to_owned);
        let suggested_target_id = label.clone().unwrap_or_else(|| row.tab_id.to_string());
        Self { row, r#type: "page", label, suggested_target_id }
    }

    /// All that callers see, newest first.
    pub(super) fn all(profile: &InProfile) -> Vec<Self> {
        profile.tabs().into_iter().map(|row| Self::new(profile, row)).collect()
    }
}

/// From what is already known: no page is asked.
pub(super) async fn list(mut look: Look) -> Result<Response, ApiError> {
    let profile = look.profile()?;
    let running = profile.browser().is_some();
    Ok(json(StatusCode::OK, &List { running, tabs: Tab::all(&profile) }))
}

/// Opens a tab and answers as soon as its document is there.
pub(super) async fn open(mut call: Call) -> Result<Response, ApiError> {
    let url = call.body.address()?;
    let label = label(&mut call)?;
    let budget = call.budget(call.service.budgets().navigate())?;
    let profile = call.profile()?;
    let tab = open_labelled(&profile, &url, label, &budget).await?;
    let ownership = Ownership { status: "non-durable", reason: "browser-identity-unavailable" };
    let resolved_profile = profile.name().to_owned();
    Ok(json(StatusCode::OK, &Opened { tab, ownership, resolved_profile }))
}

/// The label that a request gives.
pub(super) fn label(call: &mut Call) -> Result<Option<String>, ApiError> {
    let label = call.body.text("label")?;
    if let Some(label) = &label {
        check_label(label)?;
    }
    Ok(label)
}

/// Opens a tab, which is the last used one from now on.
pub(super) async fn open_labelled(
    profile: &InProfile,
    url: &str,
    label: Option<String>,
    budget: &Budget,
) -> Result<Tab, ApiError> {
    let row = run("open", None, budget, profile.open(url, budget)).await?;
    {
        let mut names = profile.names();
        names.used(&Candidate::from(&row));
        if let Some(label) = label {
            names.claim(label, row.tab_id);
        }
    }
    Ok(Tab::new(profile, row))
}

/// Brings a tab to the front; it is the last used one from now on.
pub(super) async fn focus(mut call: Call) -> Result<Response, ApiError> {
    let Some(target) = call.body.text("targetId")? else {
        return Err(ApiError::about("targetId", "targetId is required"));
    };
    let budget = call.budget(call.service.budgets().action())?;
    let profile = call.profile()?;
    let row = profile.find(&target)?;
    bring_to_front(&profile, row, &budget).await
}

pub(super) async fn bring_to_front(
    profile: &InProfile,
    row: TabRow,
    budget: &Budget,
) -> Result<Response, ApiError> {
    let focusing = profile.supervisor().focus(row.tab_id, budget);
    run("focus", Some(row.tab_id), budget, focusing).await?;
    profile.names().used(&Candidate::from(&row));
    Ok(done(&row))
}

/// Closes a tab, also one that is stuck.
pub(super) async fn close(
    target: Result<Path<String>, PathRejection>,
    call: Call,
) -> Result<Response, ApiError> {
    let Path(target) = target.map_err(|_| not_found(""))?;
    close_named(call, target.trim()).await
}

/// Closes the tab that is named `open`.
pub(super) async fn close_named_open(call: Call) -> Result<Response, ApiError> {
    close_named(call, "open").await
}

/// Closes the tab that is named `focus`.
pub(super) async fn close_named_focus(call: Call) -> Result<Response, ApiError> {
    close_named(call, "focus").await
}

/// Closes the tab that is named `action`.
pub(super) async fn close_named_action(call: Call) -> Result<Response, ApiError> {
    close_named(call, "action").await
}

async fn close_named(mut call: Call, target: &str) -> Result<Response, ApiError> {
    let budget = call.budget(call.service.budgets().action())?;
    let raw_only = call.query.text("targetIdMode")?.as_deref() == Some("raw");
    let profile = call.profile()?;
    let row = profile.find(target)?;
    if raw_only && row.target_id != target {
        return Err(not_found(target));
    }
    close_row(&profile, row, &budget).await
}

pub(super) async fn close_row(
    profile: &InProfile,
    row: TabRow,
    budget: &Budget,
) -> Result<Response, ApiError> {
    run("close", Some(row.tab_id), budget, profile.supervisor().close(row.tab_id, budget)).await?;
    Ok(done(&row))
}

fn done(row: &TabRow) -> Response {
    json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id }))
}
