//! Calls on tabs.

use ractor::{ActorRef, RpcReplyPort};
use tabvisor_cdp::budget::Budget;
use tabvisor_page::navigate::{self, Landed, Move, NavigateError, WaitUntil};
use tabvisor_page::screenshot::Labelled;
use tabvisor_page::snapshot::{Request, Snapshot};
use tokio::time::Instant;

use super::admission::{check_budget, permit};
use super::ask::{Unanswered, ask};
use super::browsers::browser_error;
use super::explain::{self, explain};
use super::{Arrived, Supervisor};
use crate::action::{Act, Acted, Action, Done, Screenshot, ScreenshotRequest};
use crate::browser::BrowserMsg;
use crate::error::TabError;
use crate::evaluates::EvaluatesMsg;
use crate::ids::{BrowserId, TabId};
use crate::registry::TabHandle;
use crate::row::TabRow;
use crate::tab::{self, TabMsg};

/// A caller that waits for its tab; dropped when it has it, and when it has gone.
struct Waits<'a>(&'a ActorRef<BrowserMsg>);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let _ = self.0.cast(BrowserMsg::WaitsNoMore);
    }
}

impl Supervisor {
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
        handle.shared.policy.check(&url)?;
        let waits = Waits(&handle.actor);
        let opened = budget.run(ask(&handle.actor, &budget, BrowserMsg::Open)).await;
        drop(waits);
        let spent = |spent| TabError::Budget { spent, doing: "opening the tab", sent: true };
        let opened = match opened.map_err(spent)? {
            Ok(opened) => opened?,
            Err(_) => return Err(browser_error(&handle)),
        };
        let tab = opened.tab();
        if url.as_str() != "about:blank" {
            let done = self.act(tab, Action::Navigate { url, until }, &budget).await?;
            if matches!(done, Done::Download(_)) {
                return Err(NavigateError::NoDocument { download: true }.into());
            }
        }
        let row = self.tab(tab)?;
        opened.keep();
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
        match self.navigate_or_download(tab, url, until, budget).await? {
            Arrived::Document(landed) => Ok(landed),
            Arrived::Download(_) => Err(NavigateError::NoDocument { download: true }.into()),
        }
    }

    /// Goes back or forward in the history of a tab, or loads its page again.
    ///
    /// # Errors
    /// Limits, [`TabError::Navigate`], and whatever ends a call.
    pub async fn go(
        &self,
        tab: TabId,
        to: Move,
        until: WaitUntil,
        budget: &Budget,
    ) -> Result<Landed, TabError> {
        match self.act(tab, Action::Go { to, until }, budget).await? {
            Done::Landed(landed) => Ok(landed),
            other => Err(unexpected(&other)),
        }
    }

    /// Reads the page of a tab, as `request` asks for it. With a dialog open, a dead renderer or a
    /// page that is known to be stuck this says so at once.
    ///
    /// # Errors
    /// [`TabError::Snapshot`], [`TabError::Dialog`], [`TabError::Stuck`], limits, and whatever
    /// ends a call.
    pub async fn snapshot(
        &self,
        tab: TabId,
        request: Request,
        budget: &Budget,
    ) -> Result<Snapshot, TabError> {
        request.check()?;
        Ok(self.snapshot_with_picture(tab, Request { labels: false, ..request }, budget).await?.0)
    }

    /// The same, and where `request` asks for labels a picture of the viewport with the refs of the
    /// snapshot drawn onto it.
    ///
    /// # Errors
    /// Also [`TabError::Screenshot`].
    pub async fn snapshot_with_picture(
        &self,
        tab: TabId,
        request: Request,
        budget: &Budget,
    ) -> Result<(Snapshot, Option<Labelled>), TabError> {
        request.check()?;
        match self.act(tab, Action::Snapshot(request), budget).await? {
            Done::Snapshot(snapshot) => Ok(*snapshot),
            other => Err(unexpected(&other)),
        }
    }

    /// Takes a picture of a tab.
    ///
    /// # Errors
    /// [`TabError::Screenshot`], [`TabError::Dialog`], [`TabError::Stuck`], limits, and whatever
    /// ends a call.
    pub async fn screenshot(
        &self,
        tab: TabId,
        request: ScreenshotRequest,
        budget: &Budget,
    ) -> Result<Screenshot, TabError> {
        match self.act(tab, Action::Screenshot(request), budget).await? {
            Done::Screenshot(screenshot) => Ok(*screenshot),
            other => Err(unexpected(&other)),
        }
    }

    /// Does something on a tab as a user would, after the actions that came before, and says what
    /// the page saw of it.
    ///
    /// # Errors
    /// [`TabError::Act`], [`TabError::StaleRef`], [`TabError::Dialog`], [`TabError::Stuck`],
    /// limits, and whatever ends a call.
    pub async fn act_on(&self, tab: TabId, act: Act, budget: &Budget) -> Result<Acted, TabError> {
        match self.act(tab, Action::Act(Box::new(act)), budget).await? {
            Done::Acted(acted) => Ok(*acted),
            other => Err(unexpected(&other)),
        }
    }

    /// Closes a tab. Always possible, also when its page is stuck.
    ///
    /// # Errors
    /// Unknown or closed tabs, and whatever ends a call.
    pub async fn close(&self, tab: TabId, budget: &Budget) -> Result<(), TabError> {
        if self.inner.registry.close_before_return(tab) {
            return Ok(());
        }
        self.ask_browser(tab, budget, |budget, reply| BrowserMsg::Close(tab, budget, reply)).await
    }

    /// Brings a tab to the front of its window. Possible also when its page is stuck.
    ///
    /// # Errors
    /// Unknown or closed tabs, and whatever ends a call.
    pub async fn focus(&self, tab: TabId, budget: &Budget) -> Result<(), TabError> {
        self.ask_browser(tab, budget, |budget, reply| BrowserMsg::Focus(tab, budget, reply)).await
    }

    async fn ask_browser(
        &self,
        tab: TabId,
        budget: &Budget,
        build: impl FnOnce(Budget, RpcReplyPort<Result<(), TabError>>) -> BrowserMsg,
    ) -> Result<(), TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        let Some(browser) = self.inner.registry.browser(shared.browser.id) else {
            return Err(TabError::TabClosed { tab });
        };
        check_budget(budget, shared.browser.limits.max_budget())?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        match ask(&browser.actor, &budget, |reply| build(budget.clone(), reply)).await {
            Ok(done) => done,
            Err(unanswered) => Err(explain::unanswered(&shared, unanswered, &budget).await),
        }
    }

    pub(super) async fn act(&self, tab: TabId, action: Action, budget: &Budget) -> Result<Done, TabError> {
        let mut handle = self.inner.registry.tab(tab)?;
        let limits = &handle.shared.browser.limits;
        check_budget(budget, limits.max_budget())?;
        if let Action::Navigate { url, .. } = &action {
            handle.shared.browser.policy.check(url)?;
        }
        handle.shared.unless_recovering()?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        for again in [true, false] {
            let limits = &handle.shared.browser.limits;
            let permit = permit(&handle.shared.actions, "limits.actions_per_tab", limits.actions_per_tab)?;
            let (action, work) = (action.clone(), budget.clone());
            let (asked, span) = (Instant::now(), tracing::Span::current());
            let _ = handle.evaluates.cast(EvaluatesMsg::WorkWaits);
            let act =
                |reply| TabMsg::Act(Box::new(tab::Act { action, budget: work, asked, span, reply, permit }));
            match ask(&handle.tab, &budget, act).await {
                Ok(Ok(Done::NotStarted)) if !again => break,
                Ok(Ok(Done::NotStarted)) | Err(Unanswered::NotSent) if again => {
                    handle = self.rewired(handle, &budget).await?;
                }
                Ok(outcome) => return explain(&handle.shared, outcome, &budget).await,
                Err(unanswered) => return Err(explain::unanswered(&handle.shared, unanswered, &budget).await),
            }
        }
        Err(explain::restarting(&handle.shared))
    }

    /// The tab's actors as they are after a restart; nothing was sent to the ones that are gone.
    pub(super) async fn rewired(&self, stale: TabHandle, budget: &Budget) -> Result<TabHandle, TabError> {
        let mut wiring = stale.shared.wiring.subscribe();
        let replaced = async {
            loop {
                wiring.mark_unchanged();
                let now = self.inner.registry.tab(stale.shared.id)?;
                if stale.shared.is_superseded() {
                    return Err(TabError::TabRestarting { tab: stale.shared.id, sent: false });
                }
                if now.evaluates.get_id() != stale.evaluates.get_id()
                    || now.tab.get_id() != stale.tab.get_id()
                {
                    return Ok(now);
                }
                explain::changed_or_gone(&stale.shared, &mut wiring).await;
            }
        };
        let replaced = budget.run(replaced).await;
        replaced.map_err(|spent| TabError::Budget {
            spent,
            doing: "waiting for the tab's actors",
            sent: false,
        })?
    }
}

/// An action answered with what only another one gives: a bug of ours.
pub(super) fn unexpected(done: &Done) -> TabError {
    TabError::Internal(format!("an action gave {done:?}"))
}
