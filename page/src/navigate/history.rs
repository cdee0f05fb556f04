//! Going back, forward, and loading again.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::progress::Progress;
use super::{EVENTS, Follow, Landed, NavigateError, WaitUntil, answers, may_begin, spent};
use crate::condition::Condition;

/// Where to go without an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// To the entry of the history before this one.
    Back,
    /// To the one after it.
    Forward,
    /// Nowhere: load it again.
    Reload,
}

impl Move {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Back => "back",
            Self::Forward => "forward",
            Self::Reload => "reload",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: usize,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: i64,
}

impl History {
    fn entry(&self, to: Move) -> Option<i64> {
        let at = match to {
            Move::Back => self.current_index.checked_sub(1)?,
            Move::Forward => self.current_index + 1,
            Move::Reload => self.current_index,
        };
        self.entries.get(at).map(|entry| entry.id)
    }
}

/// The browser process answers this, whatever the page does; but not in the moment in which an
/// error page takes the place of a document (measured).
async fn history(session: &Session, work: &Budget, budget: &Budget) -> Result<History, NavigateError> {
    let mut commits = session.subscribe(&["Page.frameNavigated"], 16);
    let moment = work.child(BETWEEN);
    loop {
        match session.call_as("Page.getNavigationHistory", json!({}), budget).await {
            Err(CdpError::Protocol { .. }) if moment.check().is_ok() => {
                let _ = moment.child(BETWEEN / 20).run(commits.next()).await;
            }
            answer => return Ok(answer?),
        }
    }
}

/// How long a page may be between two documents.
const BETWEEN: Duration = Duration::from_millis(500);

/// Moves the main frame `main` of the page on `session` (with the Page domain enabled).
///
/// # Errors
/// Every [`NavigateError`]; what was not committed at the end is stopped.
pub async fn go(
    session: &Session,
    main: &str,
    to: Move,
    until: WaitUntil,
    mut condition: watch::Receiver<Condition>,
    budget: &Budget,
) -> Result<Landed, NavigateError> {
    let was_crashed = may_begin(&condition)?;
    let work = budget.reserving(budget.cleanup_reserve());
    let entry =
        history(session, &work, budget).await?.entry(to).ok_or(NavigateError::NoHistory(to.name()))?;
    if !was_crashed {
        // As for an address of the same site.
        answers(session, &mut condition, &work, budget).await?;
    }
    let events = session.subscribe(EVENTS, 256);
    let sent = match to {
        Move::Reload => session.send("Page.reload", json!({})),
        Move::Back | Move::Forward => {
            session.send("Page.navigateToHistoryEntry", json!({ "entryId": entry }))
        }
    };
    let reply = work.run(sent).await.map_err(|_| spent(budget, false))??;
    let progress = Progress::of_move(until, main, to == Move::Reload);
    Follow { events, reply, progress, condition, was_crashed }.run(session, budget).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_history_lead_nowhere() {
        let history = |current_index, entries: &[i64]| History {
            current_index,
            entries: entries.iter().map(|id| Entry { id: *id }).collect(),
        };
        assert_eq!(history(1, &[4, 7, 9]).entry(Move::Back), Some(4));
        assert_eq!(history(1, &[4, 7, 9]).entry(Move::Forward), Some(9));
        assert_eq!(history(0, &[4]).entry(Move::Back), None);
        assert_eq!(history(0, &[4]).entry(Move::Forward), None);
        assert_eq!(history(0, &[4]).entry(Move::Reload), Some(4));
    }
}
