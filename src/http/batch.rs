//! `POST /act` of kind `batch`: several actions in one request.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Acted, Step, StepDone, StepKind, StepResult, Stepped, Steps, StopReason, Stopped, Waited};

use super::act::{self, ActedOn};
use super::call::Call;
use super::dialogs::BrowserState;
use super::error::{ApiError, Code};
use super::fields::Fields;
use super::kinds::{self, KINDS};
use super::service::{Service, is_internal};
use super::{json, wait};

/// As deep as batches are read; what may be is decided by [`Steps`].
const READ: usize = 8;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    results: Vec<Entry>,
    /// As clients know it: only for a navigation or a tab that closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    aborted: Option<Stopped>,
    /// Whatever the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
    #[serde(rename = "blockedByDialog", skip_serializing_if = "std::ops::Not::not")]
    by_dialog: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    browser_state: Option<BrowserState>,
}

/// What became of one action. What a script gave is not told.
#[derive(Serialize)]
struct Entry {
    ok: bool,
    #[serde(flatten)]
    failure: Option<Failure>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    navigated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(flatten)]
    acted: Option<Box<Acted>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<Waited>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Entry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
}

#[derive(Serialize)]
struct Failure {
    error: String,
    reason: &'static str,
}

/// A batch as it is read.
struct Asked {
    steps: Steps,
    /// The tabs that its actions name.
    targets: Vec<String>,
    /// What its actions may take together, where the request does not say.
    default: Duration,
}

/// Does the actions of a batch, one after the other, within one budget.
pub(super) async fn batch(call: &mut Call) -> Result<Response, ApiError> {
    let Asked { steps, targets, default } = read(&call.service, &mut call.body, 1)?;
    steps.check(call.service.max_script_bytes())?;
    let on = call.on_tab(default).await?;
    for named in targets {
        if on.profile.find(&named).ok().map(|it| it.tab_id) != Some(on.tab()) {
            let error = "batched action targetId must match request targetId";
            return Err(ApiError::new(StatusCode::FORBIDDEN, error).code(Code::TargetIdMismatch));
        }
    }
    let work = on.service.supervisor().steps(on.tab(), steps, &on.budget);
    let Stepped { results, stopped } = on.run("batch", work).await?;
    let by_dialog = stopped.as_ref().is_some_and(|it| it.reason == StopReason::Dialog);
    let known = |it: &Stopped| matches!(it.reason, StopReason::Navigation | StopReason::Closed);
    let answer = Answer {
        ok: true,
        browser_state: by_dialog.then(|| BrowserState::of(&on)),
        tab: on.acted_on(),
        results: results.into_iter().map(Entry::from).collect(),
        aborted: stopped.clone().filter(known),
        stopped,
        by_dialog,
    };
    Ok(json(StatusCode::OK, &answer))
}

fn read(service: &Service, fields: &mut Fields, depth: usize) -> Result<Asked, ApiError> {
    let wrong = |why: &str| ApiError::invalid(format!("actions {why}")).detail("field", "actions");
    let actions = match fields.take("actions") {
        Some(Value::Array(actions)) if !actions.is_empty() => actions,
        None | Some(Value::Null | Value::Array(_)) => {
            return Err(ApiError::invalid("batch requires actions").detail("field", "actions"));
        }
        Some(_) => return Err(wrong("must be a list of objects")),
    };
    let go_on = !fields.flag("stopOnError")?.unwrap_or(true);
    let mut asked =
        Asked { steps: Steps { steps: Vec::new(), go_on }, targets: Vec::new(), default: Duration::ZERO };
    for action in actions {
        let Value::Object(action) = action else { return Err(wrong("must be a list of objects")) };
        let (step, own) = one(service, action, depth, &mut asked.targets)?;
        asked.default += step.within.unwrap_or(own);
        asked.steps.steps.push(step);
    }
    Ok(asked)
}

/// One action, and how long it may take where it does not say.
fn one(
    service: &Service,
    action: Map<String, Value>,
    depth: usize,
    targets: &mut Vec<String>,
) -> Result<(Step, Duration), ApiError> {
    let mut fields = Fields::from(action);
    let budgets = service.budgets();
    targets.extend(fields.text("targetId")?);
    // Checked here; it begins with the action.
    let within = if fields.has("timeoutMs") {
        Some(fields.budget(budgets.action(), service.max_budget())?.total())
    } else {
        None
    };
    let kind = fields.text("kind")?;
    let (what, own) = match kind.as_deref() {
        Some("wait") => {
            let wait = wait::read(&mut fields)?;
            let own = wait::default_budget(service, &wait);
            let denied = wait.function.is_some() && !service.evaluate_enabled();
            (if denied { StepKind::Denied(wait::DISABLED) } else { StepKind::Wait(wait) }, own)
        }
        Some("evaluate") => {
            let request = act::read_evaluate(&mut fields)?;
            let denied = !service.evaluate_enabled();
            let what = if denied { StepKind::Denied(act::DISABLED) } else { StepKind::Evaluate(request) };
            (what, budgets.evaluate())
        }
        Some("close") => (StepKind::Close, budgets.action()),
        Some("batch") if depth >= READ => {
            return Err(ApiError::invalid("actions are nested too deep").detail("field", "actions"));
        }
        Some("batch") => {
            let inside = read(service, &mut fields, depth + 1)?;
            targets.extend(inside.targets);
            (StepKind::Steps(inside.steps), inside.default)
        }
        Some(kind) if KINDS.contains(&kind) => {
            (StepKind::Act(kinds::read(kind, &mut fields)?), budgets.action())
        }
        _ => {
            return Err(ApiError::invalid("every action needs a kind that is known")
                .code(Code::KindRequired)
                .detail("field", "kind"));
        }
    };
    Ok((Step { what, within }, own))
}

impl From<StepResult> for Entry {
    fn from(StepResult { outcome, navigated }: StepResult) -> Self {
        let mut entry = Self {
            ok: true,
            failure: None,
            navigated: navigated.is_some(),
            url: navigated.filter(|url| !is_internal(url)),
            acted: None,
            observed: None,
            results: None,
            stopped: None,
        };
        match outcome {
            Ok(StepDone::Acted(acted)) => entry.acted = Some(acted),
            Ok(StepDone::Waited(waited)) => entry.observed = Some(waited),
            Ok(StepDone::Stepped(Stepped { results, stopped })) => {
                entry.ok = stopped.as_ref().is_none_or(|it| it.reason != StopReason::Error);
                entry.results = Some(results.into_iter().map(Self::from).collect());
                entry.stopped = stopped;
            }
            Ok(StepDone::Evaluated(_) | StepDone::Landed(_) | StepDone::Closed) => {}
            Err(error) => {
                entry.ok = false;
                let reason = error.kind();
                let error = ApiError::from(error).to_string();
                let error = error.strip_prefix("Error: ").unwrap_or(&error).to_owned();
                entry.failure = Some(Failure { error, reason });
            }
        }
        entry
    }
}
