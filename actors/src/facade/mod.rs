//! What callers use: typed calls into the tree.
//!
//! A call is admitted here (input checked, permits taken) before anything is sent. Dropping its
//! future cancels it in the page. However an actor ends, the caller gets exactly one typed answer:
//! what is not answered by the actor is explained from what is published about the tab.

mod admission;
mod ask;
mod browsers;
mod dialogs;
mod evaluate;
mod explain;
mod files;
mod observe;
mod recovery;
mod state;
mod steps;
mod tabs;
mod tree;
mod wait;

use std::sync::Arc;

use ractor::{Actor, ActorRef};
use tabvisor_cdp::task::{self, Task};
use tokio::sync::watch;

use crate::error::{StartError, TabError};
use crate::events::{EventBus, Subscription};
use crate::gauges;
use crate::ids::TabId;
use crate::page_watch::PageWatch;
use crate::registry::Registry;
#[cfg(test)]
use crate::registry::TabHandle;
use crate::root::{Root, RootArgs, RootMsg};
use crate::row::TabRow;

pub use crate::action::UploadTo;
pub(crate) use observe::observing;

pub use evaluate::{Engine, EvaluateRequest, Evaluated, FallbackReason, On};
pub use files::{Arrived, Given, Upload};
pub use steps::{Step, StepDone, StepKind, StepResult, Stepped, Steps, StopReason, Stopped};
pub use tree::{ActorNode, BrowserNode, Restarts, Share, TabNode};

/// A running supervision tree. Clones are the same tree; it lives until [`stop`](Self::stop).
#[derive(Clone, Debug)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

struct Inner {
    root: ActorRef<RootMsg>,
    registry: Arc<Registry>,
    events: EventBus,
    ended: watch::Receiver<Option<Ended>>,
    _watching: Task<()>,
    _gauges: Task<()>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor").finish_non_exhaustive()
    }
}

/// How the tree ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was stopped.
    Stopped,
    /// A browser failed more often than it may be restarted. A service should exit now.
    Failed(String),
}

impl Supervisor {
    /// Starts an empty tree. `event_lag` events are kept for slow subscribers.
    ///
    /// # Errors
    /// [`StartError::Internal`] when the runtime cannot spawn.
    pub async fn start(event_lag: usize) -> Result<Self, StartError> {
        let registry = Arc::new(Registry::default());
        let events = EventBus::new(event_lag);
        let args = RootArgs { registry: Arc::clone(&registry), events: events.clone() };
        let (root, joined) =
            Actor::spawn(None, Root, args).await.map_err(|error| StartError::Internal(error.to_string()))?;
        let (tell, ended) = watch::channel(None);
        let status = Arc::clone(&registry);
        let watching = task::spawn(async move {
            let _ = joined.await;
            let failed = status.gave_up();
            tell.send_replace(Some(failed.map_or(Ended::Stopped, Ended::Failed)));
        });
        let gauges = gauges::keep(&registry);
        let inner = Inner { root, registry, events, ended, _watching: watching, _gauges: gauges };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// All tabs, by their number; from what is already known, no page is asked.
    pub fn tabs(&self) -> Vec<TabRow> {
        self.inner.registry.rows()
    }

    /// One tab.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub fn tab(&self, tab: TabId) -> Result<TabRow, TabError> {
        self.inner.registry.row(tab)
    }

    /// What a tab's page shows, as a stream of changes.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub fn watch_page(&self, tab: TabId) -> Result<PageWatch, TabError> {
        self.inner.registry.tab(tab).map(|handle| PageWatch::new(handle.shared.page.subscribe()))
    }

    /// Subscribes to events from now on.
    pub fn subscribe(&self) -> Subscription {
        self.inner.events.subscribe()
    }

    /// Stops everything: tabs, then the Chromiums that are ours. Returns when nothing of them is
    /// left.
    pub async fn stop(&self) {
        self.inner.root.stop(None);
        self.ended().await;
    }

    /// Completes when the tree has ended, by [`stop`](Self::stop) or by failing.
    pub async fn ended(&self) -> Ended {
        let mut ended = self.inner.ended.clone();
        let how = ended.wait_for(Option::is_some).await.ok().and_then(|how| how.clone());
        how.unwrap_or(Ended::Stopped)
    }

    #[cfg(test)]
    pub(crate) fn handle(&self, tab: TabId) -> Result<TabHandle, TabError> {
        self.inner.registry.tab(tab)
    }

    #[cfg(test)]
    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.inner.registry)
    }
}
