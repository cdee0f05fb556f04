//! A screenshot.

use super::geometry::Rect;
use super::request::Format;

/// A screenshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    /// The encoded image.
    pub bytes: Vec<u8>,
    /// What it is; not always what was asked for.
    pub format: Format,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Image pixels per CSS pixel of the main frame.
    pub scale: f64,
    /// What it shows, in CSS pixels of the main frame's viewport as it was before the shot.
    pub clip: Rect,
    /// What was asked for is larger than `clip`.
    pub truncated: bool,
}

impl Shot {
    /// Where something in the main viewport is on the image.
    pub fn on_image(&self, rect: Rect) -> Rect {
        rect.shifted(-self.clip.x, -self.clip.y).scaled(self.scale)
    }
}
