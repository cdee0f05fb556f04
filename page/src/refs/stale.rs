//! A ref that names nothing any more, and why.

use serde::Serialize;

/// Why a ref names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StaleReason {
    /// The document is the same, but the element left it.
    NodeDetached,
    /// The tab shows another document.
    DocumentChanged,
    /// The child frame is gone or shows another document.
    FrameChanged,
    /// No snapshot of this tab gave it, or so long ago that it is forgotten.
    Unknown,
}

impl StaleReason {
    fn words(self) -> &'static str {
        match self {
            Self::NodeDetached => "its element left the page",
            Self::DocumentChanged => "the tab shows another document",
            Self::FrameChanged => "its frame is gone or shows another document",
            Self::Unknown => "no snapshot gave it",
        }
    }
}

/// A ref that names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleRef {
    /// As the caller wrote it, shortened if it is long.
    pub text: String,
    /// Why.
    pub reason: StaleReason,
}

impl StaleRef {
    /// Longest text that is given back.
    const SHOWN: usize = 80;

    /// `text` names nothing.
    pub fn new(text: &str, reason: StaleReason) -> Self {
        Self { text: text.chars().take(Self::SHOWN).collect(), reason }
    }
}

impl std::error::Error for StaleRef {}

impl std::fmt::Display for StaleRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Clients look for the words around the reason.
        match self.reason {
            StaleReason::Unknown => write!(f, "Unknown ref {:?}.", self.text)?,
            reason => write!(f, "Stale ref {:?}: {}.", self.text, reason.words())?,
        }
        f.write_str(" Run a new snapshot and use a ref from that snapshot.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_to_do() {
        let unknown = StaleRef::new("e999", StaleReason::Unknown).to_string();
        assert_eq!(unknown, "Unknown ref \"e999\". Run a new snapshot and use a ref from that snapshot.");
        let stale = StaleRef::new("e1", StaleReason::DocumentChanged).to_string();
        assert!(stale.starts_with("Stale ref \"e1\": the tab shows another document. Run a new"), "{stale}");
        assert!(StaleRef::new(&"x".repeat(9999), StaleReason::Unknown).text.len() <= StaleRef::SHOWN);
    }
}
