//! The face for Rust programs: one browser, its tabs, calls that are awaited.

mod state;

use std::future::{Future, IntoFuture};
use std::ops::Deref;
use std::pin::Pin;
use std::time::Duration;

use tabvisor_actors::events::Subscription;
use tabvisor_actors::files::Download;
use tabvisor_actors::ids::{BrowserId, TabId};
use tabvisor_actors::limits::Recovery;
use tabvisor_actors::recovery::{LastRecovery, Recovered, RestartRequest};
use tabvisor_actors::{
    Act, Acted, DialogLog, Engine, EvaluateRequest, Named, On, PageWatch, Screenshot, ScreenshotRequest,
    Stepped, Steps, Supervisor, TabRow, Upload, Wait, Waited,
};
use tabvisor_cdp::budget::Budget;
use tabvisor_page::dialog::{Answer as DialogAnswer, DialogRecord};
use tabvisor_page::evaluate::Value;
use tabvisor_page::navigate::{Landed, Move, WaitUntil};
use tabvisor_page::snapshot::{Request, Snapshot};

use crate::config::Config;
use crate::{Error, TabError, metrics};

/// A running supervisor with one browser. Clones are the same; it runs until [`stop`](Self::stop).
#[derive(Clone, Debug)]
pub struct Tabvisor {
    supervisor: Supervisor,
    browser: BrowserId,
    max_budget: Duration,
    budgets: crate::config::Budgets,
}

/// A tab. It is only a name: dropping it leaves the tab open.
#[derive(Clone, Debug)]
pub struct Tab {
    tabvisor: Tabvisor,
    id: TabId,
}

/// The budget of one call, which tells at the call's end by how much it was late.
struct Timed(Budget);

impl Deref for Timed {
    type Target = Budget;

    fn deref(&self) -> &Budget {
        &self.0
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        metrics::overrun(&self.0, "crate");
    }
}

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

impl Tabvisor {
    /// Launches Chromium, or attaches to one, as `config` says.
    ///
    /// # Errors
    /// A wrong configuration; no Chromium, or one that does not work.
    pub async fn start(config: Config) -> Result<Self, Error> {
        let spec = config.browser_spec()?;
        let max_budget = config.limits.max_budget();
        let supervisor = Supervisor::start(config.limits.event_lag).await?;
        let budget = Budget::new(config.budgets.start());
        match supervisor.add_browser(spec, &budget).await {
            Ok(browser) => Ok(Self { supervisor, browser, max_budget, budgets: config.budgets }),
            Err(error) => {
                supervisor.stop().await;
                Err(error.into())
            }
        }
    }

    /// Opens a tab at `url` (http, https or about:blank) and waits until it has loaded; awaiting
    /// gives the [`Tab`]. If it fails there is no tab.
    pub fn open(&self, url: impl Into<String>) -> Open {
        Open {
            tabvisor: self.clone(),
            url: url.into(),
            until: WaitUntil::Load,
            within: self.budgets.navigate(),
        }
    }

    /// All tabs, from what is already known: no page is asked.
    pub fn tabs(&self) -> Vec<TabRow> {
        self.supervisor.tabs()
    }

    /// A handle on a tab by its name.
    ///
    /// # Errors
    /// [`TabError::TabNotFound`], [`TabError::TabClosed`], [`TabError::BrowserLost`].
    pub fn tab(&self, id: TabId) -> Result<Tab, Error> {
        self.supervisor.tab(id)?;
        Ok(Tab { tabvisor: self.clone(), id })
    }

    /// Subscribes to events from now on.
    pub fn subscribe(&self) -> Subscription {
        self.supervisor.subscribe()
    }

    /// The browser's name.
    pub fn browser(&self) -> BrowserId {
        self.browser
    }

    /// The supervision tree under it, for several browsers or calls with a [`Budget`] of one's own.
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Stops everything and returns when nothing of it is left: tabs, Chromium, its profile.
    pub async fn stop(&self) {
        self.supervisor.stop().await;
    }

    fn budget(&self, within: Duration) -> Result<Timed, Error> {
        Ok(Timed(Budget::checked("budget", within, self.max_budget)?))
    }
}

impl Tab {
    /// Its name.
    pub fn id(&self) -> TabId {
        self.id
    }

    /// Evaluates a function, an expression or statements; awaiting gives the [`Value`]. Dropping
    /// the future ends the script in the page.
    pub fn evaluate(&self, function: impl Into<String>) -> Evaluate {
        Evaluate {
            tab: self.clone(),
            request: EvaluateRequest::new(function),
            within: self.tabvisor.budgets.evaluate(),
        }
    }

    /// Loads `url` and waits until it has loaded.
    ///
    /// # Errors
    /// [`TabError::Navigate`] and whatever ends a call.
    pub async fn navigate(&self, url: &str, within: Duration) -> Result<Landed, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.navigate(self.id, url, WaitUntil::Load, &budget).await?)
    }

    /// Goes back or forward in its history, or loads its page again, and waits until it has loaded.
    ///
    /// # Errors
    /// [`TabError::Navigate`] and whatever ends a call.
    pub async fn go(&self, to: Move, within: Duration) -> Result<Landed, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.go(self.id, to, WaitUntil::Load, &budget).await?)
    }

    /// Reads the page: as text with refs, or as a list of nodes. Awaiting gives the [`Snapshot`].
    pub fn snapshot(&self, request: Request) -> TakeSnapshot {
        TakeSnapshot { tab: self.clone(), request, within: self.tabvisor.budgets.snapshot() }
    }

    /// Does something on it as a user would, after what was asked before, and says what the page
    /// saw of it.
    ///
    /// # Errors
    /// [`TabError::Act`], [`TabError::StaleRef`], [`TabError::Dialog`], and whatever ends a call.
    pub async fn act(&self, act: Act, within: Duration) -> Result<Acted, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.act_on(self.id, act, &budget).await?)
    }

    /// Waits until everything has held that `wait` names, one after the other, all within `within`.
    /// It begins behind the actions that were asked for before; those that come after are not held up.
    ///
    /// # Errors
    /// [`TabError::Wait`] with what was missing, [`TabError::Dialog`], and whatever ends a call.
    pub async fn wait(&self, wait: Wait, within: Duration) -> Result<Waited, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.wait(self.id, wait, &budget).await?)
    }

    /// Does several steps on it, one after the other, all within `within`; the answer says what became
    /// of each, and why not all were done.
    ///
    /// # Errors
    /// Bad input, [`TabError::TabClosed`]; a step that fails is told in the answer.
    pub async fn steps(&self, steps: Steps, within: Duration) -> Result<Stepped, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.steps(self.id, steps, &budget).await?)
    }

    /// Takes a picture of it.
    ///
    /// # Errors
    /// [`TabError::Screenshot`], [`TabError::Dialog`], and whatever ends a call.
    pub async fn screenshot(
        &self,
        request: ScreenshotRequest,
        within: Duration,
    ) -> Result<Screenshot, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.screenshot(self.id, request, &budget).await?)
    }

    /// Gives files to it. `None` where a chooser is waited for that has still to open.
    ///
    /// # Errors
    /// [`TabError::File`], [`TabError::Act`], and whatever ends a call.
    pub async fn upload(&self, upload: Upload, within: Duration) -> Result<Option<Acted>, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.upload(self.id, upload, &budget).await?)
    }

    /// Clicks an element and waits for the download that this begins. It is put at `path` in the
    /// downloads folder, or there under its own name. If the time ends first it is cancelled.
    ///
    /// # Errors
    /// [`TabError::File`], [`TabError::Act`], and whatever ends a call.
    pub async fn download(&self, on: Named, path: Option<&str>, within: Duration) -> Result<Download, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.download(self.id, on, path, &budget).await?)
    }

    /// The same for the document that it shows, if that has the address `expected`.
    ///
    /// # Errors
    /// As [`download`](Self::download).
    pub async fn download_document(
        &self,
        expected: &str,
        path: Option<&str>,
        within: Duration,
    ) -> Result<Download, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.download_document(self.id, expected, path, &budget).await?)
    }

    /// Waits for a download: one that began already and whose end nobody was told, or the next one.
    /// It goes on if the time ends first.
    ///
    /// # Errors
    /// [`TabError::File`] and whatever ends a call.
    pub async fn wait_for_download(&self, path: Option<&str>, within: Duration) -> Result<Download, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.wait_for_download(self.id, path, &budget).await?)
    }

    /// Makes a PDF of its page.
    ///
    /// # Errors
    /// [`TabError::Pdf`], [`TabError::Dialog`], and whatever ends a call.
    pub async fn pdf(&self, within: Duration) -> Result<Vec<u8>, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.pdf(self.id, &budget).await?)
    }

    /// Its dialogs: the open one, and the last that were closed.
    ///
    /// # Errors
    /// [`TabError::TabClosed`], [`TabError::BrowserLost`].
    pub fn dialogs(&self) -> Result<DialogLog, TabError> {
        self.tabvisor.supervisor.dialogs(self.id)
    }

    /// Answers the open dialog, or the one with this id if that is open, and waits until it has
    /// gone away.
    ///
    /// # Errors
    /// [`TabError::NoDialog`] and whatever ends a call.
    pub async fn answer_dialog(&self, id: Option<&str>, answer: DialogAnswer) -> Result<DialogRecord, Error> {
        let budget = self.tabvisor.budget(self.tabvisor.budgets.action())?;
        let id = id.map(str::to_owned);
        Ok(self.tabvisor.supervisor.answer_dialog(self.id, id, answer, &budget).await?)
    }

    /// What its page shows (url, title, icon, loading, error, history), as a stream of changes.
    ///
    /// # Errors
    /// [`TabError::TabClosed`], [`TabError::BrowserLost`].
    pub fn watch_page(&self) -> Result<PageWatch, TabError> {
        self.tabvisor.supervisor.watch_page(self.id)
    }

    /// What is known of it now.
    ///
    /// # Errors
    /// [`TabError::TabClosed`], [`TabError::BrowserLost`].
    pub fn row(&self) -> Result<TabRow, TabError> {
        self.tabvisor.supervisor.tab(self.id)
    }

    /// Brings it back, by the mildest rung of the ladder that makes it usable: an open dialog is
    /// dismissed, scripts and timers are ended, a pending navigation is stopped, the renderer or the
    /// whole target is replaced and the last good address loaded. It keeps its name.
    ///
    /// # Errors
    /// [`TabError::TabRestarting`], [`TabError::NotRecovered`], and whatever ends a call.
    pub async fn restart(&self, request: RestartRequest, within: Duration) -> Result<Recovered, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.restart(self.id, request, &budget).await?)
    }

    /// Ends the scripts that run on it, whoever started them; its document stays.
    ///
    /// # Errors
    /// As [`restart`](Self::restart).
    pub async fn terminate(&self, within: Duration) -> Result<Recovered, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.terminate(self.id, &budget).await?)
    }

    /// Its last recovery, if there was one.
    ///
    /// # Errors
    /// [`TabError::TabClosed`], [`TabError::BrowserLost`].
    pub fn last_recovery(&self) -> Result<Option<LastRecovery>, TabError> {
        self.tabvisor.supervisor.last_recovery(self.id)
    }

    /// From now on, this may be done to it without anybody asking.
    ///
    /// # Errors
    /// [`TabError::TabClosed`], [`TabError::BrowserLost`].
    pub fn set_recovery_policy(&self, policy: Recovery) -> Result<(), TabError> {
        self.tabvisor.supervisor.set_recovery_policy(self.id, policy)
    }

    /// Brings it to the front of its window. Possible also when its page is stuck.
    ///
    /// # Errors
    /// [`TabError::TabClosed`] and whatever ends a call.
    pub async fn focus(&self) -> Result<(), Error> {
        let budget = self.tabvisor.budget(self.tabvisor.budgets.action())?;
        Ok(self.tabvisor.supervisor.focus(self.id, &budget).await?)
    }

    /// Closes it. Always possible, also when its page is stuck.
    ///
    /// # Errors
    /// [`TabError::TabClosed`] and whatever ends a call.
    pub async fn close(&self) -> Result<(), Error> {
        let budget = self.tabvisor.budget(self.tabvisor.budgets.action())?;
        Ok(self.tabvisor.supervisor.close(self.id, &budget).await?)
    }
}

/// An opening of a tab, to be awaited.
#[derive(Clone, Debug)]
#[must_use = "nothing happens until it is awaited"]
pub struct Open {
    tabvisor: Tabvisor,
    url: String,
    until: WaitUntil,
    within: Duration,
}

impl Open {
    /// How far to wait.
    pub fn until(mut self, until: WaitUntil) -> Self {
        self.until = until;
        self
    }

    /// Its budget.
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }
}

impl IntoFuture for Open {
    type Output = Result<Tab, Error>;
    type IntoFuture = Answer<Tab>;

    fn into_future(self) -> Answer<Tab> {
        Box::pin(async move {
            let Self { tabvisor, url, until, within } = self;
            let budget = tabvisor.budget(within)?;
            let row = tabvisor.supervisor.open(tabvisor.browser, &url, until, &budget).await?;
            Ok(Tab { tabvisor, id: row.tab_id })
        })
    }
}

/// An evaluate, to be awaited.
#[derive(Clone, Debug)]
#[must_use = "nothing happens until it is awaited"]
pub struct Evaluate {
    tab: Tab,
    request: EvaluateRequest,
    within: Duration,
}

impl Evaluate {
    /// Its budget.
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// Gives the script the element of a ref as `el`, in the element's own frame.
    pub fn on(mut self, r#ref: impl Into<String>) -> Self {
        self.request.on = Some(On::Ref(r#ref.into()));
        self
    }

    /// How that element is found.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.request.engine = engine;
        self
    }

    /// Largest result in bytes of JSON.
    pub fn max_result_bytes(mut self, bytes: usize) -> Self {
        self.request.max_result_bytes = Some(bytes);
        self
    }
}

impl IntoFuture for Evaluate {
    type Output = Result<Value, Error>;
    type IntoFuture = Answer<Value>;

    fn into_future(self) -> Answer<Value> {
        Box::pin(async move {
            let Self { tab: Tab { tabvisor, id }, request, within } = self;
            let budget = tabvisor.budget(within)?;
            Ok(tabvisor.supervisor.evaluate(id, request, &budget).await?.value)
        })
    }
}

/// A snapshot, to be awaited.
#[derive(Clone, Debug)]
#[must_use = "nothing happens until it is awaited"]
pub struct TakeSnapshot {
    tab: Tab,
    request: Request,
    within: Duration,
}

impl TakeSnapshot {
    /// Its budget.
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }
}

impl IntoFuture for TakeSnapshot {
    type Output = Result<Snapshot, Error>;
    type IntoFuture = Answer<Snapshot>;

    fn into_future(self) -> Answer<Snapshot> {
        Box::pin(async move {
            let Self { tab: Tab { tabvisor, id }, request, within } = self;
            let budget = tabvisor.budget(within)?;
            Ok(tabvisor.supervisor.snapshot(id, request, &budget).await?)
        })
    }
}
