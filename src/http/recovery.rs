//! `GET /tabs/{target}`, `POST /tabs/{target}/restart`, `POST /tabs/{target}/terminate`.

use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::TabRow;
use tabvisor_actors::recovery::{LastRecovery, Recovered, RestartRequest, Rung};
use tabvisor_cdp::budget::Budget;
use tracing::Instrument;

use super::error::ApiError;
use super::fields::Fields;
use super::in_profile::InProfile;
use super::service::Service;
use super::tabs::Tab;
use super::targets::not_found;
use super::{body, json, record_overrun};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(flatten)]
    tab: Tab,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_recovery: Option<LastRecovery>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    ok: bool,
    target_id: String,
    #[serde(flatten)]
    recovered: Recovered,
}

type Target = Result<Path<String>, PathRejection>;

/// One tab, from what is already known.
pub(super) async fn show(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    target: Target,
) -> Result<Response, ApiError> {
    let profile = service.profile(&mut Fields::of_query(query.as_deref()), &mut Fields::default())?;
    let row = named(&profile, target)?;
    let last_recovery = service.supervisor().last_recovery(row.tab_id)?;
    Ok(json(StatusCode::OK, &Row { tab: Tab::new(&profile, row), last_recovery }))
}

/// Brings a tab back.
pub(super) async fn restart(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    target: Target,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let rung = match fields.text("rung")? {
        None => None,
        Some(name) => Some(rung(&name)?),
    };
    let url = if fields.has("url") { Some(fields.address()?) } else { None };
    let (row, budget) = asked(&service, query.as_deref(), target, &mut fields, service.budgets().navigate())?;
    let span =
        tracing::info_span!("request", action = "restart", tab = %row.tab_id, budget_ms = budget.left_ms());
    let work = service.supervisor().restart(row.tab_id, RestartRequest { rung, url }, &budget);
    answer(&service, work.instrument(span).await, &budget)
}

/// Ends the scripts that run on a tab.
pub(super) async fn terminate(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    target: Target,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let (row, budget) = asked(&service, query.as_deref(), target, &mut fields, service.budgets().action())?;
    let span =
        tracing::info_span!("request", action = "terminate", tab = %row.tab_id, budget_ms = budget.left_ms());
    let ended = service.supervisor().terminate(row.tab_id, &budget).instrument(span).await;
    answer(&service, ended, &budget)
}

fn named(profile: &InProfile, target: Target) -> Result<TabRow, ApiError> {
    let Path(target) = target.map_err(|_| not_found(""))?;
    profile.find(target.trim())
}

fn asked(
    service: &Service,
    query: Option<&str>,
    target: Target,
    fields: &mut Fields,
    default: Duration,
) -> Result<(TabRow, Budget), ApiError> {
    let mut query = Fields::of_query(query);
    let budget =
        if query.has("timeoutMs") { &query } else { &*fields }.budget(default, service.max_budget())?;
    let profile = service.profile(&mut query, fields)?;
    Ok((named(&profile, target)?, budget))
}

fn answer(
    service: &Service,
    outcome: Result<Recovered, crate::TabError>,
    budget: &Budget,
) -> Result<Response, ApiError> {
    record_overrun(budget);
    let recovered = outcome?;
    // The rung may have changed it.
    let target_id = service.supervisor().tab(recovered.tab_id)?.target_id;
    Ok(json(StatusCode::OK, &Answer { ok: true, target_id, recovered }))
}

fn rung(name: &str) -> Result<Rung, ApiError> {
    Rung::named(name).ok_or_else(|| {
        let names: Vec<_> = Rung::ALL.iter().map(|rung| rung.name()).collect();
        ApiError::invalid(format!("rung must be one of {}.", names.join(", ")))
            .reason("invalid_argument")
            .details(json!({ "field": "rung", "allowed": names }))
    })
}
