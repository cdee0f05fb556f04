//! A shot with labels.

use serde::Serialize;
use tabvisor_cdp::budget::Budget;

use super::annotate::{Annotation, Mark, annotate};
use super::boxes::{Measured, Spot, boxes};
use super::capture::{aim, shoot};
use super::encode;
use super::error::ShotError;
use super::request::{Format, Options, Page};
use super::shot::Shot;

/// An element that is to be marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its ref.
    pub r#ref: Box<str>,
    /// Its role.
    pub role: Box<str>,
    /// Its name; may be empty.
    pub name: Box<str>,
    /// Where it is to be looked for.
    pub spot: Spot,
}

/// A shot with labels. What the image shows is for the caller to keep; the rest is for an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Labelled {
    /// The image.
    #[serde(skip)]
    pub shot: Shot,
    /// Always.
    pub labels: bool,
    /// How many elements are marked.
    pub labels_count: usize,
    /// How many are not: without a box, not on the image, or over the limit.
    pub labels_skipped: usize,
    /// Those that are marked.
    pub annotations: Vec<Annotation>,
    /// `png` or `jpeg`.
    pub image_type: &'static str,
    /// Where the caller put the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_path: Option<String>,
    /// What was asked for is larger than what the image shows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Takes a screenshot and marks these elements on it; the page itself is not drawn on.
///
/// Elements are measured right before the shot. A page that moves them meanwhile has marks where
/// they were.
///
/// # Errors
/// [`ShotError`].
pub async fn capture_labelled(
    page: Page<'_>,
    options: &Options,
    elements: Vec<Element>,
    budget: &Budget,
) -> Result<Labelled, ShotError> {
    let spots: Vec<Spot> = elements.iter().map(|it| it.spot.clone()).collect();
    // First, because it may scroll.
    let mut target = aim(page, &options.what, budget).await?;
    let mut places = boxes(page, &spots, budget).await?;
    // Drawn on what has no loss yet.
    let mut reply = shoot(page.session, &target, Format::Png, budget).await?;
    if target.part.is_some_and(|part| part.beyond) {
        // The first shot beyond the view takes the scroll bars away, and elements move.
        let moved = boxes(page, &spots, budget).await?;
        if moved != places {
            target = aim(page, &options.what, budget).await?;
            reply = shoot(page.session, &target, Format::Png, budget).await?;
            places = moved;
        }
    }
    let format = options.format;
    let work = move || {
        let all = elements.len();
        encode::drawn(&reply, &target, format, |image, shot| {
            let shown = elements.into_iter().zip(places).filter_map(|(element, place)| {
                let Measured::Box(place) = place else { return None };
                let Element { r#ref, role, name, .. } = element;
                Some(Mark { r#ref, role, name, rect: shot.on_image(place.shown?) })
            });
            let marks: Vec<Mark> = shown.collect();
            let done = annotate(image, &marks);
            (all - done.annotations.len(), done.annotations)
        })
    };
    let (shot, (labels_skipped, annotations)) = encode::apart(budget, work).await?;
    Ok(Labelled {
        labels: true,
        labels_count: annotations.len(),
        labels_skipped,
        annotations,
        image_type: shot.format.word(),
        image_path: None,
        truncated: shot.truncated,
        shot,
    })
}
