//! The nodes of a page in reading order, through all its frames.

use std::collections::HashMap;

use super::ax::AxNode;
use super::frame::{Capture, Frame, FrameState};
use super::roles::RoleKind;

/// One node on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Index of its frame.
    pub(super) frame: usize,
    /// Index of it in the tree of its frame.
    pub(super) node: usize,
    /// Levels below the root of the page; ignored nodes count.
    pub(super) depth: u32,
}

/// The page as one tree: every frame hangs below the element that holds it.
pub(super) struct Outline<'a> {
    capture: &'a Capture,
    held: HashMap<(usize, i64), usize>,
}

impl<'a> Outline<'a> {
    pub(super) fn new(capture: &'a Capture) -> Self {
        let owners = capture.frames.iter().enumerate();
        let held =
            owners.filter_map(|(at, it)| it.owner.map(|owner| ((owner.frame, owner.backend_node_id), at)));
        Self { capture, held: held.collect() }
    }

    pub(super) fn node(&self, spot: Spot) -> &'a AxNode {
        &self.capture.frames[spot.frame].tree.nodes[spot.node]
    }

    /// The frame that an element holds.
    pub(super) fn held(&self, spot: Spot) -> Option<(usize, &'a Frame)> {
        let node = self.node(spot);
        let id = node.backend_node_id.filter(|_| !node.ignored)?;
        let frame = *self.held.get(&(spot.frame, id))?;
        Some((frame, &self.capture.frames[frame]))
    }

    /// What a snapshot says about the frame that an element holds, where it is not simply there.
    pub(super) fn frame_word(&self, spot: Spot) -> Option<&'static str> {
        match self.held(spot) {
            Some((_, frame)) => frame.state.word(),
            // A frame of another process that nobody gave a session for.
            None => (self.node(spot).kind == RoleKind::Frame).then_some("not-read"),
        }
    }

    /// What hangs below a node, in order.
    pub(super) fn children(&self, spot: Spot) -> impl DoubleEndedIterator<Item = Spot> + use<'a> {
        let content =
            self.held(spot).filter(|(_, it)| it.state == FrameState::Read && !it.tree.nodes.is_empty());
        let own = self.node(spot).children.iter().map(move |node| (spot.frame, *node));
        let all = own.chain(content.map(|(frame, _)| (frame, 0)));
        all.map(move |(frame, node)| Spot { frame, node, depth: spot.depth + 1 })
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The root of the page; none if nothing was read.
    pub(super) fn root(&self) -> Option<Spot> {
        let main = &self.capture.frames[0];
        (!main.tree.nodes.is_empty()).then_some(Spot { frame: 0, node: 0, depth: 0 })
    }

    /// All nodes in reading order.
    pub(super) fn walk(&self) -> impl Iterator<Item = Spot> {
        let mut waiting: Vec<Spot> = self.root().into_iter().collect();
        std::iter::from_fn(move || {
            let spot = waiting.pop()?;
            waiting.extend(self.children(spot).rev());
            Some(spot)
        })
    }
}
