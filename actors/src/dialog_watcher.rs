//! DialogWatcher: the control link of a tab.
//!
//! Purpose: listens before anything else happens on the page. Only a session that had the Page
//! domain enabled before a dialog opened hears of it, and only one attached before a page got
//! stuck can end its scripts (measured), so this link is made at the tab's birth and kept. The Runtime
//! domain stays off: it would bring every console message of the page over this link.
//!
//! ```text
//!   spawned --> dialling --> listening --link closed--> Err (restarted by its supervisor)
//!                  |             |
//!                  |             +--event--> Condition published: every call races against it
//!                  +--failed--> Err
//! ```
//!
//! Supervised by: [`TabSupervisor`](crate::tab_supervisor), permanent, started first, stopped last.
//!
//! It never: runs a caller's JavaScript, awaits Chromium in `handle`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::link::{
    Delivery, Event as CdpEvent, Events, KeepAlive, Link, LinkOptions, Purpose, Reply, Session,
};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::dialog::{DialogKind, DialogRegistry, Resolution};
use tabvisor_page::navigate::Frame;

use crate::events::Event;
use crate::leaf::{self, End};
use crate::shared::TabShared;
use crate::tab_supervisor::TabSupervisorMsg;

/// What DialogWatcher takes.
pub(crate) enum WatcherMsg {
    /// An event of the control session.
    Event(CdpEvent),
    /// Events were dropped: what is open is not known any more.
    Lagged,
    /// The control link is gone.
    LinkClosed(CloseCause),
}

/// The actor.
pub(crate) struct DialogWatcher;

/// What it needs.
#[derive(Clone)]
pub(crate) struct WatcherArgs {
    pub(crate) tab: Arc<TabShared>,
    pub(crate) supervisor: ActorRef<TabSupervisorMsg>,
}

/// Its state.
pub(crate) struct State {
    args: WatcherArgs,
    dialling: Option<ActorId>,
    link: Option<Link>,
    pump: Option<Task<()>>,
    dialogs: DialogRegistry,
}

const EVENTS: &[&str] = &[
    "Page.javascriptDialogOpening",
    "Page.javascriptDialogClosed",
    "Page.frameNavigated",
    "Inspector.targetCrashed",
    "Inspector.targetReloadedAfterCrash",
];

/// How long dialling may take.
const DIAL: Duration = Duration::from_secs(10);
/// How long to wait for a page to confirm that its events are on, if it may not be able to yet: a
/// page that was stuck before we came, or a popup that may not run (measured).
const CONFIRM: Duration = Duration::from_millis(100);

/// For browsers on another machine, perhaps; a launched one costs nothing while idle.
const IDLE_KEEP_ALIVE: KeepAlive =
    KeepAlive { every: Duration::from_secs(30), patience: Duration::from_secs(15), while_idle: true };

impl Actor for DialogWatcher {
    type Msg = WatcherMsg;
    type State = State;
    type Arguments = WatcherArgs;

    async fn pre_start(
        &self,
        _: ActorRef<WatcherMsg>,
        args: WatcherArgs,
    ) -> Result<State, ActorProcessingErr> {
        let dialogs = DialogRegistry::after(args.tab.dialogs.load(Ordering::Relaxed));
        let mut state = State { args, dialling: None, link: None, pump: None, dialogs };
        // One that was killed could not say that it sees nothing any more.
        state.blind();
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<WatcherMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let dial = dial(Arc::clone(&state.args.tab));
        state.dialling = Some(leaf::spawn(myself.get_cell(), dial).await?.get_id());
        Ok(())
    }

    async fn handle(
        &self,
        _: ActorRef<WatcherMsg>,
        message: WatcherMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WatcherMsg::Event(event) => state.on_event(&event),
            WatcherMsg::Lagged => {
                return Err("events of the control link were lost".into());
            }
            WatcherMsg::LinkClosed(cause) => {
                state.blind();
                return Err(format!("the control link closed: {cause}").into());
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<WatcherMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        if event.actor_id() != state.dialling {
            return Ok(());
        }
        let Some(end) = leaf::end::<Result<Control, CdpError>>(event) else { return Ok(()) };
        state.dialling = None;
        let Control { link, session, events, confirmed } = match end {
            End::Done(control) => control?,
            End::Killed => return Err("dialling the control link was killed".into()),
            End::Panicked(why) => return Err(why.into()),
        };
        state.link = Some(link);
        state.pump = Some(task::spawn(pump(events, session.clone(), myself)));
        let tab = &state.args.tab;
        tab.confirmed.store(confirmed, Ordering::Relaxed);
        tab.listened.store(true, Ordering::Relaxed);
        tab.control.send_replace(Some(session));
        let _ = state.args.supervisor.cast(TabSupervisorMsg::Listening);
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<WatcherMsg>, state: &mut State) -> Result<(), ActorProcessingErr> {
        state.blind();
        Ok(())
    }
}

impl State {
    fn on_event(&mut self, event: &CdpEvent) {
        let tab = &self.args.tab;
        match event.method.as_ref() {
            "Page.javascriptDialogOpening" => {
                let Ok(opening) = serde_json::from_str::<Opening>(event.params.get()) else { return };
                let dialog =
                    self.dialogs.opened(opening.kind, &opening.message, opening.default_prompt).clone();
                tab.dialogs.fetch_add(1, Ordering::Relaxed);
                tab.condition.send_modify(|now| now.dialog = Some(dialog.clone()));
                tab.browser.events.publish(Event::DialogOpened { tab: tab.id, dialog });
            }
            "Page.javascriptDialogClosed" => {
                let closed = self.dialogs.closed();
                self.dialog_is_gone(closed);
            }
            "Page.frameNavigated" => {
                if Frame::main(event).is_none() {
                    return;
                }
                let lost = self.dialogs.lost();
                self.dialog_is_gone(lost);
                let tab = &self.args.tab;
                tab.condition.send_modify(|now| now.crashed = false);
            }
            "Inspector.targetCrashed" => {
                let lost = self.dialogs.lost();
                self.dialog_is_gone(lost);
                let tab = &self.args.tab;
                let first = tab.condition.send_if_modified(|now| !std::mem::replace(&mut now.crashed, true));
                if first {
                    metrics::counter!("tabvisor_crashes_total", "what" => "renderer").increment(1);
                    tab.browser.events.publish(Event::TabCrashed { tab: tab.id });
                }
            }
            // `Inspector.targetReloadedAfterCrash`
            _ => {
                tab.condition.send_modify(|now| now.crashed = false);
                // If it was enabled on the dead renderer, the new one has not heard of it.
                if let Some(control) = &*tab.control.borrow() {
                    control.cast("Page.enable", json!({}));
                }
            }
        }
    }

    fn dialog_is_gone(&self, how: Option<Resolution>) {
        let Some(by) = how else { return };
        let tab = &self.args.tab;
        let mut id = String::new();
        tab.condition.send_modify(|now| id = now.dialog.take().map(|dialog| dialog.id).unwrap_or_default());
        if id.is_empty() {
            return;
        }
        let resolution = match by {
            Resolution::Agent => "accepted",
            Resolution::Remote => "elsewhere",
            Resolution::Lost => "lost",
        };
        metrics::counter!("tabvisor_dialogs_total", "resolution" => resolution).increment(1);
        tab.browser.events.publish(Event::DialogClosed { tab: tab.id, id, by });
    }

    /// Without its link the watcher sees nothing: say so rather than keep what was true.
    fn blind(&mut self) {
        self.args.tab.control.send_replace(None);
        let lost = self.dialogs.lost();
        let shown = self.args.tab.condition.borrow().dialog.is_some();
        self.dialog_is_gone(lost.or(shown.then_some(Resolution::Lost)));
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opening {
    #[serde(rename = "type")]
    kind: DialogKind,
    #[serde(default)]
    message: String,
    default_prompt: Option<String>,
}

/// A control link that listens.
struct Control {
    link: Link,
    session: Session,
    events: Events,
    confirmed: bool,
}

async fn dial(tab: Arc<TabShared>) -> Result<Control, CdpError> {
    let budget = Budget::new(DIAL);
    let spent = |spent| CdpError::spent("connect", spent);
    let place = budget.run(tab.browser.dials.acquire()).await.map_err(spent)?;
    let address = tab.browser.address()?;
    let mut options = LinkOptions::new(Purpose::Control);
    if !tab.browser.ready().is_some_and(|facts| facts.launched) {
        // Between machines a link can die without a word, and with it every dialog unseen.
        options.keep_alive = IDLE_KEEP_ALIVE;
    }
    let link = Link::connect(&address, &tab.browser.dial.get(), options, &budget).await?;
    let session = link.attach(&tab.target, &budget).await?;
    drop(place);
    let events = session.subscribe(EVENTS, 256);
    // A crash that happened before is told only to who enables Inspector (measured).
    let _inspector = session.send("Inspector.enable", json!({})).await?;
    let page = session.send("Page.enable", json!({})).await?;
    let confirmed = confirmed(&tab, page, &budget).await?;
    Ok(Control { link, session, events, confirmed })
}

/// Waits until the page has confirmed a command, or for a moment where it may not be able to; says
/// whether it has.
///
/// Without the confirmation a navigation may swap the renderer before the command has reached the
/// old one, and the new one never hears of it (measured: events were missing).
async fn confirmed(tab: &TabShared, reply: Reply, budget: &Budget) -> Result<bool, CdpError> {
    let surely = surely_confirms(tab);
    match patience(tab, budget).run(reply).await {
        // The session hears of the navigation that brings a dead renderer back.
        Ok(Err(CdpError::Crashed)) => Ok(false),
        Ok(answer) => answer.map(|_| true),
        Err(spent) if surely => Err(CdpError::spent("Page.enable", spent)),
        Err(_) => Ok(false),
    }
}

/// How long the page may take to confirm a command.
pub(crate) fn patience(tab: &TabShared, budget: &Budget) -> Budget {
    if surely_confirms(tab) { budget.clone() } else { budget.child(CONFIRM) }
}

/// Only at its birth is a page known to be able to; later it may be stuck.
fn surely_confirms(tab: &TabShared) -> bool {
    tab.confirms && !tab.listened.load(Ordering::Relaxed)
}

async fn pump(mut events: Events, session: Session, watcher: ActorRef<WatcherMsg>) {
    while let Some(delivery) = events.next().await {
        let message = match delivery {
            Delivery::Event(event) => WatcherMsg::Event(event),
            Delivery::Lagged { .. } => WatcherMsg::Lagged,
        };
        if watcher.cast(message).is_err() {
            return;
        }
    }
    let _ = watcher.cast(WatcherMsg::LinkClosed(session.link_closed().await));
}
