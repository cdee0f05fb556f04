//! Action: one ordered piece of work on the page session.
//!
//! Purpose: navigates (and, as they come, clicks, types, ...) while its tab takes other messages.
//!
//! ```text
//!   spawned --> at work --> done: outcome in the exit event
//!                  |
//!                  +--budget spent, cancelled, dialog, crash: an honest answer, still by itself
//! ```
//!
//! Supervised by: [`Tab`](crate::tab); temporary, at most one alive per tab.
//!
//! It never: outlives its budget (it is killed a moment after), owns the page link.

use std::sync::Arc;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Session;
use tabvisor_page::navigate::{self, Landed, NavigateError, WaitUntil};
use url::Url;

use crate::error::TabError;
use crate::shared::TabShared;

/// What can be done in order.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Load an address.
    Navigate { url: Url, until: WaitUntil },
}

impl Action {
    /// Its name, for logs and metrics.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Navigate { .. } => "navigate",
        }
    }
}

/// Does `action` on the page session.
pub(crate) async fn perform(
    tab: Arc<TabShared>,
    session: Session,
    action: Action,
    budget: Budget,
) -> Result<Landed, TabError> {
    match action {
        Action::Navigate { url, until } => {
            refuse_same_site_while_stuck(&tab, &url)?;
            let condition = tab.condition.subscribe();
            let landed = navigate::navigate(&session, &url, until, condition, &budget).await;
            let landed = landed.map_err(|error| match error {
                NavigateError::Link(error) => error.into(),
                other => TabError::Navigate(other),
            })?;
            // A navigation brings a dead renderer back; the watcher says so over its own link.
            let mut condition = tab.condition.subscribe();
            let _ = budget.run(condition.wait_for(|now| !now.crashed)).await;
            Ok(landed)
        }
    }
}

/// Chromium answers "ok" to a navigation of a stuck page within its own site, nothing happens, and
/// afterwards its scripts cannot even be ended (measured).
fn refuse_same_site_while_stuck(tab: &TabShared, url: &Url) -> Result<(), TabError> {
    let Some(stuck) = *tab.stuck.borrow() else { return Ok(()) };
    let here = Url::parse(&tab.row().url).ok();
    if here.is_some_and(|here| may_be_same_site(&here, url)) { Err(stuck.refusal(tab.id)) } else { Ok(()) }
}

/// Errs on the side of "yes": a site is a registrable domain, of which a host's suffix is all that
/// is known here.
fn may_be_same_site(one: &Url, other: &Url) -> bool {
    let (Some(one), Some(other)) = (one.host_str(), other.host_str()) else { return false };
    let tail = |host: &str| host.rsplit('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    one == other || (one.parse::<std::net::IpAddr>().is_err() && tail(one) == tail(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_may_share_a_renderer_are_one_site() {
        let same =
            |one: &str, other: &str| may_be_same_site(&Url::parse(one).unwrap(), &Url::parse(other).unwrap());
        assert!(same("http://a.example.org/", "https://b.example.org/x"));
        assert!(same("http://127.0.0.1:1/", "http://127.0.0.1:2/"));
        assert!(!same("http://127.0.0.1/", "http://localhost/"));
        assert!(!same("http://10.0.0.1/", "http://11.0.0.1/"));
        assert!(!same("http://example.org/", "about:blank"));
    }
}
