//! What a call waits for: replies, moments, cancellation, bad news of its tab.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Reply;

use super::outcome::EvaluateError;
use super::phase::Phase;
use crate::condition::{Condition, Hindrance, hindered};

/// Completes when a dialog opens or the renderer dies.
pub(super) async fn bad_news(condition: &mut watch::Receiver<Condition>) -> EvaluateError {
    match hindered(condition).await {
        Hindrance::Dialog(dialog) => EvaluateError::Dialog { dialog, phase: Phase::Queued },
        Hindrance::Crashed => EvaluateError::Crashed,
    }
}

/// Completes once, at its moment; without one, never.
pub(super) async fn moment(at: &mut Option<Instant>) {
    match *at {
        Some(when) => {
            sleep_until(when).await;
            *at = None;
        }
        None => std::future::pending().await,
    }
}

/// Completes once, when the budget is cancelled.
pub(super) async fn cancelled(budget: &Budget, seen: &mut bool) {
    if *seen {
        return std::future::pending().await;
    }
    budget.cancelled().await;
    *seen = true;
}

/// A reply that is waited for once; empty, it never completes.
pub(super) struct Slot(Option<Reply>);

impl Slot {
    pub(super) fn new(reply: Reply) -> Self {
        Self(Some(reply))
    }

    pub(super) fn empty() -> Self {
        Self(None)
    }

    /// The reply, if it is still outstanding.
    pub(super) fn into_outstanding(self) -> Option<Reply> {
        self.0
    }

    pub(super) fn refill(&mut self, reply: Result<Reply, CdpError>) {
        self.0 = reply.ok();
    }
}

impl Future for Slot {
    type Output = Result<Box<RawValue>, CdpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(reply) = &mut self.0 else { return Poll::Pending };
        let outcome = std::task::ready!(Pin::new(reply).poll(context));
        self.0 = None;
        Poll::Ready(outcome)
    }
}
