//! The sessions of a connection: which tabs it opened, which it used last, and which outlive it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabvisor_actors::Supervisor;
use tabvisor_actors::TabRow;
use tabvisor_cdp::budget::Budget;

use crate::TabId;

/// How long closing the tabs of a connection that has ended may take.
const CLOSES_WITHIN: Duration = Duration::from_secs(5);

/// A connection, or what stands for one where callers have none.
#[derive(Debug, Default)]
pub(super) struct Connection {
    sessions: Mutex<BTreeMap<String, Session>>,
    /// Callers without a connection share it, so that a call without a session means no tab.
    shared: bool,
}

/// Tabs that belong together.
#[derive(Debug, Default)]
struct Session {
    /// Those that it opened.
    opened: BTreeSet<TabId>,
    /// Those that outlive it.
    kept: BTreeSet<TabId>,
    /// The one that it used last. A ref is a ref of its tab, so when that one is gone no other takes its place.
    last: Option<TabId>,
}

impl Connection {
    /// What stands for the connections of callers that have none.
    pub(super) fn shared() -> Self {
        Self { shared: true, ..Self::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, session: &str, change: impl FnOnce(&mut Session) -> T) -> T {
        change(self.sessions().entry(session.to_owned()).or_default())
    }

    /// The tab of a call that names none: the one that its session used last, which may be gone.
    pub(super) fn last(&self, session: &str) -> Option<TabId> {
        if self.shared && session.is_empty() {
            return None;
        }
        self.sessions().get(session)?.last
    }

    /// The tab is the last used one from now on.
    pub(super) fn used(&self, session: &str, tab: TabId) {
        self.change(session, |it| it.last = Some(tab));
    }

    /// The session opened the tab.
    pub(super) fn opened(&self, session: &str, tab: TabId) {
        self.change(session, |it| it.opened.insert(tab));
    }

    /// The tab outlives the session.
    pub(super) fn keep(&self, session: &str, tab: TabId) {
        self.change(session, |it| it.kept.insert(tab));
    }

    /// The tab is gone.
    pub(super) fn forget(&self, tab: TabId) {
        for session in self.sessions().values_mut() {
            session.opened.remove(&tab);
            session.kept.remove(&tab);
        }
    }

    /// Whether a session of this connection opened the tab, or a page of it did.
    pub(super) fn owns(&self, tab: TabId, rows: &[TabRow]) -> bool {
        self.to_close(rows).contains(&tab) || self.sessions().values().any(|it| it.opened.contains(&tab))
    }

    /// What goes with the connection: the tabs that it opened and those that their pages opened, but for those
    /// that are kept.
    pub(super) fn to_close(&self, rows: &[TabRow]) -> BTreeSet<TabId> {
        let sessions = self.sessions();
        let opened = |tab: TabId| sessions.values().any(|it| it.opened.contains(&tab));
        let kept = |tab: TabId| sessions.values().any(|it| it.kept.contains(&tab));
        let mut ours = BTreeSet::new();
        // A tab's number is higher than its opener's.
        for row in rows {
            let by_ours = row.opener.is_some_and(|opener| ours.contains(&opener));
            if (opened(row.tab_id) || by_ours) && !kept(row.tab_id) {
                ours.insert(row.tab_id);
            }
        }
        ours
    }

    /// Nothing goes with it.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions().values().all(|it| it.opened.is_subset(&it.kept))
    }

    /// Closes what goes with it.
    pub(super) async fn close(&self, supervisor: &Supervisor) {
        let budget = Budget::new(CLOSES_WITHIN);
        for tab in self.to_close(&supervisor.tabs()) {
            if let Err(why) = supervisor.close(tab, &budget).await {
                tracing::debug!(%tab, %why, "a tab of a connection that ended was not closed");
            }
            self.forget(tab);
        }
    }
}
