//! Why a call ended, when the tab or browser under it went away.
//!
//! A socket that closes says only that it closed. What it means (tab closed, browser lost) is
//! published a moment later by the actor that owns the fact, so it is waited for, briefly.

use std::sync::PoisonError;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_page::act::ActError;
use tabvisor_page::evaluate::EvaluateError;
use tabvisor_page::navigate::NavigateError;
use tabvisor_page::screenshot::ShotError;
use tabvisor_page::snapshot::SnapshotError;

use tokio::sync::watch;

use super::ask::Unanswered;
use crate::error::TabError;
use crate::shared::TabShared;

/// How long the reason may take to be published.
const MOMENT: Duration = Duration::from_millis(50);
/// How far beyond the budget.
const GRACE: Duration = Duration::from_millis(15);

/// Puts the reason in the place of its symptom.
pub(super) async fn explain<T>(
    tab: &TabShared,
    outcome: Result<T, TabError>,
    budget: &Budget,
) -> Result<T, TabError> {
    match outcome {
        // The recovery ended the renderer.
        Err(error) if error.kind() == "crashed" && *tab.recovering.borrow() => {
            Err(TabError::TabRestarting { tab: tab.id, sent: true })
        }
        Err(error) if error.kind() == "crashed" && tab.condition.borrow().discarded => {
            Err(TabError::Discarded { tab: tab.id })
        }
        Err(error) if is_symptom(&error) => {
            gone(tab, budget).await?;
            Err(error)
        }
        other => other,
    }
}

/// `Err` with the reason if the tab is gone, or turns out to be within a moment, and not much
/// beyond the budget.
async fn gone(tab: &TabShared, budget: &Budget) -> Result<(), TabError> {
    let mut gone = tab.gone.subscribe();
    let moment = Budget::new(MOMENT.min(budget.left() + GRACE));
    let reason = moment.run(gone.wait_for(Option::is_some)).await;
    match reason {
        Ok(Ok(why)) => Err(why.as_ref().map_or(TabError::TabClosed { tab: tab.id }, |why| why.error(tab.id))),
        Ok(Err(_)) => Err(TabError::TabClosed { tab: tab.id }),
        Err(_) => Ok(()),
    }
}

/// The answer for a call that its actor did not answer.
pub(super) async fn unanswered(tab: &TabShared, how: Unanswered, budget: &Budget) -> TabError {
    if let Err(reason) = gone(tab, budget).await {
        return reason;
    }
    if let (Unanswered::Late, Err(spent)) = (how, budget.check()) {
        return TabError::Budget { spent, doing: "waiting for the tab's actors", sent: true };
    }
    restarting(tab)
}

/// The answer for a call that the restart of an actor swallowed.
pub(super) fn restarting(tab: &TabShared) -> TabError {
    let cause = tab.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
    TabError::Internal(format!(
        "an actor of the tab ended with the call in its hands and is restarted ({cause})"
    ))
}

/// Completes when the tab's actors were put into the registry anew, or the tab is gone.
pub(super) async fn changed_or_gone(tab: &TabShared, wiring: &mut watch::Receiver<u64>) {
    let mut gone = tab.gone.subscribe();
    tokio::select! {
        _ = wiring.changed() => {}
        _ = gone.wait_for(Option::is_some) => {}
    }
}

fn is_symptom(error: &TabError) -> bool {
    let link = match error {
        TabError::Cdp(error)
        | TabError::Evaluate(EvaluateError::Link(error))
        | TabError::Navigate(NavigateError::Link(error))
        | TabError::Snapshot(SnapshotError::Link(error))
        | TabError::Screenshot(ShotError::Link(error))
        | TabError::Act(ActError::Link { error, .. }) => error,
        // A target that is closed says "navigated or closed" to calls in flight.
        TabError::Evaluate(EvaluateError::Navigated) => return true,
        _ => return false,
    };
    matches!(link, CdpError::LinkClosed(_) | CdpError::Detached { .. } | CdpError::Connect { .. })
}
