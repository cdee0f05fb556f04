//! Root: the browsers.
//!
//! Purpose: starts browsers and starts them again when they are lost, until that happens too
//! often.
//!
//! ```text
//!   spawned --> running --a browser was lost--> restarted after a pause, epoch + 1
//!                  |                |
//!                  |                +--3 in 60 s exceeded--> Err: the process should end
//!                  +--stopped--> browsers are stopped, then it
//! ```
//!
//! Supervised by: nobody; the facade watches it, and the binary exits non-zero when it fails.
//! Children: [`Browser`](crate::browser), permanent.
//!
//! It never: talks to Chromium, restarts a browser that never worked (that is a wrong
//! configuration, and its caller is told).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::DialOptions;
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::navigate::NavigationPolicy;
use tokio::time::Instant;

use crate::browser::{Browser, BrowserArgs, BrowserDown};
use crate::error::StartError;
use crate::events::{Event, EventBus};
use crate::files::Folders;
use crate::ids::{BrowserId, Epoch};
use crate::limits::{Care, Limits};
use crate::registry::{BrowserHandle, Registry};
use crate::restart::{Intensity, RestartWindow, Verdict};
use crate::shared::{BrowserShared, BrowserStatus};
use crate::start::Source;

/// How to start a browser.
#[derive(Clone, Debug)]
pub struct BrowserSpec {
    /// Where it comes from.
    pub source: Source,
    /// Its limits.
    pub limits: Arc<Limits>,
    /// How its tabs are looked after.
    pub care: Care,
    /// Where files of callers may be.
    pub files: Arc<Folders>,
    /// Where its pages may be.
    pub policy: Arc<NavigationPolicy>,
    /// How it is dialled.
    pub dial: DialOptions,
    /// How often it may be restarted.
    pub restarts: Intensity,
}

/// What Root takes.
pub(crate) enum RootMsg {
    /// Start a browser; the reply comes at once, the status in it tells when it works.
    Add(Box<BrowserSpec>, Budget, RpcReplyPort<Result<Arc<BrowserShared>, StartError>>),
    /// Stop a browser.
    Remove(BrowserId),
    /// The pause before a restart is over.
    Restart(BrowserId),
}

/// The actor.
pub(crate) struct Root;

/// What it needs.
pub(crate) struct RootArgs {
    pub(crate) registry: Arc<Registry>,
    pub(crate) events: EventBus,
}

/// Its state.
pub(crate) struct State {
    registry: Arc<Registry>,
    events: EventBus,
    browsers: HashMap<BrowserId, Slot>,
}

struct Slot {
    spec: BrowserSpec,
    cell: ActorCell,
    shared: Arc<BrowserShared>,
    window: Arc<Mutex<RestartWindow>>,
    pause: Option<Task<()>>,
}

/// How long a restarted browser gets to start.
const RESTART: Duration = Duration::from_secs(30);
/// How long browsers get to stop, besides the grace that each gives its Chromium: its tabs, the killing of
/// processes and the removal of the profile. Whoever waits for a stop finds nothing left after it.
const STOP: Duration = Duration::from_secs(15);

impl Actor for Root {
    type Msg = RootMsg;
    type State = State;
    type Arguments = RootArgs;

    async fn pre_start(&self, _: ActorRef<RootMsg>, args: RootArgs) -> Result<State, ActorProcessingErr> {
        Ok(State { registry: args.registry, events: args.events, browsers: HashMap::new() })
    }

    async fn handle(
        &self,
        myself: ActorRef<RootMsg>,
        message: RootMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            RootMsg::Add(spec, budget, reply) => {
                let id = state.registry.new_browser_id();
                let started = state.start(&myself, id, *spec, Epoch(1), budget).await;
                let _ = reply.send(started);
            }
            RootMsg::Remove(id) => {
                if let Some(slot) = state.browsers.remove(&id) {
                    slot.cell.stop(None);
                    state.registry.none_returns_with(id);
                    state.registry.remove_browser(id);
                }
            }
            RootMsg::Restart(id) => {
                let Some(slot) = state.browsers.get(&id) else { return Ok(()) };
                let (spec, epoch) = (slot.spec.clone(), Epoch(slot.shared.epoch.0 + 1));
                if let Err(error) = state.start(&myself, id, spec, epoch, Budget::new(RESTART)).await {
                    tracing::error!(browser = %id, %error, "a browser could not be restarted");
                }
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<RootMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let Some(cell) = event.actor_cell() else { return Ok(()) };
        let id = cell.get_id();
        let Some(browser) =
            state.browsers.iter().find(|(_, slot)| slot.cell.get_id() == id).map(|(browser, _)| *browser)
        else {
            return Ok(());
        };
        match event {
            SupervisionEvent::ActorFailed(_, error) => match error.downcast::<BrowserDown>() {
                Ok(down) => state.down(&myself, browser, *down),
                Err(bug) => state.down(&myself, browser, BrowserDown::Lost(format!("internal error: {bug}"))),
            },
            SupervisionEvent::ActorTerminated(_, _, reason) => {
                let cause = reason.unwrap_or_else(|| "it ended by itself".into());
                state.down(&myself, browser, BrowserDown::Lost(cause))
            }
            _ => Ok(()),
        }
    }

    async fn post_stop(
        &self,
        myself: ActorRef<RootMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let grace = state.browsers.values().map(|it| it.spec.source.stop_grace()).max().unwrap_or_default();
        // A stop does not reach children by itself: they would be killed without their post_stop.
        myself.stop_children_and_wait(None, Some(grace + STOP)).await;
        Ok(())
    }
}

impl State {
    async fn start(
        &mut self,
        myself: &ActorRef<RootMsg>,
        id: BrowserId,
        spec: BrowserSpec,
        epoch: Epoch,
        start_budget: Budget,
    ) -> Result<Arc<BrowserShared>, StartError> {
        let (limits, dial) = (Arc::clone(&spec.limits), spec.dial.clone());
        let files = Arc::clone(&spec.files);
        let (policy, events) = (Arc::clone(&spec.policy), self.events.clone());
        let shared = BrowserShared::new(id, epoch, limits, spec.care, files, policy, events, dial);
        let args = BrowserArgs {
            shared: Arc::clone(&shared),
            registry: Arc::clone(&self.registry),
            source: spec.source.clone(),
            start_budget,
        };
        let (actor, _) = Actor::spawn_linked(None, Browser, args, myself.get_cell())
            .await
            .map_err(|error| StartError::Internal(error.to_string()))?;
        let cell = actor.get_cell();
        let window = match self.browsers.remove(&id) {
            Some(earlier) => earlier.window,
            None => Arc::new(Mutex::new(RestartWindow::new(spec.restarts))),
        };
        let handle = BrowserHandle { shared: Arc::clone(&shared), actor, window: Arc::clone(&window) };
        self.registry.put_browser(handle);
        self.browsers.insert(id, Slot { spec, cell, shared: Arc::clone(&shared), window, pause: None });
        Ok(shared)
    }

    fn down(
        &mut self,
        myself: &ActorRef<RootMsg>,
        id: BrowserId,
        down: BrowserDown,
    ) -> Result<(), ActorProcessingErr> {
        let Some(slot) = self.browsers.get_mut(&id) else { return Ok(()) };
        let cause = match down {
            BrowserDown::NeverStarted(error) if slot.shared.epoch == Epoch(1) => {
                // It never worked: its caller is told, and that is all.
                slot.shared.status.send_replace(BrowserStatus::Failed(error));
                self.browsers.remove(&id);
                self.registry.remove_browser(id);
                return Ok(());
            }
            BrowserDown::NeverStarted(error) => error.to_string(),
            BrowserDown::Lost(cause) => cause,
        };
        slot.shared.status.send_if_modified(|status| {
            let still = !matches!(status, BrowserStatus::Lost { .. });
            if still {
                *status = BrowserStatus::Lost { cause: cause.clone() };
            }
            still
        });
        // An actor that panicked could not tell its tabs itself.
        self.registry.bury_browser(id, slot.shared.epoch, &cause);
        tracing::warn!(browser = %id, epoch = %slot.shared.epoch, cause, "browser lost");
        let verdict = slot.window.lock().unwrap_or_else(PoisonError::into_inner).record(Instant::now());
        match verdict {
            Verdict::Restart { after } => {
                metrics::counter!("tabvisor_supervisor_restarts_total", "actor" => "browser").increment(1);
                self.events.publish(Event::ActorRestarted { tab: None, actor: "browser", cause });
                let myself = myself.clone();
                slot.pause = Some(task::spawn(async move {
                    tokio::time::sleep(after).await;
                    let _ = myself.cast(RootMsg::Restart(id));
                }));
                Ok(())
            }
            Verdict::Escalate => {
                self.registry.none_returns_with(id);
                slot.shared.status.send_replace(BrowserStatus::Failed(StartError::GaveUp(cause.clone())));
                let why = format!("browser {id} failed too often, last: {cause}");
                self.registry.give_up(why.clone());
                Err(why.into())
            }
        }
    }
}
