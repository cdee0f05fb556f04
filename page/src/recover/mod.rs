//! What brings a stuck page back, rung by rung. Each does its part on a session that was attached
//! before the page got stuck; which comes when is decided above.
//!
//! | file | holds |
//! |---|---|
//! | `probe` | whether a page is usable, and whether scripts can be ended on it |
//! | `scripts` | ending what runs, and timers that run it again |
//! | `crash` | ending the renderer through Chromium |
//! | `process` | which process renders a page |

mod crash;
mod probe;
mod process;
mod scripts;

pub use crash::{Crash, crash};
pub use probe::{answers, serves_interrupts, stays_usable, survives_its_loading};
pub use process::process_of;
pub use scripts::{end_timers, terminate};
