//! `next` and `after`: where a snapshot was cut, as a word that a caller gives back.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::error::SnapshotError;
use super::fit::Cut;

/// A cut, with the document and the options that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) cut: Cut,
    pub(super) document: u64,
    pub(super) content: u64,
}

impl Next {
    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(text: &str) -> Result<Self, SnapshotError> {
        let mut parts = text.split('-');
        let mut part = |radix| parts.next().and_then(|it| u64::from_str_radix(it, radix).ok());
        let (Some(lines), Some(given), Some(document), Some(content)) =
            (part(10), part(16), part(16), part(16))
        else {
            return Err(SnapshotError::BadAfter);
        };
        let lines = usize::try_from(lines).map_err(|_| SnapshotError::BadAfter)?;
        match parts.next() {
            None => Ok(Self { cut: Cut { lines, given }, document, content }),
            Some(_) => Err(SnapshotError::BadAfter),
        }
    }

    pub(super) fn write(self) -> String {
        let Self { cut: Cut { lines, given }, document, content } = self;
        format!("{lines}-{given:x}-{document:x}-{content:x}")
    }
}

/// A hash that is the same in every run.
pub(super) fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_reads_back(lines: usize, given: u64, document: u64, content: u64) {
            let next = Next { cut: Cut { lines, given }, document, content };
            prop_assert_eq!(Next::read(&next.write()), Ok(next));
        }

        #[test]
        fn anything_else_is_refused(text in "[-0-9a-fx]{0,20}") {
            match Next::read(&text) {
                Ok(next) => prop_assert_eq!(Next::read(&next.write()), Ok(next)),
                Err(error) => prop_assert_eq!(error, SnapshotError::BadAfter),
            }
        }
    }
}
