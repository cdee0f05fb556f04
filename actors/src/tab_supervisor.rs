//! TabSupervisor: the four actors of one tab.
//!
//! Purpose: starts them in order (watcher, observer, evaluates, tab), restarts the one that failed, and
//! gives up when that happens too often.
//!
//! ```text
//!   spawned --> children started --> listening (told to Browser once the observer has tried, too, and
//!                      ^    |                   after each restart of the watcher)
//!                      |    +--a child failed--> restarted after a pause
//!                      +-------------+  |
//!                                       +--5 in 30 s exceeded--> Err: the tab is lost
//! ```
//!
//! Supervised by: [`Browser`](crate::browser), temporary.
//! Children: [`DialogWatcher`](crate::dialog_watcher), [`Observer`](crate::observer),
//! [`Evaluates`](crate::evaluates), [`Tab`](crate::tab); one for one, since they share only the target: a lost page session must
//! not throw away running evaluates.
//!
//! It never: talks to Chromium, restarts a child silently (events, counts).

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SupervisionEvent};
use tabvisor_cdp::task::{self, Task};
use tokio::time::Instant;

use crate::browser::BrowserMsg;
use crate::dialog_watcher::{DialogWatcher, WatcherArgs, WatcherMsg};
use crate::evaluates::{Evaluates, EvaluatesMsg};
use crate::events::Event;
use crate::observer::{Observer, ObserverArgs, ObserverMsg};
use crate::registry::{Registry, TabHandle};
use crate::restart::Verdict;
use crate::shared::TabShared;
use crate::tab::{Tab, TabMsg};

/// What TabSupervisor takes.
pub(crate) enum TabSupervisorMsg {
    /// The watcher listens: the target may run.
    Listening,
    /// The observer has tried: what the target says first is heard, or cannot be.
    Observing,
    /// The pause before a restart is over.
    Restart(Child),
}

/// The actor.
pub(crate) struct TabSupervisor;

/// What it needs.
pub(crate) struct TabSupervisorArgs {
    pub(crate) tab: Arc<TabShared>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) browser: ActorRef<BrowserMsg>,
}

/// One of the four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    Watcher,
    Observer,
    Evaluates,
    Tab,
}

impl Child {
    fn name(self) -> &'static str {
        match self {
            Self::Watcher => "dialog_watcher",
            Self::Observer => "observer",
            Self::Evaluates => "evaluates",
            Self::Tab => "tab",
        }
    }
}

/// Its state.
pub(crate) struct State {
    args: TabSupervisorArgs,
    watcher: Option<ActorRef<WatcherMsg>>,
    observer: Option<ActorRef<ObserverMsg>>,
    evaluates: Option<ActorRef<EvaluatesMsg>>,
    tab: Option<ActorRef<TabMsg>>,
    /// The watcher listens; the observer has tried.
    listening: bool,
    observing: bool,
    pauses: Vec<Task<()>>,
}

/// How long the children get to stop.
const STOP: Duration = Duration::from_secs(1);

impl Actor for TabSupervisor {
    type Msg = TabSupervisorMsg;
    type State = State;
    type Arguments = TabSupervisorArgs;

    async fn pre_start(
        &self,
        _: ActorRef<TabSupervisorMsg>,
        args: TabSupervisorArgs,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State {
            args,
            watcher: None,
            observer: None,
            evaluates: None,
            tab: None,
            listening: false,
            observing: false,
            pauses: Vec::new(),
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<TabSupervisorMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        for child in [Child::Watcher, Child::Observer, Child::Evaluates, Child::Tab] {
            state.start(&myself, child).await?;
        }
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<TabSupervisorMsg>,
        message: TabSupervisorMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            TabSupervisorMsg::Listening => {
                state.listening = true;
                state.may_run();
            }
            TabSupervisorMsg::Observing => {
                // Once: a restart of the observer is nobody's business.
                if !std::mem::replace(&mut state.observing, true) {
                    state.may_run();
                }
            }
            TabSupervisorMsg::Restart(child) => state.start(&myself, child).await?,
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<TabSupervisorMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let (cell, cause) = match event {
            SupervisionEvent::ActorFailed(cell, error) => (cell, error.to_string()),
            SupervisionEvent::ActorTerminated(cell, _, reason) => {
                (cell, reason.unwrap_or_else(|| "it ended by itself".into()))
            }
            _ => return Ok(()),
        };
        // Only who is in the slot counts: a replaced child's event may come late.
        let Some(child) = state.slot_of(&cell) else { return Ok(()) };
        state.failed(&myself, child, &cause)
    }

    async fn post_stop(
        &self,
        myself: ActorRef<TabSupervisorMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        // In reverse: the watcher sees everything to the end.
        let children = [
            state.tab.take().map(|it| it.get_cell()),
            state.evaluates.take().map(|it| it.get_cell()),
            state.observer.take().map(|it| it.get_cell()),
            state.watcher.take().map(|it| it.get_cell()),
        ];
        for child in children.into_iter().flatten() {
            let _ = child.stop_and_wait(None, Some(STOP)).await;
        }
        drop(myself);
        Ok(())
    }
}

impl State {
    async fn start(
        &mut self,
        myself: &ActorRef<TabSupervisorMsg>,
        child: Child,
    ) -> Result<(), ActorProcessingErr> {
        let tab = Arc::clone(&self.args.tab);
        let parent = myself.get_cell();
        match child {
            Child::Watcher => {
                let args = WatcherArgs { tab, supervisor: myself.clone() };
                let (actor, _) = Actor::spawn_linked(None, DialogWatcher, args, parent).await?;
                self.watcher = Some(actor);
            }
            Child::Observer => {
                let args = ObserverArgs { tab, supervisor: myself.clone() };
                let (actor, _) = Actor::spawn_linked(None, Observer, args, parent).await?;
                self.observer = Some(actor);
            }
            Child::Evaluates => {
                let (actor, _) = Actor::spawn_linked(None, Evaluates, tab, parent).await?;
                self.evaluates = Some(actor);
            }
            Child::Tab => {
                let (actor, _) = Actor::spawn_linked(None, Tab, tab, parent).await?;
                self.tab = Some(actor);
            }
        }
        if let (Some(watcher), Some(evaluates), Some(tab)) = (&self.watcher, &self.evaluates, &self.tab) {
            let shared = Arc::clone(&self.args.tab);
            self.args.registry.put_tab(TabHandle {
                shared,
                evaluates: evaluates.clone(),
                tab: tab.clone(),
                watcher: watcher.clone(),
            });
            self.args.tab.wiring.send_modify(|count| *count += 1);
            let _ = self.args.browser.cast(BrowserMsg::TabListed(self.args.tab.id));
        }
        Ok(())
    }

    fn may_run(&self) {
        if self.listening && self.observing {
            let _ = self.args.browser.cast(BrowserMsg::TabListening(self.args.tab.id));
        }
    }

    fn slot_of(&self, cell: &ActorCell) -> Option<Child> {
        let id = cell.get_id();
        if self.watcher.as_ref().is_some_and(|it| it.get_id() == id) {
            Some(Child::Watcher)
        } else if self.observer.as_ref().is_some_and(|it| it.get_id() == id) {
            Some(Child::Observer)
        } else if self.evaluates.as_ref().is_some_and(|it| it.get_id() == id) {
            Some(Child::Evaluates)
        } else if self.tab.as_ref().is_some_and(|it| it.get_id() == id) {
            Some(Child::Tab)
        } else {
            None
        }
    }

    fn failed(
        &mut self,
        myself: &ActorRef<TabSupervisorMsg>,
        child: Child,
        cause: &str,
    ) -> Result<(), ActorProcessingErr> {
        let tab = Arc::clone(&self.args.tab);
        if tab.gone.borrow().is_some() {
            return Ok(());
        }
        if child == Child::Watcher {
            tab.control.send_replace(None);
        }
        // One that cannot even try keeps nobody waiting.
        if child == Child::Observer && !std::mem::replace(&mut self.observing, true) {
            self.may_run();
        }
        tracing::warn!(tab = %tab.id, actor = child.name(), cause, "an actor of a tab failed");
        *tab.last_failure.lock().unwrap_or_else(PoisonError::into_inner) =
            format!("{}: {cause}", child.name());
        let verdict = tab.window.lock().unwrap_or_else(PoisonError::into_inner).record(Instant::now());
        match verdict {
            Verdict::Escalate => Err(format!("{} failed too often, last: {cause}", child.name()).into()),
            Verdict::Restart { after } => {
                tab.restarts.fetch_add(1, Ordering::Relaxed);
                metrics::counter!("tabvisor_supervisor_restarts_total", "actor" => child.name()).increment(1);
                let event =
                    Event::ActorRestarted { tab: Some(tab.id), actor: child.name(), cause: cause.to_owned() };
                tab.browser.events.publish(event);
                let myself = myself.clone();
                self.pauses.retain(|pause| !pause.is_finished());
                self.pauses.push(task::spawn(async move {
                    tokio::time::sleep(after).await;
                    let _ = myself.cast(TabSupervisorMsg::Restart(child));
                }));
                Ok(())
            }
        }
    }
}
