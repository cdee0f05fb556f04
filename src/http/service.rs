//! What the routes share: the tree, the browsers, who may call, and whether new work is taken.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tabvisor_actors::ids::BrowserId;
use tabvisor_actors::{Supervisor, TabRow};
use tokio::sync::{Semaphore, watch};

use crate::config::{Budgets, Config, DEFAULT};
#[cfg(feature = "mcp")]
use crate::{Budget, StartError, TabError};

use super::access::Access;
use super::error::ApiError;
use super::fields::Fields;
use super::in_profile::InProfile;
use super::profiles::Profile;

/// The browsers by their names.
pub(super) type Profiles = BTreeMap<String, Arc<Profile>>;

/// The state behind the routes of [`router`](super::router()). Clones are the same.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    supervisor: Supervisor,
    config: Config,
    profiles: Mutex<Profiles>,
    default: Arc<Profile>,
    access: Access,
    budgets: Budgets,
    max_budget: Duration,
    max_body_bytes: usize,
    evaluate_enabled: bool,
    max_script_bytes: usize,
    pictures: PathBuf,
    streams: Arc<Semaphore>,
    load: watch::Sender<Load>,
    metrics: OnceLock<Render>,
}

type Render = Box<dyn Fn() -> String + Send + Sync>;

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    running: usize,
    stopping: bool,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("browser", &self.inner.default.running()).finish_non_exhaustive()
    }
}

impl Service {
    /// A service for the browsers of `config`, which it adds to the tree when they are asked for. The one
    /// of `[browser]` may run already.
    pub fn new(supervisor: Supervisor, browser: Option<BrowserId>, access: Access, config: &Config) -> Self {
        let default = Arc::new(Profile::default_one(config, browser));
        let others = config.profiles.iter().map(|(name, own)| Profile::new(name, own, config, false));
        let profiles = std::iter::once(Arc::clone(&default)).chain(others.map(Arc::new));
        Self {
            inner: Arc::new(Inner {
                supervisor,
                config: config.clone(),
                profiles: Mutex::new(profiles.map(|profile| (profile.name.clone(), profile)).collect()),
                default,
                access,
                budgets: config.budgets.clone(),
                max_budget: config.limits.max_budget(),
                max_body_bytes: config.server.max_body_bytes,
                evaluate_enabled: config.browser.evaluate_enabled,
                max_script_bytes: config.limits.max_script_bytes,
                pictures: config.state_dir.join("pictures"),
                streams: Arc::new(Semaphore::new(config.server.event_streams)),
                load: watch::Sender::default(),
                metrics: OnceLock::new(),
            }),
        }
    }

    /// Serves what `render` gives at `GET /metrics`, as Prometheus text. Before
    /// [`router`](super::router()) is called; the first one counts.
    #[must_use]
    pub fn with_metrics(self, render: impl Fn() -> String + Send + Sync + 'static) -> Self {
        let _ = self.inner.metrics.set(Box::new(render));
        self
    }

    /// From now on every call that would be work is answered with 503.
    pub fn refuse_work(&self) {
        self.inner.load.send_modify(|load| load.stopping = true);
    }

    /// Completes when no work is running.
    pub async fn idle(&self) {
        // The sender lives in `self`, so the wait ends only with the condition.
        let _ = self.inner.load.subscribe().wait_for(|load| load.running == 0).await;
    }

    pub(super) fn metrics(&self) -> Option<String> {
        self.inner.metrics.get().map(|render| render())
    }

    pub(super) fn has_metrics(&self) -> bool {
        self.inner.metrics.get().is_some()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.inner.load.borrow().stopping
    }

    pub(super) fn access(&self) -> &Access {
        &self.inner.access
    }

    pub(crate) fn supervisor(&self) -> &Supervisor {
        &self.inner.supervisor
    }

    pub(crate) fn budgets(&self) -> &Budgets {
        &self.inner.budgets
    }

    pub(crate) fn max_budget(&self) -> Duration {
        self.inner.max_budget
    }

    pub(crate) fn max_body_bytes(&self) -> usize {
        self.inner.max_body_bytes
    }

    pub(crate) fn evaluate_enabled(&self) -> bool {
        self.inner.evaluate_enabled
    }

    pub(super) fn max_script_bytes(&self) -> usize {
        self.inner.max_script_bytes
    }

    pub(super) fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Places for readers of events.
    pub(super) fn streams(&self) -> &Arc<Semaphore> {
        &self.inner.streams
    }

    /// Where pictures are put.
    pub(crate) fn pictures(&self) -> PathBuf {
        self.inner.pictures.clone()
    }

    /// The default browser's name, if it should run now.
    #[cfg(feature = "mcp")]
    pub(crate) fn browser_id(&self) -> Option<BrowserId> {
        self.inner.default.running()
    }

    /// Starts the default browser unless it runs.
    #[cfg(feature = "mcp")]
    pub(crate) async fn start_browser(&self, budget: &Budget) -> Result<BrowserId, TabError> {
        let started = self.default_profile().started(None, budget).await;
        started.map_err(|why| match budget.check() {
            Err(spent) => TabError::Budget { spent, doing: "starting the browser", sent: false },
            Ok(()) => StartError::Internal(why.to_string()).into(),
        })
    }

    /// Takes up work, unless the service is stopping.
    pub(crate) fn work(&self) -> Result<Work, ApiError> {
        let taken = self.inner.load.send_if_modified(|load| {
            let taken = !load.stopping;
            load.running += usize::from(taken);
            taken
        });
        if taken { Ok(Work(self.clone())) } else { Err(ApiError::stopping()) }
    }

    /// The profile that a request names, the query's winning over the body's; else the default one.
    pub(super) fn profile(&self, query: &mut Fields, body: &mut Fields) -> Result<InProfile, ApiError> {
        let named = match query.text("profile")? {
            Some(named) => Some(named),
            None => body.text("profile")?,
        };
        self.profile_named(named.as_deref().unwrap_or(DEFAULT))
    }

    pub(super) fn profile_named(&self, name: &str) -> Result<InProfile, ApiError> {
        let profiles = self.profiles();
        if let Some(profile) = profiles.get(name) {
            return Ok(InProfile::new(self.clone(), Arc::clone(profile)));
        }
        let shown: String = name.chars().take(64).collect();
        let all: Vec<&str> = profiles.values().map(|profile| profile.name.as_str()).collect();
        let error = format!("Profile \"{shown}\" not found. Available profiles: {}", all.join(", "));
        Err(ApiError::new(StatusCode::NOT_FOUND, error).reason("profile_not_found"))
    }

    pub(super) fn profiles(&self) -> MutexGuard<'_, Profiles> {
        self.inner.profiles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The default profile.
    pub(super) fn default_profile(&self) -> InProfile {
        InProfile::new(self.clone(), Arc::clone(&self.inner.default))
    }

    /// Calls that are work, and run now.
    pub(super) fn running(&self) -> usize {
        self.inner.load.borrow().running
    }

    /// Completes when the service begins to stop.
    pub(super) async fn stopping(&self) {
        let _ = self.inner.load.subscribe().wait_for(|load| load.stopping).await;
    }
}

/// Work under way; it counts until it is dropped.
pub(crate) struct Work(Service);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.inner.load.send_modify(|load| load.running -= 1);
    }
}

/// The tabs of a browser that callers see, oldest first.
pub(crate) fn tabs_of(supervisor: &Supervisor, browser: BrowserId) -> Vec<TabRow> {
    let ours = |row: &TabRow| row.browser == browser && !is_internal(&row.url);
    supervisor.tabs().into_iter().filter(ours).collect()
}

/// Pages of the browser itself, which are nobody's to drive.
pub(super) fn is_internal(url: &str) -> bool {
    const SCHEMES: [&str; 7] =
        ["chrome", "chrome-extension", "chrome-search", "chrome-untrusted", "devtools", "edge", "brave"];
    url.split_once(':').is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabvisor_cdp::budget::Budget;

    async fn service() -> Service {
        let supervisor = Supervisor::start(16).await.unwrap();
        Service::new(supervisor, None, Access::for_everybody(), &Config::default())
    }

    #[tokio::test]
    async fn a_stopping_service_takes_no_work_and_waits_for_what_runs() {
        let service = service().await;
        let work = service.work().ok().unwrap();
        service.refuse_work();
        assert!(service.work().is_err());
        let brief = Budget::new(Duration::from_millis(10));
        assert!(brief.run(service.idle()).await.is_err());
        drop(work);
        service.idle().await;
        service.supervisor().stop().await;
    }

    #[test]
    fn pages_of_the_browser_itself_are_internal() {
        assert!(is_internal("chrome://newtab/") && is_internal("devtools://x"));
        assert!(!is_internal("about:blank") && !is_internal("https://chrome.example/") && !is_internal(""));
    }
}
