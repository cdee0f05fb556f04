//! Why there is no snapshot.

use tabvisor_cdp::error::CdpError;

use crate::refs::StaleRef;

/// Why there is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The page went to another document, twice.
    #[error("Frame changed while its browser snapshot was being captured; retry.")]
    DocumentChanged,
    /// The budget ended, or the link or Chromium failed.
    #[error(transparent)]
    Link(#[from] CdpError),
    /// A part of the page, with refs that only the whole page has.
    #[error("refs=aria does not support selector/frame snapshots yet.")]
    AriaRefsInPart,
    /// An option of text, with a list of nodes.
    #[error("labels/mode=efficient require format=ai")]
    TextOnly,
    /// This is no CSS selector.
    #[error("{field}: {text:?} is not a valid CSS selector")]
    BadSelector {
        /// Which field of the request it is.
        field: &'static str,
        /// The selector, shortened if it is long.
        text: String,
    },
    /// Nothing matches the selector of the frame.
    #[error("frame: no element of the page matches {0:?}")]
    NoFrame(String),
    /// An element was named that holds no frame.
    #[error("frame: the element {0:?} holds no frame")]
    NotAFrame(String),
    /// The ref of the frame names nothing any more.
    #[error("frame: {0}")]
    StaleFrame(StaleRef),
    /// No snapshot gave this as its `next`.
    #[error("after: not a `next` that a snapshot gave")]
    BadAfter,
    /// The snapshot that was cut had other options.
    #[error("after: given by a snapshot with other options; repeat them, or leave out `after`")]
    OtherOptions,
    /// The snapshot that was cut was of a document that is gone.
    #[error("after: the document changed since; take a new snapshot without `after`")]
    OtherDocument,
}

impl SnapshotError {
    /// Longest text of a request that is given back, in characters.
    const SHOWN: usize = 80;

    pub(super) fn shown(text: &str) -> String {
        text.chars().take(Self::SHOWN).collect()
    }

    /// The field of the request that is to blame, if one is.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::DocumentChanged | Self::Link(_) => None,
            Self::AriaRefsInPart => Some("refs"),
            Self::TextOnly => Some("format"),
            Self::BadSelector { field, .. } => Some(field),
            Self::NoFrame(_) | Self::NotAFrame(_) | Self::StaleFrame(_) => Some("frame"),
            Self::BadAfter | Self::OtherOptions | Self::OtherDocument => Some("after"),
        }
    }
}
