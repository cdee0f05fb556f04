//! A wait that ended without its condition.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::requests::OpenRequest;
use crate::act::ActError;

/// What a wait did not see within its budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("Timeout {}ms exceeded while waiting for {waiting_for}{}", .budget.as_millis(), self.more())]
pub struct Late {
    /// The condition, by its name in requests.
    pub condition: &'static str,
    /// The condition in words.
    pub waiting_for: String,
    /// The whole budget.
    #[serde(rename = "budgetMs", serialize_with = "as_ms")]
    pub budget: Duration,
    /// Time from the start of the budget to this answer.
    #[serde(rename = "elapsedMs", serialize_with = "as_ms")]
    pub elapsed: Duration,
    /// The page answered when it was asked at the end; absent where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_responsive: Option<bool>,
    /// What kept the network busy, the oldest first; where that was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_requests: Option<Vec<OpenRequest>>,
}

impl Late {
    /// Nothing more is known.
    pub fn new(condition: &'static str, waiting_for: String, budget: Duration, elapsed: Duration) -> Self {
        Self { condition, waiting_for, budget, elapsed, page_responsive: None, open_requests: None }
    }

    fn more(&self) -> String {
        let mut more = String::new();
        if self.page_responsive == Some(false) {
            more.push_str("; the page does not answer");
        }
        if let Some(open) = self.open_requests.as_ref().filter(|open| !open.is_empty()) {
            let urls: Vec<&str> = open.iter().take(3).map(|it| it.url.as_str()).collect();
            let _ = write!(more, "; {} open: {}", open.len(), urls.join(", "));
        }
        more
    }
}

/// Why a wait ended without its condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// The budget ended first.
    #[error(transparent)]
    TimedOut(Box<Late>),
    /// What ends an action, ends a wait: a dialog, a crash, a selector that is none, a ref that
    /// names nothing.
    #[error(transparent)]
    Act(#[from] ActError),
}

fn as_ms<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
