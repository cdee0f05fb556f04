//! Whether a page answers, and what may be done if not. Pure.
//!
//! ```text
//!            an expiry found no answer           silent for stuck_after, nothing of ours runs
//!   Free ---------------------------------> Silent ------------------------------------> Stuck
//!    ^                                        |  an expired script of ours went on:        |
//!    |                                        +--- terminate it once ---+                  |
//!    +------------------------ the canary was answered -----------------+------------------+
//! ```
//!
//! The canary is one command that waits in the page's queue: its answer is the event that the
//! page is free again, so nothing polls. What script termination cannot reach goes to `Stuck` at
//! once: the next call must not spend its budget finding out again.

use std::time::Duration;

use tabvisor_page::evaluate::{BlockedBy, Expiry, Phase};
use tokio::time::Instant;

use crate::limits::{Care, Recovery};

/// What is known of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Free,
    Silent { since: Instant, reason: BlockedBy },
    Stuck { since: Instant, reason: BlockedBy },
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Put a canary into the page's queue.
    Canary,
    /// Call [`StuckWatch::look`] then.
    LookAt(Instant),
    /// End what runs: it can only be an expired script of ours that went on.
    Terminate,
    /// Tell that the page is stuck.
    Stuck(BlockedBy),
    /// Tell that it answers again, and how long it did not.
    Freed(Duration),
}

/// The health of one page.
#[derive(Debug)]
pub(crate) struct StuckWatch {
    care: Care,
    health: Health,
    /// What runs was ended once since the page fell silent.
    terminated: bool,
    /// When a script of ours was last known to run there: it was what held the page until then.
    ours_ran: Option<Instant>,
}

impl StuckWatch {
    pub(crate) fn new(care: Care) -> Self {
        Self { care, health: Health::Free, terminated: false, ours_ran: None }
    }

    pub(crate) fn health(&self) -> Health {
        self.health
    }

    /// A script expired or was cancelled.
    pub(crate) fn expired(&mut self, expiry: &Expiry, now: Instant) -> Vec<Effect> {
        if expiry.page_responsive || expiry.phase == Phase::Queued {
            return Vec::new();
        }
        let reason = expiry.blocked_by.unwrap_or(BlockedBy::Unknown);
        let beyond_reach = reason == BlockedBy::Native;
        let mut effects = Vec::new();
        if self.health == Health::Free {
            self.health = Health::Silent { since: now, reason };
            self.terminated = false;
            effects.extend([Effect::Canary, Effect::LookAt(now + self.care.stuck_after)]);
        }
        if let (Health::Silent { since, .. }, true) = (self.health, beyond_reach) {
            self.health = Health::Stuck { since, reason };
            effects.push(Effect::Stuck(reason));
        }
        effects
    }

    /// A script of ours that had started came to its end.
    pub(crate) fn ours_ended(&mut self, now: Instant) {
        self.ours_ran = Some(now);
    }

    /// Time has passed, or a call of ours ended. `started` scripts of ours run or wait for a
    /// promise: while there is one, it may be what holds the page, and it has its own budget.
    /// `went_on` scripts of ours have expired and not come to an end: one of their continuations
    /// may be what holds it.
    pub(crate) fn look(&mut self, now: Instant, started: usize, went_on: usize) -> Vec<Effect> {
        let (Health::Silent { since, reason } | Health::Stuck { since, reason }) = self.health else {
            return Vec::new();
        };
        if started > 0 {
            self.ours_ran = Some(now);
        }
        let due = self.ours_ran.map_or(since, |ran| since.max(ran)) + self.care.stuck_after;
        if now < due {
            return vec![Effect::LookAt(due)];
        }
        if went_on > 0 && !self.terminated && self.care.recovery == Recovery::Terminate {
            self.terminated = true;
            return vec![Effect::Terminate, Effect::LookAt(now + self.care.stuck_after)];
        }
        if matches!(self.health, Health::Silent { .. }) {
            self.health = Health::Stuck { since, reason };
            return vec![Effect::Stuck(reason)];
        }
        Vec::new()
    }

    /// The canary was answered, or the renderer that it waited in is gone.
    pub(crate) fn answered(&mut self, now: Instant) -> Vec<Effect> {
        let was = std::mem::replace(&mut self.health, Health::Free);
        match was {
            Health::Stuck { since, .. } => vec![Effect::Freed(now.saturating_duration_since(since))],
            Health::Free | Health::Silent { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expiry(phase: Phase, responsive: bool, blocked_by: Option<BlockedBy>) -> Expiry {
        Expiry {
            budget: Duration::from_millis(500),
            elapsed: Duration::from_millis(500),
            phase,
            terminated: false,
            page_responsive: responsive,
            still_running: phase == Phase::Pending,
            may_start_within_ms: None,
            blocked_by,
        }
    }

    fn care() -> Care {
        Care { stuck_after: Duration::from_secs(1), recovery: Recovery::Terminate }
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_after_an_await_is_ended_once_stuck_after_has_passed() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        let due = t0 + care().stuck_after;
        let effects = watch.expired(&expiry(Phase::Pending, false, Some(BlockedBy::Script)), t0);
        assert_eq!(effects, [Effect::Canary, Effect::LookAt(due)]);
        assert_eq!(watch.look(t0 + Duration::from_millis(900), 0, 1), [Effect::LookAt(due)]);
        assert_eq!(watch.look(due, 0, 1)[0], Effect::Terminate);
        assert!(watch.answered(due).is_empty());
        assert_eq!(watch.health(), Health::Free);
    }

    #[tokio::test(start_paused = true)]
    async fn a_neighbour_of_ours_is_left_alone() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        watch.expired(&expiry(Phase::Pending, false, Some(BlockedBy::Evaluate)), t0);
        let due = t0 + care().stuck_after;
        assert!(matches!(watch.look(due, 1, 1)[..], [Effect::LookAt(_)]));
        // It ends, and the page's answer is still on its way.
        watch.ours_ended(due);
        assert!(matches!(watch.look(due, 0, 1)[..], [Effect::LookAt(_)]));
        assert!(watch.answered(due).is_empty(), "it was never called stuck");
    }

    #[tokio::test(start_paused = true)]
    async fn the_pages_own_script_is_reported_and_not_ended() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        watch.expired(&expiry(Phase::Waiting, false, Some(BlockedBy::Script)), t0);
        let due = t0 + care().stuck_after;
        assert_eq!(watch.look(due, 0, 0), [Effect::Stuck(BlockedBy::Script)]);
        assert_eq!(watch.answered(due + Duration::from_secs(1)), [Effect::Freed(Duration::from_secs(2))]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_termination_cannot_reach_is_stuck_at_once() {
        let mut watch = StuckWatch::new(care());
        let effects = watch.expired(&expiry(Phase::Running, false, Some(BlockedBy::Native)), Instant::now());
        assert_eq!(effects.last(), Some(&Effect::Stuck(BlockedBy::Native)));
    }

    proptest! {
        #[test]
        fn nothing_is_terminated_while_a_script_of_ours_runs_or_without_one_that_went_on(
            steps in prop::collection::vec((0u8..5, 0usize..2, 0usize..2, 0u64..800), 0..60),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            let mut now = runtime.block_on(async { Instant::now() });
            let mut watch = StuckWatch::new(care());
            for (step, started, went_on, gap) in steps {
                now += Duration::from_millis(gap);
                let effects = match step {
                    0 => watch.expired(&expiry(Phase::Pending, false, Some(BlockedBy::Script)), now),
                    1 => watch.expired(&expiry(Phase::Waiting, false, Some(BlockedBy::Script)), now),
                    2 => watch.answered(now),
                    _ => watch.look(now, started, went_on),
                };
                if effects.contains(&Effect::Terminate) {
                    prop_assert!(step >= 3 && started == 0 && went_on > 0);
                }
            }
        }
    }
}
