//! The viewport of a page, and which part of its document an image is to show, and how large.

use serde::Deserialize;
use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::geometry::Rect;
use super::limits::{MOST_CSS, MOST_PIXELS};

const METRICS: &str = "Page.getLayoutMetrics";
const RATIO: &str = "Runtime.evaluate";

/// What a page looks like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metrics {
    layout: Layout,
    /// Device pixels per CSS pixel, as the page says. Chromium's metrics do not tell it where it is
    /// emulated; what a page makes up here is corrected by the size of the image.
    ratio: f64,
}

/// The reply of `Page.getLayoutMetrics`, as far as it matters.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Layout {
    #[serde(rename = "cssLayoutViewport")]
    view: LayoutViewport,
    #[serde(rename = "cssVisualViewport")]
    seen: VisualViewport,
    #[serde(rename = "cssContentSize")]
    content: Content,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutViewport {
    page_x: f64,
    page_y: f64,
    client_width: f64,
    client_height: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct VisualViewport {
    offset_x: f64,
    offset_y: f64,
    client_width: f64,
    client_height: f64,
    scale: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Content {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// What an image is to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Aim {
    /// The part of the main frame, in CSS pixels of its viewport; none for what is in view.
    pub(super) part: Option<Part>,
    /// Image pixels per CSS pixel.
    pub(super) scale: f64,
    /// The upper left corner of what is shown, in the viewport.
    pub(super) corner: (f64, f64),
    /// Its width in CSS pixels; scroll bars may add to it.
    pub(super) width: f64,
    /// Not all that was asked for is shown.
    pub(super) truncated: bool,
}

/// A part of the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// In coordinates of the document.
    pub(super) rect: Rect,
    /// Chromium's own scale, before the device's.
    pub(super) scale: f64,
    /// It is not all in view. Only then is the page made larger for the shot, which it can notice.
    pub(super) beyond: bool,
}

impl Metrics {
    /// Asks the page.
    pub(super) async fn read(session: &Session, budget: &Budget) -> Result<Self, CdpError> {
        #[derive(Deserialize)]
        struct Said {
            result: Object,
        }
        #[derive(Deserialize)]
        struct Object {
            value: Option<Value>,
        }
        let ratio = json!({ "expression": "devicePixelRatio", "returnByValue": true });
        let ratio = async { budget.run(session.send(RATIO, ratio)).await };
        let (layout, ratio) = tokio::join!(session.call_as::<Layout>(METRICS, json!({}), budget), ratio);
        let layout = layout?;
        let ratio = ratio.map_err(|spent| CdpError::spent(RATIO, spent))??;
        let ratio = budget.run(ratio).await.map_err(|spent| CdpError::spent(RATIO, spent))?;
        let ratio = match ratio {
            Ok(said) => {
                serde_json::from_str::<Said>(said.get()).ok().and_then(|it| it.result.value?.as_f64())
            }
            Err(CdpError::Protocol { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { layout, ratio: ratio.filter(|it| *it > 0.0).unwrap_or(1.0).clamp(0.1, 10.0) })
    }

    /// What is in view, in the coordinates of boxes.
    pub(super) fn view(&self) -> Rect {
        let it = self.layout.view;
        Rect::new(0.0, 0.0, it.client_width, it.client_height)
    }

    /// The view; as it is, if that is small enough.
    pub(super) fn aim_at_view(&self) -> Aim {
        let it = self.layout.seen;
        let seen = Rect::new(it.offset_x, it.offset_y, it.client_width, it.client_height);
        let pixels = it.client_width.max(it.client_height) * it.scale * self.ratio;
        if pixels > f64::from(MOST_PIXELS) {
            return self.aim_at(seen);
        }
        let scale = self.ratio * it.scale;
        Aim { part: None, scale, corner: (seen.x, seen.y), width: seen.width, truncated: false }
    }

    /// The whole document.
    pub(super) fn aim_at_all(&self) -> Aim {
        let Content { x, y, width, height } = self.layout.content;
        let view = self.layout.view;
        // A short document is shown with the empty rest of the view.
        let (width, height) = (width.max(view.client_width), height.max(view.client_height));
        self.aim_at(Rect::new(x - view.page_x, y - view.page_y, width, height))
    }

    /// A part of the viewport, or of what is around it.
    pub(super) fn aim_at(&self, rect: Rect) -> Aim {
        let (x, y) = (rect.x.floor(), rect.y.floor());
        let (width, height) = (rect.right().ceil() - x, rect.bottom().ceil() - y);
        let truncated = width > MOST_CSS || height > MOST_CSS;
        let (width, height) = (width.clamp(1.0, MOST_CSS), height.clamp(1.0, MOST_CSS));
        let device = self.ratio;
        let scale = (f64::from(MOST_PIXELS) / (width.max(height) * device)).min(1.0);
        // Chromium never answers for an image without pixels.
        let least = 1.0 / (scale * device);
        let rect = Rect::new(x, y, width.max(least), height.max(least));
        let view = self.layout.view;
        let part = Part {
            rect: rect.shifted(view.page_x, view.page_y),
            scale,
            beyond: rect.within(self.view()) != Some(rect),
        };
        Aim { part: Some(part), scale: scale * device, corner: (x, y), width: rect.width, truncated }
    }
}

impl Aim {
    /// Image pixels per CSS pixel of an image that came `width` pixels wide.
    pub(super) fn scale_of(&self, width: u32) -> f64 {
        /// More than any scroll bar.
        const BARS: f64 = 40.0;
        let (css, rounding) = (f64::from(width) / self.scale, 1.0 + 1.0 / self.scale);
        let likely = (self.width - rounding..self.width + BARS + rounding).contains(&css);
        if likely { self.scale } else { f64::from(width) / self.width }
    }
}

impl Part {
    /// The clip of `Page.captureScreenshot`.
    pub(super) fn clip(&self) -> Value {
        let Rect { x, y, width, height } = self.rect;
        json!({ "x": x, "y": y, "width": width, "height": height, "scale": self.scale })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn metrics(width: f64, height: f64, device: f64) -> Metrics {
        let layout = Layout {
            view: LayoutViewport { page_x: 0.0, page_y: 100.0, client_width: 800.0, client_height: 600.0 },
            seen: VisualViewport {
                offset_x: 0.0,
                offset_y: 0.0,
                client_width: 800.0,
                client_height: 600.0,
                scale: 1.0,
            },
            content: Content { x: 0.0, y: 0.0, width, height },
        };
        Metrics { layout, ratio: device }
    }

    #[test]
    fn a_view_is_taken_as_it_is_unless_it_is_large() {
        let aim = metrics(800.0, 4000.0, 2.0).aim_at_view();
        assert_eq!((aim.part, aim.scale), (None, 2.0));
        let aim = metrics(800.0, 4000.0, 4.0).aim_at_view();
        let part = aim.part.unwrap();
        assert_eq!((aim.scale, part.scale, part.beyond), (2.5, 0.625, false));
        assert_eq!(part.rect, Rect::new(0.0, 100.0, 800.0, 600.0));
    }

    #[test]
    fn a_huge_document_is_cut_and_a_short_one_fills_the_view() {
        let aim = metrics(1e9, 50.0, 1.0).aim_at_all();
        assert!(aim.truncated && aim.part.unwrap().rect.width <= MOST_CSS);
        let aim = metrics(800.0, 50.0, 1.0).aim_at_all();
        assert_eq!(aim.part.unwrap().rect, Rect::new(0.0, 0.0, 800.0, 600.0));
        assert_eq!(aim.corner, (0.0, -100.0));
    }

    #[test]
    fn a_ratio_that_is_made_up_is_not_believed() {
        let aim = metrics(800.0, 600.0, 2.0).aim_at_view();
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(near(aim.scale_of(1_630), 2.0), "a scroll bar");
        assert!(near(aim.scale_of(800), 1.0));
    }

    proptest! {
        #[test]
        fn an_image_has_pixels_and_not_too_many(
            x in -1e7f64..1e7, y in -1e7f64..1e7, width in 0f64..1e8, height in 0f64..1e8, device in 0.25f64..8.0,
        ) {
            let aim = metrics(800.0, 600.0, device).aim_at(Rect::new(x, y, width, height));
            let size = aim.part.unwrap().rect.scaled(aim.scale);
            for side in [size.width, size.height] {
                prop_assert!((0.999..f64::from(MOST_PIXELS) + 0.001).contains(&side), "{side}");
            }
        }
    }
}
