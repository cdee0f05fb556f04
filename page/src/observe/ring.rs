//! The last rows of a kind, numbered, and how many are missing. Pure.

use std::collections::VecDeque;

use serde::Serialize;

/// At most so many rows; older ones make room and are counted.
#[derive(Debug)]
pub(super) struct Ring<T> {
    rows: VecDeque<(u64, T)>,
    capacity: usize,
    last: u64,
    dropped: u64,
    lost: u64,
}

/// Rows, and what is not among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heard<T> {
    /// Oldest first.
    #[serde(skip)]
    pub rows: Vec<T>,
    /// Ask with it as `since` for what comes after these.
    pub next: u64,
    /// Rows of those asked for that had to make room for newer ones.
    pub dropped: u64,
    /// Events that never became a row since the tab was opened: the page made more than could be
    /// taken.
    pub lost: u64,
    /// How often nothing was heard for a while: the link broke. What was said then is not known.
    pub gaps: u64,
}

impl<T> Ring<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { rows: VecDeque::new(), capacity, last: 0, dropped: 0, lost: 0 }
    }

    /// Adds a row made for its number.
    pub(super) fn push(&mut self, row: impl FnOnce(u64) -> T) -> u64 {
        self.last += 1;
        if self.rows.len() == self.capacity {
            self.rows.pop_front();
            self.dropped += 1;
        }
        self.rows.push_back((self.last, row(self.last)));
        self.last
    }

    /// The row with this number, if it is still there.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let first = self.rows.front()?.0;
        let at = usize::try_from(number.checked_sub(first)?).ok()?;
        self.rows.get_mut(at).map(|(_, row)| row)
    }

    pub(super) fn lost(&mut self, many: u64) {
        self.lost += many;
    }

    /// Forgets the rows, not the counts of what is missing.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.dropped = 0;
    }

    /// The rows after `since` that `wanted` takes.
    pub(super) fn after(&self, since: Option<u64>, gaps: u64, wanted: impl Fn(&T) -> bool) -> Heard<T>
    where
        T: Clone,
    {
        let after = since.unwrap_or(0);
        let rows = self.rows.iter().filter(|(number, row)| *number > after && wanted(row));
        let oldest = self.rows.front().map_or(self.last + 1, |(number, _)| *number);
        // What made room before `since` was seen by who asks.
        let dropped = self.dropped.min(oldest.saturating_sub(after + 1));
        Heard {
            rows: rows.map(|(_, row)| row.clone()).collect(),
            next: self.last,
            dropped,
            lost: self.lost,
            gaps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(ring: &Ring<u64>, since: Option<u64>) -> Heard<u64> {
        ring.after(since, 0, |_| true)
    }

    #[test]
    fn rows_that_made_room_are_counted_for_who_did_not_see_them() {
        let mut ring = Ring::new(3);
        for _ in 0..5 {
            ring.push(|number| number);
        }
        let heard = all(&ring, None);
        assert_eq!((heard.rows, heard.next, heard.dropped), (vec![3, 4, 5], 5, 2));
        assert_eq!((all(&ring, Some(1)).dropped, all(&ring, Some(2)).dropped), (1, 0));
        assert_eq!(all(&ring, Some(4)).rows, [5]);
        assert!(all(&ring, Some(5)).rows.is_empty());
        *ring.get_mut(4).unwrap() = 40;
        assert_eq!(ring.get_mut(2), None);
        assert_eq!(all(&ring, Some(3)).rows, [40, 5]);
    }

    #[test]
    fn what_is_cleared_is_not_missing_and_numbers_go_on() {
        let mut ring = Ring::new(2);
        for _ in 0..3 {
            ring.push(|number| number);
        }
        ring.lost(7);
        ring.clear();
        let heard = all(&ring, None);
        assert_eq!((heard.rows.len(), heard.next, heard.dropped, heard.lost), (0, 3, 0, 7));
        assert_eq!(ring.push(|number| number), 4);
        assert_eq!(all(&ring, Some(0)).dropped, 0);
    }

    proptest! {
        #[test]
        fn a_reader_that_goes_on_from_next_accounts_for_every_row(steps in prop::collection::vec(0u64..20, 1..20)) {
            let mut ring = Ring::new(8);
            let (mut since, mut seen, mut missing, mut pushed) = (0, 0, 0, 0);
            for many in steps {
                for _ in 0..many {
                    ring.push(|number| number);
                    pushed += 1;
                }
                let heard = all(&ring, Some(since));
                seen += heard.rows.len() as u64;
                missing += heard.dropped;
                since = heard.next;
            }
            prop_assert_eq!(seen + missing, pushed);
        }
    }
}
