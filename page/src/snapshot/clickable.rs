//! Elements that one can click though nothing in their meaning says so: by their style, a
//! handler, or a `tabindex`.

use std::collections::HashMap;

use super::dom::{DomDocument, DomNode};

/// Why an element counts as clickable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent reasons, each printed by itself")]
pub struct Clickable {
    /// The mouse pointer becomes a hand over it, and not over its parent.
    pub pointer: bool,
    /// It hears clicks.
    pub onclick: bool,
    /// It can be reached with the keyboard.
    pub tabindex: bool,
    /// Its content can be edited.
    pub contenteditable: bool,
    /// It stands for a radio button that is not shown.
    pub hidden_radio: bool,
    /// It stands for a check box that is not shown.
    pub hidden_checkbox: bool,
}

impl Clickable {
    fn any(self) -> bool {
        self != Self::default()
    }

    /// The reasons in words, in their order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        [
            (self.pointer, "cursor:pointer"),
            (self.onclick, "onclick"),
            (self.tabindex, "tabindex"),
            (self.contenteditable, "contenteditable"),
            (self.hidden_radio, "hidden-radio"),
            (self.hidden_checkbox, "hidden-checkbox"),
        ]
        .into_iter()
        .filter_map(|(holds, word)| holds.then_some(word))
    }
}

/// What the styles and attributes of a document tell beyond its accessibility tree, by DOM node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Elements without a meaning of their own that can be clicked.
    pub clickable: HashMap<i64, Clickable>,
    /// The same elements in document order, as indices.
    pub in_order: Vec<usize>,
    /// Whatever the mouse pointer becomes a hand over, and not over its parent.
    pub pointer: std::collections::HashSet<i64>,
    /// Where links lead, as it is written.
    pub hrefs: HashMap<i64, Box<str>>,
    /// Placeholders of fields.
    pub placeholders: HashMap<i64, Box<str>>,
}

/// Looks at every element of a document.
pub(super) fn look(document: &DomDocument) -> Looks {
    let nodes = &document.nodes;
    let mut looks = Looks::default();
    let mut inside = vec![false; nodes.len()];
    let hidden = hidden_inputs(nodes);
    let beyond = holding_meaning(nodes);
    for (at, node) in nodes.iter().enumerate() {
        let parent = node.parent.map(|parent| &nodes[parent]);
        inside[at] = node.parent.is_some_and(|parent| inside[parent] || has_meaning(&nodes[parent]));
        if !node.element {
            continue;
        }
        let pointer = node.pointer && !parent.is_some_and(|it| it.pointer);
        if pointer {
            looks.pointer.insert(node.backend_node_id);
        }
        if let Some(href) = node.attribute("href").filter(|_| matches!(&*node.tag, "a" | "area")) {
            looks.hrefs.insert(node.backend_node_id, href.into());
        }
        if let Some(text) = node.attribute("placeholder") {
            looks.placeholders.insert(node.backend_node_id, text.into());
        }
        if !node.shown || inside[at] || has_meaning(node) || is_scaffold(node) {
            continue;
        }
        let (hidden_radio, hidden_checkbox) = hidden[at];
        // A label passes its clicks on, and that is told by what it stands for.
        let listens = node.hears_clicks && &*node.tag != "label" && !edits(node);
        let why = Clickable {
            pointer,
            onclick: node.attribute("onclick").is_some()
                || &*node.tag == "summary"
                || (listens && !beyond[at]),
            tabindex: node
                .attribute("tabindex")
                .is_some_and(|it| it.trim().parse::<i32>().is_ok_and(|it| it >= 0)),
            contenteditable: edits(node),
            hidden_radio,
            hidden_checkbox,
        };
        if why.any() {
            looks.clickable.insert(node.backend_node_id, why);
            looks.in_order.push(at);
        }
    }
    looks
}

/// Its meaning says that it can be acted on, so that it needs no flags.
fn has_meaning(node: &DomNode) -> bool {
    let by_tag = match &*node.tag {
        "a" | "area" => node.attribute("href").is_some(),
        "button" | "input" | "select" | "textarea" | "option" | "optgroup" | "iframe" | "frame" => true,
        _ => false,
    };
    by_tag
        || node
            .attribute("role")
            .is_some_and(|role| super::roles::kind(role) == super::roles::RoleKind::Interactive)
}

/// What every page has, and what has a window of its own.
fn is_scaffold(node: &DomNode) -> bool {
    matches!(&*node.tag, "html" | "body" | "head" | "object" | "embed" | "video" | "audio")
        || node.tag.starts_with(':')
}

fn edits(node: &DomNode) -> bool {
    node.attribute("contenteditable").is_some_and(|it| {
        it.is_empty() || it.eq_ignore_ascii_case("true") || it.eq_ignore_ascii_case("plaintext-only")
    })
}

/// For every node, whether a radio button or check box that is not shown is right below it: of a
/// label at any depth, of another element as a child.
fn hidden_inputs(nodes: &[DomNode]) -> Vec<(bool, bool)> {
    let mut found = vec![(false, false); nodes.len()];
    for node in nodes.iter().filter(|node| &*node.tag == "input" && !node.shown) {
        let kind = node.attribute("type").unwrap_or_default();
        let (radio, check) = (kind.eq_ignore_ascii_case("radio"), kind.eq_ignore_ascii_case("checkbox"));
        let mut above = node.parent.filter(|_| radio || check);
        for _ in 0..4 {
            let Some(at) = above else { break };
            if &*nodes[at].tag == "label" {
                found[at] = (found[at].0 || radio, found[at].1 || check);
                break;
            }
            above = nodes[at].parent;
        }
    }
    found
}

/// For every node, whether something below it has a meaning of its own: a listener above it is
/// how frameworks hear of clicks, and says nothing about the element that carries it.
fn holding_meaning(nodes: &[DomNode]) -> Vec<bool> {
    let mut holding = vec![false; nodes.len()];
    for at in (0..nodes.len()).rev() {
        let node = &nodes[at];
        if let Some(parent) = node.parent {
            let own = node.element
                && (has_meaning(node) || node.attribute("onclick").is_some() || node.hears_clicks);
            holding[parent] |= holding[at] || own;
        }
    }
    holding
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(parent: usize, id: i64, tag: &str) -> DomNode {
        DomNode {
            parent: Some(parent),
            element: true,
            tag: tag.into(),
            backend_node_id: id,
            shown: true,
            has_box: true,
            ..DomNode::default()
        }
    }

    fn with(mut node: DomNode, attributes: &[(&'static str, &str)]) -> DomNode {
        node.attributes = attributes.iter().map(|(name, value)| (*name, (*value).into())).collect();
        node
    }

    fn words(nodes: Vec<DomNode>, id: i64) -> Vec<&'static str> {
        let document = DomDocument { frame: "F".into(), nodes };
        look(&document).clickable.get(&id).map(|why| why.words().collect()).unwrap_or_default()
    }

    fn root() -> DomNode {
        DomNode { backend_node_id: 1, ..DomNode::default() }
    }

    #[test]
    fn every_reason_counts() {
        let pointer = DomNode { pointer: true, ..element(0, 2, "div") };
        assert_eq!(words(vec![root(), pointer], 2), ["cursor:pointer"]);
        let onclick = with(element(0, 2, "div"), &[("onclick", "1")]);
        assert_eq!(words(vec![root(), onclick], 2), ["onclick"]);
        let listens = DomNode { hears_clicks: true, ..element(0, 2, "div") };
        assert_eq!(words(vec![root(), listens], 2), ["onclick"]);
        let editable = with(element(0, 2, "div"), &[("contenteditable", "")]);
        assert_eq!(words(vec![root(), editable], 2), ["contenteditable"]);
        for (value, counts) in [("0", true), ("3", true), ("-1", false), ("x", false)] {
            let reachable = with(element(0, 2, "div"), &[("tabindex", value)]);
            assert_eq!(!words(vec![root(), reachable], 2).is_empty(), counts, "{value}");
        }
        let radio = DomNode { shown: false, ..with(element(2, 3, "input"), &[("type", "radio")]) };
        assert_eq!(
            words(vec![root(), element(0, 2, "span"), element(1, 4, "label"), radio], 4),
            ["hidden-radio"]
        );
    }

    #[test]
    fn what_has_a_meaning_or_is_not_seen_does_not_count() {
        for tag in ["button", "body", "input"] {
            let node = DomNode { pointer: true, hears_clicks: true, ..element(0, 2, tag) };
            assert!(words(vec![root(), node], 2).is_empty(), "{tag}");
        }
        let hidden = DomNode { pointer: true, shown: false, ..element(0, 2, "div") };
        assert!(words(vec![root(), hidden], 2).is_empty());
        let inherited = DomNode { pointer: true, ..element(1, 3, "span") };
        let outer = DomNode { pointer: true, ..element(0, 2, "div") };
        assert!(words(vec![root(), outer, inherited], 3).is_empty());
        let icon = DomNode { pointer: true, ..element(1, 3, "span") };
        assert!(words(vec![root(), element(0, 2, "button"), icon], 3).is_empty());
    }

    #[test]
    fn a_listener_above_a_button_is_a_frameworks() {
        let root_of_app = DomNode { hears_clicks: true, ..element(0, 2, "div") };
        assert!(words(vec![root(), root_of_app, element(1, 3, "button")], 2).is_empty());
    }
}
