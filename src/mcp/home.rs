//! What the tools work on: one browser of a supervision tree, that runs already or is started when it is first
//! needed.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabvisor_actors::{BrowserFacts, BrowserSpec, Supervisor, TabRow};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task::{self, Task};
use tokio::sync::watch;

use crate::config::{Budgets, Config, ConfigError};
use crate::http::{Service, Work, tabs_of};
use crate::{BrowserId, StartError, TabError};

use super::connection::Connection;

/// The browser that the tools work on. Clones are the same.
#[derive(Clone)]
pub struct Home {
    inner: Arc<Inner>,
}

struct Inner {
    supervisor: Supervisor,
    source: Source,
    budgets: Budgets,
    max_budget: Duration,
    max_body_bytes: usize,
    evaluate_enabled: bool,
    pictures: PathBuf,
    /// The sessions of callers that have no connection.
    without_connection: Arc<Connection>,
    /// What is still done for connections that have ended.
    ending: Mutex<Vec<Task<()>>>,
}

/// Who starts the browser.
enum Source {
    /// The service that the tools belong to, which may be stopping.
    Service(Service),
    /// The first call that needs it.
    Own(Mutex<Browser>),
}

/// A browser of our own, from before it is started.
enum Browser {
    /// It may still be told how to start.
    NotYet(Box<Config>),
    Starting {
        config: Box<Config>,
        outcome: Outcome,
        _starting: Task<()>,
    },
    Runs(BrowserId),
}

type Outcome = watch::Receiver<Option<Result<BrowserId, StartError>>>;

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Home").finish_non_exhaustive()
    }
}

impl Home {
    /// A browser that is launched, or attached to, as `config` says once a tool needs it.
    ///
    /// # Errors
    /// A configuration that makes no sense.
    pub fn lazy(supervisor: Supervisor, config: &Config) -> Result<Self, ConfigError> {
        config.browser_spec()?;
        Ok(Self {
            inner: Arc::new(Inner {
                supervisor,
                source: Source::Own(Mutex::new(Browser::NotYet(Box::new(config.clone())))),
                budgets: config.budgets.clone(),
                max_budget: config.limits.max_budget(),
                max_body_bytes: config.server.max_body_bytes,
                evaluate_enabled: config.browser.evaluate_enabled,
                pictures: config.state_dir.join("pictures"),
                without_connection: Arc::new(Connection::shared()),
                ending: Mutex::default(),
            }),
        })
    }

    /// The browser of an HTTP service.
    pub fn of_service(service: &Service) -> Self {
        Self {
            inner: Arc::new(Inner {
                supervisor: service.supervisor().clone(),
                source: Source::Service(service.clone()),
                budgets: service.budgets().clone(),
                max_budget: service.max_budget(),
                max_body_bytes: service.max_body_bytes(),
                evaluate_enabled: service.evaluate_enabled(),
                pictures: service.pictures(),
                without_connection: Arc::new(Connection::shared()),
                ending: Mutex::default(),
            }),
        }
    }

    pub(super) fn supervisor(&self) -> &Supervisor {
        &self.inner.supervisor
    }

    pub(super) fn budgets(&self) -> &Budgets {
        &self.inner.budgets
    }

    pub(super) fn max_budget(&self) -> Duration {
        self.inner.max_budget
    }

    pub(super) fn max_body_bytes(&self) -> usize {
        self.inner.max_body_bytes
    }

    pub(super) fn evaluate_enabled(&self) -> bool {
        self.inner.evaluate_enabled
    }

    pub(super) fn pictures(&self) -> PathBuf {
        self.inner.pictures.clone()
    }

    pub(super) fn without_connection(&self) -> &Arc<Connection> {
        &self.inner.without_connection
    }

    /// Takes up work, unless the service is stopping.
    pub(super) fn work(&self) -> Result<Option<Work>, TabError> {
        match &self.inner.source {
            Source::Service(service) => service.work().map(Some).map_err(|_| TabError::Stopping),
            Source::Own(_) => Ok(None),
        }
    }

    /// Lets something come to its end behind the calls.
    pub(super) fn look_after(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut ending = self.inner.ending.lock().unwrap_or_else(PoisonError::into_inner);
        ending.retain(|task| !task.is_finished());
        ending.push(task::spawn(work));
    }

    /// The browser's name, if it was started.
    pub(super) fn started(&self) -> Option<BrowserId> {
        match &self.inner.source {
            Source::Service(service) => service.browser_id(),
            Source::Own(slot) => match &*lock(slot) {
                Browser::Runs(id) => Some(*id),
                Browser::Starting { outcome, .. } => outcome.borrow().as_ref()?.as_ref().ok().copied(),
                Browser::NotYet(_) => None,
            },
        }
    }

    /// What is known of the browser while it works.
    pub(super) fn facts(&self) -> Option<Arc<BrowserFacts>> {
        self.supervisor().browser(self.started()?)
    }

    /// The browser; it is started if it was not. The start goes on if the caller does not wait for it.
    pub(super) async fn browser(&self, budget: &Budget) -> Result<BrowserId, TabError> {
        let slot = match &self.inner.source {
            Source::Own(slot) => slot,
            Source::Service(service) => {
                return match service.browser_id() {
                    Some(id) => Ok(id),
                    None => service.start_browser(budget).await,
                };
            }
        };
        let mut outcome = match self.start(&mut lock(slot)) {
            Ok(id) => return Ok(id),
            Err(outcome) => outcome,
        };
        let doing = "starting the browser";
        let ended = budget.run(outcome.wait_for(Option::is_some)).await;
        let ended = ended.map_err(|spent| TabError::Budget { spent, doing, sent: false })?;
        let ended = ended.ok().and_then(|ended| ended.clone()).unwrap_or(Err(StartError::Stopped));
        let mut slot = lock(slot);
        if let Browser::Starting { config, outcome: of, .. } = &*slot
            && of.same_channel(&outcome)
        {
            // One that could not be started is tried anew by the next call.
            let config = config.clone();
            *slot = ended.as_ref().map_or(Browser::NotYet(config), |id| Browser::Runs(*id));
        }
        Ok(ended?)
    }

    /// The browser, or what tells that it was started.
    fn start(&self, slot: &mut Browser) -> Result<BrowserId, Outcome> {
        let (config, spec) = match &*slot {
            Browser::Runs(id) => return Ok(*id),
            Browser::Starting { outcome, .. } => return Err(outcome.clone()),
            Browser::NotYet(config) => (config.clone(), config.browser_spec()),
        };
        let (tell, outcome) = watch::channel(None);
        let (supervisor, start) = (self.supervisor().clone(), self.budgets().start());
        let starting = task::spawn(async move {
            let started = match spec {
                Ok(spec) => launched(&supervisor, spec, start).await,
                Err(why) => Err(StartError::Internal(why.to_string())),
            };
            tell.send_replace(Some(started));
        });
        *slot = Browser::Starting { config, outcome: outcome.clone(), _starting: starting };
        Err(outcome)
    }

    /// Changes how the browser is started. `false` once it was.
    ///
    /// # Errors
    /// A configuration that makes no sense; nothing is changed then.
    pub(super) fn prepare(&self, change: impl FnOnce(&mut Config)) -> Result<bool, ConfigError> {
        let Source::Own(slot) = &self.inner.source else { return Ok(false) };
        let mut slot = lock(slot);
        let Browser::NotYet(config) = &mut *slot else { return Ok(false) };
        let mut changed = config.clone();
        change(&mut changed);
        changed.browser_spec()?;
        *config = changed;
        Ok(true)
    }

    /// The tabs that callers see, oldest first.
    pub(super) fn rows(&self) -> Vec<TabRow> {
        self.started().map_or_else(Vec::new, |browser| tabs_of(self.supervisor(), browser))
    }
}

fn lock(slot: &Mutex<Browser>) -> MutexGuard<'_, Browser> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn launched(
    supervisor: &Supervisor,
    spec: BrowserSpec,
    within: Duration,
) -> Result<BrowserId, StartError> {
    match supervisor.add_browser(spec, &Budget::new(within)).await {
        Ok(id) => Ok(id),
        Err(TabError::BrowserUnavailable(why)) => Err(why),
        Err(other) => Err(StartError::Internal(other.to_string())),
    }
}
