//! Sending an action and learning what became of it, whatever happens meanwhile.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Reply;

use super::error::ActError;
use super::heard::{Heard, Listen};
use super::navigation::Navigations;
use super::node::Node;
use super::outcome::{Observed, StateAfter};

/// What was heard was heard before the dialog opened or the document went, only on another way.
const GRACE: Duration = Duration::from_millis(50);

/// What became of an action that was sent.
pub(super) struct Seen {
    pub(super) heard: Heard,
    pub(super) observed: Observed,
}

/// Sends with `send`, which tells whether anything was sent, and hears of it through `listen`,
/// which has begun. A dialog that opens once something was sent is part of what is seen.
///
/// # Errors
/// Those of `send`, and all that leave it unknown what became of the action.
pub(super) async fn send_and_hear(
    node: &Node,
    (listen, mut report): (Listen, Reply),
    mut navigations: Navigations,
    send: impl Future<Output = (bool, Result<(), ActError>)>,
    budget: &Budget,
) -> Result<Seen, ActError> {
    let mut heard: Option<Result<Heard, ActError>> = None;
    let (was_sent, done) = {
        let mut send = pin!(send);
        loop {
            tokio::select! {
                biased;
                done = &mut send => break done,
                said = &mut report, if heard.is_none() => heard = Some(node.read(said)),
            }
        }
    };
    let read = match done {
        Ok(()) => listen.read_back(node, budget).await,
        Err(error) if !was_sent => return Err(error),
        Err(error) => Err(error),
    };
    let ended = match read.map_err(ActError::after_sending) {
        Ok(read) => {
            let mut observed = Observed { state: Some(read.state), ..Observed::default() };
            settle(node, &mut navigations, &mut observed, budget).await?;
            return Ok(Seen { heard: read.heard, observed });
        }
        Err(error) => error,
    };
    let heard = match heard {
        Some(heard) => heard.unwrap_or_default(),
        None => match budget.child(GRACE).run(report).await {
            Ok(said) => node.read(said).unwrap_or_default(),
            Err(_) => Heard::default(),
        },
    };
    let mut observed = Observed::default();
    match ended {
        ActError::Dialog(dialog) => {
            observed.navigation = navigations.so_far();
            observed.dialog = Some(dialog);
        }
        // Its document is gone, and our questions with it.
        ActError::Navigated { .. } | ActError::Stale(_) => {
            observed.state = Some(StateAfter::default());
            settle(node, &mut navigations, &mut observed, budget).await?;
        }
        ActError::Link { error: CdpError::Detached { .. }, .. } if heard.arrived() => {
            observed.warnings.push("the tab or the frame of the element closed");
        }
        error => return Err(error),
    }
    Ok(Seen { heard, observed })
}

/// What the main frame did; the page may ask whether it may be left.
pub(super) async fn settle(
    node: &Node,
    navigations: &mut Navigations,
    observed: &mut Observed,
    budget: &Budget,
) -> Result<(), ActError> {
    let settled = async {
        navigations.settle(budget).await;
        Ok(())
    };
    let settled = node.page.during(budget, settled).await;
    observed.navigation = navigations.so_far();
    match settled {
        Err(ActError::Dialog(dialog)) => observed.dialog = Some(dialog),
        Err(error @ ActError::Crashed { .. }) => return Err(error.after_sending()),
        // What was seen is an answer, also at the very end of the budget.
        Ok(()) | Err(_) => {}
    }
    Ok(())
}
