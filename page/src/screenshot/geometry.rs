//! Rectangles, and the coordinates of one frame in those of another.

use serde::Serialize;

/// A rectangle; in CSS pixels or in image pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rect {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// Its width, never negative.
    pub width: f64,
    /// Its height, never negative.
    pub height: f64,
}

impl Rect {
    /// A rectangle by its upper left corner and its size.
    pub const fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }

    /// Its right edge.
    pub fn right(self) -> f64 {
        self.x + self.width
    }

    /// Its lower edge.
    pub fn bottom(self) -> f64 {
        self.y + self.height
    }

    /// Whether there is nothing in it.
    pub fn is_empty(self) -> bool {
        // Also with what is no number.
        !(self.right() > self.x && self.bottom() > self.y)
    }

    /// What is in both, unless nothing is.
    #[must_use]
    pub fn within(self, other: Self) -> Option<Self> {
        if self.is_empty() || other.is_empty() {
            return None;
        }
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let width = self.right().min(other.right()) - x;
        let height = self.bottom().min(other.bottom()) - y;
        Some(Self { x, y, width, height }).filter(|it| !it.is_empty())
    }

    /// Whether it covers all of `whole`, of which it is a part, but for what rounding takes away.
    pub(super) fn is_all_of(self, whole: Self) -> bool {
        whole.width - self.width < 0.01 && whole.height - self.height < 0.01
    }

    /// The same at another place.
    #[must_use]
    pub fn shifted(self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }

    /// All of it times `by`.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Self { x: self.x * by, y: self.y * by, width: self.width * by, height: self.height * by }
    }

    /// The smallest rectangle around these points.
    pub(super) fn around(points: [(f64, f64); 4]) -> Self {
        let least = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).fold(f64::INFINITY, f64::min);
        let most = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
        let (x, y) = (least(|it| it.0), least(|it| it.1));
        Self { x, y, width: most(|it| it.0) - x, height: most(|it| it.1) - y }
    }
}

/// Where the viewport of a frame lies in that of another, turned and stretched as styles will.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Map {
    origin: (f64, f64),
    /// Where one pixel to the right goes, and one down.
    right: (f64, f64),
    down: (f64, f64),
}

impl Map {
    pub(super) const SAME: Self = Self { origin: (0.0, 0.0), right: (1.0, 0.0), down: (0.0, 1.0) };

    /// From the corners of a frame element's content, those of its border and its size untransformed.
    pub(super) fn of_frame(content: [f64; 8], border: [f64; 8], width: f64, height: f64) -> Self {
        let step = |to: usize, length: f64| {
            let length = length.max(1.0);
            ((border[to] - border[0]) / length, (border[to + 1] - border[1]) / length)
        };
        Self { origin: (content[0], content[1]), right: step(2, width), down: step(6, height) }
    }

    fn point(&self, x: f64, y: f64) -> (f64, f64) {
        let along = |origin: f64, right: f64, down: f64| origin + x * right + y * down;
        (along(self.origin.0, self.right.0, self.down.0), along(self.origin.1, self.right.1, self.down.1))
    }

    /// The smallest upright rectangle around what `rect` becomes.
    pub(super) fn rect(&self, rect: Rect) -> Rect {
        let Rect { x, y, .. } = rect;
        let (right, bottom) = (rect.right(), rect.bottom());
        Rect::around([(x, y), (right, y), (right, bottom), (x, bottom)].map(|(x, y)| self.point(x, y)))
    }

    /// This map and then `outer`.
    pub(super) fn then(&self, outer: &Self) -> Self {
        let (origin, zero) = (outer.point(self.origin.0, self.origin.1), outer.origin);
        let direction = |it: (f64, f64)| {
            let (x, y) = outer.point(it.0, it.1);
            (x - zero.0, y - zero.1)
        };
        Self { origin, right: direction(self.right), down: direction(self.down) }
    }
}

/// The smallest upright rectangle around a quad of CDP.
pub(super) fn around_quad(quad: [f64; 8]) -> Rect {
    Rect::around([0, 2, 4, 6].map(|at| (quad[at], quad[at + 1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_in_a_scaled_frame_is_moved_once() {
        let content = [112.0, 212.0, 412.0, 212.0, 412.0, 462.0, 112.0, 462.0];
        let border = [100.0, 200.0, 424.0, 200.0, 424.0, 474.0, 100.0, 474.0];
        let inner = Map::of_frame(content, border, 324.0, 274.0);
        assert_eq!(inner.rect(Rect::new(33.0, 144.0, 120.0, 40.0)), Rect::new(145.0, 356.0, 120.0, 40.0));
        let half = Map { origin: (10.0, 20.0), right: (0.5, 0.0), down: (0.0, 0.5) };
        let both = inner.then(&half);
        assert_eq!(both.rect(Rect::new(33.0, 144.0, 120.0, 40.0)), Rect::new(82.5, 198.0, 60.0, 20.0));
        assert_eq!(around_quad(content), Rect::new(112.0, 212.0, 300.0, 250.0));
    }

    #[test]
    fn what_does_not_meet_has_nothing_in_common() {
        let one = Rect::new(0.0, 0.0, 10.0, 10.0);
        assert_eq!(one.within(Rect::new(5.0, 5.0, 10.0, 10.0)), Some(Rect::new(5.0, 5.0, 5.0, 5.0)));
        assert_eq!(one.within(Rect::new(10.0, 0.0, 10.0, 10.0)), None);
        assert_eq!(one.within(Rect::new(f64::NAN, 0.0, f64::NAN, 10.0)), None);
    }
}
