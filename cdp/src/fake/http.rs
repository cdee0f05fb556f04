//! The HTTP side of the DevTools port.

use std::future::poll_fn;
use std::net::IpAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::model::version_page;
use super::shared::Shared;
use super::socket;
use super::valve::Valve;

/// No client sends a longer head.
const MAX_HEAD: usize = 64 << 10;

/// The head of a request.
struct Head {
    path: String,
    host: String,
    origin: Option<String>,
    upgrade: bool,
    key: Option<String>,
}

/// What becomes of a request.
enum Answer {
    Page(u16, String),
    /// A WebSocket, at a page's address or the browser's.
    Socket(Option<String>),
}

/// Serves one connection: requests one after another, until one makes it a WebSocket.
pub(super) async fn serve<S>(shared: &Shared, mut stream: Valve<S>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut read = Vec::new();
    loop {
        let head = tokio::select! {
            biased;
            () = shared.ended.cancelled() => return,
            head = read_head(&mut stream, &mut read) => head,
        };
        let Some(head) = head else { return };
        match answer(shared, &head) {
            Answer::Page(status, body) => stream.inject(&response(status, &body)),
            Answer::Socket(target) => {
                let key = head.key.as_deref().unwrap_or_default();
                let Some((conn, wake)) = shared.open(target.as_deref()) else { return };
                stream.inject(&switching(key));
                return socket::serve(shared, conn, &wake, stream, read).await;
            }
        }
        let written = tokio::select! {
            biased;
            () = shared.ended.cancelled() => return,
            written = written(shared, &mut stream) => written,
        };
        if written.is_err() {
            return;
        }
    }
}

/// Waits until everything is on the wire.
pub(super) async fn written<S>(shared: &Shared, stream: &mut Valve<S>) -> std::io::Result<()>
where
    S: AsyncWrite + Unpin,
{
    shared.stalled.over().await;
    poll_fn(|cx| stream.poll_drain(cx)).await
}

/// Reads up to the end of a head; what follows it stays in `read`.
async fn read_head<S>(stream: &mut Valve<S>, read: &mut Vec<u8>) -> Option<Head>
where
    S: AsyncRead + Unpin,
{
    loop {
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head: Vec<u8> = read.drain(..end + 4).collect();
            return parse(&String::from_utf8_lossy(&head));
        }
        if read.len() > MAX_HEAD || stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
}

fn parse(head: &str) -> Option<Head> {
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let mut parsed = Head { path, host: String::new(), origin: None, upgrade: false, key: None };
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => value.clone_into(&mut parsed.host),
            "origin" => parsed.origin = Some(value.to_owned()),
            "upgrade" => parsed.upgrade = value.eq_ignore_ascii_case("websocket"),
            "sec-websocket-key" => parsed.key = Some(value.to_owned()),
            _ => {}
        }
    }
    Some(parsed)
}

fn answer(shared: &Shared, head: &Head) -> Answer {
    let path = head.path.split('?').next().unwrap_or_default();
    if !is_local(&head.host) {
        // Chrome's protection against DNS rebinding.
        let why = "Host header is specified and is not an IP address or localhost.";
        return Answer::Page(500, why.to_owned());
    }
    if let Some((status, body)) = shared.page(path) {
        return Answer::Page(status, body);
    }
    if head.upgrade {
        return upgrade(shared, head, path);
    }
    let pretty = |page: &Value| Answer::Page(200, format!("{page:#}"));
    match path.trim_end_matches('/') {
        "/json/version" => {
            pretty(&version_page(&format!("{}{}", base(shared, head), browser_path(&shared.guid))))
        }
        "/json" | "/json/list" => pretty(&list(shared, head)),
        _ => Answer::Page(404, String::new()),
    }
}

fn upgrade(shared: &Shared, head: &Head, path: &str) -> Answer {
    if let Some(origin) = &head.origin {
        let why = format!(
            "Rejected an incoming WebSocket connection from the {origin} origin. Use the command line flag \
             --remote-allow-origins={origin} to allow connections from this origin or \
             --remote-allow-origins=* to allow all origins."
        );
        return Answer::Page(403, why);
    }
    if path == browser_path(&shared.guid) {
        return Answer::Socket(None);
    }
    match path.strip_prefix("/devtools/page/") {
        Some(id) if shared.ask(|model| model.has_target(id)) => Answer::Socket(Some(id.to_owned())),
        Some(id) => Answer::Page(500, format!("No such target id: {id}")),
        None => Answer::Page(404, String::new()),
    }
}

fn list(shared: &Shared, head: &Head) -> Value {
    let base = base(shared, head);
    let page = |id: String, title: &str, url: &str| {
        let socket = format!("{base}/devtools/page/{id}");
        json!({
            "description": "", "id": id, "title": title, "type": "page", "url": url,
            "webSocketDebuggerUrl": socket,
        })
    };
    shared.ask(|model| {
        let pages = model.target_ids().into_iter().map(|id| {
            let (title, url) = model.about(&id);
            page(id.clone(), title, url)
        });
        pages.collect()
    })
}

/// Like Chrome, the addresses name the host by which the client came.
fn base(shared: &Shared, head: &Head) -> String {
    let host = shared.advertised.as_deref().unwrap_or(&head.host);
    format!("{}://{host}", if shared.tls { "wss" } else { "ws" })
}

pub(super) fn browser_path(guid: &str) -> String {
    format!("/devtools/browser/{guid}")
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.is_empty() || name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok()
}

fn response(status: u16, body: &str) -> Vec<u8> {
    let reason = match status {
        200 => "OK",
        403 => "Forbidden",
        404 => "Not Found",
        500 => "Internal Server Error",
        _ => "Scripted",
    };
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: application/json; charset=UTF-8\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn switching(key: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 101 WebSocket Protocol Handshake\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        derive_accept_key(key.as_bytes())
    )
    .into_bytes()
}
