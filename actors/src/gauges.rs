//! Gauges of what is there: tabs by state, the processes of Chromium. Read now and then, so that a scrape
//! only prints numbers and no call pays for them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use metrics::Gauge;
use tabvisor_cdp::launch::{self, Usage};
use tabvisor_cdp::task::{self, Task};

use crate::registry::Registry;
use crate::row::TabState;
use crate::shared::BrowserFacts;

/// How often tabs are counted: a walk over a table in memory.
const EVERY: Duration = Duration::from_secs(1);
/// In how many of those rounds processes are read, too: all of `/proc` is looked at.
const PROCESSES: u32 = 10;

/// Keeps the gauges until it is dropped.
pub(crate) fn keep(registry: &Arc<Registry>) -> Task<()> {
    let registry = Arc::downgrade(registry);
    task::spawn(async move {
        let mut shown = Shown::default();
        let mut rounds = (0..PROCESSES).cycle();
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let Some(states) = registry.upgrade().map(|registry| registry.count_states()) else { return };
            shown.tabs(states);
            if rounds.next() == Some(0) {
                let pids = pids(&registry);
                // Off the runtime: these are files.
                let read = tokio::task::spawn_blocking(move || launch::usage(&pids)).await;
                shown.chromium(read.unwrap_or_default());
            }
        }
    })
}

/// The Chromiums of ours.
fn pids(registry: &Weak<Registry>) -> Vec<u32> {
    let browsers = registry.upgrade().map(|registry| registry.browsers()).unwrap_or_default();
    let facts = browsers.iter().filter_map(|browser| browser.shared.ready());
    facts.filter(|facts: &Arc<BrowserFacts>| facts.launched).filter_map(|facts| facts.pid).collect()
}

/// What the gauges say of this tree. Several trees in one process add up, so each adds and takes away
/// only its own.
#[derive(Default)]
struct Shown {
    tabs: Option<[(Gauge, u32); TabState::ALL.len()]>,
    usage: Usage,
}

impl Shown {
    fn tabs(&mut self, now: [u32; TabState::ALL.len()]) {
        let gauge = |state: TabState| (metrics::gauge!("tabvisor_tabs", "state" => state.name()), 0);
        let shown = self.tabs.get_or_insert_with(|| TabState::ALL.map(gauge));
        for ((gauge, before), now) in shown.iter_mut().zip(now) {
            gauge.increment(f64::from(now) - f64::from(*before));
            *before = now;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
    fn chromium(&mut self, now: Usage) {
        let before = std::mem::replace(&mut self.usage, now);
        metrics::gauge!("tabvisor_chromium_processes")
            .increment(f64::from(now.processes) - f64::from(before.processes));
        metrics::gauge!("tabvisor_chromium_memory_bytes")
            .increment(now.memory_bytes as f64 - before.memory_bytes as f64);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.tabs([0; TabState::ALL.len()]);
        self.chromium(Usage::default());
    }
}
