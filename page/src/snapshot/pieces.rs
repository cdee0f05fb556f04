//! The beginning of a document that is too large or too deep to be read whole.
//!
//! `Accessibility.getFullAXTree` cannot be bounded: whatever its `depth`, it gives all children of
//! the root, so that a flat page of 200,000 elements takes a minute and more bytes than a link
//! carries. Asked for one by one, in a tree that Chromium keeps meanwhile, a thousand nodes of the
//! same page take 0.2 s after the 3 s for making the tree. And it takes 20 s for 2,500 levels.

use serde_json::json;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::ax::AxTree;
use super::dom::DomDocument;
use super::process::{Process, read_tree};

/// Most nodes that are read one by one.
pub(super) const MOST: usize = 5_000;
/// Deepest document that is read whole, in levels.
const DEEPEST_WHOLE: usize = 300;
/// How deep one is read otherwise; a snapshot shows fewer levels.
const LEVELS: usize = 150;
/// How many are asked for at a time.
const AT_A_TIME: usize = 250;

/// Whether a document is too large, for this many nodes, or too deep.
pub(super) fn is_too_much(document: &DomDocument, most: usize) -> bool {
    document.nodes.len() > most || document.depths().iter().any(|depth| *depth > DEEPEST_WHOLE)
}

/// The first nodes, at most `most`, of an element or else of the document; and how many there are.
pub(super) fn first(document: &DomDocument, element: Option<i64>, most: usize) -> (Vec<i64>, usize) {
    let within = match element {
        Some(id) => document.range(id),
        None => 0..document.nodes.len(),
    };
    let (shown, depths) = (document.holding_boxes(), document.depths());
    let deepest = depths.get(within.start).map_or(0, |top| top + LEVELS);
    // The document itself is the root of whatever is read.
    let inside = within.clone().filter(|at| *at > 0 && shown[*at] && depths[*at] <= deepest);
    let picked = std::iter::once(0).chain(inside).take(most.min(MOST));
    let picked = picked.filter_map(|at| document.nodes.get(at)).map(|node| node.backend_node_id);
    (picked.collect(), within.len())
}

/// Reads these nodes, or as many of them as half of the budget lets.
pub(super) async fn read(process: &Process<'_>, nodes: &[i64]) -> Result<AxTree, CdpError> {
    let session = process.session();
    let whole = process.budget();
    let budget = whole.child(whole.left() / 2);
    session.call("Accessibility.enable", json!({}), whole).await?;
    let _kept = Kept { session };
    let mut parts: Vec<String> = Vec::new();
    'all: for some in nodes.chunks(AT_A_TIME) {
        let mut asked = Vec::with_capacity(some.len());
        for id in some {
            let params = json!({ "backendNodeId": id, "fetchRelatives": false });
            let Ok(reply) = budget.run(session.send("Accessibility.getPartialAXTree", params)).await else {
                break 'all;
            };
            asked.push(reply?);
        }
        for reply in asked {
            match budget.run(reply).await {
                Ok(Ok(reply)) => parts.extend(inner(reply.get()).map(str::to_owned)),
                // It went away.
                Ok(Err(CdpError::Protocol { .. })) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => break 'all,
            }
        }
    }
    let merged = format!("{{\"nodes\":[{}]}}", parts.join(","));
    read_tree(&merged, usize::MAX)
}

/// What stands in the only list of a reply.
fn inner(reply: &str) -> Option<&str> {
    let (from, to) = (reply.find('[')? + 1, reply.rfind(']')?);
    reply.get(from..to).filter(|it| !it.trim().is_empty())
}

/// Chromium keeps the tree up to date until it is told that nobody asks any more; that costs the
/// page, so it is told also when the reading is given up half way.
struct Kept<'a> {
    session: &'a Session,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.session.cast("Accessibility.disable", json!({}));
    }
}

#[cfg(test)]
mod tests {
    use super::super::dom::DomNode;
    use super::*;

    #[test]
    fn the_first_nodes_are_those_that_can_be_seen() {
        let node =
            |parent, id, has_box| DomNode { parent, backend_node_id: id, has_box, ..DomNode::default() };
        // document(1) > head(2) > style(3), body(4) > contents(5) > text(6), text(7)
        let nodes = vec![
            node(None, 1, true),
            node(Some(0), 2, false),
            node(Some(1), 3, false),
            node(Some(0), 4, true),
            node(Some(3), 5, false),
            node(Some(4), 6, true),
            node(Some(3), 7, true),
        ];
        let document = DomDocument { frame: "F".into(), nodes };
        assert_eq!(first(&document, None, 9), (vec![1, 4, 5, 6, 7], 7));
        assert_eq!(first(&document, None, 3), (vec![1, 4, 5], 7));
        assert_eq!(first(&document, Some(5), 9), (vec![1, 5, 6], 2));
        assert_eq!(first(&document, Some(99), 9), (vec![1], 0));
        assert!(!is_too_much(&document, 7) && is_too_much(&document, 6));
    }

    #[test]
    fn of_a_deep_document_the_upper_levels_are_read() {
        let level = |at: i64| DomNode {
            parent: usize::try_from(at - 1).ok(),
            backend_node_id: at + 1,
            has_box: true,
            ..DomNode::default()
        };
        let document = DomDocument { frame: "F".into(), nodes: (0..400).map(level).collect() };
        assert!(is_too_much(&document, usize::MAX));
        assert_eq!(first(&document, None, 9_999).0.len(), LEVELS + 1);
        assert_eq!(first(&document, Some(300), 9_999).0.len(), 1 + 101);
    }

    #[test]
    fn replies_are_merged() {
        assert_eq!(inner(r#"{"nodes":[{"childIds":["1"]}]}"#), Some(r#"{"childIds":["1"]}"#));
        assert_eq!([inner(r#"{"nodes":[]}"#), inner("{}")], [None, None]);
    }
}
