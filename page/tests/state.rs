//! What a tab shows, on a real Chromium: every row and every sequence that was measured.

#![expect(clippy::unwrap_used, reason = "a test may")]

#[path = "state/failing.rs"]
mod failing;
#[path = "state/keeping.rs"]
mod keeping;
#[path = "state/loading.rs"]
mod loading;
#[path = "state/observing.rs"]
mod observing;
#[path = "state/server.rs"]
mod server;
#[path = "state/stuck.rs"]
mod stuck;
#[path = "state/support.rs"]
mod support;
