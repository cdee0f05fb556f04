//! Limits and policies. Every limit is answered with `Overloaded` at once, never by waiting
//! without a bound.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabvisor_page::dialog::Policy;

/// Limits of one browser and its tabs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Open tabs per browser, those that pages opened included.
    pub tabs: usize,
    /// Open tabs that one page and those it opened may have opened.
    pub popups_per_tab: usize,
    /// Actions queued or running per tab.
    pub actions_per_tab: usize,
    /// Evaluates in flight per tab.
    pub evaluates_per_tab: usize,
    /// Evaluates in flight per browser.
    pub evaluates_per_browser: usize,
    /// Links being dialled at a time, per browser.
    pub dials: usize,
    /// Spare evaluate links kept attached per tab, at most.
    pub spare_links: usize,
    /// Largest message on a link, in bytes.
    pub max_frame_bytes: usize,
    /// Largest script text, in bytes.
    pub max_script_bytes: usize,
    /// Largest result of an evaluate, in bytes of JSON.
    pub max_result_bytes: usize,
    /// Largest budget of a call, in ms.
    pub max_budget_ms: u64,
    /// Events kept for a slow subscriber; more are dropped, and it is told how many.
    pub event_lag: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tabs: 50,
            popups_per_tab: 20,
            actions_per_tab: 16,
            evaluates_per_tab: 16,
            evaluates_per_browser: 128,
            dials: 32,
            spare_links: 2,
            max_frame_bytes: 64 << 20,
            max_script_bytes: 16 << 20,
            max_result_bytes: 10 << 20,
            max_budget_ms: 120_000,
            event_lag: 1024,
        }
    }
}

impl Limits {
    /// The largest budget of a call.
    pub fn max_budget(&self) -> Duration {
        Duration::from_millis(self.max_budget_ms)
    }
}

/// What may happen to a stuck tab without anybody asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Only say so.
    Report,
    /// End the script of an expired evaluate that went on, when nothing else of ours runs there.
    #[default]
    Terminate,
    /// Bring it back, by the mildest rung of the ladder that does; also a tab whose renderer died.
    Restart,
}

/// How tabs are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Care {
    /// How long a page must stay silent before it is called stuck.
    pub stuck_after: Duration,
    /// What may be done then.
    pub recovery: Recovery,
    /// What happens to dialogs that nobody was asked about.
    pub dialogs: Policy,
    /// Tabs of a browser that was lost come back with it, each under its name on its last good address.
    pub reopen_tabs: bool,
}

impl Default for Care {
    fn default() -> Self {
        Self {
            stuck_after: Duration::from_secs(1),
            recovery: Recovery::default(),
            dialogs: Policy::default(),
            reopen_tabs: false,
        }
    }
}
