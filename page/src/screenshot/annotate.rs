//! Drawing rectangles and labels on an image.

use image::{Rgb, RgbImage};
use serde::Serialize;

use super::geometry::Rect;
use super::glyphs;
use super::limits::MOST_LABELS;
use super::placing::{Pixels, place};

/// An element to be marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its ref, which is drawn.
    pub r#ref: Box<str>,
    /// Its role.
    pub role: Box<str>,
    /// Its name; may be empty.
    pub name: Box<str>,
    /// Its box, in pixels of the image.
    pub rect: Rect,
}

/// An element that was marked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Annotation {
    /// Its ref, as it is drawn.
    pub r#ref: Box<str>,
    /// Its place among those that are marked, from 1.
    pub number: usize,
    /// Its role.
    pub role: Box<str>,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: Box<str>,
    /// The part of its box that is on the image, in pixels.
    pub r#box: Rect,
}

/// What was drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotated {
    /// Those that were marked.
    pub annotations: Vec<Annotation>,
    /// How many were not: outside the image, or over the limit.
    pub skipped: usize,
}

/// Strong enough for white letters, far enough apart to tell neighbours by.
const COLOURS: [Rgb<u8>; 6] = [
    Rgb([200, 0, 60]),
    Rgb([0, 80, 200]),
    Rgb([0, 110, 40]),
    Rgb([130, 0, 170]),
    Rgb([150, 80, 0]),
    Rgb([0, 105, 120]),
];
const WHITE: Rgb<u8> = Rgb([255, 255, 255]);
/// Images with a shorter side than this get letters of single pixels.
const SMALL: u32 = 240;
/// Around the letters of a label, before they are enlarged: colour, and then a white edge.
const PADDING: u32 = 2;

/// Marks elements, in their order. A mark is a rectangle of two pixels with a white one around it,
/// so it is seen on any ground, and a label.
pub fn annotate(image: &mut RgbImage, marks: &[Mark]) -> Annotated {
    let size = image.dimensions();
    let scale = if size.0.min(size.1) < SMALL { 1 } else { 2 };
    let inside = marks.iter().filter_map(|mark| Some((mark, Pixels::inside(mark.rect, size)?)));
    let shown: Vec<_> = inside.take(MOST_LABELS).collect();
    // All rectangles first: none may cross a label.
    for ((_, pixels), colour) in shown.iter().zip(COLOURS.iter().cycle()) {
        outline(image, *pixels, *colour);
    }
    let mut taken = Vec::with_capacity(shown.len());
    for ((mark, pixels), colour) in shown.iter().zip(COLOURS.iter().cycle()) {
        let letters = (glyphs::width(&mark.r#ref), glyphs::SIZE.1);
        let label = (letters.0 + 2 * PADDING, letters.1 + 2 * PADDING);
        let at = place((label.0 * scale, label.1 * scale), *pixels, &taken, size);
        write(image, at, &mark.r#ref, *colour, scale);
        taken.push(at);
    }
    let annotation = |(at, (mark, pixels)): (usize, &(&Mark, Pixels))| Annotation {
        r#ref: mark.r#ref.clone(),
        number: at + 1,
        role: mark.role.clone(),
        name: mark.name.clone(),
        r#box: pixels.rect(),
    };
    let annotations: Vec<_> = shown.iter().enumerate().map(annotation).collect();
    Annotated { skipped: marks.len() - annotations.len(), annotations }
}

fn outline(image: &mut RgbImage, at: Pixels, colour: Rgb<u8>) {
    let Pixels { left, top, right, bottom } = at;
    // The white pixel is outside, the colour inside, so the outermost coloured pixels are the box.
    let around = Pixels {
        left: left.saturating_sub(1),
        top: top.saturating_sub(1),
        right: right + 1,
        bottom: bottom + 1,
    };
    frame(image, around, WHITE);
    frame(image, at, colour);
    if right - left > 4 && bottom - top > 4 {
        frame(image, Pixels { left: left + 1, top: top + 1, right: right - 1, bottom: bottom - 1 }, colour);
    }
}

/// A line of one pixel along the inside.
fn frame(image: &mut RgbImage, at: Pixels, colour: Rgb<u8>) {
    let Pixels { left, top, right, bottom } = at;
    for (left, top, right, bottom) in [
        (left, top, right, top + 1),
        (left, bottom - 1, right, bottom),
        (left, top, left + 1, bottom),
        (right - 1, top, right, bottom),
    ] {
        fill(image, Pixels { left, top, right, bottom }, colour);
    }
}

fn write(image: &mut RgbImage, at: Pixels, text: &str, colour: Rgb<u8>, scale: u32) {
    fill(image, at, WHITE);
    let edge = Pixels {
        left: at.left + 1,
        top: at.top + 1,
        right: at.right.saturating_sub(1),
        bottom: at.bottom.saturating_sub(1),
    };
    fill(image, edge, colour);
    for (x, y) in glyphs::pixels(text) {
        let (left, top) = (at.left + (x + PADDING) * scale, at.top + (y + PADDING) * scale);
        let dot = Pixels {
            left,
            top,
            right: (left + scale).min(edge.right),
            bottom: (top + scale).min(edge.bottom),
        };
        fill(image, dot, WHITE);
    }
}

/// As much of it as is on the image.
fn fill(image: &mut RgbImage, at: Pixels, colour: Rgb<u8>) {
    let (width, height) = image.dimensions();
    for y in at.top..at.bottom.min(height) {
        for x in at.left..at.right.min(width) {
            image.put_pixel(x, y, colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark(reference: &str, rect: Rect) -> Mark {
        Mark { r#ref: reference.into(), role: "button".into(), name: "".into(), rect }
    }

    #[test]
    fn a_mark_is_seen_on_light_and_on_dark() {
        for ground in [0, 255] {
            let mut image = RgbImage::from_pixel(300, 300, Rgb([ground; 3]));
            let done = annotate(&mut image, &[mark("e12", Rect::new(100.0, 100.0, 50.0, 40.0))]);
            assert_eq!(done.annotations[0].r#box, Rect::new(100.0, 100.0, 50.0, 40.0));
            for (x, y) in [(100, 120), (149, 120), (101, 139), (148, 138)] {
                assert_eq!(*image.get_pixel(x, y), COLOURS[0], "{x} {y}");
            }
            assert_eq!([*image.get_pixel(99, 120), *image.get_pixel(150, 139)], [WHITE; 2]);
            assert_eq!(*image.get_pixel(120, 120), Rgb([ground; 3]), "nothing inside");
            // The foot of the `1`, in a label above the box.
            let label = (100, 100 - (7 + 2 * PADDING) * 2);
            let foot = (label.0 + (6 + PADDING) * 2, label.1 + (6 + PADDING) * 2);
            assert_eq!(*image.get_pixel(foot.0, foot.1), WHITE);
            assert_eq!(*image.get_pixel(foot.0 - 2, foot.1), COLOURS[0]);
        }
    }

    #[test]
    fn what_is_not_marked_is_counted() {
        let mut marks = vec![mark("e1", Rect::new(500.0, 0.0, 9.0, 9.0)); 2];
        marks.extend((0..160).map(|at| mark("f1e3", Rect::new(f64::from(at), 5.0, 20.0, 20.0))));
        let done = annotate(&mut RgbImage::new(200, 200), &marks);
        assert_eq!((done.annotations.len(), done.skipped), (MOST_LABELS, 12));
        assert_eq!(done.annotations[149].number, 150);
        let json = serde_json::to_value(&done.annotations[0]).unwrap();
        let wanted = serde_json::json!({
            "ref": "f1e3", "number": 1, "role": "button", "box": { "x": 0.0, "y": 5.0, "width": 20.0, "height": 20.0 },
        });
        assert_eq!(json, wanted);
    }

    proptest! {
        #[test]
        fn drawing_never_panics(
            rects in prop::collection::vec([-50f64..400.0, -50f64..400.0, -1f64..400.0, 0f64..400.0], 0..20),
            odd in [prop::num::f64::ANY; 4], width in 1u32..300, height in 1u32..300, text in "[a-z0-9é]{0,12}",
        ) {
            let rects = rects.into_iter().chain([odd]);
            let marks: Vec<_> = rects.map(|[x, y, w, h]| mark(&text, Rect::new(x, y, w, h))).collect();
            let done = annotate(&mut RgbImage::new(width, height), &marks);
            prop_assert_eq!(done.annotations.len() + done.skipped, marks.len());
            for it in done.annotations {
                prop_assert!(it.r#box.right() <= f64::from(width) && it.r#box.bottom() <= f64::from(height));
            }
        }
    }
}
