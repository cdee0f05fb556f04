//! A tab that was opened for a caller, on its way to that caller.

use ractor::ActorRef;

use super::BrowserMsg;
use crate::ids::TabId;

/// Closes its tab when it is dropped unkept: the caller went away, or what it wanted with the tab
/// failed. So there is a tab and somebody who knows of it, or none.
pub(crate) struct Opened {
    tab: TabId,
    browser: Option<ActorRef<BrowserMsg>>,
}

impl Opened {
    pub(super) fn new(tab: TabId, browser: ActorRef<BrowserMsg>) -> Self {
        Self { tab, browser: Some(browser) }
    }

    pub(crate) fn tab(&self) -> TabId {
        self.tab
    }

    /// The caller has it now.
    pub(crate) fn keep(mut self) {
        self.browser = None;
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(browser) = self.browser.take() {
            let _ = browser.cast(BrowserMsg::Discard(self.tab));
        }
    }
}
