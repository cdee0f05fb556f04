//! The supervision tree of tabvisor, one file per actor, and the typed handles.
//!
//! ```text
//! Root                          one_for_one, 3 in 60 s, then it fails
//! └ Browser                     one per Chromium
//!    └ TabSupervisor            one per tab; one_for_one, 5 in 30 s
//!        ├ 1 DialogWatcher      owns the control link
//!        ├ 2 Observer           owns the observing link
//!        ├ 3 Evaluates          admission, calls in flight, spare links
//!        │    └ Evaluate*       one per call, owns one link
//!        └ 4 Tab                owns the page session
//!             └ Action          at most one alive
//! ```
//!
//! Decisions are plain values ([`restart`], `queue`, `stuck`, [`recovery`], and those of `tabvisor-page`); the
//! actors execute their effects. Between actors there are only casts; calls come from the
//! [`Supervisor`] facade.

mod action;
mod browser;
mod dial;
mod dialog_watcher;
pub mod error;
mod evaluate;
mod evaluates;
pub mod events;
mod facade;
pub mod files;
mod gauges;
pub mod ids;
mod later;
mod leaf;
pub mod limits;
mod observer;
mod outcome;
mod page_watch;
mod queue;
pub mod recovery;
mod registry;
pub mod restart;
mod root;
mod row;
mod shared;
mod start;
mod stuck;
mod tab;
mod tab_supervisor;

#[cfg(test)]
mod tests;

pub use action::{
    Act, Acted, At, Held, Named, OpenedTab, Screenshot, ScreenshotRequest, ShotOf, Wait, Waited,
};
pub use facade::{
    ActorNode, Arrived, BrowserNode, Ended, Engine, EvaluateRequest, Evaluated, FallbackReason, Given, On,
    Restarts, Share, Step, StepDone, StepKind, StepResult, Stepped, Steps, StopReason, Stopped, Supervisor,
    TabNode, Upload, UploadTo,
};
pub use page_watch::PageWatch;
pub use root::BrowserSpec;
pub use row::{Queue, TabRow, TabState};
pub use shared::{BrowserFacts, DialogLog};
pub use start::Source;
