//! A page as it was read: its frames, each with its tree.

use serde::Serialize;

use super::ax::AxTree;
use super::clickable::Looks;
use crate::refs::{DocumentId, Documents, FrameId};

/// How a frame was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameState {
    /// Its tree is here.
    Read,
    /// Its first document is not there yet.
    Loading,
    /// It loads only when it comes into view.
    NotLoaded,
    /// Its load failed.
    Failed,
    /// It has no box, so nothing of it is seen; not read.
    Hidden,
    /// Its process did not answer in time.
    Busy,
    /// It went away, or to another document, while it was read.
    Changed,
    /// Over a limit; not read.
    LeftOut,
    /// No part of what was asked for; not read.
    Outside,
}

impl FrameState {
    /// The word for it in a snapshot; none for frames that are there.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Read | Self::Hidden | Self::Outside => None,
            Self::Loading => Some("loading"),
            Self::NotLoaded => Some("not-loaded"),
            Self::Failed => Some("failed"),
            Self::Busy => Some("busy"),
            Self::Changed => Some("changed"),
            Self::LeftOut => Some("left-out"),
        }
    }
}

/// The `iframe` element that holds a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Index of the frame that the element is in.
    pub frame: usize,
    /// The element.
    pub backend_node_id: i64,
}

/// One frame of a page.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its id.
    pub id: FrameId,
    /// The document that was read.
    pub document: DocumentId,
    /// The document's address; for a load that failed, the one that was wanted.
    pub url: String,
    /// Where it hangs; none for the main frame, or if it could not be found out.
    pub owner: Option<Owner>,
    /// The topmost frame of its process, to which that process's session is attached; none if it
    /// lives in the page's own.
    pub target: Option<FrameId>,
    /// How it was found.
    pub state: FrameState,
    /// Its tree; empty unless it was read.
    pub tree: AxTree,
    /// What its styles tell beyond the tree.
    pub looks: Looks,
}

/// What a limit left out of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotRead {
    /// Nodes of trees, as far as they are known.
    pub nodes: usize,
    /// Frames that were over a limit, busy or changed.
    pub frames: usize,
    /// Elements clickable by style only, that could not be placed.
    pub clickable: usize,
}

/// The part of a page that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Index of its frame; none if that was not read or there is no such element.
    pub frame: Option<usize>,
    /// Its topmost nodes, as indices in the tree of the frame.
    pub roots: Vec<usize>,
}

/// A page as it was read.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Its frames, the main frame first and parents before their children.
    pub frames: Vec<Frame>,
    /// The documents of all frames at that time, also of those that were not read.
    pub documents: Documents,
    /// What a limit left out.
    pub not_read: NotRead,
    /// The document changed while it was read the first time; this is the second.
    pub read_again: bool,
    /// The part that was asked for; none for all of it.
    pub scope: Option<Scope>,
}

impl Capture {
    /// The main frame.
    pub fn main(&self) -> &Frame {
        &self.frames[0]
    }
}
