//! What each failure of the supervision tree is over HTTP: status, code, reason, text, details.
//!
//! | failure | status | code | reason |
//! |---|---|---|---|
//! | wrong input or budget | 400 | `ACT_INVALID_REQUEST` on `/act` | `invalid_argument` |
//! | address that may not be navigated to | 400 | | `navigation_blocked` |
//! | what the configuration does not allow | 403 | | `denied` |
//! | unknown or closed tab | 404 | | `tab_not_found`, `tab_closed` |
//! | stuck or lost tab, lost browser, a dialog while opening | 409 | | `tab_stuck`, `tab_lost`, `browser_lost`, `dialog_open` |
//! | nothing to go back or forward to, a page that may not be left | 409 | | `no_history`, `navigation_cancelled` |
//! | request over Chromium's limit | 413 | | `too_large` |
//! | tab that is being brought back | 409 | | `tab_restarting` |
//! | tab that could not be brought back | 500 | | `not_recovered`, `document_changed`; out of time `timeout` |
//! | over a limit | 429, `Retry-After` | | `overloaded` |
//! | cancelled | 499 | | `aborted` |
//! | budget spent, wherever it was spent | 500 | `ACT_OPERATION_FAILED` | `timeout` |
//! | renderer died, script ended by somebody else | 500 | `ACT_OPERATION_FAILED` | `crashed`, `interrupted` |
//! | page threw, text that does not compile | 500 | | `threw`, `does_not_compile` |
//! | page navigated, navigation failed | 500 | | `navigated`, `navigation_failed`, `no_document` |
//! | ref that names nothing, or several elements | 500 | | `stale_ref`, `ambiguous_ref` |
//! | element that cannot be acted on | 500 | `ACT_OPERATION_FAILED` | `no_match`, `ambiguous`, `not_visible`, `moving`, `disabled`, `covered`, `not_editable` |
//! | page that renders no frame | 500 | `ACT_OPERATION_FAILED` | `not_rendering` |
//! | dialog to be answered that is not open | 500 | | `no_dialog` |
//! | file outside of its folder, not there, too large to be sent | 400 | | `file_not_allowed`, `file_not_found`, `file_too_large` |
//! | no chooser opened, download that gave no file | 500 | | `no_chooser`, `download_failed` |
//! | what this browser cannot | 501 | | `unsupported` |
//! | response that did not come, or not to its end, or not kept | 500 | `ACT_OPERATION_FAILED` | `response_not_found`, `response_broke_off`, `body_not_kept` |
//! | storage that the page has not, or that is too large | 500 | `ACT_OPERATION_FAILED` | `page_refused`, `storage_too_large` |
//! | document that changed while it was read | 500 | | `document_changed` |
//! | bug of ours | 500 | | `internal` |
//! | link or protocol failed | 502 | | `link_failed`, `protocol` |
//! | no browser, stopping | 503 | | `unavailable`, `stopping` |
//!
//! Texts of scripts and navigations are those that clients of the contract know. A timeout carries
//! a code so that no client takes it for a passing fault and tries again.

use std::iter;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::json;
use tabvisor_cdp::budget::Spent;
use tabvisor_page::evaluate::{EvaluateError, Expiry, Phase, Thrown};
use tabvisor_page::navigate::{BadUrl, LoadFailure, NavigateError};

use crate::{FileError, TabError};

use super::error::{ApiError, Code};

impl From<TabError> for ApiError {
    fn from(error: TabError) -> Self {
        let api = Self::new(status(&error), text(&error)).reason(reason(&error));
        let api = details(api, &error).detail("origin", error.origin()).detail("retry", error.retry());
        match error {
            TabError::Overloaded { retry_after_ms, .. } => {
                api.retry_after(Duration::from_millis(retry_after_ms))
            }
            _ if reason(&error) == "timeout" => api.code(Code::OperationFailed),
            TabError::Evaluate(EvaluateError::Crashed | EvaluateError::Interrupted)
            | TabError::Act(_)
            | TabError::Screenshot(_)
            | TabError::Response(_)
            | TabError::Content(_)
                if api.status() == StatusCode::INTERNAL_SERVER_ERROR =>
            {
                api.code(Code::OperationFailed)
            }
            _ => api,
        }
    }
}

fn reason(error: &TabError) -> &'static str {
    match error.kind() {
        // To a caller it is one thing, whether the time went before or after the script was sent.
        "budget_exceeded" => "timeout",
        // An address that cannot be read is one that may not be navigated to.
        "invalid_argument" if matches!(error, TabError::BadUrl(_)) => "navigation_blocked",
        kind => kind,
    }
}

fn status(error: &TabError) -> StatusCode {
    match reason(error) {
        "invalid_argument" | "navigation_blocked" | "file_not_allowed" | "file_not_found"
        | "file_too_large" => StatusCode::BAD_REQUEST,
        "unsupported" => StatusCode::NOT_IMPLEMENTED,
        "denied" => StatusCode::FORBIDDEN,
        "tab_not_found" | "tab_closed" => StatusCode::NOT_FOUND,
        "tab_stuck"
        | "tab_restarting"
        | "tab_lost"
        | "browser_lost"
        | "dialog_open"
        | "no_history"
        | "navigation_cancelled" => StatusCode::CONFLICT,
        "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "overloaded" => StatusCode::TOO_MANY_REQUESTS,
        // Nobody reads it: the caller went away. The number is the one that logs know for that.
        "aborted" => StatusCode::from_u16(499).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        "link_failed" | "protocol" => StatusCode::BAD_GATEWAY,
        "unavailable" | "stopping" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn text(error: &TabError) -> String {
    match error {
        TabError::BadUrl(BadUrl::Scheme(scheme)) => {
            format!("Navigation blocked: unsupported protocol \"{scheme}:\"")
        }
        TabError::BadUrl(BadUrl::Credentials) => {
            "Navigation blocked: credentials in the URL are not allowed".into()
        }
        TabError::BadUrl(other) => format!("Navigation blocked: {other}"),
        TabError::Evaluate(error) => script_text(error),
        TabError::Navigate(NavigateError::Failed { net_error, .. }) => {
            format!("Error: page.goto: {net_error}")
        }
        TabError::StaleRef(stale) => format!("Error: {stale}"),
        TabError::NoDialog(why) => format!("Error: {why}"),
        TabError::File(error) if error.kind() == "timeout" => format!("Error: {error}"),
        TabError::Response(error) => format!("Error: {error}"),
        TabError::Wait(late) => format!("TimeoutError: {late}"),
        other => other.to_string(),
    }
}

fn script_text(error: &EvaluateError) -> String {
    const PAGE: &str = "Error: page.evaluate: ";
    const INVALID: &str = "Error: Invalid evaluate function: ";
    match error {
        EvaluateError::Threw(Thrown { name, message, stack, later }) => {
            let head = match (*later, name.as_str()) {
                (false, _) => format!("{PAGE}{INVALID}{message}"),
                (true, "") => format!("{PAGE}{message}"),
                (true, name) => format!("{PAGE}{name}: {message}"),
            };
            let lines: Vec<&str> = iter::once(head.as_str()).chain(frames(stack)).collect();
            lines.join("\n")
        }
        EvaluateError::DoesNotCompile(why) => {
            format!("{PAGE}{INVALID}{}", why.strip_prefix("SyntaxError: ").unwrap_or(why))
        }
        EvaluateError::TimedOut(_) => {
            format!("{PAGE}Error: {}", error.to_string().replacen(" ms (", "ms (", 1))
        }
        EvaluateError::Navigated => {
            format!("{PAGE}Execution context was destroyed, most likely because of a navigation.")
        }
        other => other.to_string(),
    }
}

/// The stack without the message that V8 puts before it.
fn frames(stack: &str) -> impl Iterator<Item = &str> {
    stack.lines().filter(|line| line.trim_start().starts_with("at "))
}

fn details(api: ApiError, error: &TabError) -> ApiError {
    match error {
        TabError::BadInput { field, .. } => api.detail("field", field),
        TabError::NotRecovered { tried, why, .. } => api.details(json!({ "tried": tried, "why": why })),
        TabError::TabRestarting { sent, .. } => api.detail("sent", sent),
        TabError::Discarded { tab } => api.detail("tab", tab).detail("discarded", true),
        TabError::BadBudget(_) => api.detail("field", "timeoutMs"),
        TabError::Overloaded { limit, max, retry_after_ms } => {
            api.details(json!({ "limit": limit, "max": max, "retryAfterMs": retry_after_ms }))
        }
        TabError::Stuck { tab, reason, since, way_out } => api.details(json!({
            "tab": tab, "blockedBy": reason, "stuckForMs": ms(*since), "wayOut": way_out,
        })),
        TabError::TabClosed { tab } | TabError::TabLost { tab, .. } => api.detail("tab", tab),
        TabError::BrowserLost { epoch, .. } => api.detail("epoch", epoch),
        TabError::StaleRef(stale) => api.detail("ref", &stale.text).detail("why", stale.reason),
        TabError::Ambiguous { r#ref, role, name, count } => {
            api.details(json!({ "ref": r#ref, "role": role, "name": name, "count": count }))
        }
        TabError::Snapshot(error) => match error.field() {
            Some(field) => api.detail("field", field),
            None => api,
        },
        TabError::Act(error) => api.detail("sent", error.was_sent()),
        TabError::Wait(late) => api.details(late),
        TabError::Dialog(dialog) => api.detail("dialog", dialog),
        TabError::File(error) => file_details(api, error),
        TabError::Evaluate(error) => script_details(api, error),
        TabError::Navigate(error) => navigation_details(api, error),
        TabError::Budget { spent: Spent::Expired { total, elapsed }, .. } => unsent(api, *total, *elapsed),
        _ => api,
    }
}

fn file_details(api: ApiError, error: &FileError) -> ApiError {
    match error {
        FileError::NotAllowed { path, .. } | FileError::NotFound { path } => {
            api.detail("field", "paths").detail("path", path)
        }
        FileError::OutsideDownloads { .. } => api.detail("field", "path"),
        FileError::OtherDocument { found } => api.detail("field", "expectedUrl").detail("url", found),
        FileError::TooLarge { bytes, limit } => api.details(json!({ "bytes": bytes, "limit": limit })),
        FileError::Unfinished { url, received_bytes, cancelled, .. } => {
            api.details(json!({ "url": url, "bytes": received_bytes, "cancelled": cancelled }))
        }
        _ => api,
    }
}

fn script_details(api: ApiError, error: &EvaluateError) -> ApiError {
    match error {
        EvaluateError::Threw(thrown) => api.details(thrown),
        EvaluateError::TimedOut(expiry) | EvaluateError::Aborted(expiry) => api.details(expiry),
        EvaluateError::Dialog { dialog, phase } => api.detail("dialog", dialog).detail("phase", phase),
        EvaluateError::Link(tabvisor_cdp::error::CdpError::Spent {
            spent: Spent::Expired { total, elapsed },
            ..
        }) => unsent(api, *total, *elapsed),
        _ => api,
    }
}

/// A budget that ended before anything was sent, in the words of [`Expiry`].
fn unsent(api: ApiError, budget: Duration, elapsed: Duration) -> ApiError {
    let expiry = Expiry {
        budget,
        elapsed,
        phase: Phase::Queued,
        terminated: false,
        page_responsive: false,
        still_running: false,
        may_start_within_ms: None,
        blocked_by: None,
    };
    // Whether the page answers was not asked.
    api.details(expiry).detail("pageResponsive", ())
}

fn navigation_details(api: ApiError, error: &NavigateError) -> ApiError {
    match error {
        NavigateError::Failed { net_error, challenge } => {
            let class = LoadFailure::of(net_error);
            let api =
                api.detail("netError", net_error).detail("class", class).detail("mayPass", class.may_pass());
            // As a login: its answer is `/set/credentials`.
            challenge.iter().fold(api, |api, challenge| api.detail("challenge", challenge))
        }
        NavigateError::NoDocument { download } => api.detail("download", download),
        NavigateError::TimedOut { budget, elapsed, committed } => api.details(json!({
            "budgetMs": ms(*budget), "elapsedMs": ms(*elapsed), "committed": committed,
        })),
        NavigateError::Dialog { dialog, committed } => {
            api.detail("dialog", dialog).detail("committed", committed)
        }
        _ => api,
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::http::header::RETRY_AFTER;
    use axum::response::IntoResponse;
    use serde_json::Value;
    use tabvisor_page::evaluate::BlockedBy;

    async fn answer(error: TabError) -> (u16, Value) {
        let response = ApiError::from(error).into_response();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn thrown(later: bool) -> TabError {
        let stack = "TypeError: boom\n    at <anonymous>:1:2\n    at f (<anonymous>:3:4)".into();
        EvaluateError::Threw(Thrown { name: "TypeError".into(), message: "boom".into(), stack, later }).into()
    }

    #[tokio::test]
    async fn a_script_that_throws_says_what_clients_know() {
        let (status, body) = answer(thrown(false)).await;
        assert_eq!((status, &body["code"], &body["reason"]), (500, &Value::Null, &json!("threw")));
        assert_eq!(
            body["error"],
            "Error: page.evaluate: Error: Invalid evaluate function: boom\n    at <anonymous>:1:2\n    at f (<anonymous>:3:4)"
        );
        let (_, body) = answer(thrown(true)).await;
        assert!(
            body["error"].as_str().unwrap().starts_with("Error: page.evaluate: TypeError: boom\n    at ")
        );
        let (_, body) =
            answer(EvaluateError::DoesNotCompile("SyntaxError: Unexpected token '}'".into()).into()).await;
        assert_eq!(
            body["error"],
            "Error: page.evaluate: Error: Invalid evaluate function: Unexpected token '}'"
        );
        let (_, body) = answer(EvaluateError::Navigated.into()).await;
        assert!(body["error"].as_str().unwrap().contains("Execution context was destroyed"));
    }

    #[tokio::test]
    async fn a_timeout_tells_where_the_time_went() {
        let expiry = Expiry {
            budget: Duration::from_millis(500),
            elapsed: Duration::from_millis(503),
            phase: Phase::Running,
            terminated: true,
            page_responsive: true,
            still_running: false,
            may_start_within_ms: None,
            blocked_by: None,
        };
        let (status, body) = answer(EvaluateError::TimedOut(expiry).into()).await;
        assert_eq!(
            (status, &body["code"], &body["reason"]),
            (500, &json!("ACT_OPERATION_FAILED"), &json!("timeout"))
        );
        assert!(
            body["error"]
                .as_str()
                .unwrap()
                .starts_with("Error: page.evaluate: Error: evaluate timed out after 500ms (")
        );
        assert_eq!(
            body["details"],
            json!({
                "budgetMs": 500, "elapsedMs": 503, "phase": "running", "terminated": true, "pageResponsive": true,
                "stillRunning": false, "origin": "page", "retry": "no",
            })
        );

        let spent = Spent::Expired { total: Duration::from_millis(9), elapsed: Duration::from_millis(10) };
        let (status, body) = answer(TabError::Budget { spent, doing: "queueing", sent: false }).await;
        assert_eq!(
            (status, &body["reason"], &body["details"]["phase"]),
            (500, &json!("timeout"), &json!("queued"))
        );
    }

    #[tokio::test]
    async fn overload_says_when_to_come_back() {
        let error = TabError::Overloaded { limit: "limits.evaluates_per_tab", max: 16, retry_after_ms: 250 };
        let response = ApiError::from(error).into_response();
        assert_eq!(
            (response.status().as_u16(), &response.headers()[RETRY_AFTER]),
            (429, &"1".parse().unwrap())
        );
        let error = TabError::Overloaded { limit: "limits.tabs", max: 16, retry_after_ms: 250 };
        let (_, body) = answer(error).await;
        assert_eq!(body["details"]["limit"], "limits.tabs");
    }

    #[tokio::test]
    async fn the_rest_of_the_table() {
        let tab = "t3".parse().unwrap();
        let stuck = TabError::Stuck {
            tab,
            reason: BlockedBy::Native,
            since: Duration::from_secs(2),
            way_out: "close it",
        };
        let scheme = |scheme: &str| TabError::BadUrl(BadUrl::Scheme(scheme.into()));
        for (error, status, reason) in [
            (TabError::BadInput { field: "fn", why: "is empty".into() }, 400, "invalid_argument"),
            (scheme("file"), 400, "navigation_blocked"),
            (TabError::BadUrl(BadUrl::Unreadable("x".into())), 400, "navigation_blocked"),
            (TabError::TabClosed { tab }, 404, "tab_closed"),
            (TabError::TabNotFound { tab: "x".into() }, 404, "tab_not_found"),
            (stuck, 409, "tab_stuck"),
            (TabError::TabLost { tab, cause: "x".into() }, 409, "tab_lost"),
            (EvaluateError::Crashed.into(), 500, "crashed"),
            (TabError::Stopping, 503, "stopping"),
            (TabError::Internal("x".into()), 500, "internal"),
            (
                NavigateError::Failed { net_error: "net::ERR_FAILED".into(), challenge: None }.into(),
                500,
                "navigation_failed",
            ),
        ] {
            let (found, body) = answer(error).await;
            assert_eq!((found, body["reason"].as_str().unwrap()), (status, reason));
            assert!(body["details"]["retry"].is_string() && body["details"]["origin"].is_string());
        }
        let (_, body) = answer(scheme("file")).await;
        assert_eq!(body["error"], "Navigation blocked: unsupported protocol \"file:\"");
    }
}
