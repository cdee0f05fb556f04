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
//! Children: a [`TabSupervisor`](crate::tab_supervisor) per tab, temporary; openers and closers.
//!
//! It never: awaits Chromium in `handle`, brings a tab of an earlier epoch back, lets a page run
//! before its watcher listens.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::launch::Chromium;
use tabvisor_cdp::link::{Delivery, Event as CdpEvent, Link, Session};
use tabvisor_cdp::task::{self, Task};

use crate::error::{StartError, TabError};
use crate::events::Event;
use crate::ids::TabId;
use crate::leaf::{self, End};
use crate::registry::Registry;
use crate::shared::{BrowserShared, BrowserStatus, Gone, TabShared};
use crate::start::{self, Source, Started};
use crate::tab_supervisor::{TabSupervisor, TabSupervisorArgs, TabSupervisorMsg};

/// What Browser takes.
pub(crate) enum BrowserMsg {
    /// Open an empty tab.
    Open(Budget, RpcReplyPort<Result<TabId, TabError>>),
    /// Close a tab.
    Close(TabId, Budget, RpcReplyPort<Result<(), TabError>>),
    /// Close a tab that nobody keeps.
    Discard(TabId),
    /// A tab's watcher listens: its page may run.
    TabListening(TabId),
    /// A page that waited at its birth runs.
    Released(TabId),
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
    opening: HashMap<TabId, RpcReplyPort<Result<TabId, TabError>>>,
}

/// What there is while the browser works. Dropping it ends Chromium.
struct Works {
    root: Session,
    chromium: Option<Chromium>,
    link: Link,
    _watching: [Task<()>; 2],
}

struct Tab {
    shared: Arc<TabShared>,
    supervisor: ActorRef<TabSupervisorMsg>,
    /// The session on which the page waits at its birth.
    paused: Option<String>,
    releasing: Option<Task<()>>,
    /// Opened by a call of ours, so it is ours to close.
    ours: bool,
    /// Its watcher has listened: it is in the registry and its page may run.
    listening: bool,
}

enum Job {
    Start,
    Open(RpcReplyPort<Result<TabId, TabError>>),
    Close(TabId, RpcReplyPort<Result<(), TabError>>),
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
/// How long a page that waits at its birth gets to say that it runs.
const RELEASE: Duration = Duration::from_secs(10);

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
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<BrowserMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let dial = state.shared.dial.get();
        let work = start::start(state.source.clone(), dial, state.start_budget.clone());
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
            BrowserMsg::Open(budget, reply) => state.open(&myself, budget, reply).await,
            BrowserMsg::Close(tab, budget, reply) => state.close(&myself, tab, budget, reply).await,
            BrowserMsg::Discard(tab) => state.close_target(tab),
            BrowserMsg::TabListening(id) => state.release(&myself, id),
            BrowserMsg::Released(id) => {
                if let Some(tab) = state.tabs.get_mut(&id) {
                    tab.releasing = None;
                }
                state.hand_over(id);
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
            Some(Job::Start) => state.started(&myself, event)?,
            Some(Job::Open(reply)) => {
                let opened = match leaf::end::<Result<String, CdpError>>(event) {
                    Some(End::Done(Ok(target))) => state.adopt(&myself, target, None, None).await,
                    Some(End::Done(Err(error))) => Err(error.into()),
                    other => Err(TabError::Internal(format!("opening a tab: {other:?}"))),
                };
                match opened {
                    Ok(tab) => state.opened(tab, reply),
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
    fn started(
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
        let Started { chromium, link, root, mut events, facts, dial } = started;
        self.shared.dial.set(dial);
        let ended = chromium.as_ref().map(Chromium::exited);
        let watching = [
            task::spawn({
                let (root, myself) = (root.clone(), myself.clone());
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
            }),
            task::spawn({
                let myself = myself.clone();
                async move {
                    if let Some(ended) = ended {
                        let status = ended.await;
                        let _ = myself.cast(BrowserMsg::Lost(format!("its process ended: {status}")));
                    }
                }
            }),
        ];
        let version = facts.version.clone();
        tracing::info!(browser = %self.shared.id, epoch = %self.shared.epoch, version, pid = facts.pid, "browser ready");
        self.works = Some(Works { root, chromium, link, _watching: watching });
        self.shared.status.send_replace(BrowserStatus::Ready(Arc::new(facts)));
        self.shared.events.publish(Event::BrowserStarted {
            browser: self.shared.id,
            epoch: self.shared.epoch,
            version,
        });
        Ok(())
    }

    async fn open(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        budget: Budget,
        reply: RpcReplyPort<Result<TabId, TabError>>,
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
        let root = works.root.clone();
        let work = async move {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct Created {
                target_id: String,
            }
            let params = json!({ "url": "about:blank" });
            let created: Created = root.call_as("Target.createTarget", params, &budget).await?;
            Ok::<_, CdpError>(created.target_id)
        };
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
    fn opened(&mut self, id: TabId, reply: RpcReplyPort<Result<TabId, TabError>>) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            let _ = reply.send(Err(TabError::TabClosed { tab: id }));
            return;
        };
        tab.ours = true;
        let runs = tab.listening && tab.releasing.is_none();
        self.opening.insert(id, reply);
        if runs {
            self.hand_over(id);
        }
    }

    fn hand_over(&mut self, id: TabId) {
        let Some(reply) = self.opening.remove(&id) else { return };
        // Nobody is left to close it, so it is not kept.
        if reply.is_closed() || reply.send(Ok(id)).is_err() {
            self.close_target(id);
        }
    }

    fn full(&self, opening: usize) -> Option<TabError> {
        let max = self.shared.limits.tabs;
        (self.tabs.len() + opening >= max).then(|| {
            metrics::counter!("tabvisor_rejected_total", "reason" => "overloaded").increment(1);
            TabError::Overloaded { limit: "limits.tabs", max, retry_after_ms: 1000 }
        })
    }

    async fn close(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        id: TabId,
        budget: Budget,
        reply: RpcReplyPort<Result<(), TabError>>,
    ) {
        let (Some(tab), Some(works)) = (self.tabs.get(&id), &self.works) else {
            let error = self.registry.tab(id).err().unwrap_or(TabError::TabClosed { tab: id });
            let _ = reply.send(Err(error));
            return;
        };
        // Always answered, also for a page that is stuck (measured); `Page.close` is not.
        let root = works.root.clone();
        let target = tab.shared.target.clone();
        let work = async move {
            let params = json!({ "targetId": target });
            root.call("Target.closeTarget", params, &budget).await.map(drop)
        };
        match leaf::spawn(myself.get_cell(), work).await {
            Ok(job) => {
                self.jobs.insert(job.get_id(), Job::Close(id, reply));
            }
            Err(error) => {
                let _ = reply.send(Err(TabError::Internal(error.to_string())));
            }
        }
    }

    /// Gives a page target its tab and supervisor; the same one if it has them already, since a
    /// target of ours is announced both by event and by reply.
    async fn adopt(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        target: String,
        info: Option<&TargetInfo>,
        paused: Option<String>,
    ) -> Result<TabId, TabError> {
        if let Some(id) = self.by_target.get(&target).copied() {
            if let (Some(tab), Some(session)) = (self.tabs.get_mut(&id), paused) {
                tab.paused = Some(session);
                if tab.listening {
                    self.release(myself, id);
                }
            }
            return Ok(id);
        }
        let id = self.registry.new_tab_id();
        let opener =
            info.and_then(|info| info.opener_id.as_ref()).and_then(|it| self.by_target.get(it)).copied();
        // Measured: a new empty page answers while it waits, and so does a popup that its opener
        // can reach; one with an address of its own and no opener does not.
        let confirms = info.is_none_or(|info| info.url == "about:blank" || info.can_access_opener);
        let shared = TabShared::new(id, target.clone(), opener, confirms, Arc::clone(&self.shared));
        if let Some(info) = info {
            shared.set_page(Some(info.url.clone()), Some(info.title.clone()));
        }
        let args = TabSupervisorArgs {
            tab: Arc::clone(&shared),
            registry: Arc::clone(&self.registry),
            browser: myself.clone(),
        };
        let spawned = Actor::spawn_linked(None, TabSupervisor, args, myself.get_cell()).await;
        let (supervisor, _) = spawned.map_err(|error| TabError::Internal(error.to_string()))?;
        self.by_target.insert(target, id);
        self.tabs
            .insert(id, Tab { shared, supervisor, paused, releasing: None, ours: false, listening: false });
        let (browser, epoch) = (self.shared.id, self.shared.epoch);
        self.shared.events.publish(Event::TabOpened { tab: id, browser, epoch, opener });
        Ok(id)
    }

    /// A tab's watcher listens: lets its page run, if it waits at its birth, and hands it over.
    fn release(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId) {
        let (Some(tab), Some(works)) = (self.tabs.get_mut(&id), &self.works) else { return };
        tab.listening = true;
        let Some(session) = tab.paused.take() else { return self.hand_over(id) };
        // The session is kept: a page whose session is detached while its first navigation is
        // under way may never load (measured).
        let (paused, myself) = (works.link.session(&session), myself.clone());
        tab.releasing = Some(task::spawn(async move {
            let budget = Budget::new(RELEASE);
            let ran = paused.call("Runtime.runIfWaitingForDebugger", json!({}), &budget).await;
            if let Err(error) = ran {
                tracing::debug!(%error, "a page that waited at its birth was not released");
            }
            let _ = myself.cast(BrowserMsg::Released(id));
        }));
    }

    async fn on_event(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        event: &CdpEvent,
    ) -> Result<(), ActorProcessingErr> {
        let Ok(params) = serde_json::from_str::<TargetEvent>(event.params.get()) else {
            tracing::warn!(method = %event.method, "a target event could not be read");
            return Ok(());
        };
        let TargetEvent { target_info, target_id, session_id } = params;
        match (event.method.as_ref(), target_info) {
            ("Target.attachedToTarget", Some(info)) => self.attached(myself, info, session_id).await,
            ("Target.targetInfoChanged", Some(info)) => {
                if let Some(tab) = self.by_target.get(&info.target_id).and_then(|id| self.tabs.get(id)) {
                    tab.shared.set_page(None, Some(info.title));
                }
            }
            ("Target.targetDestroyed", _) => {
                if let Some(tab) = target_id.and_then(|target| self.by_target.get(&target).copied()) {
                    self.gone(tab, Gone::Closed);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A page is there: one of ours, one that a page opened, or one that was there before us.
    async fn attached(&mut self, myself: &ActorRef<BrowserMsg>, info: TargetInfo, session: Option<String>) {
        let known = self.by_target.contains_key(&info.target_id);
        let target = info.target_id.clone();
        if !known && (info.kind != "page" || is_internal(&info.url)) {
            return;
        }
        if !known && info.opener_id.is_some() && self.full(0).is_some() {
            tracing::warn!(limit = self.shared.limits.tabs, "a page opened more tabs than are allowed");
            if let Some(works) = &self.works {
                works.root.cast("Target.closeTarget", json!({ "targetId": target }));
            }
            return;
        }
        if let Err(error) = self.adopt(myself, target, Some(&info), session).await {
            tracing::error!(%error, "a page got no tab");
        }
    }

    /// A browser that is not ours goes on; only what we opened in it is closed.
    async fn close_ours(&self, root: &Session) {
        let budget = Budget::new(STOP_TABS);
        for tab in self.tabs.values().filter(|tab| tab.ours) {
            let params = json!({ "targetId": tab.shared.target });
            if let Err(error) = root.call("Target.closeTarget", params, &budget).await {
                tracing::debug!(tab = %tab.shared.id, %error, "a tab of ours was not closed");
            }
        }
    }

    fn close_target(&self, id: TabId) {
        if let (Some(tab), Some(works)) = (self.tabs.get(&id), &self.works) {
            works.root.cast("Target.closeTarget", json!({ "targetId": tab.shared.target }));
        }
    }

    /// Ends what belongs to a tab.
    fn gone(&mut self, id: TabId, why: Gone) {
        let Some(tab) = self.tabs.remove(&id) else { return };
        self.by_target.remove(&tab.shared.target);
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
    fn supervisor_ended(&mut self, id: ActorId, event: SupervisionEvent) {
        let tab = self.tabs.iter().find(|(_, tab)| tab.supervisor.get_id() == id).map(|(tab, _)| *tab);
        let Some(tab) = tab else { return };
        let cause = match event {
            SupervisionEvent::ActorFailed(_, error) => error.to_string(),
            _ => "its supervisor ended".into(),
        };
        metrics::counter!("tabvisor_crashes_total", "what" => "actor").increment(1);
        self.close_target(tab);
        self.gone(tab, Gone::Lost { cause });
    }

    /// Tells every tab before anything else, so that calls in flight are answered with the reason.
    fn lost(&mut self, cause: &str) -> BrowserDown {
        let epoch = self.shared.epoch;
        self.shared.status.send_replace(BrowserStatus::Lost { cause: cause.to_owned() });
        for (_, tab) in self.tabs.drain() {
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetEvent {
    target_info: Option<TargetInfo>,
    target_id: Option<String>,
    session_id: Option<String>,
}

/// The part of CDP's `Target.TargetInfo` that is needed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    opener_id: Option<String>,
    #[serde(default)]
    can_access_opener: bool,
}

/// Pages of the browser itself are nobody's tabs.
fn is_internal(url: &str) -> bool {
    ["chrome://", "devtools://", "chrome-extension://", "edge://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}
