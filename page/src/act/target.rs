//! What an action is aimed at.

use serde::Serialize;

use crate::refs::{DocumentId, FrameId, StaleReason, StaleRef};

use super::error::ActError;

/// An element that an action is aimed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The element of a ref.
    Element(Element),
    /// The only element of the main frame's document that matches.
    Css(String),
}

/// The element of a ref, with what proves that it is the one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The ref as the caller wrote it.
    pub name: String,
    /// Its DOM node.
    pub backend_node_id: i64,
    /// Its frame.
    pub frame: FrameId,
    /// The document of its frame. Another one may use the same node ids for other nodes.
    pub document: DocumentId,
    /// The topmost frame of its process, where that is not the page's own.
    pub process: Option<FrameId>,
}

/// Where an action of the pointer happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// On an element.
    On(Target),
    /// At a point of the viewport, whatever is there.
    At(Point),
}

/// A point in CSS pixels from the left and top of a viewport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, serde::Deserialize)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

impl Point {
    /// Checks what a caller gave.
    ///
    /// # Errors
    /// [`ActError::Invalid`] naming `field`, for what is no place in a viewport.
    pub fn checked(field: &'static str, x: f64, y: f64) -> Result<Self, ActError> {
        for (axis, at) in [("x", x), ("y", y)] {
            if !(at.is_finite() && (0.0..=1e6).contains(&at)) {
                let why = format!("{axis} must be a number of CSS pixels, 0 or more, got {at}");
                return Err(ActError::Invalid { field, why });
            }
        }
        Ok(Self { x, y })
    }
}

/// Longest text of a caller that is given back.
const SHOWN: usize = 80;

impl Target {
    /// As the caller wrote it, shortened if it is long.
    pub fn name(&self) -> String {
        let (Self::Element(Element { name, .. }) | Self::Css(name)) = self;
        name.chars().take(SHOWN).collect()
    }
}

impl Place {
    /// As the caller wrote it, shortened if it is long.
    pub fn name(&self) -> String {
        match self {
            Self::On(target) => target.name(),
            Self::At(Point { x, y }) => format!("({x}, {y})"),
        }
    }

    /// It names nothing any more, for this reason.
    pub(super) fn gone(&self, reason: StaleReason) -> ActError {
        match self {
            Self::On(Target::Element(element)) => ActError::Stale(StaleRef::new(&element.name, reason)),
            // What was matched is gone, and the selector may well match in the new document.
            Self::On(Target::Css(_)) | Self::At(_) => ActError::Navigated { sent: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_outside_of_every_viewport_is_refused_by_name() {
        assert!(Point::checked("x, y", 0.0, 12.5).is_ok());
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            let error = Point::checked("x, y", 1.0, bad).unwrap_err();
            assert!(error.to_string().contains("y must be"), "{error}");
        }
    }
}
