//! Spare links: attached and answered before they are needed.

use std::sync::Arc;
use std::time::Duration;

use ractor::ActorRef;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::evaluate::EvaluateLink;

use super::{EvaluatesMsg, State};
use crate::evaluate;
use crate::leaf;

/// How long a spare link may take to be attached and answered.
const WARM_UP: Duration = Duration::from_secs(10);

impl State {
    pub(super) fn take_spare(&mut self) -> Option<EvaluateLink> {
        self.spares.retain(|link| !link.is_closed());
        self.spares.pop()
    }

    /// Keeps a clean link for the next call.
    pub(super) fn keep(&mut self, link: EvaluateLink) {
        self.clock = link.clock().or(self.clock);
        if !link.is_closed() && self.spares.len() < self.tab.browser.limits.spare_links {
            self.spares.push(link);
        }
    }

    /// Sees to it that one link is attached before it is needed: a session attached after a page
    /// got stuck can neither end its script nor tell what holds it.
    pub(super) async fn keep_a_spare(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        self.spares.retain(|link| !link.is_closed());
        let wanted =
            self.spares.is_empty() && self.warming.is_none() && self.tab.browser.limits.spare_links > 0;
        if !wanted || self.tab.stuck.borrow().is_some() {
            return;
        }
        let tab = Arc::clone(&self.tab);
        let warmer = leaf::spawn(myself.get_cell(), async move {
            let budget = Budget::new(WARM_UP);
            // Nobody attaches before the watcher listens.
            let mut control = tab.control.subscribe();
            budget.run(control.wait_for(Option::is_some)).await.ok()?.ok()?;
            let mut link = evaluate::dial_answered(&tab, &budget).await.ok()?;
            link.warm_up(&budget).await.ok()?;
            Some(link)
        });
        self.warming = warmer.await.ok().map(|cell| cell.get_id());
    }
}
