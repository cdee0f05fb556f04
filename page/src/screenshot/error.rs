//! Why there is no screenshot.

use std::time::Duration;

use tabvisor_cdp::budget::Spent;
use tabvisor_cdp::error::CdpError;

/// Why there is no screenshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShotError {
    /// The page answers and gives no frame: a dialog or a debugger holds it, or its window is not
    /// drawn.
    #[error("{method}: the page rendered no frame within {} ms", .waited.as_millis())]
    NotRendering {
        /// What was asked.
        method: &'static str,
        /// For how long.
        waited: Duration,
    },
    /// The element is not in its document, or its frame is gone.
    #[error("the element is not in the page any more")]
    Gone,
    /// The element has no box to show, or cannot be scrolled to.
    #[error("the element has no visible box")]
    NoBox,
    /// The process of the element's frame did not answer in time.
    #[error("the frame of the element does not answer")]
    FrameSilent,
    /// A page without any size.
    #[error("the page has no size")]
    Empty,
    /// Chromium gave something that is no image.
    #[error("the image could not be read: {0}")]
    BadImage(String),
    /// The budget ended, or the link or Chromium failed.
    #[error(transparent)]
    Link(#[from] CdpError),
}

impl ShotError {
    /// The reason for callers, where it is one of its own.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::NotRendering { .. } => Some("not_rendering"),
            Self::Gone => Some("node_detached"),
            Self::NoBox => Some("no_box"),
            Self::FrameSilent | Self::Empty | Self::BadImage(_) | Self::Link(_) => None,
        }
    }

    /// What an expired wait for a frame means.
    pub(super) fn no_frame(method: &'static str, spent: Spent, waited: Duration) -> Self {
        match spent {
            Spent::Expired { .. } => Self::NotRendering { method, waited },
            Spent::Cancelled { .. } => CdpError::spent(method, spent).into(),
        }
    }
}
