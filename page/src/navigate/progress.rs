//! What is known of one navigation: from replies and events to "it happened".

use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Event, Session};

use super::{Frame, FrameNavigated, Landed, NavigateError, WaitUntil};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateReply {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

/// What is known of one navigation. Pure.
#[derive(Debug)]
pub(super) struct Progress {
    until: WaitUntil,
    loader: Option<String>,
    /// Commits that came before the reply that tells which of them is ours.
    commits: Vec<Frame>,
    landed: Option<Landed>,
    reached: bool,
}

impl Progress {
    pub(super) fn new(until: WaitUntil) -> Self {
        Self { until, loader: None, commits: Vec::new(), landed: None, reached: false }
    }

    pub(super) fn on_reply(&mut self, raw: &str) -> Result<(), NavigateError> {
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

    /// A session whose Page domain was enabled on a dead renderer hears no events of the page that
    /// this navigation brings back. The reply came with the commit (measured), so the frame can be
    /// asked; that it has loaded cannot be waited for.
    pub(super) async fn on_revival(
        &mut self,
        session: &Session,
        budget: &Budget,
    ) -> Result<(), NavigateError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Reply {
            frame_tree: FrameNavigated,
        }
        session.cast("Page.enable", json!({}));
        let reply: Reply = session.call_as("Page.getFrameTree", json!({}), budget).await?;
        self.on_commit(reply.frame_tree.frame)?;
        self.reached |= self.landed.is_some();
        Ok(())
    }

    pub(super) fn on_event(&mut self, event: &Event) -> Result<(), NavigateError> {
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

    pub(super) fn committed(&self) -> bool {
        self.landed.is_some()
    }

    pub(super) fn done(&mut self) -> Option<Landed> {
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
        Progress::new(until)
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
}
