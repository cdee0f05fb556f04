//! What is new since the last snapshot of the same document with the same options.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::refs::DocumentId;

/// What the elements of a snapshot are told apart by.
pub type Identities = HashSet<u64>;

/// The identity of an element by what can be seen of it.
pub(super) fn identity(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The last snapshots of a tab, to compare with.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    slots: VecDeque<((DocumentId, String), Identities)>,
}

impl Seen {
    /// How many are kept.
    pub const MOST: usize = 32;

    /// The last snapshot of this document with these options.
    pub fn before(&self, document: &DocumentId, options: &str) -> Option<&Identities> {
        self.slots.iter().find(|((its, with), _)| its == document && with == options).map(|(_, seen)| seen)
    }

    /// Keeps a snapshot; over the limit the one that was not taken for longest goes.
    pub fn keep(&mut self, document: &DocumentId, options: &str, identities: Identities) {
        self.slots.retain(|((its, with), _)| its != document || with != options);
        self.slots.push_back(((DocumentId::clone(document), options.to_owned()), identities));
        if self.slots.len() > Self::MOST {
            self.slots.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_by_document_and_options_and_the_oldest_goes() {
        let mut seen = Seen::default();
        let document: DocumentId = "d".into();
        seen.keep(&document, "first", Identities::from([1]));
        seen.keep(&document, "first", Identities::from([2]));
        assert_eq!(seen.before(&document, "first"), Some(&Identities::from([2])));
        assert_eq!(seen.before(&"other".into(), "first"), None);
        for n in 0..Seen::MOST {
            seen.keep(&document, &n.to_string(), Identities::new());
        }
        assert_eq!(seen.before(&document, "first"), None);
        assert_eq!(seen.slots.len(), Seen::MOST);
    }
}
