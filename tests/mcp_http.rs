//! `POST /mcp`: the same checks as for every other route, sessions, and callers of protocols that have none.
#![cfg(feature = "mcp")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write as _;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support;
use support::mcp::{code, told};
use support::served::{Served, serve, serve_with};
use support::service::Home;
use support::{Pages, eventually, secs};

const ACCEPT: &str = "application/json, text/event-stream";

/// An answer: status, headers, and the messages of its body.
#[derive(Debug)]
struct Said {
    status: u16,
    head: String,
    text: String,
}

impl Said {
    /// The answer to the request, whichever way it came.
    fn message(&self) -> Value {
        let events = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data:").or(line.starts_with('{').then_some(line)));
        let mut messages = events.filter_map(|text| serde_json::from_str::<Value>(text.trim()).ok());
        messages.rfind(|it| it.get("id").is_some()).unwrap_or_else(|| panic!("no message: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }
}

fn request(address: std::net::SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut head =
        format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "Host") {
        write!(head, "Host: {address}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    format!("{head}\r\n{body}")
}

/// Sends a request with these headers, and reads until the answer is over.
async fn send(address: std::net::SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> Said {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request(address, method, headers, body).as_bytes()).await.unwrap();
    let mut read = Vec::new();
    socket.read_to_end(&mut read).await.unwrap();
    let text = String::from_utf8_lossy(&read).into_owned();
    let (head, text) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    Said { status, head: head.to_owned(), text: text.to_owned() }
}

const JSON: [(&str, &str); 2] = [("Content-Type", "application/json"), ("Accept", ACCEPT)];

fn initialize() -> String {
    let about = json!({ "name": "test", "version": "0" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

/// A session over HTTP.
struct Session {
    address: std::net::SocketAddr,
    id: String,
}

impl Session {
    async fn begin(served: &Served) -> Self {
        let address = served.http.address;
        let said = send(address, "POST", &JSON, &initialize()).await;
        assert_eq!(said.status, 200, "{said:?}");
        let session = Self { address, id: said.header("mcp-session-id").expect("a session") };
        session.post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        session
    }

    async fn post(&self, message: Value) -> Said {
        let headers =
            [JSON[0], JSON[1], ("Mcp-Session-Id", &self.id), ("MCP-Protocol-Version", "2025-11-25")];
        send(self.address, "POST", &headers, &message.to_string()).await
    }

    async fn tool(&self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        let said =
            self.post(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params })).await;
        told(&said.message()["result"])
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_of_a_session_go_with_it() {
    let served = serve().await;
    let session = Session::begin(&served).await;
    let opened = session.tool("browser_navigate", json!({ "url": served.pages.url("/acts") })).await;
    let tab = opened["observed"]["tab_id"].as_str().unwrap().to_owned();
    let title = session.tool("browser_evaluate", json!({ "function": "document.title" })).await;
    assert_eq!(
        (&title["observed"]["value"], &title["observed"]["tab_id"]),
        (&json!("acts"), &json!(tab)),
        "{title}"
    );
    let other = Session::begin(&served).await;
    let none = other.tool("browser_click", json!({ "ref": "e1" })).await;
    assert_eq!(code(&none), "browser_tab_required", "a session has its own tabs: {none}");

    let headers = [("Mcp-Session-Id", session.id.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let ended = send(session.address, "DELETE", &headers, "").await;
    assert!((200..300).contains(&ended.status), "{ended:?}");
    eventually("its tab is closed", || async {
        (!served.http.tabs().await.iter().any(|row| row["tabId"] == tab)).then_some(())
    })
    .await;
    let late = session.post(json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })).await;
    assert_eq!(late.status, 404, "{late:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_without_sessions_name_their_tab_or_a_session() {
    let served = serve().await;
    let call = async |name: &str, arguments: Value| {
        let (headers, message) = stateless(name, &arguments);
        let said = send(served.http.address, "POST", &headers, &message).await;
        assert_eq!(said.status, 200, "{said:?}");
        told(&said.message()["result"])
    };
    let opened = call("browser_tabs", json!({ "action": "open", "url": served.pages.url("/acts") })).await;
    let tab = opened["observed"]["tab_id"].clone();
    let title = call("browser_evaluate", json!({ "tab_id": tab, "function": "document.title" })).await;
    assert_eq!(title["observed"]["value"], "acts", "the tab outlives the call: {title}");
    let nameless = call("browser_evaluate", json!({ "function": "1" })).await;
    assert_eq!(code(&nameless), "browser_tab_required", "no tab of another caller is taken: {nameless}");
    let mine = call("browser_navigate", json!({ "url": served.pages.url("/ok"), "session": "mine" })).await;
    let again = call("browser_evaluate", json!({ "function": "document.title", "session": "mine" })).await;
    assert_eq!(
        (&again["observed"]["value"], &again["observed"]["tab_id"]),
        (&json!("ok"), &mine["observed"]["tab_id"]),
        "{again}"
    );
    // Who goes away cancels.
    let counts = "async () => { for (;;) { window.count = (window.count || 0) + 1; await new Promise(go => setTimeout(go, 5)); } }";
    let tab = mine["observed"]["tab_id"].as_str().unwrap();
    let (headers, message) = stateless("browser_evaluate", &json!({ "tab_id": tab, "function": counts }));
    let mut socket = TcpStream::connect(served.http.address).await.unwrap();
    socket.write_all(request(served.http.address, "POST", &headers, &message).as_bytes()).await.unwrap();
    let count = async || served.http.evaluate(tab, "window.count || 0").await["result"].as_u64().unwrap();
    eventually("it counts", || async { (count().await > 3).then_some(()) }).await;
    drop(socket);
    let later = "new Promise(done => setTimeout(() => done(window.count), 200))";
    eventually("it counts no more", || async {
        let before = count().await;
        (served.http.evaluate(tab, later).await["result"] == before).then_some(())
    })
    .await;
    served.stop().await;
}

/// A call of a client that has no session, as its headers and its body.
fn stateless<'a>(name: &'a str, arguments: &Value) -> (Vec<(&'static str, &'a str)>, String) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let headers = vec![
        JSON[0],
        JSON[1],
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", name),
    ];
    (headers, message.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_call_is_turned_away_before_anything_is_read() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let address = service.http.address;
    let bearer = format!("Bearer {}", service.http.token.as_ref().unwrap());
    let know: (&str, &str) = ("Authorization", &bearer);
    for (headers, status) in [
        (vec![], 401),
        (vec![("Authorization", "Bearer wrong")], 401),
        (vec![know, ("Host", "evil.example")], 403),
        (vec![know, ("Origin", "https://evil.example")], 403),
        (vec![know, ("Sec-Fetch-Site", "cross-site")], 403),
        (vec![know], 200),
        (vec![know, ("Origin", "http://localhost:3000")], 200),
    ] {
        let all: Vec<_> = JSON.iter().copied().chain(headers.iter().copied()).collect();
        let said = send(address, "POST", &all, &initialize()).await;
        assert_eq!(said.status, status, "{headers:?}: {said:?}");
    }
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(3 << 20));
    let all: Vec<_> = JSON.iter().copied().chain([know]).collect();
    let said = send(address, "POST", &all, &long).await;
    assert_eq!(said.status, 413, "{}", said.head);
    drop(pages);
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_configured_holds_for_the_tools() {
    let served = serve_with(|config| {
        config.browser.evaluate_enabled = false;
        config.limits.max_budget_ms = 30_000;
    })
    .await;
    let session = Session::begin(&served).await;
    session.tool("browser_navigate", json!({ "url": served.pages.url("/ok") })).await;
    let disabled = session.tool("browser_evaluate", json!({ "function": "1" })).await;
    assert_eq!(code(&disabled), "browser_evaluate_disabled", "{disabled}");
    let long = session.tool("browser_wait", json!({ "text": "x", "timeout_ms": 30_001 })).await;
    assert_eq!(
        (code(&long), &long["refusal"]["detail"]["field"]),
        ("browser_invalid_argument", &json!("timeout_ms")),
        "{long}"
    );
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_open_holds_up_no_end() {
    let home = Home::new();
    let mut service = home.serve(&[]).await;
    let address = service.http.address;
    let bearer = format!("Bearer {}", service.http.token.as_ref().unwrap());
    let all: Vec<_> = JSON.iter().copied().chain([("Authorization", bearer.as_str())]).collect();
    let begun = send(address, "POST", &all, &initialize()).await;
    let session = begun.header("mcp-session-id").unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nAuthorization: {bearer}\r\nMcp-Session-Id: {session}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    socket.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    service.terminate().await;
    let mut rest = Vec::new();
    let ended = Budget::new(secs(5)).run(socket.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the stream has ended");
    home.assert_nothing_left();
}
