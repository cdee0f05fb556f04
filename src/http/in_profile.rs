//! The browser that a request means, and its tabs.

use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use axum::http::StatusCode;
use tabvisor_actors::ids::{BrowserId, TabId};
use tabvisor_actors::{BrowserFacts, Supervisor, TabRow};
use tabvisor_cdp::budget::Budget;
use tabvisor_page::navigate::WaitUntil;

use crate::TabError;

use super::error::ApiError;
use super::profiles::Profile;
use super::runs::Unstarted;
use super::service::{Service, tabs_of};
use super::targets::{self, Candidate, Missed, Names};

/// A request's profile.
#[derive(Clone)]
pub(super) struct InProfile {
    service: Service,
    pub(super) profile: Arc<Profile>,
}

impl InProfile {
    pub(super) fn new(service: Service, profile: Arc<Profile>) -> Self {
        Self { service, profile }
    }

    pub(super) fn supervisor(&self) -> &Supervisor {
        self.service.supervisor()
    }

    pub(super) fn name(&self) -> &str {
        &self.profile.name
    }

    /// The browser, while it works.
    pub(super) fn browser(&self) -> Option<Arc<BrowserFacts>> {
        self.service.supervisor().browser(self.profile.running()?)
    }

    /// The tabs that callers see, newest first.
    pub(super) fn tabs(&self) -> Vec<TabRow> {
        let Some(browser) = self.profile.running() else { return Vec::new() };
        let mut tabs = tabs_of(self.service.supervisor(), browser);
        tabs.reverse();
        tabs
    }

    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.profile.names()
    }

    /// Starts the browser unless it runs.
    pub(super) async fn started(
        &self,
        headless: Option<bool>,
        budget: &Budget,
    ) -> Result<BrowserId, ApiError> {
        let within = self.service.budgets().start();
        let started = self.profile.start(self.service.supervisor(), headless, within, budget).await;
        started.map_err(|why| unstarted(self.name(), why))
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

    /// The tab of a request that names none; the browser is started for it.
    async fn unnamed(&self, budget: &Budget) -> Result<TabRow, ApiError> {
        self.started(None, budget).await?;
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

    /// Opens a tab; the browser is started for it.
    pub(super) async fn open(&self, url: &str, budget: &Budget) -> Result<TabRow, ApiError> {
        let browser = self.started(None, budget).await?;
        Ok(self.service.supervisor().open(browser, url, WaitUntil::Commit, budget).await?)
    }

    /// Why nothing has this name: it never had, it is gone, or there is no browser now.
    fn not_found(&self, text: &str) -> ApiError {
        if self.browser().is_none() {
            return self.not_running();
        }
        let gone = text.parse::<TabId>().ok().and_then(|tab| self.service.supervisor().tab(tab).err());
        match gone {
            Some(TabError::TabClosed { .. }) => targets::not_found(text).reason("tab_closed"),
            Some(error @ (TabError::TabLost { .. } | TabError::BrowserLost { .. })) => error.into(),
            _ => targets::not_found(text),
        }
    }

    /// There is no browser whose tabs could be meant.
    pub(super) fn not_running(&self) -> ApiError {
        let error = format!(
            "Browser profile \"{}\" is not running. Start the browser or open a new tab, then select a current target.",
            self.name()
        );
        ApiError::new(StatusCode::CONFLICT, error).reason("browser_not_running")
    }
}

/// Why the browser of a profile does not run.
fn unstarted(name: &str, why: Unstarted) -> ApiError {
    let conflict = |error: String| ApiError::new(StatusCode::CONFLICT, error);
    let detail = |api: ApiError, error: &TabError| {
        api.detail("profile", name).detail("origin", error.origin()).detail("retry", error.retry())
    };
    match why {
        Unstarted::Configuration(why) => {
            conflict(format!("Browser profile \"{name}\" cannot be started: {why}"))
                .reason("invalid_configuration")
        }
        Unstarted::Failed(error) => {
            let api = conflict(format!("Browser profile \"{name}\" could not be started: {error}"));
            detail(api.reason(error.kind()), &error)
        }
        Unstarted::CoolingDown { failures, left, last } => {
            let seconds = left.as_secs_f64().ceil();
            let last = last.map(|last| format!(" Last: {last}")).unwrap_or_default();
            let error = format!(
                "Browser profile \"{name}\" failed to start {failures} times in a row and is not tried again for \
                 {seconds} s.{last}"
            );
            conflict(error).reason("cooling_down").detail("failures", failures).retry_after(left)
        }
        Unstarted::Stopped => conflict(format!("Browser profile \"{name}\" was stopped while it started."))
            .reason("browser_not_running"),
        Unstarted::Late(spent) => {
            TabError::Budget { spent, doing: "starting the browser", sent: true }.into()
        }
    }
}

impl Unstarted {
    /// It in words, as an answer has it.
    pub(super) fn text(&self, name: &str) -> String {
        unstarted(name, self.clone()).to_string()
    }

    /// How long nothing is tried.
    pub(super) fn pause(&self) -> Option<Duration> {
        match self {
            Self::CoolingDown { left, .. } => Some(*left),
            _ => None,
        }
    }
}
