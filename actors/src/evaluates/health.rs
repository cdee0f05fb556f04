//! Whether the page answers: executes the effects of [`stuck`](crate::stuck).

use std::sync::Arc;
use std::time::Duration;

use ractor::ActorRef;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch;
use tabvisor_cdp::task;
use tabvisor_page::evaluate::Ending;
use tokio::time::Instant;

use super::{EvaluatesMsg, State};
use crate::events::Event;
use crate::later::later;
use crate::shared::{Stuck, TabShared};
use crate::stuck::{Effect, Health, Probe};

/// How long a page that fell silent gets to serve the probe.
const MOMENT: Duration = Duration::from_millis(150);

/// How long a page may take to confirm that its script was ended.
const ENDS: Duration = Duration::from_secs(2);

/// The least time after which work that waits is a reason to ask the page.
const SUSPICION: Duration = Duration::from_millis(50);

impl State {
    pub(super) fn look(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        let scripts = &self.tab.scripts;
        let went_on = self.went_on.len();
        // A dialog or a navigation has a name of its own, and is no less a reason for silence than a
        // script inside its budget.
        let running = scripts.running() + usize::from(self.is_excused());
        self.watch.set_policy(self.tab.recovery_policy());
        let effects = self.watch.look(Instant::now(), running, scripts.started(), went_on);
        self.execute(myself, effects);
    }

    fn is_excused(&self) -> bool {
        let condition = self.tab.condition.borrow();
        condition.hindrance().is_some() || condition.navigating
    }

    /// Sees to it that the page is asked whether it answers, if what waits now still does in a while. A
    /// tab on which nothing waits is never asked.
    pub(super) fn keep_suspecting(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        if self.suspecting.is_none() {
            let wait = (self.tab.browser.care.stuck_after / 2).max(SUSPICION);
            self.suspecting = Some(later(myself, wait, EvaluatesMsg::Suspect));
        }
    }

    pub(super) fn suspect(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        self.suspecting = None;
        if self.calls.is_empty() && self.held.is_empty() && !self.tab.acts() {
            return;
        }
        self.keep_suspecting(myself);
        if self.tab.scripts.running() == 0 && !self.is_excused() {
            let effects = self.watch.suspected(Instant::now());
            self.execute(myself, effects);
        }
    }

    pub(super) fn execute(&mut self, myself: &ActorRef<EvaluatesMsg>, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Canary => {
                    self.send_canary(myself);
                    self.send_probe(myself);
                }
                Effect::LookAt(when) => {
                    let wait = when.saturating_duration_since(Instant::now());
                    self.look = Some(later(myself, wait, EvaluatesMsg::Look));
                }
                Effect::Terminate => {
                    // It is not known which of them held the page; none gets it ended again.
                    for script in self.went_on.drain(..) {
                        script.kill();
                    }
                    if let Some(control) = &*self.tab.control.borrow() {
                        let mut ending = Ending::sent("recovery");
                        let answer = control.try_send("Runtime.terminateExecution", json!({}));
                        self.ending = Some(task::spawn(async move {
                            let answer = match answer {
                                Ok(answer) => Budget::new(ENDS).run(answer).await,
                                Err(error) => Ok(Err(error)),
                            };
                            match answer {
                                Ok(Ok(_)) => ending.terminated(),
                                Ok(Err(_)) => ending.failed(),
                                Err(_) => {}
                            }
                        }));
                        self.tab.browser.events.publish(Event::ScriptTerminated { tab: self.tab.id });
                    }
                }
                Effect::Stuck { reason, proven } => {
                    let since = match self.watch.health() {
                        Health::Stuck { since, .. } | Health::Silent { since, .. } => since,
                        Health::Free => Instant::now(),
                    };
                    let before = self.tab.stuck.send_replace(Some(Stuck { since, reason, proven }));
                    if before.is_none() {
                        self.tab.browser.events.publish(Event::TabStuck { tab: self.tab.id, reason });
                    }
                }
                Effect::Freed(after) => {
                    self.tab.stuck.send_replace(None);
                    let stuck_for_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                    self.tab.browser.events.publish(Event::TabFreed { tab: self.tab.id, stuck_for_ms });
                }
            }
        }
    }

    /// A marker on the control session; the task waits for it, this actor does not.
    fn send_canary(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        let number = self.canary.0 + 1;
        let tab = Arc::clone(&self.tab);
        let myself = myself.clone();
        let waiting = task::spawn(async move {
            canary(&tab).await;
            let _ = myself.cast(EvaluatesMsg::Canary(number));
        });
        self.canary = (number, Some(waiting));
    }

    /// A command on the control session that is served while a script runs. It has a moment; what
    /// does not serve it is beyond the reach of termination.
    fn send_probe(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        let number = self.canary.0;
        let tab = Arc::clone(&self.tab);
        let myself = myself.clone();
        self.probing = Some(task::spawn(async move {
            let probe = probe(&tab).await;
            let _ = myself.cast(EvaluatesMsg::Probed(number, probe));
        }));
    }
}

/// Completes when the page has answered, its renderer died, or the tab is gone.
async fn canary(tab: &TabShared) {
    let mut control = tab.control.subscribe();
    loop {
        let usable =
            control.wait_for(|it| it.as_ref().is_some_and(|session| !session.is_link_closed())).await;
        let Ok(Some(session)) = usable.map(|it| it.clone()) else { return };
        let marker = json!({ "expression": "0", "returnByValue": true });
        let answer = match session.send("Runtime.evaluate", marker).await {
            Ok(reply) => reply.await,
            Err(error) => Err(error),
        };
        match answer {
            Err(error) if error.ends_link() => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Whether the page serves interrupts; `None` where that cannot be told.
async fn probe(tab: &TabShared) -> Option<Probe> {
    let session = tab.control.borrow().clone()?;
    // A session that the renderer has never confirmed is not served by a page that is stuck.
    if !tab.confirmed.load(std::sync::atomic::Ordering::Relaxed) {
        return None;
    }
    let served = session.call("Performance.getMetrics", json!({}), &Budget::new(MOMENT)).await;
    match served {
        Ok(_) => Some(Probe::Served),
        Err(tabvisor_cdp::error::CdpError::Spent { .. }) => Some(why_silent(tab).await),
        Err(_) => None,
    }
}

/// Only of a browser of ours is it known which processes are its.
async fn why_silent(tab: &TabShared) -> Probe {
    let Some(browser) = tab.browser.ready().and_then(|facts| facts.pid) else { return Probe::Silent };
    let stopped = tokio::task::spawn_blocking(move || launch::stopped_renderers(browser)).await;
    match stopped.as_deref() {
        Ok([_]) => Probe::Stopped,
        _ => Probe::Silent,
    }
}
