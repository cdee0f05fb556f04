//! Whether a page answers, and what may be done if not. Pure.
//!
//! ```text
//!   an expiry found no answer, or work waits      probed: beyond the reach of termination, or
//!   Free ---------------------------------> Silent  silent for stuck_after ----------------> Stuck
//!    ^                                        |                                                |
//!    |                 the expired script of ours went on: terminate it once                   |
//!    |                                        |                                                |
//!    +------------------------ the canary was answered ---------------------------------------+
//! ```
//!
//! The canary is one command that waits in the page's queue: its answer is the event that the
//! page is free again, so nothing polls. The probe beside it is served while a script runs: if
//! it is not answered within a moment, what holds the page is beyond the reach of termination, and
//! the next call must not spend its budget finding that out again.

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

/// What came of asking a page for something that it serves while a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// It served it.
    Served,
    /// It did not.
    Silent,
    /// It did not, and a renderer's process is stopped: the only one of its browser that is.
    Stopped,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Put a canary into the page's queue, and a probe beside it.
    Canary,
    /// Call [`StuckWatch::look`] then.
    LookAt(Instant),
    /// End what runs: it can only be the expired script of ours that went on.
    Terminate,
    /// Tell that the page is stuck; `proven` by a call that expired.
    Stuck { reason: BlockedBy, proven: bool },
    /// Tell that it answers again, and how long it did not.
    Freed(Duration),
}

/// The health of one page.
#[derive(Debug)]
pub(crate) struct StuckWatch {
    care: Care,
    health: Health,
    /// The silence began while an expired script of ours had a promise outstanding: its
    /// continuation is what holds the page.
    by_ours: bool,
    /// Nothing expired: work waits, and the page was asked whether it answers.
    suspected: bool,
    /// What runs was ended once since the page fell silent.
    terminated: bool,
    /// When a script of ours was last known to run there: it was what held the page until then.
    ours_ran: Option<Instant>,
}

impl StuckWatch {
    pub(crate) fn new(care: Care) -> Self {
        Self {
            care,
            health: Health::Free,
            by_ours: false,
            suspected: false,
            terminated: false,
            ours_ran: None,
        }
    }

    pub(crate) fn health(&self) -> Health {
        self.health
    }

    /// What may be done without anybody asking.
    pub(crate) fn set_policy(&mut self, recovery: Recovery) {
        self.care.recovery = recovery;
    }

    /// A script expired or was cancelled.
    pub(crate) fn expired(&mut self, expiry: &Expiry, now: Instant) -> Vec<Effect> {
        let known = self.health != Health::Free && !self.suspected;
        if expiry.page_responsive || expiry.phase == Phase::Queued || known {
            return Vec::new();
        }
        let reason = expiry.blocked_by.unwrap_or(BlockedBy::Unknown);
        // A navigation has a budget of its own, and is stopped at its end.
        if reason == BlockedBy::Navigation {
            return Vec::new();
        }
        let was = std::mem::replace(&mut self.health, Health::Silent { since: now, reason });
        self.by_ours = expiry.phase == Phase::Pending && expiry.still_running;
        self.suspected = false;
        self.terminated = false;
        if let Health::Stuck { since, .. } = was {
            self.health = Health::Stuck { since, reason };
            return vec![Effect::Stuck { reason, proven: true }, Effect::LookAt(now + self.care.stuck_after)];
        }
        vec![Effect::Canary, Effect::LookAt(now + self.care.stuck_after)]
    }

    /// Work has been waiting for a while. Whether the page answers is not known; it is asked.
    pub(crate) fn suspected(&mut self, now: Instant) -> Vec<Effect> {
        if self.health != Health::Free {
            return Vec::new();
        }
        self.health = Health::Silent { since: now, reason: BlockedBy::Unknown };
        self.by_ours = false;
        self.suspected = true;
        self.terminated = false;
        vec![Effect::Canary, Effect::LookAt(now + self.care.stuck_after)]
    }

    /// The probe had its moment.
    pub(crate) fn probed(&mut self, probe: Probe) -> Vec<Effect> {
        let Health::Silent { since, reason } = self.health else { return Vec::new() };
        let reason = match probe {
            Probe::Served => {
                let reason = if reason == BlockedBy::Evaluate { reason } else { BlockedBy::Script };
                self.health = Health::Silent { since, reason };
                return Vec::new();
            }
            Probe::Silent => BlockedBy::Native,
            Probe::Stopped => BlockedBy::Stopped,
        };
        if self.suspected {
            // Nothing has taken longer than it may yet.
            self.health = Health::Silent { since, reason };
            return Vec::new();
        }
        self.health = Health::Stuck { since, reason };
        vec![Effect::Stuck { reason, proven: true }]
    }

    /// A script of ours that had started came to its end.
    pub(crate) fn ours_ended(&mut self, now: Instant) {
        self.ours_ran = Some(now);
    }

    /// Time has passed, or a call of ours ended. `running` scripts of ours are in their
    /// synchronous part: each has its own budget. `started` ones count those with a promise, too,
    /// any of which may be what holds the page. `went_on` have expired and not come to an end.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        running: usize,
        started: usize,
        went_on: usize,
    ) -> Vec<Effect> {
        let (Health::Silent { since, reason } | Health::Stuck { since, reason }) = self.health else {
            return Vec::new();
        };
        if running > 0 {
            self.ours_ran = Some(now);
        }
        let due = self.ours_ran.map_or(since, |ran| since.max(ran)) + self.care.stuck_after;
        if now < due {
            return vec![Effect::LookAt(due)];
        }
        let ours_alone = self.by_ours && went_on > 0 && started == 0;
        if ours_alone && !self.terminated && self.care.recovery != Recovery::Report {
            self.terminated = true;
            return vec![Effect::Terminate, Effect::LookAt(now + self.care.stuck_after)];
        }
        if matches!(self.health, Health::Silent { .. }) {
            self.health = Health::Stuck { since, reason };
            return vec![Effect::Stuck { reason, proven: !self.suspected }];
        }
        Vec::new()
    }

    /// The canary was answered, or the renderer that it waited in is gone.
    pub(crate) fn answered(&mut self, now: Instant) -> Vec<Effect> {
        let was = std::mem::replace(&mut self.health, Health::Free);
        self.suspected = false;
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
        Care { stuck_after: Duration::from_secs(1), recovery: Recovery::Terminate, ..Care::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_after_an_await_is_ended_once_stuck_after_has_passed() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        let due = t0 + care().stuck_after;
        let effects = watch.expired(&expiry(Phase::Pending, false, Some(BlockedBy::Script)), t0);
        assert_eq!(effects, [Effect::Canary, Effect::LookAt(due)]);
        assert_eq!(watch.look(t0 + Duration::from_millis(900), 0, 0, 1), [Effect::LookAt(due)]);
        assert_eq!(watch.look(due, 0, 0, 1)[0], Effect::Terminate);
        assert!(watch.answered(due).is_empty());
        assert_eq!(watch.health(), Health::Free);
    }

    #[tokio::test(start_paused = true)]
    async fn a_neighbour_of_ours_is_left_alone() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        watch.expired(&expiry(Phase::Pending, false, Some(BlockedBy::Evaluate)), t0);
        let due = t0 + care().stuck_after;
        assert!(matches!(watch.look(due, 1, 1, 1)[..], [Effect::LookAt(_)]));
        // It ends, and the page's answer is still on its way.
        watch.ours_ended(due);
        assert!(matches!(watch.look(due, 0, 0, 1)[..], [Effect::LookAt(_)]));
        assert!(watch.answered(due).is_empty(), "it was never called stuck");
    }

    #[tokio::test(start_paused = true)]
    async fn a_neighbour_with_a_promise_keeps_its_script_but_not_the_truth() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        watch.expired(&expiry(Phase::Pending, false, Some(BlockedBy::Script)), t0);
        let effects = watch.look(t0 + care().stuck_after, 0, 1, 1);
        assert_eq!(
            effects,
            [Effect::Stuck { reason: BlockedBy::Script, proven: true }],
            "either promise may be what holds the page"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_pages_own_script_is_reported_and_not_ended_whatever_else_went_on() {
        for went_on in [0, 3] {
            let mut watch = StuckWatch::new(care());
            let t0 = Instant::now();
            watch.expired(&expiry(Phase::Waiting, false, Some(BlockedBy::Script)), t0);
            let due = t0 + care().stuck_after;
            assert_eq!(
                watch.look(due, 0, 0, went_on),
                [Effect::Stuck { reason: BlockedBy::Script, proven: true }]
            );
            assert_eq!(watch.answered(due + Duration::from_secs(1)), [Effect::Freed(Duration::from_secs(2))]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_termination_cannot_reach_is_stuck_once_the_probe_had_its_moment() {
        let mut watch = StuckWatch::new(care());
        watch.expired(&expiry(Phase::Running, false, Some(BlockedBy::Unknown)), Instant::now());
        assert_eq!(watch.probed(Probe::Silent), [Effect::Stuck { reason: BlockedBy::Native, proven: true }]);
        let mut watch = StuckWatch::new(care());
        watch.expired(&expiry(Phase::Waiting, false, Some(BlockedBy::Unknown)), Instant::now());
        assert!(watch.probed(Probe::Served).is_empty());
        assert!(matches!(watch.health(), Health::Silent { reason: BlockedBy::Script, .. }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_on_which_work_waits_is_stuck_only_after_the_whole_time_and_says_in_what() {
        for (probe, reason) in [
            (Probe::Served, BlockedBy::Script),
            (Probe::Silent, BlockedBy::Native),
            (Probe::Stopped, BlockedBy::Stopped),
        ] {
            let mut watch = StuckWatch::new(care());
            let t0 = Instant::now();
            let due = t0 + care().stuck_after;
            assert_eq!(watch.suspected(t0), [Effect::Canary, Effect::LookAt(due)]);
            assert!(watch.suspected(t0).is_empty(), "once");
            assert!(watch.probed(probe).is_empty());
            assert_eq!(watch.look(due, 0, 0, 0), [Effect::Stuck { reason, proven: false }]);
        }
        let mut watch = StuckWatch::new(care());
        watch.suspected(Instant::now());
        assert!(watch.answered(Instant::now()).is_empty(), "it was only busy");
        assert_eq!(watch.health(), Health::Free);
    }

    #[tokio::test(start_paused = true)]
    async fn an_expiry_on_a_suspected_page_knows_more_than_the_suspicion() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        watch.suspected(t0);
        let later = t0 + Duration::from_millis(500);
        let effects = watch.expired(&expiry(Phase::Running, false, Some(BlockedBy::Unknown)), later);
        assert_eq!(effects[0], Effect::Canary);
        assert_eq!(watch.probed(Probe::Silent), [Effect::Stuck { reason: BlockedBy::Native, proven: true }]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_only_suspected_is_proven_by_an_expiry_and_freed_once() {
        let mut watch = StuckWatch::new(care());
        let t0 = Instant::now();
        watch.suspected(t0);
        let due = t0 + care().stuck_after;
        assert_eq!(watch.look(due, 0, 0, 0), [Effect::Stuck { reason: BlockedBy::Unknown, proven: false }]);
        let effects = watch.expired(&expiry(Phase::Waiting, false, Some(BlockedBy::Script)), due);
        assert_eq!(effects[0], Effect::Stuck { reason: BlockedBy::Script, proven: true });
        assert_eq!(watch.answered(due), [Effect::Freed(care().stuck_after)]);
    }

    proptest! {
        #[test]
        fn nothing_is_terminated_but_a_script_of_ours_that_went_on_alone(
            steps in prop::collection::vec((0u8..7, 0usize..2, 0usize..2, 0usize..2, 0u64..800), 0..60),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            let mut now = runtime.block_on(async { Instant::now() });
            let mut watch = StuckWatch::new(care());
            let (mut began_pending, mut suspected) = (false, false);
            for (step, running, pending, went_on, gap) in steps {
                now += Duration::from_millis(gap);
                let free = watch.health() == Health::Free;
                let effects = match step {
                    0 | 1 => {
                        let phase = if step == 0 { Phase::Pending } else { Phase::Waiting };
                        if free || suspected { began_pending = step == 0; }
                        suspected = false;
                        watch.expired(&expiry(phase, false, Some(BlockedBy::Script)), now)
                    }
                    2 => { suspected = false; watch.answered(now) }
                    3 => watch.probed(if running == 0 { Probe::Served } else { Probe::Silent }),
                    6 => { suspected |= free; watch.suspected(now) }
                    _ => watch.look(now, running, running + pending, went_on),
                };
                if effects.contains(&Effect::Terminate) {
                    prop_assert!((4..6).contains(&step) && began_pending && running + pending == 0 && went_on > 0);
                }
            }
        }
    }
}
