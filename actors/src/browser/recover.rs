//! Bringing tabs back: who may, who hears of it, and the change of a tab's target.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ractor::{Actor, ActorRef, RpcReplyPort, SupervisionEvent};
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::task;
use tokio::sync::oneshot;
use tokio::time::Instant;
use url::Url;

use super::tabs::CREATE;
use super::{BrowserMsg, Job, State, Tab};
use crate::error::TabError;
use crate::events::Event;
use crate::ids::TabId;
use crate::later::later;
use crate::leaf::{self, End};
use crate::limits::Recovery;
use crate::recovery::{self, Cause, Ground, LastRecovery, Plan, Recovered, Rung};
use crate::restart::Verdict;
use crate::shared::{Gone, TabShared};
use crate::tab_supervisor::{TabSupervisor, TabSupervisorArgs};

/// The answer to who asked for a recovery.
pub(crate) type RecoverReply = Result<Recovered, TabError>;

/// A recovery that is asked for.
pub(crate) struct Recover {
    pub(crate) tab: TabId,
    pub(crate) cause: Cause,
    /// The first rung to try, if it matters.
    pub(crate) rung: Option<Rung>,
    /// The last one that may be.
    pub(crate) last: Rung,
    /// What to load instead of the tab's last good address.
    pub(crate) url: Option<Url>,
    pub(crate) budget: Budget,
    pub(crate) reply: Option<RpcReplyPort<RecoverReply>>,
}

/// Whoever waits for the successor of a target.
pub(crate) type Successor = oneshot::Sender<Arc<TabShared>>;

/// A recovery at work.
pub(super) struct Recovering {
    tab: TabId,
    cause: Cause,
    reply: Option<RpcReplyPort<RecoverReply>>,
}

/// How long a recovery may take that nobody asked for.
const BY_ITSELF: Duration = Duration::from_secs(20);

impl State {
    pub(super) async fn recover(&mut self, myself: &ActorRef<BrowserMsg>, call: Recover) {
        let Recover { tab: id, cause, rung, last, url, budget, reply } = call;
        let (Some(tab), Some(works)) = (self.tabs.get_mut(&id), &self.works) else {
            let error = self.registry.tab(id).err().unwrap_or(TabError::TabClosed { tab: id });
            return refuse(reply, error);
        };
        tab.pause = None;
        if let Err(under_way) = tab.shared.unless_recovering() {
            return refuse(reply, under_way);
        }
        let first = rung.unwrap_or(if url.is_some() { Rung::Renderer } else { Rung::Dialog });
        let url = url.or_else(|| shown(&tab.shared)).unwrap_or_else(blank);
        let plan = Plan { first, last, named: rung.is_some() && last != rung.unwrap_or(last), url };
        let ground = Ground {
            tab: Arc::clone(&tab.shared),
            registry: Arc::clone(&self.registry),
            browser: myself.clone(),
            process: works.chromium.as_ref().map(tabvisor_cdp::launch::Chromium::pid),
            cause,
        };
        // With a budget of its own: what was begun with a page is brought to an end although its
        // caller goes away.
        let budget = Budget::new(budget.reserving(budget.cleanup_reserve()).left());
        match leaf::spawn(myself.get_cell(), Box::pin(recovery::climb(ground, plan, budget))).await {
            Ok(job) => {
                tab.shared.recovering.send_replace(true);
                self.shared.events.publish(Event::RecoveryStarted { tab: id, cause });
                self.jobs.insert(job.get_id(), Job::Recover(Recovering { tab: id, cause, reply }));
            }
            Err(error) => refuse(reply, TabError::Internal(error.to_string())),
        }
    }

    /// A recovery has ended.
    pub(super) fn recovered(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        work: Recovering,
        event: SupervisionEvent,
    ) {
        let Recovering { tab: id, cause, reply } = work;
        let outcome = match leaf::end::<RecoverReply>(event) {
            Some(End::Done(outcome)) => outcome,
            Some(End::Panicked(why)) => {
                metrics::counter!("tabvisor_crashes_total", "what" => "actor").increment(1);
                Err(TabError::Internal(why))
            }
            _ => Err(TabError::Internal("the recovery was killed".into())),
        };
        if let Some(tab) = self.tabs.get(&id) {
            tab.shared.recovering.send_replace(false);
            let (last, event) = match &outcome {
                Ok(recovered) => {
                    count(recovered);
                    if recovered.rung >= Rung::Renderer {
                        tab.shared.restarts.fetch_add(1, Ordering::Relaxed);
                    }
                    (LastRecovery::Recovered(recovered.clone()), Event::TabRecovered(recovered.clone()))
                }
                Err(error) => {
                    let tried = if let TabError::NotRecovered { tried, .. } = error {
                        tried.clone()
                    } else {
                        Vec::new()
                    };
                    let why = error.to_string();
                    tracing::warn!(tab = %id, why, "a tab was not brought back");
                    let event =
                        Event::RecoveryFailed { tab: id, cause, tried: tried.clone(), why: why.clone() };
                    (LastRecovery::Failed { cause, tried, why }, event)
                }
            };
            *tab.shared.last_recovery.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
            self.shared.events.publish(event);
        }
        if let Some(reply) = reply {
            let _ = reply.send(outcome);
        }
        // It may still be in need, or again.
        let _ = myself.cast(BrowserMsg::LookAfter(id));
    }

    /// Something may be wrong with a tab. What is done about it is a matter of its policy, and not done
    /// for ever.
    pub(super) fn look_after(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId) {
        let Some(tab) = self.tabs.get_mut(&id) else { return };
        let wanted = tab.shared.recovery_policy() == Recovery::Restart;
        let busy = tab.pause.is_some() || *tab.shared.recovering.borrow();
        let Some(cause) = recovery::trouble(&tab.shared).filter(|_| wanted && !busy) else { return };
        match tab.recoveries.record(Instant::now()) {
            Verdict::Restart { after } => {
                tab.pause = Some(later(myself, after, BrowserMsg::RecoverByItself(id, cause)));
            }
            Verdict::Escalate => {
                let cause = format!("it had to be brought back too often, last: {}", cause.name());
                if tab.ours {
                    self.close_target(id);
                }
                self.gone(id, Gone::Lost { cause });
            }
        }
    }

    /// Nobody asked for it; the reason may be over by now.
    pub(super) async fn recover_by_itself(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId, cause: Cause) {
        let Some(tab) = self.tabs.get_mut(&id) else { return };
        tab.pause = None;
        if recovery::trouble(&tab.shared).is_none() {
            return;
        }
        let budget = Budget::new(BY_ITSELF);
        let call = Recover { tab: id, cause, rung: None, last: Rung::Target, url: None, budget, reply: None };
        self.recover(myself, call).await;
    }

    /// Makes a target in which a tab goes on. Until it is known which one that is, the announcements of
    /// new targets wait.
    pub(super) async fn replace(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId, tell: Successor) {
        let (Some(tab), Some(works)) = (self.tabs.get(&id), &self.works) else { return };
        let (root, context, budget) = (works.root.clone(), tab.context.clone(), Budget::new(CREATE));
        let work = async move {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Created {
                target_id: String,
            }
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Contexts {
                browser_context_ids: Vec<String>,
            }
            let mut params = json!({ "url": "about:blank" });
            // The one that a browser begins with has a name, too, but may not be asked for by it.
            if let Some(context) = context {
                let known: Contexts = root.call_as("Target.getBrowserContexts", json!({}), &budget).await?;
                if known.browser_context_ids.contains(&context) {
                    params["browserContextId"] = context.into();
                }
            }
            let created: Created = root.call_as("Target.createTarget", params, &budget).await?;
            Ok::<_, CdpError>(created.target_id)
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

    /// From here on the tab is the new target; the old one is closed and speaks for it no more.
    async fn swap(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId, target: String, tell: Successor) {
        let Some(works) = &self.works else { return };
        if !self.tabs.contains_key(&id) || tell.is_closed() {
            // Its tab was closed meanwhile, or nobody waits for it any more.
            self.held_back.retain(|(info, _)| info.target_id != target);
            self.unwanted.insert(target.clone());
            works.root.cast("Target.closeTarget", json!({ "targetId": target }));
            return;
        }
        let Some(old) = self.tabs.remove(&id) else { return };
        let shared = old.shared.successor(target.clone());
        let args = TabSupervisorArgs {
            tab: Arc::clone(&shared),
            registry: Arc::clone(&self.registry),
            browser: myself.clone(),
        };
        old.shared.gone.send_replace(Some(Gone::Restarted));
        self.by_target.remove(&old.shared.target);
        old.supervisor.stop(None);
        works.root.cast("Target.closeTarget", json!({ "targetId": old.shared.target }));
        let supervisor = match Actor::spawn_linked(None, TabSupervisor, args, myself.get_cell()).await {
            Ok((supervisor, _)) => supervisor,
            Err(error) => {
                self.registry.bury(&shared, Gone::Lost { cause: error.to_string() });
                return;
            }
        };
        self.by_target.insert(target, id);
        self.successors.insert(id, tell);
        let watching = task::spawn(recovery::watch(Arc::clone(&shared), myself.clone()));
        let tab = Tab {
            shared,
            supervisor,
            paused: None,
            releasing: None,
            listening: false,
            _watching: watching,
            ..old
        };
        self.tabs.insert(id, tab);
    }
}

fn refuse(reply: Option<RpcReplyPort<RecoverReply>>, error: TabError) {
    if let Some(reply) = reply {
        let _ = reply.send(Err(error));
    }
}

/// The last address that was loaded well; of a page that never told anything of itself, the one that
/// the browser names.
fn shown(tab: &TabShared) -> Option<Url> {
    let page = tab.page.borrow();
    let url = page.last_good.as_ref().map_or(&page.state.url, |good| &good.url);
    Url::parse(url).ok()
}

fn blank() -> Url {
    #[expect(clippy::expect_used, reason = "a constant")]
    Url::parse("about:blank").expect("an address")
}

fn count(recovered: &Recovered) {
    let rung = recovered.rung.name();
    metrics::counter!("tabvisor_tab_restarts_total", "cause" => recovered.cause.name(), "rung" => rung)
        .increment(1);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds")]
    metrics::histogram!("tabvisor_tab_recovery_seconds", "rung" => rung)
        .record(recovered.took_ms as f64 / 1e3);
}
