//! From lines to a snapshot: marks of what is new, whole lines up to the limit, and the counts.

use serde::{Serialize, Serializer};

use super::delta::Identities;
use super::roles::{self, RoleKind};
use crate::refs::RefId;

/// Told when a limit of characters cut lines off.
pub const TOO_LARGE: &str = "[...TRUNCATED - page too large]";
/// Told when nodes are deeper than a snapshot goes.
pub const TOO_DEEP: &str = "[...TRUNCATED - accessibility tree too deep]";

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
    before: Option<&'a Identities>,
    lines: Vec<(Line, usize)>,
    chars: usize,
    left_out: usize,
    new: usize,
    identities: Identities,
}

impl<'a> Sheet<'a> {
    /// At most `most` UTF-16 code units, zero for any number; compared with the snapshot `before`.
    pub(super) fn new(most: usize, before: Option<&'a Identities>) -> Self {
        let most = if most == 0 { usize::MAX } else { most };
        Self { most, before, lines: Vec::new(), chars: 0, left_out: 0, new: 0, identities: Identities::new() }
    }

    pub(super) fn push(&mut self, mut line: Line) {
        if let Some(identity) = line.identity {
            let is_new = self.identities.insert(identity);
            if is_new && self.before.is_some_and(|before| !before.contains(&identity)) {
                line.text.push_str(" [new]");
                self.new += 1;
            }
        }
        if self.lines.is_empty() {
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
        self.lines.push((line, chars));
    }

    /// The snapshot; `empty` is its text if there are no lines.
    pub(super) fn finish(mut self, empty: &str, too_deep: bool, footer: Option<String>) -> Rendered {
        if self.left_out > 0 {
            let notice = TOO_LARGE.len() + 2;
            while self.chars.saturating_sub(1) + notice > self.most {
                let Some((_, chars)) = self.lines.pop() else { break };
                self.chars -= chars;
                self.left_out += 1;
            }
        }
        let lines: Vec<&str> = self.lines.iter().map(|(line, _)| &*line.text).collect();
        let mut text = lines.join("\n").trim_end().to_owned();
        if lines.is_empty() && self.left_out == 0 {
            empty.clone_into(&mut text);
        }
        let notices = [(self.left_out > 0, TOO_LARGE), (too_deep, TOO_DEEP)];
        for (_, notice) in notices.iter().filter(|(holds, _)| *holds) {
            append(&mut text, notice);
        }
        if let Some(footer) = footer {
            append(&mut text, &footer);
        }
        if self.new > 0 {
            let plural = if self.new == 1 { "" } else { "s" };
            append(&mut text, &format!("{} new element{plural} since last snapshot", self.new));
        }
        let refs: Vec<RefEntry> = self.lines.into_iter().filter_map(|(line, _)| line.entry).collect();
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
            truncated: self.left_out > 0 || too_deep,
            new_elements: self.before.map(|_| self.new),
            lines_left_out: self.left_out,
            identities: self.identities,
        }
    }
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
        let mut sheet = Sheet::new(most, None);
        for text in lines {
            sheet.push(Line { text: text.clone(), ..Line::default() });
        }
        sheet.finish("(empty page)", false, None)
    }

    #[test]
    fn empty_is_said() {
        assert_eq!(sheet(&[], 5).text, "(empty page)");
        assert_eq!(sheet(&["  - a".into(), "  - b".into()], 0).text, "- a\n  - b");
    }

    #[test]
    fn new_elements_are_marked_and_counted_once() {
        let before = Identities::from([1]);
        let mut sheet = Sheet::new(0, Some(&before));
        for (text, identity) in [("- a", 1), ("- b", 2), ("- b again", 2)] {
            sheet.push(Line { text: text.into(), identity: Some(identity), ..Line::default() });
        }
        let rendered = sheet.finish("", false, None);
        assert_eq!(rendered.text, "- a\n- b [new]\n- b again\n\n1 new element since last snapshot");
        assert_eq!(rendered.new_elements, Some(1));
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
    }
}
