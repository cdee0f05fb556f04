//! What the fake Chrome does, seen by a raw WebSocket client.
//!
//! The client proves that something does *not* come by a fence: the fake decides everything in
//! one order, so what is not there before a later answer never was.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests, too")]

#[path = "fake/acts.rs"]
mod acts;
#[path = "fake/crashes.rs"]
mod crashes;
#[path = "fake/dialogs.rs"]
mod dialogs;
#[path = "fake/navigation.rs"]
mod navigation;
#[path = "fake/raw.rs"]
mod raw;
#[path = "fake/renderer.rs"]
mod renderer;
#[path = "fake/sockets.rs"]
mod sockets;
#[path = "fake/targets.rs"]
mod targets;
