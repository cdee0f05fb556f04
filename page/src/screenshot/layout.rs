//! Where the elements of one process are, from one `DOMSnapshot.captureSnapshot`.
//!
//! One answer for all elements, however many are asked for: a link with a long way pays for every
//! message. Its boxes are those of `getBoundingClientRect` in coordinates of their documents.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::geometry::Rect;
use crate::refs::FrameId;

pub(super) const LAYOUT: &str = "DOMSnapshot.captureSnapshot";

/// The documents of one process.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) documents: Vec<Document>,
    /// The elements that were asked for, as far as they have boxes; with the index of their
    /// document, relative to its viewport.
    pub(super) found: HashMap<i64, (usize, Rect)>,
    /// All that were asked for and are in some document.
    pub(super) there: HashSet<i64>,
}

/// One document.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) frame: FrameId,
    /// The document of the same process that holds its frame, and the frame element there.
    pub(super) owner: Option<(usize, i64)>,
}

#[derive(Deserialize)]
struct Reply<'a> {
    documents: Vec<Wire>,
    /// Not read: text of pages may be broken, and only ids are wanted.
    #[serde(borrow)]
    strings: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    frame_id: usize,
    nodes: Nodes,
    layout: Boxes,
    #[serde(default)]
    scroll_offset_x: f64,
    #[serde(default)]
    scroll_offset_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nodes {
    #[serde(default)]
    backend_node_id: Vec<i64>,
    #[serde(default)]
    content_document_index: Rare,
}

#[derive(Default, Deserialize)]
struct Rare {
    index: Vec<usize>,
    value: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Boxes {
    node_index: Vec<usize>,
    bounds: Vec<Vec<f64>>,
}

impl Layout {
    /// Reads a reply, of the elements only those in `wanted`.
    pub(super) fn read(reply: &str, wanted: &HashSet<i64>) -> Result<Self, serde_json::Error> {
        let Reply { documents, strings } = serde_json::from_str(reply)?;
        let text = |at: usize| strings.get(at).and_then(|it| serde_json::from_str::<&str>(it.get()).ok());
        let mut layout = Self::default();
        let mut owners = HashMap::new();
        for (at, wire) in documents.iter().enumerate() {
            let ids = &wire.nodes.backend_node_id;
            let held = &wire.nodes.content_document_index;
            for (element, document) in held.index.iter().zip(&held.value) {
                owners.extend(ids.get(*element).map(|id| (*document, (at, *id))));
            }
            layout.there.extend(ids.iter().filter(|id| wanted.contains(id)));
            for (node, bounds) in wire.layout.node_index.iter().zip(&wire.layout.bounds) {
                let Some(id) = ids.get(*node).filter(|id| wanted.contains(id)) else { continue };
                let [x, y, width, height] = bounds[..] else { continue };
                let rect = Rect::new(x - wire.scroll_offset_x, y - wire.scroll_offset_y, width, height);
                if !rect.is_empty() {
                    layout.found.entry(*id).or_insert((at, rect));
                }
            }
        }
        layout.documents.extend(documents.iter().enumerate().map(|(at, wire)| Document {
            frame: text(wire.frame_id).unwrap_or_default().into(),
            owner: owners.get(&at).copied(),
        }));
        Ok(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_relative_to_what_is_scrolled_to() {
        let reply = r#"{"documents":[
            {"frameId":1,"scrollOffsetX":0,"scrollOffsetY":1200,
             "nodes":{"backendNodeId":[1,2,3,4],"contentDocumentIndex":{"index":[2],"value":[1]}},
             "layout":{"nodeIndex":[0,1,2,3],"bounds":[[0,0,9,9],[100,1300,25.5,21],[0,0,300,200],[5,5,0,0]]}},
            {"frameId":2,"nodes":{"backendNodeId":[7]},"layout":{"nodeIndex":[0],"bounds":[[1,2,3,4]]}}],
            "strings":["broken \ud800","M","F"]}"#;
        let layout = Layout::read(reply, &HashSet::from([2, 4, 7, 99])).unwrap();
        assert_eq!(layout.found.get(&2), Some(&(0, Rect::new(100.0, 100.0, 25.5, 21.0))));
        assert_eq!(layout.found.get(&7), Some(&(1, Rect::new(1.0, 2.0, 3.0, 4.0))));
        assert_eq!((layout.found.len(), layout.there), (2, HashSet::from([2, 4, 7])));
        let documents: Vec<_> = layout.documents.iter().map(|it| (&*it.frame, it.owner)).collect();
        assert_eq!(documents, [("M", None), ("F", Some((0, 3)))]);
    }
}
