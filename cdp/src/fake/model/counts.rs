//! Numbers to wait for.

use std::collections::BTreeMap;

use super::state::{Job, Work};
use super::{Ask, Model};

/// How much of everything there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Open WebSockets.
    pub connections: usize,
    /// Attached sessions, sockets at a page's own address included.
    pub sessions: usize,
    /// Pages.
    pub targets: usize,
    /// Commands that came.
    pub calls: usize,
    /// Commands that were served.
    pub ran: usize,
    /// Acts waiting at a gate.
    pub held: usize,
    /// Per target: commands that wait for its renderer, run in it, or have a pending promise.
    pub pending: BTreeMap<String, usize>,
}

impl Counts {
    /// [`pending`](Self::pending) of one target.
    pub fn pending_in(&self, target: &str) -> usize {
        self.pending.get(target).copied().unwrap_or_default()
    }
}

impl Model {
    pub(in crate::fake) fn counts(&self) -> Counts {
        Counts {
            connections: self.links.len(),
            sessions: self.sessions.values().filter(|session| session.target.is_some()).count(),
            targets: self.targets.len(),
            calls: self.record.len(),
            ran: self.ran.len(),
            held: self.held.len(),
            pending: self.targets.keys().map(|id| (id.clone(), self.pending_in(id))).collect(),
        }
    }

    fn pending_in(&self, id: &str) -> usize {
        let target = &self.targets[id];
        let renderer = &self.renderers[&target.renderer];
        let queued = renderer.queue.iter().filter(|job| job.target == id && job.is_command()).count();
        let running =
            renderer.busy.as_ref().filter(|busy| busy.target == id).and_then(|busy| busy.ask.as_ref());
        let open = |asks: &[Ask]| asks.iter().filter(|ask| !ask.answered()).count();
        queued
            + usize::from(running.is_some_and(|ask| !ask.answered()))
            + open(&target.promised)
            + open(&target.lost)
    }
}

impl Job {
    fn is_command(&self) -> bool {
        matches!(self.work, Work::Command(_) | Work::Act(..))
    }
}
