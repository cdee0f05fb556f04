//! Which requests of a page are open, from events. Pure.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// A request that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Its address, shortened; empty where it began before anybody listened.
    pub url: String,
    /// What it is for, in Chromium's words: `Fetch`, `EventSource`, ...
    pub r#type: String,
    /// How long it has been known.
    pub for_ms: u64,
}

/// How long nothing may be open until the network is called quiet.
pub(super) const QUIET: Duration = Duration::from_millis(500);
/// Most requests that are told, and most characters of an address.
const TOLD: usize = 20;
const SHOWN: usize = 200;
/// More are not remembered one by one: a page that has so many open is not quiet anyway.
const KEPT: usize = 4096;

/// The requests that are open.
#[derive(Debug)]
pub(super) struct Requests {
    main: String,
    open: Vec<Request>,
    /// Chromium has seen the document without open requests once. That covers those that began
    /// before we listened.
    was_idle: bool,
    /// Since when nothing is open.
    still: Instant,
}

#[derive(Debug)]
struct Request {
    id: String,
    loader: String,
    url: String,
    kind: String,
    since: Instant,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    #[serde(default)]
    request_id: String,
    #[serde(default)]
    loader_id: String,
    #[serde(default)]
    frame_id: String,
    #[serde(default)]
    name: String,
    #[serde(default, rename = "type")]
    kind: String,
    request: Option<Address>,
    response: Option<Address>,
}

#[derive(Deserialize)]
struct Address {
    #[serde(default)]
    url: String,
}

impl Requests {
    pub(super) fn new(main: &str, now: Instant) -> Self {
        Self { main: main.to_owned(), open: Vec::new(), was_idle: false, still: now }
    }

    /// Takes an event.
    pub(super) fn on(&mut self, method: &str, params: &str, now: Instant) {
        let Ok(params) = serde_json::from_str::<Params>(params) else { return };
        let busy = !self.open.is_empty();
        match method {
            "Network.requestWillBeSent" => self.begin(params, now),
            "Network.responseReceived" | "Network.dataReceived" | "Network.eventSourceMessageReceived" => {
                let known = self.open.iter().any(|it| it.id == params.request_id);
                if !known {
                    self.begin(params, now);
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.open.retain(|it| it.id != params.request_id);
                self.still = now;
            }
            "Page.lifecycleEvent" if params.frame_id == self.main => match params.name.as_str() {
                "networkIdle" => self.was_idle = true,
                // The events of what the document before it left open may never come.
                "commit" => {
                    self.was_idle = false;
                    self.open.retain(|it| it.loader == params.loader_id);
                    self.still = now;
                }
                _ => {}
            },
            _ => {}
        }
        if busy && self.open.is_empty() {
            self.still = now;
        }
    }

    /// Events were lost: what is open is not known any more, only what goes on from now.
    pub(super) fn lost(&mut self, now: Instant) {
        self.open.clear();
        self.still = now;
    }

    /// When the network is quiet if nothing happens until then; `None`: only an event tells.
    pub(super) fn quiet_at(&self) -> Option<Instant> {
        (self.open.is_empty() && self.was_idle).then(|| self.still + QUIET)
    }

    /// Chromium says that something is open, and nothing is known of it.
    pub(super) fn misses_some(&self, now: Instant) -> bool {
        self.open.is_empty() && !self.was_idle && now.saturating_duration_since(self.still) >= QUIET
    }

    /// What is open, the oldest first.
    pub(super) fn open(&self, now: Instant) -> Vec<OpenRequest> {
        let told = |it: &Request| OpenRequest {
            url: it.url.chars().take(SHOWN).collect(),
            r#type: it.kind.clone(),
            for_ms: u64::try_from(now.saturating_duration_since(it.since).as_millis()).unwrap_or(u64::MAX),
        };
        self.open.iter().take(TOLD).map(told).collect()
    }

    fn begin(&mut self, params: Params, now: Instant) {
        let Params { request_id: id, loader_id: loader, kind, request, response, .. } = params;
        let url = request.or(response).map(|it| it.url).unwrap_or_default();
        // A redirect goes on under its number.
        if let Some(open) = self.open.iter_mut().find(|it| it.id == id) {
            open.url = url;
        } else if self.open.len() < KEPT {
            self.open.push(Request { id, loader, url, kind, since: now });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn requests() -> (Requests, Instant) {
        let now = Instant::now();
        let mut requests = Requests::new("M", now);
        requests.on("Page.lifecycleEvent", &lifecycle("networkIdle"), now);
        (requests, now)
    }

    fn lifecycle(name: &str) -> String {
        json!({ "frameId": "M", "loaderId": "new", "name": name }).to_string()
    }

    fn sent(id: &str) -> String {
        let request = json!({ "url": format!("http://a/{id}") });
        json!({ "requestId": id, "loaderId": "old", "type": "Fetch", "request": request }).to_string()
    }

    fn ended(id: &str) -> String {
        json!({ "requestId": id }).to_string()
    }

    #[test]
    fn it_is_quiet_half_a_second_after_the_last_one_ended() {
        let (mut requests, now) = requests();
        assert_eq!(requests.quiet_at(), Some(now + QUIET));
        let later = now + Duration::from_millis(100);
        requests.on("Network.requestWillBeSent", &sent("1"), later);
        assert_eq!(requests.quiet_at(), None);
        let told = requests.open(later + Duration::from_millis(7));
        assert_eq!(
            (told[0].url.as_str(), told[0].r#type.as_str(), told[0].for_ms),
            ("http://a/1", "Fetch", 7)
        );
        let end = later + Duration::from_secs(1);
        requests.on("Network.loadingFailed", &ended("1"), end);
        assert_eq!(requests.quiet_at(), Some(end + QUIET));
    }

    #[test]
    fn what_began_before_anybody_listened_counts_once_it_is_heard_of() {
        let (mut requests, now) = requests();
        let response = json!({ "requestId": "9", "response": { "url": "http://a/9" } }).to_string();
        requests.on("Network.responseReceived", &response, now);
        assert_eq!((requests.quiet_at(), requests.open(now)[0].url.as_str()), (None, "http://a/9"));
    }

    #[test]
    fn another_document_has_to_be_idle_itself() {
        let (mut requests, now) = requests();
        requests.on("Network.requestWillBeSent", &sent("1"), now);
        requests.on("Page.lifecycleEvent", &lifecycle("commit"), now);
        assert!(requests.open(now).is_empty() && requests.quiet_at().is_none());
        assert!(!requests.misses_some(now) && requests.misses_some(now + QUIET));
        requests.on("Page.lifecycleEvent", &lifecycle("networkIdle"), now);
        assert!(requests.quiet_at().is_some());
    }

    proptest! {
        #[test]
        fn it_is_never_quiet_while_one_is_open(steps in prop::collection::vec((any::<bool>(), 0u8..4), 0..40)) {
            let (mut requests, now) = requests();
            let mut open = std::collections::BTreeSet::new();
            for (begin, id) in steps {
                let id_text = id.to_string();
                if begin {
                    open.insert(id);
                    requests.on("Network.requestWillBeSent", &sent(&id_text), now);
                } else {
                    open.remove(&id);
                    requests.on("Network.loadingFinished", &ended(&id_text), now);
                }
                prop_assert_eq!(requests.quiet_at().is_some(), open.is_empty());
                prop_assert_eq!(requests.open(now).len(), open.len());
            }
        }
    }
}
