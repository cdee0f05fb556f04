//! Navigation that is not success until the document commits.
//!
//! `Page.navigate` answers "ok" for a load that failed, for a download, and on a stuck page for a
//! navigation that never happens (measured). So its reply is only one of the things that are
//! waited for; the others are the main frame's own events.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;
use url::Url;

use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Event, Session};

use crate::condition::Condition;
use crate::dialog::Dialog;

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
}

/// Why a navigation did not happen, or is not known to have happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NavigateError {
    /// The load failed.
    #[error("the page could not be loaded: {net_error}")]
    Failed {
        /// Chromium's name for it, e.g. `net::ERR_CONNECTION_REFUSED`.
        net_error: String,
    },
    /// The answer was no document: a download or "204 No Content". The page is unchanged.
    #[error("the address gave no document ({}); the page is unchanged", if *.download { "a download" } else { "no content, or it was stopped" })]
    NoDocument {
        /// It became a download.
        download: bool,
    },
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

/// An address that may not be navigated to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// No absolute URL.
    #[error("url is not an absolute URL: {0}")]
    Unreadable(String),
    /// Only http, https and about:blank.
    #[error("url has the scheme `{0}`; only http, https and about:blank are allowed")]
    Scheme(String),
    /// `user:password@` would end up in logs and in the page's own sight.
    #[error("url carries credentials; they are not allowed in an address")]
    Credentials,
}

/// Checks an address before anything is sent.
///
/// # Errors
/// [`BadUrl`].
pub fn check_url(text: &str) -> Result<Url, BadUrl> {
    let url = Url::parse(text.trim()).map_err(|why| BadUrl::Unreadable(why.to_string()))?;
    match url.scheme() {
        "http" | "https" => {}
        "about" if url.path() == "blank" => {}
        scheme => return Err(BadUrl::Scheme(scheme.to_owned())),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadUrl::Credentials);
    }
    Ok(url)
}

const EVENTS: &[&str] = &[
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Page.domContentEventFired",
    "Page.loadEventFired",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateReply {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: Frame,
}

/// The part of CDP's `Page.Frame` that is needed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
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
    /// Reads `Page.frameNavigated`; `None` for a frame inside the page.
    pub fn main(event: &Event) -> Option<Self> {
        let navigated: FrameNavigated = serde_json::from_str(event.params.get()).ok()?;
        navigated.frame.parent_id.is_none().then_some(navigated.frame)
    }

    /// What the address bar shows.
    pub fn address(&self) -> String {
        match &self.unreachable_url {
            Some(url) => url.clone(),
            None => format!("{}{}", self.url, self.url_fragment.as_deref().unwrap_or_default()),
        }
    }
}

/// Navigates the main frame of the page on `session` (with the Page domain enabled).
///
/// # Errors
/// Every [`NavigateError`]; what was not committed at the end is stopped.
pub async fn navigate(
    session: &Session,
    url: &Url,
    until: WaitUntil,
    mut condition: watch::Receiver<Condition>,
    budget: &Budget,
) -> Result<Landed, NavigateError> {
    let was_crashed = {
        let now = condition.borrow();
        if let Some(dialog) = now.dialog.clone() {
            return Err(NavigateError::Dialog { dialog, committed: false });
        }
        // A dead renderer is what a navigation mends.
        now.crashed
    };
    let mut events = session.subscribe(EVENTS, 256);
    let spent = |spent, committed| match spent {
        Spent::Expired { total, elapsed } => NavigateError::TimedOut { budget: total, elapsed, committed },
        Spent::Cancelled { elapsed } => NavigateError::Aborted { elapsed, committed },
    };
    let reply = budget.run(session.send("Page.navigate", json!({ "url": url.as_str() }))).await;
    let mut reply = reply.map_err(|why| spent(why, false))??;
    let mut progress = Progress { until, loader: None, commits: Vec::new(), landed: None, reached: false };
    let mut replied = false;
    loop {
        if let Some(landed) = progress.done() {
            return Ok(landed);
        }
        tokio::select! {
            biased;
            answer = &mut reply, if !replied => {
                replied = true;
                progress.on_reply(answer?.get())?;
            }
            delivery = events.next() => match delivery {
                Some(Delivery::Event(event)) => progress.on_event(&event)?,
                Some(Delivery::Lagged { .. }) => {}
                None => return Err(CdpError::LinkClosed(session.link_closed().await).into()),
            },
            news = bad_news(&mut condition, was_crashed) => {
                let committed = progress.committed();
                return Err(match news {
                    Some(dialog) => NavigateError::Dialog { dialog, committed },
                    None => NavigateError::Crashed,
                });
            }
            why = budget.spent() => {
                let committed = progress.committed();
                if !committed {
                    // Until it is stopped, no call on this page is answered (measured).
                    session.cast("Page.stopLoading", json!({}));
                }
                return Err(spent(why, committed));
            }
        }
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

/// What is known of one navigation. Pure.
#[derive(Debug)]
struct Progress {
    until: WaitUntil,
    loader: Option<String>,
    /// Commits that came before the reply that tells which of them is ours.
    commits: Vec<Frame>,
    landed: Option<Landed>,
    reached: bool,
}

impl Progress {
    fn on_reply(&mut self, raw: &str) -> Result<(), NavigateError> {
        let bad = |why: serde_json::Error| {
            let why = format!("{:?} error", why.classify());
            CdpError::BadReply { method: "Page.navigate".into(), why }
        };
        let reply: NavigateReply = serde_json::from_str(raw).map_err(bad)?;
        match reply.error_text {
            Some(text) if text == "net::ERR_ABORTED" => {
                return Err(NavigateError::NoDocument { download: reply.is_download });
            }
            Some(net_error) => return Err(NavigateError::Failed { net_error }),
            None => {}
        }
        self.loader = reply.loader_id;
        if self.loader.is_none() {
            // Same document: it has happened, only its event may still be on the way.
            self.reached = true;
        }
        let commits = std::mem::take(&mut self.commits);
        commits.into_iter().try_for_each(|frame| self.on_commit(frame))
    }

    fn on_event(&mut self, event: &Event) -> Result<(), NavigateError> {
        match event.method.as_ref() {
            "Page.frameNavigated" => match Frame::main(event) {
                Some(frame) => self.on_commit(frame),
                None => Ok(()),
            },
            "Page.navigatedWithinDocument" => {
                #[derive(Deserialize)]
                struct Within {
                    url: String,
                }
                if self.loader.is_none() && self.reached {
                    let within: Option<Within> = serde_json::from_str(event.params.get()).ok();
                    self.landed = within.map(|to| Landed { url: to.url, same_document: true });
                }
                Ok(())
            }
            "Page.domContentEventFired" => {
                self.reached |= self.landed.is_some() && self.until == WaitUntil::DomContentLoaded;
                Ok(())
            }
            _ => {
                self.reached |= self.landed.is_some();
                Ok(())
            }
        }
    }

    fn on_commit(&mut self, frame: Frame) -> Result<(), NavigateError> {
        let Some(loader) = &self.loader else {
            self.commits.push(frame);
            return Ok(());
        };
        if frame.unreachable_url.is_some() {
            return Err(NavigateError::Failed { net_error: "net::ERR_FAILED".into() });
        }
        // A page may go on at once; where it is now is what the caller wants to know.
        if *loader == frame.loader_id || self.landed.is_some() {
            self.landed = Some(Landed { url: frame.address(), same_document: false });
            self.reached = self.until == WaitUntil::Commit;
        }
        Ok(())
    }

    fn committed(&self) -> bool {
        self.landed.is_some()
    }

    fn done(&mut self) -> Option<Landed> {
        if self.reached { self.landed.clone() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn event(method: &str, params: &str) -> Event {
        Event {
            session: None,
            method: method.into(),
            params: RawValue::from_string(params.to_owned()).unwrap(),
        }
    }

    fn commit(loader: &str, url: &str, parent: &str) -> Event {
        let text = format!(r#"{{"frame":{{"id":"F","loaderId":"{loader}","url":"{url}"{parent}}}}}"#);
        event("Page.frameNavigated", &text)
    }

    fn progress(until: WaitUntil) -> Progress {
        Progress { until, loader: None, commits: Vec::new(), landed: None, reached: false }
    }

    #[test]
    fn a_reply_alone_is_no_success() {
        let mut progress = progress(WaitUntil::Commit);
        progress.on_reply(r#"{"frameId":"F","loaderId":"L"}"#).unwrap();
        assert_eq!(progress.done(), None);
        progress.on_event(&commit("L", "http://a/", "")).unwrap();
        assert_eq!(progress.done().unwrap().url, "http://a/");
    }

    #[test]
    fn the_commit_may_come_before_the_reply() {
        let mut progress = progress(WaitUntil::Load);
        progress.on_event(&commit("L", "http://a/", "")).unwrap();
        progress.on_reply(r#"{"frameId":"F","loaderId":"L"}"#).unwrap();
        assert_eq!(progress.done(), None);
        progress.on_event(&event("Page.loadEventFired", "{}")).unwrap();
        assert!(progress.done().is_some());
    }

    #[test]
    fn an_iframe_or_the_old_documents_load_is_not_ours() {
        let mut progress = progress(WaitUntil::Load);
        progress.on_reply(r#"{"frameId":"F","loaderId":"L"}"#).unwrap();
        progress.on_event(&event("Page.loadEventFired", "{}")).unwrap();
        progress.on_event(&commit("L", "http://embed/", r#","parentId":"P""#)).unwrap();
        assert!(!progress.committed());
    }

    #[test]
    fn failures_hide_in_successful_replies() {
        let failed = progress(WaitUntil::Load).on_reply(r#"{"errorText":"net::ERR_CONNECTION_REFUSED"}"#);
        assert!(matches!(failed, Err(NavigateError::Failed { net_error }) if net_error.ends_with("REFUSED")));
        let download =
            progress(WaitUntil::Load).on_reply(r#"{"errorText":"net::ERR_ABORTED","isDownload":true}"#);
        assert!(matches!(download, Err(NavigateError::NoDocument { download: true })));
    }

    #[test]
    fn only_web_addresses_without_credentials_are_taken() {
        assert!(check_url("https://example.org/a#b").is_ok());
        assert!(check_url("about:blank").is_ok());
        assert!(matches!(check_url("file:///etc/passwd"), Err(BadUrl::Scheme(_))));
        assert!(matches!(check_url("about:settings"), Err(BadUrl::Scheme(_))));
        assert!(matches!(check_url("javascript:1"), Err(BadUrl::Scheme(_))));
        assert!(matches!(check_url("http://me:pw@example.org"), Err(BadUrl::Credentials)));
        assert!(matches!(check_url("example"), Err(BadUrl::Unreadable(_))));
    }
}
