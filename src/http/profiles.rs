//! One browser among several: whether it should run, since when, and what tabs of it are called.
//!
//! ```text
//!   stopped --start--> starting --it works--> running --stop--> stopped
//!      ^                  |
//!      +-----failed-------+   the third failure in a row begins a cool-down
//! ```
//!
//! A start has a budget of its own and goes on when the call that wanted it has no time left, so that the
//! next one finds the browser. Whether a browser that runs works at this moment is not written here: it is
//! what the supervision tree publishes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabvisor_actors::ids::BrowserId;
use tabvisor_actors::{BrowserSpec, Source, Supervisor};
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::discovery::Given;
use tabvisor_cdp::launch;
use tabvisor_cdp::task::{self, Task};
use tokio::sync::{OwnedMutexGuard, watch};
use tokio::time::Instant;
use url::Host;

use crate::TabError;
use crate::config::{BrowserAddress, Config, DEFAULT, ProfileConfig};

use super::targets::Names;

/// What a profile is shown in that has no color.
const COLOR: &str = "#FF4500";
/// How long a browser may take to be gone, whoever waits for it.
const STOP: Duration = Duration::from_secs(30);

/// A browser by its name.
pub(super) struct Profile {
    pub(super) name: String,
    /// Made by a call; the configuration does not know it.
    pub(super) created: bool,
    pub(super) color: String,
    /// The address of a browser that is attached to.
    pub(super) address: Option<BrowserAddress>,
    pub(super) is_remote: bool,
    /// The program to launch, where one is configured.
    pub(super) chromium: Option<PathBuf>,
    pub(super) no_sandbox: bool,
    headed: bool,
    spec: Result<Box<BrowserSpec>, String>,
    state: Mutex<State>,
    names: Mutex<Names>,
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

impl Profile {
    /// The browser of `[browser]`, which may run already.
    pub(super) fn default_one(config: &Config, browser: Option<BrowserId>) -> Self {
        let own = ProfileConfig {
            cdp_url: config.browser.cdp_url.clone(),
            profile: config.browser.profile.clone(),
            headed: config.browser.headed,
            color: None,
        };
        let mut profile = Self::new(DEFAULT, &own, config, false);
        if let Some(browser) = browser {
            profile.state.get_mut().unwrap_or_else(PoisonError::into_inner).run = Run::Running(browser);
        }
        profile
    }

    pub(super) fn new(name: &str, own: &ProfileConfig, config: &Config, created: bool) -> Self {
        let spec = config.profile_spec(name, own).map(Box::new).map_err(|why| why.to_string());
        Self {
            name: name.to_owned(),
            created,
            color: own.color.clone().unwrap_or_else(|| COLOR.to_owned()),
            address: own.cdp_url.clone(),
            is_remote: own.cdp_url.as_ref().is_some_and(is_remote),
            chromium: config.browser.chromium.clone(),
            no_sandbox: config.browser.no_sandbox,
            headed: own.headed,
            spec,
            state: Mutex::default(),
            names: Mutex::default(),
            turn: Arc::default(),
        }
    }

    pub(super) fn is_default(&self) -> bool {
        self.name == DEFAULT
    }

    /// It is attached to and never launched.
    pub(super) fn is_attached(&self) -> bool {
        self.address.is_some()
    }

    /// The folder of its data, where one is kept.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        match &self.spec.as_ref().ok()?.source {
            Source::Launch(options) => match &options.profile {
                launch::Profile::Folder(folder) => Some(folder.clone()),
                launch::Profile::Temporary => None,
            },
            Source::Attach(_) => None,
        }
    }

    /// Without a window: as the last start was asked for, else as configured, and who said so.
    pub(super) fn headless(&self) -> (bool, &'static str) {
        match self.state().headless {
            Some(headless) => (headless, "request"),
            None if self.headed => (false, "config"),
            None => (true, "default"),
        }
    }

    /// The browser that should run now. It may be just being restarted.
    pub(super) fn running(&self) -> Option<BrowserId> {
        match self.state().run {
            Run::Running(browser) => Some(browser),
            Run::Stopped | Run::Starting { .. } => None,
        }
    }

    pub(super) fn is_starting(&self) -> bool {
        matches!(self.state().run, Run::Starting { .. })
    }

    /// Why it is not tried at the moment, else why the last start failed.
    pub(super) fn trouble(&self) -> Option<Unstarted> {
        let state = self.state();
        match (&self.spec, state.cooling()) {
            (Err(why), _) => Some(Unstarted::Configuration(why.clone())),
            (Ok(_), Some(cooling)) => Some(cooling),
            (Ok(_), None) => state.last_failure.clone().map(Unstarted::Failed),
        }
    }

    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the browser unless it runs, and waits until it works.
    pub(super) async fn start(
        self: &Arc<Self>,
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
                Run::Stopped => self.begin(&mut state, supervisor, headless, within)?,
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
        supervisor: &Supervisor,
        headless: Option<bool>,
        within: Duration,
    ) -> Result<watch::Receiver<Option<Outcome>>, Unstarted> {
        let mut spec = match &self.spec {
            Ok(spec) => (**spec).clone(),
            Err(why) => return Err(Unstarted::Configuration(why.clone())),
        };
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
            let (profile, supervisor, attempt) = (Arc::clone(self), supervisor.clone(), state.attempt);
            task::spawn(async move {
                let budget = Budget::new(within);
                let turn = Arc::clone(&profile.turn).lock_owned().await;
                let started = supervisor.add_browser(spec, &budget).await.map_err(Arc::new);
                profile.settle(turn, attempt, &supervisor, &tell, started);
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

    /// Stops the browser and waits until nothing of it is left; it goes on stopping if the budget ends
    /// before. Whether there was something to stop.
    pub(super) async fn stop(
        &self,
        supervisor: &Supervisor,
        then: Then,
        budget: &Budget,
    ) -> Result<Stopped, Spent> {
        let ran = {
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
            !matches!(was, Run::Stopped)
        };
        // Its tabs are gone, and what they were called with them.
        *self.names() = Names::default();
        let turn = budget.run(Arc::clone(&self.turn).lock_owned()).await?;
        Ok(Stopped { ran, _turn: turn })
    }

    /// It may be started after all.
    pub(super) fn reopen(&self) {
        self.state().closed = false;
    }
}

impl State {
    fn cooling(&self) -> Option<Unstarted> {
        let left = self.cool_down.left(Instant::now())?;
        Some(Unstarted::CoolingDown {
            failures: self.cool_down.failures,
            left,
            last: self.last_failure.clone(),
        })
    }
}

fn is_remote(address: &BrowserAddress) -> bool {
    let url = match address.expose().parse::<Given>() {
        Ok(Given::Endpoint(url) | Given::Bare(url) | Given::Http(url)) => url,
        _ => return false,
    };
    match url.host() {
        Some(Host::Domain(name)) => name != "localhost",
        Some(Host::Ipv4(address)) => !address.is_loopback(),
        Some(Host::Ipv6(address)) => !address.is_loopback(),
        None => false,
    }
}

/// How long a browser that will not start is left alone. Pure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CoolDown {
    /// In a row.
    failures: u32,
    until: Option<Instant>,
}

impl CoolDown {
    /// So many failures are tried again at once.
    const FREE: u32 = 3;
    const FIRST: Duration = Duration::from_secs(30);
    const LONGEST: Duration = Duration::from_mins(5);

    fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.until = self
            .failures
            .checked_sub(Self::FREE)
            .map(|over| now + Self::FIRST.saturating_mul(1 << over.min(8)).min(Self::LONGEST));
    }

    /// How much of it is left at `now`.
    fn left(&self, now: Instant) -> Option<Duration> {
        self.until?.checked_duration_since(now).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_third_failure_in_a_row_begins_a_cool_down_that_doubles() {
        let mut now = Instant::now();
        let mut it = CoolDown::default();
        for seconds in [0, 0, 30, 60, 120, 240, 300, 300] {
            it.failed(now);
            assert_eq!(it.left(now).unwrap_or_default(), Duration::from_secs(seconds));
            now += Duration::from_secs(seconds);
            assert_eq!(it.left(now), None);
        }
    }

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

    #[test]
    fn an_address_elsewhere_is_remote() {
        for (address, remote) in [
            ("9222", false),
            ("http://127.0.0.1:9222", false),
            ("ws://localhost:1/x", false),
            ("http://[::1]:1", false),
            ("https://browsers.example/", true),
            ("ws://10.0.0.1:9222/devtools/browser/x", true),
        ] {
            assert_eq!(is_remote(&address.into()), remote, "{address}");
        }
    }
}
