//! Observer: the observing link of a tab.
//!
//! Purpose: hears what the page says (console, uncaught errors, requests) over a link of its own. One
//! event may carry a whole request body or console message; where that is over the frame limit it
//! closes this link, and no other.
//!
//! ```text
//!   spawned --> dialling --> observing --link closed--> a pause --> dialling
//!                  |             |                         ^
//!                  |             +--event--> Observations  |
//!                  +--failed-------------------------------+
//! ```
//!
//! Supervised by: [`TabSupervisor`](crate::tab_supervisor), permanent. A page at its birth may run once
//! the first dialling has ended, either way: what it says first is heard, and a link that cannot be had
//! keeps nobody waiting.
//! Children: the dialler; temporary.
//!
//! Its loss costs observation only: it makes its link anew by itself, after a pause that doubles, and the
//! gap is counted. It never fails for a link, so no tab is lost for want of one.
//!
//! Shape, for whoever works on its neighbours: `TabShared::observing` is the live handle, `observed` what
//! was heard, `emulation` what every new session is told. All three outlive it.
//!
//! It never: awaits Chromium in `handle`, writes what a page says to a log.

use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Link, Purpose};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::observe::Watching;
use tokio::time::Instant;

use crate::dial;
use crate::later::later;
use crate::leaf::{self, End};
use crate::shared::TabShared;
use crate::tab_supervisor::TabSupervisorMsg;

/// What Observer takes.
pub(crate) enum ObserverMsg {
    /// The link or the session ended.
    Ended(CdpError),
    /// The pause is over.
    Dial,
}

/// The actor.
pub(crate) struct Observer;

/// What it needs.
pub(crate) struct ObserverArgs {
    pub(crate) tab: Arc<TabShared>,
    pub(crate) supervisor: ActorRef<TabSupervisorMsg>,
}

/// Its state.
pub(crate) struct State {
    args: ObserverArgs,
    dialling: Option<ActorId>,
    running: Option<Running>,
    pause: Duration,
    waiting: Option<Task<()>>,
    /// The first dialling has ended.
    tried: bool,
    /// There was a link: the next one does not tell what was said before.
    again: bool,
}

struct Running {
    _link: Link,
    _watching: Task<()>,
    since: Instant,
}

struct Dialled {
    link: Link,
    watching: Watching,
}

/// How long dialling may take.
const DIAL: Duration = Duration::from_secs(10);
/// How long a page at its birth may take to confirm.
const CONFIRM: Duration = Duration::from_secs(1);
/// How long one may take that perhaps cannot.
const CONFIRM_PERHAPS: Duration = Duration::from_millis(100);
/// The first pause, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A link that held so long was a good one.
const GOOD: Duration = Duration::from_mins(1);

impl Actor for Observer {
    type Msg = ObserverMsg;
    type State = State;
    type Arguments = ObserverArgs;

    async fn pre_start(
        &self,
        _: ActorRef<ObserverMsg>,
        args: ObserverArgs,
    ) -> Result<State, ActorProcessingErr> {
        // One that was killed could not say that it hears nothing any more.
        let again = args.tab.observing.send_replace(None).is_some();
        Ok(State {
            args,
            dialling: None,
            running: None,
            pause: FIRST_PAUSE,
            waiting: None,
            tried: false,
            again,
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<ObserverMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        state.dial(&myself).await
    }

    async fn handle(
        &self,
        myself: ActorRef<ObserverMsg>,
        message: ObserverMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ObserverMsg::Ended(why) => state.ended(&myself, &why),
            ObserverMsg::Dial => state.dial(&myself).await?,
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ObserverMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        if event.actor_id() != state.dialling {
            return Ok(());
        }
        let Some(end) = leaf::end::<Result<Dialled, CdpError>>(event) else { return Ok(()) };
        state.dialling = None;
        match end {
            End::Done(Ok(dialled)) => state.observe(&myself, dialled),
            End::Done(Err(why)) => state.retry(&myself, &why.to_string()),
            End::Killed => state.retry(&myself, "dialling was killed"),
            End::Panicked(why) => return Err(why.into()),
        }
        if !std::mem::replace(&mut state.tried, true) {
            let _ = state.args.supervisor.cast(TabSupervisorMsg::Observing);
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<ObserverMsg>, state: &mut State) -> Result<(), ActorProcessingErr> {
        state.args.tab.observing.send_replace(None);
        Ok(())
    }
}

impl State {
    async fn dial(&mut self, myself: &ActorRef<ObserverMsg>) -> Result<(), ActorProcessingErr> {
        self.waiting = None;
        let work = dial(Arc::clone(&self.args.tab), self.again);
        self.dialling = Some(leaf::spawn(myself.get_cell(), work).await?.get_id());
        Ok(())
    }

    fn observe(&mut self, myself: &ActorRef<ObserverMsg>, Dialled { link, watching }: Dialled) {
        self.again = true;
        self.args.tab.observing.send_replace(Some(watching.observing()));
        let myself = myself.clone();
        let watching = task::spawn(async move {
            let why = watching.run().await;
            let _ = myself.cast(ObserverMsg::Ended(why));
        });
        self.running = Some(Running { _link: link, _watching: watching, since: Instant::now() });
    }

    fn ended(&mut self, myself: &ActorRef<ObserverMsg>, why: &CdpError) {
        let Some(running) = self.running.take() else { return };
        let tab = &self.args.tab;
        tab.observing.send_replace(None);
        tab.observed().interrupted();
        if running.since.elapsed() >= GOOD {
            self.pause = FIRST_PAUSE;
        }
        self.retry(myself, &why.to_string());
    }

    fn retry(&mut self, myself: &ActorRef<ObserverMsg>, why: &str) {
        let tab = &self.args.tab;
        if tab.gone.borrow().is_some() {
            return;
        }
        tracing::debug!(tab = %tab.id, why, pause_ms = self.pause.as_millis(), "a tab is not observed");
        metrics::counter!("tabvisor_observer_restarts_total").increment(1);
        self.waiting = Some(later(myself, self.pause, ObserverMsg::Dial));
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

async fn dial(tab: Arc<TabShared>, again: bool) -> Result<Dialled, CdpError> {
    let budget = Budget::new(DIAL);
    let options = dial::noticed_while_idle(&tab, dial::options(&tab, Purpose::Observe));
    let (link, session) = dial::attach(&tab, options, &budget).await?;
    let at_birth = tab.confirms && !again;
    let patience = budget.child(if at_birth { CONFIRM } else { CONFIRM_PERHAPS });
    let (seen, emulation) = (Arc::clone(&tab.observed), Arc::clone(&tab.emulation));
    let policy = Arc::clone(&tab.browser.policy);
    let watching = Watching::set_up(&link, session, again, seen, emulation, policy, &patience).await?;
    Ok(Dialled { link, watching })
}
