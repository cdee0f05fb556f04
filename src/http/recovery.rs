//! `GET /tabs/{target}`, `POST /tabs/{target}/restart`, `POST /tabs/{target}/terminate`.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::TabRow;
use tabvisor_actors::recovery::{LastRecovery, Recovered, RestartRequest, Rung};

use super::call::{Call, Look, run};
use super::error::ApiError;
use super::in_profile::InProfile;
use super::json;
use super::service::Service;
use super::tabs::Tab;
use super::targets::not_found;

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
pub(super) async fn show(target: Target, mut look: Look) -> Result<Response, ApiError> {
    let profile = look.profile()?;
    let row = named(&profile, target)?;
    let last_recovery = look.service.supervisor().last_recovery(row.tab_id)?;
    Ok(json(StatusCode::OK, &Row { tab: Tab::new(&profile, row), last_recovery }))
}

/// Brings a tab back.
pub(super) async fn restart(target: Target, mut call: Call) -> Result<Response, ApiError> {
    let rung = match call.body.text("rung")? {
        None => None,
        Some(name) => Some(rung(&name)?),
    };
    let url = if call.body.has("url") { Some(call.body.address()?) } else { None };
    let budget = call.budget(call.service.budgets().navigate())?;
    let row = named(&call.profile()?, target)?;
    let work = call.service.supervisor().restart(row.tab_id, RestartRequest { rung, url }, &budget);
    answer(&call.service, run("restart", Some(row.tab_id), &budget, work).await)
}

/// Ends the scripts that run on a tab.
pub(super) async fn terminate(target: Target, mut call: Call) -> Result<Response, ApiError> {
    let budget = call.budget(call.service.budgets().action())?;
    let row = named(&call.profile()?, target)?;
    let work = call.service.supervisor().terminate(row.tab_id, &budget);
    answer(&call.service, run("terminate", Some(row.tab_id), &budget, work).await)
}

fn named(profile: &InProfile, target: Target) -> Result<TabRow, ApiError> {
    let Path(target) = target.map_err(|_| not_found(""))?;
    profile.find(target.trim())
}

fn answer(service: &Service, outcome: Result<Recovered, crate::TabError>) -> Result<Response, ApiError> {
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
