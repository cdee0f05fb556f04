//! Pressing a key.

use std::time::Duration;

use tabvisor_cdp::budget::Budget;

use super::chord::Chord;
use super::error::ActError;
use super::heard::{Heard, Listen};
use super::input_seen::{InputSeen, KeySeen};
use super::keyboard::Keyboard;
use super::navigation::Navigations;
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::sending::{Seen, send_and_hear};
use super::target::Target;

const LISTEN: Listen = Listen { key: "key", types: &["keydown", "keypress", "keyup"], last: "keydown" };
/// Longest time that a key is held.
const LONGEST: Duration = Duration::from_secs(5);

/// A key to press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Press {
    /// Which, with what is held.
    pub chord: Chord,
    /// What gets the focus before; without one it goes to what has it.
    pub on: Option<Target>,
    /// How long it is held.
    pub hold_for: Duration,
}

/// Presses a key, on an element or on whatever has the focus.
///
/// # Errors
/// Every [`ActError`].
pub async fn press(page: &ActPage, press: &Press, budget: &Budget) -> Result<Outcome, ActError> {
    if press.hold_for > LONGEST {
        let why = format!("must be 0 to 5000 ms, got {}", press.hold_for.as_millis());
        return Err(ActError::Invalid { field: "delayMs", why });
    }
    let node = match &press.on {
        Some(target) => {
            let node = Node::find(page, target, budget).await?;
            node.focus(budget).await?;
            node
        }
        None => Node::focused(page, budget).await?,
    };
    let in_frame = press.on.is_none() && node.is_frame(budget).await?;
    let Seen { heard, mut observed } = press_on(page, &node, &press.chord, press.hold_for, budget).await?;
    let seen = is_seen(&heard);
    observed.input = Some(InputSeen::Key(KeySeen {
        chord: press.chord.to_string(),
        in_frame,
        seen,
        hit: heard.hit.clone(),
        default_prevented: heard.default_prevented,
    }));
    let effect = match (seen, in_frame) {
        (true, _) => Effect::Confirmed,
        (false, true) => Effect::Unverifiable,
        (false, false) => Effect::SuspectedNoop,
    };
    Ok(Outcome { effect, route: Route::TrustedInput, observed })
}

/// Enters text into whatever has the focus.
///
/// # Errors
/// Every [`ActError`].
pub async fn insert_text(page: &ActPage, text: &str, budget: &Budget) -> Result<Outcome, ActError> {
    let node = Node::focused(page, budget).await?;
    if !node.is_frame(budget).await? {
        return super::type_text::insert_at_caret(page, node, text, budget).await;
    }
    // What is in a frame of another document is not seen from here.
    let mut keyboard = Keyboard::new(&page.session);
    page.during(budget, async { Ok(keyboard.text(text).await?) })
        .await
        .map_err(|error| if keyboard.sent { error.after_sending() } else { error })?;
    let warnings = vec!["the focus is in a frame, where it could not be seen what became of the text"];
    let observed = Observed { warnings, ..Observed::default() };
    Ok(Outcome { effect: Effect::Unverifiable, route: Route::TrustedInput, observed })
}

/// Presses a chord while `node`, in whose frame it is listened for, has the focus.
pub(super) async fn press_on(
    page: &ActPage,
    node: &Node,
    chord: &Chord,
    hold_for: Duration,
    budget: &Budget,
) -> Result<Seen, ActError> {
    let report = LISTEN.begin(node, budget).await?;
    let navigations = Navigations::of(page);
    let mut keyboard = Keyboard::new(&page.session);
    let send = async {
        let pressed = page.during(budget, async { Ok(keyboard.chord(chord, hold_for).await?) }).await;
        (keyboard.sent, pressed)
    };
    send_and_hear(node, (LISTEN, report), navigations, send, budget).await
}

/// Whether the page saw the key. One that keeps going down to itself lets us hear of it going up.
fn is_seen(heard: &Heard) -> bool {
    !heard.events.is_empty()
}

/// Whether the page saw the key on the element that was meant.
pub(super) fn arrived(heard: &Heard) -> bool {
    is_seen(heard) && heard.received != Some(false)
}
