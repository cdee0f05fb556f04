//! Scrolling: with the wheel, and to an element.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::aim::Aim;
use super::error::ActError;
use super::heard::{Listen, ReadBack};
use super::navigation::Navigations;
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, PointerSeen, Route};
use super::page::ActPage;
use super::ready::{Need, make_ready};
use super::target::{Place, Point, Target};

const SCROLL: &str = include_str!("scroll.js");
const WHEEL: Listen = Listen { key: "wheel", types: &["wheel"], last: "wheel" };

/// How far the wheel turns, in CSS pixels: to the right and down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scroll {
    /// To the right.
    pub dx: f64,
    /// Down.
    pub dy: f64,
}

impl Scroll {
    const MOST: f64 = 100_000.0;

    fn check(self) -> Result<(), ActError> {
        let good = |it: f64| it.is_finite() && it.abs() <= Self::MOST;
        if good(self.dx) && good(self.dy) && (self.dx != 0.0 || self.dy != 0.0) {
            return Ok(());
        }
        let why = format!("dx and dy must be up to {} CSS pixels and not both 0", Self::MOST);
        Err(ActError::Invalid { field: "dx, dy", why })
    }
}

/// Turns the wheel over a place (the middle of the viewport if there is none), and waits until
/// what it moves stands still.
///
/// # Errors
/// Every [`ActError`].
pub async fn scroll(
    page: &ActPage,
    place: Option<&Place>,
    by: Scroll,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    by.check()?;
    let place = match place {
        Some(place) => place.clone(),
        None => Place::At(middle(page, budget).await?),
    };
    let need = Need { enabled: false, ..Need::POINTABLE };
    let aim = Aim::at(page, &place, need, budget).await?;
    // The wheel moves what is around a frame once the frame is at its end.
    let nodes: Vec<&Node> = std::iter::once(&aim.node).chain(aim.owners.iter()).collect();
    let begin = format!("it=>{{{SCROLL}\nbeginScroll(it)}}");
    for node in &nodes {
        node.call::<Option<()>>(&begin, json!(null), budget).await?;
    }
    drop(WHEEL.begin(&aim.node, budget).await?);
    let mut navigations = Navigations::of(page);
    let wheel = json!({
        "type": "mouseWheel", "x": aim.point.x, "y": aim.point.y, "deltaX": by.dx, "deltaY": by.dy,
        "pointerType": "mouse",
    });
    let mut sent = false;
    let turned = page
        .during(budget, async {
            sent = true;
            page.session.call("Input.dispatchMouseEvent", wheel, budget).await?;
            Ok(())
        })
        .await;
    let mut observed = Observed { target: aim.words(), ..Observed::default() };
    let read = match turned {
        Ok(()) => read_back(&nodes, budget).await,
        Err(error) if !sent => return Err(error),
        Err(error) => Err(error),
    };
    let effect = match read {
        Ok((moved, ReadBack { heard, state })) => {
            // A map moves by itself what the browser would not.
            let taken = heard.prevented("wheel");
            observed.pointer = Some(PointerSeen { scrolled: Some(moved), ..heard.seen(aim.point) });
            observed.state = Some(state);
            if taken || moved != Point::default() { Effect::Confirmed } else { Effect::SuspectedNoop }
        }
        Err(ActError::Dialog(dialog)) => {
            observed.dialog = Some(dialog);
            Effect::Unverifiable
        }
        Err(error) => return Err(error.after_sending()),
    };
    observed.navigation = navigations.so_far();
    Ok(Outcome { effect, route: Route::TrustedInput, observed })
}

async fn read_back(nodes: &[&Node], budget: &Budget) -> Result<(Point, ReadBack), ActError> {
    let end = format!("(it,asked)=>{{{SCROLL}\nreturn endScroll(it,asked)}}");
    let mut all = Point::default();
    for node in nodes {
        let moved: Point = node.call(&end, json!({ "left": budget.left_ms() }), budget).await?;
        all = Point { x: all.x + moved.x, y: all.y + moved.y };
    }
    Ok((all, WHEEL.read_back(nodes[0], budget).await?))
}

/// Scrolls an element to where it can be seen.
///
/// # Errors
/// Every [`ActError`].
pub async fn scroll_into_view(page: &ActPage, target: &Target, budget: &Budget) -> Result<Outcome, ActError> {
    let ready = make_ready(page, target, Need::VISIBLE, budget).await?;
    let point = match ready.point(budget).await {
        Ok(point) => Some(point),
        // It is in view, only with something over its frame.
        Err(ActError::Covered { .. }) => None,
        Err(error) => return Err(error),
    };
    let observed = Observed {
        target: Some(ready.facts.words),
        pointer: point.map(|point| PointerSeen { point, ..PointerSeen::default() }),
        ..Observed::default()
    };
    Ok(Outcome { effect: Effect::Confirmed, route: Route::Page, observed })
}

async fn middle(page: &ActPage, budget: &Budget) -> Result<Point, ActError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metrics {
        css_layout_viewport: Viewport,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Viewport {
        client_width: f64,
        client_height: f64,
    }
    let asked =
        async { Ok(page.session.call_as::<Metrics>("Page.getLayoutMetrics", json!({}), budget).await?) };
    let Viewport { client_width, client_height } = page.during(budget, asked).await?.css_layout_viewport;
    Ok(Point { x: client_width / 2.0, y: client_height / 2.0 })
}
