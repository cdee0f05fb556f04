//! Dragging: with the pointer alone, or as HTML knows it.
//!
//! Once the page lets something be dragged, Chromium hands the drag to the system, which a tab
//! without a window does not have. So it is intercepted, and told to the page from here.

use std::time::Duration;

use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Events, Session};

use super::aim::Aim;
use super::error::ActError;
use super::heard::{Heard, Listen};
use super::modifiers::Modifiers;
use super::mouse::{Button, Mouse, Step};
use super::navigation::Navigations;
use super::outcome::{Effect, Observed, Outcome, PointerSeen, Route};
use super::page::ActPage;
use super::ready::Need;
use super::sending::settle;
use super::target::{Place, Point};

const FROM: Listen = Listen {
    key: "drag-from",
    types: &["mousedown", "dragstart", "dragend", "mouseup", "click"],
    last: "mousedown",
};
const OVER: &[&str] = &["dragenter", "dragover", "drop", "mouseup"];
const NOT_TAKEN: &str = "the page did not take what was dropped";
/// A drag that the page has let begin is intercepted at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// Drags what is at one place to another.
///
/// # Errors
/// Every [`ActError`]. One that says that something was sent leaves nothing held.
pub async fn drag(page: &ActPage, from: &Place, to: &Place, budget: &Budget) -> Result<Outcome, ActError> {
    let open_to = Need { enabled: false, ..Need::POINTABLE };
    let mut to = Aim::at(page, to, open_to, budget).await?;
    let mut from = Aim::at(page, from, Need::POINTABLE, budget).await?;
    from.approach(page, budget).await?;
    drop(FROM.begin(&from.node, budget).await?);
    let mut navigations = Navigations::of(page);
    let intercepts = Intercepts::on(&page.session);
    let mut mouse = Mouse::new(&page.session, Button::Left, Modifiers::NONE);
    let dragged = pull(page, &from, &mut to, &mut mouse, intercepts, budget).await;
    let (by_html, dropped) = match dragged {
        Ok(dragged) => dragged,
        Err(error) if !mouse.sent => return Err(error),
        // A dialog or another document in the middle of a drag: where it ended is not known.
        Err(ActError::Dialog(dialog)) => {
            let mut observed = Observed { target: from.words(), dialog: Some(dialog), ..Observed::default() };
            observed.navigation = navigations.so_far();
            return Ok(Outcome { effect: Effect::Unverifiable, route: Route::TrustedInput, observed });
        }
        Err(error) => return Err(error.after_sending()),
    };
    drop(mouse);
    // What was dragged may be gone.
    let began = FROM.read_back(&from.node, budget).await.ok();
    let held = began.as_ref().is_some_and(|it| it.heard.received == Some(true));
    let effect = match (by_html, &dropped) {
        (true, dropped) if dropped.arrived() => Effect::Confirmed,
        (true, _) => Effect::SuspectedNoop,
        (false, dropped) if held && dropped.complete => Effect::Confirmed,
        (false, _) => Effect::Unverifiable,
    };
    let mut observed = Observed { target: from.words(), ..Observed::default() };
    observed.warnings = from.warnings();
    observed.warnings.extend((effect == Effect::SuspectedNoop).then_some(NOT_TAKEN));
    settle(&from.node, &mut navigations, &mut observed, budget).await?;
    observed.state = began.as_ref().map(|it| it.state.clone());
    let mut events = began.map(|it| it.heard.events).unwrap_or_default();
    events.extend(dropped.events.iter().cloned());
    observed.pointer =
        Some(PointerSeen { dropped_on: dropped.hit.clone(), events, ..dropped.seen(to.point) });
    Ok(Outcome { effect, route: Route::TrustedInput, observed })
}

/// From the press to the drop; whether it was one of HTML's, and what was heard at its end.
async fn pull(
    page: &ActPage,
    from: &Aim,
    to: &mut Aim,
    mouse: &mut Mouse,
    mut intercepts: Intercepts,
    budget: &Budget,
) -> Result<(bool, Heard), ActError> {
    let start = from.point;
    let began = [
        Step::Move(start),
        Step::Press(1),
        Step::Move(nudged(start)),
        Step::Move(between(start, to.point, 0.5)),
    ];
    page.during(budget, async { Ok(mouse.play(&began).await?) }).await?;
    let listen = |last| Listen { key: "drag-to", types: OVER, last };
    let heard = FROM.so_far(&from.node, budget).await?;
    let by_html = heard.events.iter().any(|it| it == "dragstart") && !heard.prevented("dragstart");
    if by_html {
        let data = page.during(budget, intercepts.next(budget)).await?;
        to.again(budget).await?;
        let listen = listen("drop");
        drop(listen.begin(&to.node, budget).await?);
        page.during(budget, hand_over(page, to.point, &data, budget)).await?;
        let release = [Step::Release(1)];
        page.during(budget, async { Ok(mouse.play(&release).await?) }).await?;
        return Ok((true, listen.read_back(&to.node, budget).await?.heard));
    }
    to.again(budget).await?;
    let listen = listen("mouseup");
    drop(listen.begin(&to.node, budget).await?);
    let way = [0.6, 0.7, 0.8, 0.9, 1.0].map(|part| Step::Move(between(start, to.point, part)));
    page.during(budget, async {
        mouse.play(&way).await?;
        Ok(mouse.play(&[Step::Release(1)]).await?)
    })
    .await?;
    Ok((false, listen.read_back(&to.node, budget).await?.heard))
}

/// Tells the page of the drag's end, as the system would.
async fn hand_over(page: &ActPage, at: Point, data: &Value, budget: &Budget) -> Result<(), ActError> {
    for kind in ["dragEnter", "dragOver", "dragOver", "drop"] {
        let event = json!({ "type": kind, "x": at.x, "y": at.y, "data": data });
        page.session.call("Input.dispatchDragEvent", event, budget).await?;
    }
    Ok(())
}

/// Far enough for a drag to begin.
fn nudged(from: Point) -> Point {
    Point { x: from.x + 6.0, y: from.y + 6.0 }
}

fn between(from: Point, to: Point, part: f64) -> Point {
    Point { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}

/// While it lives, drags are not handed to the system.
struct Intercepts {
    session: Session,
    events: Events,
}

impl Intercepts {
    fn on(session: &Session) -> Self {
        let events = session.subscribe(&["Input.dragIntercepted"], 4);
        session.cast("Input.setInterceptDrags", json!({ "enabled": true }));
        Self { session: session.clone(), events }
    }

    /// What is being dragged.
    async fn next(&mut self, budget: &Budget) -> Result<Value, ActError> {
        let none = || ActError::Unreadable("a drag began and was not handed over".into());
        match budget.child(PATIENCE).run(self.events.next()).await {
            Ok(Some(Delivery::Event(event))) => {
                let params: Value = serde_json::from_str(event.params.get()).map_err(|_| none())?;
                Ok(params["data"].clone())
            }
            Ok(None) => Err(CdpError::LinkClosed(self.session.link_closed().await).into()),
            Ok(Some(Delivery::Lagged { .. })) | Err(_) => Err(none()),
        }
    }
}

impl Drop for Intercepts {
    fn drop(&mut self) {
        self.session.cast("Input.setInterceptDrags", json!({ "enabled": false }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_way_begins_and_ends_where_it_should(x in 0.0..2000.0f64, y in 0.0..2000.0f64, part in 0.0..1.0f64) {
            let (from, to) = (Point { x, y: 5.0 }, Point { x: 7.0, y });
            prop_assert_eq!(between(from, to, 0.0), from);
            let end = between(from, to, 1.0);
            prop_assert!((end.x - to.x).abs() < 1e-9 && (end.y - to.y).abs() < 1e-9);
            let at = between(from, to, part);
            prop_assert!(at.x >= from.x.min(to.x) - 1e-9 && at.x <= from.x.max(to.x) + 1e-9);
        }
    }
}
