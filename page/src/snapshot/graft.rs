//! Putting clickable elements into the accessibility tree that Chromium left out of it, because
//! they mean nothing to assistive technology.

use std::collections::HashMap;

use super::ax::{AxNode, AxTree};
use super::clickable::Looks;
use super::dom::DomDocument;

/// How many nodes may be looked at; past it, further elements are left out.
const MOST_STEPS: usize = 20_000_000;

/// Adds a `generic` node for every clickable element that has none, around what is below it.
/// Returns how many could not be added.
pub(super) fn graft(tree: &mut AxTree, document: &DomDocument, looks: &Looks) -> usize {
    if tree.nodes.is_empty() {
        return looks.in_order.len();
    }
    let mut by_id = tree.by_backend_node_id();
    let place: HashMap<i64, usize> =
        document.nodes.iter().enumerate().map(|(at, node)| (node.backend_node_id, at)).collect();
    let ends = document.ends();
    let (mut steps, mut left_out) = (0, 0);
    for &at in &looks.in_order {
        let id = document.nodes[at].backend_node_id;
        if by_id.contains_key(&id) {
            continue;
        }
        steps += ends[at] - at + 1;
        if steps > MOST_STEPS {
            left_out += 1;
            continue;
        }
        let below = &document.nodes[at + 1..ends[at]];
        let first = below.iter().find_map(|node| by_id.get(&node.backend_node_id)).copied();
        let parent = match first {
            // Its parent cannot be below the element: it would have been the first.
            Some(first) => tree.nodes[first].parent,
            None => nearest_above(document, at, &by_id),
        };
        let Some(parent) = parent else {
            left_out += 1;
            continue;
        };
        let within = |node: &AxNode| {
            let place = node.backend_node_id.and_then(|id| place.get(&id));
            place.is_some_and(|place| (at + 1..ends[at]).contains(place))
        };
        let own = std::mem::take(&mut tree.nodes[parent].children);
        steps += own.len();
        let (taken, kept): (Vec<usize>, Vec<usize>) =
            own.iter().partition(|child| within(&tree.nodes[**child]));
        let behind = |child: &usize| {
            tree.nodes[*child].backend_node_id.and_then(|id| place.get(&id)).is_some_and(|place| *place > at)
        };
        let position = kept.iter().position(behind).unwrap_or(kept.len());
        let new = tree.nodes.len();
        let mut node = AxNode::made("generic", id, parent);
        for child in &taken {
            tree.nodes[*child].parent = Some(new);
        }
        node.children = taken;
        tree.nodes.push(node);
        let children = &mut tree.nodes[parent].children;
        *children = kept;
        children.insert(position, new);
        by_id.insert(id, new);
    }
    left_out
}

fn nearest_above(document: &DomDocument, at: usize, by_id: &HashMap<i64, usize>) -> Option<usize> {
    let mut above = document.nodes[at].parent;
    while let Some(parent) = above {
        if let Some(found) = by_id.get(&document.nodes[parent].backend_node_id) {
            return Some(*found);
        }
        above = document.nodes[parent].parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::clickable::look;
    use super::super::dom::DomNode;
    use super::*;

    fn element(parent: Option<usize>, id: i64, pointer: bool) -> DomNode {
        DomNode {
            parent,
            element: true,
            tag: "span".into(),
            backend_node_id: id,
            shown: true,
            pointer,
            ..DomNode::default()
        }
    }

    /// A tree of `(backend node id, children)`.
    fn tree(nodes: &[(i64, &[usize])]) -> AxTree {
        let mut tree = AxTree::default();
        for (id, children) in nodes {
            tree.nodes.push(AxNode {
                parent: None,
                children: children.to_vec(),
                ..AxNode::made("StaticText", *id, 0)
            });
        }
        for (at, (_, children)) in nodes.iter().enumerate() {
            for child in *children {
                tree.nodes[*child].parent = Some(at);
            }
        }
        tree
    }

    #[test]
    fn an_element_comes_around_what_is_below_it() {
        // root(1) > text(2), span(3) > [text(4), b(5) > text(6)], text(7)
        let nodes =
            [(None, 1), (Some(0), 2), (Some(0), 3), (Some(2), 4), (Some(2), 5), (Some(4), 6), (Some(0), 7)];
        let nodes = nodes.map(|(parent, id)| element(parent, id, id == 3));
        let document = DomDocument { frame: "F".into(), nodes: nodes.to_vec() };
        let mut tree = tree(&[(1, &[1, 2, 3, 4]), (2, &[]), (4, &[]), (6, &[]), (7, &[])]);
        assert_eq!(graft(&mut tree, &document, &look(&document)), 0);
        assert_eq!(tree.nodes[0].children, [1, 5, 4]);
        assert_eq!((&tree.nodes[5].children, tree.nodes[5].backend_node_id), (&vec![2, 3], Some(3)));
        assert_eq!([tree.nodes[2].parent, tree.nodes[3].parent], [Some(5), Some(5)]);
    }

    #[test]
    fn an_empty_element_comes_where_it_stands() {
        let nodes = [(None, 1), (Some(0), 2), (Some(0), 3), (Some(0), 4)];
        let nodes = nodes.map(|(parent, id)| element(parent, id, id == 3));
        let document = DomDocument { frame: "F".into(), nodes: nodes.to_vec() };
        let mut tree = tree(&[(1, &[1, 2]), (2, &[]), (4, &[])]);
        assert_eq!(graft(&mut tree, &document, &look(&document)), 0);
        assert_eq!(tree.nodes[0].children, [1, 3, 2]);
    }
}
