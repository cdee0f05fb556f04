//! The rung `browser`: a tab comes back in the next browser.

use std::sync::Arc;

use tabvisor_cdp::budget::Budget;
use tokio::sync::oneshot;
use url::Url;

use super::climb::Ground;
use super::{GaveUp, Lost, Recovered, Rung};
use crate::error::TabError;
use crate::shared::TabShared;

/// Opens the address in a new target of this browser. An address that cannot be loaded is no reason to
/// try again: its tab shows Chromium's error page.
pub(crate) async fn reopen(
    mut ground: Ground,
    url: Url,
    profile_lasts: bool,
    budget: Budget,
) -> Result<Recovered, TabError> {
    let mut step = ground.target(&url, &budget).await;
    if !step.freed {
        let why = if budget.check().is_err() { GaveUp::OutOfTime } else { GaveUp::NothingHelped };
        return Err(TabError::NotRecovered { tab: ground.tab.id, why, tried: vec![Rung::Browser] });
    }
    if !profile_lasts {
        step.lost.push(Lost::Profile);
    }
    Ok(ground.came_back(step.lost, &budget))
}

/// The target is still there, as where only the link to the browser was cut: nothing is done to its page,
/// it is watched again.
pub(crate) async fn watch_again(
    mut ground: Ground,
    successor: oneshot::Receiver<Arc<TabShared>>,
    budget: Budget,
) -> Result<Recovered, TabError> {
    let (tab, tried) = (ground.tab.id, vec![Rung::Browser]);
    match budget.run(successor).await {
        Ok(Ok(successor)) => ground.tab = successor,
        Ok(Err(_)) => return Err(TabError::NotRecovered { tab, why: GaveUp::NothingHelped, tried }),
        Err(_) => return Err(TabError::NotRecovered { tab, why: GaveUp::OutOfTime, tried }),
    }
    Ok(ground.came_back(Vec::new(), &budget))
}

impl Ground {
    fn came_back(&self, lost: Vec<Lost>, budget: &Budget) -> Recovered {
        let page = self.tab.page.borrow();
        Recovered {
            tab_id: self.tab.id,
            cause: self.cause,
            rung: Rung::Browser,
            tried: vec![Rung::Browser],
            took_ms: u64::try_from(budget.elapsed().as_millis()).unwrap_or(u64::MAX),
            lost,
            url: page.state.url.clone(),
            generation: page.state.generation,
        }
    }
}
