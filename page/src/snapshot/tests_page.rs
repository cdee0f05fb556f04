//! Pages for the tests of the formats, without a browser.

use super::ax::AxTree;
use super::clickable::{Clickable, Looks};
use super::frame::{Capture, Frame, FrameState, NotRead, Owner};
use crate::refs::Documents;

use serde_json::{Value, json};

/// A node: role, name, further fields of Chromium's reply, children. Its backend node id is its
/// place in breadth-first order, from 1, which is Chromium's order of nodes too.
pub(super) struct Node(&'static str, &'static str, Value, Vec<Node>);

pub(super) fn node(role: &'static str, name: &'static str, children: Vec<Node>) -> Node {
    Node(role, name, json!({}), children)
}

pub(super) fn with(role: &'static str, name: &'static str, fields: Value) -> Node {
    Node(role, name, fields, Vec::new())
}

/// A property in the fields of a node.
pub(super) fn property(name: &str, value: impl Into<Value>) -> Value {
    json!({ "properties": [{ "name": name, "value": { "value": value.into() } }] })
}

pub(super) fn text(text: &'static str) -> Node {
    node("StaticText", text, vec![node("InlineTextBox", text, vec![])])
}

pub(super) fn tree(root: Node) -> AxTree {
    let mut listed = Vec::new();
    let mut waiting = std::collections::VecDeque::from([root]);
    let mut known = 1;
    while let Some(Node(role, name, fields, children)) = waiting.pop_front() {
        let id = listed.len() + 1;
        let child_ids: Vec<String> = (known + 1..=known + children.len()).map(|id| id.to_string()).collect();
        known += children.len();
        let mut wire = json!({
            "nodeId": id.to_string(), "ignored": role == "none", "role": { "value": role },
            "name": { "value": name }, "childIds": child_ids,
        });
        if role != "InlineTextBox" {
            wire["backendDOMNodeId"] = json!(id);
        }
        for (key, value) in fields.as_object().unwrap() {
            wire[key] = value.clone();
        }
        listed.push(wire);
        waiting.extend(children);
    }
    AxTree::read(&json!({ "nodes": listed }).to_string(), usize::MAX).unwrap()
}

pub(super) fn frame(id: &str, owner: Option<(usize, i64)>, root: Node) -> Frame {
    Frame {
        target: None,
        id: id.into(),
        document: format!("{id}-document").into(),
        url: "http://test/".into(),
        owner: owner.map(|(frame, backend_node_id)| Owner { frame, backend_node_id }),
        state: FrameState::Read,
        tree: tree(root),
        looks: Looks::default(),
    }
}

pub(super) fn capture(frames: Vec<Frame>) -> Capture {
    let mut documents = Documents::new(frames[0].id.clone(), frames[0].document.clone());
    for frame in &frames[1..] {
        documents.show(frame.id.clone(), frame.document.clone());
    }
    Capture { frames, documents, not_read: NotRead::default(), read_again: false, scope: None }
}

/// Marks the node with this role and the text "Clicky div" below it as clickable.
pub(super) fn make_clickable(frame: &mut Frame, backend_node_id: i64) {
    let why = Clickable { pointer: true, onclick: true, ..Clickable::default() };
    frame.looks.clickable.insert(backend_node_id, why);
    frame.looks.pointer.insert(backend_node_id);
}

/// The page that the contract's examples were recorded on.
pub(super) fn recorded() -> Capture {
    let link = || {
        let url = property("url", "http://127.0.0.1:33297/two");
        Node("link", "Two", url, vec![text("Two")])
    };
    let item =
        |link| Node("listitem", "", property("level", 1), vec![node("ListMarker", "• ", vec![]), link]);
    let button = |name| node("button", name, vec![text(name)]);
    let body = vec![
        Node("heading", "Head \"quoted\"", property("level", 1), vec![text("Head \"quoted\"")]),
        node("navigation", "Nav", vec![node("list", "", vec![item(link()), item(link())])]),
        button("Save"),
        button("Save"),
        button("Other: x"),
        node("button", "", vec![]),
        Node(
            "textbox",
            "Name",
            json!({ "value": { "value": "Ada" } }),
            vec![node("generic", "", vec![text("Ada")])],
        ),
        with("checkbox", "Agree", property("checked", "true")),
        Node(
            "combobox",
            "Pick",
            json!({ "value": { "value": "A" } }),
            vec![node(
                "MenuListPopup",
                "",
                vec![with("option", "A", property("selected", true)), node("option", "B", vec![])],
            )],
        ),
        button("Dialog"),
        Node("button", "Off", property("disabled", true), vec![text("Off")]),
        node("generic", "", vec![text("Clicky div")]),
        node(
            "LayoutTable",
            "",
            vec![node(
                "none",
                "",
                vec![node(
                    "LayoutTableRow",
                    "",
                    vec![node("LayoutTableCell", "cell one", vec![text("cell one")])],
                )],
            )],
        ),
        node("Iframe", "Inner", vec![]),
        node("paragraph", "", vec![text("para text")]),
    ];
    let root = Node(
        "RootWebArea",
        "Main",
        property("focused", true),
        vec![node("none", "", vec![node("none", "", body)])],
    );
    let mut main = frame("M", None, root);
    let at = |role: &str| {
        let found = main.tree.nodes.iter().find(|node| *node.role == *role && node.name.is_empty());
        found.unwrap().backend_node_id.unwrap()
    };
    let clicky = at("generic");
    let links: Vec<i64> = main
        .tree
        .nodes
        .iter()
        .filter(|node| &*node.role == "link")
        .filter_map(|node| node.backend_node_id)
        .collect();
    make_clickable(&mut main, clicky);
    for link in links {
        main.looks.hrefs.insert(link, "/two".into());
        main.looks.pointer.insert(link);
    }
    let iframe =
        main.tree.nodes.iter().find(|node| &*node.role == "Iframe").unwrap().backend_node_id.unwrap();
    let inner = node(
        "RootWebArea",
        "",
        vec![node("none", "", vec![node("none", "", vec![button("InFrame"), button("Save")])])],
    );
    let inner = frame("A", Some((0, iframe)), inner);
    capture(vec![main, inner])
}
