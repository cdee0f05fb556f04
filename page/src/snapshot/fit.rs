//! From lines to a snapshot: marks of what is new, whole lines up to the limit, and the counts.

use std::hash::{DefaultHasher, Hasher};

use serde::{Serialize, Serializer};

use super::delta::Identities;
use super::frame::NotRead;
use super::roles::{self, RoleKind};
use crate::refs::RefId;

/// Told when a limit of characters cut lines off.
pub const TOO_LARGE: &str = "[...TRUNCATED - page too large]";
/// Told when nodes are deeper than a snapshot goes.
pub const TOO_DEEP: &str = "[...TRUNCATED - accessibility tree too deep]";

/// Told when the lines before a cut are not as they were given.
pub const CHANGED: &str = "[...CHANGED - the page changed since the lines before these were given]";

/// An element of a snapshot, for the map of refs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefEntry {
    /// Its ref.
    #[serde(skip)]
    pub id: RefId,
    /// Its role in lower case.
    pub role: Box<str>,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: Box<str>,
    /// Its place, if others have the same role and name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// Its DOM node.
    #[serde(rename = "backendDOMNodeId", skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
}

/// Counts of a snapshot's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Lines.
    pub lines: usize,
    /// UTF-16 code units.
    pub chars: usize,
    /// Elements with a ref.
    pub refs: usize,
    /// Those among them with an interactive role.
    pub interactive: usize,
}

/// A snapshot as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The lines.
    pub text: String,
    /// The elements with refs, in the order of their lines.
    pub refs: Vec<RefEntry>,
    /// Counts.
    pub stats: Stats,
    /// Something is missing.
    pub truncated: bool,
    /// How many elements are new since the snapshot that this one was compared with.
    pub new_elements: Option<usize>,
    /// Lines that did not fit.
    pub lines_left_out: usize,
    /// What to compare the next one with.
    pub identities: Identities,
    /// Nodes are deeper than a snapshot goes.
    pub too_deep: bool,
    /// The lines that were given before are not as they were.
    pub changed: bool,
    /// Where lines were cut off, if one can go on there.
    pub cut: Option<Cut>,
}

/// The place where a limit of characters cut a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    /// How many lines were given, with those before them.
    pub lines: usize,
    /// A hash of these lines.
    pub given: u64,
}

/// Serializes the refs of a snapshot as the map that callers know.
///
/// # Errors
/// The serializer's.
pub fn ref_map<S: Serializer>(refs: &[RefEntry], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(refs.iter().map(|entry| (entry.id.to_string(), entry)))
}

/// One line.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) entry: Option<RefEntry>,
    /// What tells its element apart.
    pub(super) identity: Option<u64>,
}

/// Collects lines and forgets what does not fit.
pub(super) struct Sheet<'a> {
    most: usize,
    after: Cut,
    before: Option<&'a Identities>,
    lines: Vec<Kept>,
    chars: usize,
    pushed: usize,
    hasher: DefaultHasher,
    skipped: u64,
    left_out: usize,
    new: usize,
    identities: Identities,
}

struct Kept {
    line: Line,
    chars: usize,
    /// A hash of all lines down to this one.
    given: u64,
}

/// What stands below the lines.
#[derive(Debug, Default)]
pub(super) struct End {
    /// The text if there are no lines.
    pub(super) empty: &'static str,
    pub(super) too_deep: bool,
    pub(super) not_read: NotRead,
    pub(super) footer: Option<String>,
}

impl<'a> Sheet<'a> {
    /// At most `most` UTF-16 code units, zero for any number, of the lines behind a cut; compared
    /// with the snapshot `before`.
    pub(super) fn new(most: usize, after: Option<Cut>, before: Option<&'a Identities>) -> Self {
        let hasher = DefaultHasher::new();
        Self {
            most: if most == 0 { usize::MAX } else { most },
            after: after.unwrap_or(Cut { lines: 0, given: hasher.finish() }),
            before,
            lines: Vec::new(),
            chars: 0,
            pushed: 0,
            skipped: hasher.finish(),
            hasher,
            left_out: 0,
            new: 0,
            identities: Identities::new(),
        }
    }

    pub(super) fn push(&mut self, mut line: Line) {
        self.hasher.write(line.text.as_bytes());
        self.hasher.write_u8(b'\n');
        self.pushed += 1;
        let is_new = line.identity.is_some_and(|it| {
            self.identities.insert(it) && self.before.is_some_and(|before| !before.contains(&it))
        });
        if self.pushed <= self.after.lines {
            self.skipped = self.hasher.finish();
            return;
        }
        if is_new {
            line.text.push_str(" [new]");
            self.new += 1;
        }
        if self.pushed == 1 {
            // The text as a whole is trimmed, so its first line has no indent.
            let indent = line.text.len() - line.text.trim_start().len();
            line.text.drain(..indent);
        }
        let chars = utf16(&line.text) + 1;
        if self.left_out > 0 || self.chars + chars > self.most.saturating_add(1) {
            self.left_out += 1;
            return;
        }
        self.chars += chars;
        self.lines.push(Kept { line, chars, given: self.hasher.finish() });
    }

    pub(super) fn finish(mut self, end: End) -> Rendered {
        let incomplete = incomplete(end.not_read);
        // Lines that are there no more are a change, too.
        let changed = self.skipped != self.after.given || self.pushed < self.after.lines;
        let told =
            incomplete.as_ref().map_or(0, |it| it.len() + 2) + if changed { CHANGED.len() + 2 } else { 0 };
        while self.left_out > 0 || told > 0 {
            let notices = told + if self.left_out > 0 { TOO_LARGE.len() + 2 } else { 0 };
            if self.chars.saturating_sub(1) + notices <= self.most {
                break;
            }
            let Some(Kept { chars, .. }) = self.lines.pop() else { break };
            self.chars -= chars;
            self.left_out += 1;
        }
        let cut = self.lines.last().filter(|_| self.left_out > 0);
        let cut = cut.map(|last| Cut { lines: self.after.lines + self.lines.len(), given: last.given });
        let lines: Vec<&str> = self.lines.iter().map(|kept| &*kept.line.text).collect();
        let mut text = lines.join("\n").trim_end().to_owned();
        if lines.is_empty() && self.left_out == 0 && incomplete.is_none() {
            end.empty.clone_into(&mut text);
        }
        let truncated = self.left_out > 0 || end.too_deep || incomplete.is_some();
        let notices = [
            (self.left_out > 0).then(|| TOO_LARGE.to_owned()),
            end.too_deep.then(|| TOO_DEEP.to_owned()),
            changed.then(|| CHANGED.to_owned()),
            incomplete,
            end.footer,
            (self.new > 0).then(|| {
                let plural = if self.new == 1 { "" } else { "s" };
                format!("{} new element{plural} since last snapshot", self.new)
            }),
        ];
        for notice in notices.into_iter().flatten() {
            append(&mut text, &notice);
        }
        let refs: Vec<RefEntry> = self.lines.into_iter().filter_map(|kept| kept.line.entry).collect();
        let stats = Stats {
            lines: text.lines().count(),
            chars: utf16(&text),
            refs: refs.len(),
            interactive: refs.iter().filter(|it| roles::kind(&it.role) == RoleKind::Interactive).count(),
        };
        Rendered {
            text,
            refs,
            stats,
            truncated,
            new_elements: self.before.map(|_| self.new),
            lines_left_out: self.left_out,
            identities: self.identities,
            too_deep: end.too_deep,
            changed,
            cut,
        }
    }
}

/// Told when a part of the page could not be read.
fn incomplete(not_read: NotRead) -> Option<String> {
    let NotRead { nodes, frames, clickable } = not_read;
    let count = |count: usize, what: &str| {
        (count > 0).then(|| format!("{count} {what}{}", if count == 1 { "" } else { "s" }))
    };
    let parts = [count(nodes, "node"), count(frames, "frame"), count(clickable, "clickable element")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("[...INCOMPLETE - not read: {}]", parts.join(", ")))
}

fn append(text: &mut String, part: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(part);
}

/// The length as JavaScript counts it.
fn utf16(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sheet(lines: &[String], most: usize) -> Rendered {
        from(lines, most, None)
    }

    fn from(lines: &[String], most: usize, after: Option<Cut>) -> Rendered {
        let mut sheet = Sheet::new(most, after, None);
        for text in lines {
            sheet.push(Line { text: text.clone(), ..Line::default() });
        }
        sheet.finish(End { empty: "(empty page)", ..End::default() })
    }

    #[test]
    fn what_was_not_read_is_said_within_the_limit() {
        let mut sheet = Sheet::new(70, None, None);
        for _ in 0..20 {
            sheet.push(Line { text: "- a".into(), ..Line::default() });
        }
        let not_read = NotRead { nodes: 1, frames: 2, clickable: 0 };
        let rendered = sheet.finish(End { not_read, ..End::default() });
        assert_eq!(rendered.text, format!("{TOO_LARGE}\n\n[...INCOMPLETE - not read: 1 node, 2 frames]"));
        assert!(rendered.truncated && rendered.stats.chars > 70, "notices are never cut");
    }

    #[test]
    fn empty_is_said() {
        assert_eq!(sheet(&[], 5).text, "(empty page)");
        assert_eq!(sheet(&["  - a".into(), "  - b".into()], 0).text, "- a\n  - b");
    }

    #[test]
    fn new_elements_are_marked_and_counted_once() {
        let before = Identities::from([1]);
        let mut sheet = Sheet::new(0, None, Some(&before));
        for (text, identity) in [("- a", 1), ("- b", 2), ("- b again", 2)] {
            sheet.push(Line { text: text.into(), identity: Some(identity), ..Line::default() });
        }
        let rendered = sheet.finish(End::default());
        assert_eq!(rendered.text, "- a\n- b [new]\n- b again\n\n1 new element since last snapshot");
        assert_eq!(rendered.new_elements, Some(1));
    }

    #[test]
    fn another_line_before_the_cut_is_said() {
        let lines: Vec<String> = (0..9).map(|at| format!("- line {at}")).collect();
        let cut = from(&lines, 60, None).cut.unwrap();
        let shifted = from(&lines[1..], 0, Some(cut));
        assert!(shifted.changed && shifted.text.ends_with(CHANGED), "{}", shifted.text);
        let gone = from(&lines[..1], 0, Some(cut));
        assert!(gone.changed && gone.text.ends_with(CHANGED));
    }

    proptest! {
        #[test]
        fn only_whole_lines_and_never_more_than_the_limit(
            lines in prop::collection::vec("- [a-z😀]{0,30}x", 0..30), most in 40usize..400,
        ) {
            let rendered = sheet(&lines, most);
            prop_assert!(rendered.stats.chars <= most, "{} of {}", rendered.stats.chars, most);
            let body = rendered.text.strip_suffix(TOO_LARGE).unwrap_or(&rendered.text).trim_end();
            let kept: Vec<&str> = body.lines().filter(|_| !lines.is_empty()).collect();
            prop_assert!(lines.iter().zip(&kept).all(|(line, kept)| line == kept));
            prop_assert_eq!(kept.len() + rendered.lines_left_out, lines.len());
            prop_assert_eq!(rendered.truncated, rendered.lines_left_out > 0);
        }

        #[test]
        fn going_on_at_every_cut_gives_every_line_once(
            lines in prop::collection::vec("- [a-z]{0,30}x", 1..60), most in 80usize..200,
        ) {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let rendered = from(&lines, most, after);
                prop_assert!(!rendered.changed);
                let body = rendered.text.strip_suffix(TOO_LARGE).unwrap_or(&rendered.text).trim_end();
                seen.extend(body.lines().map(str::to_owned));
                let Some(cut) = rendered.cut else { break };
                prop_assert!(after.is_none_or(|before: Cut| cut.lines > before.lines));
                after = Some(cut);
            }
            prop_assert_eq!(seen, lines);
        }
    }
}
