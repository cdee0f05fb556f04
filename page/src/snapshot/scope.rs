//! A part of a page: what a selector or a frame of a request names.

use std::collections::HashSet;

use tabvisor_cdp::error::CdpError;

use super::ax::AxTree;
use super::dom::DomDocument;
use super::error::SnapshotError;
use super::frame::{Frame, Scope};
use super::process::Process;
use super::query::{self, Answer, Found};
use crate::refs::{DocumentId, FrameId, StaleReason, StaleRef};

/// How a request names a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameElement {
    /// The first element of the main frame that this CSS selector matches.
    Css(String),
    /// An element of a snapshot before.
    Node {
        /// The frame that it is in.
        frame: FrameId,
        /// The document of that frame.
        document: DocumentId,
        /// The element.
        backend_node_id: i64,
        /// Its ref.
        text: String,
    },
}

/// The part of a page that is to be read; the default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Only this frame and those in it.
    pub frame: Option<FrameElement>,
    /// Only what is in the first element that this CSS selector matches: in that frame, or in the
    /// main frame.
    pub selector: Option<String>,
}

impl Part {
    /// All of the page.
    pub fn is_all(&self) -> bool {
        self.frame.is_none() && self.selector.is_none()
    }
}

/// Where a part was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Index of the frame; none for a frame of another process that nobody gave a session for.
    pub(super) frame: Option<usize>,
    /// The element in it, if a selector names one.
    pub(super) element: Element,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// The whole frame.
    Root,
    /// The selector matches nothing.
    Nothing,
    Node(i64),
}

/// Finds a part among the frames of a page; `home` gives the process of a frame.
pub(super) async fn find<'a>(
    part: &Part,
    frames: &[Frame],
    home: impl Fn(usize) -> &'a Process<'a>,
) -> Result<Place, SnapshotError> {
    let frame = match &part.frame {
        None => Some(0),
        Some(FrameElement::Css(css)) => {
            let shown = || SnapshotError::shown(css);
            match home(0).first(&frames[0].id, css).await {
                Ok(Answer::Invalid) => {
                    return Err(SnapshotError::BadSelector { field: "frame", text: shown() });
                }
                Ok(Answer::One(found)) => held(frames, found, css)?,
                Ok(Answer::Nothing) => return Err(SnapshotError::NoFrame(shown())),
                // The document is gone, and the proof after the reading will show it.
                Err(CdpError::Protocol { .. }) => None,
                Err(error) => return Err(error.into()),
            }
        }
        Some(FrameElement::Node { frame, document, backend_node_id, text }) => {
            let stale = |reason| Err(SnapshotError::StaleFrame(StaleRef::new(text, reason)));
            match frames.iter().position(|it| it.id == *frame) {
                // Another document may have another element of that id.
                Some(0) if frames[0].document != *document => return stale(StaleReason::DocumentChanged),
                Some(at) if frames[at].document == *document => {
                    match home(at).of_node(*backend_node_id).await {
                        Ok(found) => held(frames, found, text)?,
                        Err(CdpError::Protocol { .. }) => return stale(StaleReason::NodeDetached),
                        Err(error) => return Err(error.into()),
                    }
                }
                _ => return stale(StaleReason::FrameChanged),
            }
        }
    };
    let element = match (&part.selector, frame) {
        (None, _) => Element::Root,
        (Some(_), None) => Element::Nothing,
        (Some(css), Some(at)) => match home(at).first(&frames[at].id, css).await {
            Ok(Answer::One(found)) => Element::Node(found.backend_node_id),
            Ok(Answer::Nothing) | Err(CdpError::Protocol { .. }) => Element::Nothing,
            Ok(Answer::Invalid) => {
                let text = SnapshotError::shown(css);
                return Err(SnapshotError::BadSelector { field: "selector", text });
            }
            // Of a frame that does not answer, nothing can be said but that.
            Err(CdpError::Spent { .. } | CdpError::Crashed) if at > 0 => Element::Nothing,
            Err(error) => return Err(error.into()),
        },
    };
    Ok(Place { frame, element })
}

/// The index of the frame that an element holds; none if it is not among the frames.
fn held(frames: &[Frame], found: Found, text: &str) -> Result<Option<usize>, SnapshotError> {
    match found.holds {
        Some(frame) => Ok(frames.iter().position(|it| it.id == frame)),
        None => Err(SnapshotError::NotAFrame(SnapshotError::shown(text))),
    }
}

impl Process<'_> {
    async fn first(&self, frame: &str, css: &str) -> Result<Answer, CdpError> {
        query::first(self.session(), frame, css, self.budget()).await
    }

    async fn of_node(&self, backend_node_id: i64) -> Result<Found, CdpError> {
        query::of_node(self.session(), backend_node_id, self.budget()).await
    }
}

impl Place {
    /// The element, if a selector names one.
    pub(super) fn node(&self) -> Option<i64> {
        match self.element {
            Element::Node(id) => Some(id),
            Element::Root | Element::Nothing => None,
        }
    }

    /// Which frames have a share in the part.
    pub(super) fn frames(&self, frames: &[Frame], document: Option<&DomDocument>) -> Vec<bool> {
        let mut wanted = vec![false; frames.len()];
        let (Some(own), false) = (self.frame, self.element == Element::Nothing) else { return wanted };
        let inside = self.inside(document);
        wanted[own] = true;
        // Parents come before their children.
        for at in own + 1..frames.len() {
            let Some(owner) = frames[at].owner else { continue };
            let within =
                owner.frame != own || inside.as_ref().is_none_or(|it| it.contains(&owner.backend_node_id));
            wanted[at] = wanted[owner.frame] && within;
        }
        wanted
    }

    /// The DOM nodes of the part in its own frame; none for all.
    fn inside(&self, document: Option<&DomDocument>) -> Option<HashSet<i64>> {
        let id = self.node()?;
        let within = document.map(|it| it.below(id)).unwrap_or_default();
        Some(within.iter().map(|node| node.backend_node_id).collect())
    }

    /// The part in the tree that was read: the element's node, or what stands for an element
    /// that is not in the tree.
    pub(super) fn scope(&self, tree: Option<&AxTree>, document: Option<&DomDocument>) -> Scope {
        let (Some(frame), Some(tree)) = (self.frame, tree) else { return Scope::default() };
        let roots = match self.element {
            Element::Nothing => Vec::new(),
            Element::Root => (!tree.nodes.is_empty()).then_some(0).into_iter().collect(),
            Element::Node(id) => match tree.by_backend_node_id().get(&id) {
                Some(node) => vec![*node],
                None => topmost(tree, &self.inside(document).unwrap_or_default()),
            },
        };
        Scope { frame: Some(frame), roots }
    }
}

/// The nodes for these DOM nodes that are below no other of them, in reading order.
fn topmost(tree: &AxTree, inside: &HashSet<i64>) -> Vec<usize> {
    let within = |at: usize| tree.nodes[at].backend_node_id.is_some_and(|id| inside.contains(&id));
    let mut found = Vec::new();
    // A document that was read in pieces has more than one top.
    let tops = tree.nodes.iter().enumerate().filter(|(_, node)| node.parent.is_none());
    let mut waiting: Vec<usize> = tops.map(|(at, _)| at).collect();
    waiting.reverse();
    while let Some(at) = waiting.pop() {
        if within(at) {
            found.push(at);
        } else {
            waiting.extend(tree.nodes[at].children.iter().rev());
        }
    }
    found
}
