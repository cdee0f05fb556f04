//! A supervisor for browser tabs.
//!
//! Every tab has its own supervised actors, every evaluate its own throwaway link to Chromium, and
//! every call exactly one typed answer inside its budget. A script that never ends, a dialog
//! nobody answers or a renderer that dies costs its own caller and nobody else.
//!
//! ```no_run
//! use std::time::Duration;
//! use tabvisor::{Config, Tabvisor};
//!
//! # async fn example() -> Result<(), tabvisor::Error> {
//! let tabvisor = Tabvisor::start(Config::default()).await?;
//! let tab = tabvisor.open("https://example.org/").await?;
//! let other = tabvisor.open("https://example.com/").await?;
//!
//! let stuck = tab.evaluate("while (true) {}").within(Duration::from_millis(500)).await;
//! assert_eq!(stuck.unwrap_err().kind(), "timeout");
//!
//! let title: String = other.evaluate("document.title").await?.read()?;
//! let sum: i32 = tab.evaluate("1 + 1").await?.read()?; // the tab is usable again
//! tabvisor.stop().await;
//! # let _ = (title, sum); Ok(()) }
//! ```
//!
//! No global recorder, subscriber, panic hook or runtime is installed: metrics go through the
//! `metrics` facade, logs through `tracing`, and everything runs on the caller's tokio runtime.

pub mod config;
mod embed;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod metrics;

pub use config::Config;
pub use embed::{Evaluate, Open, Tab, Tabvisor, TakeSnapshot};
pub use tabvisor_actors::error::{Origin, Retry, StartError, TabError};
pub use tabvisor_actors::events;
pub use tabvisor_actors::files::{Download, DownloadState, FileError, Folders};
pub use tabvisor_actors::ids::{BrowserId, Epoch, TabId};
pub use tabvisor_actors::limits::{Care, Limits, Recovery};
pub use tabvisor_actors::recovery::{Cause, GaveUp, LastRecovery, Lost, Recovered, RestartRequest, Rung};
pub use tabvisor_actors::{
    Act, Acted, Arrived, At, BrowserFacts, BrowserSpec, DialogLog, Ended, Engine, EvaluateRequest, Evaluated,
    FallbackReason, Given, Held, Named, On, OpenedTab, PageWatch, Queue, Screenshot, ScreenshotRequest,
    ShotOf, Source, Step, StepDone, StepKind, StepResult, Stepped, Steps, StopReason, Stopped, Supervisor,
    TabRow, TabState, Upload, UploadTo, Wait, Waited,
};
pub use tabvisor_cdp::budget::Budget;
pub use tabvisor_cdp::launch::LaunchOptions;
pub use tabvisor_page::evaluate::{BlockedBy, EvaluateError, Expiry, Missing, Phase, Thrown, Value};
pub use tabvisor_page::navigate::{Landed, LoadFailure, Move, NavigateError, WaitUntil};
pub use tabvisor_page::wait::{Late, LoadState};
pub use tabvisor_page::{
    act, content, cookies, dialog, emulation, observe, pdf, permissions, screenshot, snapshot, state,
};

/// Why a call of this crate gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The call on the tab or browser.
    #[error(transparent)]
    Tab(#[from] TabError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] config::ConfigError),
    /// The value is not of the type that was asked for.
    #[error("the value is of another type: {0}")]
    Type(#[from] serde_json::Error),
}

impl Error {
    /// A stable word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tab(error) => error.kind(),
            Self::Config(_) => "invalid_configuration",
            Self::Type(_) => "type_mismatch",
        }
    }
}

impl From<StartError> for Error {
    fn from(error: StartError) -> Self {
        Self::Tab(error.into())
    }
}

impl From<tabvisor_cdp::budget::BadBudget> for Error {
    fn from(error: tabvisor_cdp::budget::BadBudget) -> Self {
        Self::Tab(error.into())
    }
}
