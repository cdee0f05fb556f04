//! How large a screenshot can be.

/// Most pixels of an image per side.
pub const MOST_PIXELS: u32 = 2_000;
/// Most bytes of an image.
pub const MOST_BYTES: usize = 5 << 20;
/// Most CSS pixels per side of what is shown of a page; the rest is cut off. Chromium draws more
/// only in repetitions or not at all.
pub const MOST_CSS: f64 = 16_384.0;
/// Most labels that are drawn.
pub const MOST_LABELS: usize = 150;
