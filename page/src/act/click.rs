//! Clicks.

use std::time::Duration;

use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::aim::Aim;
use super::error::ActError;
use super::heard::Listen;
use super::modifiers::Modifiers;
use super::mouse::{Button, Mouse, Step};
use super::navigation::Navigations;
use super::outcome::{Effect, Outcome, Route};
use super::page::ActPage;
use super::ready::{Need, Ready, make_ready};
use super::sending::{Seen, send_and_hear};
use super::target::{Place, Point, Target};

const FIRE: &str = include_str!("fire.js");
const TYPES: &[&str] = &["mousedown", "mouseup", "click", "auxclick", "contextmenu", "dblclick"];
const MISSED: &str = "another element got the click";

/// A click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Click {
    /// With which button.
    pub button: Button,
    /// How many in a row.
    pub count: u8,
    /// With which keys held.
    pub modifiers: Modifiers,
    /// How long the pointer rests there before.
    pub hover_for: Duration,
    /// How long the button is held.
    pub hold_for: Duration,
}

impl Default for Click {
    fn default() -> Self {
        Self {
            button: Button::Left,
            count: 1,
            modifiers: Modifiers::NONE,
            hover_for: Duration::ZERO,
            hold_for: Duration::ZERO,
        }
    }
}

impl Click {
    /// Longest of the two delays.
    const LONGEST: Duration = Duration::from_secs(5);

    fn check(&self) -> Result<(), ActError> {
        if !(1..=3).contains(&self.count) {
            let why = format!("must be 1, 2 or 3, got {}", self.count);
            return Err(ActError::Invalid { field: "count", why });
        }
        let delay = self.hover_for.max(self.hold_for);
        if delay > Self::LONGEST {
            let why = format!("must be 0 to 5000 ms, got {}", delay.as_millis());
            return Err(ActError::Invalid { field: "delayMs", why });
        }
        Ok(())
    }

    /// The event with which it has arrived.
    fn last(&self) -> &'static str {
        match (self.button, self.count) {
            (Button::Left, 1) => "click",
            (Button::Left, _) => "dblclick",
            _ => "auxclick",
        }
    }

    fn listen(&self) -> Listen {
        Listen { key: "click", types: TYPES, last: self.last() }
    }

    fn steps(&self, point: Point) -> Vec<Step> {
        let wait = |time: Duration| (!time.is_zero()).then_some(Step::Wait(time));
        let mut steps = vec![Step::Move(point)];
        steps.extend(wait(self.hover_for));
        for count in 1..=self.count {
            steps.push(Step::Press(count));
            steps.extend(wait(self.hold_for));
            steps.push(Step::Release(count));
        }
        steps
    }
}

/// Clicks as a user would, where nothing is in the way.
///
/// A dialog that the click opens is part of the outcome, which comes at once then.
///
/// # Errors
/// Every [`ActError`].
pub async fn click(
    page: &ActPage,
    place: &Place,
    click: &Click,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    click.check()?;
    let mut aim = Aim::at(page, place, Need::POINTABLE, budget).await?;
    aim.approach(page, budget).await?;
    let listen = click.listen();
    let report = listen.begin(&aim.node, budget).await?;
    let navigations = Navigations::of(page);
    let mut mouse = Mouse::new(&page.session, click.button, click.modifiers);
    let steps = click.steps(aim.point);
    let send = async {
        let played = page.during(budget, async { Ok(mouse.play(&steps).await?) }).await;
        (mouse.sent, played)
    };
    let seen = send_and_hear(&aim.node, (listen, report), navigations, send, budget).await?;
    Ok(conclude(&aim, seen, Route::TrustedInput))
}

/// Clicks by events that a script makes, on an element wherever it is.
///
/// # Errors
/// Every [`ActError`].
pub async fn click_by_events(
    page: &ActPage,
    target: &Target,
    click: &Click,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    click.check()?;
    let need = Need { enabled: true, ..Need::ATTACHED };
    let Ready { node, facts, owners } = make_ready(page, target, need, budget).await?;
    let listen = click.listen();
    let report = listen.begin(&node, budget).await?;
    let navigations = Navigations::of(page);
    let asked = json!({
        "count": click.count, "modifiers": click.modifiers.bits(),
        "button": match click.button { Button::Left => 0, Button::Middle => 1, Button::Right => 2 },
    });
    let function = format!("(it,asked)=>{{{FIRE}\nfire(it,asked)}}");
    let send = async { (true, node.call::<Option<()>>(&function, asked, budget).await.map(drop)) };
    let seen = send_and_hear(&node, (listen, report), navigations, send, budget).await?;
    let aim = Aim { node, owners, point: Point::default(), facts: Some(facts), need };
    Ok(conclude(&aim, seen, Route::DomEvent))
}

fn conclude(aim: &Aim, seen: Seen, route: Route) -> Outcome {
    let Seen { heard, mut observed } = seen;
    let effect = if heard.arrived() { Effect::Confirmed } else { Effect::Unverifiable };
    observed.target = aim.words();
    observed.warnings.extend(aim.warnings());
    observed.warnings.extend((heard.received == Some(false)).then_some(MISSED));
    let seen = heard.seen(aim.point);
    let saves = aim.facts.as_ref().is_some_and(|it| it.saves) && seen.default_prevented != Some(true);
    observed.saves = saves && observed.dialog.is_none();
    observed.pointer = Some(seen);
    Outcome { effect, route, observed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_order_and_waits_only_where_they_are_asked_for() {
        let at = Point { x: 1.0, y: 2.0 };
        assert_eq!(Click::default().steps(at), [Step::Move(at), Step::Press(1), Step::Release(1)]);
        let ms = Duration::from_millis(5);
        let double = Click { count: 2, hover_for: ms, hold_for: ms, ..Click::default() };
        let wait = Step::Wait(ms);
        let pressed = |n| [Step::Press(n), wait, Step::Release(n)];
        let wanted: Vec<_> = [Step::Move(at), wait].into_iter().chain(pressed(1)).chain(pressed(2)).collect();
        assert_eq!(double.steps(at), wanted);
    }

    #[test]
    fn bad_numbers_are_refused_by_name() {
        let none = Click { count: 0, ..Click::default() };
        assert!(none.check().unwrap_err().to_string().starts_with("count: "));
        let long = Click { hold_for: Duration::from_secs(6), ..Click::default() };
        assert!(long.check().unwrap_err().to_string().starts_with("delayMs: "));
    }
}
