//! What the routes share: the tree, the names of tabs, who may call, and whether new work is taken.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tabvisor_actors::error::StartError;
use tabvisor_actors::ids::{BrowserId, TabId};
use tabvisor_actors::{BrowserFacts, Supervisor, TabRow};
use tabvisor_cdp::budget::Budget;
use tabvisor_page::navigate::WaitUntil;
use tokio::sync::watch;

use crate::TabError;
use crate::config::{Budgets, Config};

use super::access::Access;
use super::error::ApiError;
use super::fields::Fields;
use super::targets::{self, Candidate, Missed, Names};

/// The only browser profile there is, by the name that clients use when they name one.
pub(super) const PROFILE: &str = "openclaw";

/// The state behind the routes of [`router`](super::router()). Clones are the same.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    supervisor: Supervisor,
    browser: Option<BrowserId>,
    access: Access,
    budgets: Budgets,
    max_budget: Duration,
    max_body_bytes: usize,
    evaluate_enabled: bool,
    max_script_bytes: usize,
    pictures: PathBuf,
    names: Mutex<Names>,
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
        f.debug_struct("Service").field("browser", &self.inner.browser).finish_non_exhaustive()
    }
}

impl Service {
    /// A service for the tabs of one browser of a tree. Without a browser it knows no tabs and
    /// opens none.
    pub fn new(supervisor: Supervisor, browser: Option<BrowserId>, access: Access, config: &Config) -> Self {
        Self {
            inner: Arc::new(Inner {
                supervisor,
                browser,
                access,
                budgets: config.budgets.clone(),
                max_budget: config.limits.max_budget(),
                max_body_bytes: config.server.max_body_bytes,
                evaluate_enabled: config.browser.evaluate_enabled,
                max_script_bytes: config.limits.max_script_bytes,
                pictures: config.state_dir.join("pictures"),
                names: Mutex::default(),
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

    /// Where pictures are put.
    pub(crate) fn pictures(&self) -> PathBuf {
        self.inner.pictures.clone()
    }

    /// The browser's name.
    #[cfg(feature = "mcp")]
    pub(crate) fn browser_id(&self) -> Option<BrowserId> {
        self.inner.browser
    }

    /// The browser, while it works.
    pub(super) fn browser(&self) -> Option<Arc<BrowserFacts>> {
        self.supervisor().browser(self.inner.browser?)
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

    /// The tabs that callers see, newest first.
    pub(super) fn tabs(&self) -> Vec<TabRow> {
        let ours = |row: &TabRow| Some(row.browser) == self.inner.browser && !is_internal(&row.url);
        self.supervisor().tabs().into_iter().rev().filter(ours).collect()
    }

    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.inner.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tab that a request names, which is the last used one from now on.
    fn named(&self, text: &str) -> Result<TabRow, ApiError> {
        let row = self.find(text)?;
        self.names().used(&Candidate::from(&row));
        Ok(row)
    }

    /// The tab that a request names, or the last used one.
    pub(super) async fn named_or_last(
        &self,
        text: Option<&str>,
        budget: &Budget,
    ) -> Result<TabRow, ApiError> {
        match text {
            Some(text) => self.named(text),
            None => self.unnamed(budget).await,
        }
    }

    /// The tab that a request names.
    pub(super) fn find(&self, text: &str) -> Result<TabRow, ApiError> {
        let rows = self.tabs();
        let tabs: Vec<_> = rows.iter().map(Candidate::from).collect();
        let found = {
            let mut names = self.names();
            names.keep(&tabs);
            names.find(text, &tabs).map(|found| found.tab)
        };
        match found {
            Ok(tab) => rows.into_iter().find(|row| row.tab_id == tab).ok_or_else(|| targets::not_found(text)),
            Err(Missed::Ambiguous) => Err(targets::ambiguous()),
            Err(Missed::NotFound) => Err(self.not_found(text)),
        }
    }

    /// The tab of a request that names none.
    async fn unnamed(&self, budget: &Budget) -> Result<TabRow, ApiError> {
        let rows = self.tabs();
        let tabs: Vec<_> = rows.iter().map(Candidate::from).collect();
        let found = self.names().unnamed(&tabs).map_err(|target| self.not_found(&target))?;
        let row = match found.and_then(|found| rows.iter().find(|row| row.tab_id == found.tab)) {
            Some(row) => row.clone(),
            None => self.open("about:blank", budget).await?,
        };
        self.names().used(&Candidate::from(&row));
        Ok(row)
    }

    /// Opens a tab and waits until its document is there.
    pub(super) async fn open(&self, url: &str, budget: &Budget) -> Result<TabRow, TabError> {
        let Some(browser) = self.inner.browser else {
            return Err(StartError::Internal("this service was started without one".into()).into());
        };
        self.supervisor().open(browser, url, WaitUntil::Commit, budget).await
    }

    /// Why nothing has this name: it never had, it is gone, or there is no browser now.
    fn not_found(&self, text: &str) -> ApiError {
        if self.inner.browser.is_some() && self.browser().is_none() {
            let error = format!(
                "Browser profile \"{PROFILE}\" is not running. Start the browser or open a new tab, then select a \
                 current target."
            );
            return ApiError::new(StatusCode::CONFLICT, error).reason("browser_not_running");
        }
        let gone = text.parse::<TabId>().ok().and_then(|tab| self.supervisor().tab(tab).err());
        match gone {
            Some(TabError::TabClosed { .. }) => targets::not_found(text).reason("tab_closed"),
            Some(error @ (TabError::TabLost { .. } | TabError::BrowserLost { .. })) => error.into(),
            _ => targets::not_found(text),
        }
    }
}

/// Work under way; it counts until it is dropped.
pub(crate) struct Work(Service);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.inner.load.send_modify(|load| load.running -= 1);
    }
}

/// Checks the profile that a request names; the query's wins over the body's.
pub(super) fn check_profile(query: &mut Fields, body: &mut Fields) -> Result<(), ApiError> {
    let named = match query.text("profile")? {
        Some(named) => Some(named),
        None => body.text("profile")?,
    };
    match named {
        Some(other) if other != PROFILE => {
            let shown: String = other.chars().take(64).collect();
            let error = format!("Profile \"{shown}\" not found. Available profiles: {PROFILE}");
            Err(ApiError::new(StatusCode::NOT_FOUND, error).reason("profile_not_found"))
        }
        _ => Ok(()),
    }
}

/// Pages of the browser itself, which are nobody's to drive.
pub(crate) fn is_internal(url: &str) -> bool {
    const SCHEMES: [&str; 7] =
        ["chrome", "chrome-extension", "chrome-search", "chrome-untrusted", "devtools", "edge", "brave"];
    url.split_once(':').is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[tokio::test]
    async fn without_a_browser_every_tab_is_unknown() {
        let service = service().await;
        assert_eq!(service.named("t1").unwrap_err().status(), StatusCode::NOT_FOUND);
        let budget = Budget::new(Duration::from_secs(1));
        assert_eq!(service.unnamed(&budget).await.unwrap_err().status(), StatusCode::SERVICE_UNAVAILABLE);
        service.supervisor().stop().await;
    }

    #[test]
    fn pages_of_the_browser_itself_are_internal() {
        assert!(is_internal("chrome://newtab/") && is_internal("devtools://x"));
        assert!(!is_internal("about:blank") && !is_internal("https://chrome.example/") && !is_internal(""));
    }
}
