//! What a snapshot as text shows, in either of the two formats.

use super::fit::Cut;

/// What a snapshot as text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextOptions {
    /// Only what can be acted on, and frames.
    pub interactive: bool,
    /// Without structure that has neither name nor ref.
    pub compact: bool,
    /// Only nodes at most so deep.
    pub depth: Option<u32>,
    /// With the addresses of links, on their lines or in a list at the end.
    pub urls: bool,
    /// At most so many UTF-16 code units; zero for any number.
    pub max_chars: usize,
    /// Only the lines behind this cut.
    pub after: Option<Cut>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { interactive: false, compact: false, depth: None, urls: false, max_chars: 40_000, after: None }
    }
}

impl TextOptions {
    /// What is enough to act on a page, in few words.
    pub fn efficient() -> Self {
        Self { interactive: true, compact: true, depth: Some(6), max_chars: 8_000, ..Self::default() }
    }
}
