//! What is set on a page, and what it holds.

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_page::content::{Content, Held};
use tabvisor_page::emulation::Setting;

use super::Stage;
use crate::error::TabError;
use crate::facade::observing;

/// Sets it, and remembers it for sessions to come once Chromium has taken it.
pub(super) async fn emulate(stage: &Stage, setting: Setting, budget: &Budget) -> Result<(), TabError> {
    let tab = &stage.tab;
    let next = tab.emulation().clone().with(setting.clone());
    let change = async {
        if setting.is_of_network() {
            let before = tab.emulation().clone();
            // A frame that begins meanwhile reads it there.
            tab.emulation().clone_from(&next);
            let changed = match observing(tab, budget).await {
                Ok(observing) => observing.change(&next, &setting, budget).await.map_err(Into::into),
                Err(why) => Err(why),
            };
            if changed.is_err() {
                tab.emulation().clone_from(&before);
            }
            return changed;
        }
        if let Err(why) = next.change(&setting, &stage.session, budget).await {
            // What was set before may be undone in part.
            let before = tab.emulation().clone();
            let _ = before.apply(&stage.session, budget).await;
            return Err(why.into());
        }
        tab.emulation().clone_from(&next);
        Ok(())
    };
    stage.unless_hindered(change).await.map_err(|error| match error {
        TabError::Cdp(CdpError::Protocol { message, .. }) => TabError::BadInput {
            field: setting.field(),
            why: format!("chromium does not take it: {message}"),
        },
        other => other,
    })
}

/// Reads or writes it.
pub(super) async fn content(stage: &Stage, content: &Content, budget: &Budget) -> Result<Held, TabError> {
    let Stage { tab, session, .. } = stage;
    stage.unless_hindered(content.perform(session, &tab.target, budget)).await
}
