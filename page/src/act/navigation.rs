//! What the main frame does while an action is under way.

use std::time::Duration;

use serde::Deserialize;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::{Delivery, Event, Events};

use super::outcome::{Navigation, NavigationState};
use super::page::ActPage;
use crate::refs::FrameId;

const EVENTS: &[&str] = &[
    "Page.frameRequestedNavigation",
    "Page.frameStartedNavigating",
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Page.frameStoppedLoading",
    "Page.downloadWillBegin",
];

/// How long a navigation that began may take to bring its document, before the action is answered
/// without.
const PATIENCE: Duration = Duration::from_millis(500);

/// The navigations of the main frame since it was made.
pub(super) struct Navigations {
    main: FrameId,
    events: Events,
    found: Option<Navigation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    frame_id: Option<String>,
    url: Option<String>,
    frame: Option<Frame>,
    disposition: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    url: String,
    url_fragment: Option<String>,
    unreachable_url: Option<String>,
}

impl Navigations {
    pub(super) fn of(page: &ActPage) -> Self {
        Self { main: page.main.clone(), events: page.session.subscribe(EVENTS, 256), found: None }
    }

    /// What happened until now.
    pub(super) fn so_far(&mut self) -> Option<Navigation> {
        self.drain();
        self.found.clone()
    }

    /// Waits for a navigation that began, within bounds.
    pub(super) async fn settle(&mut self, budget: &Budget) {
        self.drain();
        let patience = budget.child(PATIENCE);
        while self.found.as_ref().is_some_and(|it| it.state == NavigationState::Started) {
            match patience.run(self.events.next()).await {
                Ok(Some(Delivery::Event(event))) => {
                    if self.on(&event) {
                        break;
                    }
                }
                Ok(Some(Delivery::Lagged { .. })) => {}
                Ok(None) | Err(_) => break,
            }
        }
    }

    fn drain(&mut self) {
        while let Some(delivery) = self.events.try_next() {
            if let Delivery::Event(event) = delivery {
                self.on(&event);
            }
        }
    }

    /// Takes an event; whether a navigation that began is over without a document.
    fn on(&mut self, event: &Event) -> bool {
        let Ok(params) = serde_json::from_str::<Params>(event.params.get()) else { return false };
        let frame = params.frame.as_ref().map(|it| &it.id).or(params.frame_id.as_ref());
        if frame.is_none_or(|frame| **frame != *self.main) {
            return false;
        }
        if params.disposition.as_ref().is_some_and(|it| it != "currentTab") {
            return false;
        }
        let (state, url) = match (&*event.method, params.frame) {
            ("Page.frameStoppedLoading", _) => return true,
            ("Page.downloadWillBegin", _) => {
                self.found = self.found.take().filter(|it| it.state != NavigationState::Started);
                return true;
            }
            ("Page.frameNavigated", Some(frame)) => {
                let url = match frame.unreachable_url {
                    Some(url) => url,
                    None => frame.url + frame.url_fragment.as_deref().unwrap_or_default(),
                };
                (NavigationState::Committed, url)
            }
            ("Page.navigatedWithinDocument", _) => {
                (NavigationState::SameDocument, params.url.unwrap_or_default())
            }
            _ => (NavigationState::Started, params.url.unwrap_or_default()),
        };
        // A change of the fragment is announced like any other navigation, also after it was made.
        let again = |it: &Navigation| it.url == url && it.state != NavigationState::Started;
        if state != NavigationState::Started || !self.found.as_ref().is_some_and(again) {
            self.found = Some(Navigation { state, url });
        }
        false
    }
}
