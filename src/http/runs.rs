//! Whether a browser should run, since when, and why it does not.
//!
//! ```text
//!   stopped --start--> starting --it works--> running --stop--> stopped
//!      ^                  |
//!      +-----failed-------+   the third failure in a row begins a cool-down
//! ```
//!
//! A start has a budget of its own and goes on when the call that wanted it has no time left, so that the
//! next one finds the browser.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabvisor_actors::ids::BrowserId;
use tabvisor_actors::{BrowserSpec, Source, Supervisor};
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::task::{self, Task};
use tokio::sync::{OwnedMutexGuard, watch};
use tokio::time::Instant;

use crate::TabError;

use super::cool_down::CoolDown;

/// How long a browser may take to be gone, whoever waits for it.
const STOP: Duration = Duration::from_secs(30);

/// The life of one browser.
#[derive(Default)]
pub(super) struct Runs {
    state: Mutex<State>,
    /// Held while the browser starts or stops: its folder has one user at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct State {
    run: Run,
    cool_down: CoolDown,
    /// Counts starts, so that one that was given up is told from its successor.
    attempt: u64,
    /// As the last start was asked for.
    headless: Option<bool>,
    last_failure: Option<Arc<TabError>>,
    stopping: Option<Task<()>>,
    /// It is being deleted.
    closed: bool,
}

#[derive(Default)]
enum Run {
    #[default]
    Stopped,
    Starting {
        outcome: watch::Receiver<Option<Outcome>>,
        _task: Task<()>,
    },
    Running(BrowserId),
}

type Outcome = Result<BrowserId, Arc<TabError>>;

/// Whether a browser may be started after it was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Again,
    Never,
}

/// A browser that is being stopped.
pub(super) struct Stopping {
    ran: bool,
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// A browser that was stopped; while this is held nobody starts it.
#[derive(Debug)]
pub(super) struct Stopped {
    /// There was something to stop.
    pub(super) ran: bool,
    _turn: OwnedMutexGuard<()>,
}

/// Why a browser does not run now.
#[derive(Clone, Debug)]
pub(super) enum Unstarted {
    /// Its configuration makes no sense.
    Configuration(String),
    /// It failed too often to be tried now.
    CoolingDown { failures: u32, left: Duration, last: Option<Arc<TabError>> },
    /// The attempt failed.
    Failed(Arc<TabError>),
    /// Somebody stopped it while it started.
    Stopped,
    /// The caller's budget ended first; the start goes on.
    Late(Spent),
}

impl Runs {
    /// One that runs already, or does not.
    pub(super) fn new(browser: Option<BrowserId>) -> Self {
        let run = browser.map_or(Run::Stopped, Run::Running);
        Self { state: Mutex::new(State { run, ..State::default() }), ..Self::default() }
    }

    pub(super) fn running(&self) -> Option<BrowserId> {
        match self.state().run {
            Run::Running(browser) => Some(browser),
            Run::Stopped | Run::Starting { .. } => None,
        }
    }

    pub(super) fn is_starting(&self) -> bool {
        matches!(self.state().run, Run::Starting { .. })
    }

    /// As the last start was asked for.
    pub(super) fn headless(&self) -> Option<bool> {
        self.state().headless
    }

    /// Why it is not tried at the moment, else why the last start failed.
    pub(super) fn trouble(&self) -> Option<Unstarted> {
        let state = self.state();
        state.cooling().or_else(|| state.last_failure.clone().map(Unstarted::Failed))
    }

    /// It may be started after all.
    pub(super) fn reopen(&self) {
        self.state().closed = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the browser unless it runs, and waits until it works.
    pub(super) async fn start(
        self: &Arc<Self>,
        spec: impl FnOnce() -> BrowserSpec,
        supervisor: &Supervisor,
        headless: Option<bool>,
        within: Duration,
        budget: &Budget,
    ) -> Result<BrowserId, Unstarted> {
        let mut outcome = {
            let mut state = self.state();
            match &state.run {
                Run::Running(browser) => return Ok(*browser),
                Run::Starting { outcome, .. } => outcome.clone(),
                Run::Stopped => self.begin(&mut state, spec(), supervisor, headless, within)?,
            }
        };
        match budget.run(outcome.wait_for(Option::is_some)).await {
            Ok(Ok(outcome)) => match outcome.as_ref() {
                Some(Ok(browser)) => Ok(*browser),
                Some(Err(why)) => Err(Unstarted::Failed(Arc::clone(why))),
                None => Err(Unstarted::Stopped),
            },
            Ok(Err(_)) => Err(Unstarted::Stopped),
            Err(spent) => Err(Unstarted::Late(spent)),
        }
    }

    fn begin(
        self: &Arc<Self>,
        state: &mut State,
        mut spec: BrowserSpec,
        supervisor: &Supervisor,
        headless: Option<bool>,
        within: Duration,
    ) -> Result<watch::Receiver<Option<Outcome>>, Unstarted> {
        if state.closed {
            return Err(Unstarted::Stopped);
        }
        if let Some(cooling) = state.cooling() {
            return Err(cooling);
        }
        if let (Source::Launch(options), Some(headless)) = (&mut spec.source, headless) {
            options.headless = headless;
        }
        state.headless = headless;
        state.attempt += 1;
        let (tell, outcome) = watch::channel(None);
        let task = {
            let (runs, supervisor, attempt) = (Arc::clone(self), supervisor.clone(), state.attempt);
            task::spawn(async move {
                let budget = Budget::new(within);
                let turn = Arc::clone(&runs.turn).lock_owned().await;
                let started = supervisor.add_browser(spec, &budget).await.map_err(Arc::new);
                runs.settle(turn, attempt, &supervisor, &tell, started);
            })
        };
        state.run = Run::Starting { outcome: outcome.clone(), _task: task };
        Ok(outcome)
    }

    /// From here to its end the task that calls it does not wait: it drops its own handle.
    fn settle(
        &self,
        turn: OwnedMutexGuard<()>,
        attempt: u64,
        supervisor: &Supervisor,
        tell: &watch::Sender<Option<Outcome>>,
        started: Outcome,
    ) {
        // Before anybody can see that it runs, and stop it.
        drop(turn);
        let mut state = self.state();
        if state.attempt != attempt || !matches!(state.run, Run::Starting { .. }) {
            if let Ok(browser) = started {
                supervisor.remove_browser(browser);
            }
            return;
        }
        state.run = match &started {
            Ok(browser) => {
                state.cool_down = CoolDown::default();
                state.last_failure = None;
                Run::Running(*browser)
            }
            Err(why) => {
                state.cool_down.failed(Instant::now());
                state.last_failure = Some(Arc::clone(why));
                Run::Stopped
            }
        };
        tell.send_replace(Some(started));
    }

    /// Stops the browser; it goes on stopping if nobody waits.
    pub(super) fn stop(&self, supervisor: &Supervisor, then: Then) -> Stopping {
        let mut state = self.state();
        state.closed |= then == Then::Never;
        state.headless = None;
        let was = std::mem::take(&mut state.run);
        if let Run::Running(browser) = was {
            let (turn, supervisor) = (Arc::clone(&self.turn).try_lock_owned().ok(), supervisor.clone());
            state.stopping = Some(task::spawn(async move {
                let _turn = turn;
                if let Err(why) = supervisor.stop_browser(browser, &Budget::new(STOP)).await {
                    tracing::warn!(%browser, %why, "a browser did not stop in time");
                }
            }));
        }
        // A start that is under way ends with its handle, and gives up its turn.
        Stopping { ran: !matches!(was, Run::Stopped), turn: Arc::clone(&self.turn) }
    }
}

impl Stopping {
    /// Waits until nothing of it is left.
    pub(super) async fn wait(self, budget: &Budget) -> Result<Stopped, Spent> {
        let turn = budget.run(self.turn.lock_owned()).await?;
        Ok(Stopped { ran: self.ran, _turn: turn })
    }
}

impl State {
    fn cooling(&self) -> Option<Unstarted> {
        let left = self.cool_down.left(Instant::now())?;
        Some(Unstarted::CoolingDown {
            failures: self.cool_down.failures(),
            left,
            last: self.last_failure.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::http::profiles::Profile;

    fn profile(change: impl FnOnce(&mut Config)) -> Arc<Profile> {
        let mut config = Config { state_dir: "/nowhere/state".into(), ..Config::default() };
        change(&mut config);
        Arc::new(Profile::default_one(&config, None))
    }

    #[tokio::test(start_paused = true)]
    async fn a_browser_that_cannot_be_launched_is_left_alone_after_three_tries() {
        let supervisor = Supervisor::start(16).await.unwrap();
        let profile = profile(|it| it.browser.chromium = Some("/nowhere/chromium".into()));
        let start = async || {
            let budget = Budget::new(Duration::from_secs(20));
            profile.start(&supervisor, None, Duration::from_secs(10), &budget).await.unwrap_err()
        };
        for _ in 0..3 {
            let why = start().await;
            assert!(matches!(why, Unstarted::Failed(_)), "{why:?}");
        }
        let Unstarted::CoolingDown { failures: 3, left, last: Some(_) } = start().await else {
            panic!("no cool-down")
        };
        tokio::time::advance(left).await;
        assert!(matches!(start().await, Unstarted::Failed(_)));
        assert!(matches!(start().await, Unstarted::CoolingDown { failures: 4, .. }));
        let stopped = profile.stop(&supervisor, Then::Never, &Budget::new(STOP)).await.unwrap();
        assert!(!stopped.ran);
        assert!(matches!(start().await, Unstarted::Stopped));
        supervisor.stop().await;
    }

    #[tokio::test]
    async fn a_wrong_configuration_is_no_failure_of_the_browser() {
        let supervisor = Supervisor::start(16).await.unwrap();
        let profile = profile(|it| it.browser.cdp_url = Some("ftp://x/".into()));
        let budget = Budget::new(Duration::from_secs(5));
        for _ in 0..5 {
            let why = profile.start(&supervisor, None, STOP, &budget).await.unwrap_err();
            assert!(matches!(why, Unstarted::Configuration(_)), "{why:?}");
        }
        supervisor.stop().await;
    }
}
