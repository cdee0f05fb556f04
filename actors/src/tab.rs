//! Tab: the page session and the ordered actions on it.
//!
//! Purpose: actions of one tab run one after the other, in the order in which they came.
//!
//! ```text
//!   spawned --> dialling --> ready <--> one Action at work
//!                  |           |
//!                  |           +--link closed--> Err (restarted by its supervisor)
//!                  +--failed--> Err
//! ```
//!
//! Supervised by: [`TabSupervisor`](crate::tab_supervisor), permanent; started last, since nobody
//! may navigate before the watcher listens.
//! Children: at most one `Action` at work, waits that let others pass, and the dialler; temporary.
//!
//! A wait takes its turn, so that it begins behind what was asked for before it. Then it only looks,
//! and what it waits for may be what the next action brings about: so it does not keep its place.
//!
//! What waits when it fails is given back and done by the next one in its place.
//!
//! It never: awaits Chromium in `handle`, starts a second action beside one at work, waits for a
//! slow action before it answers one that expired in the queue.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::link::{Link, Purpose, Session};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::act::ActError;
use tabvisor_page::frame_sessions::{FrameChange, FrameSessions};
use tabvisor_page::state::{self, PageState, Watching};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tracing::{Instrument, Span};

use crate::action::{self, Action, Done, Stage};
use crate::dial;
use crate::dialog_watcher::patience;
use crate::error::TabError;
use crate::events::Event;
use crate::later::later;
use crate::leaf::{self, End};
use crate::outcome::outcome_word;
use crate::queue::ActionQueue;
use crate::shared::TabShared;

/// The answer of an action.
pub(crate) type ActionReply = Result<Done, TabError>;

/// What Tab takes.
pub(crate) enum TabMsg {
    /// Do this, after what came before.
    Act(Box<Act>),
    /// The budget of one that waits is spent.
    Spent(u64, Spent),
    /// The action at work is past its budget and its grace: kill it.
    Overdue(ActorId),
    /// The page link is gone.
    LinkClosed(CloseCause),
    /// What the page shows is not heard of any more.
    Blind(CdpError),
}

/// An action that was admitted; its permit returns when it is dropped.
pub(crate) struct Act {
    pub(crate) action: Action,
    pub(crate) budget: Budget,
    /// When it was put into the mailbox.
    pub(crate) asked: Instant,
    /// The span of its caller, which goes on in the work.
    pub(crate) span: Span,
    pub(crate) reply: RpcReplyPort<ActionReply>,
    pub(crate) permit: OwnedSemaphorePermit,
}

/// The actor.
pub(crate) struct Tab;

/// Its state.
pub(crate) struct State {
    tab: Arc<TabShared>,
    dialling: Option<ActorId>,
    page: Option<Page>,
    closed: Option<Task<()>>,
    queue: ActionQueue<Waiting>,
    at_work: Option<AtWork>,
    /// Waits that had their turn and let others pass.
    watching: HashMap<ActorId, AtWork>,
    failing: Option<Failing>,
}

/// It fails as soon as what was begun has said what became of it.
struct Failing {
    why: String,
    as_link: CdpError,
    _last_words: Vec<Task<()>>,
}

/// The page link, what is watched over it, and the sessions on its frames.
pub(crate) struct Page {
    _link: Link,
    session: Session,
    frames: FrameSessions,
    _watching: Task<()>,
    _attaching: Task<()>,
    /// The file chooser that is waited for; at most one.
    armed: Option<Task<()>>,
}

/// The page link, as it was dialled.
struct Dialled {
    link: Link,
    session: Session,
    watching: Watching,
}

struct Waiting {
    act: Act,
    timer: Option<Task<()>>,
}

struct AtWork {
    cell: ActorCell,
    name: &'static str,
    budget: Budget,
    reply: RpcReplyPort<ActionReply>,
    _permit: OwnedSemaphorePermit,
    _overdue: Task<()>,
}

/// How long dialling may take.
const DIAL: Duration = Duration::from_secs(10);
/// How long a closed tab may take to be known as closed.
const GONE_WITHIN: Duration = Duration::from_secs(5);
/// How long an action whose link is gone may take to say what of it was sent.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// A net, as in [`Evaluates`](crate::evaluates).
const KILL_GRACE: Duration = Duration::from_secs(1);

impl Actor for Tab {
    type Msg = TabMsg;
    type State = State;
    type Arguments = Arc<TabShared>;

    async fn pre_start(&self, _: ActorRef<TabMsg>, tab: Arc<TabShared>) -> Result<State, ActorProcessingErr> {
        Ok(State {
            tab,
            dialling: None,
            page: None,
            closed: None,
            queue: ActionQueue::default(),
            at_work: None,
            watching: HashMap::new(),
            failing: None,
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<TabMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let dial = dial(Arc::clone(&state.tab));
        state.dialling = Some(leaf::spawn(myself.get_cell(), dial).await?.get_id());
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<TabMsg>,
        message: TabMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            TabMsg::Act(act) => {
                state.enqueue(&myself, *act);
                state.start_next(&myself).await;
            }
            TabMsg::Spent(ticket, spent) => {
                if let Some(Waiting { act, .. }) = state.queue.remove(ticket) {
                    let _ = act.reply.send(Err(TabError::Budget {
                        spent,
                        doing: "waiting for its turn",
                        sent: false,
                    }));
                }
            }
            TabMsg::Overdue(id) => {
                let at_work = state.at_work.as_ref().filter(|work| work.cell.get_id() == id);
                if let Some(work) = at_work.or(state.watching.get(&id)) {
                    if state.failing.is_none() {
                        tracing::error!(tab = %state.tab.id, action = work.name, "an action did not answer inside its budget");
                    }
                    work.cell.kill();
                }
            }
            TabMsg::LinkClosed(cause) => {
                let why = format!("the page link closed: {cause}");
                return state.fail_after_last_words(&myself, why, CdpError::LinkClosed(cause));
            }
            TabMsg::Blind(error) => {
                let why = format!("the page is not watched any more: {error}");
                return state.fail_after_last_words(&myself, why, error);
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<TabMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let Some(id) = event.actor_id() else { return Ok(()) };
        if state.dialling == Some(id) {
            let Some(end) = leaf::end::<Result<Dialled, CdpError>>(event) else { return Ok(()) };
            state.dialling = None;
            let Dialled { link, session, watching } = match end {
                End::Done(Ok(dialled)) => dialled,
                End::Done(Err(why)) => return state.fail(format!("dialling the page link: {why}")),
                End::Killed => return state.fail("dialling the page link was killed".into()),
                End::Panicked(why) => return state.fail(why),
            };
            state.closed = Some(task::spawn(watch_link(session.clone(), myself.clone())));
            let (frames, attaching) = FrameSessions::watch(&link, &session, remember(Arc::clone(&state.tab)));
            let watching = watch_page(Arc::clone(&state.tab), watching, myself.clone());
            state.page = Some(Page {
                _link: link,
                session,
                frames,
                _watching: task::spawn(watching),
                _attaching: task::spawn(attaching),
                armed: None,
            });
        } else if state.at_work.as_ref().is_some_and(|work| work.cell.get_id() == id) {
            let Some(end) = leaf::end::<ActionReply>(event) else { return Ok(()) };
            state.queue.done();
            if let Some(work) = state.at_work.take() {
                state.settle(work, end);
            }
        } else if state.watching.contains_key(&id) {
            let Some(end) = leaf::end::<ActionReply>(event) else { return Ok(()) };
            if let Some(work) = state.watching.remove(&id) {
                state.settle(work, end);
            }
        }
        state.fail_if_silent()?;
        state.start_next(&myself).await;
        Ok(())
    }
}

impl State {
    /// The action at work hears by itself that its link is gone, and knows what of it was sent.
    fn fail_after_last_words(
        &mut self,
        myself: &ActorRef<TabMsg>,
        why: String,
        as_link: CdpError,
    ) -> Result<(), ActorProcessingErr> {
        let begun = self.at_work.iter().chain(self.watching.values()).map(|work| work.cell.get_id());
        let last_words = begun.map(|id| later(myself, LAST_WORDS, TabMsg::Overdue(id))).collect();
        self.failing = Some(Failing { why, as_link, _last_words: last_words });
        self.fail_if_silent()
    }

    fn fail_if_silent(&mut self) -> Result<(), ActorProcessingErr> {
        if self.at_work.is_some() || !self.watching.is_empty() {
            return Ok(());
        }
        match self.failing.take() {
            Some(Failing { why, .. }) => self.fail(why),
            None => Ok(()),
        }
    }

    /// Gives back what waits, so that it can be done by the next one in this place.
    fn fail(&mut self, why: String) -> Result<(), ActorProcessingErr> {
        for Waiting { act, .. } in self.queue.drain() {
            let _ = act.reply.send(Ok(Done::NotStarted));
        }
        Err(why.into())
    }

    fn enqueue(&mut self, myself: &ActorRef<TabMsg>, act: Act) {
        if act.reply.is_closed() {
            return;
        }
        let budget = act.budget.clone();
        let ticket = self.queue.push(Waiting { act, timer: None });
        let myself = myself.clone();
        let timer = task::spawn(async move {
            let spent = budget.spent().await;
            let _ = myself.cast(TabMsg::Spent(ticket, spent));
        });
        if let Some(waiting) = self.queue.waiting_mut(ticket) {
            waiting.timer = Some(timer);
        }
    }

    async fn start_next(&mut self, myself: &ActorRef<TabMsg>) {
        let Some(Page { session, frames, .. }) = &self.page else { return };
        // What waits is given back once that is heard of.
        if self.failing.is_some() || session.is_link_closed() {
            return;
        }
        let stage = Stage { tab: Arc::clone(&self.tab), session: session.clone(), frames: frames.clone() };
        while let Some(Waiting { act, .. }) = self.queue.start_next() {
            let Act { action, budget, asked, span, reply, permit } = act;
            let (name, lets_pass) = (action.name(), action.lets_pass());
            let work = action::perform(stage.clone(), action, budget.clone()).instrument(span);
            let error = match (budget.check(), reply.is_closed()) {
                (Err(spent), _) => {
                    Some(TabError::Budget { spent, doing: "waiting for its turn", sent: false })
                }
                (Ok(()), true) => Some(TabError::Stopping),
                (Ok(()), false) => None,
            };
            if let Some(error) = error {
                let _ = reply.send(Err(error));
                self.queue.done();
                continue;
            }
            budget.begin();
            metrics::histogram!("tabvisor_queue_wait_seconds", "kind" => "action")
                .record(asked.elapsed().as_secs_f64());
            match leaf::spawn(myself.get_cell(), work).await {
                Ok(cell) => {
                    let overdue = later(myself, budget.left() + KILL_GRACE, TabMsg::Overdue(cell.get_id()));
                    let work = AtWork { cell, name, budget, reply, _permit: permit, _overdue: overdue };
                    if lets_pass {
                        self.watching.insert(work.cell.get_id(), work);
                        self.queue.done();
                        continue;
                    }
                    self.at_work = Some(work);
                    return;
                }
                Err(error) => {
                    let _ = reply.send(Err(TabError::Internal(error.to_string())));
                    self.queue.done();
                }
            }
        }
    }

    /// The one place where an action that was begun is answered.
    fn settle(&mut self, work: AtWork, end: End<ActionReply>) {
        let outcome = match end {
            End::Done(Ok(Done::Armed(armed))) => {
                if let (Some(armed), Some(page)) = (armed, &mut self.page) {
                    page.armed = Some(task::spawn(armed.serve()));
                }
                Ok(Done::Armed(None))
            }
            End::Done(outcome) => outcome,
            End::Killed => match (work.budget.check(), &self.failing) {
                (Err(spent), _) => Err(TabError::Budget { spent, doing: "acting on the page", sent: true }),
                (Ok(()), Some(failing)) => {
                    Err(TabError::Act(ActError::Link { error: failing.as_link.clone(), sent: true }))
                }
                (Ok(()), None) => Err(TabError::Internal("the action was killed".into())),
            },
            End::Panicked(why) => {
                metrics::counter!("tabvisor_crashes_total", "what" => "actor").increment(1);
                Err(TabError::Internal(why))
            }
        };
        let word = outcome_word(outcome.as_ref().map(|_| ()), "ok");
        metrics::histogram!("tabvisor_action_duration_seconds", "action" => work.name, "outcome" => word)
            .record(work.budget.elapsed().as_secs_f64());
        let _ = work.reply.send(outcome);
    }
}

async fn dial(tab: Arc<TabShared>) -> Result<Dialled, CdpError> {
    let budget = Budget::new(DIAL);
    let spent = |spent| CdpError::spent("connect", spent);
    // Nobody may navigate before the watcher listens.
    let mut control = tab.control.subscribe();
    let listening = budget.run(control.wait_for(Option::is_some)).await.map_err(spent)?;
    listening.map_err(|_| CdpError::LinkClosed(CloseCause::Ours))?;
    let options = dial::options(&tab, Purpose::Page);
    let (link, session) = dial::attach(&tab, options, &budget).await?;
    let kept = *tab.kept();
    if let Some(viewport) = kept.viewport {
        // A stuck page does not answer this; it hears of it all the same.
        let _ = viewport.apply(&session, &patience(&tab, &budget)).await;
    }
    let known = tab.page.borrow().clone();
    let watching = state::set_up(&session, known, &patience(&tab, &budget), &budget).await?;
    let emulation = tab.emulation().clone();
    // A page that does not answer yet takes it in its turn.
    let applied = emulation.apply(&session, &patience(&tab, &budget)).await;
    if let Err(why @ CdpError::LinkClosed(_)) = applied {
        return Err(why);
    }
    Ok(Dialled { link, session, watching })
}

/// Publishes what the page shows.
async fn watch_page(tab: Arc<TabShared>, watching: Watching, actor: ActorRef<TabMsg>) {
    let why = watching.run(|known| {
        let mut before = None;
        tab.page.send_if_modified(|shown| {
            if tab.is_superseded() {
                return false;
            }
            before = Some(std::mem::replace(shown, known.clone()).state);
            true
        });
        let Some(before) = before else { return };
        let PageState { url, generation, prints, .. } = &known.state;
        if *generation > before.generation {
            let (url, generation) = (url.clone(), *generation);
            tab.browser.events.publish(Event::TabNavigated { tab: tab.id, url, generation });
        }
        if *generation == before.generation && *prints > before.prints {
            tab.browser.events.publish(Event::PrintRequested { tab: tab.id });
        }
    });
    match why.await {
        // The actor hears of its link by itself.
        CdpError::LinkClosed(_) => {}
        // The tab is closed, which is told over another link; or else it is not.
        why @ CdpError::Detached { .. } => {
            let mut gone = tab.gone.subscribe();
            if Budget::new(GONE_WITHIN).run(gone.wait_for(Option::is_some)).await.is_err() {
                let _ = actor.cast(TabMsg::Blind(why));
            }
        }
        why => {
            let _ = actor.cast(TabMsg::Blind(why));
        }
    }
}

/// Tells the refs of a tab which documents its frames show.
fn remember(tab: Arc<TabShared>) -> impl FnMut(FrameChange) + Send {
    move |change| {
        let mut memory = tab.memory();
        match change {
            FrameChange::Shows(frame, document) => memory.show(frame, document),
            FrameChange::Gone(frame) => memory.remove(&frame),
        }
    }
}

async fn watch_link(session: Session, tab: ActorRef<TabMsg>) {
    let cause = session.link_closed().await;
    let _ = tab.cast(TabMsg::LinkClosed(cause));
}
