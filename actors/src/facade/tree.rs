//! The tree as it is: from what is published, no actor and no page is asked.

use std::sync::{Mutex, PoisonError};

use ractor::{ActorRef, ActorStatus, Message};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::Supervisor;
use crate::ids::{BrowserId, Epoch};
use crate::recovery::LastRecovery;
use crate::registry::{BrowserHandle, TabHandle};
use crate::restart::RestartWindow;
use crate::row::{TabRow, row_among};
use crate::shared::BrowserStatus;

/// A browser and what is below it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserNode {
    /// Its name in the tree.
    pub browser: BrowserId,
    /// Counts its starts.
    pub epoch: Epoch,
    /// `starting`, `ready`, `lost` or `failed`.
    pub state: &'static str,
    /// Why it does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// For example `Chrome/156.0.8078.114`, while it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Process id, where we launched it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its restarts.
    pub restarts: Restarts,
    /// Evaluates in flight.
    pub evaluates: Share,
    /// Links being dialled.
    pub dials: Share,
    /// Its open tabs.
    pub open_tabs: Share,
    /// Its tabs.
    pub tabs: Vec<TabNode>,
}

/// How often something was restarted lately, and how often it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restarts {
    /// Within the window that ends now.
    pub in_window: usize,
    /// One more, and its supervisor gives up.
    pub max: usize,
    /// How long the window is, in ms.
    pub window_ms: u64,
}

/// What is taken of what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Taken now.
    pub taken: usize,
    /// The limit.
    pub limit: usize,
}

/// A tab and its actors.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TabNode {
    /// Its row, with what waits.
    #[serde(flatten)]
    pub row: TabRow,
    /// The restarts of its actors.
    pub actor_restarts: Restarts,
    /// Which actor failed last and why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_failure: String,
    /// How it was brought back last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_recovery: Option<LastRecovery>,
    /// Actions queued or running.
    pub actions: Share,
    /// Evaluates in flight.
    pub evaluates: Share,
    /// Its actors, in the order in which they start.
    pub actors: Vec<ActorNode>,
}

/// An actor of a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ActorNode {
    /// Which.
    pub actor: &'static str,
    /// `starting`, `running`, `stopping` or `stopped`; of one that is known by its link alone `running` while it
    /// has one, else `starting`.
    pub state: &'static str,
    /// Whether its link to Chromium is open, where it has one of its own for good that is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<bool>,
}

impl Supervisor {
    /// The tree as it is now.
    pub fn tree(&self) -> Vec<BrowserNode> {
        let tabs = self.inner.registry.handles();
        self.inner.registry.browsers().iter().map(|browser| browser_node(browser, &tabs)).collect()
    }
}

fn browser_node(browser: &BrowserHandle, tabs: &[TabHandle]) -> BrowserNode {
    let shared = &browser.shared;
    let (state, cause) = match &*shared.status.borrow() {
        BrowserStatus::Starting => ("starting", None),
        BrowserStatus::Ready(_) => ("ready", None),
        BrowserStatus::Lost { cause } => ("lost", Some(cause.clone())),
        BrowserStatus::Failed(error) => ("failed", Some(error.to_string())),
    };
    let facts = shared.ready();
    let limits = &shared.limits;
    let all: Vec<_> = tabs.iter().map(|tab| tab.shared.clone()).collect();
    let tabs: Vec<_> = tabs
        .iter()
        .filter(|tab| tab.shared.browser.id == shared.id)
        .map(|tab| tab_node(tab, row_among(&tab.shared, &all)))
        .collect();
    BrowserNode {
        browser: shared.id,
        epoch: shared.epoch,
        state,
        cause,
        version: facts.as_ref().map(|facts| facts.version.clone()),
        pid: facts.and_then(|facts| facts.pid),
        restarts: restarts(&browser.window),
        evaluates: share(&shared.evaluates, limits.evaluates_per_browser),
        dials: share(&shared.dials, limits.dials.max(1)),
        open_tabs: Share { taken: tabs.len(), limit: limits.tabs },
        tabs,
    }
}

fn tab_node(handle: &TabHandle, row: TabRow) -> TabNode {
    let tab = &handle.shared;
    let limits = &tab.browser.limits;
    let control = tab.control.borrow().as_ref().map(|session| !session.is_link_closed());
    // It is not among the actors that calls go to.
    let observes = tab.observing.borrow().is_some();
    let actors = vec![
        ActorNode {
            actor: "dialog_watcher",
            state: state(&handle.watcher),
            link: Some(control.unwrap_or(false)),
        },
        ActorNode {
            actor: "observer",
            state: if observes { "running" } else { "starting" },
            link: Some(observes),
        },
        ActorNode { actor: "evaluates", state: state(&handle.evaluates), link: None },
        ActorNode { actor: "tab", state: state(&handle.tab), link: None },
    ];
    TabNode {
        row,
        actor_restarts: restarts(&tab.window),
        last_failure: tab.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        last_recovery: tab.last_recovery.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        actions: share(&tab.actions, limits.actions_per_tab),
        evaluates: share(&tab.evaluates, limits.evaluates_per_tab),
        actors,
    }
}

fn restarts(window: &Mutex<RestartWindow>) -> Restarts {
    let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
    let intensity = window.intensity();
    Restarts {
        in_window: window.count(Instant::now()),
        max: intensity.max,
        window_ms: u64::try_from(intensity.window.as_millis()).unwrap_or(u64::MAX),
    }
}

fn share(places: &Semaphore, limit: usize) -> Share {
    Share { taken: limit.saturating_sub(places.available_permits()), limit }
}

fn state<M: Message>(actor: &ActorRef<M>) -> &'static str {
    match actor.get_status() {
        ActorStatus::Unstarted | ActorStatus::Starting => "starting",
        ActorStatus::Running | ActorStatus::Upgrading => "running",
        ActorStatus::Draining | ActorStatus::Stopping => "stopping",
        ActorStatus::Stopped => "stopped",
    }
}
