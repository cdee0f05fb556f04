//! `POST /act`: one action on a tab, or one script.

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use tabvisor_actors::{Act, Engine, EvaluateRequest, On, TabRow};
use tabvisor_cdp::budget::Budget;
use tabvisor_page::evaluate::EvaluateError;
use tracing::Instrument;

use crate::TabError;

use super::dialogs::BrowserState;
use super::error::{ApiError, Code};
use super::fields::Fields;
use super::kinds::{self, KINDS};
use super::service::{Service, is_internal};
use super::{batch, body, json, record_overrun, wait};

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
pub(super) async fn act(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let mut query = Fields::of_query(query.as_deref());
    match fields.text("kind").map_err(ApiError::of_act)?.as_deref() {
        Some("evaluate") => evaluate(&service, &mut query, &mut fields).await.map_err(ApiError::of_act),
        Some("close") => close(&service, &mut query, &mut fields).await.map_err(ApiError::of_act),
        Some("wait") => wait::wait(&service, &mut query, &mut fields).await.map_err(ApiError::of_act),
        Some("batch") => batch::batch(&service, &mut query, &mut fields).await.map_err(ApiError::of_act),
        Some(kind) if KINDS.contains(&kind) => {
            do_it(&service, &mut query, &mut fields, kind).await.map_err(ApiError::of_act)
        }
        _ => Err(ApiError::invalid("kind is required").code(Code::KindRequired).detail("field", "kind")),
    }
}

/// Shows a person which element is meant, until `clear`.
pub(super) async fn highlight(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let on = if fields.flag("clear")?.unwrap_or(false) {
        None
    } else {
        Some(kinds::named(&mut fields, "highlight", "ref", "selector")?)
    };
    let mut query = Fields::of_query(query.as_deref());
    acted(&service, &mut query, &mut fields, Act::Highlight { on }).await
}

/// Does what a user would do.
async fn do_it(
    service: &Service,
    query: &mut Fields,
    fields: &mut Fields,
    kind: &str,
) -> Result<Response, ApiError> {
    let action = kinds::read(kind, fields)?;
    acted(service, query, fields, action).await
}

async fn acted(
    service: &Service,
    query: &mut Fields,
    fields: &mut Fields,
    action: Act,
) -> Result<Response, ApiError> {
    let budget = fields.budget(service.budgets().action(), service.max_budget())?;
    let target = fields.text("targetId")?;
    let profile = service.profile(query, fields)?;
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    let tab = row.tab_id;
    let name = action.name();
    let span = tracing::info_span!("request", action = name, %tab, budget_ms = budget.left_ms());
    let outcome = service.supervisor().act_on(tab, action, &budget).instrument(span).await;
    record_overrun(&budget);
    answered(service, row, outcome)
}

/// What was done, or the dialog that is in the way of it.
pub(super) fn answered(
    service: &Service,
    row: TabRow,
    outcome: Result<crate::Acted, TabError>,
) -> Result<Response, ApiError> {
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
    let browser_state = blocked.then(|| BrowserState::of(service, &row));
    let tab = acted_on(service, row);
    Ok(json(StatusCode::OK, &Done { ok: true, tab, acted, by_dialog: blocked, browser_state }))
}

async fn close(service: &Service, query: &mut Fields, fields: &mut Fields) -> Result<Response, ApiError> {
    let budget = fields.budget(service.budgets().action(), service.max_budget())?;
    let target = fields.text("targetId")?;
    let profile = service.profile(query, fields)?;
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    service.supervisor().close(row.tab_id, &budget).await?;
    record_overrun(&budget);
    Ok(json(StatusCode::OK, &serde_json::json!({ "ok": true, "targetId": row.target_id })))
}

async fn evaluate(service: &Service, query: &mut Fields, fields: &mut Fields) -> Result<Response, ApiError> {
    let asked = Asked::read(service, fields)?;
    if !service.evaluate_enabled() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, DISABLED).code(Code::EvaluateDisabled));
    }
    let profile = service.profile(query, fields)?;
    let Asked { request, target, budget } = asked;
    let row = profile.named_or_last(target.as_deref(), &budget).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = "evaluate", %tab, budget_ms = budget.left_ms());
    let outcome = service.supervisor().evaluate(tab, request, &budget).instrument(span).await;
    record_overrun(&budget);
    match outcome {
        Ok(evaluated) => {
            Ok(json(StatusCode::OK, &Answer { ok: true, tab: acted_on(service, row), evaluated }))
        }
        Err(TabError::Evaluate(EvaluateError::Dialog { .. }) | TabError::Dialog(_)) => {
            Ok(blocked(service, row))
        }
        Err(error @ TabError::Evaluate(EvaluateError::Navigated)) => Err(left(service, row, error)),
        Err(error) => Err(error.into()),
    }
}

/// The page went away under its script: from where, and to where if that is known by now.
fn left(service: &Service, row: TabRow, error: TabError) -> ApiError {
    let from = row.url.clone();
    let to = acted_on(service, row).url.filter(|to| *to != from);
    let next = "a script ends with its document; load an address with navigate, and run one script per page";
    ApiError::from(error).details(serde_json::json!({ "from": from, "to": to, "next": next }))
}

/// What an evaluate asks for.
struct Asked {
    request: EvaluateRequest,
    target: Option<String>,
    budget: Budget,
}

impl Asked {
    fn read(service: &Service, fields: &mut Fields) -> Result<Self, ApiError> {
        let request = read_evaluate(fields)?;
        let budget = fields.budget(service.budgets().evaluate(), service.max_budget())?;
        let target = fields.text("targetId")?;
        Ok(Self { request, target, budget })
    }
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
pub(super) fn blocked(service: &Service, row: TabRow) -> Response {
    let browser_state = BrowserState::of(service, &row);
    let tab = acted_on(service, row);
    json(StatusCode::OK, &Blocked { ok: true, tab, by_dialog: true, browser_state })
}

/// The tab as it is after the action, or was before it where it is gone.
pub(super) fn acted_on(service: &Service, before: TabRow) -> ActedOn {
    let now = service.supervisor().tab(before.tab_id).unwrap_or(before);
    let url = Some(now.url).filter(|url| !url.is_empty() && !is_internal(url));
    ActedOn { target_id: now.target_id, url }
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
