//! Bringing tabs back.

use std::sync::PoisonError;

use tabvisor_cdp::budget::Budget;
use tabvisor_page::navigate;

use super::Supervisor;
use super::admission::check_budget;
use super::ask::ask;
use super::explain;
use crate::browser::{BrowserMsg, Recover};
use crate::error::TabError;
use crate::ids::TabId;
use crate::limits::Recovery;
use crate::recovery::{Cause, LastRecovery, Recovered, RestartRequest, Rung};

impl Supervisor {
    /// Brings a tab back, by the mildest rung that makes it usable, and says which that was and what
    /// was lost. Once begun it goes on to its end, also when its caller goes away.
    ///
    /// # Errors
    /// Bad input, [`TabError::TabRestarting`] while another one is under way, [`TabError::NotRecovered`], and
    /// whatever ends a call.
    pub async fn restart(
        &self,
        tab: TabId,
        request: RestartRequest,
        budget: &Budget,
    ) -> Result<Recovered, TabError> {
        let RestartRequest { rung, url } = request;
        let url = url.map(|url| navigate::check_url(&url)).transpose()?;
        if let Some(rung) = rung.filter(|rung| url.is_some() && *rung < Rung::Renderer) {
            let why =
                format!("an address is loaded from the rung renderer on; {} keeps the page", rung.name());
            return Err(TabError::BadInput { field: "url", why });
        }
        self.recover(budget, |budget| Recover {
            tab,
            cause: Cause::Operator,
            rung,
            last: Rung::Target,
            url,
            budget,
            reply: None,
        })
        .await
    }

    /// Ends the scripts that run on a tab, whoever started them; its document stays.
    ///
    /// # Errors
    /// As [`restart`](Self::restart); [`TabError::NotRecovered`] where what holds the page is no script.
    pub async fn terminate(&self, tab: TabId, budget: &Budget) -> Result<Recovered, TabError> {
        self.recover(budget, |budget| Recover {
            tab,
            cause: Cause::Operator,
            rung: Some(Rung::Terminate),
            last: Rung::Terminate,
            url: None,
            budget,
            reply: None,
        })
        .await
    }

    /// The last recovery of a tab, if there was one.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub fn last_recovery(&self, tab: TabId) -> Result<Option<LastRecovery>, TabError> {
        let handle = self.inner.registry.tab(tab)?;
        let last = handle.shared.last_recovery.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(last.clone())
    }

    /// From now on, this may be done to the tab without anybody asking.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub fn set_recovery_policy(&self, tab: TabId, policy: Recovery) -> Result<(), TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        *shared.recovery.lock().unwrap_or_else(PoisonError::into_inner) = policy;
        if let Some(browser) = self.inner.registry.browser(shared.browser.id) {
            let _ = browser.actor.cast(BrowserMsg::LookAfter(tab));
        }
        Ok(())
    }

    async fn recover(
        &self,
        budget: &Budget,
        build: impl FnOnce(Budget) -> Recover,
    ) -> Result<Recovered, TabError> {
        let mut call = build(budget.clone());
        let tab = call.tab;
        let shared = self.inner.registry.tab(tab)?.shared;
        check_budget(budget, shared.browser.limits.max_budget())?;
        if let Some(url) = &call.url {
            shared.browser.policy.check(url)?;
        }
        let Some(browser) = self.inner.registry.browser(shared.browser.id) else {
            return Err(TabError::TabClosed { tab });
        };
        let asked = ask(&browser.actor, budget, move |reply| {
            call.reply = Some(reply);
            BrowserMsg::Recover(Box::new(call))
        });
        tokio::select! {
            biased;
            answer = asked => match answer {
                Ok(outcome) => outcome,
                Err(unanswered) => Err(explain::unanswered(&shared, unanswered, budget).await),
            },
            () = budget.cancelled() => {
                let spent = tabvisor_cdp::budget::Spent::Cancelled { elapsed: budget.elapsed() };
                Err(TabError::Budget { spent, doing: "restarting the tab", sent: true })
            }
        }
    }
}
