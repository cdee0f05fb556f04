//! Evaluates: admission, the table of calls in flight, spare links, and whether the page answers.
//!
//! Purpose: gives every evaluate an actor and a link of its own, and settles its caller from that
//! actor's exit event.
//!
//! ```text
//!   Run --admitted--> in the table, Evaluate spawned --exit event--> settled, link kept or dropped
//!    |                                                    |
//!    +--stuck, spent: answered at once                    +--page silent--> canary --> freed
//! ```
//!
//! Supervised by: [`TabSupervisor`](crate::tab_supervisor), permanent.
//! Children: `Evaluate` per call, a warmer per spare link; all temporary.
//!
//! It never: awaits Chromium, dials, holds a link that is in use, answers a caller twice. The
//! number of callers is bounded by the permits that their messages carry.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::clock::PageClock;
use tabvisor_page::evaluate::{
    Answered, BlockedBy, EvaluateError, EvaluateLink, Phase, Script, Value, WentOn,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::error::TabError;
use crate::evaluate;
use crate::events::Event;
use crate::leaf::{self, End};
use crate::shared::{Stuck, TabShared};
use crate::stuck::{Effect, Health, StuckWatch};

/// The answer of an evaluate.
pub(crate) type EvaluateReply = Result<Value, TabError>;

/// What Evaluates takes.
pub(crate) enum EvaluatesMsg {
    /// Run a script.
    Run(Box<Run>),
    /// A call is past its budget and its grace: kill it.
    Overdue(ActorId),
    /// The canary of this number left the page's queue.
    Canary(u64),
    /// Look at the page's health again.
    Look,
    /// A page that just fell silent had its moment to answer.
    MomentOver,
}

/// A call that was admitted; its permits return when it is dropped.
pub(crate) struct Run {
    pub(crate) script: Script,
    pub(crate) budget: Budget,
    pub(crate) reply: RpcReplyPort<EvaluateReply>,
    pub(crate) permits: [OwnedSemaphorePermit; 2],
}

/// The actor.
pub(crate) struct Evaluates;

/// Its state.
pub(crate) struct State {
    tab: Arc<TabShared>,
    calls: HashMap<ActorId, Call>,
    /// Calls that came while the page had only just fallen silent; they wait a moment.
    held: Vec<Run>,
    moment: Option<Task<()>>,
    spares: Vec<EvaluateLink>,
    warming: Option<ActorId>,
    /// Scripts that went on after their answer, oldest first.
    went_on: VecDeque<ActorCell>,
    clock: Option<PageClock>,
    watch: StuckWatch,
    canary: (u64, Option<Task<()>>),
    look: Option<Task<()>>,
}

struct Call {
    cell: ActorCell,
    budget: Budget,
    reply: RpcReplyPort<EvaluateReply>,
    _permits: [OwnedSemaphorePermit; 2],
    _overdue: Task<()>,
}

/// After its budget an evaluate gets this long to answer by itself before it is killed. It is a
/// net: using it is a bug that is counted.
const KILL_GRACE: Duration = Duration::from_millis(250);
/// How long a page that fell silent gets to answer before calls are refused.
const MOMENT: Duration = Duration::from_millis(150);
/// How long a spare link may take to be attached and answered.
const WARM_UP: Duration = Duration::from_secs(10);

impl Actor for Evaluates {
    type Msg = EvaluatesMsg;
    type State = State;
    type Arguments = Arc<TabShared>;

    async fn pre_start(
        &self,
        _: ActorRef<EvaluatesMsg>,
        tab: Arc<TabShared>,
    ) -> Result<State, ActorProcessingErr> {
        tab.stuck.send_replace(None);
        Ok(State {
            watch: StuckWatch::new(tab.browser.care),
            tab,
            calls: HashMap::new(),
            held: Vec::new(),
            moment: None,
            spares: Vec::new(),
            warming: None,
            went_on: VecDeque::new(),
            clock: None,
            canary: (0, None),
            look: None,
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<EvaluatesMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        state.keep_a_spare(&myself).await;
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<EvaluatesMsg>,
        message: EvaluatesMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            EvaluatesMsg::Run(run) => state.run(&myself, *run).await,
            EvaluatesMsg::Overdue(id) => {
                if let Some(call) = state.calls.get(&id) {
                    tracing::error!(tab = %state.tab.id, "an evaluate did not answer inside its budget");
                    call.cell.kill();
                }
            }
            EvaluatesMsg::Canary(number) if number == state.canary.0 => {
                let effects = state.watch.answered(Instant::now());
                state.execute(&myself, effects);
                state.run_held(&myself).await;
                state.keep_a_spare(&myself).await;
            }
            EvaluatesMsg::Canary(_) => {}
            EvaluatesMsg::Look => state.look(&myself),
            EvaluatesMsg::MomentOver => state.run_held(&myself).await,
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<EvaluatesMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let Some(id) = event.actor_id() else { return Ok(()) };
        if state.warming == Some(id) {
            if let Some(end) = leaf::end::<Option<EvaluateLink>>(event) {
                state.warming = None;
                if let End::Done(Some(link)) = end {
                    state.keep(link);
                }
            }
        } else if let Some(place) = state.went_on.iter().position(|cell| cell.get_id() == id) {
            if let Some(end) = leaf::end::<bool>(event) {
                state.went_on.remove(place);
                if let End::Done(true) = end {
                    state.tab.browser.events.publish(Event::ScriptTerminated { tab: state.tab.id });
                }
            }
        } else if state.calls.contains_key(&id)
            && let Some(end) = leaf::end::<Answered>(event)
        {
            state.settle(&myself, id, end).await;
        }
        Ok(())
    }
}

impl State {
    async fn run(&mut self, myself: &ActorRef<EvaluatesMsg>, run: Run) {
        if run.reply.is_closed() {
            return;
        }
        if let Err(spent) = run.budget.check() {
            let _ = run.reply.send(Err(TabError::Budget { spent, doing: "waiting to start" }));
            return;
        }
        if let Some(left) = self.moment_left() {
            self.hold(myself, run, left);
            return;
        }
        let Run { script, budget, reply, permits } = run;
        if let Some(error) = self.refusal() {
            let _ = reply.send(Err(error));
            return;
        }
        let work =
            evaluate::serve(Arc::clone(&self.tab), self.take_spare(), script, self.clock, budget.clone());
        match leaf::spawn(myself.get_cell(), work).await {
            Ok(cell) => {
                let id = cell.get_id();
                let overdue = later(myself, budget.left() + KILL_GRACE, EvaluatesMsg::Overdue(id));
                let call = Call { cell, budget, reply, _permits: permits, _overdue: overdue };
                self.calls.insert(id, call);
            }
            Err(error) => {
                let _ = reply.send(Err(TabError::Internal(error.to_string())));
            }
        }
        self.keep_a_spare(myself).await;
    }

    /// What is left of the moment that a page gets to answer after it fell silent.
    fn moment_left(&self) -> Option<Duration> {
        let (Health::Silent { since, .. } | Health::Stuck { since, .. }) = self.watch.health() else {
            return None;
        };
        let beyond_reach = self.tab.stuck.borrow().is_some();
        let left = (since + MOMENT).saturating_duration_since(Instant::now());
        (beyond_reach && !left.is_zero()).then_some(left)
    }

    /// Ending a script takes a few milliseconds, more on a busy machine: a page that is free in a
    /// moment is not called stuck.
    fn hold(&mut self, myself: &ActorRef<EvaluatesMsg>, run: Run, left: Duration) {
        self.held.push(run);
        let wait = self.held.iter().map(|run| run.budget.left()).fold(left, Duration::min);
        self.moment = Some(later(myself, wait, EvaluatesMsg::MomentOver));
    }

    /// Runs or refuses the calls that waited.
    async fn run_held(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        self.moment = None;
        for run in std::mem::take(&mut self.held) {
            self.run(myself, run).await;
        }
    }

    /// A page that is known not to answer says so at once, instead of using up another budget.
    fn refusal(&self) -> Option<TabError> {
        let Stuck { since, reason } = (*self.tab.stuck.borrow())?;
        let way_out = match reason {
            BlockedBy::Script | BlockedBy::Evaluate => "terminate its script, or close the tab",
            BlockedBy::Native | BlockedBy::Unknown => "close the tab and open another",
        };
        Some(TabError::Stuck { tab: self.tab.id, reason, since: since.elapsed(), way_out })
    }

    /// The one place where a call in flight is answered.
    async fn settle(&mut self, myself: &ActorRef<EvaluatesMsg>, id: ActorId, end: End<Answered>) {
        let Some(call) = self.calls.remove(&id) else { return };
        let outcome = match end {
            End::Done(Answered { outcome, link, went_on }) => {
                if let Some(link) = link {
                    self.keep(link);
                }
                if let Some(script) = went_on {
                    self.look_after(myself, script, call.budget.is_cancelled()).await;
                }
                outcome.map_err(TabError::from)
            }
            End::Killed => match call.budget.check() {
                Err(spent) => Err(TabError::Budget { spent, doing: "running the script" }),
                Ok(()) => Err(TabError::Internal("the evaluate was killed".into())),
            },
            End::Panicked(why) => {
                metrics::counter!("tabvisor_crashes_total", "what" => "actor").increment(1);
                Err(TabError::Internal(why))
            }
        };
        let now = Instant::now();
        match &outcome {
            Err(TabError::Evaluate(EvaluateError::TimedOut(expiry) | EvaluateError::Aborted(expiry))) => {
                if matches!(expiry.phase, Phase::Running | Phase::Pending) {
                    self.watch.ours_ended(now);
                }
                let effects = self.watch.expired(expiry, now);
                self.execute(myself, effects);
            }
            Ok(_) | Err(TabError::Evaluate(_)) => self.watch.ours_ended(now),
            Err(_) => {}
        }
        // A caller that went away is no error; it was cancelled through its budget.
        let _ = call.reply.send(outcome);
        self.look(myself);
        self.keep_a_spare(myself).await;
    }

    /// A script that went on: an expired one may come to its end, which its caller was told; one
    /// that was cancelled is ended at its next statement.
    async fn look_after(&mut self, myself: &ActorRef<EvaluatesMsg>, script: WentOn, cancelled: bool) {
        let work = async move {
            if cancelled {
                return script.end().await;
            }
            script.over().await;
            false
        };
        if let Ok(cell) = leaf::spawn(myself.get_cell(), work).await {
            self.went_on.push_back(cell);
        }
        if self.went_on.len() > self.tab.browser.limits.evaluates_per_tab
            && let Some(oldest) = self.went_on.pop_front()
        {
            oldest.kill();
        }
    }

    fn look(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        let started = self.tab.started.load(std::sync::atomic::Ordering::Relaxed);
        let effects = self.watch.look(Instant::now(), started, self.went_on.len());
        self.execute(myself, effects);
    }

    fn execute(&mut self, myself: &ActorRef<EvaluatesMsg>, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Canary => self.send_canary(myself),
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
                        control.cast("Runtime.terminateExecution", json!({}));
                        metrics::counter!("tabvisor_terminate_execution_total", "cause" => "recovery", "result" => "sent")
                            .increment(1);
                        self.tab.browser.events.publish(Event::ScriptTerminated { tab: self.tab.id });
                    }
                }
                Effect::Stuck(reason) => {
                    let since = match self.watch.health() {
                        Health::Stuck { since, .. } | Health::Silent { since, .. } => since,
                        Health::Free => Instant::now(),
                    };
                    self.tab.stuck.send_replace(Some(Stuck { since, reason }));
                    self.tab.browser.events.publish(Event::TabStuck { tab: self.tab.id, reason });
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

    fn take_spare(&mut self) -> Option<EvaluateLink> {
        self.spares.retain(|link| !link.is_closed());
        self.spares.pop()
    }

    /// Keeps a clean link for the next call.
    fn keep(&mut self, link: EvaluateLink) {
        self.clock = link.clock().or(self.clock);
        if !link.is_closed() && self.spares.len() < self.tab.browser.limits.spare_links {
            self.spares.push(link);
        }
    }

    /// Sees to it that one link is attached before it is needed: a session attached after a page
    /// got stuck can neither end its script nor tell what holds it.
    async fn keep_a_spare(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        self.spares.retain(|link| !link.is_closed());
        let wanted =
            self.spares.is_empty() && self.warming.is_none() && self.tab.browser.limits.spare_links > 0;
        if !wanted || self.tab.stuck.borrow().is_some() {
            return;
        }
        let tab = Arc::clone(&self.tab);
        let warmer = leaf::spawn(myself.get_cell(), async move {
            let budget = Budget::new(WARM_UP);
            // Nobody attaches before the watcher listens.
            let mut control = tab.control.subscribe();
            budget.run(control.wait_for(Option::is_some)).await.ok()?.ok()?;
            let mut link = evaluate::dial(&tab, &budget).await.ok()?;
            link.warm_up(&budget).await.ok()?;
            Some(link)
        });
        self.warming = warmer.await.ok().map(|cell| cell.get_id());
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

/// Sends `message` to `actor` after `wait`, unless the task is dropped before.
fn later(actor: &ActorRef<EvaluatesMsg>, wait: Duration, message: EvaluatesMsg) -> Task<()> {
    let actor = actor.clone();
    task::spawn(async move {
        tokio::time::sleep(wait).await;
        let _ = actor.cast(message);
    })
}
