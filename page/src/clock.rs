//! The page's clock against ours.
//!
//! A script that waits behind a busy page cannot be taken back: it runs later even if its session
//! or socket is gone. Only a check at its head keeps it from starting after its deadline, so the
//! deadline has to be told in the page's clock. That clock may be another machine's, so it is
//! read once per link.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::time::Instant;

/// Reads the page's clock: milliseconds since the epoch.
///
/// An event's time stamp is monotonic and, unlike `Date.now` and `performance.now`, left alone by
/// the fake timers that test pages install.
pub(crate) const READ_CLOCK: &str = "performance.timeOrigin+new Event('').timeStamp";

/// The clock out of the answer to [`READ_CLOCK`], which came at `at`; `None` where the page gave
/// none.
pub(crate) fn read_answer(reply: &RawValue, at: Instant) -> Option<PageClock> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Reply {
        result: Remote,
        exception_details: Option<IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct Remote {
        value: Option<serde_json::Value>,
    }
    let reply: Reply = serde_json::from_str(reply.get()).ok()?;
    // A page may throw a number.
    let value = reply.result.value.filter(|_| reply.exception_details.is_none())?;
    value.as_f64().map(|page_ms| PageClock::read(at, page_ms))
}

/// A moment known in both clocks.
#[derive(Clone, Copy, Debug)]
pub struct PageClock {
    at: Instant,
    page_ms: f64,
}

impl PageClock {
    /// The page said `page_ms` in a reply that arrived at `at`. The reply's way makes the page's
    /// clock look slow by less than a millisecond, so deadlines come out early, never late.
    pub fn read(at: Instant, page_ms: f64) -> Self {
        Self { at, page_ms }
    }

    /// For a page on this machine whose clock was not read: both read the system clock.
    pub fn same_machine() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { at: Instant::now(), page_ms: since_epoch.as_secs_f64() * 1e3 }
    }

    /// `deadline` in the page's milliseconds.
    pub fn deadline_ms(&self, deadline: Instant) -> f64 {
        let ahead = deadline.saturating_duration_since(self.at).as_secs_f64() * 1e3;
        let behind = self.at.saturating_duration_since(deadline).as_secs_f64() * 1e3;
        self.page_ms + ahead - behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_deadline_keeps_its_distance_in_the_other_clock() {
        let clock = PageClock::read(Instant::now(), 5_000.0);
        tokio::time::advance(Duration::from_millis(100)).await;
        let deadline = Instant::now() + Duration::from_millis(400);
        assert!((clock.deadline_ms(deadline) - 5_500.0).abs() < 0.01);
        let past = Instant::now() - Duration::from_millis(200);
        assert!((clock.deadline_ms(past) - 4_900.0).abs() < 0.01);
    }
}
