//! The role snapshot: one line for every node of the accessibility tree, with refs on those that
//! can be acted on.

use super::ax::{States, Tristate};
use super::delta::{self, Identities};
use super::fit::{End, Line, RefEntry, Rendered, Sheet};
use super::frame::Capture;
use super::links::Links;
use super::naming::{self, Named};
use super::outline::{Outline, Spot};
use super::roles::RoleKind;
use super::text_options::TextOptions;
use crate::refs::RefTable;

/// How deep a snapshot goes at most.
pub const MAX_DEPTH: u32 = 100;

/// Renders a capture, giving refs from `table`; `before` is what to compare it with.
pub fn render_role(
    capture: &Capture,
    table: &mut RefTable,
    options: &TextOptions,
    before: Option<&Identities>,
) -> Rendered {
    table.begin(&capture.documents);
    let named = naming::name_all(capture, table);
    let outline = Outline::flat(capture);
    let mut links = Links::default();
    let mut sheet = Sheet::new(options.max_chars, options.after, before);
    let mut too_deep = false;
    for spot in outline.walk() {
        if options.depth.is_some_and(|most| spot.depth > most) {
            continue;
        }
        if spot.depth > MAX_DEPTH {
            too_deep = true;
            continue;
        }
        let named = named[spot.frame].get(&spot.node);
        if kept(capture, &outline, spot, named, options) {
            sheet.push(line(capture, &outline, spot, named, options));
            if capture.scope.is_some() && options.urls {
                links.add(&capture.frames[spot.frame].tree, spot.node);
            }
        }
    }
    let empty = match &capture.scope {
        Some(scope) if scope.roots.is_empty() || !options.interactive => "(empty)",
        _ if options.interactive => "(no interactive elements)",
        _ => "(empty page)",
    };
    sheet.finish(End { empty, too_deep, not_read: capture.not_read, footer: links.footer() })
}

fn kept(
    capture: &Capture,
    outline: &Outline<'_>,
    spot: Spot,
    named: Option<&Named>,
    options: &TextOptions,
) -> bool {
    let node = outline.node(spot);
    let frame = &capture.frames[spot.frame];
    if outline.is_wrapper(spot) {
        return false;
    }
    let acted_on = matches!(node.kind, RoleKind::Interactive | RoleKind::Frame) && !node.ignored;
    if options.interactive && !acted_on && naming::clickable(frame, node).is_none() {
        return false;
    }
    let bare = node.kind == RoleKind::Structural && node.name.is_empty() && named.is_none();
    !(options.compact && bare)
}

fn line(
    capture: &Capture,
    outline: &Outline<'_>,
    spot: Spot,
    named: Option<&Named>,
    options: &TextOptions,
) -> Line {
    let node = outline.node(spot);
    let frame = &capture.frames[spot.frame];
    let name = naming::shown_name(frame, spot.node);
    let in_part = capture.scope.is_some();
    let indent = if in_part && options.interactive { 0 } else { spot.depth as usize };
    let mut parts = vec![format!("{}- {}", "  ".repeat(indent), naming::shown_role(frame, node))];
    if !name.is_empty() {
        parts.push(json(&name));
    }
    if let Some(named) = named {
        parts.push(format!("[ref={}]", named.id));
        parts.extend(named.place.told().filter(|nth| *nth > 0).map(|nth| format!("[nth={nth}]")));
    }
    parts.extend(states(&node.states).into_iter().map(|state| format!("[{state}]")));
    parts.extend(node.value.as_ref().map(|value| format!("value={}", json(value))));
    let url = node
        .states
        .url
        .as_ref()
        .filter(|_| options.urls && !in_part && node.role.eq_ignore_ascii_case("link"));
    parts.extend(url.map(|url| format!("[url={url}]")));
    parts.extend(outline.frame_word(spot).map(|word| format!("[frame={word}]")));
    if let Some(why) = naming::clickable(frame, node) {
        parts.push(format!("[{}]", why.words().collect::<Vec<_>>().join(", ")));
    }
    let entry = named.map(|named| RefEntry {
        id: named.id,
        role: named.role.clone(),
        name: named.name.clone(),
        nth: named.place.told(),
        backend_node_id: named.backend_node_id,
    });
    let identity = named.map(|it| delta::identity((&*frame.id, &it.role, &it.name, it.place.nth)));
    Line { text: parts.join(" "), entry, identity }
}

/// The states that hold, in their order.
fn states(states: &States) -> Vec<String> {
    let between = |name: &str, state: Option<Tristate>| {
        state.map(|it| if it == Tristate::Mixed { format!("{name}=mixed") } else { name.to_owned() })
    };
    let mut held = Vec::new();
    held.extend(between("checked", states.checked));
    held.extend(states.disabled.then(|| "disabled".to_owned()));
    held.extend(states.expanded.then(|| "expanded".to_owned()));
    held.extend(between("pressed", states.pressed));
    held.extend(states.selected.then(|| "selected".to_owned()));
    held.extend(states.level.map(|level| format!("level={level}")));
    held.extend(states.invalid.as_deref().map(|why| match why {
        "true" => "invalid".to_owned(),
        why => format!("invalid={why}"),
    }));
    held
}

/// A string as JSON.
pub(super) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
#[path = "role_format_tests.rs"]
mod tests;
