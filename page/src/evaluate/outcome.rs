//! Why an evaluate gave no value.

use std::time::Duration;

use serde::Serialize;
use tabvisor_cdp::error::CdpError;

use super::phase::Phase;
use super::value::Thrown;
use crate::dialog::Dialog;
use crate::refs::StaleReason;

/// What keeps a page from answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockedBy {
    /// A script: another call's or the page's own. It can be terminated.
    Script,
    /// Another evaluate of this supervisor on the same tab.
    Evaluate,
    /// Something that script termination cannot reach: a synchronous request, a long layout or
    /// native loop, a stopped renderer that is not known as such.
    Native,
    /// The renderer's process is stopped: by a signal, a debugger or a frozen container.
    Stopped,
    /// A navigation that has not come to its new document; until then no call is answered.
    Navigation,
    /// Not known: there was no session from before the page got stuck.
    Unknown,
}

/// What is known of a script that did not end by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Expiry {
    /// The whole budget.
    #[serde(rename = "budgetMs", serialize_with = "as_ms")]
    pub budget: Duration,
    /// Time from the start of the budget to this answer.
    #[serde(rename = "elapsedMs", serialize_with = "as_ms")]
    pub elapsed: Duration,
    /// How far the script came.
    pub phase: Phase,
    /// The script was running and was ended.
    pub terminated: bool,
    /// The page answered when it was asked at the end.
    pub page_responsive: bool,
    /// The script may go on: a promise is outstanding, or it could not be ended.
    pub still_running: bool,
    /// It was cancelled while it waited: it may still start, until so many ms from now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_start_within_ms: Option<u64>,
    /// What keeps the page from answering, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<BlockedBy>,
}

fn as_ms<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Why an evaluate gave no value.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The page threw.
    #[error("the page threw {}{}", .0.name, if .0.message.is_empty() { String::new() } else { format!(": {}", .0.message) })]
    Threw(Thrown),
    /// The text is no JavaScript in any of the three forms; nothing ran.
    #[error("the function does not compile: {0}")]
    DoesNotCompile(String),
    /// The element it was to run on is gone; nothing ran.
    #[error("the element is gone ({0:?})")]
    Stale(StaleReason),
    /// The budget ended first.
    #[error("evaluate timed out after {} ms ({})", .0.budget.as_millis(), .0.story())]
    TimedOut(Expiry),
    /// The caller cancelled.
    #[error("evaluate was cancelled after {} ms ({})", .0.elapsed.as_millis(), .0.story())]
    Aborted(Expiry),
    /// A dialog is open, or opened meanwhile; a later value of this script is dropped.
    #[error("a {} dialog is open ({}); answer it first", .dialog.kind, .dialog.id)]
    Dialog {
        /// The dialog.
        dialog: Dialog,
        /// How far the script came; `Queued` when it was refused before anything was sent.
        phase: Phase,
    },
    /// The document went away under the script.
    #[error("the page navigated while the script ran")]
    Navigated,
    /// Somebody else terminated the script: an operator or another client.
    #[error("the script was terminated by somebody else")]
    Interrupted,
    /// The renderer died.
    #[error("the renderer crashed")]
    Crashed,
    /// The link or Chromium failed.
    #[error(transparent)]
    Link(CdpError),
    /// The answer was none of ours.
    #[error("the answer of the page could not be read: {0}")]
    Unreadable(&'static str),
}

impl Expiry {
    /// What happened, in words.
    fn story(&self) -> &'static str {
        match (self.phase, self.terminated, self.page_responsive) {
            (Phase::Queued, ..) => "nothing was sent",
            (Phase::Waiting, ..) if self.may_start_within_ms.is_some() => {
                "it had not started and may still start before its deadline"
            }
            (Phase::Waiting, ..) => "it never started: the page was busy",
            (_, true, true) => "the script was ended and the page answers",
            (_, true, false) => "the script was ended but the page does not answer yet",
            (Phase::Running, false, _) => "the script could not be ended",
            (Phase::Pending, false, true) => "a promise is outstanding, the page answers",
            (Phase::Pending, false, false) => "a promise is outstanding and the page does not answer",
        }
    }
}

impl From<CdpError> for EvaluateError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Crashed => Self::Crashed,
            CdpError::Protocol { ref message, .. } if is_navigation(message) => Self::Navigated,
            other => Self::Link(other),
        }
    }
}

/// Chromium's words for a document that went away under a call (measured).
fn is_navigation(message: &str) -> bool {
    ["navigated or closed", "context was destroyed", "Cannot find context"]
        .iter()
        .any(|words| message.contains(words))
}
