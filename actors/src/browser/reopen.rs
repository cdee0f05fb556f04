//! The tabs of a browser that was lost, or is restarted on purpose, come back in the next one.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ractor::{ActorRef, RpcReplyPort};
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::Chromium;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::recover::{Recovering, blank, last_good};
use super::targets::TargetInfo;
use super::{BrowserMsg, Job, State};
use crate::error::TabError;
use crate::events::Event;
use crate::ids::TabId;
use crate::leaf;
use crate::recovery::{self, Ground, Recovered};
use crate::restart::{Intensity, RestartWindow, Verdict};
use crate::shared::{Gone, TabShared};

/// How long a tab may take to come back.
const REOPEN: Duration = Duration::from_secs(20);
/// How long a Chromium that is restarted on purpose may take to save what it has.
const SAVE: Duration = Duration::from_secs(5);

impl State {
    /// The browser works: brings back what the one before it had.
    pub(super) async fn bring_back(&mut self, myself: &ActorRef<BrowserMsg>, there: Vec<TargetInfo>) {
        let there: HashMap<String, TargetInfo> =
            there.into_iter().map(|info| (info.target_id.clone(), info)).collect();
        let launched = self.works.as_ref().is_some_and(|works| works.chromium.is_some());
        let mut returning: Vec<Arc<TabShared>> = self.returning.values().cloned().collect();
        returning.sort_by_key(|tab| tab.id);
        for tab in returning {
            if there.contains_key(&tab.target) {
                self.watch_again(myself, tab).await;
            } else if launched || tab.is_ours() {
                self.may_reopen(&tab);
            } else {
                // What others had opened in a browser of others is theirs to open again.
                // Cloned out first: burying it writes what is read here.
                let gone = tab.gone.borrow().clone();
                let Some(Gone::Returning { epoch, cause }) = gone else { continue };
                self.does_not_return(tab.id, Gone::BrowserLost { epoch, cause });
            }
        }
        self.reopen_next(myself).await;
    }

    fn may_reopen(&mut self, tab: &Arc<TabShared>) {
        let verdict = tab.returns.lock().unwrap_or_else(PoisonError::into_inner).record(Instant::now());
        match verdict {
            Verdict::Restart { .. } => self.waiting.push_back(tab.id),
            Verdict::Escalate => {
                let cause = "its browser was lost again and again while it was open".to_owned();
                self.does_not_return(tab.id, Gone::Lost { cause });
            }
        }
    }

    /// Opens as many as may be dialled at a time; the others when those are done.
    pub(super) async fn reopen_next(&mut self, myself: &ActorRef<BrowserMsg>) {
        while self.reopening < self.shared.limits.dials.max(1) {
            let Some(id) = self.waiting.pop_front() else { return };
            // It may have been closed while it waited.
            let Some(tab) = self.returning.get(&id).cloned() else { continue };
            let url = last_good(&tab).unwrap_or_else(blank);
            let (ground, lasts) = (self.ground(myself, tab), self.profile_lasts);
            self.reopening += 1;
            let work = recovery::reopen(ground, url, lasts, Budget::new(REOPEN));
            self.begin_return(myself, id, work).await;
        }
    }

    async fn watch_again(&mut self, myself: &ActorRef<BrowserMsg>, tab: Arc<TabShared>) {
        let (tell, told) = oneshot::channel();
        let (id, target) = (tab.id, tab.target.clone());
        let successor = tab.successor(target, false, &self.shared);
        self.returning.remove(&id);
        if let Err(error) =
            self.settle_in(myself, successor, None, RestartWindow::new(Intensity::RECOVERY)).await
        {
            tracing::error!(tab = %id, %error, "a tab could not be watched again");
            return self.registry.bury(&tab, Gone::Lost { cause: error.to_string() });
        }
        self.successors.insert(id, tell);
        self.reopening += 1;
        let work = recovery::watch_again(self.ground(myself, tab), told, Budget::new(REOPEN));
        self.begin_return(myself, id, work).await;
    }

    async fn begin_return(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        tab: TabId,
        work: impl Future<Output = Result<Recovered, TabError>> + Send + 'static,
    ) {
        let cause = self.cause;
        self.shared.events.publish(Event::RecoveryStarted { tab, cause });
        match leaf::spawn(myself.get_cell(), Box::pin(work)).await {
            Ok(job) => {
                self.jobs.insert(job.get_id(), Job::Return(Recovering { tab, cause, reply: None }));
            }
            Err(error) => {
                self.reopening -= 1;
                self.does_not_return(tab, Gone::Lost { cause: error.to_string() });
            }
        }
    }

    fn ground(&self, myself: &ActorRef<BrowserMsg>, tab: Arc<TabShared>) -> Ground {
        Ground {
            tab,
            registry: Arc::clone(&self.registry),
            browser: myself.clone(),
            process: self.works.as_ref().and_then(|works| works.chromium.as_ref()).map(Chromium::pid),
            cause: self.cause,
        }
    }

    /// Gives up a tab that waits for its return; nothing if it is there by now.
    pub(super) fn does_not_return(&mut self, id: TabId, why: Gone) {
        let Some(tab) = self.returning.remove(&id) else { return };
        let event = match &why {
            Gone::Closed => Event::TabClosed { tab: id },
            Gone::Lost { cause } | Gone::BrowserLost { cause, .. } => {
                tracing::warn!(tab = %id, cause, "a tab does not come back");
                Event::TabLost { tab: id, cause: cause.clone() }
            }
            _ => Event::TabLost { tab: id, cause: "it did not come back".into() },
        };
        self.registry.bury(&tab, why);
        self.shared.events.publish(event);
    }

    /// Restarts Chromium because somebody asked for it. Told when that has begun; whoever waits for a
    /// tab waits for the end of its recovery.
    pub(super) async fn restart_browser(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        id: TabId,
        reply: RpcReplyPort<Result<(), TabError>>,
    ) {
        if let Err(refused) = self.may_restart(id) {
            let _ = reply.send(Err(refused));
            return;
        }
        let Some(works) = &self.works else { return };
        let (root, heritage) = (works.root.clone(), Arc::clone(&self.heritage));
        let work = async move {
            let budget = Budget::new(SAVE);
            heritage.copy_cookies(&root, &budget).await;
            // It writes its profile; what is left of it is ended with this actor.
            root.cast("Browser.close", json!({}));
            let _ = budget.run(root.link_closed()).await;
        };
        match leaf::spawn(myself.get_cell(), work).await {
            Ok(job) => {
                self.asked = true;
                self.jobs.insert(job.get_id(), Job::Restart);
                for tab in self.tabs.values() {
                    tab.shared.recovering.send_replace(true);
                }
                let _ = reply.send(Ok(()));
            }
            Err(error) => {
                let _ = reply.send(Err(TabError::Internal(error.to_string())));
            }
        }
    }

    fn may_restart(&self, id: TabId) -> Result<(), TabError> {
        let (Some(tab), Some(works)) = (self.tabs.get(&id), &self.works) else { return Err(self.absent(id)) };
        if self.asked {
            return Err(TabError::TabRestarting { tab: id, sent: false });
        }
        tab.shared.unless_recovering()?;
        let why = if !self.shared.care.reopen_tabs {
            "browser costs every tab of the browser, and they are opened again only with care.reopen_tabs = true"
        } else if works.chromium.is_none() {
            "browser restarts a browser of ours, and this one is only attached to"
        } else {
            return Ok(());
        };
        Err(TabError::BadInput { field: "rung", why: why.into() })
    }

    /// Why nothing can be done to a tab that has no target.
    pub(super) fn absent(&self, id: TabId) -> TabError {
        if self.returning.contains_key(&id) {
            return TabError::TabRestarting { tab: id, sent: false };
        }
        self.registry.tab(id).err().unwrap_or(TabError::TabClosed { tab: id })
    }
}
