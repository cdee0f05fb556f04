//! Bad input to every action and route of the HTTP service: a clear error that names the field, and by the
//! record of a scripted Chromium nothing is sent.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

mod acts;
mod routes;

use serde_json::{Value, json};
use support::http::Http;
use tabvisor::Tabvisor;
use tabvisor::http::{Access, Service, router};
use tabvisor_cdp::fake::{Call, FakeChrome};
use tabvisor_cdp::task::{self, Task};
use tempfile::TempDir;
use tokio::net::TcpListener;

struct Stage {
    fake: FakeChrome,
    http: Http,
    tab: String,
    tabvisor: Tabvisor,
    _state: TempDir,
    _server: Task<()>,
}

impl Stage {
    async fn start() -> Self {
        let fake = FakeChrome::builder().pages(0).start().await;
        let state = TempDir::new().unwrap();
        let mut config = support::config(&state);
        config.browser.cdp_url = Some(fake.browser_url().into());
        let tabvisor = Tabvisor::start(config.clone()).await.unwrap();
        let (supervisor, browser) = (tabvisor.supervisor().clone(), tabvisor.browser());
        let service = Service::new(supervisor, Some(browser), Access::for_everybody(), &config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let http = Http::new(listener.local_addr().unwrap());
        let server = task::spawn(async move { axum::serve(listener, router(service)).await.unwrap() });
        let opened = http.try_open(json!({ "url": "about:blank" })).await;
        let tab = opened["tabId"].as_str().unwrap_or_else(|| panic!("{opened:?}")).to_owned();
        Self { fake, http, tab, tabvisor, _state: state, _server: server }
    }

    /// What is wrong with `body` is told by the name of `field`, and nothing is sent.
    async fn refuses(&self, line: &str, mut body: Value, field: &str) {
        if body.is_object() && body.get("targetId").is_none() {
            body["targetId"] = json!(self.tab);
        }
        let seen = self.fake.record().len();
        let answer = self.http.send(line, &body.to_string()).await;
        let what = format!("{line} {body}: {answer:?}");
        assert_eq!(answer.status, 400, "{what}");
        assert_eq!(answer["details"]["field"], field, "{what}");
        // A point and the like have one error for several fields.
        for word in field.split(", ") {
            assert!(answer.error().contains(word.split('[').next().unwrap()), "{what}");
        }
        let sent = self.fake.record().split_off(seen);
        assert!(sent.iter().all(is_upkeep), "{what}: {sent:?}");
    }

    async fn stop(self) {
        self.tabvisor.stop().await;
    }
}

/// What is sent beside any request: links are made ready for later ones, and what a tab shows is read.
fn is_upkeep(call: &Call) -> bool {
    const READS: [&str; 5] = [
        "Target.attachToTarget",
        "Target.getTargetInfo",
        "Target.setAutoAttach",
        "Page.getFrameTree",
        "Page.getNavigationHistory",
    ];
    match call.method.as_str() {
        "Runtime.evaluate" => call.expression().starts_with("performance.timeOrigin"),
        "Page.createIsolatedWorld" => call.text("worldName") == "tabvisor.state",
        method => READS.contains(&method) || method.ends_with(".enable"),
    }
}

fn with(base: &Value, name: &str, value: Value) -> Value {
    let mut body = base.clone();
    body[name] = value;
    body
}

/// Values of a type that a text, a number, a truth and a list do not have.
fn no_texts() -> [Value; 2] {
    [json!({ "a": 1 }), json!(["a"])]
}

fn no_truths() -> [Value; 4] {
    [json!("maybe"), json!(7), json!({}), json!([true])]
}

fn no_numbers() -> [Value; 4] {
    [json!("x"), json!(true), json!({}), json!([1])]
}

fn no_delays() -> [Value; 6] {
    [json!(-1), json!(5001), json!("x"), json!(1.5), json!({}), json!([1])]
}

fn no_budgets() -> [Value; 8] {
    [json!(0), json!(-1), json!("abc"), json!(1.5), json!(true), json!({}), json!([1]), json!(120_001)]
}

fn no_lists() -> [Value; 4] {
    [json!(7), json!(true), json!({}), json!([{ "a": 1 }])]
}

impl Stage {
    async fn unknown(&self, line: &str, mut body: Value) {
        body["targetId"] = json!(self.tab);
        let seen = self.fake.record().len();
        let answer = self.http.send(line, &body.to_string()).await;
        let what = format!("{line} {body}: {answer:?}");
        assert_eq!((answer.status, &answer["reason"]), (500, &json!("stale_ref")), "{what}");
        assert!(answer.error().contains("e999") && answer.error().contains("new snapshot"), "{what}");
        let sent = self.fake.record().split_off(seen);
        assert!(sent.iter().all(is_upkeep), "{what}: {sent:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ref_that_is_not_known_is_named_and_nothing_is_sent() {
    let stage = Stage::start().await;
    let known = "#b";
    for body in [
        json!({ "kind": "click", "ref": "e999" }),
        json!({ "kind": "click", "ref": "e999", "mode": "dom_event" }),
        json!({ "kind": "type", "ref": "e999", "text": "a" }),
        json!({ "kind": "press", "ref": "e999", "key": "a" }),
        json!({ "kind": "hover", "ref": "e999" }),
        json!({ "kind": "scrollIntoView", "ref": "e999" }),
        json!({ "kind": "drag", "startRef": "e999", "endSelector": known }),
        json!({ "kind": "drag", "startSelector": known, "endRef": "e999" }),
        json!({ "kind": "select", "ref": "e999", "values": ["a"] }),
        json!({ "kind": "fill", "fields": [{ "ref": "e999", "value": "a" }] }),
        json!({ "kind": "wait", "ref": "e999" }),
        json!({ "kind": "evaluate", "fn": "el", "ref": "e999" }),
    ] {
        stage.unknown("POST /act", body).await;
    }
    stage.unknown("POST /highlight", json!({ "ref": "e999" })).await;
    stage.unknown("POST /screenshot", json!({ "ref": "e999" })).await;
    stage.unknown("POST /hooks/file-chooser", json!({ "remotePath": "/a", "ref": "e999" })).await;
    stage.unknown("POST /hooks/file-chooser", json!({ "remotePath": "/a", "inputRef": "e999" })).await;
    stage.stop().await;
}
