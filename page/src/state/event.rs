//! What the reducer hears: CDP events and replies as values.

use serde::Deserialize;
use tabvisor_cdp::link::Event;

use super::observer::Report;
use crate::navigate::Frame;

/// A moment in the life of a tab: an answer is worth something only while its question's moment lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub(super) generation: u64,
    /// Changes of the url inside one document.
    pub(super) moves: u64,
}

/// One thing that happened, or that was read.
#[derive(Clone, Debug)]
pub enum StateEvent {
    /// `Page.frameStartedNavigating`. It comes with every load of another document (measured), so
    /// `frameStartedLoading` is not needed, which also comes for changes inside a document.
    Started {
        /// Of which frame.
        frame: String,
        /// The document stays.
        same_document: bool,
    },
    /// `Page.frameNavigated`: a document is there, maybe an error page.
    Committed {
        /// Whose, and which.
        frame: Frame,
        /// It comes from the back-forward cache; it was loaded before, and no load event follows.
        restored: bool,
    },
    /// `Page.navigatedWithinDocument`.
    Within {
        /// Of which frame.
        frame: String,
        /// Where to, whole.
        url: String,
    },
    /// `Page.frameStoppedLoading`.
    Stopped {
        /// Of which frame.
        frame: String,
    },
    /// `Page.domContentEventFired`, for the main frame only; also for error pages.
    Parsed,
    /// `Page.loadEventFired`, likewise.
    Loaded,
    /// `Inspector.targetCrashed`.
    Crashed,
    /// Events were lost.
    Lagged,
    /// The document's observer called.
    Reported {
        /// When its world was asked for.
        at: Mark,
        /// What it said.
        report: Report,
    },
    /// The answer to `Page.getNavigationHistory`.
    History {
        /// When it was asked.
        at: Mark,
        /// The answer.
        history: History,
    },
    /// The answer to `Page.getFrameTree`: its root.
    Tree {
        /// When it was asked.
        at: Mark,
        /// The main frame.
        frame: Frame,
    },
    /// What an error page shows as its error.
    Named {
        /// When its world was asked for.
        at: Mark,
        /// E.g. `ERR_CONNECTION_REFUSED`.
        shown: String,
    },
}

/// What is needed of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// There is something to go back to.
    pub back: bool,
    /// There is something to go forward to.
    pub forward: bool,
    /// Address of the current entry.
    pub url: String,
    /// Its title; empty when it has none, unlike that of `Target.getTargetInfo` (measured).
    pub title: String,
}

/// The events that [`StateEvent::read`] reads.
pub(super) const READ: [&str; 7] = [
    "Page.frameStartedNavigating",
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Page.frameStoppedLoading",
    "Page.domContentEventFired",
    "Page.loadEventFired",
    "Inspector.targetCrashed",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFrame {
    frame_id: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    navigation_type: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: Frame,
    #[serde(default, rename = "type")]
    kind: String,
}

impl StateEvent {
    /// Reads a CDP event; `None` for any other, and for one that cannot be read.
    pub fn read(event: &Event) -> Option<Self> {
        let params = event.params.get();
        let of_frame = || serde_json::from_str::<OfFrame>(params).ok();
        Some(match event.method.as_ref() {
            "Page.frameStartedNavigating" => {
                let it = of_frame()?;
                let same_document =
                    matches!(it.navigation_type.as_str(), "sameDocument" | "historySameDocument");
                Self::Started { frame: it.frame_id, same_document }
            }
            "Page.frameNavigated" => {
                let it: Navigated = serde_json::from_str(params).ok()?;
                Self::Committed { frame: it.frame, restored: it.kind == "BackForwardCacheRestore" }
            }
            "Page.navigatedWithinDocument" => {
                let it = of_frame()?;
                Self::Within { frame: it.frame_id, url: it.url }
            }
            "Page.frameStoppedLoading" => Self::Stopped { frame: of_frame()?.frame_id },
            "Page.domContentEventFired" => Self::Parsed,
            "Page.loadEventFired" => Self::Loaded,
            "Inspector.targetCrashed" => Self::Crashed,
            _ => return None,
        })
    }
}

impl History {
    /// Reads the answer to `Page.getNavigationHistory`.
    pub fn read(answer: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            current_index: usize,
            entries: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            url: String,
            title: String,
        }
        let mut answer: Answer = serde_json::from_str(answer).ok()?;
        let forward = answer.current_index + 1 < answer.entries.len();
        let back = answer.current_index > 0;
        let at = answer.current_index;
        let Entry { url, title } = (at < answer.entries.len()).then(|| answer.entries.swap_remove(at))?;
        Some(Self { back, forward, url, title })
    }
}
