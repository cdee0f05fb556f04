//! A row of the tab list: what is known of a tab without asking a renderer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use tabvisor_page::dialog::Dialog;
use tabvisor_page::evaluate::BlockedBy;
use tabvisor_page::state::PageError;

use crate::ids::{BrowserId, Epoch, TabId};
use crate::shared::TabShared;

/// State of a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TabState {
    /// It takes calls.
    Ready,
    /// An action or evaluate is at work.
    Busy,
    /// A dialog is open.
    Dialog,
    /// It does not answer.
    Stuck,
    /// Its renderer is dead.
    Crashed,
    /// It had no renderer when we came: given up by Chromium to save memory, or crashed before. Given
    /// the focus, Chromium loads a tab again that it gave up; it never gives up one that we listen to
    /// (measured).
    Discarded,
    /// It is being brought back, or its watcher is not listening yet (or again).
    Restarting,
}

impl TabState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Ready,
        Self::Busy,
        Self::Dialog,
        Self::Stuck,
        Self::Crashed,
        Self::Discarded,
        Self::Restarting,
    ];

    /// Its name, as in its JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Dialog => "dialog",
            Self::Stuck => "stuck",
            Self::Crashed => "crashed",
            Self::Discarded => "discarded",
            Self::Restarting => "restarting",
        }
    }
}

/// A row of the tab list: what is known without asking a renderer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TabRow {
    /// `t1`, ...
    pub tab_id: TabId,
    /// Chromium's id of the target now.
    pub target_id: String,
    /// Main frame.
    pub url: String,
    /// Main frame.
    pub title: String,
    /// Main frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favicon: Option<String>,
    /// Another document is being loaded, or this one still is.
    pub loading: bool,
    /// The last load failed; gone with the next document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PageError>,
    /// There is something to go back to.
    pub can_go_back: bool,
    /// There is something to go forward to.
    pub can_go_forward: bool,
    /// State.
    pub state: TabState,
    /// How long it has not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck_for_ms: Option<u64>,
    /// What keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck_by: Option<BlockedBy>,
    /// The open dialog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// The tab whose page opened it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opener: Option<TabId>,
    /// How many tabs that its page opened were closed, since there were too many.
    #[serde(skip_serializing_if = "is_none")]
    pub popups_closed: u64,
    /// Counts its documents.
    pub generation: u64,
    /// How often its actors, its renderer or its target were restarted.
    pub restarts: u64,
    /// The tabs in the same renderer, which share its fate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_renderer: Vec<TabId>,
    /// What waits or works.
    pub queue: Queue,
    /// Its browser.
    pub browser: BrowserId,
    /// Its browser's epoch.
    pub epoch: Epoch,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Calls in flight on a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// Actions queued or running.
    pub actions: usize,
    /// Evaluates in flight.
    pub evaluates: usize,
}

impl TabShared {
    fn queue(&self) -> Queue {
        let limits = &self.browser.limits;
        Queue {
            actions: limits.actions_per_tab - self.actions.available_permits(),
            evaluates: limits.evaluates_per_tab - self.evaluates.available_permits(),
        }
    }

    /// What it is doing, or what keeps it.
    pub(crate) fn state(&self) -> TabState {
        if *self.recovering.borrow() {
            return TabState::Restarting;
        }
        let condition = self.condition.borrow();
        let Queue { actions, evaluates } = self.queue();
        if condition.discarded {
            TabState::Discarded
        } else if condition.crashed {
            TabState::Crashed
        } else if condition.dialog.is_some() {
            TabState::Dialog
        } else if self.stuck.borrow().is_some() {
            TabState::Stuck
        } else if self.control.borrow().is_none() {
            TabState::Restarting
        } else if actions + evaluates > 0 {
            TabState::Busy
        } else {
            TabState::Ready
        }
    }

    pub(crate) fn row(&self) -> TabRow {
        let page = self.page.borrow().state.clone();
        let dialog = self.condition.borrow().dialog.clone();
        let stuck = *self.stuck.borrow();
        TabRow {
            tab_id: self.id,
            target_id: self.target.clone(),
            url: page.url,
            title: page.title,
            favicon: page.favicon,
            loading: page.loading,
            error: page.error,
            can_go_back: page.can_go_back,
            can_go_forward: page.can_go_forward,
            state: self.state(),
            stuck_for_ms: stuck.map(|it| u64::try_from(it.since.elapsed().as_millis()).unwrap_or(u64::MAX)),
            stuck_by: stuck.map(|it| it.reason),
            dialog,
            opener: self.opener,
            popups_closed: self.popups_closed.load(Ordering::Relaxed),
            generation: page.generation,
            restarts: self.restarts.load(Ordering::Relaxed),
            shared_renderer: Vec::new(),
            queue: self.queue(),
            browser: self.browser.id,
            epoch: self.browser.epoch,
        }
    }
}

/// The row of a tab, with those of `all` that share its renderer: pages of one renderer share the counts
/// of what runs in it.
pub(crate) fn row_among(tab: &TabShared, all: &[Arc<TabShared>]) -> TabRow {
    let beside = |other: &&Arc<TabShared>| other.id != tab.id && Arc::ptr_eq(&other.scripts, &tab.scripts);
    let shared_renderer = all.iter().filter(beside).map(|other| other.id).collect();
    TabRow { shared_renderer, ..tab.row() }
}
