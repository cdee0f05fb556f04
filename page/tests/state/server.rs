//! A server of fixture pages that counts what was asked of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The running server; it ends with its value.
pub(crate) struct Server {
    pub(crate) port: u16,
    shared: Arc<Shared>,
    _accepting: Task<()>,
}

#[derive(Default)]
struct Shared {
    asked: Mutex<HashMap<String, usize>>,
    /// Opened for `/gate`, which answers nothing before.
    gate: watch::Sender<bool>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let accepting = task::spawn(accept(listener, Arc::clone(&shared)));
        Self { port, shared, _accepting: accepting }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// How often a path was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.shared.asked.lock().unwrap().get(path).copied().unwrap_or(0)
    }

    pub(crate) fn open_gate(&self) {
        self.shared.gate.send_replace(true);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut open = Vec::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        open.push(task::spawn(answer(socket, Arc::clone(&shared))));
    }
}

async fn answer(mut socket: TcpStream, shared: Arc<Shared>) {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if socket.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
        // No request but the beginning of TLS.
        if request[0] == 0x16 {
            socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.ok();
            return;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split_whitespace().nth(1).unwrap_or("/").to_owned();
    *shared.asked.lock().unwrap().entry(path.clone()).or_default() += 1;
    match path.as_str() {
        "/never" => std::future::pending().await,
        // Closed without a word: ERR_EMPTY_RESPONSE.
        "/broken" => return,
        "/gate" => {
            let mut gate = shared.gate.subscribe();
            gate.wait_for(|open| *open).await.ok();
        }
        // The document is there, but never ends.
        "/endless" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100000\r\n\r\n";
            let start = format!("{head}<!doctype html><title>Endless</title><p>{}", "x".repeat(2000));
            socket.write_all(start.as_bytes()).await.ok();
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    socket.write_all(response(&path).as_bytes()).await.ok();
    socket.shutdown().await.ok();
}

fn response(path: &str) -> String {
    let (status, headers, body) = match path {
        "/204" => ("204 No Content", "", String::new()),
        "/dl" => ("200 OK", "content-disposition: attachment\r\n", "bytes".into()),
        "/empty404" => ("404 Not Found", "", String::new()),
        "/full404" => ("404 Not Found", "", "<!doctype html><title>Not here</title>gone".into()),
        "/redirect" => ("302 Found", "location: /plain\r\n", String::new()),
        _ => ("200 OK", "", page(path)),
    };
    let length =
        if status.starts_with("204") { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let fixed = "content-type: text/html; charset=utf-8\r\nconnection: close\r\n";
    format!("HTTP/1.1 {status}\r\n{fixed}{headers}{length}\r\n{body}")
}

fn page(path: &str) -> String {
    let body = match path {
        "/icon" => "<title>Icon</title><link rel='shortcut ICON' href=/i.png><p>icon",
        "/other" => "<title>Other</title><link rel=icon href=/o.png><p>other",
        "/titleless" => "<p>no title",
        "/bodytitle" => "<body><p>text<svg><title>Not this</title></svg><title>In the body</title>",
        "/bigicon" => {
            "<title>Big</title><script>document.head.insertAdjacentHTML('beforeend',
               `<link rel=icon href=\"data:image/png;base64,${'A'.repeat(70000)}\"><link rel=icon href=/small.png>`)</script>"
        }
        _ => "<title>Plain</title><p>plain",
    };
    format!("<!doctype html>{body}")
}
