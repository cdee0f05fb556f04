//! The wire of tabvisor.
//!
//! Everything that touches a socket or a process of Chromium lives here, and nothing that
//! knows what a page is:
//!
//! | module | holds |
//! |---|---|
//! | [`budget`] | [`Budget`](budget::Budget): one absolute deadline and one cancellation per call |
//! | [`link`] | [`Link`](link::Link): one WebSocket; [`Session`](link::Session): one CDP session on it |
//! | [`discovery`] | from what a user gives (`ws`, `http`, a profile folder) to a WebSocket address |
//! | [`launch`] | starting Chromium, and leaving nothing of it behind |
//! | [`task`] | the only place that spawns tasks; they end with their handle |
//! | `fake` | a scripted Chrome for tests (feature `fake`) |

pub mod budget;
pub mod discovery;
pub mod error;
#[cfg(feature = "fake")]
pub mod fake;
pub mod launch;
pub mod link;
pub mod task;
