//! The HTTP service on a real socket, as far as it goes without a browser: who may call, what a
//! request may say, and that every answer is JSON.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::post;
use serde_json::{Value, json};
use tabvisor::config::{Config, Secret};
use tabvisor::http::{Access, Service, router};
use tabvisor::{Budget, Supervisor};
use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

const TOKEN: &str = "s3cret";

/// A service without a browser.
struct Running {
    address: SocketAddr,
    service: Service,
    _server: Task<()>,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Value,
}

async fn serve(router: Router) -> (SocketAddr, Task<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = task::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, server)
}

async fn start_with(change: impl FnOnce(&mut Config)) -> Running {
    let mut config = Config { state_dir: "/nowhere/tabvisor".into(), ..Config::default() };
    config.browser.chromium = Some("/nowhere/chromium".into());
    change(&mut config);
    let supervisor = Supervisor::start(16).await.unwrap();
    let access = Access::with_secret(Secret::from(TOKEN)).named(&config.server.hosts);
    let service = Service::new(supervisor, None, access, &config);
    let (address, server) = serve(router(service.clone())).await;
    Running { address, service, _server: server }
}

async fn start() -> Running {
    start_with(|_| {}).await
}

impl Running {
    /// Sends a request as it is and reads the answer.
    async fn raw(&self, request: &str) -> Answer {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        socket.read_to_end(&mut text).await.unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {text}"));
        assert!(head.contains("content-type: application/json; charset=utf-8"), "{head}");
        Answer { status, head: head.to_owned(), body }
    }

    async fn send(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let headers: String = headers.iter().flat_map(|header| [*header, "\r\n"]).collect();
        let length = body.len();
        let request = format!(
            "{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        self.raw(&request).await
    }

    async fn call(&self, line: &str, body: &str) -> Answer {
        let authorization = format!("Authorization: Bearer {TOKEN}");
        self.send(line, &["Host: localhost", &authorization, "Content-Type: application/json"], body).await
    }

    async fn act(&self, body: Value) -> Answer {
        self.call("POST /act", &body.to_string()).await
    }
}

fn error(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.body["error"].as_str().unwrap())
}

#[tokio::test]
async fn the_secret_is_asked_for_before_the_body_is_read() {
    let running = start().await;
    // The body never comes.
    let answer = running
        .raw("POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n")
        .await;
    assert_eq!(error(&answer), (401, "Unauthorized"));
    assert!(answer.head.contains("www-authenticate: Bearer"), "{}", answer.head);
    for line in ["GET /tabs", "GET /healthz", "GET /nope", "DELETE /tabs/t1", "PUT /act"] {
        assert_eq!(running.send(line, &["Host: localhost"], "").await.status, 401, "{line}");
    }
    for header in
        ["Authorization: Bearer s3cret", "x-openclaw-password: s3cret", "Authorization: Basic YTpzM2NyZXQ="]
    {
        assert_eq!(running.send("GET /tabs", &["Host: localhost", header], "").await.status, 200, "{header}");
    }
}

#[tokio::test]
async fn a_foreign_name_or_site_is_refused_before_the_secret_is_looked_at() {
    let running = start_with(|config| config.server.hosts = vec!["tabvisor.internal".into()]).await;
    let bearer = "Authorization: Bearer s3cret";
    let rebound = running.send("GET /tabs", &["Host: evil.example", bearer], "").await;
    assert_eq!(error(&rebound), (403, "Forbidden"));
    assert_eq!(rebound.body["reason"], "bad_host");
    assert_eq!(running.send("GET /tabs", &["Host: tabvisor.internal:80", bearer], "").await.status, 200);
    for foreign in [
        "Origin: https://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Referer: http://evil.example/",
    ] {
        let answer = running.send("POST /tabs/open", &["Host: localhost", foreign], "{}").await;
        assert_eq!(
            (error(&answer), &answer.body["reason"]),
            ((403, "Forbidden"), &json!("cross_site")),
            "{foreign}"
        );
        let answer = running.send("GET /tabs", &["Host: localhost", foreign, bearer], "").await;
        assert_eq!(answer.status, 200, "{foreign}");
    }
    let local =
        running.send("POST /act", &["Host: localhost", "Origin: http://localhost:3000", bearer], "{}").await;
    assert_eq!(error(&local), (400, "kind is required"));
}

#[tokio::test]
async fn whatever_is_wrong_with_a_request_is_said_in_json() {
    let running = start().await;
    assert_eq!(error(&running.call("GET /nope", "").await), (404, "Cannot GET /nope"));
    assert_eq!(error(&running.call("PUT /act", "").await), (405, "/act does not take PUT"));
    assert_eq!(error(&running.call("GET /metrics", "").await), (404, "Cannot GET /metrics"));
    let broken = running.call("POST /act", "{bad").await;
    assert!(
        broken.status == 400
            && broken.body["error"].as_str().unwrap().starts_with("the body is not valid JSON")
    );
    let bearer = "Authorization: Bearer s3cret";
    let form =
        running.send("POST /act", &["Host: localhost", bearer, "Content-Type: text/plain"], "{}").await;
    assert_eq!(form.status, 415);
    let profile = running.call("GET /tabs?profile=zzz", "").await;
    assert_eq!(error(&profile), (404, "Profile \"zzz\" not found. Available profiles: openclaw"));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_the_client_hears_it() {
    let running = start_with(|config| config.server.max_body_bytes = 1000).await;
    let text = "the body is over the limit of 1000 bytes (server.max_body_bytes)";
    let fitting = json!({ "kind": "x".repeat(900) }).to_string();
    assert_eq!(error(&running.call("POST /act", &fitting).await), (400, "kind is required"));
    assert_eq!(error(&running.call("POST /act", &"x".repeat(20_000_000)).await), (413, text));
    let chunk = format!("{:x}\r\n{}\r\n", 2000, "x".repeat(2000));
    let head = "POST /act HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(error(&running.raw(&format!("{head}{chunk}0\r\n\r\n")).await), (413, text));
}

#[tokio::test]
async fn an_act_is_checked_before_anything_is_done() {
    let running = start().await;
    for body in [
        json!({}),
        json!([1]),
        json!(null),
        json!({ "kind": "foo" }),
        json!({ "kind": "" }),
        json!({ "kind": 5 }),
    ] {
        let answer = running.act(body.clone()).await;
        assert_eq!(
            (error(&answer), &answer.body["code"]),
            ((400, "kind is required"), &json!("ACT_KIND_REQUIRED")),
            "{body}"
        );
    }
    let invalid = |answer: &Answer| answer.status == 400 && answer.body["code"] == "ACT_INVALID_REQUEST";
    for body in [json!({}), json!({ "fn": "" }), json!({ "fn": "  " }), json!({ "fn": null })] {
        let mut body = body;
        body["kind"] = "evaluate".into();
        let answer = running.act(body).await;
        assert!(invalid(&answer) && answer.body["error"] == "evaluate requires fn", "{answer:?}");
    }
    let answer = running.act(json!({ "kind": "evaluate", "fn": {} })).await;
    assert!(invalid(&answer) && answer.body["error"] == "fn must be a string.", "{answer:?}");
    for ms in [json!(0), json!(-1), json!("abc"), json!(1.5), json!("NaN"), json!(true)] {
        let answer = running.act(json!({ "kind": "evaluate", "fn": "1", "timeoutMs": ms })).await;
        assert!(
            invalid(&answer) && answer.body["error"] == "timeoutMs must be a positive integer.",
            "{answer:?}"
        );
    }
    let answer = running.act(json!({ "kind": "evaluate", "fn": "1", "timeoutMs": 120_001 })).await;
    assert!(invalid(&answer) && answer.body["error"].as_str().unwrap().contains("120000"), "{answer:?}");
    let answer = running.act(json!({ "kind": "evaluate", "fn": "1", "selector": "a" })).await;
    assert_eq!((answer.status, &answer.body["code"]), (400, &json!("ACT_SELECTOR_UNSUPPORTED")));
    for (kind, error) in [
        ("wait", "wait requires at least one of: timeMs"),
        ("batch", "batch requires actions"),
        ("resize", "resize requires width"),
    ] {
        let answer = running.act(json!({ "kind": kind })).await;
        assert!(invalid(&answer) && answer.body["error"].as_str().unwrap().contains(error), "{answer:?}");
    }
    let answer = running.act(json!({ "kind": "click" })).await;
    assert!(invalid(&answer) && answer.body["error"] == "click requires ref or selector", "{answer:?}");
    for more in [
        json!({ "engine": "x" }),
        json!({ "backendDOMNodeId": "x" }),
        json!({ "ref": "e1", "backendDOMNodeId": 1 }),
    ] {
        let mut body = json!({ "kind": "evaluate", "fn": "el" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = running.act(body).await;
        assert!(invalid(&answer), "{answer:?}");
    }
}

#[tokio::test]
async fn what_the_query_says_wins_over_the_body() {
    let running = start().await;
    let evaluate = json!({ "kind": "evaluate", "fn": "1", "targetId": "t1", "timeoutMs": 5000 }).to_string();
    for (line, body, text) in [
        ("POST /act?timeoutMs=0", evaluate.as_str(), "timeoutMs must be a positive integer."),
        ("POST /act?profile=zzz", &evaluate, "Profile \"zzz\" not found."),
        ("POST /hooks/dialog?timeoutMs=x", r#"{"accept":true}"#, "timeoutMs must be a positive integer."),
        (
            "POST /tabs/t1/restart?timeoutMs=1.5",
            r#"{"timeoutMs":5000}"#,
            "timeoutMs must be a positive integer.",
        ),
        ("DELETE /tabs/t1?timeoutMs=-1", "", "timeoutMs must be a positive integer."),
        ("GET /readyz?timeoutMs=x", "", "timeoutMs must be a positive integer."),
    ] {
        let answer = running.call(line, body).await;
        assert!(error(&answer).1.starts_with(text), "{line}: {answer:?}");
    }
    let named = running.call("POST /act?targetId=t2", &evaluate).await;
    assert_eq!(named.body["reason"], "browser_not_running", "{named:?}");
}

#[tokio::test]
async fn without_a_browser_no_tab_can_be_meant_and_one_that_cannot_be_started_says_why() {
    let running = start().await;
    let answer = running.act(json!({ "kind": "evaluate", "fn": "1", "targetId": "zzzz" })).await;
    let text = "Browser profile \"openclaw\" is not running. Start the browser or open a new tab, then select a current target.";
    assert_eq!((error(&answer), &answer.body["reason"]), ((409, text), &json!("browser_not_running")));
    for (target, status) in [("t1", 409), ("99", 409), ("open", 409), ("%20x", 409), ("%ff", 404)] {
        assert_eq!(running.call(&format!("DELETE /tabs/{target}"), "").await.status, status, "{target}");
    }
    for _ in 0..3 {
        let answer = running.act(json!({ "kind": "evaluate", "fn": "1" })).await;
        assert_eq!((answer.status, &answer.body["reason"]), (409, &json!("unavailable")), "{answer:?}");
        assert!(
            error(&answer).1.starts_with("Browser profile \"openclaw\" could not be started: "),
            "{answer:?}"
        );
    }
    let cooling = running.call("POST /start", "").await;
    assert_eq!((cooling.status, &cooling.body["reason"]), (409, &json!("cooling_down")), "{cooling:?}");
    assert!(cooling.head.contains("retry-after: "), "{cooling:?}");
    let status = running.call("GET /", "").await;
    assert_eq!((&status.body["running"], &status.body["pid"]), (&json!(false), &json!(null)));
    assert!(status.body["trouble"].as_str().unwrap().contains("3 times in a row"), "{status:?}");
    let ready = running.call("GET /readyz", "").await;
    assert_eq!((ready.status, &ready.body["reason"]), (503, &json!("browser_stopped")));
    let doctor = running.call("GET /doctor", "").await;
    assert_eq!((&doctor.body["ok"], &doctor.body["status"]), (&json!(false), &json!("fail")), "{doctor:?}");
    assert_eq!(running.call("GET /tabs", "").await.body, json!({ "running": false, "tabs": [] }));
    let health = running.call("GET /healthz", "").await;
    assert_eq!(
        (health.status, &health.body["ok"], &health.body["browser"]["ready"]),
        (200, &json!(true), &json!(false))
    );
}

#[tokio::test]
async fn the_opening_of_a_tab_is_checked_first() {
    let running = start().await;
    let open = async |body: Value| running.call("POST /tabs/open", &body.to_string()).await;
    assert_eq!(error(&open(json!({})).await), (400, "url is required"));
    for (url, text) in [
        ("file:///etc/passwd", "Navigation blocked: unsupported protocol \"file:\""),
        ("javascript:alert(1)", "Navigation blocked: unsupported protocol \"javascript:\""),
        ("http://me:secret@example.org/", "Navigation blocked: credentials in the URL are not allowed"),
    ] {
        let answer = open(json!({ "url": url })).await;
        assert_eq!((error(&answer), &answer.body["reason"]), ((400, text), &json!("navigation_blocked")));
    }
    assert_eq!(open(json!({ "url": "x" })).await.body["reason"], "navigation_blocked");
    let answer = open(json!({ "url": "about:blank", "label": "a b" })).await;
    assert_eq!((answer.status, &answer.body["details"]["field"]), (400, &json!("label")));
    assert_eq!(
        error(&open(json!({ "url": "about:blank", "timeoutMs": 0 })).await),
        (400, "timeoutMs must be a positive integer.")
    );
    assert_eq!(open(json!({ "url": "about:blank" })).await.status, 409);
}

#[tokio::test]
async fn scripts_can_be_switched_off() {
    let running = start_with(|config| config.browser.evaluate_enabled = false).await;
    let answer = running.act(json!({ "kind": "evaluate", "fn": "1" })).await;
    assert_eq!((answer.status, &answer.body["code"]), (403, &json!("ACT_EVALUATE_DISABLED")));
    let text = "act:evaluate is disabled by config (browser.evaluateEnabled=false).";
    assert!(answer.body["error"].as_str().unwrap().starts_with(text));
}

#[tokio::test]
async fn a_stopping_service_refuses_work_and_still_tells_how_it_is() {
    let running = start().await;
    running.service.refuse_work();
    for answer in [
        running.act(json!({ "kind": "evaluate", "fn": "1" })).await,
        running.call("POST /tabs/open", r#"{"url":"about:blank"}"#).await,
        running.call("DELETE /tabs/t1", "").await,
    ] {
        assert_eq!((answer.status, &answer.body["reason"]), (503, &json!("stopping")));
    }
    assert_eq!(running.call("GET /healthz", "").await.body["stopping"], true);
    running.service.idle().await;
}

#[tokio::test]
async fn metrics_are_served_once_there_are_some() {
    let config = Config::default();
    let supervisor = Supervisor::start(16).await.unwrap();
    let service =
        Service::new(supervisor, None, Access::for_everybody(), &config).with_metrics(|| "a 1\n".into());
    let (address, _server) = serve(router(service)).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("\r\n\r\na 1\n"), "{text}");
}

/// Says when it is made and when it is dropped.
struct Held(mpsc::Sender<&'static str>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.try_send("dropped").unwrap();
    }
}

/// A server like the service's, with a handler that never answers.
async fn never_answering() -> (SocketAddr, Task<()>, mpsc::Receiver<&'static str>) {
    let (tell, told) = mpsc::channel(4);
    let held = async move || {
        tell.send("running").await.unwrap();
        let _held = Held(tell.clone());
        std::future::pending::<()>().await;
    };
    let supervisor = Supervisor::start(16).await.unwrap();
    let service = Service::new(supervisor, None, Access::for_everybody(), &Config::default());
    let router = router(service).merge(Router::new().route(
        "/never",
        post(move || {
            let held = held.clone();
            async move { held().await }
        }),
    ));
    let (address, server) = serve(router).await;
    (address, server, told)
}

/// What the handler says next, which must be soon.
async fn soon(told: &mut mpsc::Receiver<&'static str>) -> Option<&'static str> {
    Budget::new(Duration::from_secs(10)).run(told.recv()).await.unwrap_or(Some("nothing"))
}

const NEVER: &[u8] = b"POST /never HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";

#[tokio::test]
async fn a_client_that_closes_its_connection_drops_the_handler() {
    let (address, _server, mut told) = never_answering().await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(NEVER).await.unwrap();
    assert_eq!(soon(&mut told).await, Some("running"));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(told.try_recv().is_err(), "it must run on while its client waits");
    drop(socket);
    assert_eq!(soon(&mut told).await, Some("dropped"));
}

#[tokio::test]
async fn a_client_that_closes_only_its_own_direction_counts_as_gone() {
    let (address, _server, mut told) = never_answering().await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(NEVER).await.unwrap();
    assert_eq!(soon(&mut told).await, Some("running"));
    socket.shutdown().await.unwrap();
    assert_eq!(soon(&mut told).await, Some("dropped"));
}
