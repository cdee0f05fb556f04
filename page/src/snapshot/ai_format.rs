//! The AI snapshot: a YAML outline in Playwright's manner, with a ref on every node.

use std::collections::HashMap;

use super::ai_tree::{self, AiNode, Child};
use super::ax::Tristate;
use super::delta::{self, Identities};
use super::fit::{End, Line, RefEntry, Rendered, Sheet};
use super::frame::Capture;
use super::links::Links;
use super::naming;
use super::outline::Outline;
use super::role_format::{MAX_DEPTH, json};
use super::roles::{self, RoleKind};
use super::text_options::TextOptions;
use super::yaml;
use crate::refs::{Place, RefId, RefTable, Series, Sighting};

/// Renders a capture, giving refs from `table`; `before` is what to compare it with.
pub fn render_ai(
    capture: &Capture,
    table: &mut RefTable,
    options: &TextOptions,
    before: Option<&Identities>,
) -> Rendered {
    table.begin(&capture.documents);
    let outline = Outline::new(capture);
    let made = ai_tree::build(capture, &outline);
    let mut page = Page { capture, outline, places: HashMap::new(), links: Links::default(), options };
    let mut sheet = Sheet::new(options.max_chars, options.after, before);
    let mut too_deep = false;
    let mut waiting: Vec<(Child, u32)> = Vec::new();
    if !made.is_empty() {
        waiting.push((Child::Node(0), 0));
    }
    while let Some((child, depth)) = waiting.pop() {
        if options.depth.is_some_and(|most| depth > most) {
            continue;
        }
        if depth > MAX_DEPTH {
            too_deep = true;
            continue;
        }
        match child {
            Child::Text(_) if options.interactive => {}
            Child::Text(text) => sheet.push(plain(depth, &format!("text: {}", yaml::value(&text)))),
            Child::Node(at) => {
                let node = &made[at];
                let lines = page.lines(table, node, depth);
                for line in lines {
                    sheet.push(line);
                }
                if !node.is_one_line() {
                    waiting.extend(node.children.iter().rev().map(|child| (child.clone(), depth + 1)));
                }
            }
        }
    }
    let footer = page.links.footer();
    let empty = if options.interactive { "(no interactive elements)" } else { "(empty page)" };
    sheet.finish(End { empty, too_deep, not_read: capture.not_read, footer })
}

impl AiNode {
    /// Its only child is a text, printed on its own line.
    fn is_one_line(&self) -> bool {
        self.props.is_empty() && matches!(&*self.children, [Child::Text(_)])
    }

    /// What follows its key.
    fn tail(&self) -> String {
        match &*self.children {
            [] if self.props.is_empty() => String::new(),
            [Child::Text(text)] if self.props.is_empty() => format!(": {}", yaml::value(text)),
            _ => ":".into(),
        }
    }
}

struct Page<'a> {
    capture: &'a Capture,
    outline: Outline<'a>,
    places: HashMap<usize, HashMap<usize, Place>>,
    links: Links,
    options: &'a TextOptions,
}

impl Page<'_> {
    /// The line of a node and those of its properties; none if it is not shown.
    fn lines(&mut self, table: &mut RefTable, node: &AiNode, depth: u32) -> Vec<Line> {
        let kind = roles::kind(&node.role);
        let TextOptions { interactive, compact, urls, .. } = *self.options;
        let id = self.name(table, node);
        let says = node.is_one_line() || node.clickable;
        if (interactive && kind != RoleKind::Interactive && !node.clickable)
            || (compact && kind == RoleKind::Structural && node.name.is_empty() && !says)
        {
            return Vec::new();
        }
        if urls {
            self.links.add(&self.capture.frames[node.spot.frame].tree, node.spot.node);
        }
        let reference = id.map(|id| format!(" [ref={id}]")).unwrap_or_default();
        let named = if node.name.is_empty() { String::new() } else { format!(" {}", json(&node.name)) };
        let cursor = if node.pointer { " [cursor=pointer]" } else { "" };
        let (role, states, tail) = (&node.role, self.states(node), node.tail());
        let text = if interactive {
            format!("- {role}{named}{reference}{states}{cursor}{tail}")
        } else {
            let key = yaml::key(&format!("{role}{named}{states}{reference}{cursor}"));
            format!("{}- {key}{tail}", "  ".repeat(depth as usize))
        };
        let entry = id.map(|id| RefEntry {
            id,
            role: node.role.as_str().into(),
            name: node.name.as_str().into(),
            nth: None,
            backend_node_id: self.outline.node(node.spot).backend_node_id,
        });
        let mut lines = vec![Line { text, entry, identity: id.map(delta::identity) }];
        if !interactive {
            let props = node.props.iter().map(|(name, value)| format!("/{name}: {}", yaml::value(value)));
            lines.extend(props.map(|prop| plain(depth + 1, &prop)));
        }
        lines
    }

    fn name(&mut self, table: &mut RefTable, node: &AiNode) -> Option<RefId> {
        let frame = &self.capture.frames[node.spot.frame];
        let places = self.places.entry(node.spot.frame).or_insert_with(|| naming::places(frame));
        let ax = self.outline.node(node.spot);
        // What is not counted among its like can be found by its node only.
        let place = places.get(&node.spot.node).copied().unwrap_or(Place { nth: 0, of: 0 });
        let sighting = Sighting {
            frame: &frame.id,
            document: &frame.document,
            identity: naming::identity(frame, node.spot.node)?,
            role: &naming::shown_role(frame, ax).to_ascii_lowercase(),
            name: &naming::shown_name(frame, node.spot.node),
            place,
        };
        Some(table.name(Series::Element, &sighting))
    }

    fn states(&self, node: &AiNode) -> String {
        let states = &self.outline.node(node.spot).states;
        let level = states.level.filter(|_| matches!(&*node.role, "heading" | "treeitem" | "row"));
        let frame = self.outline.frame_word(node.spot);
        let held = [
            (states.checked == Some(Tristate::Mixed)).then(|| "checked=mixed".to_owned()),
            (states.checked == Some(Tristate::True)).then(|| "checked".to_owned()),
            states.disabled.then(|| "disabled".to_owned()),
            states.expanded.then(|| "expanded".to_owned()),
            states.focused.then(|| "active".to_owned()),
            level.map(|level| format!("level={level}")),
            (states.pressed == Some(Tristate::Mixed)).then(|| "pressed=mixed".to_owned()),
            (states.pressed == Some(Tristate::True)).then(|| "pressed".to_owned()),
            states.selected.then(|| "selected".to_owned()),
            frame.map(|word| format!("frame={word}")),
        ];
        held.into_iter().flatten().fold(String::new(), |text, state| text + " [" + &state + "]")
    }
}

fn plain(depth: u32, text: &str) -> Line {
    Line { text: format!("{}- {text}", "  ".repeat(depth as usize)), ..Line::default() }
}

#[cfg(test)]
#[path = "ai_format_tests.rs"]
mod tests;
