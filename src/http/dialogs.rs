//! `GET /dialogs`, `POST /hooks/dialog`.

use std::time::Duration;

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::{DialogLog, TabRow};
use tabvisor_page::dialog::Answer;
use tracing::Instrument;

use super::act::{ActedOn, acted_on};
use super::error::ApiError;
use super::fields::Fields;
use super::service::Service;
use super::{body, json, record_overrun};

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
    pub(super) fn of(service: &Service, row: &TabRow) -> Self {
        Self { dialogs: service.supervisor().dialogs(row.tab_id).unwrap_or_default() }
    }
}

/// The dialogs of a tab.
pub(super) async fn list(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let mut query = Fields::of_query(query.as_deref());
    let target = query.text("targetId")?;
    let budget = query.budget(service.budgets().action(), service.max_budget())?;
    let profile = service.profile(&mut query, &mut Fields::default())?;
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    let browser_state = BrowserState::of(&service, &row);
    Ok(json(StatusCode::OK, &Answered { ok: true, tab: acted_on(&service, row), browser_state }))
}

/// Answers the open dialog, or arms the answer to the next one.
pub(super) async fn answer(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let Some(accept) = fields.flag("accept")? else {
        return Err(ApiError::invalid("accept is required")
            .reason("invalid_argument")
            .detail("field", "accept"));
    };
    let answer = Answer { accept, prompt_text: fields.verbatim("promptText")? };
    let (id, target) = (fields.text("dialogId")?, fields.text("targetId")?);
    let armed_for = fields.budget(ARMED, service.max_budget().max(ARMED))?.total();
    let budget = Fields::default().budget(service.budgets().action().min(armed_for), service.max_budget())?;
    let profile = service.profile(&mut Fields::of_query(query.as_deref()), &mut fields)?;
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = "dialog", %tab, budget_ms = budget.left_ms());
    let supervisor = service.supervisor();
    let answered = async {
        if id.is_some() {
            return supervisor.answer_dialog(tab, id, answer, &budget).await.map(Some);
        }
        supervisor.answer_or_arm_dialog(tab, answer, armed_for, &budget).await
    };
    let answered = answered.instrument(span).await;
    record_overrun(&budget);
    let record = answered?;
    let armed = record.is_none();
    Ok(json(
        StatusCode::OK,
        &json!({ "ok": true, "targetId": row.target_id, "dialog": record, "armed": armed }),
    ))
}
