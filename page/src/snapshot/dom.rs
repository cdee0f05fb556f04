//! The DOM of a process's frames, flattened, with what styles say about the mouse: the reply of
//! one `DOMSnapshot.captureSnapshot`.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};

/// Parameters of the call.
pub(super) fn params() -> Value {
    json!({ "computedStyles": ["cursor", "visibility"] })
}

/// Attributes that are kept.
const KEPT: [&str; 10] = [
    "onclick",
    "tabindex",
    "contenteditable",
    "href",
    "placeholder",
    "role",
    "type",
    "src",
    "loading",
    "srcdoc",
];

/// One element or text of a document. Shadow trees hang below their hosts, open and closed alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one node")]
pub(super) struct DomNode {
    /// Index of its parent.
    pub(super) parent: Option<usize>,
    /// It is an element, not text or anything else.
    pub(super) element: bool,
    /// In lower case.
    pub(super) tag: Box<str>,
    /// Chromium's id.
    pub(super) backend_node_id: i64,
    /// It has a visible box.
    pub(super) shown: bool,
    /// It has a box, visible or not.
    pub(super) has_box: bool,
    /// The mouse pointer over it is a hand.
    pub(super) pointer: bool,
    /// It hears clicks, by attribute or by listener.
    pub(super) hears_clicks: bool,
    /// Index of the document in it, for a frame of the same process.
    pub(super) content: Option<usize>,
    /// The attributes that matter here.
    pub(super) attributes: Vec<(&'static str, Box<str>)>,
}

impl DomNode {
    /// An attribute's value.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(its, _)| *its == name).map(|(_, value)| &**value)
    }
}

/// The document of one frame. Nodes are in document order, parents first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DomDocument {
    /// Its frame.
    pub(super) frame: Box<str>,
    /// All nodes.
    pub(super) nodes: Vec<DomNode>,
}

impl DomDocument {
    /// For every node the index behind the last one below it.
    pub(super) fn ends(&self) -> Vec<usize> {
        let mut ends: Vec<usize> = (1..=self.nodes.len()).collect();
        for at in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[at].parent {
                ends[parent] = ends[parent].max(ends[at]);
            }
        }
        ends
    }

    /// The nodes of an element: itself and what is below it.
    pub(super) fn below(&self, backend_node_id: i64) -> &[DomNode] {
        &self.nodes[self.range(backend_node_id)]
    }

    /// Their indices; empty if there is no such element.
    pub(super) fn range(&self, backend_node_id: i64) -> Range<usize> {
        match self.nodes.iter().position(|it| it.backend_node_id == backend_node_id) {
            Some(at) => at..self.ends()[at],
            None => 0..0,
        }
    }

    /// For every node, how many are above it.
    pub(super) fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            depths.push(node.parent.map_or(0, |parent| depths[parent] + 1));
        }
        depths
    }

    /// For every node, whether it has a box or something below it has one.
    pub(super) fn holding_boxes(&self) -> Vec<bool> {
        let mut holding: Vec<bool> = self.nodes.iter().map(|node| node.has_box).collect();
        for at in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[at].parent {
                holding[parent] |= holding[at];
            }
        }
        holding
    }
}

#[derive(Deserialize)]
struct Reply {
    documents: Vec<WireDocument>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDocument {
    frame_id: i64,
    nodes: WireNodes,
    layout: WireLayout,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireNodes {
    parent_index: Vec<i64>,
    node_type: Vec<u8>,
    node_name: Vec<i64>,
    backend_node_id: Vec<i64>,
    attributes: Vec<Vec<i64>>,
    #[serde(default)]
    content_document_index: Sparse,
    #[serde(default)]
    is_clickable: Sparse,
}

#[derive(Default, Deserialize)]
struct Sparse {
    index: Vec<usize>,
    #[serde(default)]
    value: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireLayout {
    node_index: Vec<usize>,
    styles: Vec<Vec<i64>>,
    bounds: Vec<Vec<f64>>,
}

/// Reads the reply.
///
/// # Errors
/// When it is no such reply.
pub(super) fn read(reply: &str) -> Result<Vec<DomDocument>, serde_json::Error> {
    let Reply { documents, strings } = serde_json::from_str(reply)?;
    let string =
        |index: i64| usize::try_from(index).ok().and_then(|it| strings.get(it)).map_or("", |it| it.as_str());
    Ok(documents.into_iter().map(|document| read_document(&document, string)).collect())
}

fn read_document<'a>(document: &WireDocument, string: impl Fn(i64) -> &'a str) -> DomDocument {
    let wire = &document.nodes;
    let mut nodes: Vec<DomNode> = Vec::with_capacity(wire.backend_node_id.len());
    for (at, &backend_node_id) in wire.backend_node_id.iter().enumerate() {
        let parent = wire.parent_index.get(at).and_then(|it| usize::try_from(*it).ok()).filter(|it| *it < at);
        let element = wire.node_type.get(at) == Some(&1);
        let mut attributes = Vec::new();
        for pair in wire.attributes.get(at).map_or(&[][..], Vec::as_slice).chunks_exact(2) {
            if let Some(name) = KEPT.iter().find(|name| **name == string(pair[0])) {
                attributes.push((*name, string(pair[1]).into()));
            }
        }
        let tag = if element { string(wire.node_name[at]).to_ascii_lowercase().into() } else { "".into() };
        nodes.push(DomNode { parent, element, tag, backend_node_id, attributes, ..DomNode::default() });
    }
    for at in &wire.is_clickable.index {
        if let Some(node) = nodes.get_mut(*at) {
            node.hears_clicks = true;
        }
    }
    for (at, content) in wire.content_document_index.index.iter().zip(&wire.content_document_index.value) {
        if let Some(node) = nodes.get_mut(*at) {
            node.content = Some(*content);
        }
    }
    let layout = &document.layout;
    for ((at, styles), bounds) in layout.node_index.iter().zip(&layout.styles).zip(&layout.bounds) {
        let Some(node) = nodes.get_mut(*at) else { continue };
        let style = |index: usize| styles.get(index).map_or("", |it| string(*it));
        node.has_box = true;
        node.pointer = style(0) == "pointer";
        let area =
            bounds.get(2).zip(bounds.get(3)).is_some_and(|(width, height)| *width > 0.0 && *height > 0.0);
        node.shown |= style(1) == "visible" && area;
    }
    DomDocument { frame: string(document.frame_id).into(), nodes }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document of bare elements with these parents.
    fn of_parents(parents: &[Option<usize>]) -> DomDocument {
        let nodes = parents.iter().map(|parent| DomNode { parent: *parent, ..DomNode::default() });
        DomDocument { frame: "F".into(), nodes: nodes.collect() }
    }

    #[test]
    fn a_reply_is_read() {
        let reply = json!({
            "strings": ["F", "#document", "DIV", "onclick", "go()", "class", "x", "pointer", "visible"],
            "documents": [{
                "frameId": 0,
                "nodes": {
                    "parentIndex": [-1, 0], "nodeType": [9, 1], "nodeName": [1, 2], "backendNodeId": [4, 5],
                    "attributes": [[], [5, 6, 3, 4]], "isClickable": { "index": [1] },
                    "contentDocumentIndex": { "index": [], "value": [] },
                },
                "layout": { "nodeIndex": [1], "styles": [[7, 8]], "bounds": [[0.0, 0.0, 10.0, 10.5]] },
            }],
        });
        let documents = read(&reply.to_string()).unwrap();
        let div = &documents[0].nodes[1];
        assert_eq!((&*documents[0].frame, &*div.tag, div.parent), ("F", "div", Some(0)));
        assert!(div.shown && div.pointer && div.hears_clicks);
        assert_eq!((div.attribute("onclick"), div.attribute("class")), (Some("go()"), None));
    }

    #[test]
    fn ends_and_depths_follow_the_tree() {
        let document = of_parents(&[None, Some(0), Some(1), Some(1), Some(0)]);
        assert_eq!(document.ends(), [5, 4, 3, 4, 5]);
        assert_eq!(document.depths(), [0, 1, 2, 2, 1]);
    }
}
