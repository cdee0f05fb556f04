//! The requests of a page, heard of on a session that exists only for that.
//!
//! The Network domain tells of a request with its whole body, and a message over the frame limit
//! closes its link. So it is enabled on a link of its own, which nothing else depends on, and only
//! while somebody waits.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Events, Session};

use super::requests::{OpenRequest, QUIET, Requests};
use crate::act::ActError;
use crate::refs::FrameId;

const EVENTS: &[&str] = &[
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.dataReceived",
    "Network.eventSourceMessageReceived",
    "Network.loadingFinished",
    "Network.loadingFailed",
    "Page.lifecycleEvent",
];

/// Objects of a page that keep a request open, as `{url, type}` each. Whether a request was sent
/// before its headers came, an `XMLHttpRequest` does not tell.
const HOLDERS: &str = "function(){const stream=it=>it instanceof EventSource;
    return this.filter(it=>{try{return stream(it)?it.readyState<2:it.readyState===2||it.readyState===3}catch{}})
        .map(it=>({url:String(stream(it)?it.url:it.responseURL),type:stream(it)?'EventSource':'XHR'}))}";

/// The requests of a page, from the moment it was made.
#[derive(Debug)]
pub struct Traffic {
    session: Session,
    events: Events,
    requests: Requests,
    /// What holds a request open that nobody heard beginning.
    earlier: Vec<Holder>,
}

#[derive(Clone, Debug, Deserialize)]
struct Holder {
    url: String,
    r#type: String,
}

impl Traffic {
    /// Begins to listen on `session`, which is for this alone. `main` is the main frame.
    ///
    /// # Errors
    /// Whatever ends a call.
    pub async fn listen(session: Session, main: &FrameId, budget: &Budget) -> Result<Self, CdpError> {
        let events = session.subscribe(EVENTS, 4096);
        session.call("Page.enable", json!({}), budget).await?;
        session.call("Network.enable", json!({ "maxPostDataSize": 0 }), budget).await?;
        // This one tells what happened already, too.
        session.call("Page.setLifecycleEventsEnabled", json!({ "enabled": true }), budget).await?;
        Ok(Self { session, events, requests: Requests::new(main, Instant::now()), earlier: Vec::new() })
    }

    /// Takes what happens; completes when the link is gone, with why. Cancel-safe.
    pub async fn follow(&mut self) -> CdpError {
        loop {
            match self.events.next().await {
                Some(delivery) => self.take(delivery),
                None => return CdpError::LinkClosed(self.session.link_closed().await),
            }
        }
    }

    /// Completes when no request was open for half a second.
    ///
    /// # Errors
    /// The link is gone.
    pub async fn quiet(&mut self) -> Result<(), ActError> {
        let mut again = Instant::now();
        loop {
            let at = self.requests.quiet_at();
            let look = at.unwrap_or_else(|| Instant::now() + QUIET).max(again);
            tokio::select! {
                biased;
                delivery = self.events.next() => {
                    let Some(delivery) = delivery else {
                        let error = CdpError::LinkClosed(self.session.link_closed().await);
                        return Err(ActError::Link { error, sent: false });
                    };
                    self.take(delivery);
                }
                () = sleep_until(look) => {
                    // Chromium calls a page idle that has an open EventSource (measured), so the
                    // page's objects are asked, too.
                    if at.is_some() || self.requests.misses_some(look) {
                        self.earlier = self.holders().await;
                    }
                    if at.is_some() && self.earlier.is_empty() {
                        return Ok(());
                    }
                    again = Instant::now() + QUIET;
                }
            }
        }
    }

    /// What is open now.
    pub fn open(&self) -> Vec<OpenRequest> {
        let mut open = self.requests.open(Instant::now());
        let earlier = self.earlier.iter().filter(|it| !open.iter().any(|open| open.url == it.url));
        let earlier: Vec<_> = earlier
            .map(|it| OpenRequest {
                url: it.url.chars().take(200).collect(),
                r#type: it.r#type.clone(),
                for_ms: 0,
            })
            .collect();
        open.splice(0..0, earlier);
        open
    }

    fn take(&mut self, delivery: Delivery) {
        match delivery {
            Delivery::Event(event) => self.requests.on(&event.method, event.params.get(), Instant::now()),
            Delivery::Lagged { .. } => self.requests.lost(Instant::now()),
        }
    }

    /// What of the main frame keeps requests open that nobody heard beginning. A fetch leaves no
    /// object behind that tells.
    async fn holders(&self) -> Vec<Holder> {
        let mut found = Vec::new();
        for class in ["EventSource", "XMLHttpRequest"] {
            if let Ok(some) = self.of_class(class).await {
                found.extend(some);
            }
        }
        self.session.cast("Runtime.releaseObjectGroup", json!({ "objectGroup": "tabvisor" }));
        found.truncate(20);
        found
    }

    async fn of_class(&self, class: &str) -> Result<Vec<Holder>, CdpError> {
        let expression = format!("{class}.prototype");
        let asked = json!({ "expression": expression, "objectGroup": "tabvisor", "silent": true });
        let prototype = self.ask("Runtime.evaluate", asked).await?;
        let asked =
            json!({ "prototypeObjectId": prototype["result"]["objectId"], "objectGroup": "tabvisor" });
        let objects = self.ask("Runtime.queryObjects", asked).await?;
        let asked = json!({
            "objectId": objects["objects"]["objectId"], "functionDeclaration": HOLDERS, "returnByValue": true,
        });
        let told = self.ask("Runtime.callFunctionOn", asked).await?;
        Ok(serde_json::from_value(told["result"]["value"].clone()).unwrap_or_default())
    }

    async fn ask(&self, method: &'static str, asked: Value) -> Result<Value, CdpError> {
        let answer = self.session.send(method, asked).await?.await?;
        Ok(serde_json::from_str(answer.get()).unwrap_or_default())
    }
}
