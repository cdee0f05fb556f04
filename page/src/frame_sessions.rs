//! The frames of a page: which document each shows, and sessions on those that live in processes
//! of their own (OOPIFs).
//!
//! Chromium attaches them by itself, nested ones too, from the moment at which it is asked: a
//! session that is attached only when it is needed is of no use if the frame is stuck by then.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};

use tabvisor_cdp::link::{Delivery, Event, Link, Session};

use crate::navigate::Frame;
use crate::refs::{DocumentId, FrameId};

/// The sessions as they are now. Clones are the same table.
#[derive(Clone, Debug, Default)]
pub struct FrameSessions(Arc<Mutex<Vec<(FrameId, Session)>>>);

/// What a frame shows now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameChange {
    /// Another document.
    Shows(FrameId, DocumentId),
    /// It is gone.
    Gone(FrameId),
}

const EVENTS: &[&str] =
    &["Target.attachedToTarget", "Target.detachedFromTarget", "Page.frameNavigated", "Page.frameDetached"];
/// A page with more frames than this at once has its frames announced anew.
const BACKLOG: usize = 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    frame_id: String,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    target_info: Option<TargetInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    r#type: String,
}

impl FrameSessions {
    /// A table for the page of `session`, and the work that keeps it and tells of every frame's
    /// documents, until the link closes. What is told may have gaps when a page changes its frames
    /// faster than they can be told of.
    pub fn watch(
        link: &Link,
        session: &Session,
        mut tell: impl FnMut(FrameChange) + Send + 'static,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let table = Self::default();
        let mut events = link.subscribe_link(EVENTS, BACKLOG);
        let (root, page, kept) = (link.root(), session.clone(), table.clone());
        let work = async move {
            // Not waited for: a stuck page does not answer it.
            let _ = page.send("Target.setAutoAttach", auto_attach(true)).await;
            while let Some(delivery) = events.next().await {
                match delivery {
                    Delivery::Event(event) if event.method.starts_with("Page.") => {
                        if let Some(change) = FrameChange::read(&event) {
                            tell(change);
                        }
                    }
                    Delivery::Event(event) => {
                        let Some(session) = kept.on(&event, &root) else { continue };
                        let _ = session.send("Page.enable", json!({})).await;
                        let _ = session.send("Target.setAutoAttach", auto_attach(true)).await;
                    }
                    Delivery::Lagged { .. } => {
                        kept.table().clear();
                        let _ = page.send("Target.setAutoAttach", auto_attach(false)).await;
                        let _ = page.send("Target.setAutoAttach", auto_attach(true)).await;
                    }
                }
            }
        };
        (table, work)
    }

    /// All frames that have a session, with it.
    pub fn all(&self) -> Vec<(FrameId, Session)> {
        self.table().clone()
    }

    /// Takes an event; gives the session that is new.
    fn on(&self, event: &Event, root: &Session) -> Option<Session> {
        let params: Params = serde_json::from_str(event.params.get()).ok()?;
        let mut table = self.table();
        if &*event.method == "Target.detachedFromTarget" {
            table.retain(|(_, session)| session.id() != Some(&params.session_id));
            return None;
        }
        let info = params.target_info.filter(|info| info.r#type == "iframe")?;
        let session = root.sibling(&params.session_id);
        table.retain(|(frame, _)| **frame != *info.target_id);
        table.push((info.target_id.into(), session.clone()));
        Some(session)
    }

    fn table(&self) -> MutexGuard<'_, Vec<(FrameId, Session)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FrameChange {
    fn read(event: &Event) -> Option<Self> {
        let params = event.params.get();
        if &*event.method == "Page.frameNavigated" {
            let frame = Frame::navigated(event)?;
            return Some(Self::Shows(frame.id.into(), frame.loader_id.into()));
        }
        let Detached { frame_id, reason } = serde_json::from_str(params).ok()?;
        // It only moved to another process.
        (reason != "swap").then(|| Self::Gone(frame_id.into()))
    }
}

fn auto_attach(on: bool) -> Value {
    json!({
        "autoAttach": on, "waitForDebuggerOnStart": false, "flatten": true,
        "filter": [{ "type": "iframe" }, { "exclude": true }],
    })
}
