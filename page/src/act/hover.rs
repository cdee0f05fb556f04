//! Resting the pointer on something.

use tabvisor_cdp::budget::Budget;

use super::aim::Aim;
use super::error::ActError;
use super::heard::Listen;
use super::modifiers::Modifiers;
use super::mouse::{Button, Mouse, Step};
use super::navigation::Navigations;
use super::outcome::{Effect, Outcome, Route};
use super::page::ActPage;
use super::ready::Need;
use super::sending::{Seen, send_and_hear};
use super::target::Place;

/// Moves the pointer onto a place and leaves it there.
///
/// # Errors
/// Every [`ActError`].
pub async fn hover(
    page: &ActPage,
    place: &Place,
    modifiers: Modifiers,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    // What is disabled can be pointed at.
    let need = Need { enabled: false, ..Need::POINTABLE };
    let mut aim = Aim::at(page, place, need, budget).await?;
    aim.approach(page, budget).await?;
    // A disabled button gets no mouse events in older Chromiums, but those of pointers.
    let listen = Listen { key: "hover", types: &["pointerover", "pointermove"], last: "pointermove" };
    let report = listen.begin(&aim.node, budget).await?;
    let navigations = Navigations::of(page);
    let mut mouse = Mouse::new(&page.session, Button::Left, modifiers);
    let send = async {
        let steps = [Step::Move(aim.point)];
        let played = page.during(budget, async { Ok(mouse.play(&steps).await?) }).await;
        (mouse.sent, played)
    };
    let Seen { heard, mut observed } =
        send_and_hear(&aim.node, (listen, report), navigations, send, budget).await?;
    let effect = if heard.received == Some(true) { Effect::Confirmed } else { Effect::Unverifiable };
    observed.target = aim.words();
    observed.warnings.extend(aim.warnings());
    observed.pointer = Some(heard.seen(aim.point));
    Ok(Outcome { effect, route: Route::TrustedInput, observed })
}
