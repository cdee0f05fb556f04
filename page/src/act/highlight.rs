//! Showing a person which element is meant.
//!
//! Chromium itself draws over the page, so nothing is put into its document, the page sees nothing of it, and
//! what is drawn takes no click.

use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::ready::{Need, make_ready};
use super::target::Target;

/// Scrolls to an element and draws over it until another one is highlighted, the document goes or this is
/// called without one. What is drawn cannot be read back.
///
/// # Errors
/// Every [`ActError`].
pub async fn highlight(
    page: &ActPage,
    target: Option<&Target>,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let ready = match target {
        Some(target) => Some(make_ready(page, target, Need::VISIBLE, budget).await?),
        None => None,
    };
    let drawn = page.during(budget, async {
        for (_, child) in page.frames.all() {
            // A frame that is stuck does not answer it.
            child.cast("Overlay.disable", json!({}));
        }
        page.session.call("Overlay.disable", json!({}), budget).await?;
        let Some(ready) = &ready else { return Ok(()) };
        let session = &ready.node.session;
        session.call("DOM.enable", json!({}), budget).await?;
        session.call("Overlay.enable", json!({}), budget).await?;
        let asked = json!({ "objectId": ready.node.object_id(), "highlightConfig": look() });
        session.call("Overlay.highlightNode", asked, budget).await?;
        Ok(())
    });
    drawn.await.map_err(ActError::after_sending)?;
    let observed = Observed { target: ready.map(|it| it.facts.words), ..Observed::default() };
    Ok(Outcome { effect: Effect::Unverifiable, route: Route::Cdp, observed })
}

fn look() -> Value {
    let color = |a: f64| json!({ "r": 255, "g": 87, "b": 34, "a": a });
    json!({ "showInfo": true, "contentColor": color(0.3), "borderColor": color(0.9), "paddingColor": color(0.2) })
}
