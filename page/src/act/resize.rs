//! The size of the viewport.

use serde::{Deserialize, Serialize};
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::error::ActError;
use super::node::{Said, read, world};
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::target::{Place, Point};

/// The size of a viewport in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewport {
    /// From the left to the right.
    pub width: u32,
    /// From the top to the bottom.
    pub height: u32,
}

impl Viewport {
    /// Largest side.
    pub const MAX: u32 = 8192;

    /// Checks what a caller gave.
    ///
    /// # Errors
    /// [`ActError::Invalid`] naming the field.
    pub fn check(self) -> Result<(), ActError> {
        for (field, side) in [("width", self.width), ("height", self.height)] {
            if !(1..=Self::MAX).contains(&side) {
                let why = format!("must be 1 to {}, got {side}", Self::MAX);
                return Err(ActError::Invalid { field, why });
            }
        }
        Ok(())
    }

    /// Gives a page this viewport, for as long as `session` lives. The window stays as it is:
    /// tabs may share one.
    ///
    /// # Errors
    /// Whatever ends a call.
    pub async fn apply(self, session: &Session, budget: &Budget) -> Result<(), CdpError> {
        let Self { width, height } = self;
        let asked = json!({ "width": width, "height": height, "deviceScaleFactor": 0, "mobile": false });
        session.call("Emulation.setDeviceMetricsOverride", asked, budget).await.map(drop)
    }
}

/// Gives the page a viewport of this size and reads back what it has.
///
/// # Errors
/// Every [`ActError`].
pub async fn resize(page: &ActPage, wanted: Viewport, budget: &Budget) -> Result<Outcome, ActError> {
    wanted.check()?;
    let has = page
        .during(budget, async {
            wanted.apply(&page.session, budget).await?;
            let place = Place::At(Point::default());
            let context = world(&page.session, &page.main, &place, budget).await?;
            let asked = json!({
                "executionContextId": context, "returnByValue": true,
                "functionDeclaration": "function(){return{width:innerWidth,height:innerHeight}}",
            });
            let said: Said = page.session.call_as("Runtime.callFunctionOn", asked, budget).await?;
            read::<Viewport>(said)
        })
        .await
        .map_err(ActError::after_sending)?;
    let effect = if has == wanted { Effect::Confirmed } else { Effect::Partial };
    let observed = Observed { viewport: Some(has), ..Observed::default() };
    Ok(Outcome { effect, route: Route::Cdp, observed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_cannot_be_is_named() {
        assert!(Viewport { width: 1, height: 8192 }.check().is_ok());
        for (width, height, field) in [(0, 1, "width"), (1, 8193, "height")] {
            let why = Viewport { width, height }.check().unwrap_err().to_string();
            assert!(why.starts_with(&format!("{field}: must be 1 to 8192")), "{why}");
        }
    }
}
