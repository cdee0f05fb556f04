//! `browser_screenshot`, `browser_pdf`: a page as a picture, and as a document.

use serde_json::{Value, json};
use tabvisor_actors::{Screenshot, ScreenshotRequest, ShotOf};
use tabvisor_page::act::Route;
use tabvisor_page::screenshot::{Format, Shot};

use crate::http::kept;

use super::super::args::wrong;
use super::super::call::Call;
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::{Image, Told};
use super::super::failure::refused;
use super::super::schema::{Kind, may};
use super::Answer;

/// Quality of a JPEG.
const QUALITY: u8 = 80;
/// How many labels are told.
const LABELS: usize = 100;

pub(super) const TOOLS: &[Spec] = &[
    Spec {
        name: "browser_screenshot",
        about: "Take a picture of the viewport, of the full_page, or of the element of ref. annotate draws the refs of what can be acted on.",
        hints: Hints::Reads,
        on_tab: true,
        args: &[
            may("ref", Kind::Text(64), ""),
            may("full_page", Kind::Flag, ""),
            may("annotate", Kind::Flag, ""),
            may("type", Kind::OneOf(&["png", "jpeg"]), ""),
        ],
        budget: Within::Snapshot,
        run: screenshot,
        step: None,
    },
    Spec {
        name: "browser_pdf",
        about: "Print the page to a PDF file on the server's machine; tells its path.",
        hints: Hints::Reads,
        on_tab: true,
        args: &[],
        budget: Within::Snapshot,
        run: pdf,
        step: None,
    },
];

fn screenshot(call: Call) -> Answer {
    Box::pin(async move {
        let args = &call.args;
        let full_page = args.flag("full_page").unwrap_or(false);
        let of = match args.named() {
            Some(_) if full_page => {
                return Err(wrong("full_page", "full_page and ref are two pictures; give one"));
            }
            Some(named) => ShotOf::Element(named),
            None if full_page => ShotOf::FullPage,
            None => ShotOf::View,
        };
        let format =
            if args.text("type").as_deref() == Some("jpeg") { Format::Jpeg(QUALITY) } else { Format::Png };
        let request =
            ScreenshotRequest { of, format, labels: args.flag("annotate").unwrap_or(false), within: None };
        let before = call.tab()?;
        let taken = call.supervisor().screenshot(before.tab_id, request, &call.budget).await;
        Ok(call.settle(&before, taken.map(told)))
    })
}

fn told(taken: Screenshot) -> Told {
    let (shot, labels) = match taken {
        Screenshot::Plain(shot) => (shot, None),
        Screenshot::Labelled(labelled) => {
            let marked: Vec<Value> = labelled.annotations.iter().take(LABELS).map(|it| json!(it)).collect();
            let labels = json!({ "marked": labelled.labels_count, "skipped": labelled.labels_skipped, "annotations": marked });
            (labelled.shot, Some(labels))
        }
    };
    let summary = format!("a {} of {} x {} pixels", shot.format.word(), shot.width, shot.height);
    let mut told = Told::seen(Route::Cdp, "the picture itself", summary)
        .with("width", shot.width)
        .with("height", shot.height)
        .with("scale", shot.scale);
    if shot.truncated {
        told = told.with("truncated", true);
    }
    if let Some(labels) = labels {
        told = told.with("labels", labels);
    }
    told.images.push(image(shot));
    told
}

/// A picture for an answer.
pub(super) fn image(shot: Shot) -> Image {
    let mime = match shot.format {
        Format::Png => "image/png",
        Format::Jpeg(_) => "image/jpeg",
    };
    Image { bytes: shot.bytes, mime }
}

fn pdf(call: Call) -> Answer {
    Box::pin(async move {
        let before = call.tab()?;
        let document = match call.supervisor().pdf(before.tab_id, &call.budget).await {
            Ok(document) => document,
            Err(error) => return Ok(call.settle(&before, Err(error))),
        };
        let bytes = document.len();
        let path = kept::save(call.home.pictures(), kept::Kind::Pdf, document).await;
        let path = path.map_err(|why| refused("storage", why.to_string()))?;
        let told = Told::seen(Route::Cdp, "the file was written", format!("{bytes} bytes in {path}"));
        Ok(call.beside(&before, told.with("path", path).with("bytes", bytes)))
    })
}
