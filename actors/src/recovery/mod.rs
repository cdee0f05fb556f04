//! Recovery: a stuck or dead tab comes back.
//!
//! Purpose: climbs the ladder of what frees a page, the mildest rung first, until the page is proved
//! to be usable, and says which rung it was and what was lost on the way.
//!
//! ```text
//!   spawned --> looking --> rung at work --page answers--> done: outcome in the exit event
//!                  ^             |
//!                  +--still not--+--no rung, no time, another document--> done: an honest failure
//! ```
//!
//! Supervised by: `Browser`, a leaf per recovery, one at a time per tab; the tab's own
//! supervisor does not survive the rung that changes the target.
//!
//! It never: navigates or reloads a page whose renderer lives (measured: a stuck page takes it, stays
//! as it is, and its scripts cannot even be ended any more), acts on a document that came
//! after it began, ends with its caller: what it has begun it brings to an end, inside its budget.
//!
//! | file | holds |
//! |---|---|
//! | `ladder` | which rung comes when: pure |
//! | `climb` | the leaf: does what the ladder says |
//! | `rungs` | what each rung does |
//! | `reopen` | the leaf for the tabs of a browser that was lost |
//! | `trouble` | tells Browser of a tab that is in need |

mod climb;
mod ladder;
mod reopen;
mod rungs;
mod trouble;

use serde::{Deserialize, Serialize};

use crate::ids::TabId;

pub(crate) use climb::{Ground, Plan, climb};
pub(crate) use reopen::{Return, reopen};
pub(crate) use trouble::{trouble, watch};

/// A way to bring a tab back, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Dismiss the open dialog.
    Dialog,
    /// End the scripts that run, and timers that run them again.
    Terminate,
    /// Stop the navigation that is pending.
    StopLoading,
    /// End the renderer and load the address again, in the same target.
    Renderer,
    /// Load the address in a new target; the tab keeps its name.
    Target,
    /// Load the address in the browser that was started after the tab's own was lost. It cannot be asked
    /// for: it is what `reopen_tabs` does.
    Browser,
}

/// Why a tab was brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Somebody asked for it.
    Operator,
    /// It did not answer.
    Stuck,
    /// Its renderer died.
    Crashed,
    /// Its browser was lost.
    BrowserLost,
}

/// What a recovery cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// The open dialog was dismissed.
    Dialog,
    /// What ran was ended.
    Scripts,
    /// The page's timers were taken away.
    Timers,
    /// The pending navigation was stopped.
    Navigation,
    /// Refs of earlier snapshots are stale.
    Refs,
    /// What the page's scripts had in memory.
    JsState,
    /// What was typed and not sent.
    FormData,
    /// Storage that lives as long as a target.
    SessionStorage,
    /// The way back and forward.
    History,
    /// The bond to the page that opened it.
    Opener,
    /// Cookies and all that its browser had stored, whose profile was temporary or is not ours.
    Storage,
}

/// How to bring a tab back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestartRequest {
    /// The first rung to try; without it the first that can help.
    pub rung: Option<Rung>,
    /// What to load; without it the last good address of the tab. With it the renderer is ended in any
    /// case.
    pub url: Option<String>,
}

/// A tab that is usable again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recovered {
    /// The tab.
    #[serde(rename = "tab")]
    pub tab_id: TabId,
    /// Why it was brought back.
    pub cause: Cause,
    /// What freed it.
    pub rung: Rung,
    /// The rungs that were tried, that one included.
    pub tried: Vec<Rung>,
    /// How long it took.
    pub took_ms: u64,
    /// What it cost.
    pub lost: Vec<Lost>,
    /// What the tab shows now.
    pub url: String,
    /// Its document now.
    pub generation: u64,
}

/// Why a tab is not usable after a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GaveUp {
    /// No rung that may be tried helped.
    NothingHelped,
    /// The budget ended.
    OutOfTime,
    /// The tab shows another document than at the beginning; nothing more was done to it.
    DocumentChanged,
}

/// The last recovery of a tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LastRecovery {
    /// It helped.
    Recovered(Recovered),
    /// It did not.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// Why it was tried.
        cause: Cause,
        /// What was tried.
        tried: Vec<Rung>,
        /// How it ended.
        why: String,
    },
}

impl Rung {
    /// Its name, as in its JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dialog => "dialog",
            Self::Terminate => "terminate",
            Self::StopLoading => "stop_loading",
            Self::Renderer => "renderer",
            Self::Target => "target",
            Self::Browser => "browser",
        }
    }

    /// All that can be asked for, mildest first.
    pub const ALL: [Self; 5] =
        [Self::Dialog, Self::Terminate, Self::StopLoading, Self::Renderer, Self::Target];

    /// The rung of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rung| rung.name() == name)
    }
}

impl Cause {
    /// Its name, as in its JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Stuck => "stuck",
            Self::Crashed => "crashed",
            Self::BrowserLost => "browser_lost",
        }
    }
}

impl std::fmt::Display for GaveUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NothingHelped => "nothing that may be tried helped",
            Self::OutOfTime => "the budget ended",
            Self::DocumentChanged => "the tab shows another document now, to which nothing was done",
        })
    }
}
