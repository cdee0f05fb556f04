//! The tab table: opening, handing over, closing, losing.

use std::sync::Arc;
use std::time::Duration;

use ractor::{ActorId, ActorRef, RpcReplyPort, SupervisionEvent};
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::{BrowserMsg, Job, Opened, STOP_TABS, State};
use crate::error::{StartError, TabError};
use crate::events::Event;
use crate::ids::TabId;
use crate::leaf;
use crate::shared::Gone;

/// How long making a target may take.
pub(super) const CREATE: Duration = Duration::from_secs(10);

/// Makes an empty page, in the default browser context or in this one.
pub(super) async fn create_empty(
    root: &Session,
    context: Option<String>,
    budget: &Budget,
) -> Result<String, CdpError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Created {
        target_id: String,
    }
    let mut params = json!({ "url": "about:blank" });
    if let Some(context) = context {
        params["browserContextId"] = context.into();
    }
    let created: Created = root.call_as("Target.createTarget", params, budget).await?;
    Ok(created.target_id)
}

impl State {
    pub(super) async fn open(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        reply: RpcReplyPort<Result<Opened, TabError>>,
    ) {
        let Some(works) = &self.works else {
            let _ =
                reply.send(Err(TabError::BrowserUnavailable(StartError::Internal("not started yet".into()))));
            return;
        };
        let opening = self.jobs.values().filter(|job| matches!(job, Job::Open(_))).count();
        if let Some(full) = self.full(opening) {
            let _ = reply.send(Err(full));
            return;
        }
        // Empty first: a target made with an address runs before anybody can listen (measured).
        // With a budget of its own: a target that is made although its caller has given up must be
        // known, or nobody would ever close it.
        let (root, budget) = (works.root.clone(), Budget::new(CREATE));
        let work = async move { create_empty(&root, None, &budget).await };
        match leaf::spawn(myself.get_cell(), work).await {
            Ok(job) => {
                self.jobs.insert(job.get_id(), Job::Open(reply));
            }
            Err(error) => {
                let _ = reply.send(Err(TabError::Internal(error.to_string())));
            }
        }
    }

    /// A tab that a caller asked for is handed over once its watcher listens.
    pub(super) fn opened(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        id: TabId,
        reply: RpcReplyPort<Result<Opened, TabError>>,
    ) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            let _ = reply.send(Err(TabError::TabClosed { tab: id }));
            return;
        };
        tab.ours = true;
        let runs = tab.listening && tab.releasing.is_none();
        self.opening.insert(id, reply);
        if runs {
            self.hand_over(myself, id);
        }
    }

    pub(super) fn hand_over(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId) {
        if let (Some(tell), Some(tab)) = (self.successors.remove(&id), self.tabs.get(&id)) {
            let _ = tell.send(Arc::clone(&tab.shared));
        }
        let Some(reply) = self.opening.remove(&id) else { return };
        // If nobody is there to take it, it is dropped and closes its tab.
        let _ = reply.send(Ok(Opened::new(id, myself.clone(), Arc::clone(&self.registry))));
    }

    /// Closes the tabs whose callers have gone before they could be handed over.
    pub(super) fn close_unwaited(&mut self) {
        let gone = self.opening.extract_if(|_, reply| reply.is_closed());
        let gone: Vec<TabId> = gone.map(|(id, _)| id).collect();
        for id in gone {
            self.close_target(id);
        }
    }

    /// Closes a target that has no tab, or one that nobody has heard of.
    pub(super) fn close_unwanted(&mut self, target: String) {
        let Some(works) = &self.works else { return };
        works.root.cast("Target.closeTarget", json!({ "targetId": target }));
        if !self.by_target.contains_key(&target) {
            self.unwanted.insert(target);
        }
    }

    pub(super) fn full(&self, opening: usize) -> Option<TabError> {
        let max = self.shared.limits.tabs;
        (self.tabs.len() + opening >= max).then(|| {
            metrics::counter!("tabvisor_rejected_total", "reason" => "overloaded").increment(1);
            TabError::Overloaded { limit: "limits.tabs", max, retry_after_ms: 1000 }
        })
    }

    pub(super) async fn close(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        id: TabId,
        budget: Budget,
        reply: RpcReplyPort<Result<(), TabError>>,
    ) {
        // Always answered, also for a page that is stuck (measured); `Page.close` is not.
        self.ask_browser(myself, id, "Target.closeTarget", budget, reply, |reply| Job::Close(id, reply))
            .await;
    }

    pub(super) async fn focus(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        id: TabId,
        budget: Budget,
        reply: RpcReplyPort<Result<(), TabError>>,
    ) {
        // Answered by the browser process, also for a page that is stuck (measured).
        self.ask_browser(myself, id, "Target.activateTarget", budget, reply, Job::Focus).await;
    }

    /// Has a leaf do something to a tab's target by way of the browser link; its end is `job`'s.
    async fn ask_browser(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        id: TabId,
        method: &'static str,
        budget: Budget,
        reply: RpcReplyPort<Result<(), TabError>>,
        job: impl FnOnce(RpcReplyPort<Result<(), TabError>>) -> Job,
    ) {
        let (Some(tab), Some(works)) = (self.tabs.get(&id), &self.works) else {
            let error = self.registry.tab(id).err().unwrap_or(TabError::TabClosed { tab: id });
            let _ = reply.send(Err(error));
            return;
        };
        let (root, target) = (works.root.clone(), tab.shared.target.clone());
        let work = async move { root.call(method, json!({ "targetId": target }), &budget).await.map(drop) };
        match leaf::spawn(myself.get_cell(), work).await {
            Ok(leaf) => {
                self.jobs.insert(leaf.get_id(), job(reply));
            }
            Err(error) => {
                let _ = reply.send(Err(TabError::Internal(error.to_string())));
            }
        }
    }

    /// A browser that is not ours goes on; only what we opened in it is closed.
    pub(super) async fn close_ours(&self, root: &Session) {
        let budget = Budget::new(STOP_TABS);
        for tab in self.tabs.values().filter(|tab| tab.ours) {
            let params = json!({ "targetId": tab.shared.target });
            if let Err(error) = root.call("Target.closeTarget", params, &budget).await {
                tracing::debug!(tab = %tab.shared.id, %error, "a tab of ours was not closed");
            }
        }
    }

    pub(super) fn close_target(&self, id: TabId) {
        if let (Some(tab), Some(works)) = (self.tabs.get(&id), &self.works) {
            works.root.cast("Target.closeTarget", json!({ "targetId": tab.shared.target }));
        }
    }

    /// Ends what belongs to a tab.
    pub(super) fn gone(&mut self, id: TabId, why: Gone) {
        let Some(tab) = self.tabs.remove(&id) else { return };
        self.unlisted.remove(&id);
        self.ready_once_listed();
        self.by_target.remove(&tab.shared.target);
        self.successors.remove(&id);
        if let Some(reply) = self.opening.remove(&id) {
            let _ = reply.send(Err(why.error(id)));
        }
        let event = match &why {
            Gone::Lost { cause } => Event::TabLost { tab: id, cause: cause.clone() },
            _ => Event::TabClosed { tab: id },
        };
        self.registry.bury(&tab.shared, why);
        tab.supervisor.stop(None);
        self.shared.events.publish(event);
    }

    /// A tab's supervisor ended without being told to: its tab is lost, and only its.
    pub(super) fn supervisor_ended(&mut self, id: ActorId, event: SupervisionEvent) {
        let tab = self.tabs.iter().find(|(_, tab)| tab.supervisor.get_id() == id).map(|(tab, _)| *tab);
        let Some(tab) = tab else { return };
        let cause = match event {
            SupervisionEvent::ActorFailed(_, error) => error.to_string(),
            _ => "its supervisor ended".into(),
        };
        metrics::counter!("tabvisor_crashes_total", "what" => "actor").increment(1);
        // A page that was there before us stays: it is only we who cannot look after it.
        if self.tabs.get(&tab).is_some_and(|tab| tab.ours) {
            self.close_target(tab);
        }
        self.gone(tab, Gone::Lost { cause });
    }
}
