//! The change of a tab's target.

use std::sync::Arc;

use ractor::{ActorRef, SupervisionEvent};
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tokio::sync::oneshot;

use super::tabs::{CREATE, create_empty};
use super::targets::Seat;
use super::{BrowserMsg, Job, State};
use crate::ids::TabId;
use crate::leaf::{self, End};
use crate::shared::{Gone, TabShared};

/// Whoever waits for the successor of a target.
pub(crate) type Successor = oneshot::Sender<Arc<TabShared>>;

impl State {
    /// Makes a target in which a tab goes on. Until it is known which one that is, the announcements of
    /// new targets wait.
    pub(super) async fn replace(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId, tell: Successor) {
        let Some(works) = &self.works else { return };
        // One of a browser that was lost had a context that went with it.
        let context = self.tabs.get(&id).and_then(|tab| tab.context.clone());
        let (root, budget) = (works.root.clone(), Budget::new(CREATE));
        let work = async move {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Contexts {
                browser_context_ids: Vec<String>,
            }
            let mut known = None;
            // The one that a browser begins with has a name, too, but may not be asked for by it.
            if let Some(context) = context {
                let all: Contexts = root.call_as("Target.getBrowserContexts", json!({}), &budget).await?;
                known = all.browser_context_ids.contains(&context).then_some(context);
            }
            create_empty(&root, known, &budget).await
        };
        if let Ok(job) = leaf::spawn(myself.get_cell(), work).await {
            self.jobs.insert(job.get_id(), Job::Replace(id, tell));
        }
    }

    /// The new target is there.
    pub(super) async fn replaced(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        id: TabId,
        tell: Successor,
        event: SupervisionEvent,
    ) {
        match leaf::end::<Result<String, CdpError>>(event) {
            Some(End::Done(Ok(target))) => self.swap(myself, id, target, tell).await,
            other => tracing::warn!(tab = %id, ?other, "no target for a tab to go on in"),
        }
        if self.jobs.values().any(|job| matches!(job, Job::Replace(..))) {
            return;
        }
        for (info, session) in std::mem::take(&mut self.held_back) {
            self.attached(myself, info, session).await;
        }
    }

    /// From here on the tab is the new target; the old one, if there still is one, is closed and speaks
    /// for it no more.
    async fn swap(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId, target: String, tell: Successor) {
        let Some(works) = &self.works else { return };
        let wanted = !tell.is_closed();
        let old = if wanted { self.tabs.remove(&id) } else { None };
        let before = if old.is_none() && wanted { self.registry.no_more_expected(id) } else { None };
        let shared = match (&old, &before) {
            (Some(old), _) => Arc::clone(&old.shared),
            (None, Some(before)) => Arc::clone(&before.shared),
            (None, None) => {
                // Its tab was closed meanwhile, or nobody waits for it any more.
                self.held_back.retain(|(info, _)| info.target_id != target);
                self.unwanted.insert(target.clone());
                works.root.cast("Target.closeTarget", json!({ "targetId": target }));
                return;
            }
        };
        let successor = shared.successor(target, Arc::clone(&self.shared));
        let ours = before.is_some_and(|before| before.ours);
        let mut seat = Seat { family: id, ours, context: None, paused: None };
        let mut recoveries = None;
        if let Some(old) = old {
            shared.gone.send_replace(Some(Gone::Restarted));
            self.by_target.remove(&shared.target);
            old.supervisor.stop(None);
            works.root.cast("Target.closeTarget", json!({ "targetId": shared.target }));
            seat = Seat { family: old.family, ours: old.ours, context: old.context, paused: None };
            recoveries = Some(old.recoveries);
        }
        if let Err(error) = self.seat(myself, Arc::clone(&successor), seat).await {
            self.registry.bury(&successor, Gone::Lost { cause: error.to_string() });
            return;
        }
        if let (Some(tab), Some(recoveries)) = (self.tabs.get_mut(&id), recoveries) {
            tab.recoveries = recoveries;
        }
        self.successors.insert(id, tell);
        // Its page waits at its birth. Others may be waited for still, but whoever goes on here must not
        // find it waiting.
        if let Some(at) = self.held_back.iter().position(|(info, _)| info.target_id == successor.target) {
            let (info, session) = self.held_back.swap_remove(at);
            self.attached(myself, info, session).await;
        }
    }
}
