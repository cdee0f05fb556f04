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

mod answers;
mod control;

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::link::{Event as CdpEvent, Link};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::dialog::{self, Answer, DialogKind, DialogRecord, Dialogs, Policy};
use tabvisor_page::navigate::Frame;
use tokio::time::Instant;

use self::control::{Confirmed, Control};
use crate::error::TabError;
use crate::events::Event;
use crate::leaf::{self, End};
use crate::shared::TabShared;
use crate::tab_supervisor::TabSupervisorMsg;

pub(crate) use self::control::patience;

/// What DialogWatcher takes.
pub(crate) enum WatcherMsg {
    /// An event of the control session.
    Event(CdpEvent),
    /// Events were dropped: what is open is not known any more.
    Lagged,
    /// The control link is gone.
    LinkClosed(CloseCause),
    /// Answer the open dialog.
    Answer(Box<AnswerDialog>),
    /// Answer the open dialog or, if there is none, the next one.
    AnswerOrArm(Box<AnswerDialog>, Instant),
    /// From now on, dialogs that nobody was asked about are handled so.
    Policy(Policy),
    /// Chromium took the answer to this dialog, or not.
    Handled(String, Result<(), CdpError>),
    /// The budget of who answered this dialog has ended.
    AnswerSpent(String, Spent),
}

/// The answer to a dialog, and who waits to hear that it has gone away.
pub(crate) struct AnswerDialog {
    /// The dialog; without one, the open one.
    pub(crate) id: Option<String>,
    pub(crate) answer: Answer,
    pub(crate) budget: Budget,
    pub(crate) reply: RpcReplyPort<DialogReply>,
}

/// The dialog as it was closed; `None` if the answer waits for the next one.
pub(crate) type DialogReply = Result<Option<DialogRecord>, TabError>;

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
    dialogs: Dialogs,
    /// Who waits for the end of the open dialog.
    answering: Option<Answering>,
    /// The answer that is on its way.
    handling: Option<Task<()>>,
}

struct Answering {
    id: String,
    reply: RpcReplyPort<DialogReply>,
    _spent: Task<()>,
}

impl Actor for DialogWatcher {
    type Msg = WatcherMsg;
    type State = State;
    type Arguments = WatcherArgs;

    async fn pre_start(
        &self,
        _: ActorRef<WatcherMsg>,
        args: WatcherArgs,
    ) -> Result<State, ActorProcessingErr> {
        let mut dialogs = Dialogs::after(args.tab.dialogs.load(Ordering::Relaxed));
        dialogs.set_policy(*args.tab.dialog_policy.lock().unwrap_or_else(PoisonError::into_inner));
        let mut state =
            State { args, dialling: None, link: None, pump: None, dialogs, answering: None, handling: None };
        // One that was killed could not say that it sees nothing any more.
        state.blind();
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<WatcherMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let dial = control::dial(Arc::clone(&state.args.tab));
        state.dialling = Some(leaf::spawn(myself.get_cell(), dial).await?.get_id());
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<WatcherMsg>,
        message: WatcherMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WatcherMsg::Event(event) => state.on_event(&myself, &event),
            WatcherMsg::Answer(answer) => state.answer(&myself, *answer),
            WatcherMsg::AnswerOrArm(answer, until) => state.answer_or_arm(&myself, *answer, until),
            WatcherMsg::Policy(policy) => state.set_policy(&myself, policy),
            WatcherMsg::Handled(id, outcome) => state.handled(&myself, id, outcome),
            WatcherMsg::AnswerSpent(id, spent) => state.answer_spent(&id, spent),
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
        state.pump = Some(task::spawn(control::pump(events, session.clone(), myself)));
        let tab = &state.args.tab;
        tab.confirmed.store(confirmed == Confirmed::Yes, Ordering::Relaxed);
        let first = !tab.listened.swap(true, Ordering::Relaxed);
        if first && confirmed == Confirmed::Dead && !*tab.recovering.borrow() {
            tab.condition.send_modify(|now| (now.crashed, now.discarded) = (true, true));
        }
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
    fn on_event(&mut self, myself: &ActorRef<WatcherMsg>, event: &CdpEvent) {
        match event.method.as_ref() {
            "Page.javascriptDialogOpening" => {
                let Ok(opening) = serde_json::from_str::<Opening>(event.params.get()) else { return };
                let Opening { kind, message, default_prompt } = opening;
                self.args.tab.dialogs.fetch_add(1, Ordering::Relaxed);
                self.happened(myself, dialog::Event::Opened { kind, message, default_value: default_prompt });
            }
            "Page.javascriptDialogClosed" => {
                let closed = serde_json::from_str::<Closed>(event.params.get());
                let accepted = closed.is_ok_and(|closed| closed.result);
                self.happened(myself, dialog::Event::Closed { accepted });
            }
            "Page.frameNavigated" => {
                if Frame::main(event).is_none() {
                    return;
                }
                self.happened(myself, dialog::Event::Lost);
                self.args.tab.revived();
            }
            "Inspector.targetCrashed" => {
                self.happened(myself, dialog::Event::Lost);
                let tab = &self.args.tab;
                let first = tab.condition.send_if_modified(|now| !std::mem::replace(&mut now.crashed, true));
                // A recovery's own doing is no crash, and told by itself.
                if first && !*tab.recovering.borrow() {
                    metrics::counter!("tabvisor_crashes_total", "what" => "renderer").increment(1);
                    tab.browser.events.publish(Event::TabCrashed { tab: tab.id });
                }
            }
            // All that is told of a discarded page that is loaded again, where its commit came before
            // its new renderer knew of us (measured).
            "Page.frameStoppedLoading" => self.args.tab.woken(),
            // `Inspector.targetReloadedAfterCrash`
            _ => {
                self.args.tab.revived();
                // If it was enabled on the dead renderer, the new one has not heard of it.
                if let Some(control) = &*self.args.tab.control.borrow() {
                    control.cast("Page.enable", json!({}));
                }
            }
        }
    }

    /// Without its link the watcher sees nothing: say so rather than keep what was true.
    fn blind(&mut self) {
        self.args.tab.control.send_replace(None);
        self.lose();
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

#[derive(Deserialize)]
struct Closed {
    #[serde(default)]
    result: bool,
}
