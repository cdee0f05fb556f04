//! From an address to a byte stream: names, TCP, proxy, TLS.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use url::{Host, Url};

use super::{DialOptions, is_local_name};

/// The bytes below a WebSocket. TLS may lie on TLS: a secure endpoint behind a secure proxy.
#[derive(Debug)]
pub enum Stream {
    /// Plain TCP.
    Plain(TcpStream),
    /// TLS over another stream.
    Tls(Box<TlsStream<Stream>>),
}

/// Why there is no byte stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("connection refused")]
    Refused,
    #[error("no such host: {0}")]
    NoSuchHost(String),
    #[error("not reachable: {0}")]
    Unreachable(String),
    #[error("tls failed: {0}")]
    Tls(String),
    #[error("the proxy {proxy} {why}")]
    Proxy { proxy: String, why: String },
}

/// Whether `address` asks for TLS.
pub(crate) fn secure(address: &Url) -> bool {
    matches!(address.scheme(), "wss" | "https")
}

/// Opens the stream to `address`, with TLS where its scheme asks for it.
pub(crate) async fn open(address: &Url, options: &DialOptions) -> Result<Stream, OpenError> {
    let stream = tcp(address, options).await?;
    if secure(address) { tls(stream, address, options).await } else { Ok(stream) }
}

/// TLS over `stream`, to the host of `address`.
pub(crate) async fn tls(stream: Stream, address: &Url, options: &DialOptions) -> Result<Stream, OpenError> {
    options.tls.over(stream, &host_of(address)?).await
}

/// The stream below TLS: to the host itself, or through the proxy that leads to it.
pub(crate) async fn tcp(address: &Url, options: &DialOptions) -> Result<Stream, OpenError> {
    let host = host_of(address)?;
    let port = address.port_or_known_default().unwrap_or(80);
    match options.proxy.on_the_way_to(address) {
        // Boxed: it is rare, and would make every future of a dial as large as itself.
        Some(proxy) => Box::pin(proxy.tunnel(&host, port, &options.tls)).await,
        None => Ok(Stream::Plain(connect(&host, port).await?)),
    }
}

fn host_of(address: &Url) -> Result<Host, OpenError> {
    let host = address.host().map(|host| host.to_owned());
    host.ok_or_else(|| OpenError::Unreachable("the address has no host".into()))
}

/// Connects to the first address of `host` that takes the connection.
pub(super) async fn connect(host: &Host, port: u16) -> Result<TcpStream, OpenError> {
    let stream =
        first_to_connect(addresses(host, port).await?).await.map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => OpenError::Refused,
            _ => OpenError::Unreachable(error.to_string()),
        })?;
    // Commands are small and each waits for its answer: Nagle would only add delay.
    stream.set_nodelay(true).map_err(|error| OpenError::Unreachable(error.to_string()))?;
    Ok(stream)
}

async fn addresses(host: &Host, port: u16) -> Result<Vec<SocketAddr>, OpenError> {
    match host {
        Host::Ipv4(ip) => Ok(vec![(*ip, port).into()]),
        Host::Ipv6(ip) => Ok(vec![(*ip, port).into()]),
        // Never asked of a resolver, which might send it elsewhere. Chromium listens on IPv4, or
        // on IPv6 alone where the IPv4 port was taken.
        Host::Domain(name) if is_local_name(name) => {
            Ok(vec![(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()])
        }
        Host::Domain(name) => match tokio::net::lookup_host((name.as_str(), port)).await {
            Ok(found) => Ok(by_turns(found.collect())),
            Err(error) => Err(OpenError::NoSuchHost(error.to_string())),
        },
    }
}

/// Takes the families by turns, beginning with the resolver's choice, so that a family that leads
/// nowhere costs one step and not one per address.
fn by_turns(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (first, other): (Vec<_>, Vec<_>) = found.into_iter().partition(|ip| ip.is_ipv6() == first_is_v6);
    let mut sorted = Vec::with_capacity(first.len() + other.len());
    let mut other = other.into_iter();
    for address in first {
        sorted.push(address);
        sorted.extend(other.next());
    }
    sorted.extend(other);
    sorted
}

/// How long one address is tried alone before the next is tried beside it (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);

async fn first_to_connect(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut trying = FuturesUnordered::new();
    let mut first_error = None;
    loop {
        match waiting.next() {
            Some(address) => trying.push(TcpStream::connect(address)),
            None if trying.is_empty() => break,
            None => {}
        }
        let more = waiting.len() > 0;
        tokio::select! {
            Some(done) = trying.next() => match done {
                Ok(stream) => return Ok(stream),
                Err(error) => { first_error.get_or_insert(error); }
            },
            () = tokio::time::sleep(HEAD_START), if more => {}
        }
    }
    Err(first_error.unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address")))
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(inner) => Pin::new(inner).poll_read(cx, buf),
            Self::Tls(inner) => Pin::new(inner).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(inner) => Pin::new(inner).poll_write(cx, buf),
            Self::Tls(inner) => Pin::new(inner).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(inner) => Pin::new(inner).poll_flush(cx),
            Self::Tls(inner) => Pin::new(inner).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(inner) => Pin::new(inner).poll_shutdown(cx),
            Self::Tls(inner) => Pin::new(inner).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        let found = parse(&["[1::1]:1", "[1::2]:1", "1.1.1.1:1", "1.1.1.2:1", "1.1.1.3:1"]);
        let want = parse(&["[1::1]:1", "1.1.1.1:1", "[1::2]:1", "1.1.1.2:1", "1.1.1.3:1"]);
        assert_eq!(by_turns(found), want);
    }
}
