//! Checking and unchecking.

use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::click::{Click, click};
use super::error::ActError;
use super::field::{FieldFacts, FieldKind};
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::target::{Place, Target};

/// Checks or unchecks, with a click if need be, and verifies it.
///
/// # Errors
/// Every [`ActError`]; [`ActError::NotEditable`] for what cannot be checked, or not unchecked.
pub async fn check(
    page: &ActPage,
    target: &Target,
    checked: bool,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let node = Node::find(page, target, budget).await?;
    let facts = node.field(budget).await?;
    check_it(page, target, (&node, &facts), checked, budget).await
}

/// The same, for a field that was looked at.
pub(super) async fn check_it(
    page: &ActPage,
    target: &Target,
    (node, facts): (&Node, &FieldFacts),
    checked: bool,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let refuse = |why: String| Err(ActError::NotEditable { name: node.name(), why });
    let is_radio = match facts.kind {
        FieldKind::Radio | FieldKind::AriaRadio => true,
        FieldKind::Checkbox | FieldKind::AriaCheckbox => false,
        _ => return refuse(format!("it is {}, neither a checkbox nor a radio button", facts.words)),
    };
    if let Some(why) = &facts.off {
        return refuse(why.clone());
    }
    let wanted = if checked { "true" } else { "false" };
    let before = facts.checked.as_deref().unwrap_or("false");
    if before == wanted {
        let observed = Observed { target: Some(facts.words.clone()), ..Observed::default() };
        let state = node.checked_is(wanted, budget).await?;
        let observed = Observed { state: Some(state), ..observed };
        return Ok(Outcome { effect: Effect::Confirmed, route: Route::TrustedInput, observed });
    }
    if is_radio && !checked {
        return refuse("a radio button is unchecked by checking another of its group".to_owned());
    }
    // From mixed a click may lead to either.
    let most = if before == "mixed" { 2 } else { 1 };
    let place = Place::On(target.clone());
    let mut clicks = 0;
    loop {
        let mut outcome = click(page, &place, &Click::default(), budget).await?;
        clicks += 1;
        if outcome.observed.dialog.is_some() {
            return Ok(outcome);
        }
        let state = match node.checked_is(wanted, budget).await {
            Ok(state) => state,
            // The click went elsewhere than to a state.
            Err(ActError::Navigated { .. } | ActError::Stale(_)) => return Ok(outcome),
            Err(error) => return Err(error.after_sending()),
        };
        let done = state.checked.as_deref() == Some(wanted);
        outcome.observed.state = Some(state);
        outcome.effect = if done { Effect::Confirmed } else { Effect::SuspectedNoop };
        if done || clicks == most {
            return Ok(outcome);
        }
    }
}

impl Node {
    /// The state of a field once it is as wanted, or after half a second.
    async fn checked_is(
        &self,
        wanted: &str,
        budget: &Budget,
    ) -> Result<super::outcome::StateAfter, ActError> {
        self.ask_with("", "checkedIs", json!({ "wanted": wanted }), budget).await
    }
}
