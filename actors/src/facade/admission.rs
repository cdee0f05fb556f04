//! What a call has to pass before anything is sent.

use std::sync::Arc;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::TabError;

/// When trying again after `Overloaded` is worth it.
const RETRY_AFTER_MS: u64 = 250;

/// A place among `max`, or `Overloaded` at once.
pub(super) fn permit(
    places: &Arc<Semaphore>,
    limit: &'static str,
    max: usize,
) -> Result<OwnedSemaphorePermit, TabError> {
    Arc::clone(places).try_acquire_owned().map_err(|_| {
        metrics::counter!("tabvisor_rejected_total", "reason" => "overloaded").increment(1);
        TabError::Overloaded { limit, max, retry_after_ms: RETRY_AFTER_MS }
    })
}

/// A budget has to be positive and under the configured maximum.
pub(super) fn check_budget(budget: &Budget, max: Duration) -> Result<(), TabError> {
    Ok(Budget::check_total("budget", budget.total(), max)?)
}
