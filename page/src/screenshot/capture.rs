//! Taking an image of a page.

use serde_json::json;
use serde_json::value::RawValue;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::boxes::{Measured, Spot, Where, boxes};
use super::encode;
use super::error::ShotError;
use super::frames_wanted::FramesWanted;
use super::geometry::Rect;
use super::metrics::{Aim, Metrics};
use super::request::{Format, Options, Page, What};
use super::shot::Shot;

const CAPTURE: &str = "Page.captureScreenshot";
const SCROLL: &str = "DOM.scrollIntoViewIfNeeded";
/// How often an element is looked for after it was scrolled to: a frame of another process moves
/// the frames around it a moment later.
const LOOKS: usize = 5;

/// Takes a screenshot.
///
/// A tab that is hidden behind others is rendered for it without being brought to the front. An
/// element that is not all in view is scrolled to. What is larger than the view is told to the page
/// as a larger window for the time of the shot; Chromium leaves it without scroll bars after that.
///
/// # Errors
/// [`ShotError`].
pub async fn capture(page: Page<'_>, options: &Options, budget: &Budget) -> Result<Shot, ShotError> {
    let aim = aim(page, &options.what, budget).await?;
    let reply = shoot(page.session, &aim, options.format, budget).await?;
    let (format, within) = (options.format, options.within);
    encode::apart(budget, move || encode::plain(&reply, &aim, format, within)).await
}

/// What the image is to show.
pub(super) async fn aim(page: Page<'_>, what: &What, budget: &Budget) -> Result<Aim, ShotError> {
    let aim = match what {
        What::View => Metrics::read(page.session, budget).await?.aim_at_view(),
        What::FullPage => Metrics::read(page.session, budget).await?.aim_at_all(),
        What::Element(spot) => at_element(page, spot, budget).await?,
    };
    if aim.part.is_none_or(|part| !part.rect.is_empty()) { Ok(aim) } else { Err(ShotError::Empty) }
}

/// One shot; Chromium's reply.
pub(super) async fn shoot(
    session: &Session,
    aim: &Aim,
    format: Format,
    budget: &Budget,
) -> Result<Box<RawValue>, ShotError> {
    let mut params = json!({ "format": format.word() });
    match format {
        // Twice as fast for some bytes more.
        Format::Png => params["optimizeForSpeed"] = true.into(),
        Format::Jpeg(quality) => params["quality"] = quality.clamp(1, 100).into(),
    }
    if let Some(part) = aim.part {
        params["clip"] = part.clip();
        params["captureBeyondViewport"] = part.beyond.into();
    }
    // The caller hears of a page without frames inside its budget.
    let patience = budget.reserving(budget.cleanup_reserve());
    let waiting = budget.elapsed();
    let _wanted = FramesWanted::begin(session, &patience).await?;
    let shot = async { session.send(CAPTURE, params).await?.await };
    let reply = patience.run(shot).await.map_err(|spent| {
        let waited = budget.elapsed().saturating_sub(waiting);
        ShotError::no_frame(CAPTURE, spent, waited)
    })?;
    Ok(reply?)
}

async fn at_element(page: Page<'_>, spot: &Spot, budget: &Budget) -> Result<Aim, ShotError> {
    let (mut metrics, mut found) = look(page, spot, budget).await?;
    if !in_view(&metrics, &found).is_some_and(|it| it.is_all_of(found.rect)) {
        let session = match &spot.target {
            None => page.session,
            Some(target) => {
                let child = page.children.iter().find(|(frame, _)| frame == target);
                &child.ok_or(ShotError::Gone)?.1
            }
        };
        match session.call(SCROLL, json!({ "backendNodeId": spot.backend_node_id }), budget).await {
            Ok(_) => {}
            Err(CdpError::Protocol { .. }) => return Err(ShotError::NoBox),
            Err(error) => return Err(error.into()),
        }
        for _ in 0..LOOKS {
            (metrics, found) = look(page, spot, budget).await?;
            if in_view(&metrics, &found).is_some() {
                break;
            }
        }
    }
    // What a frame hides is in no image; what is below the view can be.
    let shown = found.shown.ok_or(ShotError::NoBox)?;
    let aim = metrics.aim_at(shown);
    Ok(Aim { truncated: aim.truncated || !shown.is_all_of(found.rect), ..aim })
}

fn in_view(metrics: &Metrics, found: &Where) -> Option<Rect> {
    found.shown?.within(metrics.view())
}

async fn look(page: Page<'_>, spot: &Spot, budget: &Budget) -> Result<(Metrics, Where), ShotError> {
    let spots = std::slice::from_ref(spot);
    let (metrics, found) = tokio::join!(Metrics::read(page.session, budget), boxes(page, spots, budget));
    match found?.first() {
        Some(Measured::Box(found)) => Ok((metrics?, *found)),
        Some(Measured::NoBox) => Err(ShotError::NoBox),
        Some(Measured::Gone) | None => Err(ShotError::Gone),
        Some(Measured::Unheard) => Err(ShotError::FrameSilent),
    }
}
