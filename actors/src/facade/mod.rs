//! What callers use: typed calls into the tree.
//!
//! A call is admitted here (input checked, permits taken) before anything is sent. Dropping its
//! future cancels it in the page. However an actor ends, the caller gets exactly one typed answer:
//! what is not answered by the actor is explained from what is published about the tab.

mod ask;
mod explain;

use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorRef};
use tabvisor_cdp::budget::{BadBudget, Budget};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::evaluate::{Script, Value};
use tabvisor_page::navigate::{self, Landed, WaitUntil};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::action::Action;
use crate::browser::BrowserMsg;
use crate::error::{StartError, TabError};
use crate::evaluates::{EvaluatesMsg, Run};
use crate::events::{EventBus, Subscription};
use crate::ids::{BrowserId, TabId};
use crate::registry::{BrowserHandle, Registry, TabHandle};
use crate::root::{BrowserSpec, Root, RootArgs, RootMsg};
use crate::shared::{BrowserFacts, BrowserStatus, TabRow};
use crate::tab::{Act, TabMsg};

use ask::{Unanswered, ask};
use explain::{explain, outcome_word};

/// A running supervision tree. Clones are the same tree; it lives until [`stop`](Self::stop).
#[derive(Clone, Debug)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

struct Inner {
    root: ActorRef<RootMsg>,
    registry: Arc<Registry>,
    events: EventBus,
    ended: watch::Receiver<Option<Ended>>,
    _watching: Task<()>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor").finish_non_exhaustive()
    }
}

/// How the tree ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was stopped.
    Stopped,
    /// A browser failed more often than it may be restarted. A service should exit now.
    Failed(String),
}

/// What to evaluate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvaluateRequest {
    /// A function, an expression, or the body of an async function.
    pub function: String,
    /// Largest result in bytes of JSON; the configured limit where it is absent or larger.
    pub max_result_bytes: Option<usize>,
}

impl EvaluateRequest {
    /// Evaluates `function` with the configured limits.
    pub fn new(function: impl Into<String>) -> Self {
        Self { function: function.into(), max_result_bytes: None }
    }
}

/// When trying again after `Overloaded` is worth it.
const RETRY_AFTER_MS: u64 = 250;

impl Supervisor {
    /// Starts an empty tree. `event_lag` events are kept for slow subscribers.
    ///
    /// # Errors
    /// [`StartError::Internal`] when the runtime cannot spawn.
    pub async fn start(event_lag: usize) -> Result<Self, StartError> {
        let registry = Arc::new(Registry::default());
        let events = EventBus::new(event_lag);
        let args = RootArgs { registry: Arc::clone(&registry), events: events.clone() };
        let (root, joined) =
            Actor::spawn(None, Root, args).await.map_err(|error| StartError::Internal(error.to_string()))?;
        let (tell, ended) = watch::channel(None);
        let status = Arc::clone(&registry);
        let watching = task::spawn(async move {
            let _ = joined.await;
            let failed = status.gave_up();
            tell.send_replace(Some(failed.map_or(Ended::Stopped, Ended::Failed)));
        });
        Ok(Self { inner: Arc::new(Inner { root, registry, events, ended, _watching: watching }) })
    }

    /// Starts a browser (or attaches to one) and waits until it works.
    ///
    /// # Errors
    /// [`TabError::BrowserUnavailable`] with the reason; a browser that never worked is not tried
    /// again by itself.
    pub async fn add_browser(&self, spec: BrowserSpec, budget: &Budget) -> Result<BrowserId, TabError> {
        let budget = budget.scoped();
        let cancel = budget.cancel_on_drop();
        let add = |reply| RootMsg::Add(Box::new(spec), budget.clone(), reply);
        let shared = ask(&self.inner.root, &budget, add).await.map_err(|_| TabError::Stopping)??;
        let id = shared.id;
        let mut status = shared.status.subscribe();
        let ready = status.wait_for(|now| !matches!(now, BrowserStatus::Starting));
        let ready = budget
            .run(ready)
            .await
            .map_err(|spent| TabError::Budget { spent, doing: "starting the browser" });
        match ready {
            Ok(Ok(now)) => match &*now {
                BrowserStatus::Ready(_) => {
                    cancel.disarm();
                    Ok(id)
                }
                BrowserStatus::Failed(error) => Err(error.clone().into()),
                BrowserStatus::Lost { cause } => Err(StartError::GaveUp(cause.clone()).into()),
                BrowserStatus::Starting => Err(StartError::Internal("still starting".into()).into()),
            },
            Ok(Err(_)) => Err(TabError::Stopping),
            Err(error) => {
                let _ = self.inner.root.cast(RootMsg::Remove(id));
                Err(error)
            }
        }
    }

    /// Stops one browser: its tabs, then Chromium if it is ours.
    pub fn remove_browser(&self, id: BrowserId) {
        let _ = self.inner.root.cast(RootMsg::Remove(id));
    }

    /// What is known of a browser that works now; `None` while it does not.
    pub fn browser(&self, id: BrowserId) -> Option<Arc<BrowserFacts>> {
        self.inner.registry.browser(id)?.shared.ready()
    }

    /// Opens a tab at `url` and waits until its document has committed, or further. If that
    /// fails the tab is closed again: there is a tab at its address, or none.
    ///
    /// # Errors
    /// Bad input, limits, [`TabError::Navigate`], and whatever ends a call.
    pub async fn open(
        &self,
        browser: BrowserId,
        url: &str,
        until: WaitUntil,
        budget: &Budget,
    ) -> Result<TabRow, TabError> {
        let url = navigate::check_url(url)?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let handle = self.ready_browser(browser, &budget).await?;
        check_budget(&budget, handle.shared.limits.max_budget())?;
        let open = |reply| BrowserMsg::Open(budget.clone(), reply);
        let opened = budget.run(ask(&handle.actor, &budget, open)).await;
        let tab = match opened.map_err(|spent| TabError::Budget { spent, doing: "opening the tab" })? {
            Ok(opened) => opened?,
            Err(_) => return Err(browser_error(&handle)),
        };
        let closing = CloseOnDrop { supervisor: Some(self.clone()), tab };
        if url.as_str() != "about:blank" {
            self.act(tab, Action::Navigate { url, until }, &budget).await?;
        }
        let row = self.tab(tab)?;
        closing.keep();
        Ok(row)
    }

    /// Loads `url` in a tab.
    ///
    /// # Errors
    /// Bad input, limits, [`TabError::Navigate`], and whatever ends a call.
    pub async fn navigate(
        &self,
        tab: TabId,
        url: &str,
        until: WaitUntil,
        budget: &Budget,
    ) -> Result<Landed, TabError> {
        let url = navigate::check_url(url)?;
        self.act(tab, Action::Navigate { url, until }, budget).await
    }

    /// Evaluates in a tab, on a link of its own: neither queued behind the tab's actions nor in
    /// their way.
    ///
    /// # Errors
    /// Bad input, limits, [`TabError::Stuck`], [`TabError::Evaluate`], and whatever ends a call.
    pub async fn evaluate(
        &self,
        tab: TabId,
        request: EvaluateRequest,
        budget: &Budget,
    ) -> Result<Value, TabError> {
        let handle = self.inner.registry.tab(tab)?;
        let limits = &handle.shared.browser.limits;
        if request.function.trim().is_empty() {
            return Err(TabError::BadInput {
                field: "fn",
                why: "is empty; give a function, an expression or statements".into(),
            });
        }
        if request.function.len() > limits.max_script_bytes {
            let why = format!(
                "has {} bytes, over the limit of {} (limits.max_script_bytes)",
                request.function.len(),
                limits.max_script_bytes
            );
            return Err(TabError::BadInput { field: "fn", why });
        }
        check_budget(budget, limits.max_budget())?;
        let max_result_bytes = request.max_result_bytes.unwrap_or(usize::MAX).min(limits.max_result_bytes);
        let script = Script { text: request.function, max_result_bytes };
        let outcome = self.evaluate_admitted(handle, script, budget).await;
        metrics::counter!("tabvisor_evaluates_total", "engine" => "cdp").increment(1);
        let word = outcome_word(&outcome);
        if word == "timeout" {
            metrics::counter!("tabvisor_evaluate_timeouts_total", "engine" => "cdp").increment(1);
        }
        metrics::histogram!("tabvisor_evaluate_duration_seconds", "engine" => "cdp", "outcome" => word)
            .record(budget.elapsed().as_secs_f64());
        outcome
    }

    async fn evaluate_admitted(
        &self,
        mut handle: TabHandle,
        script: Script,
        budget: &Budget,
    ) -> Result<Value, TabError> {
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        for again in [true, false] {
            let limits = &handle.shared.browser.limits;
            let permits = [
                permit(&handle.shared.evaluates, "limits.evaluates_per_tab", limits.evaluates_per_tab)?,
                permit(
                    &handle.shared.browser.evaluates,
                    "limits.evaluates_per_browser",
                    limits.evaluates_per_browser,
                )?,
            ];
            let (script, run_budget) = (script.clone(), budget.clone());
            let run = |reply| EvaluatesMsg::Run(Box::new(Run { script, budget: run_budget, reply, permits }));
            match ask(&handle.evaluates, &budget, run).await {
                Ok(outcome) => return explain(&handle.shared, outcome).await,
                // Nothing was sent: the actor was replaced. Once more with the one that is there.
                Err(Unanswered::NotSent) if again => {
                    explain::gone(&handle.shared).await?;
                    handle = self.inner.registry.tab(handle.shared.id)?;
                }
                Err(unanswered) => return Err(explain::unanswered(&handle.shared, unanswered, &budget).await),
            }
        }
        Err(TabError::Internal("the tab's actors are being restarted".into()))
    }

    /// Closes a tab. Always possible, also when its page is stuck.
    ///
    /// # Errors
    /// Unknown or closed tabs, and whatever ends a call.
    pub async fn close(&self, tab: TabId, budget: &Budget) -> Result<(), TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        let Some(browser) = self.inner.registry.browser(shared.browser.id) else {
            return Err(TabError::TabClosed { tab });
        };
        check_budget(budget, shared.browser.limits.max_budget())?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let close = |reply| BrowserMsg::Close(tab, budget.clone(), reply);
        match ask(&browser.actor, &budget, close).await {
            Ok(closed) => closed,
            Err(unanswered) => Err(explain::unanswered(&shared, unanswered, &budget).await),
        }
    }

    /// All tabs, by their number; from what is already known, no page is asked.
    pub fn tabs(&self) -> Vec<TabRow> {
        self.inner.registry.tabs().iter().map(|tab| tab.row()).collect()
    }

    /// One tab.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub fn tab(&self, tab: TabId) -> Result<TabRow, TabError> {
        self.inner.registry.tab(tab).map(|handle| handle.shared.row())
    }

    /// Subscribes to events from now on.
    pub fn subscribe(&self) -> Subscription {
        self.inner.events.subscribe()
    }

    /// Stops everything: tabs, then the Chromiums that are ours. Returns when nothing of them is
    /// left.
    pub async fn stop(&self) {
        self.inner.root.stop(None);
        self.ended().await;
    }

    /// Completes when the tree has ended, by [`stop`](Self::stop) or by failing.
    pub async fn ended(&self) -> Ended {
        let mut ended = self.inner.ended.clone();
        let how = ended.wait_for(Option::is_some).await.ok().and_then(|how| how.clone());
        how.unwrap_or(Ended::Stopped)
    }

    #[cfg(test)]
    pub(crate) fn handle(&self, tab: TabId) -> Result<TabHandle, TabError> {
        self.inner.registry.tab(tab)
    }

    #[cfg(test)]
    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.inner.registry)
    }

    async fn act(&self, tab: TabId, action: Action, budget: &Budget) -> Result<Landed, TabError> {
        let handle = self.inner.registry.tab(tab)?;
        let limits = &handle.shared.browser.limits;
        check_budget(budget, limits.max_budget())?;
        let permit = permit(&handle.shared.actions, "limits.actions_per_tab", limits.actions_per_tab)?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let work = budget.clone();
        let act = |reply| TabMsg::Act(Box::new(Act { action, budget: work, reply, permit }));
        match ask(&handle.tab, &budget, act).await {
            Ok(outcome) => explain(&handle.shared, outcome).await,
            Err(unanswered) => Err(explain::unanswered(&handle.shared, unanswered, &budget).await),
        }
    }

    /// The browser as it is now, once it works; waits for one that is being restarted.
    async fn ready_browser(&self, id: BrowserId, budget: &Budget) -> Result<BrowserHandle, TabError> {
        let mut changes = self.inner.registry.browser_changes();
        let wait = async {
            loop {
                changes.mark_unchanged();
                let handle = self.inner.registry.browser(id).ok_or(StartError::Stopped)?;
                let mut status = handle.shared.status.subscribe();
                let settled = status.wait_for(|now| !matches!(now, BrowserStatus::Starting)).await;
                let now = settled.map_err(|_| StartError::Stopped)?.clone();
                match now {
                    BrowserStatus::Ready(_) => return Ok(handle),
                    BrowserStatus::Failed(error) => return Err(error),
                    BrowserStatus::Lost { .. } | BrowserStatus::Starting => {
                        tokio::select! {
                            changed = changes.changed() => changed.map_err(|_| StartError::Stopped)?,
                            changed = status.changed() => changed.map_err(|_| StartError::Stopped)?,
                        }
                    }
                }
            }
        };
        let ready = budget.run(wait).await;
        ready
            .map_err(|spent| TabError::Budget { spent, doing: "waiting for the browser" })?
            .map_err(TabError::from)
    }
}

/// A tab that nobody may keep if its opening is not finished.
struct CloseOnDrop {
    supervisor: Option<Supervisor>,
    tab: TabId,
}

impl CloseOnDrop {
    fn keep(mut self) {
        self.supervisor = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        let Some(supervisor) = self.supervisor.take() else { return };
        let Ok(handle) = supervisor.inner.registry.tab(self.tab) else { return };
        if let Some(browser) = supervisor.inner.registry.browser(handle.shared.browser.id) {
            let _ = browser.actor.cast(BrowserMsg::Discard(self.tab));
        }
    }
}

fn permit(
    places: &Arc<Semaphore>,
    limit: &'static str,
    max: usize,
) -> Result<OwnedSemaphorePermit, TabError> {
    Arc::clone(places).try_acquire_owned().map_err(|_| {
        metrics::counter!("tabvisor_rejected_total", "reason" => "overloaded").increment(1);
        TabError::Overloaded { limit, max, retry_after_ms: RETRY_AFTER_MS }
    })
}

fn check_budget(budget: &Budget, max: Duration) -> Result<(), TabError> {
    let total = budget.total();
    if total.is_zero() {
        return Err(BadBudget::NotPositive { field: "budget", got: "0".into() }.into());
    }
    if total > max {
        let got = u64::try_from(total.as_millis()).unwrap_or(u64::MAX);
        return Err(BadBudget::OverMaximum { field: "budget", got, max }.into());
    }
    Ok(())
}

fn browser_error(handle: &BrowserHandle) -> TabError {
    match &*handle.shared.status.borrow() {
        BrowserStatus::Lost { cause } => {
            TabError::BrowserLost { epoch: handle.shared.epoch, cause: cause.clone() }
        }
        BrowserStatus::Failed(error) => error.clone().into(),
        BrowserStatus::Starting | BrowserStatus::Ready(_) => {
            TabError::Internal("the browser's actor did not answer".into())
        }
    }
}
