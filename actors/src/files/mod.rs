//! Files that go into pages and come out of them.
//!
//! | file | holds |
//! |---|---|
//! | `folders` | where they may be |
//! | `downloads` | what is known of downloads; pure |
//! | `arriving` | where they arrive, and where they are put then |
//! | `error` | what goes wrong with them |

mod arriving;
mod downloads;
mod error;
mod folders;

pub(crate) use arriving::{Arriving, rename, save};
pub use downloads::{Download, DownloadState};
pub(crate) use downloads::{Downloads, Progress};
pub use error::FileError;
pub use folders::Folders;
pub(crate) use folders::Sees;
