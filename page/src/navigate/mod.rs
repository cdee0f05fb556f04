//! Navigation that is not success until the document commits.
//!
//! `Page.navigate` answers "ok" for a load that failed, for a download, and on a stuck page for a
//! navigation that never happens (measured). So its reply is only one of the things that are
//! waited for; the others are the main frame's own events.

mod address;
mod failure;
mod history;
mod policy;
mod progress;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;
use url::Url;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Event, Events, Reply, Session};

use crate::condition::Condition;
use crate::dialog::Dialog;
use crate::isolated;
use crate::observe::Challenge;

pub use address::{BadUrl, check_url};
pub use failure::LoadFailure;
pub use history::{Move, go};
pub use policy::{HostPattern, NavigationPolicy};
use progress::Progress;

/// What to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitUntil {
    /// The new document is there.
    Commit,
    /// It is parsed.
    DomContentLoaded,
    /// It and what it includes are loaded.
    #[default]
    Load,
}

/// A navigation that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Landed {
    /// Where the main frame is now, after redirects.
    pub url: String,
    /// The document stayed the same (a change of the fragment).
    pub same_document: bool,
    /// What the server answered, where the page could be asked. A document that came with 404 is
    /// a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
}

/// Why a navigation did not happen, or is not known to have happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NavigateError {
    /// The load failed.
    #[error("the page could not be loaded: {net_error}{}", wants(challenge.as_ref()))]
    Failed {
        /// Chromium's name for it, e.g. `net::ERR_CONNECTION_REFUSED`.
        net_error: String,
        /// The login that the server wants, where it said so.
        challenge: Option<Challenge>,
    },
    /// The answer was no document: a download or "204 No Content". The page is unchanged.
    #[error("the address gave no document ({}); the page is unchanged", if *.download { "a download" } else { "no content, or it was stopped" })]
    NoDocument {
        /// It became a download.
        download: bool,
    },
    /// The page asked whether it may be left, and was told no; it is unchanged.
    #[error("navigation: cancelled (the page asked whether it may be left, and the answer was no)")]
    Dismissed,
    /// There is nothing to go to.
    #[error("there is nothing to go {0} to; the page is unchanged")]
    NoHistory(&'static str),
    /// The budget ended first. An uncommitted navigation was stopped, so the old document stays.
    #[error("navigation timed out after {} ms ({})", .elapsed.as_millis(), if *.committed { "the document is there but still loading" } else { "no answer yet; it was stopped" })]
    TimedOut {
        /// The whole budget.
        budget: Duration,
        /// Time from its start.
        elapsed: Duration,
        /// The new document is there, only not as far as was asked for.
        committed: bool,
    },
    /// The caller cancelled; as for [`TimedOut`](Self::TimedOut).
    #[error("navigation was cancelled after {} ms", .elapsed.as_millis())]
    Aborted {
        /// Time from the start of the budget.
        elapsed: Duration,
        /// The new document is there.
        committed: bool,
    },
    /// A dialog is open, or opened meanwhile (for example `beforeunload`).
    #[error("a {} dialog is open ({}); answer it first", .dialog.kind, .dialog.id)]
    Dialog {
        /// The dialog.
        dialog: Dialog,
        /// The new document is there, and the dialog is its own.
        committed: bool,
    },
    /// The renderer died.
    #[error("the renderer crashed")]
    Crashed,
    /// The link or Chromium failed.
    #[error(transparent)]
    Link(CdpError),
}

impl From<CdpError> for NavigateError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Crashed => Self::Crashed,
            other => Self::Link(other),
        }
    }
}

const EVENTS: &[&str] = &[
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Page.domContentEventFired",
    "Page.loadEventFired",
    "Page.javascriptDialogOpening",
    "Page.javascriptDialogClosed",
];

/// What is said besides of a server that wants a login.
fn wants(challenge: Option<&Challenge>) -> String {
    challenge.map_or_else(String::new, |challenge| format!(" (the server wants {challenge})"))
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: Frame,
}

/// The part of CDP's `Page.Frame` that is needed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// Stays the same while its documents change.
    pub id: String,
    /// Absent for the main frame.
    pub parent_id: Option<String>,
    /// Its document.
    pub loader_id: String,
    /// Without the fragment.
    pub url: String,
    /// With its `#`.
    pub url_fragment: Option<String>,
    /// Set on Chromium's error pages: what could not be loaded.
    pub unreachable_url: Option<String>,
}

impl Frame {
    /// Reads `Page.frameNavigated`, of whichever frame.
    pub fn navigated(event: &Event) -> Option<Self> {
        serde_json::from_str(event.params.get()).ok().map(|FrameNavigated { frame }| frame)
    }

    /// The same; `None` for a frame inside the page.
    pub fn main(event: &Event) -> Option<Self> {
        Self::navigated(event).filter(|frame| frame.parent_id.is_none())
    }

    /// What the address bar shows.
    pub fn address(&self) -> String {
        match &self.unreachable_url {
            Some(url) => url.clone(),
            None => format!("{}{}", self.url, self.url_fragment.as_deref().unwrap_or_default()),
        }
    }
}

/// How a navigation is made.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// What to wait for.
    pub until: WaitUntil,
    /// The address may be of the page's own site: then it is asked first whether it answers. Sent
    /// to a page that is held by a script, such a navigation would take termination away and
    /// happen later although it was called stopped (measured).
    pub same_site: bool,
}

/// Navigates the main frame of the page on `session` (with the Page domain enabled).
///
/// # Errors
/// Every [`NavigateError`]; what was not committed at the end is stopped.
pub async fn navigate(
    session: &Session,
    url: &Url,
    how: How,
    mut condition: watch::Receiver<Condition>,
    budget: &Budget,
) -> Result<Landed, NavigateError> {
    let was_crashed = may_begin(&condition)?;
    // What is left at the end stops the navigation and hears that it is stopped.
    let work = budget.reserving(budget.cleanup_reserve());
    let events = session.subscribe(EVENTS, 256);
    if how.same_site && !was_crashed {
        answers(session, &mut condition, &work, budget).await?;
    }
    let sent = work.run(session.send("Page.navigate", json!({ "url": url.as_str() }))).await;
    let reply = sent.map_err(|_| spent(budget, false))??;
    let follow = Follow { events, reply, progress: Progress::new(how.until), condition, was_crashed };
    follow.run(session, budget).await
}

/// Nothing is sent behind a dialog. Says whether the renderer is dead: that is what a navigation mends.
fn may_begin(condition: &watch::Receiver<Condition>) -> Result<bool, NavigateError> {
    let now = condition.borrow();
    match now.dialog.clone() {
        Some(dialog) => Err(NavigateError::Dialog { dialog, committed: false }),
        None => Ok(now.crashed),
    }
}

/// Waits until a page whose renderer lives answers anything: one that is held by a script is not moved.
async fn answers(
    session: &Session,
    condition: &mut watch::Receiver<Condition>,
    work: &Budget,
    budget: &Budget,
) -> Result<(), NavigateError> {
    let marker = session.send("Runtime.evaluate", json!({ "expression": "0" })).await?;
    tokio::select! {
        biased;
        // A refusal is an answer, too.
        _ = marker => Ok(()),
        news = bad_news(condition, false) => Err(stopped_by(news, false)),
        _ = work.spent() => Err(spent(budget, false)),
    }
}

/// A navigation that was sent.
struct Follow {
    events: Events,
    reply: Reply,
    progress: Progress,
    condition: watch::Receiver<Condition>,
    was_crashed: bool,
}

impl Follow {
    async fn run(self, session: &Session, budget: &Budget) -> Result<Landed, NavigateError> {
        let Self { mut events, mut reply, mut progress, mut condition, was_crashed } = self;
        let work = budget.reserving(budget.cleanup_reserve());
        let mut replied = false;
        loop {
            if let Some(landed) = progress.done() {
                return Ok(landed);
            }
            tokio::select! {
                biased;
                answer = &mut reply, if !replied => {
                    replied = true;
                    match progress.on_reply(answer?.get()) {
                        Err(NavigateError::NoDocument { download: false }) => {
                            return Err(progress.why_none(&mut events));
                        }
                        other => other?,
                    }
                    if was_crashed && !progress.committed() {
                        progress.on_revival(session, budget).await?;
                    }
                }
                delivery = events.next() => match delivery {
                    Some(Delivery::Event(event)) => progress.on_event(&event)?,
                    Some(Delivery::Lagged { .. }) => {}
                    None => return Err(CdpError::LinkClosed(session.link_closed().await).into()),
                },
                news = bad_news(&mut condition, was_crashed) => return Err(stopped_by(news, progress.committed())),
                _ = work.spent() => {
                    let committed = progress.committed();
                    if !committed {
                        // Until it is stopped, no call on this page is answered (measured).
                        let patience = Budget::new(budget.left() + STOP_GRACE);
                        let _ = session.call("Page.stopLoading", json!({}), &patience).await;
                    }
                    return Err(spent(budget, committed));
                }
            }
        }
    }
}

/// Asks the document on `session` what it came with.
pub async fn http_status(session: &Session, main: &str, budget: &Budget) -> Option<u16> {
    #[derive(Deserialize)]
    struct Answer {
        result: Status,
    }
    #[derive(Deserialize)]
    struct Status {
        value: Option<u16>,
    }
    let context = isolated::world(session, main, budget).await.ok()?;
    let asked = json!({
        "contextId": context, "returnByValue": true, "silent": true,
        "expression": "performance.getEntriesByType('navigation')[0]?.responseStatus",
    });
    let answer: Answer = session.call_as("Runtime.evaluate", asked, budget).await.ok()?;
    answer.result.value.filter(|status| *status > 0)
}

/// How far beyond the budget the answer may wait to hear that the navigation is stopped.
const STOP_GRACE: Duration = Duration::from_millis(15);

fn spent(budget: &Budget, committed: bool) -> NavigateError {
    let elapsed = budget.elapsed();
    if budget.is_cancelled() {
        NavigateError::Aborted { elapsed, committed }
    } else {
        NavigateError::TimedOut { budget: budget.total(), elapsed, committed }
    }
}

fn stopped_by(news: Option<Dialog>, committed: bool) -> NavigateError {
    match news {
        Some(dialog) => NavigateError::Dialog { dialog, committed },
        None => NavigateError::Crashed,
    }
}

/// The open dialog, or `None` for a crash.
async fn bad_news(condition: &mut watch::Receiver<Condition>, was_crashed: bool) -> Option<Dialog> {
    let bad = |now: &Condition| now.dialog.is_some() || (now.crashed && !was_crashed);
    let news = condition.wait_for(bad).await.map(|now| now.dialog.clone());
    match news {
        Ok(dialog) => dialog,
        Err(_) => std::future::pending().await,
    }
}
