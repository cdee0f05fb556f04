//! A link of its own to the target of a tab: every actor and action that needs one dials it here.

use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{KeepAlive, Link, LinkOptions, Purpose, Session};

use crate::shared::TabShared;

/// For browsers on another machine, perhaps; a launched one costs nothing while idle.
const IDLE_KEEP_ALIVE: KeepAlive =
    KeepAlive { every: Duration::from_secs(30), patience: Duration::from_secs(15), while_idle: true };

/// A link of this purpose, with the configured limit of its frames.
pub(crate) fn options(tab: &TabShared, purpose: Purpose) -> LinkOptions {
    let max_frame_bytes = tab.browser.limits.max_frame_bytes;
    LinkOptions { max_frame_bytes, ..LinkOptions::new(purpose) }
}

/// For a link on which nobody calls, but events are waited for: between machines it can die without a
/// word, and whatever comes then is missed.
pub(crate) fn noticed_while_idle(tab: &TabShared, options: LinkOptions) -> LinkOptions {
    if tab.browser.ready().is_some_and(|facts| facts.launched) {
        return options;
    }
    LinkOptions { keep_alive: IDLE_KEEP_ALIVE, ..options }
}

/// Waits for a place among the dials, connects and attaches.
pub(crate) async fn attach(
    tab: &TabShared,
    options: LinkOptions,
    budget: &Budget,
) -> Result<(Link, Session), CdpError> {
    let place = budget.run(tab.browser.dials.acquire()).await;
    let _place = place.map_err(|spent| CdpError::spent("connect", spent))?;
    let link = Link::connect(&tab.browser.address()?, &tab.browser.dial.get(), options, budget).await?;
    let session = link.attach(&tab.target, budget).await?;
    Ok((link, session))
}
