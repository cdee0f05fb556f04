//! `POST /navigate`: a tab loads an address; `/navigate/back`, `/forward`, `/reload`: it moves without.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::Arrived;
use tabvisor_page::navigate::{Landed, Move, WaitUntil};

use super::act::ActedOn;
use super::call::Call;
use super::error::ApiError;
use super::json;

/// Loads an address and answers once the page has loaded.
pub(super) async fn navigate(mut call: Call) -> Result<Response, ApiError> {
    let url = call.body.address()?;
    load(call, To::Address(url)).await
}

/// Goes back in the history.
pub(super) async fn back(call: Call) -> Result<Response, ApiError> {
    load(call, To::Move(Move::Back)).await
}

/// Goes forward in the history.
pub(super) async fn forward(call: Call) -> Result<Response, ApiError> {
    load(call, To::Move(Move::Forward)).await
}

/// Loads the page again.
pub(super) async fn reload(call: Call) -> Result<Response, ApiError> {
    load(call, To::Move(Move::Reload)).await
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

async fn load(mut call: Call, to: To) -> Result<Response, ApiError> {
    let until = match call.body.text("waitUntil")?.as_deref() {
        None | Some("load") => WaitUntil::Load,
        Some("domcontentloaded") => WaitUntil::DomContentLoaded,
        Some("commit") => WaitUntil::Commit,
        Some(_) => return Err(ApiError::wrong("waitUntil", "must be load, domcontentloaded or commit.")),
    };
    let on = call.on_tab(call.service.budgets().navigate()).await?;
    let (supervisor, tab, budget) = (on.service.supervisor(), on.tab(), &on.budget);
    let arrived = match to {
        To::Address(url) => {
            on.run("navigate", supervisor.navigate_or_download(tab, &url, until, budget)).await
        }
        To::Move(to) => on.run(to.name(), supervisor.go(tab, to, until, budget)).await.map(Arrived::Document),
    };
    Ok(match arrived? {
        Arrived::Document(landed) => {
            json(StatusCode::OK, &Answer { ok: true, target_id: on.row.target_id, landed })
        }
        Arrived::Download(download) => {
            let ActedOn { target_id, url } = on.acted_on();
            let said = json!({ "ok": true, "targetId": target_id, "url": url, "download": download });
            json(StatusCode::OK, &said)
        }
    })
}
