//! Bare sessions, on a Chromium that nobody supervises or beside a supervisor: for facts.

use std::future::Future;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::launch::{self, Chromium, LaunchOptions};
use tabvisor_cdp::link::{Delivery, DialOptions, Event, Events, Link, LinkOptions, Purpose, Reply, Session};
use tempfile::TempDir;
use url::Url;

use super::{Running, ms, processes, secs};

/// A Chromium without a supervisor.
pub struct Bare {
    chromium: Chromium,
    /// A browser link of the test.
    pub browser: Link,
    state: TempDir,
}

/// A session on a connection of its own, with nothing enabled.
pub struct Raw {
    pub link: Link,
    pub session: Session,
    pub target: String,
}

/// Long enough for whatever answers at all.
pub fn budget() -> Budget {
    Budget::new(secs(20))
}

pub async fn connect(address: &Url) -> Link {
    connect_with(address, LinkOptions::new(Purpose::Evaluate)).await
}

pub async fn connect_with(address: &Url, options: LinkOptions) -> Link {
    Link::connect(address, &DialOptions::default(), options, &budget()).await.unwrap()
}

/// Attaches to a target on a connection of its own.
pub async fn attach(address: &Url, target: &str) -> Raw {
    let link = connect(address).await;
    let session = link.attach(target, &budget()).await.unwrap();
    Raw { link, session, target: target.to_owned() }
}

impl Bare {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub async fn start_with(change: impl FnOnce(&mut LaunchOptions)) -> Self {
        let state = TempDir::new().unwrap();
        let mut options = LaunchOptions::new(state.path());
        change(&mut options);
        options.no_sandbox = rustix::process::geteuid().is_root();
        let chromium = launch::launch(&options, &budget()).await.unwrap();
        let browser = connect(chromium.address()).await;
        Self { chromium, browser, state }
    }

    pub fn address(&self) -> &Url {
        self.chromium.address()
    }

    /// A target made with this address: it runs before anybody can listen.
    pub async fn create(&self, url: &str) -> String {
        let made = self.browser.root().call("Target.createTarget", json!({ "url": url }), &budget()).await;
        let made: Value = serde_json::from_str(made.unwrap().get()).unwrap();
        made["targetId"].as_str().unwrap().to_owned()
    }

    /// A loaded page, and a session that was attached at its birth with nothing enabled.
    pub async fn page(&self, url: &str) -> Raw {
        let raw = self.attach(&self.create("about:blank").await).await;
        load(&raw.session, url).await;
        raw
    }

    /// One more session on a page, on a connection of its own.
    pub async fn attach(&self, target: &str) -> Raw {
        attach(self.address(), target).await
    }

    pub async fn stop(self) {
        drop(self.browser);
        self.chromium.stop().await;
        processes::assert_none_of(self.state.path());
    }
}

impl Raw {
    pub async fn call(&self, method: &'static str, params: Value) -> Result<Value, CdpError> {
        call(&self.session, method, params).await
    }

    pub async fn evaluate(&self, expression: &str) -> Value {
        value(self.call("Runtime.evaluate", script(expression)).await)
    }

    pub async fn send(&self, method: &'static str, params: Value) -> Reply {
        self.session.send(method, params).await.unwrap()
    }
}

/// The target of a tab of ours, by a session of the test.
pub async fn beside(running: &Running, tab: &tabvisor::Tab) -> Raw {
    attach(&address(running), &tab.row().unwrap().target_id).await
}

pub fn address(running: &Running) -> Url {
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser());
    browser.expect("the browser works").ws_url.clone()
}

pub async fn call(session: &Session, method: &'static str, params: Value) -> Result<Value, CdpError> {
    let answer = session.call(method, params, &budget()).await?;
    Ok(serde_json::from_str(answer.get()).unwrap())
}

/// Parameters of a plain `Runtime.evaluate`.
pub fn script(expression: &str) -> Value {
    json!({ "expression": expression, "returnByValue": true })
}

/// The value in an answer of `Runtime.evaluate`.
pub fn value(answer: Result<Value, CdpError>) -> Value {
    let answer = answer.unwrap();
    assert!(answer.get("exceptionDetails").is_none(), "{answer}");
    answer["result"]["value"].clone()
}

/// Navigates and waits for the load, with nothing left enabled.
pub async fn load(session: &Session, url: &str) {
    let mut events = session.subscribe(&["Page.loadEventFired"], 16);
    call(session, "Page.enable", json!({})).await.unwrap();
    call(session, "Page.navigate", json!({ "url": url })).await.unwrap();
    next(&mut events).await;
    call(session, "Page.disable", json!({})).await.unwrap();
}

pub async fn next(events: &mut Events) -> Event {
    match budget().run(events.next()).await.expect("an event in time") {
        Some(Delivery::Event(event)) => event,
        other => panic!("{other:?}"),
    }
}

/// Whether `call` stays without an answer. That something never happens can only be waited for;
/// what answers at all does so in a fraction of this.
pub async fn silent<F: Future + Unpin>(call: &mut F) -> bool {
    Budget::new(ms(400)).run(call).await.is_err()
}

/// The error that Chromium answered: its code and its words.
pub fn refusal<T: std::fmt::Debug>(answer: Result<T, CdpError>) -> (i64, String) {
    match answer {
        Err(CdpError::Protocol { code, message, .. }) => (code, message),
        other => panic!("not refused: {other:?}"),
    }
}
