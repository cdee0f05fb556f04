//! What is known of one navigation: from replies and events to "it happened".

use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Event, Events, Session};

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
    /// What is waited for came after the last of these commits, before the reply.
    early: bool,
    moved: Option<Moved>,
    /// The page asks whether it may be left.
    asks: bool,
}

/// A move through the history or a reload, whose document nobody announces.
#[derive(Debug)]
struct Moved {
    main: String,
    reload: bool,
}

impl Progress {
    pub(super) fn new(until: WaitUntil) -> Self {
        Self {
            until,
            loader: None,
            commits: Vec::new(),
            landed: None,
            reached: false,
            early: false,
            moved: None,
            asks: false,
        }
    }

    /// Of a move in the main frame `main`: what commits first is its document.
    pub(super) fn of_move(until: WaitUntil, main: &str, reload: bool) -> Self {
        Self { moved: Some(Moved { main: main.to_owned(), reload }), ..Self::new(until) }
    }

    pub(super) fn on_reply(&mut self, raw: &str) -> Result<(), NavigateError> {
        if self.moved.is_some() {
            return Ok(());
        }
        let bad = |why: serde_json::Error| {
            let why = format!("{:?} error", why.classify());
            CdpError::BadReply { method: "Page.navigate".into(), why }
        };
        let reply: NavigateReply = serde_json::from_str(raw).map_err(bad)?;
        match reply.error_text {
            Some(text) if text == "net::ERR_ABORTED" => {
                return Err(NavigateError::NoDocument { download: reply.is_download });
            }
            Some(net_error) => return Err(NavigateError::Failed { net_error, challenge: None }),
            None => {}
        }
        self.loader = reply.loader_id;
        if self.loader.is_none() {
            // Same document: it has happened, only its event may still be on the way.
            self.reached = true;
        }
        let commits = std::mem::take(&mut self.commits);
        commits.into_iter().try_for_each(|frame| self.on_commit(frame))?;
        self.reached |= self.landed.is_some() && self.early;
        Ok(())
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
                Some(frame) => {
                    self.on_commit(frame)?;
                    // It was loaded before, and nothing follows.
                    self.reached |= self.landed.is_some() && is_restored(event);
                    Ok(())
                }
                None => Ok(()),
            },
            "Page.navigatedWithinDocument" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Within {
                    frame_id: String,
                    url: String,
                }
                if let Some(moved) = self.moved.as_ref().filter(|moved| !moved.reload) {
                    let within: Option<Within> = serde_json::from_str(event.params.get()).ok();
                    if let Some(to) = within.filter(|to| to.frame_id == moved.main) {
                        self.landed = Some(Landed { url: to.url, same_document: true, http_status: None });
                        self.reached = true;
                    }
                    return Ok(());
                }
                if self.loader.is_none() && self.reached {
                    let within: Option<Within> = serde_json::from_str(event.params.get()).ok();
                    self.landed =
                        within.map(|to| Landed { url: to.url, same_document: true, http_status: None });
                }
                Ok(())
            }
            "Page.javascriptDialogOpening" | "Page.javascriptDialogClosed" => self.on_dialog(event),
            "Page.domContentEventFired" => {
                let wanted = self.until == WaitUntil::DomContentLoaded;
                self.reached |= self.landed.is_some() && wanted;
                self.early |= wanted && !self.commits.is_empty();
                Ok(())
            }
            _ => {
                self.reached |= self.landed.is_some();
                self.early |= !self.commits.is_empty();
                Ok(())
            }
        }
    }

    /// Why there is no document. What the page asked before that was answered is among the events
    /// that wait still.
    pub(super) fn why_none(&mut self, events: &mut Events) -> NavigateError {
        let mut asked = self.asks;
        while let Some(delivery) = events.try_next() {
            if let Delivery::Event(event) = delivery
                && event.method.starts_with("Page.javascriptDialog")
            {
                if let Err(error) = self.on_dialog(&event) {
                    return error;
                }
                asked |= self.asks;
            }
        }
        if asked { NavigateError::Dismissed } else { NavigateError::NoDocument { download: false } }
    }

    /// A page that asks whether it may be left, and is told no, stays; nothing else tells of it.
    fn on_dialog(&mut self, event: &Event) -> Result<(), NavigateError> {
        #[derive(Deserialize)]
        struct Dialog {
            #[serde(default)]
            r#type: String,
            result: Option<bool>,
        }
        let Ok(dialog) = serde_json::from_str::<Dialog>(event.params.get()) else { return Ok(()) };
        match dialog.result {
            None => self.asks = dialog.r#type == "beforeunload",
            Some(false) if self.asks && self.landed.is_none() => return Err(NavigateError::Dismissed),
            Some(_) => self.asks = false,
        }
        Ok(())
    }

    fn on_commit(&mut self, frame: Frame) -> Result<(), NavigateError> {
        if self.moved.is_some() {
            self.loader.get_or_insert_with(|| frame.loader_id.clone());
        }
        let Some(loader) = &self.loader else {
            self.commits.push(frame);
            self.early = false;
            return Ok(());
        };
        if frame.unreachable_url.is_some() {
            return Err(NavigateError::Failed { net_error: "net::ERR_FAILED".into(), challenge: None });
        }
        // A page may go on at once; where it is now is what the caller wants to know.
        if *loader == frame.loader_id || self.landed.is_some() {
            self.landed = Some(Landed { url: frame.address(), same_document: false, http_status: None });
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

fn is_restored(event: &Event) -> bool {
    #[derive(Deserialize)]
    struct Navigated {
        #[serde(default)]
        r#type: String,
    }
    serde_json::from_str::<Navigated>(event.params.get())
        .is_ok_and(|it| it.r#type == "BackForwardCacheRestore")
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
    fn the_load_may_come_before_the_reply_too() {
        let mut progress = progress(WaitUntil::Load);
        progress.on_event(&commit("L", "http://a/", "")).unwrap();
        progress.on_event(&event("Page.loadEventFired", "{}")).unwrap();
        assert_eq!(progress.done(), None);
        progress.on_reply(r#"{"frameId":"F","loaderId":"L"}"#).unwrap();
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
    fn what_a_move_brings_first_is_its_document() {
        let mut back = Progress::of_move(WaitUntil::Load, "F", false);
        back.on_reply("{}").unwrap();
        back.on_event(&event("Page.loadEventFired", "{}")).unwrap();
        back.on_event(&event("Page.navigatedWithinDocument", r#"{"frameId":"X","url":"http://x/"}"#))
            .unwrap();
        assert_eq!(back.done(), None);
        back.on_event(&commit("L", "http://a/", "")).unwrap();
        assert_eq!(back.done(), None);
        back.on_event(&event("Page.loadEventFired", "{}")).unwrap();
        assert_eq!(back.done().unwrap().url, "http://a/");
        let mut restored = Progress::of_move(WaitUntil::Load, "F", false);
        let frame =
            r#"{"frame":{"id":"F","loaderId":"L","url":"http://a/"},"type":"BackForwardCacheRestore"}"#;
        restored.on_event(&event("Page.frameNavigated", frame)).unwrap();
        assert!(restored.done().is_some());
        let mut within = Progress::of_move(WaitUntil::Load, "F", false);
        within
            .on_event(&event("Page.navigatedWithinDocument", r#"{"frameId":"F","url":"http://a/#x"}"#))
            .unwrap();
        assert!(within.done().unwrap().same_document);
    }

    #[test]
    fn a_page_that_may_not_be_left_stays() {
        let asks = |kind: &str| event("Page.javascriptDialogOpening", &format!(r#"{{"type":"{kind}"}}"#));
        let closed =
            |result: bool| event("Page.javascriptDialogClosed", &format!(r#"{{"result":{result}}}"#));
        let mut reload = Progress::of_move(WaitUntil::Load, "F", true);
        reload.on_event(&asks("alert")).unwrap();
        reload.on_event(&closed(false)).unwrap();
        reload.on_event(&asks("beforeunload")).unwrap();
        reload.on_event(&closed(true)).unwrap();
        reload.on_event(&asks("beforeunload")).unwrap();
        assert_eq!(reload.on_event(&closed(false)), Err(NavigateError::Dismissed));
    }

    #[test]
    fn failures_hide_in_successful_replies() {
        let failed = progress(WaitUntil::Load).on_reply(r#"{"errorText":"net::ERR_CONNECTION_REFUSED"}"#);
        assert!(
            matches!(failed, Err(NavigateError::Failed { net_error, .. }) if net_error.ends_with("REFUSED"))
        );
        let download =
            progress(WaitUntil::Load).on_reply(r#"{"errorText":"net::ERR_ABORTED","isDownload":true}"#);
        assert!(matches!(download, Err(NavigateError::NoDocument { download: true })));
    }
}
