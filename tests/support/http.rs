//! A client of the HTTP service that does as little as possible by itself: one connection per
//! request, and it can go away in the middle of one.

use std::net::SocketAddr;
use std::ops::Index;

use serde_json::{Value, json};
use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::eventually;

/// A service, as a client sees it.
#[derive(Clone)]
pub struct Http {
    pub address: SocketAddr,
    pub token: Option<String>,
}

/// An answer. Its members are those of its body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    /// The body as it came.
    pub text: String,
    /// The body, where it can be read: serde takes no lone surrogates.
    pub body: Value,
}

impl Index<&str> for Answer {
    type Output = Value;

    fn index(&self, member: &str) -> &Value {
        &self.body[member]
    }
}

impl Answer {
    pub fn error(&self) -> &str {
        self["error"].as_str().unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    pub fn has(&self, member: &str) -> bool {
        self.body.get(member).is_some()
    }

    fn read(bytes: Vec<u8>) -> Self {
        let text = String::from_utf8(bytes).unwrap();
        let (head, text) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = serde_json::from_str(text).unwrap_or_default();
        Self { status, head: head.to_owned(), text: text.to_owned(), body }
    }
}

impl Http {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, token: None }
    }

    /// Sends a request and reads its answer. An answer that comes before everything was sent is
    /// one, too.
    pub async fn send(&self, line: &str, body: &str) -> Answer {
        let (mut from, mut to) = TcpStream::connect(self.address).await.unwrap().into_split();
        let request = self.request(line, body);
        let sending = async { to.write_all(request.as_bytes()).await };
        let reading = async {
            let mut read = Vec::with_capacity(16 << 10);
            while let Ok(1..) = from.read_buf(&mut read).await {}
            read
        };
        Answer::read(tokio::join!(sending, reading).1)
    }

    /// Sends a request and waits for nothing. The client goes away when the socket is dropped.
    pub async fn begin(&self, line: &str, body: &str) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(self.request(line, body).as_bytes()).await.unwrap();
        socket
    }

    fn request(&self, line: &str, body: &str) -> String {
        let token = self.token.iter().map(|token| format!("Authorization: Bearer {token}\r\n"));
        format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{}Content-Type: \
             application/json\r\n\r\n{body}",
            self.address,
            body.len(),
            token.collect::<String>(),
        )
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), "").await
    }

    pub async fn act(&self, body: Value) -> Answer {
        self.send("POST /act", &body.to_string()).await
    }

    pub async fn evaluate(&self, tab: &str, function: &str) -> Answer {
        self.act(json!({ "kind": "evaluate", "targetId": tab, "fn": function })).await
    }

    pub async fn evaluate_within(&self, tab: &str, function: &str, ms: u64) -> Answer {
        self.act(json!({ "kind": "evaluate", "targetId": tab, "fn": function, "timeoutMs": ms })).await
    }

    /// The same, on its way.
    pub fn evaluating(&self, tab: &str, function: &str, ms: u64) -> Task<Answer> {
        let (http, tab, function) = (self.clone(), tab.to_owned(), function.to_owned());
        task::spawn(async move { http.evaluate_within(&tab, &function, ms).await })
    }

    pub async fn try_open(&self, body: Value) -> Answer {
        self.send("POST /tabs/open", &body.to_string()).await
    }

    /// Opens a tab, waits until its page has loaded, and gives its name.
    pub async fn open(&self, url: &str) -> String {
        let opened = self.try_open(json!({ "url": url })).await;
        assert_eq!(opened.status, 200, "{opened:?}");
        let tab = opened["tabId"].as_str().unwrap();
        self.loaded(tab).await;
        tab.to_owned()
    }

    /// The answer to an opening comes as soon as there is a document.
    pub async fn loaded(&self, tab: &str) {
        let function = "document.readyState === 'complete' || new Promise(it => addEventListener('load', () => it(true)))";
        let answer = self.evaluate(tab, function).await;
        assert_eq!(answer["result"], true, "{answer:?}");
    }

    pub async fn close(&self, tab: &str) -> Answer {
        self.send(&format!("DELETE /tabs/{tab}"), "").await
    }

    pub async fn tabs(&self) -> Vec<Value> {
        self.get("/tabs").await["tabs"].as_array().unwrap().clone()
    }

    /// The row of a tab.
    pub async fn row(&self, tab: &str) -> Value {
        let rows = self.tabs().await;
        rows.into_iter().find(|row| row["tabId"] == tab).unwrap_or_else(|| panic!("no row of {tab}"))
    }

    /// Waits until so many evaluates of a tab are in flight.
    pub async fn in_flight(&self, tab: &str, evaluates: usize) {
        eventually(&format!("{evaluates} evaluates of {tab} are in flight"), || async {
            (self.row(tab).await["queue"]["evaluates"] == evaluates).then_some(())
        })
        .await;
    }
}
