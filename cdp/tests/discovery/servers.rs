//! Small servers that do one thing each, and remember what they were asked.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tabvisor_cdp::link::dial::{DialOptions, ProxyPolicy, ProxyRules, TlsTrust};
use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// Ends a test that would hang; no result depends on it.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(std::time::Duration::from_mins(1), future).await.expect("it hangs")
}

/// What a server does with one request.
pub(crate) enum Reply {
    /// Writes this and closes.
    Bytes(Vec<u8>),
    /// Writes this and keeps the connection open.
    Begin(Vec<u8>),
    /// Becomes a WebSocket that echoes.
    Echo,
    /// Becomes a tunnel to this address, as a proxy does.
    Tunnel(SocketAddr),
}

/// An HTTP answer with a body.
pub(crate) fn http(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
    Reply::Bytes([head.as_bytes(), body].concat())
}

/// The answer of a browser that knows itself as `ws_url`.
pub(crate) fn version(ws_url: &str) -> Reply {
    let body = format!(r#"{{"Browser": "Chrome/1.2.3.4", "webSocketDebuggerUrl": "{ws_url}"}}"#);
    http("200 OK", "application/json; charset=UTF-8", body)
}

/// What Chromium says to a `Host` that it does not trust.
pub(crate) fn host_refused() -> Reply {
    let body = "Host header is specified and is not an IP address or localhost.";
    http("500 Internal Server Error", "text/html", body)
}

/// A server; it ends when dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    /// One message per connection that its client closed.
    pub(crate) closed: mpsc::Receiver<()>,
    _task: Task<()>,
}

impl Server {
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Listens on any IPv4 port.
    pub(crate) async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", None, answer).await.unwrap()
    }

    /// Listens at `place`, over TLS if a certificate is given. `None` where the machine has no
    /// such address (no IPv6).
    pub(crate) async fn at(
        place: &str,
        certificate: Option<&Certificate>,
        answer: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Option<Self> {
        let listener = TcpListener::bind(place).await.ok()?;
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (closing, closed) = mpsc::channel(64);
        let tls = certificate.map(Certificate::acceptor);
        let (answer, log) = (Arc::new(answer), Arc::clone(&heads));
        let task = task::spawn(async move {
            let mut clients = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log, closing, tls) = (answer.clone(), log.clone(), closing.clone(), tls.clone());
                clients.spawn(async move {
                    if let Some(tls) = tls {
                        let Ok(stream) = tls.accept(stream).await else { return };
                        serve(stream, &log, &*answer).await;
                    } else {
                        serve(stream, &log, &*answer).await;
                    }
                    let _ = closing.send(()).await;
                });
            }
        });
        Some(Self { address, heads, closed, _task: task })
    }
}

async fn serve<S>(mut stream: S, log: &Mutex<Vec<String>>, answer: &(impl Fn(&str) -> Reply + ?Sized))
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let head = String::from_utf8(head).unwrap();
    log.lock().unwrap().push(head.clone());
    match answer(&head) {
        Reply::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Reply::Begin(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.flush().await;
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        }
        Reply::Echo => echo(stream, &head).await,
        Reply::Tunnel(to) => {
            let mut to = TcpStream::connect(to).await.unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await;
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut to).await;
        }
    }
}

async fn echo<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, head: &str) {
    let key = header(head, "sec-websocket-key").unwrap_or_default();
    let accept = derive_accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 WebSocket Protocol Handshake\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() && socket.send(message).await.is_err() {
            break;
        }
    }
}

/// A header of a request head.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// A server that speaks before it is asked, then waits.
pub(crate) async fn banner(text: &'static str) -> (u16, Task<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = task::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.write_all(text.as_bytes()).await.unwrap();
            held.push(stream);
        }
    });
    (port, task)
}

/// A port where nobody listens: bound, so that no other test gets it meanwhile.
pub(crate) struct DeadPort(TcpSocket);

impl DeadPort {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self(socket)
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }
}

/// A self-signed certificate for the hosts of these tests.
pub(crate) struct Certificate {
    der: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let names = ["localhost", "127.0.0.1", "far.example"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self { der: made.cert.der().clone(), key: made.signing_key.serialize_der() }
    }

    pub(crate) fn trusted(&self) -> DialOptions {
        let tls = TlsTrust::with_roots(std::slice::from_ref(&self.der)).unwrap();
        DialOptions { tls, proxy: ProxyPolicy::None, ..DialOptions::default() }
    }

    fn acceptor(&self) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(self.key.clone()).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.der.clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Options that use no proxy whatever the environment says.
pub(crate) fn direct() -> DialOptions {
    DialOptions { proxy: ProxyPolicy::None, ..DialOptions::default() }
}

/// Every proxy variable set to `address`.
pub(crate) fn through(address: &str) -> ProxyPolicy {
    ProxyPolicy::Fixed(ProxyRules { all: address.to_owned(), ..ProxyRules::default() })
}
