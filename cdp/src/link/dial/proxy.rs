//! Proxies: which one leads to a host, and the tunnel through it.

use std::fmt;

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::http::{StatusCode, Uri};
use url::{Host, Url};

use super::is_loopback;
use super::open::{OpenError, Stream, connect, secure};
use super::trust::TlsTrust;

/// Which proxy leads to remote hosts. Loopback hosts never go through one.
#[derive(Clone, Debug, Default)]
pub enum ProxyPolicy {
    /// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case, as curl reads
    /// them: `ws` counts as http, `wss` as https.
    #[default]
    FromEnv,
    /// No proxy.
    None,
    /// The same rules from values given here.
    Fixed(ProxyRules),
}

/// What the variables would say; empty means unset. Its `Debug` text has no addresses, because
/// they may hold credentials.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyRules {
    /// The proxy for `ws` and `http`.
    pub http: String,
    /// The proxy for `wss` and `https`.
    pub https: String,
    /// The proxy where neither is given.
    pub all: String,
    /// Hosts, domains and networks that are reached without a proxy, by comma.
    pub no: String,
}

impl fmt::Debug for ProxyRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyRules")
            .field("http", &!self.http.is_empty())
            .field("https", &!self.https.is_empty())
            .field("all", &!self.all.is_empty())
            .field("no", &self.no)
            .finish()
    }
}

impl ProxyPolicy {
    /// The proxy on the way to `address`, if there is one.
    pub(super) fn on_the_way_to(&self, address: &Url) -> Option<Proxy> {
        if is_loopback(address) {
            return None;
        }
        let matcher = match self {
            Self::None => return None,
            Self::FromEnv => Matcher::from_env(),
            Self::Fixed(rules) => Matcher::builder()
                .http(rules.http.as_str())
                .https(rules.https.as_str())
                .all(rules.all.as_str())
                .no(rules.no.as_str())
                .build(),
        };
        let scheme = if secure(address) { "https" } else { "http" };
        let target = format!("{scheme}://{}/", address.host_str()?).parse::<Uri>().ok()?;
        matcher.intercept(&target).map(Proxy)
    }
}

/// A proxy that leads to a host.
pub(super) struct Proxy(Intercept);

/// Longest answer head read from a proxy.
const MAX_HEAD: usize = 8 << 10;

impl Proxy {
    /// A stream to `host` through this proxy.
    pub(super) async fn tunnel(&self, host: &Host, port: u16, tls: &TlsTrust) -> Result<Stream, OpenError> {
        self.try_tunnel(host, port, tls).await.map_err(|why| OpenError::Proxy { proxy: self.shown(), why })
    }

    async fn try_tunnel(&self, host: &Host, port: u16, tls: &TlsTrust) -> Result<Stream, String> {
        let uri = self.0.uri();
        let (secure, default_port) = match uri.scheme_str() {
            Some("http") => (false, 80),
            Some("https") => (true, 443),
            other => {
                let scheme = other.unwrap_or("unknown");
                return Err(format!("is a {scheme} proxy; only http and https proxies are supported"));
            }
        };
        let proxy_host =
            Host::parse(uri.host().unwrap_or_default()).map_err(|why| format!("is no address: {why}"))?;
        let failed = |why: OpenError| format!("could not be reached: {why}");
        let plain = connect(&proxy_host, uri.port_u16().unwrap_or(default_port)).await.map_err(failed)?;
        let mut stream = Stream::Plain(plain);
        if secure {
            stream = tls.over(stream, &proxy_host).await.map_err(failed)?;
        }
        let broke = |error: std::io::Error| format!("broke the connection: {error}");
        stream.write_all(&self.request(host, port)).await.map_err(broke)?;
        stream.flush().await.map_err(broke)?;
        // Byte by byte: what follows the head belongs to the tunnel.
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == MAX_HEAD {
                return Err("answered with an endless head".into());
            }
            head.push(stream.read_u8().await.map_err(broke)?);
        }
        match status(&head) {
            Some(status) if status.is_success() => Ok(stream),
            Some(StatusCode::PROXY_AUTHENTICATION_REQUIRED) => Err("wants credentials (answered 407)".into()),
            Some(status) => Err(format!("would not connect: it answered {status}")),
            None => Err("did not answer in HTTP".into()),
        }
    }

    fn request(&self, host: &Host, port: u16) -> Vec<u8> {
        let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
        if let Some(auth) = self.0.basic_auth() {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(auth.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        request
    }

    /// Without credentials: the matcher has taken them out of the address.
    fn shown(&self) -> String {
        self.0.uri().authority().map(ToString::to_string).unwrap_or_default()
    }
}

fn status(head: &[u8]) -> Option<StatusCode> {
    let line = std::str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    let (version, rest) = line.split_once(' ')?;
    if !version.starts_with("HTTP/1.") {
        return None;
    }
    StatusCode::from_bytes(rest.as_bytes().get(..3)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads_to(address: &str) -> Option<String> {
        let rules = ProxyRules {
            http: "http://me:pw@plain.example:1".into(),
            https: "https://safe.example".into(),
            no: "direct.example, 10.0.0.0/8".into(),
            ..ProxyRules::default()
        };
        let policy = ProxyPolicy::Fixed(rules);
        policy.on_the_way_to(&Url::parse(address).unwrap()).map(|proxy| proxy.shown())
    }

    #[test]
    fn the_scheme_and_the_host_choose_the_proxy() {
        assert_eq!(leads_to("ws://far.example:9222/").as_deref(), Some("plain.example:1"));
        assert_eq!(leads_to("wss://far.example/").as_deref(), Some("safe.example"));
        assert_eq!(leads_to("wss://[2001:db8::1]/").as_deref(), Some("safe.example"));
        for direct in ["ws://direct.example/", "ws://a.direct.example/", "wss://10.1.2.3:9222/"] {
            assert_eq!(leads_to(direct), None, "{direct}");
        }
    }

    #[test]
    fn loopback_is_never_proxied() {
        for local in
            ["ws://localhost:9222/", "http://127.0.0.1:9222/", "ws://[::1]:9222/", "wss://a.localhost/"]
        {
            assert_eq!(leads_to(local), None, "{local}");
        }
    }

    #[test]
    fn only_an_http_answer_has_a_status() {
        assert_eq!(status(b"HTTP/1.1 200 Connection established\r\n\r\n"), Some(StatusCode::OK));
        assert_eq!(status(b"HTTP/1.0 403\r\n\r\n"), Some(StatusCode::FORBIDDEN));
        for garbage in [&b"SSH-2.0-x\r\n\r\n"[..], b"HTTP/1.1 2\r\n\r\n", b"\xff\r\n\r\n", b"\r\n\r\n"] {
            assert_eq!(status(garbage), None);
        }
    }
}
