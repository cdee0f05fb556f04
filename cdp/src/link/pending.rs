//! The calls that wait for an answer. Pure: every call leaves this table exactly once.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::error::CdpError;

/// What a call gives.
pub(super) type Outcome = Result<Box<RawValue>, CdpError>;

struct Call {
    session: Option<Arc<str>>,
    method: &'static str,
    answer: oneshot::Sender<Outcome>,
}

/// Calls by their id.
#[derive(Default)]
pub(super) struct Pending {
    calls: HashMap<u64, Call>,
}

impl Pending {
    /// Adds a call; its outcome arrives on the receiver.
    pub(super) fn add(
        &mut self,
        id: u64,
        session: Option<Arc<str>>,
        method: &'static str,
    ) -> oneshot::Receiver<Outcome> {
        let (answer, outcome) = oneshot::channel();
        self.calls.insert(id, Call { session, method, answer });
        outcome
    }

    /// Settles one call; `false` when nobody waits for it (any more).
    pub(super) fn settle(&mut self, id: u64, outcome: impl FnOnce(&'static str) -> Outcome) -> bool {
        let Some(call) = self.calls.remove(&id) else { return false };
        // A caller that went away between the two locks is no error.
        let _ = call.answer.send(outcome(call.method));
        true
    }

    /// Forgets a call whose caller went away.
    pub(super) fn forget(&mut self, id: u64) {
        self.calls.remove(&id);
    }

    /// Settles every call of one session: Chromium will not answer them.
    pub(super) fn settle_session(&mut self, session: Option<&str>, why: &CdpError) -> usize {
        let ids: Vec<u64> = self
            .calls
            .iter()
            .filter(|(_, call)| call.session.as_deref() == session)
            .map(|(id, _)| *id)
            .collect();
        for id in &ids {
            self.settle(*id, |_| Err(why.clone()));
        }
        ids.len()
    }

    /// Settles everything: the link is gone.
    pub(super) fn settle_all(&mut self, why: &CdpError) {
        for (_, call) in self.calls.drain() {
            let _ = call.answer.send(Err(why.clone()));
        }
        self.calls.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Add(u8),
        Answer(u8),
        Drop(u8),
        Crash(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0u8..3).prop_map(Step::Add),
            (0u8..40).prop_map(Step::Answer),
            (0u8..40).prop_map(Step::Drop),
            (0u8..3).prop_map(Step::Crash),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        #[test]
        fn every_call_is_settled_once_and_none_is_left(steps in steps()) {
            let mut pending = Pending::default();
            let mut waiting: HashMap<u64, oneshot::Receiver<Outcome>> = HashMap::new();
            let mut next = 0u64;
            for step in steps {
                match step {
                    Step::Add(session) => {
                        next += 1;
                        let session = Arc::from(session.to_string().as_str());
                        waiting.insert(next, pending.add(next, Some(session), "A.b"));
                    }
                    Step::Answer(id) => {
                        let known = waiting.contains_key(&u64::from(id));
                        let first = pending.settle(id.into(), |_| Ok(RawValue::NULL.to_owned()));
                        prop_assert!(known || !first);
                        prop_assert!(!pending.settle(id.into(), |_| Err(CdpError::Crashed)));
                    }
                    Step::Drop(id) => {
                        waiting.remove(&u64::from(id));
                        pending.forget(id.into());
                    }
                    Step::Crash(session) => {
                        pending.settle_session(Some(&session.to_string()), &CdpError::Crashed);
                    }
                }
            }
            pending.settle_all(&CdpError::Crashed);
            prop_assert_eq!(pending.len(), 0);
            for (_, mut outcome) in waiting { prop_assert!(outcome.try_recv().is_ok()); }
        }
    }
}
