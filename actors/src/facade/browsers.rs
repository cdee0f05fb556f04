//! Calls on browsers.

use std::sync::Arc;

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::{Link, LinkOptions, Purpose};

use super::Supervisor;
use super::ask::ask;
use crate::error::{StartError, TabError};
use crate::ids::BrowserId;
use crate::registry::BrowserHandle;
use crate::root::{BrowserSpec, RootMsg};
use crate::shared::{BrowserFacts, BrowserStatus};

impl Supervisor {
    /// Starts a browser (or attaches to one) and waits until it works.
    ///
    /// # Errors
    /// [`TabError::BrowserUnavailable`] with the reason; a browser that never worked is not tried
    /// again by itself.
    pub async fn add_browser(&self, spec: BrowserSpec, budget: &Budget) -> Result<BrowserId, TabError> {
        let budget = budget.scoped();
        let cancel = budget.cancel_on_drop();
        let add = |reply| RootMsg::Add(Box::new(spec), budget.clone(), reply);
        let shared = ask(&self.inner.root, &budget, add).await.map_err(|_| TabError::Stopping)??;
        let id = shared.id;
        // Whoever goes away or fails before it works has no name for it, so it is not kept.
        let unkept = RemoveOnDrop { supervisor: Some(self.clone()), id };
        let mut status = shared.status.subscribe();
        let ready = status.wait_for(|now| !matches!(now, BrowserStatus::Starting));
        let ready = budget.run(ready).await.map_err(|spent| TabError::Budget {
            spent,
            doing: "starting the browser",
            sent: true,
        });
        match ready? {
            Ok(now) => match &*now {
                BrowserStatus::Ready(_) => {}
                BrowserStatus::Failed(error) => return Err(error.clone().into()),
                BrowserStatus::Lost { cause } => return Err(StartError::GaveUp(cause.clone()).into()),
                BrowserStatus::Starting => return Err(StartError::Internal("still starting".into()).into()),
            },
            Err(_) => return Err(TabError::Stopping),
        }
        unkept.keep();
        cancel.disarm();
        Ok(id)
    }

    /// Stops one browser: its tabs, then Chromium if it is ours.
    pub fn remove_browser(&self, id: BrowserId) {
        let _ = self.inner.root.cast(RootMsg::Remove(id));
    }

    /// The same, and waits until nothing of it is left: its profile folder may be used again then. It
    /// goes on if the budget ends before.
    ///
    /// # Errors
    /// [`TabError::Budget`].
    pub async fn stop_browser(&self, id: BrowserId, budget: &Budget) -> Result<(), TabError> {
        let Some(handle) = self.inner.registry.browser(id) else { return Ok(()) };
        let mut status = handle.shared.status.subscribe();
        self.remove_browser(id);
        let over = |now: &BrowserStatus| matches!(now, BrowserStatus::Failed(_) | BrowserStatus::Lost { .. });
        match budget.run(status.wait_for(over)).await {
            Ok(_) => Ok(()),
            Err(spent) => Err(TabError::Budget { spent, doing: "stopping the browser", sent: true }),
        }
    }

    /// Whether work on a browser is possible: by a new link, as every evaluate has one, on which the
    /// browser must answer. No page is asked.
    ///
    /// # Errors
    /// It does not work now, or not inside the budget.
    pub async fn probe(&self, id: BrowserId, budget: &Budget) -> Result<(), TabError> {
        let handle = self.inner.registry.browser(id).ok_or(StartError::Stopped)?;
        let shared = &handle.shared;
        let Some(facts) = shared.ready() else { return Err(browser_error(&handle)) };
        let spent =
            |spent| TabError::Budget { spent, doing: "waiting for a place among the dials", sent: false };
        let place = budget.run(shared.dials.acquire()).await.map_err(spent)?;
        let options = LinkOptions::new(Purpose::Browser);
        let link = Link::connect(&facts.ws_url, &shared.dial.get(), options, budget).await;
        drop(place);
        let link = link.map_err(StartError::from)?;
        link.root().call("Browser.getVersion", json!({}), budget).await.map_err(StartError::from)?;
        Ok(())
    }

    /// What is known of a browser that works now; `None` while it does not.
    pub fn browser(&self, id: BrowserId) -> Option<Arc<BrowserFacts>> {
        self.inner.registry.browser(id)?.shared.ready()
    }

    /// The browser as it is now, once it works; waits for one that is being restarted.
    pub(super) async fn ready_browser(
        &self,
        id: BrowserId,
        budget: &Budget,
    ) -> Result<BrowserHandle, TabError> {
        let mut changes = self.inner.registry.browser_changes();
        let wait = async {
            loop {
                changes.mark_unchanged();
                let handle = self.inner.registry.browser(id).ok_or(StartError::Stopped)?;
                let mut status = handle.shared.status.subscribe();
                let settled = status.wait_for(|now| !matches!(now, BrowserStatus::Starting)).await;
                let now = settled.map_err(|_| StartError::Stopped)?.clone();
                match now {
                    BrowserStatus::Ready(_) => return Ok(handle),
                    BrowserStatus::Failed(error) => return Err(error),
                    BrowserStatus::Lost { .. } | BrowserStatus::Starting => {
                        tokio::select! {
                            changed = changes.changed() => changed.map_err(|_| StartError::Stopped)?,
                            changed = status.changed() => changed.map_err(|_| StartError::Stopped)?,
                        }
                    }
                }
            }
        };
        let ready = budget.run(wait).await;
        ready
            .map_err(|spent| TabError::Budget { spent, doing: "waiting for the browser", sent: false })?
            .map_err(TabError::from)
    }
}

/// Removes a browser that nobody has a name for.
struct RemoveOnDrop {
    supervisor: Option<Supervisor>,
    id: BrowserId,
}

impl RemoveOnDrop {
    fn keep(mut self) {
        self.supervisor = None;
    }
}

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.remove_browser(self.id);
        }
    }
}

/// Why a browser's actor did not answer.
pub(super) fn browser_error(handle: &BrowserHandle) -> TabError {
    match &*handle.shared.status.borrow() {
        BrowserStatus::Lost { cause } => {
            TabError::BrowserLost { epoch: handle.shared.epoch, cause: cause.clone() }
        }
        BrowserStatus::Failed(error) => error.clone().into(),
        BrowserStatus::Starting | BrowserStatus::Ready(_) => {
            TabError::Internal("the browser's actor did not answer".into())
        }
    }
}
