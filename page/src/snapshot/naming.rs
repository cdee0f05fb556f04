//! Who gets a ref in a role snapshot, under which role and name.

use std::borrow::Cow;
use std::collections::HashMap;

use super::ax::AxNode;
use super::clickable::Clickable;
use super::frame::{Capture, Frame};
use super::roles::RoleKind;
use crate::refs::{Duplicates, Identity, Match, Place, RefId, RefTable, Series, Sighting};

/// Longest text that becomes the name of an element without one.
const MAX_TEXT_NAME: usize = 100;

/// A node with a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) id: RefId,
    /// In lower case.
    pub(super) role: Box<str>,
    pub(super) name: Box<str>,
    pub(super) place: Place,
    pub(super) backend_node_id: Option<i64>,
}

/// Why a node is clickable although its role does not say so.
pub(super) fn clickable(frame: &Frame, node: &AxNode) -> Option<Clickable> {
    let why = frame.looks.clickable.get(&node.backend_node_id?)?;
    let known = matches!(node.kind, RoleKind::Interactive | RoleKind::Frame) || &*node.role == "StaticText";
    (!known).then_some(*why)
}

/// The role that is shown: an element that can be clicked is never nothing.
pub(super) fn shown_role<'a>(frame: &Frame, node: &'a AxNode) -> &'a str {
    if node.ignored && clickable(frame, node).is_some() { "generic" } else { &node.role }
}

/// Whether a node gets a ref.
pub(super) fn holds_ref(frame: &Frame, node: &AxNode) -> bool {
    match node.kind {
        _ if clickable(frame, node).is_some() => true,
        _ if node.ignored => false,
        RoleKind::Interactive | RoleKind::Frame => true,
        RoleKind::Content => !node.name.is_empty(),
        RoleKind::Structural | RoleKind::Other => false,
    }
}

/// The name of a node: of a clickable one without a name, its text.
pub(super) fn shown_name(frame: &Frame, at: usize) -> Cow<'_, str> {
    let node = &frame.tree.nodes[at];
    if node.name.is_empty() && clickable(frame, node).is_some() {
        return frame.tree.text_below(at, MAX_TEXT_NAME).into();
    }
    Cow::Borrowed(&*node.name)
}

/// What makes a node itself; none if nothing does.
pub(super) fn identity(frame: &Frame, at: usize) -> Option<Identity> {
    let node = &frame.tree.nodes[at];
    if let Some(id) = node.backend_node_id {
        return Some(Identity::Node(id));
    }
    let parent = &frame.tree.nodes[node.parent?];
    let index = parent.children.iter().position(|child| *child == at)?;
    Some(Identity::Under { node: parent.backend_node_id?, index: u32::try_from(index).ok()? })
}

/// All nodes of a frame that hold refs, in Chromium's order: index, role in lower case, name.
fn holders(frame: &Frame) -> Vec<(usize, String, Cow<'_, str>)> {
    let nodes = frame.tree.nodes.iter().enumerate().filter(|(_, node)| holds_ref(frame, node));
    nodes
        .map(|(at, node)| (at, shown_role(frame, node).to_ascii_lowercase(), shown_name(frame, at)))
        .collect()
}

/// Gives refs to all nodes that get one, for every frame by the index of the node.
pub(super) fn name_all(capture: &Capture, table: &mut RefTable) -> Vec<HashMap<usize, Named>> {
    let mut named = |frame: &Frame| {
        let holders = holders(frame);
        let counted = Duplicates::count(holders.iter().map(|(_, role, name)| (&**role, &**name)));
        let mut named = HashMap::with_capacity(holders.len());
        // Two nodes for one element are one element, under one name.
        let mut taken: HashMap<RefId, usize> = HashMap::new();
        for (index, (at, role, name)) in holders.iter().enumerate() {
            let Some(identity) = identity(frame, *at) else { continue };
            let place = counted.place(index);
            let sighting =
                Sighting { frame: &frame.id, document: &frame.document, identity, role, name, place };
            let id = table.name(Series::Element, &sighting);
            if *taken.entry(id).or_insert(*at) == *at {
                let backend_node_id = identity.backend_node_id();
                let (role, name) = (role.as_str().into(), (&**name).into());
                named.insert(*at, Named { id, role, name, place, backend_node_id });
            }
        }
        named
    };
    capture.frames.iter().map(&mut named).collect()
}

/// The places of all nodes of a frame that hold refs, by the index of the node.
pub(super) fn places(frame: &Frame) -> HashMap<usize, Place> {
    let holders = holders(frame);
    let counted = Duplicates::count(holders.iter().map(|(_, role, name)| (&**role, &**name)));
    holders.iter().enumerate().map(|(index, (at, ..))| (*at, counted.place(index))).collect()
}

/// Finds the element of this role (in lower case), name and place in a frame, where its node is
/// not known.
pub fn find_in(frame: &Frame, role: &str, name: &str, place: Place) -> Match<Option<i64>> {
    let holders = holders(frame);
    let nodes =
        holders.iter().map(|(at, role, name)| (&**role, &**name, frame.tree.nodes[*at].backend_node_id));
    crate::refs::find(nodes, role, name, place)
}
