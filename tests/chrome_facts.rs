//! The facts about Chromium that decide the design, and our remedies for them. Each was measured;
//! when a newer Chromium contradicts one, the newer Chromium is right and the design is looked at
//! again. Facts are told by bare sessions on a Chromium that nobody supervises, remedies by the
//! public API.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

mod support;

#[path = "chrome_facts/crashes.rs"]
mod crashes;
#[path = "chrome_facts/dialogs.rs"]
mod dialogs;
#[path = "chrome_facts/hostile.rs"]
mod hostile;
#[path = "chrome_facts/navigation.rs"]
mod navigation;
#[path = "chrome_facts/renderers.rs"]
mod renderers;
#[path = "chrome_facts/replies.rs"]
mod replies;
#[path = "chrome_facts/scripts.rs"]
mod scripts;
#[path = "chrome_facts/waiting.rs"]
mod waiting;
