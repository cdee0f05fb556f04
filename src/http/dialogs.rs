//! `GET /dialogs`, `POST /hooks/dialog`.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::DialogLog;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::dialog::Answer;

use super::act::ActedOn;
use super::call::{Call, OnTab};
use super::error::ApiError;
use super::json;

/// How long an answer that nobody needs yet is kept, unless the request says otherwise.
const ARMED: Duration = Duration::from_mins(2);

/// The dialogs of a tab, as they stand beside other answers.
#[derive(Serialize)]
pub(super) struct BrowserState {
    dialogs: DialogLog,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    browser_state: BrowserState,
}

impl BrowserState {
    /// The dialogs of a tab now.
    pub(super) fn of(on: &OnTab) -> Self {
        Self { dialogs: on.service.supervisor().dialogs(on.tab()).unwrap_or_default() }
    }
}

/// The dialogs of a tab.
pub(super) async fn list(mut call: Call) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().action()).await?;
    let browser_state = BrowserState::of(&on);
    Ok(json(StatusCode::OK, &Answered { ok: true, tab: on.acted_on(), browser_state }))
}

/// Answers the open dialog, or arms the answer to the next one.
pub(super) async fn answer(mut call: Call) -> Result<Response, ApiError> {
    let Some(accept) = call.body.flag("accept")? else {
        return Err(ApiError::about("accept", "accept is required"));
    };
    let answer = Answer { accept, prompt_text: call.body.verbatim("promptText")? };
    let id = call.body.text("dialogId")?;
    let armed_for = call.budget_up_to(ARMED, call.service.max_budget().max(ARMED))?.total();
    let on = call.on_tab_within(Budget::new(call.service.budgets().action().min(armed_for))).await?;
    let supervisor = on.service.supervisor();
    let answered = async {
        if id.is_some() {
            return supervisor.answer_dialog(on.tab(), id, answer, &on.budget).await.map(Some);
        }
        supervisor.answer_or_arm_dialog(on.tab(), answer, armed_for, &on.budget).await
    };
    let record = on.run("dialog", answered).await?;
    let armed = record.is_none();
    Ok(json(
        StatusCode::OK,
        &json!({ "ok": true, "targetId": on.row.target_id, "dialog": record, "armed": armed }),
    ))
}
