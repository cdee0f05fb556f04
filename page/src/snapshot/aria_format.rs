//! The aria snapshot: the nodes of the accessibility tree as a list.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Serialize, Serializer};

use super::fit::Cut;
use super::frame::{Capture, FrameState};
use super::naming;
use super::outline::Outline;
use crate::refs::{Place, RefId, RefTable, Series, Sighting};

/// How many nodes are listed by default.
pub const DEFAULT_NODES: usize = 500;
/// How many nodes are listed at most.
pub const MOST_NODES: usize = 2_000;

/// One node of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AriaNode {
    /// Its ref; none for what no later call could name.
    #[serde(serialize_with = "written", skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<RefId>,
    /// As Chromium spells it.
    pub role: Box<str>,
    /// Empty if there is none.
    pub name: Box<str>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Box<str>>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// Its DOM node.
    #[serde(rename = "backendDOMNodeId", skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
    /// Levels below the root.
    pub depth: u32,
    /// For an element that holds a frame that could not be read: why.
    #[serde(rename = "frame", skip_serializing_if = "Option::is_none")]
    pub frame_state: Option<FrameState>,
}

/// The list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AriaList {
    /// The nodes in reading order.
    pub nodes: Vec<AriaNode>,
    /// How many nodes were over the limit.
    pub left_out: usize,
    /// The nodes before are not as they were when they were given.
    pub changed: bool,
    /// Where the list was cut, if it was.
    pub cut: Option<Cut>,
}

#[expect(clippy::ref_option, reason = "serde's signature")]
fn written<S: Serializer>(id: &Option<RefId>, serializer: S) -> Result<S::Ok, S::Error> {
    match id {
        Some(id) => serializer.collect_str(id),
        None => serializer.serialize_none(),
    }
}

/// Lists at most `most` nodes of a capture, those behind a cut, giving refs from `table`.
pub fn list_aria(capture: &Capture, table: &mut RefTable, after: Option<Cut>, most: usize) -> AriaList {
    table.begin(&capture.documents);
    let outline = Outline::new(capture);
    let places: Vec<_> = capture.frames.iter().map(naming::places).collect();
    let mut nodes = Vec::new();
    let (mut passed, mut left_out) = (0, 0);
    let mut hasher = DefaultHasher::new();
    let after = after.unwrap_or(Cut { lines: 0, given: hasher.finish() });
    let mut skipped = hasher.finish();
    for spot in outline.walk() {
        if nodes.len() >= most.clamp(1, MOST_NODES) {
            left_out += 1;
            continue;
        }
        let frame = &capture.frames[spot.frame];
        let node = outline.node(spot);
        (&node.role, &node.name, &node.value, spot.depth).hash(&mut hasher);
        passed += 1;
        if passed <= after.lines {
            skipped = hasher.finish();
            continue;
        }
        let id = naming::identity(frame, spot.node).map(|identity| {
            let sighting = Sighting {
                frame: &frame.id,
                document: &frame.document,
                identity,
                role: &naming::shown_role(frame, node).to_ascii_lowercase(),
                name: &naming::shown_name(frame, spot.node),
                place: places[spot.frame].get(&spot.node).copied().unwrap_or(Place { nth: 0, of: 0 }),
            };
            table.name(Series::Aria, &sighting)
        });
        let state = outline.held(spot).map(|(_, frame)| frame.state);
        nodes.push(AriaNode {
            r#ref: id,
            role: node.role.clone(),
            name: node.name.clone(),
            value: node.value.clone(),
            description: node.description.clone(),
            backend_node_id: node.backend_node_id,
            depth: spot.depth,
            frame_state: state.filter(|state| *state != FrameState::Read),
        });
    }
    let cut = (left_out > 0).then(|| Cut { lines: passed, given: hasher.finish() });
    let changed = skipped != after.given || passed < after.lines;
    AriaList { nodes, left_out, changed, cut }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests_page::recorded;
    use super::*;

    #[test]
    fn the_recorded_list() {
        let mut table = RefTable::default();
        let list = list_aria(&recorded(), &mut table, None, 8);
        let seen: Vec<_> = list.nodes.iter().map(|node| (&*node.role, &*node.name, node.depth)).collect();
        let head = "Head \"quoted\"";
        assert_eq!(
            seen,
            [
                ("RootWebArea", "Main", 0),
                ("none", "", 1),
                ("none", "", 2),
                ("heading", head, 3),
                ("StaticText", head, 4),
                ("InlineTextBox", head, 5),
                ("navigation", "Nav", 3),
                ("list", "", 4),
            ]
        );
        assert!(list.left_out > 40);
        let refs: Vec<String> = list.nodes.iter().map(|node| node.r#ref.unwrap().to_string()).collect();
        assert_eq!(refs, ["ax1", "ax2", "ax3", "ax4", "ax5", "ax6", "ax7", "ax8"]);
        let first = serde_json::to_value(&list.nodes[0]).unwrap();
        let wanted =
            json!({ "ref": "ax1", "role": "RootWebArea", "name": "Main", "backendDOMNodeId": 1, "depth": 0 });
        assert_eq!(first, wanted);
        assert_eq!(list_aria(&recorded(), &mut table, None, 8).nodes, list.nodes, "refs stay");
    }

    #[test]
    fn child_frames_are_listed_and_the_limit_has_a_limit() {
        let list = list_aria(&recorded(), &mut RefTable::default(), None, usize::MAX);
        let inner = list.nodes.iter().find(|node| &*node.name == "InFrame").unwrap();
        assert!(inner.depth > 5 && list.left_out == 0);
    }
}
