//! What a caller asks for, and which of the three formats answers it.

use super::aria_format::{DEFAULT_NODES, MOST_NODES};
use super::error::SnapshotError;
use super::text_options::TextOptions;

/// The shape of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text: an AI snapshot, or a role snapshot where an option asks for what only that has.
    #[default]
    Ai,
    /// Text: a role snapshot, whatever the options.
    Role,
    /// A list of nodes.
    Aria,
}

/// What renders a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Producer {
    /// [`render_role`](super::render_role).
    Role,
    /// [`render_ai`](super::render_ai).
    Ai,
    /// [`list_aria`](super::list_aria).
    List,
}

/// What a caller asks for. The default asks for the whole page as an AI snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "the options of the contract, each by itself")]
pub struct Request {
    /// The shape of the answer.
    pub format: Format,
    /// `refs=aria`: an AI snapshot even with options.
    pub aria_refs: bool,
    /// `mode=efficient`: interactive, compact, depth 6, 8000 characters, unless said otherwise.
    pub efficient: bool,
    /// Only what can be acted on, and frames.
    pub interactive: Option<bool>,
    /// Without structure that has neither name nor ref.
    pub compact: Option<bool>,
    /// Only nodes at most so deep.
    pub depth: Option<u32>,
    /// Only what is in the first element that this CSS selector matches.
    pub selector: Option<String>,
    /// Only what is in this frame: a CSS selector of its element, or the element's ref.
    pub frame: Option<String>,
    /// The caller draws labels onto a picture.
    pub labels: bool,
    /// With the addresses of links.
    pub urls: bool,
    /// At most so many nodes of a list.
    pub limit: Option<usize>,
    /// At most so many UTF-16 code units of text; zero for any number.
    pub max_chars: Option<usize>,
    /// Go on where the snapshot was cut that gave this as its `next`.
    pub after: Option<String>,
}

/// Characters of text, unless a request says otherwise.
const MAX_CHARS: usize = 40_000;

impl Request {
    /// Which format answers it.
    pub fn producer(&self) -> Producer {
        match self.format {
            Format::Aria => Producer::List,
            Format::Role => Producer::Role,
            Format::Ai if !self.aria_refs && self.has_role_option() => Producer::Role,
            Format::Ai => Producer::Ai,
        }
    }

    /// An option that only role snapshots know.
    fn has_role_option(&self) -> bool {
        self.labels
            || self.urls
            || self.efficient
            || self.interactive == Some(true)
            || self.compact == Some(true)
            || self.depth.is_some()
            || self.is_scoped()
    }

    /// It asks for a part of the page.
    pub fn is_scoped(&self) -> bool {
        self.selector.is_some() || self.frame.is_some()
    }

    /// Refuses what contradicts itself.
    ///
    /// # Errors
    /// Those of [`SnapshotError`] that are about the request.
    pub fn check(&self) -> Result<(), SnapshotError> {
        match self.producer() {
            Producer::List if self.labels || self.efficient => Err(SnapshotError::TextOnly),
            Producer::Ai if self.is_scoped() => Err(SnapshotError::AriaRefsInPart),
            _ => Ok(()),
        }
    }

    pub(super) fn text_options(&self) -> TextOptions {
        let efficient = self.efficient.then(TextOptions::efficient).unwrap_or_default();
        TextOptions {
            interactive: self.interactive.unwrap_or(efficient.interactive),
            compact: self.compact.unwrap_or(efficient.compact),
            depth: self.depth.or(efficient.depth),
            urls: self.urls,
            max_chars: self.max_chars.unwrap_or(if self.efficient { efficient.max_chars } else { MAX_CHARS }),
            after: None,
        }
    }

    pub(super) fn most_nodes(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_NODES).clamp(1, MOST_NODES)
    }

    /// What the content of the answer depends on: everything but where it begins and ends.
    pub(super) fn content(&self) -> String {
        let options = TextOptions { max_chars: 0, ..self.text_options() };
        format!("{:?} {options:?} {:?} {:?}", self.producer(), self.frame, self.selector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ai() -> Request {
        Request::default()
    }

    #[test]
    fn every_role_option_asks_for_a_role_snapshot() {
        assert_eq!(ai().producer(), Producer::Ai);
        let asking = [
            Request { labels: true, ..ai() },
            Request { urls: true, ..ai() },
            Request { efficient: true, ..ai() },
            Request { interactive: Some(true), ..ai() },
            Request { compact: Some(true), ..ai() },
            Request { depth: Some(0), ..ai() },
            Request { selector: Some("a".into()), ..ai() },
            Request { frame: Some("a".into()), ..ai() },
            Request { format: Format::Role, ..ai() },
        ];
        for request in asking {
            assert_eq!(request.producer(), Producer::Role, "{request:?}");
            assert_eq!(request.check(), Ok(()));
            let aria = Request { format: Format::Aria, ..request.clone() };
            assert_eq!(aria.producer(), Producer::List, "{request:?}");
            let native = Request { aria_refs: true, format: Format::Ai, ..request };
            assert_eq!(native.producer(), Producer::Ai);
        }
        for silent in [
            Request { interactive: Some(false), compact: Some(false), ..ai() },
            Request { max_chars: Some(9), limit: Some(9), after: Some("x".into()), ..ai() },
        ] {
            assert_eq!(silent.producer(), Producer::Ai);
        }
    }

    #[test]
    fn efficient_is_a_set_of_defaults() {
        let efficient = Request { efficient: true, ..ai() };
        assert_eq!(efficient.text_options(), TextOptions::efficient());
        let own = Request { interactive: Some(false), depth: Some(9), max_chars: Some(0), ..efficient };
        let wanted = TextOptions { compact: true, depth: Some(9), max_chars: 0, ..TextOptions::default() };
        assert_eq!(own.text_options(), wanted);
        assert_eq!(ai().text_options(), TextOptions::default());
        let limits = [None, Some(0), Some(7), Some(9_999)];
        assert_eq!(limits.map(|limit| Request { limit, ..ai() }.most_nodes()), [500, 1, 7, 2_000]);
    }

    #[test]
    fn contradictions_are_refused() {
        let scoped = Request { aria_refs: true, frame: Some("#f".into()), ..ai() };
        assert_eq!(
            scoped.check().unwrap_err().to_string(),
            "refs=aria does not support selector/frame snapshots yet."
        );
        for list in [Request { labels: true, ..ai() }, Request { efficient: true, ..ai() }] {
            assert_eq!(Request { format: Format::Aria, ..list }.check(), Err(SnapshotError::TextOnly));
        }
        let list = Request { format: Format::Aria, selector: Some("a".into()), ..ai() };
        assert_eq!(list.check(), Ok(()));
    }
}
