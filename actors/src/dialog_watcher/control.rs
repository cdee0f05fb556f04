//! The control link: dialled, listening, confirmed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ractor::ActorRef;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Events, Link, LinkOptions, Purpose, Reply, Session};

use super::WatcherMsg;
use crate::dial;
use crate::shared::TabShared;

const EVENTS: &[&str] = &[
    "Page.javascriptDialogOpening",
    "Page.javascriptDialogClosed",
    "Page.frameNavigated",
    "Inspector.targetCrashed",
    "Inspector.targetReloadedAfterCrash",
    "Page.frameStoppedLoading",
];

/// How long dialling may take.
const DIAL: Duration = Duration::from_secs(10);
/// How long to wait for a page to confirm that its events are on, if it may not be able to yet: a
/// page that was stuck before we came, or a popup that may not run (measured).
const CONFIRM: Duration = Duration::from_millis(100);

/// A control link that listens.
pub(super) struct Control {
    pub(super) link: Link,
    pub(super) session: Session,
    pub(super) events: Events,
    pub(super) confirmed: Confirmed,
}

/// What the page said to the commands that turn its events on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmed {
    Yes,
    /// Nothing yet.
    Silent,
    /// Its renderer is dead.
    Dead,
}

pub(super) async fn dial(tab: Arc<TabShared>) -> Result<Control, CdpError> {
    let budget = Budget::new(DIAL);
    let options = dial::noticed_while_idle(&tab, LinkOptions::new(Purpose::Control));
    let (link, session) = dial::attach(&tab, options, &budget).await?;
    let events = session.subscribe(EVENTS, 256);
    // A crash that happened before is told only to who enables Inspector (measured).
    let _inspector = session.send("Inspector.enable", json!({})).await?;
    let page = session.send("Page.enable", json!({})).await?;
    // The browser answers this itself and in order, so by now it has told of a crash.
    match session.call("Target.getTargetInfo", json!({}), &budget).await {
        Ok(_) | Err(CdpError::Crashed) => {}
        Err(error) => return Err(error),
    }
    let confirmed = confirmed(&tab, page, &budget).await?;
    Ok(Control { link, session, events, confirmed })
}

/// Waits until the page has confirmed a command, or for a moment where it may not be able to.
///
/// Without the confirmation a navigation may swap the renderer before the command has reached the
/// old one, and the new one never hears of it (measured: events were missing).
async fn confirmed(tab: &TabShared, reply: Reply, budget: &Budget) -> Result<Confirmed, CdpError> {
    let surely = surely_confirms(tab);
    match patience(tab, budget).run(reply).await {
        // The session hears of the navigation that brings a dead renderer back.
        Ok(Err(CdpError::Crashed)) => Ok(Confirmed::Dead),
        Ok(answer) => answer.map(|_| Confirmed::Yes),
        Err(spent) if surely => Err(CdpError::spent("Page.enable", spent)),
        Err(_) => Ok(Confirmed::Silent),
    }
}

/// How long the page may take to confirm a command.
pub(crate) fn patience(tab: &TabShared, budget: &Budget) -> Budget {
    if surely_confirms(tab) { budget.clone() } else { budget.child(CONFIRM) }
}

/// Only at its birth is a page known to be able to; later it may be stuck.
fn surely_confirms(tab: &TabShared) -> bool {
    tab.confirms && !tab.listened.load(Ordering::Relaxed)
}

pub(super) async fn pump(mut events: Events, session: Session, watcher: ActorRef<WatcherMsg>) {
    while let Some(delivery) = events.next().await {
        let message = match delivery {
            Delivery::Event(event) => WatcherMsg::Event(event),
            Delivery::Lagged { .. } => WatcherMsg::Lagged,
        };
        if watcher.cast(message).is_err() {
            return;
        }
    }
    let _ = watcher.cast(WatcherMsg::LinkClosed(session.link_closed().await));
}
