//! A Chromium and a server of fixture pages.

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::{Chromium, LaunchOptions, launch};
use tabvisor_cdp::link::{Delivery, DialOptions, Events, Link, LinkOptions, Purpose, Session};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::refs::{FrameId, RefTable};
use tabvisor_page::snapshot::{Capture, Limits, Part, Rendered, TextOptions, capture, render_role};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::pages;

/// One tab of a Chromium of its own, and the server of its pages.
pub(crate) struct Stage {
    chromium: Chromium,
    pub(crate) link: Link,
    pub(crate) session: Session,
    attached: Events,
    children: Vec<(FrameId, Session)>,
    port: u16,
    _server: Task<()>,
    _state: TempDir,
}

/// Long enough for whatever answers at all, on a busy machine too.
pub(crate) fn budget() -> Budget {
    Budget::new(Duration::from_mins(1))
}

impl Stage {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = task::spawn(serve(listener));
        let state = TempDir::new().unwrap();
        let mut options = LaunchOptions::new(state.path());
        // Chromium has no sandbox for root.
        options.no_sandbox = rustix::process::geteuid().is_root();
        let chromium = launch(&options, &budget()).await.expect("a chromium is installed and starts");
        let link_options = LinkOptions::new(Purpose::Page);
        let link = Link::connect(chromium.address(), &DialOptions::default(), link_options, &budget())
            .await
            .unwrap();
        let made = link
            .root()
            .call("Target.createTarget", json!({ "url": "about:blank" }), &budget())
            .await
            .unwrap();
        let made: Value = serde_json::from_str(made.get()).unwrap();
        let session = link.attach(made["targetId"].as_str().unwrap(), &budget()).await.unwrap();
        let attached = session.subscribe(&["Target.attachedToTarget", "Target.detachedFromTarget"], 64);
        let stage = Self {
            chromium,
            link,
            session,
            attached,
            children: Vec::new(),
            port,
            _server: server,
            _state: state,
        };
        stage.call("Page.enable", json!({})).await;
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
        stage.call("Target.setAutoAttach", attach).await;
        stage
    }

    pub(crate) async fn stop(self) {
        drop(self.link);
        self.chromium.stop().await;
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Value {
        let answer = self.session.call(method, params, &budget()).await.unwrap();
        serde_json::from_str(answer.get()).unwrap()
    }

    /// Navigates and waits for the document to be parsed.
    pub(crate) async fn open(&self, path: &str) {
        let mut parsed = self.session.subscribe(&["Page.domContentEventFired"], 16);
        self.call("Page.navigate", json!({ "url": self.url(path) })).await;
        budget().run(parsed.next()).await.unwrap();
    }

    pub(crate) async fn evaluate(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", params).await;
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// What `stamp` of an element is; the page's own scripts put it there.
    pub(crate) async fn stamp(&self, backend_node_id: i64) -> Value {
        let node = self.call("DOM.resolveNode", json!({ "backendNodeId": backend_node_id })).await;
        let question = json!({
            "objectId": node["object"]["objectId"], "functionDeclaration": "function(){return this.stamp}",
            "returnByValue": true,
        });
        self.call("Runtime.callFunctionOn", question).await["result"]["value"].clone()
    }

    /// The sessions on frames in processes of their own.
    pub(crate) fn children(&mut self) -> &[(FrameId, Session)] {
        while let Some(Delivery::Event(event)) = self.attached.try_next() {
            let params: Value = serde_json::from_str(event.params.get()).unwrap();
            let session = params["sessionId"].as_str().unwrap();
            if &*event.method == "Target.detachedFromTarget" {
                self.children.retain(|(_, its)| its.id() != Some(session));
            } else if params["targetInfo"]["type"] == "iframe" {
                let frame = params["targetInfo"]["targetId"].as_str().unwrap();
                self.children.push((frame.into(), self.link.session(session)));
            }
        }
        &self.children
    }

    pub(crate) async fn capture(&mut self) -> Capture {
        let session = self.session.clone();
        capture(&session, self.children(), &Part::default(), &Limits::default(), &budget()).await.unwrap()
    }

    /// A role snapshot of everything.
    pub(crate) async fn role(&mut self, table: &mut RefTable) -> (Capture, Rendered) {
        self.role_with(table, &TextOptions { max_chars: 0, ..TextOptions::default() }).await
    }

    pub(crate) async fn role_with(
        &mut self,
        table: &mut RefTable,
        options: &TextOptions,
    ) -> (Capture, Rendered) {
        let capture = self.capture().await;
        let rendered = render_role(&capture, table, options, None);
        (capture, rendered)
    }

    /// Snapshots until one holds, and gives it; for what takes its time and tells nobody.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        holds: impl Fn(&Rendered) -> bool,
    ) -> (Capture, Rendered) {
        for _ in 0..300 {
            let (capture, rendered) = self.role(&mut RefTable::default()).await;
            if holds(&rendered) {
                return (capture, rendered);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let (_, rendered) = self.role(&mut RefTable::default()).await;
        panic!("never: {what}\n{}", rendered.text);
    }
}

/// The ref of the entry with this role and name.
pub(crate) fn ref_of(rendered: &Rendered, role: &str, name: &str) -> String {
    let found = rendered.refs.iter().find(|entry| &*entry.role == role && &*entry.name == name);
    found.unwrap_or_else(|| panic!("no {role} {name:?} in\n{}", rendered.text)).id.to_string()
}

async fn serve(listener: TcpListener) {
    let port = listener.local_addr().unwrap().port();
    let mut open = Vec::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        open.push(task::spawn(answer(socket, port)));
    }
}

async fn answer(mut socket: TcpStream, port: u16) {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if socket.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let target = request.split_whitespace().nth(1).unwrap_or("/");
    let Some(page) = pages::page(target, port) else { return std::future::pending().await };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{page}", page.len());
    socket.write_all(answer.as_bytes()).await.ok();
    socket.shutdown().await.ok();
}
