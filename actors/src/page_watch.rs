//! What a tab's page shows, as a stream of changes.

use tabvisor_page::state::Known;
use tokio::sync::watch;

/// What a tab's page shows, now and whenever something of it changes. A slow reader sees the latest
/// and skips what was between.
#[derive(Clone, Debug)]
pub struct PageWatch(watch::Receiver<Known>);

impl PageWatch {
    pub(crate) fn new(page: watch::Receiver<Known>) -> Self {
        Self(page)
    }

    /// What it shows now, and the last good document of the tab.
    pub fn now(&self) -> Known {
        self.0.borrow().clone()
    }

    /// What it shows after the next change; `None` once the tab is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<Known> {
        self.0.changed().await.ok()?;
        Some(self.0.borrow_and_update().clone())
    }
}
