//! Where labels go: inside the image, and not over each other where that is possible.

use super::geometry::Rect;

/// A rectangle of whole pixels inside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) left: u32,
    pub(super) top: u32,
    /// One behind the last.
    pub(super) right: u32,
    pub(super) bottom: u32,
}

impl Pixels {
    /// The part of `rect` that is inside an image of that size, unless nothing is.
    pub(super) fn inside(rect: Rect, (width, height): (u32, u32)) -> Option<Self> {
        let part = rect.within(Rect::new(0.0, 0.0, f64::from(width), f64::from(height)))?;
        let (left, top) = (whole(part.x.floor()).min(width - 1), whole(part.y.floor()).min(height - 1));
        let (right, bottom) = (whole(part.right().ceil()), whole(part.bottom().ceil()));
        Some(Self { left, top, right: right.clamp(left + 1, width), bottom: bottom.clamp(top + 1, height) })
    }

    pub(super) fn rect(self) -> Rect {
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        Rect::new(f64::from(self.left), f64::from(self.top), f64::from(width), f64::from(height))
    }

    /// The number of pixels in both.
    fn common(self, other: Self) -> u64 {
        let width = self.right.min(other.right).saturating_sub(self.left.max(other.left));
        let height = self.bottom.min(other.bottom).saturating_sub(self.top.max(other.top));
        u64::from(width) * u64::from(height)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such a cast saturates")]
fn whole(value: f64) -> u32 {
    value as u32
}

/// A place for a label of that size at `element`; the first of the usual ones that covers no other
/// label, or else the one that covers least. One that is larger than the image is cut.
pub(super) fn place(
    (width, height): (u32, u32),
    element: Pixels,
    taken: &[Pixels],
    image: (u32, u32),
) -> Pixels {
    let Pixels { left, top, right, bottom } = element;
    let (above, flush) = (top.saturating_sub(height), right.saturating_sub(width));
    let candidates = [
        (left, above),
        (flush, above),
        (left, bottom),
        (flush, bottom),
        (left.saturating_sub(width), top),
        (right, top),
        (left, top),
        (flush, top),
        (left, bottom.saturating_sub(height)),
        (flush, bottom.saturating_sub(height)),
    ];
    let at = |(x, y): (u32, u32)| {
        let (x, y) = (x.min(image.0.saturating_sub(width)), y.min(image.1.saturating_sub(height)));
        Pixels { left: x, top: y, right: (x + width).min(image.0), bottom: (y + height).min(image.1) }
    };
    let covered = |it: &Pixels| taken.iter().map(|other| it.common(*other)).sum::<u64>();
    let [first, ..] = candidates;
    candidates.into_iter().map(at).min_by_key(covered).unwrap_or_else(|| at(first))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IMAGE: (u32, u32) = (200, 100);

    #[test]
    fn a_label_goes_above_and_then_elsewhere() {
        let element = Pixels { left: 50, top: 40, right: 90, bottom: 60 };
        let first = place((20, 10), element, &[], IMAGE);
        assert_eq!(first, Pixels { left: 50, top: 30, right: 70, bottom: 40 });
        let second = place((20, 10), element, &[first], IMAGE);
        assert_eq!(second, Pixels { left: 70, top: 30, right: 90, bottom: 40 });
    }

    #[test]
    fn many_labels_at_one_place_do_not_overlap_while_there_is_room() {
        let element = Pixels { left: 50, top: 40, right: 90, bottom: 60 };
        let mut taken = Vec::new();
        for _ in 0..8 {
            let next = place((20, 10), element, &taken, IMAGE);
            assert!(taken.iter().all(|it| next.common(*it) == 0), "{next:?} over {taken:?}");
            taken.push(next);
        }
    }

    proptest! {
        #[test]
        fn nothing_leaves_the_image(
            x in prop::num::f64::ANY, y in prop::num::f64::ANY,
            width in prop::num::f64::ANY, height in prop::num::f64::ANY,
            label in (1u32..400, 1u32..400), image in (1u32..300, 1u32..300),
        ) {
            if let Some(element) = Pixels::inside(Rect::new(x, y, width, height), image) {
                for it in [element, place(label, element, &[element], image)] {
                    prop_assert!(it.left < it.right && it.right <= image.0, "{it:?}");
                    prop_assert!(it.top < it.bottom && it.bottom <= image.1, "{it:?}");
                }
            }
        }
    }
}
