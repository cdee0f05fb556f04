//! Why a call on a tab or browser gave no result.

use std::time::Duration;

use serde::Serialize;
use tabvisor_cdp::budget::{BadBudget, Spent};
use tabvisor_cdp::discovery::DiscoveryError;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::launch::LaunchError;
use tabvisor_page::act::ActError;
use tabvisor_page::content::ContentError;
use tabvisor_page::dialog::{Dialog, NotPending};
use tabvisor_page::evaluate::{BlockedBy, EvaluateError};
use tabvisor_page::navigate::{BadUrl, NavigateError};
use tabvisor_page::observe::ResponseError;
use tabvisor_page::pdf::PdfError;
use tabvisor_page::refs::StaleRef;
use tabvisor_page::screenshot::ShotError;
use tabvisor_page::snapshot::SnapshotError;
use tabvisor_page::wait::{Late, WaitError};

use crate::files::FileError;
use crate::ids::{Epoch, TabId};
use crate::recovery::{GaveUp, Rung};

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum TabError {
    /// The request itself is wrong; nothing was sent.
    #[error("{field}: {why}")]
    BadInput {
        /// The field of the request.
        field: &'static str,
        /// What is wrong and what is allowed.
        why: String,
    },
    /// The budget of the request is wrong; nothing was sent.
    #[error(transparent)]
    BadBudget(#[from] BadBudget),
    /// The address may not be navigated to; nothing was sent.
    #[error(transparent)]
    BadUrl(#[from] BadUrl),
    /// The configuration does not allow it; nothing was sent.
    #[error("{why}")]
    Denied {
        /// What does not, in words.
        why: &'static str,
    },
    /// No tab ever had this name.
    #[error("tab not found: {tab}")]
    TabNotFound {
        /// What was asked for, shortened.
        tab: String,
    },
    /// The tab was closed.
    #[error("tab {tab} was closed")]
    TabClosed {
        /// Its name.
        tab: TabId,
    },
    /// The tab's actors failed more often than they may be restarted.
    #[error("tab {tab} is lost: {cause}")]
    TabLost {
        /// Its name.
        tab: TabId,
        /// The last failure.
        cause: String,
    },
    /// The browser that the tab lived in is gone; its tabs are not brought back silently.
    #[error("the browser was lost (epoch {epoch}): {cause}")]
    BrowserLost {
        /// The epoch that ended.
        epoch: Epoch,
        /// Why.
        cause: String,
    },
    /// There is no browser to work with.
    #[error("no browser: {0}")]
    BrowserUnavailable(#[from] StartError),
    /// A limit is reached; nothing was sent.
    #[error("overloaded: {limit} allows {max}; try again in {retry_after_ms} ms")]
    Overloaded {
        /// Name of the limit in the configuration.
        limit: &'static str,
        /// Its value.
        max: usize,
        /// When trying again is worth it.
        retry_after_ms: u64,
    },
    /// The tab does not answer, and why; nothing was sent.
    #[error("tab {tab} has been stuck for {} ms ({}); {way_out}", .since.as_millis(), reason_words(*.reason))]
    Stuck {
        /// Its name.
        tab: TabId,
        /// What keeps it.
        reason: BlockedBy,
        /// How long.
        since: Duration,
        /// What helps.
        way_out: &'static str,
    },
    /// The tab is being brought back.
    #[error("tab {tab} is being restarted; {}", if *.sent { "what was sent may have happened" } else { "nothing was sent" })]
    TabRestarting {
        /// Its name.
        tab: TabId,
        /// The call was under way when that began.
        sent: bool,
    },
    /// The tab had no renderer when we came; nothing was sent.
    #[error(
        "tab {tab} was discarded by Chromium, or had crashed before: give it the focus, navigate or restart it"
    )]
    Discarded {
        /// Its name.
        tab: TabId,
    },
    /// The tab could not be brought back.
    #[error("tab {tab} is not usable: {why} (tried: {})", rungs(.tried))]
    NotRecovered {
        /// Its name.
        tab: TabId,
        /// Why not.
        why: GaveUp,
        /// What was tried, in order.
        tried: Vec<Rung>,
    },
    /// The ref names nothing any more; nothing was done.
    #[error(transparent)]
    StaleRef(#[from] StaleRef),
    /// Several elements are what the ref was by role, name and place; which one is undefined.
    #[error("{count} elements are {role} {name:?} now, so {} is none of them for sure; take a new snapshot", .r#ref)]
    Ambiguous {
        /// The ref.
        r#ref: String,
        /// Its role.
        role: String,
        /// Its name.
        name: String,
        /// How many there are.
        count: u32,
    },
    /// There is no snapshot.
    #[error(transparent)]
    Snapshot(SnapshotError),
    /// There is no picture.
    #[error(transparent)]
    Screenshot(ShotError),
    /// There is no PDF.
    #[error(transparent)]
    Pdf(PdfError),
    /// A file that may not be used, or a download that gave none.
    #[error(transparent)]
    File(#[from] FileError),
    /// The action was not done, or is not known to have been.
    #[error(transparent)]
    Act(ActError),
    /// There is no response, or not its body.
    #[error(transparent)]
    Response(ResponseError),
    /// The page has no such content, or keeps it.
    #[error(transparent)]
    Content(ContentError),
    /// What was waited for did not happen within the budget.
    #[error(transparent)]
    Wait(Box<Late>),
    /// The dialog that was to be answered is not open.
    #[error(transparent)]
    NoDialog(NotPending),
    /// A dialog is open, or opened meanwhile.
    #[error("a {} dialog is open ({}); answer it first", .0.kind, .0.id)]
    Dialog(Dialog),
    /// The evaluate gave no value.
    #[error(transparent)]
    Evaluate(EvaluateError),
    /// The navigation did not happen.
    #[error(transparent)]
    Navigate(NavigateError),
    /// The budget ended, or the caller cancelled, on the way to the page or on the way back.
    #[error("{spent} while {doing}; {}", if *.sent { "what was sent may have happened" } else { "nothing was sent" })]
    Budget {
        /// Expired or cancelled, with the numbers.
        spent: Spent,
        /// What it was spent on.
        doing: &'static str,
        /// Something was sent before it ended.
        sent: bool,
    },
    /// Chromium refused or failed.
    #[error(transparent)]
    Cdp(CdpError),
    /// The supervisor is stopping.
    #[error("the supervisor is stopping")]
    Stopping,
    /// A bug of ours. It is counted; the tab goes on.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Why a browser could not be started or attached to.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StartError {
    /// It could not be launched.
    #[error("chromium could not be launched: {0}")]
    Launch(std::sync::Arc<LaunchError>),
    /// Nothing usable was found at the address.
    #[error("chromium was not found: {0}")]
    Discovery(std::sync::Arc<DiscoveryError>),
    /// It was there, but would not work with us.
    #[error("chromium did not answer as it should: {0}")]
    Cdp(#[from] CdpError),
    /// The actor that starts it failed: a bug of ours.
    #[error("starting failed: {0}")]
    Internal(String),
    /// It was stopped on request.
    #[error("it was stopped")]
    Stopped,
    /// It failed more often than it may be restarted.
    #[error("it failed too often: {0}")]
    GaveUp(String),
}

/// Whose doing an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The request.
    Caller,
    /// The page or its script.
    Page,
    /// The tab: its renderer or target.
    Tab,
    /// Chromium or the way to it.
    Browser,
    /// This supervisor.
    Tabvisor,
}

/// Whether trying again is worth it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The same call would fail the same way.
    No,
    /// Once something was done about it: another ref, another tab, a restart, an answered dialog.
    AfterChange,
    /// After a while.
    Later,
}

impl TabError {
    /// A stable word for it: the `reason` of an HTTP answer.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BadInput { .. } | Self::BadBudget(_) | Self::BadUrl(BadUrl::Unreadable(_)) => {
                "invalid_argument"
            }
            Self::BadUrl(_) => "navigation_blocked",
            Self::Denied { .. } => "denied",
            Self::TabNotFound { .. } => "tab_not_found",
            Self::TabClosed { .. } => "tab_closed",
            Self::TabLost { .. } => "tab_lost",
            Self::BrowserLost { .. } => "browser_lost",
            Self::BrowserUnavailable(_) => "unavailable",
            Self::Overloaded { .. } => "overloaded",
            Self::Stuck { .. } => "tab_stuck",
            Self::TabRestarting { .. } => "tab_restarting",
            Self::Discarded { .. } => "crashed",
            Self::NotRecovered { why: GaveUp::DocumentChanged, .. } => "document_changed",
            Self::NotRecovered { why: GaveUp::NothingHelped, .. } => "not_recovered",
            Self::StaleRef(_) => "stale_ref",
            Self::Ambiguous { .. } => "ambiguous_ref",
            Self::Snapshot(error) => snapshot_kind(error),
            Self::Screenshot(error) => shot_kind(error),
            Self::Pdf(error) => match error {
                PdfError::Unsupported(_) => "unsupported",
                PdfError::TooLarge { .. } => "too_large",
                PdfError::Link(error) => cdp_kind(error),
            },
            Self::File(error) => error.kind(),
            Self::Act(error) => act_kind(error),
            Self::Response(error) => response_kind(error),
            Self::Content(error) => content_kind(error),
            Self::Wait(_) => "timeout",
            Self::NoDialog(_) => "no_dialog",
            Self::Dialog(_) => "dialog_open",
            Self::Evaluate(error) => evaluate_kind(error),
            Self::Navigate(error) => navigate_kind(error),
            Self::Budget { spent: Spent::Expired { .. }, .. }
            | Self::NotRecovered { why: GaveUp::OutOfTime, .. } => "budget_exceeded",
            Self::Budget { spent: Spent::Cancelled { .. }, .. } => "aborted",
            Self::Cdp(error) => cdp_kind(error),
            Self::Stopping => "stopping",
            Self::Internal(_) => "internal",
        }
    }

    /// Whose doing it is.
    pub fn origin(&self) -> Origin {
        match self.kind() {
            "invalid_argument" | "navigation_blocked" | "denied" | "no_history" | "tab_not_found"
            | "no_dialog" | "aborted" | "too_large" | "file_not_allowed" | "file_not_found"
            | "file_too_large" => Origin::Caller,
            "threw"
            | "does_not_compile"
            | "stale_ref"
            | "ambiguous_ref"
            | "document_changed"
            | "no_match"
            | "ambiguous"
            | "not_visible"
            | "moving"
            | "disabled"
            | "covered"
            | "not_editable"
            | "timeout"
            | "dialog_open"
            | "navigated"
            | "navigation_failed"
            | "no_document"
            | "navigation_cancelled"
            | "no_chooser"
            | "download_failed"
            | "response_not_found"
            | "response_broke_off"
            | "body_not_kept"
            | "page_refused"
            | "storage_too_large" => Origin::Page,
            "tab_closed" | "tab_lost" | "tab_stuck" | "tab_restarting" | "not_recovered" | "crashed"
            | "not_rendering" => Origin::Tab,
            "browser_lost" | "unavailable" | "link_failed" | "protocol" | "unsupported" => Origin::Browser,
            _ => Origin::Tabvisor,
        }
    }

    /// Whether trying again is worth it.
    pub fn retry(&self) -> Retry {
        if let Self::Budget { sent: true, .. } | Self::TabRestarting { sent: true, .. } = self {
            return Retry::AfterChange;
        }
        // What may have happened must not happen twice.
        if let Self::Act(error) = self
            && error.was_sent()
        {
            return Retry::AfterChange;
        }
        match self.kind() {
            "overloaded" | "document_changed" | "unavailable" | "link_failed" | "budget_exceeded"
            | "stopping" | "tab_restarting" | "download_failed" => Retry::Later,
            "tab_closed" | "tab_lost" | "tab_stuck" | "not_recovered" | "crashed" | "browser_lost"
            | "dialog_open" | "navigated" | "tab_not_found" | "stale_ref" | "ambiguous_ref" | "no_match"
            | "ambiguous" | "not_visible" | "moving" | "disabled" | "covered" | "file_not_found" => {
                Retry::AfterChange
            }
            _ => Retry::No,
        }
    }
}

impl From<EvaluateError> for TabError {
    fn from(error: EvaluateError) -> Self {
        Self::Evaluate(error)
    }
}

impl From<SnapshotError> for TabError {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Link(error) => error.into(),
            other => Self::Snapshot(other),
        }
    }
}

impl From<ContentError> for TabError {
    fn from(error: ContentError) -> Self {
        match error {
            ContentError::Link(error) => error.into(),
            other => Self::Content(other),
        }
    }
}

impl From<WaitError> for TabError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::TimedOut(late) => Self::Wait(late),
            WaitError::Act(error) => error.into(),
        }
    }
}

impl From<NavigateError> for TabError {
    fn from(error: NavigateError) -> Self {
        Self::Navigate(error)
    }
}

impl From<CdpError> for TabError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Spent { spent, .. } => {
                Self::Budget { spent, doing: "waiting for chromium", sent: true }
            }
            other => Self::Cdp(other),
        }
    }
}

fn evaluate_kind(error: &EvaluateError) -> &'static str {
    match error {
        EvaluateError::Threw(_) => "threw",
        EvaluateError::DoesNotCompile(_) => "does_not_compile",
        EvaluateError::Stale(_) => "stale_ref",
        EvaluateError::TimedOut(_) => "timeout",
        EvaluateError::Aborted(_) => "aborted",
        EvaluateError::Dialog { .. } => "dialog_open",
        EvaluateError::Navigated => "navigated",
        EvaluateError::Interrupted => "interrupted",
        EvaluateError::Crashed => "crashed",
        EvaluateError::Link(error) => cdp_kind(error),
        EvaluateError::Unreadable(_) => "internal",
    }
}

fn shot_kind(error: &ShotError) -> &'static str {
    match error {
        ShotError::NotRendering { .. } => "not_rendering",
        ShotError::Gone => "stale_ref",
        ShotError::NoBox | ShotError::Empty => "not_visible",
        ShotError::FrameSilent => "tab_stuck",
        ShotError::BadImage(_) => "internal",
        ShotError::Link(error) => cdp_kind(error),
    }
}

fn content_kind(error: &ContentError) -> &'static str {
    match error {
        ContentError::Refused(_) => "page_refused",
        ContentError::NoMatch => "no_match",
        ContentError::TooLarge => "storage_too_large",
        ContentError::Link(error) => cdp_kind(error),
    }
}

fn response_kind(error: &ResponseError) -> &'static str {
    match error {
        ResponseError::NotFound { spent: Spent::Expired { .. }, .. } => "response_not_found",
        ResponseError::NotFound { spent: Spent::Cancelled { .. }, .. } => "aborted",
        ResponseError::BrokeOff { .. } => "response_broke_off",
        ResponseError::NotKept { .. } => "body_not_kept",
        ResponseError::Link(error) => cdp_kind(error),
    }
}

fn act_kind(error: &ActError) -> &'static str {
    match error {
        ActError::Link { error, .. } => cdp_kind(error),
        ActError::BadSelector(_) => "invalid_argument",
        ActError::Ambiguous { .. } => "ambiguous",
        ActError::Unreadable(_) => "internal",
        other => other.kind(),
    }
}

fn snapshot_kind(error: &SnapshotError) -> &'static str {
    match error {
        SnapshotError::DocumentChanged => "document_changed",
        SnapshotError::StaleFrame(_) => "stale_ref",
        SnapshotError::Link(error) => cdp_kind(error),
        _ => "invalid_argument",
    }
}

fn navigate_kind(error: &NavigateError) -> &'static str {
    match error {
        NavigateError::Failed { .. } => "navigation_failed",
        NavigateError::NoDocument { .. } => "no_document",
        NavigateError::Dismissed => "navigation_cancelled",
        NavigateError::NoHistory(_) => "no_history",
        NavigateError::TimedOut { .. } => "timeout",
        NavigateError::Aborted { .. } => "aborted",
        NavigateError::Dialog { .. } => "dialog_open",
        NavigateError::Crashed => "crashed",
        NavigateError::Link(error) => cdp_kind(error),
    }
}

fn cdp_kind(error: &CdpError) -> &'static str {
    match error {
        CdpError::Spent { spent: Spent::Expired { .. }, .. } => "budget_exceeded",
        CdpError::Spent { spent: Spent::Cancelled { .. }, .. } => "aborted",
        CdpError::RequestTooLarge { .. } => "too_large",
        CdpError::Crashed => "crashed",
        CdpError::Detached { .. } => "tab_closed",
        CdpError::Protocol { .. } | CdpError::BadReply { .. } => "protocol",
        CdpError::Busy { .. } | CdpError::LinkClosed(_) | CdpError::Connect { .. } => "link_failed",
    }
}

fn rungs(tried: &[Rung]) -> String {
    if tried.is_empty() {
        return "nothing".into();
    }
    tried.iter().map(|rung| rung.name()).collect::<Vec<_>>().join(", ")
}

fn reason_words(reason: BlockedBy) -> &'static str {
    match reason {
        BlockedBy::Script => "a script holds it",
        BlockedBy::Evaluate => "another evaluate holds it",
        BlockedBy::Stopped => "the process of its renderer is stopped",
        BlockedBy::Native => "something holds it that script termination cannot reach",
        BlockedBy::Navigation => "a navigation is under way",
        BlockedBy::Unknown => "it is not known what holds it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_teach_and_kinds_are_stable() {
        let stuck = TabError::Stuck {
            tab: TabId(3),
            reason: BlockedBy::Native,
            since: Duration::from_millis(1200),
            way_out: "close it",
        };
        assert_eq!(
            stuck.to_string(),
            "tab t3 has been stuck for 1200 ms (something holds it that script termination cannot reach); close it"
        );
        assert_eq!(
            (stuck.kind(), stuck.origin(), stuck.retry()),
            ("tab_stuck", Origin::Tab, Retry::AfterChange)
        );
        let full = TabError::Overloaded { limit: "limits.tabs", max: 50, retry_after_ms: 1000 };
        assert_eq!(
            (full.kind(), full.origin(), full.retry()),
            ("overloaded", Origin::Tabvisor, Retry::Later)
        );
    }
}
