//! What a tab's page holds and is made to believe: cookies, storage, text, emulation, permissions.

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;
use tabvisor_page::content::{Content, Held};
use tabvisor_page::cookies::{self, Cookie, NewCookie};
use tabvisor_page::emulation::Setting;
use tabvisor_page::permissions::{self, Granted};

use super::Supervisor;
use super::admission::check_budget;
use super::explain::explain;
use super::tabs::unexpected;
use crate::action::{Action, Done};
use crate::error::TabError;
use crate::ids::TabId;

impl Supervisor {
    /// The cookies of the browser context that a tab lives in. No page is asked.
    ///
    /// # Errors
    /// Whatever ends a call.
    pub async fn cookies(&self, tab: TabId, budget: &Budget) -> Result<Vec<Cookie>, TabError> {
        self.on_control(tab, budget, async |session, budget| cookies::all(&session, &budget).await).await
    }

    /// Sets cookies in the browser context that a tab lives in; says how many are there afterwards.
    ///
    /// # Errors
    /// [`TabError::BadInput`], and whatever ends a call.
    pub async fn set_cookies(
        &self,
        tab: TabId,
        cookies: &[NewCookie],
        budget: &Budget,
    ) -> Result<usize, TabError> {
        for new in cookies {
            new.check().map_err(|(field, why)| TabError::BadInput { field, why: why.into() })?;
        }
        let set = async |session: Session, budget: Budget| cookies::set(&session, cookies, &budget).await;
        self.on_control(tab, budget, set).await.map_err(|error| match error {
            TabError::Cdp(CdpError::Protocol { message, .. }) => {
                TabError::BadInput { field: "cookie", why: format!("chromium does not take it: {message}") }
            }
            other => other,
        })
    }

    /// Forgets all cookies of the browser context that a tab lives in.
    ///
    /// # Errors
    /// Whatever ends a call.
    pub async fn clear_cookies(&self, tab: TabId, budget: &Budget) -> Result<(), TabError> {
        self.on_control(tab, budget, async |session, budget| cookies::clear(&session, &budget).await).await
    }

    /// Grants permissions to an origin, in the browser context that a tab lives in.
    ///
    /// # Errors
    /// [`TabError::BadInput`] for an origin that is none, and whatever ends a call.
    pub async fn grant_permissions(
        &self,
        tab: TabId,
        origin: &str,
        permissions: &[String],
        budget: &Budget,
    ) -> Result<Granted, TabError> {
        let origin = permissions::origin(origin)
            .map_err(|why| TabError::BadInput { field: "origin", why: why.into() })?;
        let grant = async |session: Session, budget: Budget| {
            permissions::grant(&session, &origin, permissions, &budget).await
        };
        self.on_control(tab, budget, grant).await
    }

    /// Reads or writes what a tab's page holds, after the actions that came before.
    ///
    /// # Errors
    /// [`TabError::Content`], [`TabError::Dialog`], [`TabError::Stuck`], limits, and whatever ends
    /// a call.
    pub async fn content(&self, tab: TabId, content: Content, budget: &Budget) -> Result<Held, TabError> {
        match self.act(tab, Action::Content(content), budget).await? {
            Done::Held(held) => Ok(held),
            other => Err(unexpected(&other)),
        }
    }

    /// Sets something on a tab, after the actions that came before. It holds for this tab until it is
    /// closed, whatever it navigates to.
    ///
    /// # Errors
    /// [`TabError::BadInput`] where Chromium does not know the value, [`TabError::Dialog`],
    /// [`TabError::Stuck`], limits, and whatever ends a call.
    pub async fn emulate(&self, tab: TabId, setting: Setting, budget: &Budget) -> Result<(), TabError> {
        match self.act(tab, Action::Emulate(setting), budget).await? {
            Done::Emulated => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Asks the browser process over a tab's control session, which answers whatever its page does.
    async fn on_control<T>(
        &self,
        tab: TabId,
        budget: &Budget,
        work: impl AsyncFnOnce(Session, Budget) -> Result<T, CdpError>,
    ) -> Result<T, TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        check_budget(budget, shared.browser.limits.max_budget())?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let mut control = shared.control.subscribe();
        let found = budget.run(control.wait_for(Option::is_some)).await;
        let found = found.map_err(|spent| TabError::Budget {
            spent,
            doing: "waiting for the control link",
            sent: false,
        })?;
        let session = found.ok().and_then(|it| it.clone()).ok_or(TabError::TabClosed { tab })?;
        let outcome = work(session, budget.clone()).await.map_err(Into::into);
        explain(&shared, outcome, &budget).await
    }
}
