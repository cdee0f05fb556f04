//! What a tab's page said, and the responses that it got.

use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_page::observe::{
    ConsoleMessage, Heard, Level, Observing, Request, Response, ResponseError, Uncaught, UrlPattern,
};

use super::Supervisor;
use super::admission::check_budget;
use super::explain::explain;
use crate::error::TabError;
use crate::ids::TabId;
use crate::registry::TabHandle;
use crate::shared::TabShared;

/// How long reading waits for what the page has said just now.
const CATCH_UP: Duration = Duration::from_millis(100);
/// Most characters of a body.
const MOST_CHARS: usize = 5_000_000;

impl Supervisor {
    /// The console messages of a tab's page, of at least this level, after `since`.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub async fn console(
        &self,
        tab: TabId,
        since: Option<u64>,
        at_least: Level,
        budget: &Budget,
    ) -> Result<Heard<ConsoleMessage>, TabError> {
        let handle = self.heard(tab, budget).await?;
        let heard = handle.shared.observed().console(since, at_least);
        Ok(heard)
    }

    /// The errors of a tab's page that nobody caught, after `since`; with `clear` they are forgotten.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub async fn page_errors(
        &self,
        tab: TabId,
        since: Option<u64>,
        clear: bool,
        budget: &Budget,
    ) -> Result<Heard<Uncaught>, TabError> {
        let handle = self.heard(tab, budget).await?;
        let mut observed = handle.shared.observed();
        let heard = observed.errors(since);
        if clear {
            observed.clear_errors();
        }
        Ok(heard)
    }

    /// The requests of a tab's page whose address or type contains `filter`, after `since`; with
    /// `clear` all of them are forgotten.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub async fn requests(
        &self,
        tab: TabId,
        since: Option<u64>,
        filter: Option<&str>,
        clear: bool,
        budget: &Budget,
    ) -> Result<Heard<Request>, TabError> {
        let handle = self.heard(tab, budget).await?;
        let mut observed = handle.shared.observed();
        let heard = observed.requests(since, filter);
        if clear {
            observed.clear_requests();
        }
        Ok(heard)
    }

    /// Waits for the next response that a tab's page gets from an address that `pattern` means, and
    /// for its body, of which at most `max_chars` characters are given.
    ///
    /// # Errors
    /// [`TabError::Response`], [`TabError::BadInput`], [`TabError::Dialog`] where one is open already, and
    /// whatever ends a call.
    pub async fn response(
        &self,
        tab: TabId,
        pattern: &UrlPattern,
        max_chars: usize,
        budget: &Budget,
    ) -> Result<Response, TabError> {
        if !(1..=MOST_CHARS).contains(&max_chars) {
            let why = format!("must be from 1 to {MOST_CHARS}");
            return Err(TabError::BadInput { field: "maxChars", why });
        }
        let handle = self.inner.registry.tab(tab)?;
        check_budget(budget, handle.shared.browser.limits.max_budget())?;
        // Behind a dialog the page gets none; one that opens meanwhile may be what leads to it.
        let open = handle.shared.condition.borrow().dialog.clone();
        if let Some(dialog) = open {
            return Err(TabError::Dialog(dialog));
        }
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let observing = observing(&handle.shared, &budget).await?;
        let outcome = observing.response(pattern, max_chars, &budget).await;
        let outcome = outcome.map_err(|error| match error {
            ResponseError::Link(error) => error.into(),
            other => TabError::Response(other),
        });
        explain(&handle.shared, outcome, &budget).await
    }

    /// The tab, once what its page has said so far is known; but a page that does not answer costs a
    /// moment only.
    async fn heard(&self, tab: TabId, budget: &Budget) -> Result<TabHandle, TabError> {
        let handle = self.inner.registry.tab(tab)?;
        let shared = &handle.shared;
        check_budget(budget, shared.browser.limits.max_budget())?;
        let silent = shared.condition.borrow().hindrance().is_some() || shared.stuck.borrow().is_some();
        let observing = shared.observing.borrow().clone();
        if let Some(observing) = observing.filter(|_| !silent) {
            observing.catch_up(&budget.child(CATCH_UP)).await;
        }
        Ok(handle)
    }
}

/// The handle on the observed page, also where its link is being made anew.
pub(crate) async fn observing(tab: &TabShared, budget: &Budget) -> Result<Observing, TabError> {
    let (mut observing, mut gone) = (tab.observing.subscribe(), tab.gone.subscribe());
    let found = async {
        tokio::select! {
            found = observing.wait_for(Option::is_some) => found.ok().and_then(|it| it.clone()),
            _ = gone.wait_for(Option::is_some) => None,
        }
    };
    let doing = "waiting for the observing link";
    let found = budget.run(found).await.map_err(|spent| TabError::Budget { spent, doing, sent: false })?;
    found.ok_or_else(|| {
        let why = tab.gone.borrow().as_ref().map(|why| why.error(tab.id));
        why.unwrap_or(TabError::TabClosed { tab: tab.id })
    })
}
