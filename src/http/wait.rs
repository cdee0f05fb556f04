//! `POST /act` of kind `wait`.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::{LoadState, TabError, Wait, Waited};

use super::act::{ActedOn, blocked};
use super::call::Call;
use super::error::{ApiError, Code};
use super::fields::Fields;
use super::json;
use super::service::Service;

pub(super) const DISABLED: &str = "wait --fn is disabled by config (browser.evaluateEnabled=false).";

/// What was seen.
#[derive(Serialize)]
struct Answer {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    effect: &'static str,
    observed: Waited,
}

/// Waits for what a body names.
pub(super) async fn wait(call: &mut Call) -> Result<Response, ApiError> {
    let wait = read(&mut call.body)?;
    if wait.function.is_some() && !call.service.evaluate_enabled() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, DISABLED).code(Code::EvaluateDisabled));
    }
    let on = call.on_tab(default_budget(&call.service, &wait)).await?;
    let work = on.service.supervisor().wait(on.tab(), wait, &on.budget);
    match on.run("wait", work).await {
        Ok(observed) => {
            let tab = on.acted_on();
            Ok(json(StatusCode::OK, &Answer { ok: true, tab, effect: "confirmed", observed }))
        }
        Err(error) if error.kind() == "dialog_open" => Ok(blocked(&on)),
        Err(error) => Err(error.into()),
    }
}

/// Without a budget of the caller's, a time that is to pass comes on top.
pub(super) fn default_budget(service: &Service, wait: &Wait) -> Duration {
    (service.budgets().wait() + wait.time.unwrap_or_default()).min(service.max_budget())
}

/// Reads what to wait for.
pub(super) fn read(fields: &mut Fields) -> Result<Wait, ApiError> {
    let time = if fields.has("timeMs") {
        let error = "timeMs must be a non-negative integer, at most 30000.";
        let wrong = || ApiError::invalid(error).detail("field", "timeMs");
        let ms = fields.whole::<u64>("timeMs").map(Duration::from_millis);
        Some(ms.filter(|time| *time <= Wait::MAX_TIME).ok_or_else(wrong)?)
    } else {
        None
    };
    let load = match fields.text("loadState")?.as_deref() {
        None => None,
        Some("load") => Some(LoadState::Load),
        Some("domcontentloaded") => Some(LoadState::DomContentLoaded),
        Some("networkidle") => Some(LoadState::NetworkIdle),
        Some(_) => {
            let error = "loadState must be load, domcontentloaded or networkidle.";
            return Err(ApiError::invalid(error).detail("field", "loadState"));
        }
    };
    let wait = Wait {
        time,
        text: fields.text("text")?,
        text_gone: fields.text("textGone")?,
        selector: fields.text("selector")?,
        r#ref: fields.text("ref")?,
        url: fields.text("url")?,
        load,
        function: fields.text("fn")?,
    };
    if let Err(TabError::BadInput { field, why }) = wait.check() {
        let error = if field == "wait" { why } else { format!("{field} {why}") };
        return Err(ApiError::invalid(error).detail("field", field));
    }
    Ok(wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn asked(body: &Value) -> Result<Wait, String> {
        read(&mut Fields::from(body.as_object().cloned().unwrap())).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_are_read_as_clients_write_them() {
        let wait = asked(&json!({ "timeMs": "5", "text": " a ", "loadState": "load" })).unwrap();
        let time = Some(Duration::from_millis(5));
        assert_eq!(
            wait,
            Wait { time, text: Some("a".into()), load: Some(LoadState::Load), ..Wait::default() }
        );
        // It has passed at once, and is a condition all the same.
        assert_eq!(asked(&json!({ "timeMs": 0 })).unwrap().time, Some(Duration::ZERO));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for (body, error) in [
            (
                json!({}),
                "wait requires at least one of: timeMs, text, textGone, selector, ref, url, loadState, fn",
            ),
            (json!({ "text": "  " }), "wait requires at least one of"),
            (json!({ "timeMs": 30_001 }), "timeMs must be"),
            (json!({ "timeMs": -1 }), "timeMs must be"),
            (json!({ "timeMs": 1.5 }), "timeMs must be"),
            (json!({ "loadState": "idle" }), "loadState must be"),
            (json!({ "url": "*{" }), "url has a { without its }"),
            (json!({ "text": {} }), "text must be a string."),
        ] {
            let said = asked(&body).unwrap_err();
            assert!(said.contains(error), "{body}: {said}");
        }
    }
}
