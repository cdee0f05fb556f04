//! Refs: names for elements that never lie.
//!
//! A ref means *that element of that document*. Numbers are never reused within a tab, an element
//! that is still there keeps its ref from snapshot to snapshot, and a ref whose element or
//! document went away is answered with [`StaleRef`] and the reason.
//!
//! | file | holds |
//! |---|---|
//! | `documents` | which document every frame shows now |
//! | `spelling` | `e12`, `f1e12`, `ax12` |
//! | `table` | which ref names what: a plain value, one per tab |
//! | `stale` | a ref that names nothing any more |
//! | `matching` | finding an element again by role, name and nth |
//! | `proof` | asking the page whether an element is still in its document |

mod documents;
mod matching;
mod proof;
mod spelling;
mod stale;
mod table;

pub use documents::{DocumentId, Documents, FrameId};
pub use matching::{Duplicates, Match, Place, find};
pub use proof::is_attached;
pub use spelling::RefId;
pub use stale::{StaleReason, StaleRef};
pub use table::{Identity, Ref, RefTable, Series, Sighting};
