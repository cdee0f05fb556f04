//! Browser: one Chromium, its browser link and its tab table.
//!
//! Purpose: opens and closes tabs, catches the ones that pages open, and notices at once when
//! Chromium or the link to it is gone.
//!
//! ```text
//!   spawned --> starting --> ready --process or link gone--> Err: BrowserLost{epoch} to all its
//!                  |           |                             tabs; Root starts another epoch
//!                  |           +--stopped--> tabs, then Chromium, are stopped
//!                  +--failed--> Err
//! ```
//!
//! Supervised by: [`Root`](crate::root), one for one, 3 in 60 s.
//! Children: a [`TabSupervisor`](crate::tab_supervisor) per tab, temporary; openers, closers and
//! [recoveries](crate::recovery).
//!
//! It never: awaits Chromium in `handle`, brings a tab of an earlier epoch back, lets a page run
//! before its watcher listens.

mod downloads;
mod opened;
mod popups;
mod recover;
mod reopen;
mod swap;
mod tabs;
mod targets;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::launch::Chromium;
use tabvisor_cdp::link::{Delivery, Event as CdpEvent, Link, Session};
use tabvisor_cdp::task::{self, Task};
use tokio::sync::Semaphore;

use crate::error::{StartError, TabError};
use crate::events::Event;
use crate::files::Arriving;
use crate::ids::TabId;
use crate::leaf::{self, End};
use crate::recovery::Cause;
use crate::registry::{Registry, Returning};
use crate::restart::RestartWindow;
use crate::shared::{BrowserFacts, BrowserShared, BrowserStatus, Gone, TabShared};
use crate::start::{self, Source, Started};
use crate::tab_supervisor::TabSupervisorMsg;

use self::recover::Recovering;

pub(crate) use opened::Opened;
pub(crate) use recover::Recover;
pub(crate) use swap::Successor;
pub(crate) use targets::TargetInfo;

/// What Browser takes.
pub(crate) enum BrowserMsg {
    /// Open an empty tab.
    Open(RpcReplyPort<Result<Opened, TabError>>),
    /// Whoever waited for a tab to be opened waits no more; it may have got it.
    WaitsNoMore,
    /// Close a tab.
    Close(TabId, Budget, RpcReplyPort<Result<(), TabError>>),
    /// Bring a tab to the front of its window.
    Focus(TabId, Budget, RpcReplyPort<Result<(), TabError>>),
    /// Close a tab that nobody keeps.
    Discard(TabId),
    /// Bring a tab back.
    Recover(Box<Recover>),
    /// Something may be wrong with a tab, or its policy has changed.
    LookAfter(TabId),
    /// The pause before a recovery that nobody asked for is over.
    RecoverByItself(TabId, Cause),
    /// A tab has to go on in another target; told once its watcher listens there.
    Replace(TabId, Successor),
    /// A tab's watcher listens: its page may run.
    TabListening(TabId),
    /// A tab has its row.
    TabListed(TabId),
    /// A page that waited at its birth runs.
    Released(TabId),
    /// A download is in its place, or could not be put there.
    Saved(String),
    /// End a download.
    CancelDownload(String),
    /// An event of the browser link.
    Event(CdpEvent),
    /// Events were dropped: the tab table is not known any more.
    Lagged,
    /// Chromium or the link to it is gone.
    Lost(String),
}

/// The actor.
pub(crate) struct Browser;

/// What it needs.
pub(crate) struct BrowserArgs {
    pub(crate) shared: Arc<BrowserShared>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) source: Source,
    pub(crate) start_budget: Budget,
}

/// Its state.
pub(crate) struct State {
    shared: Arc<BrowserShared>,
    registry: Arc<Registry>,
    source: Source,
    start_budget: Budget,
    works: Option<Works>,
    tabs: HashMap<TabId, Tab>,
    by_target: HashMap<String, TabId>,
    jobs: HashMap<ActorId, Job>,
    /// Callers whose tab is there, but whose watcher does not listen yet.
    opening: HashMap<TabId, RpcReplyPort<Result<Opened, TabError>>>,
    /// Downloads that are being put into their places.
    saving: HashMap<String, Task<()>>,
    /// Recoveries that wait for the watcher of their tab's new target.
    successors: HashMap<TabId, Successor>,
    /// New targets that were announced while it was not known which of them belongs to a tab.
    held_back: Vec<(TargetInfo, Option<String>)>,
    /// Targets that were made for nothing and are about to go.
    unwanted: HashSet<String>,
    /// Tabs that were there before us and have no row yet.
    unlisted: HashSet<TabId>,
    /// What is told once they have theirs.
    facts: Option<BrowserFacts>,
    /// Whose turn it is to load, of the tabs that come back with this browser.
    turns: Arc<Semaphore>,
}

/// What there is while the browser works. Dropping it ends Chromium.
struct Works {
    root: Session,
    chromium: Option<Chromium>,
    link: Link,
    arriving: Option<Arriving>,
    /// Waits for the end of the process.
    _exit: Task<()>,
    /// Brings the events.
    pump: Option<Task<()>>,
}

struct Tab {
    shared: Arc<TabShared>,
    supervisor: ActorRef<TabSupervisorMsg>,
    /// The session on which the page waits at its birth.
    paused: Option<String>,
    releasing: Option<Task<()>>,
    /// Opened by a call of ours, so it is ours to close.
    ours: bool,
    /// The tab at the top of those that opened each other.
    family: TabId,
    /// Its watcher has listened: it is in the registry and its page may run.
    listening: bool,
    /// The browser context of its target, where that is known.
    context: Option<String>,
    /// How often it was brought back without anybody asking.
    recoveries: RestartWindow,
    /// The pause before it is.
    pause: Option<Task<()>>,
    _watching: Task<()>,
}

enum Job {
    Start,
    Open(RpcReplyPort<Result<Opened, TabError>>),
    Close(TabId, RpcReplyPort<Result<(), TabError>>),
    Recover(Recovering),
    Replace(TabId, Successor),
    Focus(RpcReplyPort<Result<(), TabError>>),
}

/// Why a Browser ends with an error; read by Root.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrowserDown {
    #[error("{0}")]
    NeverStarted(StartError),
    #[error("{0}")]
    Lost(String),
}

/// How long tabs get to stop.
const STOP_TABS: Duration = Duration::from_secs(2);

impl Actor for Browser {
    type Msg = BrowserMsg;
    type State = State;
    type Arguments = BrowserArgs;

    async fn pre_start(
        &self,
        _: ActorRef<BrowserMsg>,
        args: BrowserArgs,
    ) -> Result<State, ActorProcessingErr> {
        let BrowserArgs { shared, registry, source, start_budget } = args;
        Ok(State {
            shared,
            registry,
            source,
            start_budget,
            works: None,
            tabs: HashMap::new(),
            by_target: HashMap::new(),
            jobs: HashMap::new(),
            opening: HashMap::new(),
            saving: HashMap::new(),
            successors: HashMap::new(),
            held_back: Vec::new(),
            unwanted: HashSet::new(),
            unlisted: HashSet::new(),
            facts: None,
            turns: Arc::new(Semaphore::new(reopen::AT_A_TIME)),
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<BrowserMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let work = start::start(state.source.clone(), Arc::clone(&state.shared), state.start_budget.clone());
        let job = leaf::spawn(myself.get_cell(), work).await?;
        state.jobs.insert(job.get_id(), Job::Start);
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<BrowserMsg>,
        message: BrowserMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            BrowserMsg::Open(reply) => state.open(&myself, reply).await,
            BrowserMsg::WaitsNoMore => state.close_unwaited(),
            BrowserMsg::Close(tab, budget, reply) => state.close(&myself, tab, budget, reply).await,
            BrowserMsg::Focus(tab, budget, reply) => state.focus(&myself, tab, budget, reply).await,
            BrowserMsg::Discard(tab) => state.close_target(tab),
            BrowserMsg::Recover(call) => state.recover(&myself, *call).await,
            BrowserMsg::LookAfter(tab) => state.look_after(&myself, tab),
            BrowserMsg::RecoverByItself(tab, cause) => state.recover_by_itself(&myself, tab, cause).await,
            BrowserMsg::Replace(tab, tell) => state.replace(&myself, tab, tell).await,
            BrowserMsg::TabListed(id) => {
                state.unlisted.remove(&id);
                state.ready_once_listed();
            }
            BrowserMsg::TabListening(id) => state.release(&myself, id),
            BrowserMsg::Released(id) => {
                if let Some(tab) = state.tabs.get_mut(&id) {
                    tab.releasing = None;
                }
                state.hand_over(&myself, id);
            }
            BrowserMsg::Saved(guid) => drop(state.saving.remove(&guid)),
            BrowserMsg::CancelDownload(guid) => state.cancel_download(&guid),
            BrowserMsg::Event(event) if event.method.starts_with("Browser.download") => {
                state.on_download(&myself, &event);
            }
            BrowserMsg::Event(event) => state.on_event(&myself, &event).await?,
            BrowserMsg::Lagged => return Err(state.lost("events of the browser link were lost").into()),
            BrowserMsg::Lost(cause) => return Err(state.lost(&cause).into()),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<BrowserMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let Some(id) = event.actor_id() else { return Ok(()) };
        if matches!(event, SupervisionEvent::ActorStarted(_)) {
            return Ok(());
        }
        match state.jobs.remove(&id) {
            Some(Job::Start) => state.started(&myself, event).await?,
            Some(Job::Open(reply)) => {
                let opened = match leaf::end::<Result<String, CdpError>>(event) {
                    // On a machine that is too slow for its callers the rest would be work for nobody.
                    Some(End::Done(Ok(target))) if reply.is_closed() => {
                        state.close_unwanted(target);
                        return Ok(());
                    }
                    Some(End::Done(Ok(target))) => state.adopt(&myself, target, None, None).await,
                    Some(End::Done(Err(error))) => Err(error.into()),
                    other => Err(TabError::Internal(format!("opening a tab: {other:?}"))),
                };
                match opened {
                    Ok(tab) => state.opened(&myself, tab, reply),
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
            Some(Job::Close(tab, reply)) => {
                let closed = match leaf::end::<Result<(), CdpError>>(event) {
                    Some(End::Done(Ok(()))) => {
                        state.gone(tab, Gone::Closed);
                        Ok(())
                    }
                    Some(End::Done(Err(error))) => Err(error.into()),
                    other => Err(TabError::Internal(format!("closing a tab: {other:?}"))),
                };
                let _ = reply.send(closed);
            }
            Some(Job::Recover(work)) => state.recovered(&myself, work, event),
            Some(Job::Replace(tab, tell)) => state.replaced(&myself, tab, tell, event).await,
            Some(Job::Focus(reply)) => {
                let focused = match leaf::end::<Result<(), CdpError>>(event) {
                    Some(End::Done(focused)) => focused.map_err(TabError::from),
                    other => Err(TabError::Internal(format!("focusing a tab: {other:?}"))),
                };
                let _ = reply.send(focused);
            }
            None => state.supervisor_ended(id, event),
        }
        Ok(())
    }

    async fn post_stop(
        &self,
        myself: ActorRef<BrowserMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let tabs: Vec<TabId> = state.tabs.keys().copied().collect();
        for tab in tabs {
            if let Some(tab) = state.tabs.get(&tab) {
                state.registry.bury(&tab.shared, Gone::Stopping);
            }
        }
        // A stop does not reach children by itself: they would be killed without their post_stop.
        myself.stop_children_and_wait(None, Some(STOP_TABS)).await;
        match state.works.take() {
            Some(Works { chromium: Some(chromium), .. }) => {
                let stopped = chromium.stop().await;
                tracing::debug!(browser = %state.shared.id, forced = stopped.forced, "chromium stopped");
            }
            Some(works) => state.close_ours(&works.root).await,
            None => {}
        }
        state.shared.status.send_replace(BrowserStatus::Failed(StartError::Stopped));
        Ok(())
    }
}

impl State {
    async fn started(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        event: SupervisionEvent,
    ) -> Result<(), ActorProcessingErr> {
        let started = match leaf::end::<Result<Started, StartError>>(event) {
            Some(End::Done(started)) => started,
            other => {
                let why = if let Some(End::Panicked(why)) = other { why } else { "it was killed".into() };
                Err(StartError::Internal(why))
            }
        };
        let started = started.map_err(BrowserDown::NeverStarted)?;
        let Started { chromium, link, root, mut events, there, facts, dial, arriving } = started;
        self.shared.dial.set(dial);
        let ended = chromium.as_ref().map(Chromium::exited);
        let exit = task::spawn({
            let myself = myself.clone();
            async move {
                if let Some(ended) = ended {
                    let status = ended.await;
                    let _ = myself.cast(BrowserMsg::Lost(format!("its process ended: {status}")));
                }
            }
        });
        let version = &facts.version;
        tracing::info!(browser = %self.shared.id, epoch = %self.shared.epoch, version, pid = facts.pid, "browser ready");
        self.works = Some(Works { root: root.clone(), chromium, link, arriving, _exit: exit, pump: None });
        let back = self.go_on(myself, &there).await;
        for info in there {
            self.attached(myself, info, None).await;
        }
        self.reopen(myself, back).await;
        self.unlisted.extend(self.tabs.keys());
        let pump = task::spawn({
            let myself = myself.clone();
            async move {
                while let Some(delivery) = events.next().await {
                    let message = match delivery {
                        Delivery::Event(event) => BrowserMsg::Event(event),
                        Delivery::Lagged { .. } => BrowserMsg::Lagged,
                    };
                    if myself.cast(message).is_err() {
                        return;
                    }
                }
                let cause = root.link_closed().await;
                let _ = myself.cast(BrowserMsg::Lost(format!("its link closed: {cause}")));
            }
        });
        if let Some(works) = &mut self.works {
            works.pump = Some(pump);
        }
        self.facts = Some(facts);
        self.ready_once_listed();
        Ok(())
    }

    /// Whoever asks a new browser for its tabs gets all that were there before us.
    fn ready_once_listed(&mut self) {
        if !self.unlisted.is_empty() {
            return;
        }
        let Some(facts) = self.facts.take() else { return };
        let version = facts.version.clone();
        self.shared.status.send_replace(BrowserStatus::Ready(Arc::new(facts)));
        self.shared.events.publish(Event::BrowserStarted {
            browser: self.shared.id,
            epoch: self.shared.epoch,
            version,
        });
    }

    /// Tells every tab before anything else, so that calls in flight are answered with the reason.
    fn lost(&mut self, cause: &str) -> BrowserDown {
        let epoch = self.shared.epoch;
        self.shared.status.send_replace(BrowserStatus::Lost { cause: cause.to_owned() });
        for (_, tab) in self.tabs.drain() {
            // Nobody has got the name of one that was still being opened.
            let handed_over = !self.opening.contains_key(&tab.shared.id);
            if handed_over && reopen::comes_back(&tab.shared, tab.ours, &self.source) {
                self.registry.expect_back(Returning { shared: Arc::clone(&tab.shared), ours: tab.ours });
            }
            self.registry.bury(&tab.shared, Gone::BrowserLost { epoch, cause: cause.to_owned() });
        }
        metrics::counter!("tabvisor_crashes_total", "what" => "browser").increment(1);
        self.shared.events.publish(Event::BrowserLost {
            browser: self.shared.id,
            epoch,
            cause: cause.to_owned(),
        });
        BrowserDown::Lost(cause.to_owned())
    }
}
