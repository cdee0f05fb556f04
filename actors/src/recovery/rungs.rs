//! What each rung does. Each proves that the page is usable, or says that it is not.

use std::time::Duration;

use ractor::RpcReplyPort;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::launch;
use tabvisor_cdp::link::{Link, LinkOptions, Purpose, Session};
use tabvisor_page::dialog::Answer;
use tabvisor_page::navigate::{self, How, NavigateError, WaitUntil};
use tabvisor_page::recover::{self, Crash};
use tokio::sync::oneshot;
use url::Url;

use super::climb::{Ground, Step};
use super::{Cause, Lost};
use crate::action;
use crate::browser::BrowserMsg;
use crate::dialog_watcher::{AnswerDialog, WatcherMsg};
use crate::shared::TabShared;

/// How long a page whose scripts were ended may take to answer, before its timers are suspected.
const AT_ONCE: Duration = Duration::from_millis(500);
/// How long the end of scripts may take to be confirmed: milliseconds on a quiet machine, and giving up
/// may cost the page its state.
const END: Duration = Duration::from_secs(2);
/// How long a renderer may take to die by Chromium's hand: 28 ms where it can at all (measured).
const CRASH: Duration = Duration::from_millis(500);

/// How long a trace may take to name a process: 53 ms (measured), and ten seconds where the process
/// is stopped.
const TRACE: Duration = Duration::from_secs(1);
/// How long a crash may take to be told of.
const TOLD: Duration = Duration::from_millis(50);

/// What goes with a target.
pub(super) fn lost_with_target(tab: &TabShared) -> Vec<Lost> {
    let mut lost = vec![Lost::Refs, Lost::JsState, Lost::FormData, Lost::SessionStorage, Lost::History];
    lost.extend(tab.opener.is_some().then_some(Lost::Opener));
    lost
}

impl Ground {
    pub(super) async fn dialog(&self, budget: &Budget) -> Step {
        let dialog = self.tab.condition.borrow().dialog.clone();
        let (Some(dialog), Some(control)) = (dialog, self.control()) else { return Step::default() };
        let Ok(handle) = self.registry.tab(self.tab.id) else { return Step::default() };
        let (tell, told) = oneshot::channel();
        let answer = AnswerDialog {
            id: Some(dialog.id),
            answer: Answer { accept: false, prompt_text: None },
            budget: budget.clone(),
            reply: RpcReplyPort::from(tell),
        };
        let sent = handle.watcher.cast(WatcherMsg::Answer(Box::new(answer)));
        let closed = sent.is_ok() && matches!(budget.run(told).await, Ok(Ok(Ok(_))));
        if !closed {
            return Step::default();
        }
        let freed = recover::answers(&control, &budget.child(AT_ONCE)).await;
        Step { freed, lost: vec![Lost::Dialog], ours: false }
    }

    pub(super) async fn terminate(&self, budget: &Budget) -> Step {
        let Some(control) = self.control() else { return Step::default() };
        let cause = if self.cause == Cause::Operator { "operator" } else { "recovery" };
        let count = |result| {
            metrics::counter!("tabvisor_terminate_execution_total", "cause" => cause, "result" => result)
                .increment(1);
        };
        let end = budget.child((budget.left() / 3).min(END));
        match recover::terminate(&control, &end).await {
            Ok(()) => count("terminated"),
            Err(CdpError::Spent { .. }) => {
                count("unanswered");
                return Step::default();
            }
            Err(_) => {
                count("failed");
                return Step::default();
            }
        }
        let at_once = budget.child((budget.left() / 3).min(AT_ONCE));
        if recover::stays_usable(&control, &self.tab.target, &at_once).await {
            return Step { freed: true, lost: vec![Lost::Scripts], ours: false };
        }
        // Something runs it again; or something else holds the page, as a navigation does that is
        // pending, and then this will not help either.
        let time = if self.is_loading() { budget.child(AT_ONCE) } else { budget.clone() };
        let timers = recover::end_timers(&control, &self.tab.target, &time).await;
        if let Err(why) = timers {
            tracing::debug!(tab = %self.tab.id, %why, "the timers of a page could not be taken away");
            return Step { freed: false, lost: vec![Lost::Scripts], ours: false };
        }
        let freed = recover::stays_usable(&control, &self.tab.target, budget).await;
        Step { freed, lost: vec![Lost::Scripts, Lost::Timers], ours: false }
    }

    pub(super) async fn stop_loading(&self, budget: &Budget) -> Step {
        let Some(control) = self.control() else { return Step::default() };
        let stopped = control.call("Page.stopLoading", serde_json::json!({}), budget).await.is_ok();
        let freed = stopped && recover::answers(&control, &budget.child(AT_ONCE)).await;
        Step { freed, lost: vec![Lost::Navigation], ours: false }
    }

    /// Only a dead renderer's page is navigated.
    pub(super) async fn renderer(&self, generation: u64, url: &Url, budget: &Budget) -> Step {
        let Some(control) = self.control() else { return Step::default() };
        let mut condition = self.tab.condition.subscribe();
        let crashed = condition.borrow().crashed;
        if !crashed {
            // Another document has come since the page was looked at.
            if self.tab.page.borrow().state.generation != generation {
                return Step::default();
            }
            let patience = budget.child(CRASH);
            let crash = recover::crash(&control, &patience).await;
            // It may have died by itself a moment before; that is told by another event.
            let told = || async {
                let mut condition = self.tab.condition.subscribe();
                budget.child(TOLD).run(condition.wait_for(|now| now.crashed)).await.is_ok_and(|it| it.is_ok())
            };
            let dead = match crash {
                Ok(Crash::Dead) => true,
                Ok(Crash::Refused(_) | Crash::Silent) => told().await || self.kill(budget).await,
                Err(_) => false,
            };
            if !dead {
                return Step::default();
            }
        }
        let told = budget.run(condition.wait_for(|now| now.crashed)).await.is_ok_and(|it| it.is_ok());
        if !told {
            return Step::default();
        }
        let freed = self.load(&control, url, budget).await;
        let mut lost = vec![Lost::Refs, Lost::JsState, Lost::FormData];
        if self.tab.opener.is_some() {
            lost.push(Lost::Opener);
        }
        Step { freed, ours: true, lost }
    }

    pub(super) async fn target(&mut self, url: &Url, budget: &Budget) -> Step {
        let (tell, told) = oneshot::channel();
        if self.browser.cast(BrowserMsg::Replace(self.tab.id, tell)).is_err() {
            return Step::default();
        }
        let Ok(Ok(successor)) = budget.run(told).await else { return Step::default() };
        let lost = lost_with_target(&successor);
        self.tab = successor;
        Step { freed: self.load_there(url, budget).await, ours: true, lost }
    }

    /// On the tab's new target.
    pub(super) async fn load_there(&self, url: &Url, budget: &Budget) -> bool {
        match self.control() {
            Some(control) => self.load(&control, url, budget).await,
            None => false,
        }
    }

    /// Loads the address, and says whether the page is usable then: one that failed to load is, as
    /// Chromium's error page.
    async fn load(&self, control: &Session, url: &Url, budget: &Budget) -> bool {
        let before = self.tab.page.borrow().state.generation;
        let how = How { until: WaitUntil::Commit, same_site: false };
        let landed = navigate::navigate(control, url, how, self.tab.condition.subscribe(), budget).await;
        match landed {
            Ok(landed) => action::shown(&self.tab, &landed.url, before + 1, budget).await,
            Err(NavigateError::Failed { .. }) => {}
            // The new document's own script runs, and asks something.
            Err(NavigateError::Dialog { committed: true, .. }) => return true,
            Err(why) => {
                tracing::debug!(tab = %self.tab.id, %why, "an address could not be loaded again");
                return false;
            }
        }
        let mut condition = self.tab.condition.subscribe();
        tokio::select! {
            biased;
            // Likewise.
            Ok(_) = condition.wait_for(|now| now.dialog.is_some()) => true,
            survives = recover::survives_its_loading(control, budget) => survives,
        }
    }

    /// Ends the renderer's process, where it is on this machine.
    async fn kill(&self, budget: &Budget) -> bool {
        let Some(browser) = self.process else { return false };
        match self.process_of_renderer(&budget.child(TRACE)).await {
            Ok(Some(pid)) => launch::kill_renderer(browser, pid),
            Ok(None) => false,
            // Its process is stopped. Which one that is can only be told where there is one such.
            Err(CdpError::Spent { .. }) => match *launch::stopped_renderers(browser) {
                [pid] => launch::kill_renderer(browser, pid),
                _ => false,
            },
            Err(why) => {
                tracing::debug!(tab = %self.tab.id, %why, "the process of a renderer was not found");
                false
            }
        }
    }

    /// On a session of its own, which may be a new one: the browser answers, not the page.
    async fn process_of_renderer(&self, budget: &Budget) -> Result<Option<u32>, CdpError> {
        let tab = &self.tab;
        let alone = budget.run(tab.browser.traces.acquire()).await;
        let _alone = alone.map_err(|spent| CdpError::spent("Tracing.start", spent))?;
        let (address, dial) = (tab.browser.address()?, tab.browser.dial.get());
        let link = Link::connect(&address, &dial, LinkOptions::new(Purpose::Page), budget).await?;
        let session = link.attach(&tab.target, budget).await?;
        recover::process_of(&session, &tab.target, budget).await
    }
}
