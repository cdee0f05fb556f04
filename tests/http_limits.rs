//! Callers who mean harm, or have lost their way: refused, bounded, and the service keeps serving. No browser
//! is needed for any of it.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::collections::VecDeque;

use serde_json::{Value, json};
use tabvisor::config::{Config, Secret};
use tabvisor::http::{Access, Service, serve};
use tabvisor::{Budget, Supervisor};
use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::support::http::Http;
use crate::support::secs;

/// A service without a browser.
struct Served {
    http: Http,
    stop: oneshot::Sender<()>,
    server: Task<()>,
}

async fn serve_with(change: impl FnOnce(&mut Config)) -> Served {
    let mut config = Config { state_dir: "/nowhere/tabvisor".into(), ..Config::default() };
    config.browser.chromium = Some("/nowhere/chromium".into());
    change(&mut config);
    let supervisor = Supervisor::start(16).await.unwrap();
    let access = Access::with_secret(Secret::from("s3cret"));
    let service = Service::new(supervisor, None, access, &config);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut http = Http::new(listener.local_addr().unwrap());
    http.token = Some("s3cret".into());
    let (stop, stopped) = oneshot::channel();
    let server = task::spawn(serve(listener, service, async { drop(stopped.await) }));
    Served { http, stop, server }
}

impl Served {
    async fn is_well(&self) {
        assert_eq!(self.http.get("/healthz").await.status, 200);
    }

    /// Opens a connection and says only this.
    async fn say(&self, text: &str) -> TcpStream {
        let mut socket = TcpStream::connect(self.http.address).await.unwrap();
        socket.write_all(text.as_bytes()).await.unwrap();
        socket
    }

    /// Sends these bytes and reads until the service closes.
    async fn raw(&self, bytes: &[u8]) -> String {
        let mut socket = TcpStream::connect(self.http.address).await.unwrap();
        // An answer may come before everything is sent.
        let _ = socket.write_all(bytes).await;
        rest_of(socket).await
    }
}

/// What a connection says until it is closed.
async fn rest_of(mut socket: TcpStream) -> String {
    let mut said = Vec::new();
    let reading = async { while let Ok(1..) = socket.read_buf(&mut said).await {} };
    Budget::new(secs(60)).run(reading).await.expect("the connection is closed");
    String::from_utf8(said).unwrap()
}

fn body_of(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {answer}"))
}

const HEAD: &str =
    "POST /act HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\nConnection: close\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_callers_who_dawdle_take_the_room_of_nobody_who_speaks() {
    const ROOM: usize = 64;
    let served = serve_with(|config| config.server.connections = ROOM).await;
    let mut dawdlers = VecDeque::new();
    for n in 0..10_000 {
        dawdlers.push_back(served.say("GET /healthz HTTP/1.1\r\nHost: local").await);
        if dawdlers.len() > 2 * ROOM {
            let longest = dawdlers.pop_front().unwrap();
            assert_eq!(rest_of(longest).await, "", "it had to make room, {n}");
        }
        if n % 500 == 0 {
            served.is_well().await;
        }
    }
    served.is_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let served = serve_with(|config| config.server.head_timeout_ms = 200).await;
    for said in ["", "GET /heal", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        assert_eq!(rest_of(served.say(said).await).await, "");
    }
    // Also behind a first request.
    let first = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\n\r\n";
    assert!(rest_of(served.say(first).await).await.starts_with("HTTP/1.1 200"));
    served.is_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_everybody_is_at_work_the_next_is_told_when_to_come_again() {
    let served = serve_with(|config| config.server.connections = 2).await;
    let events = "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\n\r\n";
    let mut readers = Vec::new();
    for _ in 0..2 {
        let mut reader = served.say(events).await;
        let mut head = [0; 12];
        reader.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        readers.push(reader);
    }
    let answer = served.raw(events.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 1"), "{answer}");
    let body = body_of(&answer);
    assert_eq!((&body["reason"], &body["details"]["max"]), (&json!("overloaded"), &json!(2)));
    readers.pop();
    crate::support::eventually("there is room again", || async {
        let answer = served.http.get("/healthz").await;
        (answer.status == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_refused_in_json_and_nothing_is_kept_of_it() {
    let served = serve_with(|_| {}).await;
    let body = |body: &[u8]| {
        let head = format!("{HEAD}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let deep = [b"{\"kind\":".as_slice(), &b"[".repeat(100_000)].concat();
    let deep_and_whole = [&b"[".repeat(400_000)[..], &b"]".repeat(400_000)].concat();
    let get = |path: &str| {
        let rest = "Host: localhost\r\nAuthorization: Bearer s3cret\r\nConnection: close\r\n\r\n";
        format!("GET {path} HTTP/1.1\r\n{rest}").into_bytes()
    };
    for (bytes, status) in [
        (body(&deep), 400),
        (body(&deep_and_whole), 400),
        (body(b"{\"kind\":\"\xff\xfe\"}"), 400),
        (body(b"{\"kind\":\"click\",\"ref\":\"\\ud800\"}"), 400),
        (body(b"{\"kind\":1e999}"), 400),
        (format!("{HEAD}Content-Length: 2147483648\r\n\r\n").into_bytes(), 413),
        (format!("{HEAD}Content-Length: 2147483648\r\nExpect: 100-continue\r\n\r\n").into_bytes(), 413),
        (get("/tabs/%ff%fe"), 404),
        (get("/tabs/..%2f..%2fetc%2fpasswd"), 409),
        (get("/storage/%ff"), 400),
        (get("/tabs?profile=%ff"), 404),
        (get("/tabs?profile=%00"), 404),
        (get("/../../etc/passwd"), 404),
    ] {
        let answer = served.raw(&bytes).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{status}: {answer} to {}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(200)])
        );
        let body = body_of(&answer);
        assert!(body["error"].is_string() && body["reason"].is_string(), "{body}");
        served.is_well().await;
    }
    // What is no HTTP is none to answer in JSON, but it is answered or closed.
    for bytes in
        [&b"\x16\x03\x01\x02\x00\x01\x00"[..], b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\nnonsense\r\n\r\n"]
    {
        let answer = served.raw(bytes).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 505"),
            "{answer}"
        );
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1 << 20));
    let answer = served.raw(long.as_bytes()).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 505"),
        "{answer}"
    );
    served.is_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gigabytes_in_chunks_are_refused_after_the_first_megabyte() {
    let served = serve_with(|_| {}).await;
    let (mut from, mut to) =
        served.say(&format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n")).await.into_split();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let sending = async {
        let mut sent = 0_u64;
        while sent < 2 << 30 {
            if to.write_all(chunk.as_bytes()).await.is_err() {
                break;
            }
            sent += 0x10000;
        }
        sent
    };
    let reading = async {
        let mut said = Vec::new();
        while let Ok(1..) = from.read_buf(&mut said).await {}
        said
    };
    let (sent, said) = Budget::new(secs(60)).run(async { tokio::join!(sending, reading) }).await.unwrap();
    assert!(sent < 2 << 30, "all of it was taken");
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("HTTP/1.1 413"), "{said}");
    served.is_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_description_needs_no_token_but_is_for_nobody_elses_name() {
    let mut served = serve_with(|_| {}).await;
    served.http.token = None;
    let document = served.http.get("/openapi.json").await;
    assert_eq!((document.status, &document["info"]["title"]), (200, &json!("tabvisor")));
    let page = served.http.get("/docs").await;
    assert!(page.status == 200 && page.text.starts_with("<!doctype html>"), "{}", page.head);
    assert!(page.head.contains("default-src 'none'"), "{}", page.head);
    for path in ["/tabs", "/docs/", "/docs/..", "/openapi.json/x"] {
        assert_eq!(served.http.get(path).await.status, 401, "{path}");
    }
    let rebound = served.raw(b"GET /docs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").await;
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_lets_answers_out_and_closes_who_waits() {
    let served = serve_with(|_| {}).await;
    let idle = served.say("GET /heal").await;
    let body = r#"{"kind":"x"}"#;
    let mut at_work = served.say(&format!("{HEAD}Content-Length: {}\r\n\r\n", body.len())).await;
    // Its head has been read once this is answered: a new connection is taken behind it.
    served.is_well().await;
    served.stop.send(()).unwrap();
    at_work.write_all(body.as_bytes()).await.unwrap();
    let answer = rest_of(at_work).await;
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("ACT_KIND_REQUIRED"), "{answer}");
    drop(idle);
    Budget::new(secs(20)).run(served.server.join()).await.expect("it ends");
    assert!(TcpStream::connect(served.http.address).await.is_err(), "nobody listens any more");
}
