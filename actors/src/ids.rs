//! Names of tabs and browsers.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Our handle on a page target: `t1`, `t2`, ... Never used again within one supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(pub(crate) u64);

/// A browser of this supervisor: `b1`, `b2`, ... It keeps its name over restarts; the epoch tells
/// those apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BrowserId(pub(crate) u64);

/// How many times a browser was started; what belongs to an earlier epoch is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl fmt::Display for TabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl fmt::Display for BrowserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for TabId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for BrowserId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Not a tab id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tab id is t followed by a number, as in t1")]
pub struct NotATabId;

impl FromStr for TabId {
    type Err = NotATabId;

    fn from_str(text: &str) -> Result<Self, NotATabId> {
        let digits = text.strip_prefix('t').ok_or(NotATabId)?;
        if digits.starts_with(['+', '0']) {
            return Err(NotATabId);
        }
        digits.parse().map(Self).map_err(|_| NotATabId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_spelling_names_a_tab() {
        assert_eq!("t12".parse(), Ok(TabId(12)));
        for text in ["", "t", "12", "T1", "t-1", "t+1", "t01", "t1 ", "b1"] {
            assert_eq!(text.parse::<TabId>(), Err(NotATabId), "{text:?}");
        }
    }
}
