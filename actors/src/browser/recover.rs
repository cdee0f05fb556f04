//! Bringing tabs back: who may, and who hears of it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ractor::{ActorRef, RpcReplyPort, SupervisionEvent};
use tabvisor_cdp::budget::Budget;
use tokio::time::Instant;
use url::Url;

use super::{BrowserMsg, Job, State};
use crate::error::TabError;
use crate::events::Event;
use crate::ids::TabId;
use crate::later::later;
use crate::leaf::{self, End};
use crate::limits::Recovery;
use crate::recovery::{self, Cause, Ground, LastRecovery, Plan, Recovered, Rung};
use crate::restart::Verdict;
use crate::shared::{Gone, TabShared};

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

/// A recovery at work.
pub(super) struct Recovering {
    pub(super) tab: TabId,
    pub(super) cause: Cause,
    pub(super) reply: Option<RpcReplyPort<RecoverReply>>,
}

/// How long a recovery may take that nobody asked for.
pub(super) const BY_ITSELF: Duration = Duration::from_secs(20);

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
        let tab = self.tabs.get(&id).map(|tab| Arc::clone(&tab.shared));
        // One that was to come back with this browser, and cannot, is in no table any more.
        let expected = self.registry.no_more_expected(id).map(|tab| tab.shared);
        if let Some(tab) = tab.or(expected) {
            tab.recovering.send_replace(false);
            let (last, event) = match &outcome {
                Ok(recovered) => {
                    count(recovered);
                    if recovered.rung >= Rung::Renderer {
                        tab.restarts.fetch_add(1, Ordering::Relaxed);
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
            *tab.last_recovery.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
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
}

fn refuse(reply: Option<RpcReplyPort<RecoverReply>>, error: TabError) {
    if let Some(reply) = reply {
        let _ = reply.send(Err(error));
    }
}

/// The last address that was loaded well; of a page that never told anything of itself, or has only
/// been empty so far, the one that it is at.
pub(super) fn shown(tab: &TabShared) -> Option<Url> {
    let page = tab.page.borrow();
    let good = page.last_good.as_ref().map(|good| &good.url).filter(|url| *url != "about:blank");
    Url::parse(good.unwrap_or(&page.state.url)).ok()
}

pub(super) fn blank() -> Url {
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
