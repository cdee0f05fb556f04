//! Tabs that pages open: how many may be open, and what is told of those that may not.

use std::sync::atomic::Ordering;

use super::State;
use crate::events::Event;
use crate::ids::TabId;

impl State {
    /// The limit that one more tab of this opener would break.
    pub(super) fn one_popup_too_many(&self, opener: Option<&str>) -> Option<&'static str> {
        if self.full(0).is_some() {
            return Some("limits.tabs");
        }
        let family = self.tabs.get(&self.opener(opener)?)?.family;
        // Those that a popup opened are of the same family, or each could open as many again.
        let open = self.tabs.iter().filter(|(id, tab)| tab.family == family && **id != family).count();
        (open >= self.shared.limits.popups_per_tab).then_some("limits.popups_per_tab")
    }

    /// Flags the opener of a tab that was closed at its birth.
    pub(super) fn tell_of_closed_popup(&self, opener: Option<&str>, limit: &'static str) {
        metrics::counter!("tabvisor_popups_closed_total", "limit" => limit).increment(1);
        let Some((id, tab)) = self.opener(opener).and_then(|id| Some((id, self.tabs.get(&id)?))) else {
            return;
        };
        let closed = tab.shared.popups_closed.fetch_add(1, Ordering::Relaxed) + 1;
        // A page that opens without end must not fill everybody's events.
        if closed.is_power_of_two() {
            tracing::warn!(tab = %id, limit, closed, "a page opened more tabs than are allowed");
            self.shared.events.publish(Event::PopupsClosed { tab: id, limit, closed });
        }
    }

    fn opener(&self, target: Option<&str>) -> Option<TabId> {
        self.by_target.get(target?).copied()
    }
}
