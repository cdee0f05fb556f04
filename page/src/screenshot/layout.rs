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
/// What decides whether an element cuts off what is in it.
pub(super) const STYLES: [&str; 3] = ["overflow-x", "overflow-y", "position"];

/// The documents of one process.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) documents: Vec<Document>,
    /// The elements that were asked for, as far as they have boxes.
    pub(super) found: HashMap<i64, Found>,
    /// All that were asked for and are in some document.
    pub(super) there: HashSet<i64>,
}

/// Where an element is, relative to the viewport of its document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// The index of its document.
    pub(super) document: usize,
    pub(super) rect: Rect,
    /// What the elements around it leave of it.
    pub(super) shown: Option<Rect>,
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
    /// Negative for none.
    #[serde(default)]
    parent_index: Vec<i64>,
    #[serde(default)]
    node_name: Vec<usize>,
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
    /// Of each, the values of the styles that were asked for.
    #[serde(default)]
    styles: Vec<Vec<i64>>,
}

/// The elements around an element.
struct Around<'a> {
    wire: &'a Wire,
    strings: &'a [&'a RawValue],
    /// Of every node, its place in the layout.
    places: HashMap<usize, usize>,
}

impl Around<'_> {
    fn rect(&self, place: usize) -> Option<Rect> {
        let [x, y, width, height] = *self.wire.layout.bounds.get(place)?.first_chunk()?;
        Some(Rect::new(x - self.wire.scroll_offset_x, y - self.wire.scroll_offset_y, width, height))
    }

    /// The value of a style, in quotes.
    fn style(&self, place: usize, style: usize) -> &str {
        let value = self.wire.layout.styles.get(place).and_then(|it| it.get(style));
        let text = value.and_then(|it| self.strings.get(usize::try_from(*it).ok()?));
        text.map_or("", |it| it.get())
    }

    fn cuts(&self, node: usize, place: usize) -> bool {
        let name = self.wire.nodes.node_name.get(node).and_then(|it| self.strings.get(*it));
        // What these cut off is what the viewport does not show.
        let is_root = name.is_some_and(|it| matches!(it.get(), "\"HTML\"" | "\"BODY\""));
        let hides = |style| !matches!(self.style(place, style), "\"visible\"" | "");
        !is_root && (hides(0) || hides(1))
    }

    /// What they leave of `rect`. What is positioned is cut off only by what it is positioned in.
    fn shown(&self, node: usize, place: usize, rect: Rect) -> Option<Rect> {
        let (mut at, mut shown) = (node, rect);
        let mut position = self.style(place, 2);
        while let Some(parent) = self.wire.nodes.parent_index.get(at).and_then(|it| usize::try_from(*it).ok())
        {
            // Parents come before their children, so this ends.
            if parent >= at || position == "\"fixed\"" {
                break;
            }
            at = parent;
            let Some(place) = self.places.get(&at) else { continue };
            let its = self.style(*place, 2);
            if position == "\"absolute\"" && its == "\"static\"" {
                continue;
            }
            position = its;
            if self.cuts(at, *place) {
                shown = shown.within(self.rect(*place)?)?;
            }
        }
        Some(shown)
    }
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
            let nodes = wire.layout.node_index.iter().enumerate();
            // The first place of a node is its own.
            let places = nodes.rev().map(|(place, node)| (*node, place)).collect();
            let around = Around { wire, strings: &strings, places };
            for (node, place) in &around.places {
                let Some(id) = ids.get(*node).filter(|id| wanted.contains(id)) else { continue };
                let Some(rect) = around.rect(*place).filter(|it| !it.is_empty()) else { continue };
                let shown = around.shown(*node, *place, rect);
                layout.found.insert(*id, Found { document: at, rect, shown });
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

    fn whole(document: usize, rect: Rect) -> Found {
        Found { document, rect, shown: Some(rect) }
    }

    /// A body that scrolls > a box that scrolls > three elements at its lower edge, differently positioned.
    #[test]
    fn what_scrolls_cuts_off_what_is_positioned_in_it() {
        let reply = r#"{"documents":[{"frameId":0,
             "nodes":{"backendNodeId":[1,2,3,4,5],"parentIndex":[-1,0,1,1,1],"nodeName":[1,2,2,2,2]},
             "layout":{"nodeIndex":[0,1,2,3,4],
              "bounds":[[0,0,10,10],[0,0,100,50],[0,40,100,20],[0,40,100,20],[0,60,100,20]],
              "styles":[[3,3,5],[3,3,5],[4,4,5],[4,4,6],[4,4,5]]}}],
            "strings":["M","BODY","DIV","scroll","visible","static","absolute"]}"#;
        let layout = Layout::read(reply, &HashSet::from([2, 3, 4, 5])).unwrap();
        let shown = [2, 3, 4, 5].map(|id| layout.found[&id].shown.map(|it| it.height));
        assert_eq!(shown, [Some(50.0), Some(10.0), Some(20.0), None]);
    }

    #[test]
    fn boxes_are_relative_to_what_is_scrolled_to() {
        let reply = r#"{"documents":[
            {"frameId":1,"scrollOffsetX":0,"scrollOffsetY":1200,
             "nodes":{"backendNodeId":[1,2,3,4],"contentDocumentIndex":{"index":[2],"value":[1]}},
             "layout":{"nodeIndex":[0,1,2,3],"bounds":[[0,0,9,9],[100,1300,25.5,21],[0,0,300,200],[5,5,0,0]]}},
            {"frameId":2,"nodes":{"backendNodeId":[7]},"layout":{"nodeIndex":[0],"bounds":[[1,2,3,4]]}}],
            "strings":["broken \ud800","M","F"]}"#;
        let layout = Layout::read(reply, &HashSet::from([2, 4, 7, 99])).unwrap();
        assert_eq!(layout.found.get(&2), Some(&whole(0, Rect::new(100.0, 100.0, 25.5, 21.0))));
        assert_eq!(layout.found.get(&7), Some(&whole(1, Rect::new(1.0, 2.0, 3.0, 4.0))));
        assert_eq!((layout.found.len(), layout.there), (2, HashSet::from([2, 4, 7])));
        let documents: Vec<_> = layout.documents.iter().map(|it| (&*it.frame, it.owner)).collect();
        assert_eq!(documents, [("M", None), ("F", Some((0, 3)))]);
    }
}
