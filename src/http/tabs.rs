//! `GET /tabs`, `POST /tabs/open`, `POST /tabs/focus`, `DELETE /tabs/{target}`.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::TabRow;
use tabvisor_cdp::budget::Budget;
use tracing::Instrument;

use super::error::ApiError;
use super::fields::Fields;
use super::in_profile::InProfile;
use super::service::Service;
use super::targets::{Candidate, check_label, not_found};
use super::{body, json, record_overrun};

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
}

/// From what is already known: no page is asked.
pub(super) async fn list(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let profile = service.profile(&mut Fields::of_query(query.as_deref()), &mut Fields::default())?;
    let running = profile.browser().is_some();
    let tabs = profile.tabs().into_iter().map(|row| Tab::new(&profile, row)).collect();
    Ok(json(StatusCode::OK, &List { running, tabs }))
}

/// Opens a tab and answers as soon as its document is there.
pub(super) async fn open(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let url = fields.address()?;
    let label = fields.text("label")?;
    if let Some(label) = &label {
        check_label(label)?;
    }
    let budget = fields.budget(service.budgets().navigate(), service.max_budget())?;
    let profile = service.profile(&mut Fields::of_query(query.as_deref()), &mut fields)?;
    let span = tracing::info_span!("request", action = "open", budget_ms = budget.left_ms());
    let opened = profile.open(&url, &budget).instrument(span).await;
    record_overrun(&budget);
    let row = opened?;
    {
        let mut names = profile.names();
        names.used(&Candidate::from(&row));
        if let Some(label) = label {
            names.claim(label, row.tab_id);
        }
    }
    let ownership = Ownership { status: "non-durable", reason: "browser-identity-unavailable" };
    let opened =
        Opened { tab: Tab::new(&profile, row), ownership, resolved_profile: profile.name().to_owned() };
    Ok(json(StatusCode::OK, &opened))
}

/// Brings a tab to the front; it is the last used one from now on.
pub(super) async fn focus(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let Some(target) = fields.text("targetId")? else {
        return Err(ApiError::invalid("targetId is required")
            .reason("invalid_argument")
            .detail("field", "targetId"));
    };
    let budget = fields.budget(service.budgets().action(), service.max_budget())?;
    let profile = service.profile(&mut Fields::of_query(query.as_deref()), &mut fields)?;
    let row = profile.find(&target)?;
    bring_to_front(&service, &profile, &row, &budget).await?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id })))
}

pub(super) async fn bring_to_front(
    service: &Service,
    profile: &InProfile,
    row: &TabRow,
    budget: &Budget,
) -> Result<(), ApiError> {
    let span =
        tracing::info_span!("request", action = "focus", tab = %row.tab_id, budget_ms = budget.left_ms());
    let focused = service.supervisor().focus(row.tab_id, budget).instrument(span).await;
    record_overrun(budget);
    focused?;
    profile.names().used(&Candidate::from(row));
    Ok(())
}

/// Closes a tab, also one that is stuck.
pub(super) async fn close(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    target: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    let Path(target) = target.map_err(|_| not_found(""))?;
    close_named(&service, query.as_deref(), target.trim()).await
}

/// Closes the tab that is named `open`.
pub(super) async fn close_named_open(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    close_named(&service, query.as_deref(), "open").await
}

/// Closes the tab that is named `focus`.
pub(super) async fn close_named_focus(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    close_named(&service, query.as_deref(), "focus").await
}

/// Closes the tab that is named `action`.
pub(super) async fn close_named_action(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    close_named(&service, query.as_deref(), "action").await
}

async fn close_named(service: &Service, query: Option<&str>, target: &str) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut query = Fields::of_query(query);
    let budget = query.budget(service.budgets().action(), service.max_budget())?;
    let raw_only = query.text("targetIdMode")?.as_deref() == Some("raw");
    let profile = service.profile(&mut query, &mut Fields::default())?;
    let row = profile.find(target)?;
    if raw_only && row.target_id != target {
        return Err(not_found(target));
    }
    let span =
        tracing::info_span!("request", action = "close", tab = %row.tab_id, budget_ms = budget.left_ms());
    let closed = service.supervisor().close(row.tab_id, &budget).instrument(span).await;
    record_overrun(&budget);
    closed?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id })))
}
