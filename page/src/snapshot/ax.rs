//! The accessibility tree of one frame, as Chromium tells it.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::roles::{self, RoleKind};

/// A state that may also be in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tristate {
    /// Yes.
    True,
    /// In between.
    Mixed,
}

/// The states of a node that snapshots tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent states of one node, each printed by itself")]
pub struct States {
    /// A check box or radio button is on.
    pub checked: Option<Tristate>,
    /// It takes no input.
    pub disabled: bool,
    /// What it controls is shown.
    pub expanded: bool,
    /// A toggle button is down.
    pub pressed: Option<Tristate>,
    /// An option is chosen.
    pub selected: bool,
    /// The level of a heading or item.
    pub level: Option<i64>,
    /// Its value is refused; the text says why, `true` for no reason.
    pub invalid: Option<Box<str>>,
    /// It has the focus.
    pub focused: bool,
    /// Where a link leads.
    pub url: Option<Box<str>>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxNode {
    /// Left out by Chromium for assistive technology, but part of the tree.
    pub ignored: bool,
    /// As Chromium spells it.
    pub role: Box<str>,
    /// What the role means to a snapshot.
    pub kind: RoleKind,
    /// Its accessible name; empty if there is none.
    pub name: Box<str>,
    /// Its value as text, if that is not empty.
    pub value: Option<Box<str>>,
    /// Its description, if that is not empty.
    pub description: Option<Box<str>>,
    /// Its states.
    pub states: States,
    /// Indices of its children, in order.
    pub children: Vec<usize>,
    /// Index of its parent.
    pub parent: Option<usize>,
    /// Its DOM node.
    pub backend_node_id: Option<i64>,
}

impl AxNode {
    /// A node that Chromium does not list.
    pub(super) fn made(role: &str, backend_node_id: i64, parent: usize) -> Self {
        Self {
            ignored: false,
            role: role.into(),
            kind: roles::kind(role),
            name: "".into(),
            value: None,
            description: None,
            states: States::default(),
            children: Vec::new(),
            parent: Some(parent),
            backend_node_id: Some(backend_node_id),
        }
    }
}

/// The tree of one frame. Its nodes are in Chromium's order, the root first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AxTree {
    /// All nodes.
    pub nodes: Vec<AxNode>,
    /// Children that exist but were not read, because of a limit.
    pub not_read: usize,
}

/// Longest name, value or description that is kept, in bytes.
const MAX_TEXT: usize = 10_000;

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    nodes: Vec<Wire<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(borrow)]
    node_id: Cow<'a, str>,
    #[serde(default)]
    ignored: bool,
    role: Option<AxValue>,
    name: Option<AxValue>,
    value: Option<AxValue>,
    description: Option<AxValue>,
    #[serde(default, borrow)]
    properties: Vec<Property<'a>>,
    #[serde(default, borrow)]
    child_ids: Vec<Cow<'a, str>>,
    #[serde(rename = "backendDOMNodeId")]
    backend_node_id: Option<i64>,
}

#[derive(Deserialize)]
struct Property<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    value: AxValue,
}

#[derive(Default, Deserialize)]
struct AxValue {
    #[serde(default)]
    value: Value,
}

impl AxTree {
    /// Reads the reply of `Accessibility.getFullAXTree`, at most `most` nodes of it.
    ///
    /// # Errors
    /// When it is no such reply.
    pub fn read(reply: &str, most: usize) -> Result<Self, serde_json::Error> {
        let Reply { mut nodes } = serde_json::from_str(reply)?;
        nodes.truncate(most);
        let index: HashMap<&str, usize> =
            nodes.iter().enumerate().map(|(at, node)| (&*node.node_id, at)).collect();
        let mut not_read = 0;
        let mut children: Vec<Vec<usize>> = Vec::with_capacity(nodes.len());
        let mut parent = vec![None; nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            let mut own = Vec::with_capacity(node.child_ids.len());
            for id in &node.child_ids {
                match index.get(&**id) {
                    // A node has one parent, and the root has none: a tree whatever was sent.
                    Some(&child) if child != 0 && parent[child].is_none() => {
                        parent[child] = Some(at);
                        own.push(child);
                    }
                    Some(_) => {}
                    None => not_read += 1,
                }
            }
            children.push(own);
        }
        let nodes = nodes.into_iter().zip(children).zip(parent).map(|((node, children), parent)| {
            let role = node.role.map_or_else(|| "none".into(), |it| text(it.value));
            AxNode {
                ignored: node.ignored,
                kind: roles::kind(&role),
                role,
                name: node.name.map_or_else(|| "".into(), |it| text(it.value)),
                value: node.value.map(|it| text(it.value)).filter(|it| !it.is_empty()),
                description: node.description.map(|it| text(it.value)).filter(|it| !it.is_empty()),
                states: states(node.properties),
                children,
                parent,
                backend_node_id: node.backend_node_id,
            }
        });
        Ok(Self { nodes: nodes.collect(), not_read })
    }

    /// From DOM nodes to their nodes here; of several for one DOM node, the first that is not
    /// ignored.
    pub fn by_backend_node_id(&self) -> HashMap<i64, usize> {
        let mut found: HashMap<i64, usize> = HashMap::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let Some(id) = node.backend_node_id else { continue };
            let first = *found.entry(id).or_insert(at);
            if self.nodes[first].ignored && !node.ignored {
                found.insert(id, at);
            }
        }
        found
    }

    /// The text below a node, white space collapsed, at most `most` characters of it.
    pub fn text_below(&self, node: usize, most: usize) -> String {
        let mut found = String::new();
        let mut length = 0;
        let mut waiting = vec![node];
        let mut looked_at = 0;
        while let Some(at) = waiting.pop() {
            looked_at += 1;
            if length >= most || looked_at > 1000 {
                break;
            }
            let node = &self.nodes[at];
            if *node.role == *"StaticText" {
                for word in node.name.split_whitespace() {
                    if !found.is_empty() {
                        found.push(' ');
                        length += 1;
                    }
                    found.push_str(word);
                    length += word.chars().count();
                }
            } else {
                waiting.extend(node.children.iter().rev());
            }
        }
        if length > most { found.chars().take(most).collect() } else { found }
    }
}

fn states(properties: Vec<Property<'_>>) -> States {
    let mut states = States::default();
    for Property { name, value: AxValue { value } } in properties {
        match &*name {
            "checked" => states.checked = tristate(&value),
            "disabled" => states.disabled = truth(&value),
            "expanded" => states.expanded = truth(&value),
            "pressed" => states.pressed = tristate(&value),
            "selected" => states.selected = truth(&value),
            "level" => states.level = value.as_i64().filter(|level| *level > 0),
            "invalid" => states.invalid = Some(text(value)).filter(|it| !matches!(&**it, "" | "false")),
            "focused" => states.focused = truth(&value),
            "url" => states.url = Some(text(value)).filter(|it| !it.is_empty()),
            _ => {}
        }
    }
    states
}

/// Booleans come as `true`, as 1 and as `"true"`.
fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(it) => *it,
        Value::Number(it) => it.as_i64() == Some(1),
        Value::String(it) => it == "true",
        _ => false,
    }
}

fn tristate(value: &Value) -> Option<Tristate> {
    if value.as_str() == Some("mixed") {
        return Some(Tristate::Mixed);
    }
    truth(value).then_some(Tristate::True)
}

fn text(value: Value) -> Box<str> {
    let mut text = match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn property(name: &str, value: &Value) -> Value {
        json!({ "name": name, "value": { "type": "x", "value": value } })
    }

    #[test]
    fn nodes_are_typed_and_joined() {
        let reply = json!({ "nodes": [
            { "nodeId": "2", "ignored": false, "role": { "value": "RootWebArea" }, "name": { "value": "Main", "sources": [{}] },
              "childIds": ["7", "9"], "backendDOMNodeId": 2, "frameId": "F" },
            { "nodeId": "7", "ignored": false, "role": { "value": "checkbox" }, "name": { "value": "Agree" }, "parentId": "2",
              "properties": [property("checked", &json!("mixed")), property("disabled", &json!(true)), property("invalid", &json!("false"))],
              "childIds": [], "backendDOMNodeId": 5, "value": { "value": 4.5 } },
        ]});
        let tree = AxTree::read(&reply.to_string(), 10).unwrap();
        assert_eq!(tree.not_read, 1, "node 9 is not there");
        assert_eq!((&*tree.nodes[0].name, &tree.nodes[0].children), ("Main", &vec![1]));
        let box_ = &tree.nodes[1];
        assert_eq!(
            (box_.parent, box_.backend_node_id, box_.value.as_deref()),
            (Some(0), Some(5), Some("4.5"))
        );
        assert_eq!(box_.states.checked, Some(Tristate::Mixed));
        assert!(box_.states.disabled && box_.states.invalid.is_none());
        assert_eq!(tree.by_backend_node_id()[&5], 1);
    }

    #[test]
    fn cycles_and_shared_children_become_a_tree() {
        let reply = json!({ "nodes": [
            { "nodeId": "1", "childIds": ["2", "2"] }, { "nodeId": "2", "childIds": ["1", "3"] },
            { "nodeId": "3", "childIds": ["2", "3"] },
        ]});
        let tree = AxTree::read(&reply.to_string(), 10).unwrap();
        let children: Vec<_> = tree.nodes.iter().map(|node| node.children.clone()).collect();
        assert_eq!(children, [vec![1], vec![2], vec![]]);
        assert_eq!(AxTree::read(&reply.to_string(), 2).unwrap().not_read, 1);
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let cut = text(Value::String("ä".repeat(MAX_TEXT)));
        assert!(cut.len() <= MAX_TEXT + 3 && cut.ends_with("ä…"));
    }
}
