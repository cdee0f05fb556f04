//! The order of actions on one tab. Pure.
//!
//! First in, first out; at most one at work. Who expires or is cancelled while waiting is answered
//! then, not when the head is done.

use std::collections::VecDeque;

/// Actions that wait, and whether one is at work.
#[derive(Debug)]
pub(crate) struct ActionQueue<A> {
    waiting: VecDeque<(u64, A)>,
    last_ticket: u64,
    at_work: bool,
}

impl<A> Default for ActionQueue<A> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), last_ticket: 0, at_work: false }
    }
}

impl<A> ActionQueue<A> {
    /// Adds one at the end; its ticket names it while it waits. How many may wait is bounded by
    /// the permits that their messages carry.
    pub(crate) fn push(&mut self, action: A) -> u64 {
        self.last_ticket += 1;
        self.waiting.push_back((self.last_ticket, action));
        self.last_ticket
    }

    /// One that still waits.
    pub(crate) fn waiting_mut(&mut self, ticket: u64) -> Option<&mut A> {
        self.waiting.iter_mut().find(|(mine, _)| *mine == ticket).map(|(_, action)| action)
    }

    /// The next to work on, if none is at work.
    pub(crate) fn start_next(&mut self) -> Option<A> {
        if self.at_work {
            return None;
        }
        let (_, action) = self.waiting.pop_front()?;
        self.at_work = true;
        Some(action)
    }

    /// The one at work is done.
    pub(crate) fn done(&mut self) {
        self.at_work = false;
    }

    /// Takes out all that wait.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = A> + '_ {
        self.waiting.drain(..).map(|(_, action)| action)
    }

    /// Takes out one that still waits; `None` if it has started.
    pub(crate) fn remove(&mut self, ticket: u64) -> Option<A> {
        let place = self.waiting.iter().position(|(mine, _)| *mine == ticket)?;
        self.waiting.remove(place).map(|(_, action)| action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn actions_start_in_order_one_at_a_time_and_none_is_lost(steps in prop::collection::vec(0u8..4, 0..80)) {
            let mut queue = ActionQueue::default();
            let (mut pushed, mut removed, mut started) = (0u64, Vec::new(), Vec::new());
            let mut at_work = false;
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    0 => { pushed += 1; prop_assert_eq!(queue.push(pushed), pushed); }
                    1 => if let Some(action) = queue.start_next() {
                        prop_assert!(!at_work);
                        at_work = true;
                        started.push(action);
                    },
                    2 => { queue.done(); at_work = false; }
                    _ => if let Some(action) = queue.remove(n as u64 % (pushed + 1)) { removed.push(action); },
                }
            }
            prop_assert!(started.is_sorted());
            let mut rest = Vec::new();
            queue.done();
            while let Some(action) = queue.start_next() { rest.push(action); queue.done(); }
            let mut all: Vec<u64> = started.into_iter().chain(removed).chain(rest).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (1..=pushed).collect::<Vec<_>>());
        }
    }
}
