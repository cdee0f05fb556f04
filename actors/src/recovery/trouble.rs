//! Telling Browser of a tab that is in need. Event-driven: an idle tab costs nothing.

use std::sync::Arc;

use ractor::ActorRef;

use super::Cause;
use crate::browser::BrowserMsg;
use crate::shared::TabShared;

/// What is wrong with a tab now.
pub(crate) fn trouble(tab: &TabShared) -> Option<Cause> {
    let (crashed, discarded) = {
        let now = tab.condition.borrow();
        (now.crashed, now.discarded)
    };
    // Nobody asks for the hundreds of tabs that a browser may have given up.
    if crashed && !discarded {
        return Some(Cause::Crashed);
    }
    tab.stuck.borrow().is_some().then_some(Cause::Stuck)
}

/// Asks Browser to look after the tab whenever something is wrong with it; what is done then is a matter
/// of policy. Ends with the tab.
pub(crate) async fn watch(tab: Arc<TabShared>, browser: ActorRef<BrowserMsg>) {
    let (mut stuck, mut condition) = (tab.stuck.subscribe(), tab.condition.subscribe());
    let mut gone = tab.gone.subscribe();
    loop {
        if trouble(&tab).is_some() && browser.cast(BrowserMsg::LookAfter(tab.id)).is_err() {
            return;
        }
        tokio::select! {
            _ = gone.wait_for(Option::is_some) => return,
            changed = stuck.changed() => if changed.is_err() { return },
            changed = condition.changed() => if changed.is_err() { return },
        }
    }
}
