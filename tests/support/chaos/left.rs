//! What a run may not leave behind: memory, tasks, file descriptors.

use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::super::{eventually, secs};

/// Resident memory of this process in bytes.
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() << 10
}

/// Resident memory once everything has been running for `warming`; `end` is when it ends.
pub async fn after(end: Instant, warming: Duration) -> usize {
    let total = end.saturating_duration_since(Instant::now());
    Budget::new(warming.min(total)).spent().await;
    resident()
}

/// An hour must not grow by more than 5 percent; a minute is too short for more than a rough look.
pub fn assert_flat(warm: usize, now: usize, lasting: Duration) {
    let (percent, slack) = if lasting >= secs(1_800) { (5, 2 << 20) } else { (50, 32 << 20) };
    let most = warm + warm * percent / 100 + slack;
    assert!(now <= most, "{} MiB at the end, {} after a fifth of the time", now >> 20, warm >> 20);
}

/// What this process holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Held {
    tasks: usize,
    descriptors: usize,
}

impl Held {
    pub fn now() -> Self {
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
        Self { tasks: Handle::current().metrics().num_alive_tasks(), descriptors }
    }

    /// Connections of pages end a moment after their browser.
    pub async fn assert_nothing_more(self) {
        eventually("tasks and descriptors are those of before", || async {
            let now = Self::now();
            (now.tasks <= self.tasks && now.descriptors <= self.descriptors).then_some(())
        })
        .await;
    }
}
