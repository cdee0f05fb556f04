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

mod calls;
mod health;
mod spares;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task::Task;
use tabvisor_page::clock::PageClock;
use tabvisor_page::evaluate::{Answered, EvaluateLink, Script, Value};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tracing::Span;

use crate::error::TabError;
use crate::events::Event;
use crate::leaf::{self, End};
use crate::shared::TabShared;
use crate::stuck::{Probe, StuckWatch};

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
    /// The probe of this number was served, or not within its moment; `None`: it cannot be told.
    Probed(u64, Option<Probe>),
    /// The budget of a held call has ended.
    HeldExpired,
    /// An action was asked for.
    WorkWaits,
    /// Work may have been waiting for a while.
    Suspect,
}

/// A call that was admitted; its permits return when it is dropped.
pub(crate) struct Run {
    pub(crate) script: Script,
    pub(crate) budget: Budget,
    /// When it was put into the mailbox.
    pub(crate) asked: Instant,
    /// The span of its caller, which goes on in the work.
    pub(crate) span: Span,
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
    held_timer: Option<Task<()>>,
    /// The page has just fallen silent and gets a moment to serve the probe.
    probing: Option<Task<()>>,
    spares: Vec<EvaluateLink>,
    warming: Option<ActorId>,
    /// Scripts that went on after their answer, oldest first.
    went_on: VecDeque<ActorCell>,
    clock: Option<PageClock>,
    watch: StuckWatch,
    canary: (u64, Option<Task<()>>),
    look: Option<Task<()>>,
    /// The page was asked to end its script; what comes of that is counted.
    ending: Option<Task<()>>,
    /// While work waits, the page is asked now and then whether it answers.
    suspecting: Option<Task<()>>,
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
const KILL_GRACE: Duration = Duration::from_secs(1);
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
            held_timer: None,
            probing: None,
            spares: Vec::new(),
            warming: None,
            went_on: VecDeque::new(),
            clock: None,
            canary: (0, None),
            look: None,
            ending: None,
            suspecting: None,
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
            EvaluatesMsg::Run(run) => {
                state.keep_suspecting(&myself);
                state.run(&myself, *run).await;
            }
            EvaluatesMsg::WorkWaits => state.keep_suspecting(&myself),
            EvaluatesMsg::Suspect => state.suspect(&myself),
            EvaluatesMsg::Overdue(id) => {
                if let Some(call) = state.calls.get(&id) {
                    tracing::error!(tab = %state.tab.id, "an evaluate did not answer inside its budget");
                    call.cell.kill();
                }
            }
            EvaluatesMsg::Canary(number) if number == state.canary.0 => {
                state.probing = None;
                let effects = state.watch.answered(Instant::now());
                state.execute(&myself, effects);
                state.run_held(&myself).await;
                state.keep_a_spare(&myself).await;
            }
            EvaluatesMsg::Look => state.look(&myself),
            EvaluatesMsg::Probed(number, probe) if number == state.canary.0 => {
                state.probing = None;
                let effects = probe.map(|probe| state.watch.probed(probe)).unwrap_or_default();
                state.execute(&myself, effects);
                state.run_held(&myself).await;
            }
            // Of an earlier silence.
            EvaluatesMsg::Canary(_) | EvaluatesMsg::Probed(..) => {}
            EvaluatesMsg::HeldExpired => state.run_held(&myself).await,
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
