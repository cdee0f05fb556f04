//! The nodes of a page in reading order, through all its frames.

use std::collections::HashMap;

use super::ax::AxNode;
use super::frame::{Capture, Frame, FrameState};
use super::naming;
use super::roles::RoleKind;

/// One node on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Index of its frame.
    pub(super) frame: usize,
    /// Index of it in the tree of its frame.
    pub(super) node: usize,
    /// Levels below the root of the page, ignored nodes included; in a part of a page, printed
    /// levels below its top.
    pub(super) depth: u32,
}

/// The page, or the part of it that was asked for, as one tree: every frame hangs below the
/// element that holds it.
pub(super) struct Outline<'a> {
    capture: &'a Capture,
    held: HashMap<(usize, i64), usize>,
    /// Wrappers without meaning are no levels.
    flat: bool,
}

impl<'a> Outline<'a> {
    pub(super) fn new(capture: &'a Capture) -> Self {
        let owners = capture.frames.iter().enumerate();
        let held =
            owners.filter_map(|(at, it)| it.owner.map(|owner| ((owner.frame, owner.backend_node_id), at)));
        Self { capture, held: held.collect(), flat: false }
    }

    /// As [`new`](Self::new); in a part of a page, wrappers without meaning are no levels.
    pub(super) fn flat(capture: &'a Capture) -> Self {
        Self { flat: capture.scope.is_some(), ..Self::new(capture) }
    }

    /// A wrapper without meaning, where those are no levels.
    pub(super) fn is_wrapper(&self, spot: Spot) -> bool {
        let (frame, node) = (&self.capture.frames[spot.frame], self.node(spot));
        let means_nothing = match &*node.role {
            "none" | "presentation" | "fragment" | "DocumentFragment" => true,
            "generic" => node.name.is_empty(),
            _ => node.ignored,
        };
        self.flat && means_nothing && !naming::holds_ref(frame, node)
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
        let depth = spot.depth + u32::from(!self.is_wrapper(spot));
        all.map(move |(frame, node)| Spot { frame, node, depth }).collect::<Vec<_>>().into_iter()
    }

    /// Where reading begins: at the root of the page, or at the top of its part.
    pub(super) fn roots(&self) -> Vec<Spot> {
        let (frame, nodes) = match &self.capture.scope {
            Some(scope) => (scope.frame.unwrap_or(0), &*scope.roots),
            None if self.capture.main().tree.nodes.is_empty() => return Vec::new(),
            None => (0, &[0][..]),
        };
        nodes.iter().map(|node| Spot { frame, node: *node, depth: 0 }).collect()
    }

    /// All nodes in reading order.
    pub(super) fn walk(&self) -> impl Iterator<Item = Spot> {
        let mut waiting = self.roots();
        waiting.reverse();
        std::iter::from_fn(move || {
            let spot = waiting.pop()?;
            waiting.extend(self.children(spot).rev());
            Some(spot)
        })
    }
}
