//! What the end-to-end tests share: a supervisor on a real Chromium of its own, pages, a proxy
//! that can cut, and ways to look at processes.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses a part of it"
)]

pub mod chaos;
pub mod distance;
pub mod http;
pub mod pages;
pub mod processes;
pub mod proxy;
pub mod raw;
#[cfg(feature = "http")]
pub mod served;
#[cfg(feature = "cli")]
pub mod service;
pub mod stage;
pub mod stalls;
pub mod weather;

use std::future::Future;
use std::time::Duration;

use tabvisor::config::Config;
use tabvisor::{Error, TabError, Tabvisor, Value};
use tempfile::TempDir;

pub use pages::Pages;

/// A supervisor with a Chromium of its own; everything it leaves is in `state`.
pub struct Running {
    pub tabvisor: Tabvisor,
    pub state: TempDir,
}

pub fn config(state: &TempDir) -> Config {
    let mut config = Config { state_dir: state.path().to_path_buf(), ..Config::default() };
    // Chromium has no sandbox for root.
    config.browser.no_sandbox = rustix::process::geteuid().is_root();
    config
}

pub async fn start() -> Running {
    start_with(|_| {}).await
}

pub async fn start_with(change: impl FnOnce(&mut Config)) -> Running {
    let state = TempDir::new().unwrap();
    let mut config = config(&state);
    change(&mut config);
    let tabvisor = Tabvisor::start(config).await.expect("a chromium is installed and starts");
    Running { tabvisor, state }
}

impl Running {
    /// Stops it and checks that nothing is left.
    pub async fn stop(self) {
        self.tabvisor.stop().await;
        processes::assert_none_of(self.state.path());
    }
}

pub const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// The value as an integer.
pub fn int(value: &Result<Value, Error>) -> i64 {
    value.as_ref().expect("a value").read().expect("an integer")
}

pub fn kind<T>(outcome: &Result<T, Error>) -> &'static str {
    match outcome {
        Ok(_) => "ok",
        Err(error) => error.kind(),
    }
}

/// What an expired evaluate says.
pub fn expiry<T: std::fmt::Debug>(outcome: Result<T, Error>) -> tabvisor::Expiry {
    match outcome {
        Err(Error::Tab(TabError::Evaluate(tabvisor::EvaluateError::TimedOut(expiry)))) => expiry,
        other => panic!("not an expiry: {other:?}"),
    }
}

/// Waits until `condition` gives something. For state that no event tells of; bounded.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut condition: impl FnMut() -> F) -> T {
    let patience = std::env::var("TABVISOR_TEST_PATIENCE_S").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    let deadline = tokio::time::Instant::now() + secs(patience);
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(tokio::time::Instant::now() < deadline, "not within {patience} s: {what}");
        tokio::time::sleep(ms(10)).await;
    }
}
