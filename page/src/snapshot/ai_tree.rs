//! From the accessibility tree to the tree that the AI snapshot prints: wrappers without meaning
//! are gone, texts stand together, and what repeats a name is left out.

use super::ax::AxNode;
use super::frame::{Capture, Frame};
use super::naming;
use super::outline::{Outline, Spot};

/// What stands below a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Child {
    Text(String),
    Node(usize),
}

/// A node to print.
#[derive(Clone, Debug)]
pub(super) struct AiNode {
    pub(super) spot: Spot,
    pub(super) role: String,
    pub(super) name: String,
    /// It can be clicked although its role does not say so.
    pub(super) clickable: bool,
    /// The mouse pointer becomes a hand over it.
    pub(super) pointer: bool,
    /// Properties that get a line of their own: name and value.
    pub(super) props: Vec<(&'static str, String)>,
    pub(super) children: Vec<Child>,
}

/// Longest name that is printed, in characters.
const MAX_NAME: usize = 900;

/// The tree; node 0 is its root. Empty if nothing was read.
pub(super) fn build(capture: &Capture, outline: &Outline<'_>) -> Vec<AiNode> {
    let mut made: Vec<AiNode> = Vec::new();
    // With the node that it will hang below; parents are made before their children.
    let mut waiting: Vec<(Spot, usize)> = outline.roots().into_iter().map(|root| (root, 0)).collect();
    while let Some((spot, above)) = waiting.pop() {
        let node = outline.node(spot);
        let frame = &capture.frames[spot.frame];
        let below = match part(frame, node) {
            Part::Nothing => continue,
            Part::Text(text) => {
                if let Some(above) = made.get_mut(above) {
                    above.children.push(Child::Text(text.to_owned()));
                }
                continue;
            }
            Part::Wrapper => above,
            Part::Node(role) => {
                let own = made.len();
                made.push(ai_node(frame, spot, node, role));
                if own > 0 {
                    made[above].children.push(Child::Node(own));
                }
                own
            }
        };
        let takes_text = matches!(&*node.role, "textbox" | "searchbox" | "spinbutton" | "slider");
        match &node.value {
            Some(value) if takes_text => made[below].children.push(Child::Text(value.to_string())),
            _ if takes_text => {}
            _ => waiting.extend(outline.children(spot).rev().map(|child| (child, below))),
        }
    }
    for at in (0..made.len()).rev() {
        settle(&mut made, at);
    }
    made
}

enum Part<'a> {
    Nothing,
    Text(&'a str),
    Wrapper,
    Node(String),
}

fn part<'a>(frame: &Frame, node: &'a AxNode) -> Part<'a> {
    let clickable = naming::clickable(frame, node).is_some();
    match &*node.role {
        "InlineTextBox" | "ListMarker" => Part::Nothing,
        "StaticText" => Part::Text(&node.name),
        "LineBreak" => Part::Text("\n"),
        _ if node.parent.is_none() => Part::Node("generic".into()),
        "none" | "presentation" | "MenuListPopup" if !clickable => Part::Wrapper,
        _ if node.ignored && !clickable => Part::Wrapper,
        role => Part::Node(ai_role(role)),
    }
}

/// The role as ARIA spells it. What only Chromium knows means nothing to others.
fn ai_role(role: &str) -> String {
    match role {
        "Iframe" | "IframePresentational" => "iframe",
        "LayoutTable" => "table",
        "LayoutTableRow" => "row",
        "LayoutTableCell" => "cell",
        "image" | "SvgRoot" => "img",
        "none" | "presentation" => "generic",
        role if role.starts_with(|c: char| c.is_ascii_uppercase()) => "generic",
        role => role,
    }
    .to_owned()
}

fn ai_node(frame: &Frame, spot: Spot, node: &AxNode, role: String) -> AiNode {
    let looks = &frame.looks;
    let id = node.backend_node_id;
    let named = node.parent.is_some() && role != "iframe" && node.name.chars().count() <= MAX_NAME;
    let name = if named { normal(&node.name) } else { String::new() };
    let mut props = Vec::new();
    if role == "link" {
        let written = id.and_then(|id| looks.hrefs.get(&id)).or(node.states.url.as_ref());
        props.extend(written.map(|url| ("url", url.to_string())));
    }
    let placeholder = id.and_then(|id| looks.placeholders.get(&id)).filter(|text| ***text != *name);
    props.extend(placeholder.map(|text| ("placeholder", text.to_string())));
    AiNode {
        spot,
        role,
        name,
        clickable: naming::clickable(frame, node).is_some(),
        pointer: id.is_some_and(|id| looks.pointer.contains(&id)),
        props,
        children: Vec::new(),
    }
}

/// Brings the children of a node into their final form; theirs are final already.
fn settle(made: &mut [AiNode], at: usize) {
    let mut settled: Vec<Child> = Vec::new();
    for child in std::mem::take(&mut made[at].children) {
        match child {
            Child::Node(below) if is_wrapper(&made[below]) => settled.append(&mut made[below].children),
            Child::Text(text) => match settled.last_mut() {
                Some(Child::Text(before)) => before.push_str(&text),
                _ => settled.push(Child::Text(text)),
            },
            node @ Child::Node(_) => settled.push(node),
        }
    }
    for child in &mut settled {
        if let Child::Text(text) = child {
            *text = normal(text);
        }
    }
    settled.retain(|child| !matches!(child, Child::Text(text) if text.is_empty()));
    if matches!(&*settled, [Child::Text(text)] if *text == made[at].name) {
        settled.clear();
    }
    made[at].children = settled;
}

/// A node that says nothing beyond the one node below it.
fn is_wrapper(node: &AiNode) -> bool {
    let root = node.spot.node == 0;
    !root
        && node.role == "generic"
        && node.name.is_empty()
        && !node.clickable
        && matches!(&*node.children, [] | [Child::Node(_)])
}

/// White space collapsed.
pub(super) fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
