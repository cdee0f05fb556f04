//! Action: one ordered piece of work on the page session.
//!
//! Purpose: navigates, reads snapshots (and, as they come, clicks, types, ...) while its tab takes
//! other messages.
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

mod navigate;
mod snapshot;

use std::sync::Arc;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Session;
use tabvisor_page::frame_sessions::FrameSessions;
use tabvisor_page::navigate::{Landed, WaitUntil};
use tabvisor_page::refs::RefId;
use tabvisor_page::snapshot::{Request, Snapshot};
use url::Url;

use crate::error::TabError;
use crate::shared::TabShared;

/// What can be done in order.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Load an address.
    Navigate { url: Url, until: WaitUntil },
    /// Read the page.
    Snapshot(Request),
    /// Find the element of a ref by its role, name and place.
    Find(RefId),
}

/// What it gave.
#[derive(Debug)]
pub(crate) enum Done {
    Landed(Landed),
    Snapshot(Box<Snapshot>),
    /// The element's DOM node.
    Found(i64),
    /// Nothing: its actor ended before its turn came.
    NotStarted,
}

impl Action {
    /// Its name, for logs and metrics.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Navigate { .. } => "navigate",
            Self::Snapshot(_) => "snapshot",
            Self::Find(_) => "find",
        }
    }
}

/// The page that is acted on.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) tab: Arc<TabShared>,
    pub(crate) session: Session,
    pub(crate) frames: FrameSessions,
}

/// Does `action` on the page session.
pub(crate) async fn perform(stage: Stage, action: Action, budget: Budget) -> Result<Done, TabError> {
    match action {
        Action::Navigate { url, until } => {
            navigate::navigate(&stage, &url, until, &budget).await.map(Done::Landed)
        }
        Action::Snapshot(request) => {
            snapshot::take(&stage, request, &budget).await.map(|it| Done::Snapshot(Box::new(it)))
        }
        Action::Find(id) => snapshot::find(&stage, id, &budget).await.map(Done::Found),
    }
}
