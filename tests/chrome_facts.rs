//! The facts about Chromium that decide the design, and our remedies for them. Each was measured;
//! when a newer Chromium contradicts one, the newer Chromium is right and the design is looked at
//! again. Facts are told by bare sessions on a Chromium that nobody supervises, remedies by the
//! public API.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

mod crashes;
mod dialogs;
mod downloads;
mod hostile;
mod navigation;
mod popups;
mod renderers;
mod replies;
mod revival;
mod scripts;
mod waiting;

use support::secs;
use tabvisor::events::{Event, Item, Subscription};
use tabvisor::{Error, EvaluateError, Expiry, TabError};
use tabvisor_cdp::budget::Budget;

/// The next event that `pick` takes.
async fn heard<T>(events: &mut Subscription, pick: impl Fn(&Event) -> Option<T>) -> T {
    let wait = async {
        loop {
            match events.next().await.expect("the supervisor runs") {
                Item::Event(numbered) => {
                    if let Some(found) = pick(&numbered.event) {
                        return found;
                    }
                }
                Item::Lagged { missed } => panic!("{missed} events were missed"),
            }
        }
    };
    Budget::new(secs(20)).run(wait).await.expect("the event in time")
}

/// What an expired evaluate says; `None` where a starved machine let the net behind its budget end
/// it first.
fn expired<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Option<Expiry> {
    match outcome {
        Err(Error::Tab(TabError::Evaluate(EvaluateError::TimedOut(expiry)))) => Some(expiry),
        Err(error) if error.kind() == "budget_exceeded" => None,
        other => panic!("not an expiry: {other:?}"),
    }
}
