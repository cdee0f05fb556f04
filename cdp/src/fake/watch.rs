//! What came, and waiting for what comes; without looking at a clock.

use std::sync::Arc;

use super::model::{Counts, Model};
use super::{Call, FakeChrome};

impl FakeChrome {
    /// Every command, as it came, those on unknown sessions included.
    pub fn record(&self) -> Vec<Call> {
        self.shared.ask(|model| owned(&model.record))
    }

    /// The commands of one method, as they came.
    pub fn calls(&self, method: &str) -> Vec<Call> {
        let of_method = |call: &&Arc<Call>| call.method == method;
        self.shared.ask(|model| model.record.iter().filter(of_method).map(|call| Call::clone(call)).collect())
    }

    /// Every command that was served, in that order. One that waited for its renderer is here
    /// from the moment it ran, also if its session or socket was gone by then.
    pub fn ran(&self) -> Vec<Call> {
        self.shared.ask(|model| owned(&model.ran))
    }

    /// Waits for the first command for which this holds, those that came already included.
    pub async fn wait_for_call(&self, test: impl Fn(&Call) -> bool) -> Call {
        let mut seen = 0;
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let fresh: Vec<Arc<Call>> = self.shared.ask(|model| model.record[seen..].to_vec());
            seen += fresh.len();
            if let Some(call) = fresh.iter().find(|call| test(call)) {
                return Call::clone(call);
            }
            changed.await;
        }
    }

    /// Waits until this holds.
    pub async fn wait_until(&self, test: impl Fn(&Counts) -> bool) -> Counts {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let counts = self.counts();
            if test(&counts) {
                return counts;
            }
            changed.await;
        }
    }

    /// How much of everything there is now.
    pub fn counts(&self) -> Counts {
        self.shared.ask(Model::counts)
    }

    /// Open WebSockets.
    pub fn open_connections(&self) -> usize {
        self.counts().connections
    }

    /// Attached sessions, sockets at a page's own address included.
    pub fn open_sessions(&self) -> usize {
        self.counts().sessions
    }

    /// Commands that wait for a target's renderer, run in it, or have a pending promise.
    pub fn pending_in(&self, target: &str) -> usize {
        self.counts().pending_in(target)
    }

    /// The sessions on a target, oldest first.
    pub fn sessions_of(&self, target: &str) -> Vec<String> {
        self.shared.ask(|model| model.sessions_of(target))
    }

    /// Title and url of a page.
    pub fn about(&self, target: &str) -> (String, String) {
        self.shared.ask(|model| {
            let (title, url) = model.about(target);
            (title.to_owned(), url.to_owned())
        })
    }
}

fn owned(calls: &[Arc<Call>]) -> Vec<Call> {
    calls.iter().map(|call| Call::clone(call)).collect()
}
