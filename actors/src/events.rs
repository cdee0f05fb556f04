//! What happens to tabs and browsers, for whoever wants to know.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tabvisor_page::dialog::{Dialog, Resolution};
use tabvisor_page::evaluate::BlockedBy;
use tokio::sync::broadcast;

use crate::ids::{BrowserId, Epoch, TabId};
use crate::recovery::{Cause, Recovered, Rung};

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are; each variant is documented")]
pub enum Event {
    /// A browser works.
    BrowserStarted { browser: BrowserId, epoch: Epoch, version: String },
    /// A browser is gone, and its tabs with it.
    BrowserLost { browser: BrowserId, epoch: Epoch, cause: String },
    /// A tab is there: opened by a caller, or by a page (then with its opener).
    TabOpened { tab: TabId, browser: BrowserId, epoch: Epoch, opener: Option<TabId> },
    /// A tab was closed, by a caller, a page or a person.
    TabClosed { tab: TabId },
    /// A tab's actors failed too often; the tab was closed.
    TabLost { tab: TabId, cause: String },
    /// The main frame has a new document.
    TabNavigated { tab: TabId, url: String, generation: u64 },
    /// A page does not answer.
    TabStuck { tab: TabId, reason: BlockedBy },
    /// It answers again.
    TabFreed { tab: TabId, stuck_for_ms: u64 },
    /// Its renderer died.
    TabCrashed { tab: TabId },
    /// It is being brought back.
    RecoveryStarted { tab: TabId, cause: Cause },
    /// It is usable again: by which rung, and what that cost.
    TabRecovered(Recovered),
    /// It is not.
    RecoveryFailed { tab: TabId, cause: Cause, tried: Vec<Rung>, why: String },
    /// The script of an expired evaluate, which had gone on, was ended.
    ScriptTerminated { tab: TabId },
    /// Tabs that its page opened were closed, since there were too many; told at the first, second, fourth
    /// and so on.
    PopupsClosed { tab: TabId, limit: &'static str, closed: u64 },
    /// A file chooser that was waited for opened, and was given files or could not be.
    FilesGiven { tab: TabId, error: Option<String> },
    /// A dialog opened.
    DialogOpened { tab: TabId, dialog: Dialog },
    /// It is gone.
    DialogClosed { tab: TabId, id: String, by: Resolution },
    /// A page asked to be printed. Nothing is printed without a window; with one it goes to the default
    /// printer without a dialog.
    PrintRequested { tab: TabId },
    /// An actor was restarted by its supervisor.
    ActorRestarted { tab: Option<TabId>, actor: &'static str, cause: String },
}

impl Event {
    /// Its name, as in its JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BrowserStarted { .. } => "browser_started",
            Self::BrowserLost { .. } => "browser_lost",
            Self::TabOpened { .. } => "tab_opened",
            Self::TabClosed { .. } => "tab_closed",
            Self::TabLost { .. } => "tab_lost",
            Self::TabNavigated { .. } => "tab_navigated",
            Self::TabStuck { .. } => "tab_stuck",
            Self::TabFreed { .. } => "tab_freed",
            Self::TabCrashed { .. } => "tab_crashed",
            Self::RecoveryStarted { .. } => "recovery_started",
            Self::TabRecovered(_) => "tab_recovered",
            Self::RecoveryFailed { .. } => "recovery_failed",
            Self::ScriptTerminated { .. } => "script_terminated",
            Self::PopupsClosed { .. } => "popups_closed",
            Self::FilesGiven { .. } => "files_given",
            Self::DialogOpened { .. } => "dialog_opened",
            Self::DialogClosed { .. } => "dialog_closed",
            Self::PrintRequested { .. } => "print_requested",
            Self::ActorRestarted { .. } => "actor_restarted",
        }
    }
}

/// What a subscriber reads.
#[derive(Clone, Debug, Serialize)]
pub struct Numbered {
    /// Counts up by one from event to event, over all subscribers.
    pub seq: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// A subscription. Slow readers lose the oldest events and are told how many.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<Numbered>);

/// What [`Subscription::next`] gives.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Item {
    /// An event.
    Event(Numbered),
    /// Events were missed here.
    Lagged {
        /// How many.
        missed: u64,
    },
}

impl Subscription {
    /// The next event; `None` once the supervisor has stopped. Cancel-safe.
    pub async fn next(&mut self) -> Option<Item> {
        match self.0.recv().await {
            Ok(event) => Some(Item::Event(event)),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Item::Lagged { missed }),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Where events are published.
#[derive(Clone, Debug)]
pub(crate) struct EventBus {
    sender: broadcast::Sender<Numbered>,
    seq: Arc<AtomicU64>,
}

impl EventBus {
    pub(crate) fn new(lag: usize) -> Self {
        Self { sender: broadcast::Sender::new(lag.max(1)), seq: Arc::default() }
    }

    pub(crate) fn publish(&self, event: Event) {
        tracing::debug!(name = event.name(), "event");
        let seq = self.seq.fetch_add(1, Ordering::Relaxed) + 1;
        // No subscriber is no error.
        let _ = self.sender.send(Numbered { seq, event });
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription(self.sender.subscribe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_reader_is_told_what_it_missed() {
        let bus = EventBus::new(2);
        let mut reader = bus.subscribe();
        for n in 1..=5 {
            bus.publish(Event::TabClosed { tab: TabId(n) });
        }
        assert!(matches!(reader.next().await, Some(Item::Lagged { missed: 3 })));
        assert!(matches!(reader.next().await, Some(Item::Event(Numbered { seq: 4, .. }))));
        drop(bus);
        reader.next().await;
        assert!(reader.next().await.is_none());
    }
}
