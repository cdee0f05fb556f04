//! The scripts of ours in one renderer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::phase::Phase;

/// How many scripts of ours have started and not ended, and how many of them are running. Tabs
/// that share a renderer share these counts.
#[derive(Debug, Default)]
pub struct ScriptCounts {
    started: AtomicUsize,
    running: AtomicUsize,
}

impl ScriptCounts {
    /// Started, and neither answered nor expired: running, or with a promise outstanding.
    pub fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    /// In their synchronous part.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }
}

/// Counts one script, for as long as it lives.
pub(super) struct Counted {
    counts: Arc<ScriptCounts>,
    phase: Phase,
}

impl Counted {
    pub(super) fn new(counts: &Arc<ScriptCounts>) -> Self {
        Self { counts: Arc::clone(counts), phase: Phase::Waiting }
    }

    /// It is in this phase now.
    pub(super) fn now(&mut self, phase: Phase) {
        let was = std::mem::replace(&mut self.phase, phase);
        shift(&self.counts.started, has_started(was), has_started(phase));
        shift(&self.counts.running, was == Phase::Running, phase == Phase::Running);
    }

    /// Another script of ours runs there.
    pub(super) fn others_running(&self) -> bool {
        self.counts.running() > usize::from(self.phase == Phase::Running)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.now(Phase::Waiting);
    }
}

fn has_started(phase: Phase) -> bool {
    matches!(phase, Phase::Running | Phase::Pending)
}

fn shift(count: &AtomicUsize, was: bool, is: bool) {
    match (was, is) {
        (false, true) => drop(count.fetch_add(1, Ordering::Relaxed)),
        (true, false) => drop(count.fetch_sub(1, Ordering::Relaxed)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_return_to_zero(phases in prop::collection::vec(0u8..4, 0..20)) {
            let counts = Arc::new(ScriptCounts::default());
            let mut counted = Counted::new(&counts);
            for phase in phases {
                let phase = [Phase::Queued, Phase::Waiting, Phase::Running, Phase::Pending][usize::from(phase)];
                counted.now(phase);
                prop_assert_eq!(counts.running(), usize::from(phase == Phase::Running));
                prop_assert_eq!(counts.started(), usize::from(has_started(phase)));
                prop_assert!(!counted.others_running());
            }
            drop(counted);
            prop_assert_eq!((counts.started(), counts.running()), (0, 0));
        }
    }
}
