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
            let condition = tab.condition.subscribe();
            navigate::navigate(&session, &url, until, condition, &budget).await.map_err(|error| match error {
                NavigateError::Link(error) => error.into(),
                other => TabError::Navigate(other),
            })
        }
    }
}
