//! What a caller asks for.

use tabvisor_cdp::link::Session;

use super::boxes::Spot;
use crate::refs::FrameId;

/// The sessions of one page.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// On the page itself.
    pub session: &'a Session,
    /// On its frames that live in processes of their own, with the ids of these frames.
    pub children: &'a [(FrameId, Session)],
}

/// What an image shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// What a user would see now.
    #[default]
    View,
    /// The whole document of the main frame.
    FullPage,
    /// One element, scrolled into view if need be.
    Element(Spot),
}

/// How an image is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Without loss, unless it would be too large: then it is JPEG.
    #[default]
    Png,
    /// With this quality, from 1 to 100.
    Jpeg(u8),
}

impl Format {
    /// The word for it in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg(_) => "jpeg",
        }
    }
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What is shown.
    pub what: What,
    /// How it is encoded.
    pub format: Format,
    /// No side has more pixels. What has more is made smaller after the shot, of which the page notices nothing.
    pub within: Option<u32>,
}
