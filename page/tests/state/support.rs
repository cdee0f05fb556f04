//! A Chromium, a tab of it, and what is known of the tab.

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::launch::{Chromium, LaunchOptions, launch};
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Purpose, Session};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::state::{Known, PageState, set_up};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use super::server::Server;

/// One tab of a Chromium of its own, watched by one session and worked with over another.
pub(crate) struct Stage {
    pub(crate) chromium: Chromium,
    pub(crate) server: Server,
    pub(crate) link: Link,
    pub(crate) target: String,
    /// For calls; the watcher has its own.
    pub(crate) session: Session,
    pub(crate) watch: Watch,
    _state: TempDir,
}

/// A running watcher and everything that it published.
pub(crate) struct Watch {
    pub(crate) now: watch::Receiver<Known>,
    published: mpsc::Receiver<Known>,
    pub(crate) running: Task<CdpError>,
}

/// Long enough for whatever answers at all, on a busy machine too.
pub(crate) fn budget() -> Budget {
    Budget::new(Duration::from_mins(1))
}

impl Watch {
    pub(crate) async fn start(session: &Session, from: Known, budget: &Budget) -> Self {
        let watching = set_up(session, from, budget, budget).await.unwrap();
        let (sender, now) = watch::channel(watching.known().clone());
        let (record, published) = mpsc::channel(10_000);
        let running = task::spawn(watching.run(move |known| {
            sender.send_replace(known.clone());
            record.try_send(known.clone()).ok();
        }));
        Self { now, published, running }
    }

    pub(crate) fn state(&self) -> PageState {
        self.now.borrow().state.clone()
    }

    /// Waits until what is known is so.
    pub(crate) async fn until(&mut self, what: &str, holds: impl Fn(&Known) -> bool) -> Known {
        let found = budget().run(self.now.wait_for(holds)).await.map(|known| known.map(|it| it.clone()));
        match found {
            Ok(Ok(known)) => known,
            Ok(Err(_)) => panic!("the watcher ended before: {what}; {:?}", self.now.borrow()),
            Err(spent) => panic!("never: {what}; {spent}; {:?}", self.now.borrow()),
        }
    }

    /// Everything that is published from now on until, and with, what is so; nothing in between is missed.
    pub(crate) async fn hear(&mut self, what: &str, is_it: impl Fn(&PageState) -> bool) -> Vec<Known> {
        let budget = budget();
        let mut heard = Vec::new();
        loop {
            let Ok(next) = budget.run(self.published.recv()).await else {
                panic!("never: {what}; {heard:?}");
            };
            heard.push(next.unwrap());
            if heard.last().is_some_and(|known| is_it(&known.state)) {
                return heard;
            }
        }
    }

    /// What was published since this was asked last.
    pub(crate) fn published(&mut self) -> Vec<Known> {
        std::iter::from_fn(|| self.published.try_recv().ok()).collect()
    }
}

impl Stage {
    /// A tab on about:blank, watched.
    pub(crate) async fn start() -> Self {
        let server = Server::start().await;
        let state = TempDir::new().unwrap();
        let mut options = LaunchOptions::new(state.path());
        // Chromium has no sandbox for root.
        options.no_sandbox = rustix::process::geteuid().is_root();
        let chromium = launch(&options, &budget()).await.expect("a chromium is installed and starts");
        let link = connect(&chromium).await;
        let (target, session) = new_tab(&link).await;
        let watched = link.attach(&target, &budget()).await.unwrap();
        let watch = Watch::start(&watched, Known::default(), &budget()).await;
        Self { chromium, server, link, target, session, watch, _state: state }
    }

    pub(crate) async fn stop(self) {
        drop(self.link);
        self.chromium.stop().await;
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Value {
        call(&self.session, method, params).await
    }

    /// Sends without waiting: a navigation to what does not answer gets no reply.
    pub(crate) fn navigate(&self, url: &str) {
        self.session.cast("Page.navigate", json!({ "url": url }));
    }

    pub(crate) async fn evaluate(&self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true
        });
        let answer = self.call("Runtime.evaluate", params).await;
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Navigates and waits until the watcher knows that the document there has loaded, and what its
    /// observer says.
    pub(crate) async fn open(&mut self, path: &str) -> Known {
        let url = self.url(path);
        let before = self.watch.state().generation;
        self.navigate(&url);
        self.watch
            .until(&format!("{path} has loaded"), |known| {
                let state = &known.state;
                state.generation > before && !state.loading && state.favicon.is_some()
            })
            .await
    }
}

pub(crate) async fn call(session: &Session, method: &'static str, params: Value) -> Value {
    let answer = session.call(method, params, &budget()).await.unwrap();
    serde_json::from_str(answer.get()).unwrap()
}

pub(crate) async fn connect(chromium: &Chromium) -> Link {
    let options = LinkOptions::new(Purpose::Page);
    Link::connect(chromium.address(), &DialOptions::default(), options, &budget()).await.unwrap()
}

pub(crate) async fn new_tab(link: &Link) -> (String, Session) {
    let made = call(&link.root(), "Target.createTarget", json!({ "url": "about:blank" })).await;
    let target = made["targetId"].as_str().unwrap().to_owned();
    let session = link.attach(&target, &budget()).await.unwrap();
    (target, session)
}

/// An address where nobody listens.
pub(crate) async fn refused() -> String {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    format!("http://127.0.0.1:{port}/")
}
