//! Opening the WebSocket to Chromium.
//!
//! Everything happens inside the caller's future: no task is spawned and there is no deadline of
//! its own, so dropping the future closes the socket, and the caller's budget is the only clock.

mod open;
mod proxy;
mod trust;

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::http::header::{AUTHORIZATION, HOST, HeaderName, USER_AGENT};
use tokio_tungstenite::tungstenite::http::{HeaderMap, HeaderValue, Request, StatusCode};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use url::{Host, Url};

use crate::error::CdpError;

pub use open::Stream;
pub(crate) use open::{OpenError, secure, tcp, tls};
pub use proxy::{ProxyPolicy, ProxyRules};
pub use trust::{BadRoot, TlsTrust};

/// An open WebSocket, plain or over TLS.
pub type Socket = WebSocketStream<Stream>;

/// How links are opened. Its `Debug` text has no header values and no proxy addresses.
#[derive(Clone)]
pub struct DialOptions {
    /// Largest message from Chromium in bytes; a larger one ends the link.
    pub max_frame_bytes: usize,
    /// Whose certificates are believed.
    pub tls: TlsTrust,
    /// Which proxy leads to remote hosts; loopback hosts never go through one.
    pub proxy: ProxyPolicy,
    /// Headers sent with the WebSocket handshake and with discovery's request, over our own.
    pub headers: Vec<(String, String)>,
}

impl Default for DialOptions {
    fn default() -> Self {
        Self {
            max_frame_bytes: 64 << 20,
            tls: TlsTrust::default(),
            proxy: ProxyPolicy::FromEnv,
            headers: Vec::new(),
        }
    }
}

impl fmt::Debug for DialOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("DialOptions")
            .field("max_frame_bytes", &self.max_frame_bytes)
            .field("proxy", &self.proxy)
            .field("header_names", &names)
            .finish_non_exhaustive()
    }
}

/// Opens a WebSocket to `address` (`ws` or `wss`).
///
/// # Errors
/// [`CdpError::Connect`] with the reason in words; there is no other.
pub async fn dial(address: &Url, options: &DialOptions) -> Result<Socket, CdpError> {
    let failed = |why: String| CdpError::Connect { address: shown(address), why };
    if !matches!(address.scheme(), "ws" | "wss") {
        return Err(failed("not a WebSocket address (ws:// or wss://)".into()));
    }
    match handshake(address, options, None).await {
        // Chromium serves a host name other than localhost only under a Host it trusts.
        Err(Failed::Status(StatusCode::INTERNAL_SERVER_ERROR))
            if may_be_refused_by_host(address, options) =>
        {
            handshake(address, options, Some(TRUSTED_HOST)).await.map_err(|why| failed(why.to_string()))
        }
        other => other.map_err(|why| failed(why.to_string())),
    }
}

/// A `Host` that Chromium's DevTools server always serves.
pub(crate) const TRUSTED_HOST: &str = "localhost";

/// Chromium refuses requests whose `Host` is neither an IP address nor localhost (a guard against
/// DNS rebinding). True where that can be why it refused.
pub(crate) fn may_be_refused_by_host(address: &Url, options: &DialOptions) -> bool {
    let named = matches!(address.host(), Some(Host::Domain(name)) if !is_local_name(name));
    named && !options.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(HOST.as_str()))
}

/// Why there is no WebSocket, for the text of the error.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the WebSocket handshake was answered with {0}{hint}", hint = hint(*.0))]
    Status(StatusCode),
    #[error("{0}")]
    Other(String),
}

fn hint(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => " (it wants credentials)",
        StatusCode::NOT_FOUND => " (no such endpoint there; a browser that restarted has a new one)",
        _ => "",
    }
}

async fn handshake(address: &Url, options: &DialOptions, host: Option<&str>) -> Result<Socket, Failed> {
    let request = request(address, options, host).map_err(Failed::Other)?;
    let stream = open::open(address, options).await?;
    tokio_tungstenite::client_async_with_config(request, stream, Some(config(options.max_frame_bytes)))
        .await
        .map(|(socket, _)| socket)
        .map_err(|error| match error {
            Error::Http(response) => Failed::Status(response.status()),
            Error::Io(error) => Failed::Other(format!("the connection broke during the handshake: {error}")),
            other => Failed::Other(format!("no WebSocket server answers there: {other}")),
        })
}

fn config(max_frame_bytes: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        // Allocated per link and for its whole life; there are four links and more per tab. Messages
        // larger than this get their own room when their length is known.
        .read_buffer_size(8 << 10)
        // A threshold, not an allocation: commands fed together leave in one write.
        .write_buffer_size(8 << 10)
        .max_message_size(Some(max_frame_bytes))
        .max_frame_size(Some(max_frame_bytes))
}

fn request(address: &Url, options: &DialOptions, host: Option<&str>) -> Result<Request<()>, String> {
    let mut bare = address.clone();
    bare.set_fragment(None);
    // Userinfo travels as a header. Both fail only for addresses without a host, which `ws` has.
    if bare.set_username("").is_err() || bare.set_password(None).is_err() {
        return Err("the address has no host".into());
    }
    let mut request = Request::get(bare.as_str())
        .body(())
        .map_err(|_| "the address has characters that cannot be sent".to_owned())?;
    let headers = request.headers_mut();
    *headers = common_headers(address, options, host)?;
    let ours = [
        ("connection", "Upgrade".to_owned()),
        ("upgrade", "websocket".to_owned()),
        ("sec-websocket-version", "13".to_owned()),
        ("sec-websocket-key", generate_key()),
    ];
    for (name, value) in ours {
        let value = HeaderValue::try_from(value).map_err(|error| error.to_string())?;
        if headers.insert(name, value).is_some() {
            return Err(format!("the header {name} belongs to the handshake and cannot be set"));
        }
    }
    Ok(request)
}

/// The headers of the handshake and of discovery's request alike. No `Origin`: Chromium refuses
/// those that it was not started to allow.
///
/// # Errors
/// Names the header that cannot be sent, never its value.
pub(crate) fn common_headers(
    address: &Url,
    options: &DialOptions,
    host: Option<&str>,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let host = host.map_or_else(|| authority(address), str::to_owned);
    let host = HeaderValue::try_from(host).map_err(|_| "the host cannot be sent as a header".to_owned())?;
    headers.insert(HOST, host);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("tabvisor/", env!("CARGO_PKG_VERSION"))));
    if let Some(basic) = basic_auth(address) {
        headers.insert(AUTHORIZATION, basic);
    }
    for (name, value) in &options.headers {
        let parsed = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
        let Some((key, value)) = parsed else {
            return Err(format!("the header {name:?} has characters that cannot be sent"));
        };
        headers.insert(key, value);
    }
    Ok(headers)
}

fn basic_auth(address: &Url) -> Option<HeaderValue> {
    let password = address.password().unwrap_or_default();
    if address.username().is_empty() && password.is_empty() {
        return None;
    }
    let decoded = |text| percent_encoding::percent_decode_str(text).collect::<Vec<u8>>();
    let pair = [decoded(address.username()), decoded(password)].join(&b':');
    let mut value = HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn authority(address: &Url) -> String {
    let host = address.host_str().unwrap_or_default();
    address.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// `address` as it may appear in errors and logs: without userinfo, query, and any path that is
/// not one of the DevTools' own (remote services put tokens there).
pub fn shown(address: &Url) -> String {
    let (scheme, host, path) = (address.scheme(), authority(address), address.path());
    let own = path.starts_with("/devtools/") || path.starts_with("/json");
    let path = if own {
        path
    } else if path.len() > 1 {
        "/..."
    } else {
        ""
    };
    format!("{scheme}://{host}{path}")
}

/// Whether `address` names this machine by itself: localhost, *.localhost, 127/8, `::1` and the
/// unspecified addresses.
pub(crate) fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => is_local_name(name),
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback() || ip.is_unspecified(),
        None => false,
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn what_is_shown_has_no_secret() {
        let cases = [
            ("wss://me:pw@h.example:1/devtools/browser/x?token=T#f", "wss://h.example:1/devtools/browser/x"),
            ("wss://h.example/T0KEN?a=b", "wss://h.example/..."),
            ("http://[::1]:9/?t=1", "http://[::1]:9"),
        ];
        for (given, want) in cases {
            assert_eq!(shown(&url(given)), want);
        }
        let proxy =
            ProxyPolicy::Fixed(ProxyRules { all: "http://me:pw@p:1".into(), ..ProxyRules::default() });
        let headers = vec![("X-Key".into(), "pw".into())];
        let options = DialOptions { proxy, headers, ..DialOptions::default() };
        let text = format!("{options:?}");
        assert!(text.contains("X-Key") && !text.contains("pw"), "{text}");
    }

    #[test]
    fn userinfo_becomes_a_header_and_leaves_the_request() {
        let request =
            request(&url("ws://me:p%40ss@h.example/x?t=1#f"), &DialOptions::default(), None).unwrap();
        assert_eq!(request.uri(), "ws://h.example/x?t=1");
        assert_eq!(request.headers()["authorization"], "Basic bWU6cEBzcw==");
        assert_eq!(request.headers()["host"], "h.example");
        assert!(!request.headers().contains_key("origin"));
    }

    #[test]
    fn headers_of_the_caller_win_but_not_over_the_handshake() {
        let with = |name: &str, value: &str| {
            let headers = vec![(name.to_owned(), value.to_owned())];
            request(&url("ws://me:pw@h.example/"), &DialOptions { headers, ..DialOptions::default() }, None)
        };
        assert_eq!(with("Authorization", "Bearer t").unwrap().headers()["authorization"], "Bearer t");
        assert_eq!(with("Host", "other").unwrap().headers()["host"], "other");
        assert!(with("Upgrade", "h2c").unwrap_err().contains("upgrade"));
        let why = with("X-Bad", "se\ncret").unwrap_err();
        assert!(why.contains("X-Bad") && !why.contains("cret"), "{why}");
    }

    #[test]
    fn loopback_is_told_by_the_address_alone() {
        for local in [
            "ws://localhost:1",
            "ws://LOCALHOST.",
            "ws://a.localhost",
            "ws://127.9.9.9",
            "ws://[::1]",
            "ws://0.0.0.0",
        ] {
            assert!(is_loopback(&url(local)), "{local}");
        }
        for remote in ["ws://localhost.example", "ws://10.0.0.1", "ws://[fe80::1]", "ws://notlocalhost"] {
            assert!(!is_loopback(&url(remote)), "{remote}");
        }
    }
}
