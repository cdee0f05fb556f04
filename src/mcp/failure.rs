//! A failure of the supervision tree as a tool tells it: refused where nothing was sent, failed where something
//! was, and a result where the page only went another way than was hoped for.

use serde_json::{Value, json};
use tabvisor_page::act::{ActError, Effect, Route};
use tabvisor_page::evaluate::{EvaluateError, Phase};
use tabvisor_page::navigate::{LoadFailure, NavigateError};

use crate::{FileError, Retry, TabError};

use super::call::short;
use super::codes;
use super::envelope::{Failure, Refusal, Told, members, ms};

/// What a tool that needs another kind of element says, by the words that the page crate has for it.
const OTHER_TOOLS: [(&str, &str); 4] = [
    ("use select", "use browser_select with a label or value"),
    ("use check", "use browser_check"),
    ("use upload", "use browser_set_input_files"),
    ("use click", "use browser_click"),
];

/// How much of what a page threw is told.
const STACK: usize = 4;

/// A refusal in words of its own, for what is known before anything is asked of the tree.
pub(super) fn refusal(reason: &str, message: impl Into<String>) -> Refusal {
    let row = codes::of(reason);
    Refusal { code: row.code, message: message.into(), detail: Value::Null, next: row.next.to_owned() }
}

/// The same as a result.
pub(super) fn refused(reason: &str, message: impl Into<String>) -> Box<Told> {
    Box::new(Told::refused(refusal(reason, message)))
}

/// A failure before the call had a tab or a browser to go to: nothing was sent, whatever it was.
pub(super) fn before(error: &TabError) -> Box<Told> {
    let row = codes::of(error.kind());
    let next = row.next.to_owned();
    Box::new(Told::refused(Refusal { code: row.code, message: worded(error), detail: detail(error), next }))
}

/// A failure of a call on a tab. `known` tells that the tab was dead when it began.
pub(super) fn told(error: TabError, known_dead: bool) -> Told {
    match error {
        TabError::Evaluate(EvaluateError::Dialog { dialog, phase })
            if phase != Phase::Queued && phase != Phase::Waiting =>
        {
            let mut told =
                Told::new(Effect::Partial, Route::Page, "the script opened a dialog; its value is lost");
            told.open(dialog);
            told
        }
        TabError::Navigate(error) => navigation(error, known_dead),
        TabError::Dialog(ref dialog) => {
            let mut told = *before(&error);
            told.open(dialog.clone());
            told
        }
        error => other(error, known_dead),
    }
}

fn other(error: TabError, known_dead: bool) -> Told {
    if !was_sent(&error, known_dead) {
        let mut told = *before(&error);
        if let (TabError::Act(ActError::NotEditable { why, .. }), Some(refusal)) = (&error, &mut told.refusal)
        {
            mend(refusal, why);
        }
        if let TabError::Evaluate(EvaluateError::Dialog { dialog, .. }) = error {
            told.open(dialog);
        }
        return told;
    }
    let row = codes::of(error.kind());
    Told::failed(Failure {
        code: row.code,
        message: worded(&error),
        retryable: error.retry() == Retry::Later,
        detail: detail(&error),
        next: row.next,
    })
}

/// Its words, of which a page may have made some.
fn worded(error: &TabError) -> String {
    const MOST: usize = 1000;
    let words = error.to_string();
    if words.chars().nth(MOST).is_none() { words } else { words.chars().take(MOST).chain(['…']).collect() }
}

/// Names the tool for the element that this one is not for.
fn mend(refusal: &mut Refusal, why: &str) {
    if let Some((_, next)) = OTHER_TOOLS.iter().find(|(words, _)| why.contains(words)) {
        (*next).clone_into(&mut refusal.next);
    } else if why.contains(", neither a checkbox") || why.contains(", no select") {
        let row = codes::of("type_mismatch");
        (refusal.code, refusal.next) = (row.code, row.next.to_owned());
    }
}

/// Whether something was sent that a page may have acted on.
fn was_sent(error: &TabError, known_dead: bool) -> bool {
    if known_dead && error.kind() == "crashed" {
        return false;
    }
    match error {
        TabError::BadInput { .. }
        | TabError::BadBudget(_)
        | TabError::BadUrl(_)
        | TabError::Denied { .. }
        | TabError::TabNotFound { .. }
        | TabError::Overloaded { .. }
        | TabError::Stuck { .. }
        | TabError::Discarded { .. }
        | TabError::StaleRef(_)
        | TabError::Ambiguous { .. }
        | TabError::NoDialog(_)
        | TabError::Dialog(_)
        | TabError::BrowserUnavailable(_)
        | TabError::Stopping => false,
        TabError::Budget { sent, .. } | TabError::TabRestarting { sent, .. } => *sent,
        TabError::Act(error) => error.was_sent(),
        TabError::Evaluate(error) => match error {
            EvaluateError::DoesNotCompile(_) | EvaluateError::Stale(_) | EvaluateError::Dialog { .. } => {
                false
            }
            EvaluateError::TimedOut(expiry) | EvaluateError::Aborted(expiry) => expiry.phase != Phase::Queued,
            _ => true,
        },
        TabError::File(error) => !matches!(
            error,
            FileError::NotAllowed { .. }
                | FileError::NotFound { .. }
                | FileError::OutsideDownloads { .. }
                | FileError::OtherDocument { .. }
                | FileError::TooLarge { .. }
        ),
        _ => !matches!(error.kind(), "invalid_argument" | "stale_ref" | "no_match" | "not_visible"),
    }
}

/// A navigation that did not lead where it was meant to.
fn navigation(error: NavigateError, known_dead: bool) -> Told {
    let unchanged = |state: &str, words: String| {
        Told::new(Effect::SuspectedNoop, Route::Cdp, words).with("navigation", state)
    };
    match error {
        NavigateError::Dismissed => unchanged("cancelled", error.to_string()),
        NavigateError::NoDocument { download } => {
            unchanged(if download { "download" } else { "no_document" }, error.to_string())
        }
        NavigateError::NoHistory(_) => *before(&TabError::Navigate(error)),
        NavigateError::TimedOut { committed: true, .. } => {
            Told::new(Effect::Partial, Route::Cdp, error.to_string()).with("navigation", "committed")
        }
        NavigateError::Dialog { dialog, committed } => {
            let words = if committed {
                "the new document opened a dialog"
            } else {
                "the page asks whether it may be left"
            };
            let state = if committed { "committed" } else { "held_by_dialog" };
            let mut told = Told::new(Effect::Partial, Route::Cdp, words).with("navigation", state);
            told.open(dialog);
            told
        }
        NavigateError::Failed { .. } => {
            let mut told = other(TabError::Navigate(error), known_dead);
            told.route = Route::Cdp;
            told
        }
        error => other(TabError::Navigate(error), known_dead),
    }
}

/// What programs can read of it.
fn detail(error: &TabError) -> Value {
    match error {
        TabError::BadInput { field, .. } | TabError::Act(ActError::Invalid { field, .. }) => {
            json!({ "field": argument(field) })
        }
        TabError::BadBudget(_) => json!({ "field": "timeout_ms" }),
        TabError::BadUrl(_) => json!({ "field": "url" }),
        TabError::Overloaded { limit, max, retry_after_ms } => {
            json!({ "limit": limit, "max": max, "retry_after_ms": retry_after_ms })
        }
        TabError::Stuck { tab, reason, since, way_out } => {
            json!({ "tab_id": tab, "blocked_by": reason, "stuck_for_ms": ms(*since), "way_out": way_out })
        }
        TabError::TabClosed { tab } | TabError::TabLost { tab, .. } => json!({ "tab_id": tab }),
        TabError::NotRecovered { tried, why, .. } => json!({ "tried": tried, "why": why }),
        TabError::StaleRef(stale) => json!({ "ref": stale.text, "why": stale.reason }),
        TabError::Ambiguous { r#ref, role, name, count } => {
            json!({ "ref": r#ref, "role": role, "name": name, "count": count })
        }
        TabError::Act(ActError::Covered { by, .. }) => json!({ "covered_by": by }),
        TabError::Act(ActError::Disabled { by, .. }) => json!({ "disabled_by": by }),
        TabError::Wait(late) => {
            let mut detail = members(late);
            detail.insert("condition".into(), json!(argument(late.condition)));
            Value::Object(detail)
        }
        TabError::File(error) => file(error),
        TabError::Evaluate(EvaluateError::Threw(thrown)) => {
            let stack: Vec<&str> = thrown.stack.lines().take(STACK).collect();
            json!({
                "name": thrown.name, "message": short(&thrown.message), "stack": short(&stack.join("\n")),
                "later": thrown.later,
            })
        }
        TabError::Evaluate(EvaluateError::TimedOut(expiry) | EvaluateError::Aborted(expiry)) => {
            Value::Object(members(expiry))
        }
        TabError::Navigate(NavigateError::Failed { net_error, challenge }) => {
            let class = LoadFailure::of(net_error);
            let mut detail = json!({ "net_error": net_error, "class": class, "may_pass": class.may_pass() });
            if let Some(challenge) = challenge {
                detail["challenge"] = json!(challenge);
            }
            detail
        }
        _ => Value::Null,
    }
}

/// A field of the tree as the tools name it.
pub(super) fn argument(field: &str) -> &str {
    match field {
        "fn" => "function",
        "timeMs" => "time_ms",
        "textGone" => "text_gone",
        "loadState" => "load_state",
        "values" => "label",
        "dx, dy" => "delta_y",
        other => other,
    }
}

fn file(error: &FileError) -> Value {
    match error {
        FileError::NotAllowed { path, .. } | FileError::NotFound { path } => json!({ "path": path }),
        FileError::TooLarge { bytes, limit } => json!({ "bytes": bytes, "limit": limit }),
        FileError::Unfinished { url, received_bytes, cancelled, .. } => {
            json!({ "url": url, "bytes": received_bytes, "cancelled": cancelled })
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Status;
    use super::*;
    use std::time::Duration;
    use tabvisor_cdp::budget::Spent;
    use tabvisor_page::evaluate::BlockedBy;

    fn code(told: &Told) -> &'static str {
        told.refusal.as_ref().map(|it| it.code).or(told.failure.as_ref().map(|it| it.code)).unwrap_or("none")
    }

    #[test]
    fn what_was_not_sent_is_refused_and_what_was_has_failed() {
        let spent = Spent::Expired { total: Duration::from_millis(9), elapsed: Duration::from_millis(9) };
        let budget = |sent| TabError::Budget { spent, doing: "waiting", sent };
        let covered = || ActError::Covered { name: "e1".into(), by: "div".into() };
        let crashed = || TabError::from(EvaluateError::Crashed);
        for (error, dead, status, wanted) in [
            (budget(false), false, Status::Refused, "browser_budget_exceeded"),
            (budget(true), false, Status::Failed, "browser_budget_exceeded"),
            (covered().into(), false, Status::Refused, "browser_target_covered"),
            (crashed(), true, Status::Refused, "browser_tab_crashed"),
            (
                TabError::Discarded { tab: "t3".parse().unwrap() },
                false,
                Status::Refused,
                "browser_tab_crashed",
            ),
            (crashed(), false, Status::Failed, "browser_tab_crashed"),
            (EvaluateError::Navigated.into(), false, Status::Failed, "browser_navigated"),
            (
                EvaluateError::DoesNotCompile("x".into()).into(),
                false,
                Status::Refused,
                "browser_invalid_argument",
            ),
        ] {
            let told = told(error, dead);
            assert_eq!((told.status, code(&told)), (status, wanted), "{told:?}");
        }
    }

    #[test]
    fn a_page_that_went_another_way_is_a_result() {
        let cancelled = told(NavigateError::Dismissed.into(), false);
        assert_eq!(
            (cancelled.status, &cancelled.observed["navigation"]),
            (Status::Partial, &json!("cancelled"))
        );
        let none = told(NavigateError::NoDocument { download: false }.into(), false);
        assert_eq!(none.observed["navigation"], "no_document");
        let failed = told(
            NavigateError::Failed { net_error: "net::ERR_CONNECTION_REFUSED".into(), challenge: None }.into(),
            false,
        );
        let detail = failed.failure.unwrap().detail;
        assert_eq!(
            (failed.status, &detail["net_error"]),
            (Status::Failed, &json!("net::ERR_CONNECTION_REFUSED"))
        );
    }

    #[test]
    fn a_refusal_names_the_right_tool() {
        let refused =
            |why: &str| told(ActError::NotEditable { name: "e1".into(), why: why.into() }.into(), false);
        let tool = refused("it is a checkbox or radio button; use check");
        assert_eq!(tool.refusal.unwrap().next, "use browser_check");
        let other = refused("it is a button, neither a checkbox nor a radio button");
        assert_eq!(other.refusal.unwrap().code, "browser_type_mismatch");
        assert_eq!(refused("it is readonly").refusal.unwrap().code, "browser_target_not_editable");
    }

    #[test]
    fn a_stuck_tab_says_which_way_is_out() {
        let tab = "t3".parse().unwrap();
        let since = Duration::from_secs(2);
        let stuck = TabError::Stuck { tab, reason: BlockedBy::Native, since, way_out: "close it" };
        let refusal = told(stuck, false).refusal.unwrap();
        assert_eq!((refusal.code, &refusal.detail["stuck_for_ms"]), ("browser_tab_stuck", &json!(2000)));
        assert!(refusal.next.contains("restart"));
    }
}
