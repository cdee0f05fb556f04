//! A tab that was opened for a caller, on its way to that caller.

use std::sync::Arc;

use ractor::ActorRef;

use super::BrowserMsg;
use crate::ids::TabId;
use crate::registry::Registry;

/// Closes its tab when it is dropped unkept: the caller went away, or what it wanted with the tab
/// failed. So there is a tab and somebody who knows of it, or none.
pub(crate) struct Opened {
    tab: TabId,
    browser: Option<(ActorRef<BrowserMsg>, Arc<Registry>)>,
}

impl Opened {
    pub(super) fn new(tab: TabId, browser: ActorRef<BrowserMsg>, registry: Arc<Registry>) -> Self {
        Self { tab, browser: Some((browser, registry)) }
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
        if let Some((browser, registry)) = self.browser.take() {
            // Its browser may be lost by now, and would bring it back.
            registry.close_before_return(self.tab);
            let _ = browser.cast(BrowserMsg::Discard(self.tab));
        }
    }
}
