//! The leaf that brings a tab back whose browser was lost: into the one that was started after it.

use std::sync::Arc;

use tabvisor_cdp::budget::Budget;
use tokio::sync::{Semaphore, oneshot};
use url::Url;

use super::climb::Ground;
use super::rungs::lost_with_target;
use super::{Cause, GaveUp, Lost, Recovered, Rung};
use crate::browser::BrowserMsg;
use crate::error::TabError;
use crate::shared::{BrowserShared, BrowserStatus};

/// What a new browser does with a tab of the old one.
pub(crate) struct Return {
    pub(crate) browser: Arc<BrowserShared>,
    /// Not all tabs of a browser load at the same time.
    pub(crate) turns: Arc<Semaphore>,
    pub(crate) url: Url,
    /// What it had stored is there no more.
    pub(crate) storage_lost: bool,
}

/// Gives the tab a target and its address again. `ground.tab` is what it was in the old browser.
pub(crate) async fn reopen(mut ground: Ground, back: Return, budget: Budget) -> Result<Recovered, TabError> {
    let id = ground.tab.id;
    let Return { browser, turns, url, storage_lost } = back;
    let gave_up = |why| TabError::NotRecovered { tab: id, why, tried: vec![Rung::Browser] };
    let mut status = browser.status.subscribe();
    let ready = budget.run(status.wait_for(|now| matches!(now, BrowserStatus::Ready(_)))).await.is_ok();
    let turn = budget.run(turns.acquire_owned()).await;
    let (true, Ok(Ok(_turn))) = (ready, turn) else { return Err(gave_up(GaveUp::OutOfTime)) };
    let (tell, told) = oneshot::channel();
    let _ = ground.browser.cast(BrowserMsg::Replace(id, tell));
    let Ok(Ok(successor)) = budget.run(told).await else { return Err(gave_up(GaveUp::NothingHelped)) };
    let mut lost = lost_with_target(&successor);
    lost.extend(storage_lost.then_some(Lost::Storage));
    ground.tab = successor;
    if !ground.load_there(&url, &budget).await {
        return Err(gave_up(GaveUp::NothingHelped));
    }
    let page = ground.tab.page.borrow();
    Ok(Recovered {
        tab_id: id,
        cause: Cause::BrowserLost,
        rung: Rung::Browser,
        tried: vec![Rung::Browser],
        took_ms: u64::try_from(budget.elapsed().as_millis()).unwrap_or(u64::MAX),
        lost,
        url: page.state.url.clone(),
        generation: page.state.generation,
    })
}
