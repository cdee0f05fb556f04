//! `POST /act`: one action on a tab, or one script.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use tabvisor_actors::{Act, Engine, EvaluateRequest, On};
use tabvisor_page::evaluate::EvaluateError;

use crate::TabError;

use super::call::{Call, OnTab};
use super::dialogs::BrowserState;
use super::error::{ApiError, Code};
use super::fields::Fields;
use super::kinds::{self, KINDS};
use super::{batch, json, wait};

pub(super) const NO_SELECTOR: &str = "Error: 'selector' is not supported. Use 'ref' from snapshot instead.\n\n\
    Example workflow:\n1. snapshot action to get page state with refs\n2. act with ref: \"e123\" to interact \
    with element\n\nThis is more reliable for modern SPAs.";

pub(super) const DISABLED: &str = "act:evaluate is disabled by config (browser.evaluateEnabled=false).";

/// The value of a script. It goes out as the page rendered it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(flatten)]
    evaluated: crate::Evaluated,
}

/// What was done, as far as the page was seen.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(flatten)]
    acted: Option<crate::Acted>,
    #[serde(rename = "blockedByDialog", skip_serializing_if = "std::ops::Not::not")]
    by_dialog: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    browser_state: Option<BrowserState>,
}

/// A dialog is in the way.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blocked {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(rename = "blockedByDialog")]
    by_dialog: bool,
    browser_state: BrowserState,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ActedOn {
    pub(super) target_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
}

/// One action on a tab.
pub(super) async fn act(mut call: Call) -> Result<Response, ApiError> {
    let kind = call.body.text("kind").map_err(ApiError::of_act)?;
    let answer = match kind.as_deref() {
        Some("evaluate") => evaluate(&mut call).await,
        Some("close") => close(&mut call).await,
        Some("wait") => wait::wait(&mut call).await,
        Some("batch") => batch::batch(&mut call).await,
        Some(kind) if KINDS.contains(&kind) => do_it(&mut call, kind).await,
        _ => Err(ApiError::invalid("kind is required").code(Code::KindRequired).detail("field", "kind")),
    };
    answer.map_err(ApiError::of_act)
}

/// Shows a person which element is meant, until `clear`.
pub(super) async fn highlight(mut call: Call) -> Result<Response, ApiError> {
    let on = if call.body.flag("clear")?.unwrap_or(false) {
        None
    } else {
        Some(kinds::named(&mut call.body, "highlight", "ref", "selector")?)
    };
    acted(&mut call, Act::Highlight { on }).await
}

/// Does what a user would do.
async fn do_it(call: &mut Call, kind: &str) -> Result<Response, ApiError> {
    let action = kinds::read(kind, &mut call.body)?;
    acted(call, action).await
}

async fn acted(call: &mut Call, action: Act) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().action()).await?;
    let name = action.name();
    let outcome = on.run(name, on.service.supervisor().act_on(on.tab(), action, &on.budget)).await;
    answered(&on, outcome)
}

/// What was done, or the dialog that is in the way of it.
pub(super) fn answered(on: &OnTab, outcome: Result<crate::Acted, TabError>) -> Result<Response, ApiError> {
    let blocked = match &outcome {
        Ok(acted) => acted.outcome.observed.dialog.is_some(),
        Err(TabError::Dialog(_)) => true,
        Err(_) => false,
    };
    let acted = match outcome {
        Ok(acted) => Some(acted),
        Err(TabError::Dialog(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let browser_state = blocked.then(|| BrowserState::of(on));
    let tab = on.acted_on();
    Ok(json(StatusCode::OK, &Done { ok: true, tab, acted, by_dialog: blocked, browser_state }))
}

async fn close(call: &mut Call) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().action()).await?;
    on.run("close", on.service.supervisor().close(on.tab(), &on.budget)).await?;
    Ok(json(StatusCode::OK, &serde_json::json!({ "ok": true, "targetId": on.row.target_id })))
}

async fn evaluate(call: &mut Call) -> Result<Response, ApiError> {
    let request = read_evaluate(&mut call.body)?;
    let budget = call.budget(call.service.budgets().evaluate())?;
    if !call.service.evaluate_enabled() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, DISABLED).code(Code::EvaluateDisabled));
    }
    let on = call.on_tab_within(budget).await?;
    let work = on.service.supervisor().evaluate(on.tab(), request, &on.budget);
    match on.run("evaluate", work).await {
        Ok(evaluated) => Ok(json(StatusCode::OK, &Answer { ok: true, tab: on.acted_on(), evaluated })),
        Err(TabError::Evaluate(EvaluateError::Dialog { .. }) | TabError::Dialog(_)) => Ok(blocked(&on)),
        Err(error @ TabError::Evaluate(EvaluateError::Navigated)) => Err(left(&on, error)),
        Err(error) => Err(error.into()),
    }
}

/// The page went away under its script: from where, and to where if that is known by now.
fn left(on: &OnTab, error: TabError) -> ApiError {
    let from = &on.row.url;
    let to = on.acted_on().url.filter(|to| to != from);
    let next = "a script ends with its document; load an address with navigate, and run one script per page";
    ApiError::from(error).details(serde_json::json!({ "from": from, "to": to, "next": next }))
}

/// Reads what to evaluate.
pub(super) fn read_evaluate(fields: &mut Fields) -> Result<EvaluateRequest, ApiError> {
    if fields.has("selector") {
        return Err(ApiError::invalid(NO_SELECTOR)
            .code(Code::SelectorUnsupported)
            .detail("field", "selector"));
    }
    let Some(function) = fields.text("fn")? else {
        return Err(ApiError::invalid("evaluate requires fn").detail("field", "fn"));
    };
    let engine = match fields.text("engine")?.as_deref() {
        None | Some("auto") => Engine::Auto,
        Some("cdp") => Engine::Cdp,
        Some("page") => Engine::Page,
        Some(_) => return Err(ApiError::wrong("engine", "must be auto, cdp or page.")),
    };
    let node = match fields.text("backendDOMNodeId")? {
        None => None,
        Some(number) => {
            let node = number.parse().ok().filter(|number| *number > 0);
            let wrong = || ApiError::wrong("backendDOMNodeId", "must be a positive integer.");
            Some(On::Node(node.ok_or_else(wrong)?))
        }
    };
    let on = fields.text("ref")?.map(On::Ref);
    if on.is_some() && node.is_some() {
        return Err(ApiError::wrong("ref", "and backendDOMNodeId name two elements; give one."));
    }
    Ok(EvaluateRequest { on: on.or(node), engine, ..EvaluateRequest::new(function) })
}

/// A dialog is in the way.
pub(super) fn blocked(on: &OnTab) -> Response {
    let browser_state = BrowserState::of(on);
    json(StatusCode::OK, &Blocked { ok: true, tab: on.acted_on(), by_dialog: true, browser_state })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;
    use tabvisor_page::evaluate::Value;

    fn tab() -> ActedOn {
        ActedOn { target_id: "AB".into(), url: Some("http://a/".into()) }
    }

    #[test]
    fn a_value_goes_out_as_the_page_rendered_it() {
        let text = r#"{"z":1.50,"a":12345678901234567890123,"z":"\ud800"}"#;
        let value = Value {
            result: Some(RawValue::from_string(text.into()).unwrap()),
            kind: "object".into(),
            unserializable: None,
            inside: std::collections::BTreeMap::default(),
            missing: None,
        };
        let evaluated = crate::Evaluated { value, engine: None, fallback_reason: None };
        let said = serde_json::to_string(&Answer { ok: true, tab: tab(), evaluated }).unwrap();
        assert_eq!(
            said,
            format!(
                r#"{{"ok":true,"targetId":"AB","url":"http://a/","result":{text},"resultType":"object"}}"#
            )
        );
    }
}
