//! Dialogs: which are open, and their answers.

use std::sync::PoisonError;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_page::dialog::{Answer, DialogRecord, NotPending, Policy};
use tokio::time::Instant;

use super::Supervisor;
use super::admission::check_budget;
use super::ask::ask;
use super::explain;
use crate::dialog_watcher::{AnswerDialog, WatcherMsg};
use crate::error::TabError;
use crate::ids::TabId;
use crate::shared::DialogLog;

impl Supervisor {
    /// The dialogs of a tab: the open one, and the last that were closed.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub fn dialogs(&self, tab: TabId) -> Result<DialogLog, TabError> {
        self.inner.registry.tab(tab).map(|handle| handle.shared.dialog_log.borrow().clone())
    }

    /// Answers the open dialog, or the one with this id if that is open, and waits until it has
    /// gone away. Possible while its page answers nothing else.
    ///
    /// # Errors
    /// [`TabError::NoDialog`], and whatever ends a call.
    pub async fn answer_dialog(
        &self,
        tab: TabId,
        id: Option<String>,
        answer: Answer,
        budget: &Budget,
    ) -> Result<DialogRecord, TabError> {
        match self.answer_with(tab, id, answer, budget, WatcherMsg::Answer).await? {
            Some(record) => Ok(record),
            None => Err(TabError::NoDialog(NotPending::Any)),
        }
    }

    /// Answers the open dialog. If there is none, the next one that opens within `armed_for` is
    /// answered so as it opens, and this gives `None` at once.
    ///
    /// # Errors
    /// As [`answer_dialog`](Self::answer_dialog).
    pub async fn answer_or_arm_dialog(
        &self,
        tab: TabId,
        answer: Answer,
        armed_for: Duration,
        budget: &Budget,
    ) -> Result<Option<DialogRecord>, TabError> {
        let until = Instant::now() + armed_for;
        self.answer_with(tab, None, answer, budget, |call| WatcherMsg::AnswerOrArm(call, until)).await
    }

    /// From now on, dialogs of this tab that nobody was asked about are handled so; one that is
    /// open, too.
    ///
    /// # Errors
    /// Unknown or closed tabs, lost browsers.
    pub fn set_dialog_policy(&self, tab: TabId, policy: Policy) -> Result<(), TabError> {
        let handle = self.inner.registry.tab(tab)?;
        // One that is being replaced reads it when it starts.
        *handle.shared.dialog_policy.lock().unwrap_or_else(PoisonError::into_inner) = policy;
        let _ = handle.watcher.cast(WatcherMsg::Policy(policy));
        Ok(())
    }

    async fn answer_with(
        &self,
        tab: TabId,
        id: Option<String>,
        answer: Answer,
        budget: &Budget,
        message: impl FnOnce(Box<AnswerDialog>) -> WatcherMsg,
    ) -> Result<Option<DialogRecord>, TabError> {
        let handle = self.inner.registry.tab(tab)?;
        check_budget(budget, handle.shared.browser.limits.max_budget())?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let spent = budget.clone();
        let call = |reply| message(Box::new(AnswerDialog { id, answer, budget: spent, reply }));
        match ask(&handle.watcher, &budget, call).await {
            Ok(outcome) => explain::explain(&handle.shared, outcome, &budget).await,
            Err(unanswered) => Err(explain::unanswered(&handle.shared, unanswered, &budget).await),
        }
    }
}
