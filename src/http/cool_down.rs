//! How long a browser that will not start is left alone. Pure.

use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row, and what follows from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CoolDown {
    failures: u32,
    until: Option<Instant>,
}

impl CoolDown {
    /// So many failures are tried again at once.
    const FREE: u32 = 3;
    const FIRST: Duration = Duration::from_secs(30);
    const LONGEST: Duration = Duration::from_mins(5);

    /// One more failure.
    pub(super) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.until = self
            .failures
            .checked_sub(Self::FREE)
            .map(|over| now + Self::FIRST.saturating_mul(1 << over.min(8)).min(Self::LONGEST));
    }

    /// How many there were in a row.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// How much of it is left at `now`.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        self.until?.checked_duration_since(now).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_third_failure_in_a_row_begins_a_cool_down_that_doubles() {
        let mut now = Instant::now();
        let mut it = CoolDown::default();
        for seconds in [0, 0, 30, 60, 120, 240, 300, 300] {
            it.failed(now);
            assert_eq!(it.left(now).unwrap_or_default(), Duration::from_secs(seconds));
            now += Duration::from_secs(seconds);
            assert_eq!(it.left(now), None);
        }
    }
}
