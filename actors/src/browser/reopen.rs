//! The tabs of a browser that was lost come back with the one that is started after it.

use std::sync::Arc;
use std::time::Duration;

use ractor::ActorRef;
use tabvisor_cdp::budget::Budget;

use super::recover::{Recovering, blank, shown};
use super::targets::{Seat, TargetInfo};
use super::{BrowserMsg, Job, State};
use crate::events::Event;
use crate::leaf;
use crate::recovery::{self, Cause, Ground, Return};
use crate::shared::TabShared;
use crate::start::Source;

/// How many tabs load at a time.
pub(super) const AT_A_TIME: usize = 4;
/// How long all of them may take together: the pages of a hundred tabs, each slow.
const ALL: Duration = Duration::from_mins(2);

/// Whether a tab comes back: what callers opened does, and in a browser of our own also what its pages
/// opened, but not the empty tab that each browser begins with.
pub(super) fn comes_back(tab: &TabShared, ours: bool, source: &Source) -> bool {
    let launched = matches!(source, Source::Launch(_));
    let blank = shown(tab).is_none_or(|url| url.scheme() == "about");
    tab.browser.care.reopen_tabs && (ours || launched && !blank)
}

impl State {
    /// The tabs whose target is still there go on with it: only the link to the browser was lost. Gives
    /// the others.
    pub(super) async fn go_on(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        there: &[TargetInfo],
    ) -> Vec<Arc<TabShared>> {
        let (stay, gone): (Vec<_>, Vec<_>) = self
            .registry
            .returning_with(self.shared.id)
            .into_iter()
            .partition(|tab| there.iter().any(|info| info.target_id == tab.target));
        for tab in stay {
            let Some(before) = self.registry.no_more_expected(tab.id) else { continue };
            let successor = tab.successor(tab.target.clone(), Arc::clone(&self.shared));
            successor.recovering.send_replace(false);
            let seat = Seat { family: tab.id, ours: before.ours, context: None, paused: None };
            match self.seat(myself, successor, seat).await {
                Ok(()) => self.tell_of_return(&tab),
                Err(error) => tracing::error!(tab = %tab.id, %error, "a tab did not go on"),
            }
        }
        gone
    }

    /// The other tabs get new targets, and their addresses are loaded again.
    pub(super) async fn reopen(&mut self, myself: &ActorRef<BrowserMsg>, tabs: Vec<Arc<TabShared>>) {
        for tab in tabs {
            let (id, cause) = (tab.id, Cause::BrowserLost);
            let back = Return {
                browser: Arc::clone(&self.shared),
                turns: Arc::clone(&self.turns),
                url: shown(&tab).unwrap_or_else(blank),
                storage_lost: self.source.forgets(),
            };
            tab.recovering.send_replace(true);
            let registry = Arc::clone(&self.registry);
            let ground = Ground { tab, registry, browser: myself.clone(), process: None, cause };
            let work = Box::pin(recovery::reopen(ground, back, Budget::new(ALL)));
            match leaf::spawn(myself.get_cell(), work).await {
                Ok(job) => {
                    self.shared.events.publish(Event::RecoveryStarted { tab: id, cause });
                    self.jobs.insert(job.get_id(), Job::Recover(Recovering { tab: id, cause, reply: None }));
                }
                Err(error) => tracing::error!(tab = %id, %error, "a tab does not come back"),
            }
        }
    }

    fn tell_of_return(&self, tab: &TabShared) {
        let (browser, epoch) = (self.shared.id, self.shared.epoch);
        self.shared.events.publish(Event::TabOpened { tab: tab.id, browser, epoch, opener: tab.opener });
    }
}
