//! One budget per call.
//!
//! The caller's `timeoutMs` becomes one [`Budget`] at the edge: an absolute deadline and a
//! cancellation. Every layer below spends from it (queue wait, connecting, running, cleaning up,
//! replying); none has a clock of its own. A child can only be shorter than its parent, and a
//! cancelled parent cancels its children.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// An absolute deadline and a cancellation, passed down through every layer of one call.
///
/// Clones are the same budget: cancelling one cancels all.
#[derive(Clone, Debug)]
pub struct Budget {
    started: Instant,
    deadline: Instant,
    cancel: CancellationToken,
    /// When the first work of the call had its turn.
    begun: Arc<OnceLock<Instant>>,
}

/// Why a budget gives nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Spent {
    /// The deadline has passed.
    #[error("budget of {} ms spent after {} ms", .total.as_millis(), .elapsed.as_millis())]
    Expired {
        /// The whole budget.
        total: Duration,
        /// Time since the budget began.
        elapsed: Duration,
    },
    /// The caller went away or cancelled.
    #[error("cancelled after {} ms", .elapsed.as_millis())]
    Cancelled {
        /// Time since the budget began.
        elapsed: Duration,
    },
}

/// A budget that cannot be: names the field and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBudget {
    /// Zero, negative, not a number, infinite or no number at all.
    #[error("{field} must be a positive integer of milliseconds, got {got}")]
    NotPositive {
        /// The field of the request.
        field: &'static str,
        /// What was given, shortened.
        got: String,
    },
    /// Over the configured maximum. It is refused, never silently capped.
    #[error("{field} is {got} ms, over the maximum of {} ms (limits.max_budget_ms)", .max.as_millis())]
    OverMaximum {
        /// The field of the request.
        field: &'static str,
        /// What was given, in ms.
        got: u64,
        /// The configured maximum.
        max: Duration,
    },
}

impl Budget {
    /// A budget that begins now.
    pub fn new(total: Duration) -> Self {
        let started = Instant::now();
        Self { started, deadline: started + total, cancel: CancellationToken::new(), begun: Arc::default() }
    }

    /// A budget that begins now, after checking `total` against the limits of the service.
    ///
    /// # Errors
    /// [`BadBudget`] naming `field` when `total` is zero or over `max`.
    pub fn checked(field: &'static str, total: Duration, max: Duration) -> Result<Self, BadBudget> {
        Self::check_total(field, total, max)?;
        Ok(Self::new(total))
    }

    /// Checks the whole of a budget against the limits of the service.
    ///
    /// # Errors
    /// As [`checked`](Self::checked).
    pub fn check_total(field: &'static str, total: Duration, max: Duration) -> Result<(), BadBudget> {
        if total.is_zero() {
            return Err(BadBudget::NotPositive { field, got: "0".into() });
        }
        if total > max {
            let got = u64::try_from(total.as_millis()).unwrap_or(u64::MAX);
            return Err(BadBudget::OverMaximum { field, got, max });
        }
        Ok(())
    }

    /// Reads a number of milliseconds as it comes over a wire or a command line: a positive
    /// integer, written as such.
    ///
    /// # Errors
    /// [`BadBudget::NotPositive`] for anything else (`0`, `-1`, `1.5`, `NaN`, `abc`).
    pub fn parse_ms(field: &'static str, text: &str) -> Result<Duration, BadBudget> {
        match text.trim().parse::<u64>() {
            Ok(ms) if ms > 0 => Ok(Duration::from_millis(ms)),
            _ => Err(BadBudget::NotPositive { field, got: text.chars().take(40).collect() }),
        }
    }

    /// A budget inside this one: it ends after `most`, or with this one if that is sooner, and
    /// is cancelled with it. Cancelling the child leaves the parent alone.
    #[must_use]
    pub fn child(&self, most: Duration) -> Self {
        let started = Instant::now();
        Self {
            started,
            deadline: self.deadline.min(started + most),
            cancel: self.cancel.child_token(),
            begun: Arc::clone(&self.begun),
        }
    }

    /// The same start and deadline with a cancellation of its own inside this one's: for one of
    /// several calls that share a budget.
    #[must_use]
    pub fn scoped(&self) -> Self {
        Self { cancel: self.cancel.child_token(), ..self.clone() }
    }

    /// The same budget with `kept` held back at its end for cleaning up and replying. It shares
    /// start and cancellation with this one.
    #[must_use]
    pub fn reserving(&self, kept: Duration) -> Self {
        let deadline = self.deadline.checked_sub(kept).unwrap_or(self.started).max(self.started);
        Self { deadline, ..self.clone() }
    }

    /// What to hold back at the end of this budget so that an answer still fits in it: a
    /// twenty-fifth of what is left, between 1 and 20 ms. Ending a script and hearing of it takes 3 to 5 ms on a
    /// quiet machine, and several times that on a busy one.
    pub fn cleanup_reserve(&self) -> Duration {
        (self.left() / 25).clamp(Duration::from_millis(1), Duration::from_millis(20))
    }

    /// When it ends.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// From its start to its end.
    pub fn total(&self) -> Duration {
        self.deadline - self.started
    }

    /// Time since it began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What is left; zero once expired.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// What is left as a number for wires, in ms, rounded down. Zero means: do not start.
    pub fn left_ms(&self) -> u64 {
        u64::try_from(self.left().as_millis()).unwrap_or(u64::MAX)
    }

    /// Work of this call has its turn: it waits no longer behind others. The first time counts.
    pub fn begin(&self) {
        let _ = self.begun.set(Instant::now());
    }

    /// How long the call waited for its turn; `None` where it had none.
    pub fn queued(&self) -> Option<Duration> {
        self.begun.get().map(|begun| begun.saturating_duration_since(self.started))
    }

    /// Cancels this budget, its clones and its children.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Cancels when dropped, unless disarmed: for the edge, where a dropped future means that
    /// the caller went away.
    pub fn cancel_on_drop(&self) -> DropGuard {
        self.cancel.clone().drop_guard()
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Completes when it is cancelled.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// `Err` once nothing is left or it was cancelled.
    ///
    /// # Errors
    /// [`Spent`], saying which.
    pub fn check(&self) -> Result<(), Spent> {
        if self.is_cancelled() {
            return Err(Spent::Cancelled { elapsed: self.elapsed() });
        }
        if self.left().is_zero() { Err(self.expired()) } else { Ok(()) }
    }

    /// Completes when the budget is spent, and says how.
    pub async fn spent(&self) -> Spent {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Spent::Cancelled { elapsed: self.elapsed() },
            () = tokio::time::sleep_until(self.deadline) => self.expired(),
        }
    }

    /// Runs `future` until it is done or the budget is spent; a result that is ready wins over
    /// a deadline that has passed.
    ///
    /// # Errors
    /// [`Spent`] when the budget ended first. The future is dropped then.
    pub async fn run<F: Future>(&self, future: F) -> Result<F::Output, Spent> {
        tokio::select! {
            biased;
            done = future => Ok(done),
            spent = self.spent() => Err(spent),
        }
    }

    fn expired(&self) -> Spent {
        Spent::Expired { total: self.total(), elapsed: self.elapsed() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn on_paused_clock<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
            .block_on(future)
    }

    proptest! {
        #[test]
        fn a_child_never_outlives_its_parent(total in 1u64..10_000, most in 0u64..20_000, later in 0u64..12_000) {
            on_paused_clock(async move {
                let parent = Budget::new(MS * u32::try_from(total).unwrap());
                tokio::time::advance(Duration::from_millis(later)).await;
                let child = parent.child(Duration::from_millis(most));
                assert!(child.deadline() <= parent.deadline());
                assert!(child.left() <= parent.left());
                assert!(parent.reserving(Duration::from_millis(most)).deadline() <= parent.deadline());
            });
        }

        #[test]
        fn only_positive_integers_are_budgets(text in "\\PC*") {
            let good = !text.trim().is_empty()
                && text.trim().trim_start_matches('+').bytes().all(|b| b.is_ascii_digit());
            if Budget::parse_ms("timeoutMs", &text).is_ok() { prop_assert!(good, "{text:?} was taken"); }
        }
    }

    #[test]
    fn what_is_no_budget_is_refused_by_name() {
        for text in ["0", "-1", "NaN", "abc", "1.5", "", "inf", "1e3"] {
            let why = Budget::parse_ms("timeoutMs", text).unwrap_err().to_string();
            assert!(why.starts_with("timeoutMs must be a positive integer"), "{text}: {why}");
        }
        assert_eq!(Budget::parse_ms("timeoutMs", " 250 "), Ok(MS * 250));
    }

    #[tokio::test]
    async fn over_the_maximum_is_refused_not_capped() {
        let why = Budget::checked("timeoutMs", MS * 120_001, MS * 120_000).unwrap_err();
        assert_eq!(why, BadBudget::OverMaximum { field: "timeoutMs", got: 120_001, max: MS * 120_000 });
        assert!(Budget::checked("timeoutMs", Duration::ZERO, MS).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_at_its_deadline_and_says_so() {
        let budget = Budget::new(MS * 300);
        let spent = budget.run(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(spent, Spent::Expired { total: MS * 300, elapsed: MS * 300 });
        assert_eq!(budget.left_ms(), 0);
        assert!(budget.check().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_that_is_ready_wins_over_a_passed_deadline() {
        let budget = Budget::new(MS);
        tokio::time::advance(MS * 5).await;
        assert_eq!(budget.run(async { 1 }).await, Ok(1));
    }

    #[tokio::test(start_paused = true)]
    async fn cancelling_reaches_children_and_not_parents() {
        let parent = Budget::new(MS * 100);
        let child = parent.child(MS * 50);
        child.cancel();
        assert!(!parent.is_cancelled());
        let other = parent.child(MS * 50);
        drop(parent.cancel_on_drop());
        assert!(matches!(other.check(), Err(Spent::Cancelled { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_turn_of_a_call_ends_its_wait() {
        let budget = Budget::new(MS * 500);
        assert_eq!(budget.queued(), None);
        tokio::time::advance(MS * 30).await;
        budget.scoped().begin();
        tokio::time::advance(MS * 30).await;
        budget.child(MS * 50).begin();
        assert_eq!(budget.queued(), Some(MS * 30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reserve_shortens_the_work_and_keeps_the_start() {
        let budget = Budget::new(MS * 500);
        assert_eq!(budget.cleanup_reserve(), MS * 20);
        assert_eq!(budget.reserving(MS * 10).left(), MS * 490);
        assert_eq!(budget.reserving(MS * 900).left(), Duration::ZERO);
    }
}
