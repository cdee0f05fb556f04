//! Why no browser was found.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::budget::Spent;
use crate::link::dial::{OpenError, shown};

/// What discovery was doing when its time ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading the `DevToolsActivePort` file.
    PortFile,
    /// Looking up the host, connecting, or asking the proxy for a tunnel.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Connected; waiting for the answer to `GET /json/version`.
    Answer,
    /// The answer began; waiting for the rest of it.
    Body,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PortFile => "while reading the port file",
            Self::Connect => "while connecting",
            Self::Tls => "in the tls handshake (is it http?)",
            Self::Answer => "connected, but GET /json/version was not answered",
            Self::Body => "while reading the answer of /json/version",
        })
    }
}

/// Why no browser was found. Addresses in it have no userinfo and no query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// What was given is none of the accepted forms.
    #[error(
        "not an address of a browser: {why}; give ws://host:port/devtools/browser/<id>, \
         http://host:port, host:port, a port, a profile folder or its DevToolsActivePort file"
    )]
    BadAddress {
        /// What is wrong with it; it is not repeated, as it may hold credentials.
        why: String,
    },
    /// The `DevToolsActivePort` file is missing, malformed or stale.
    #[error("{}: {why}", .path.display())]
    PortFile {
        /// The file, or the folder that should hold it.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing listens there.
    #[error("{address} refused the connection; is the browser running with --remote-debugging-port?")]
    Refused {
        /// Where.
        address: String,
    },
    /// The name has no address.
    #[error("{address}: no such host: {why}")]
    NoSuchHost {
        /// What was to be reached.
        address: String,
        /// The resolver's word.
        why: String,
    },
    /// The network does not lead there, or the connection broke.
    #[error("{address} cannot be reached: {why}")]
    Unreachable {
        /// Where.
        address: String,
        /// The system's word.
        why: String,
    },
    /// The proxy on the way would not or could not.
    #[error("{address}: the proxy {proxy} {why}; NO_PROXY names hosts to reach without it")]
    Proxy {
        /// What was to be reached.
        address: String,
        /// The proxy, without credentials.
        proxy: String,
        /// What it did.
        why: String,
    },
    /// No TLS connection, or a certificate that is not believed.
    #[error("{address}: tls failed: {why}")]
    Tls {
        /// Where.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// Discovery's share of the budget ended.
    #[error("{address}: no answer after {} ms, {phase}", .elapsed.as_millis())]
    Timeout {
        /// Where, or which file.
        address: String,
        /// How far it came.
        phase: Phase,
        /// How long it was tried.
        elapsed: Duration,
    },
    /// The caller went away.
    #[error("cancelled after {} ms", .elapsed.as_millis())]
    Cancelled {
        /// How long it was tried.
        elapsed: Duration,
    },
    /// The connection was taken and closed again, as by a forwarded port with nobody behind it.
    #[error("{address} gave no answer: {why}")]
    NoAnswer {
        /// Where.
        address: String,
        /// How it ended.
        why: String,
    },
    /// Something else listens there.
    #[error("{address} is not a DevTools endpoint: {why}")]
    NotDevTools {
        /// Where.
        address: String,
        /// The HTTP status, if it speaks HTTP at all.
        status: Option<u16>,
        /// What it did instead.
        why: String,
    },
    /// The endpoint wants credentials, or others than those given.
    #[error(
        "{address} answered {status}: give credentials in the address (user:password@ or a token in \
         the query) or as a header"
    )]
    Denied {
        /// Where.
        address: String,
        /// 401 or 403.
        status: u16,
    },
    /// Chromium serves only a `Host` that is an IP address or localhost.
    #[error(
        "{address} refused its host name (Host header is specified and is not an IP address or \
         localhost), also with Host: localhost; give its IP address, or have the proxy before it \
         send Host: localhost"
    )]
    HostRefused {
        /// Where.
        address: String,
    },
}

impl DiscoveryError {
    /// A short stable name, for metrics and for callers in other languages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BadAddress { .. } => "bad_address",
            Self::PortFile { .. } => "bad_port_file",
            Self::Refused { .. } => "connection_refused",
            Self::NoSuchHost { .. } => "no_such_host",
            Self::Unreachable { .. } => "unreachable",
            Self::Proxy { .. } => "proxy_failed",
            Self::Tls { .. } => "tls_failed",
            Self::Timeout { .. } => "discovery_timeout",
            Self::Cancelled { .. } => "cancelled",
            Self::NoAnswer { .. } => "no_answer",
            Self::NotDevTools { .. } => "not_devtools",
            Self::Denied { .. } => "denied",
            Self::HostRefused { .. } => "host_refused",
        }
    }

    /// Whether the same question may be answered later, with nothing changed by the user: a browser
    /// that is starting, a host that is busy.
    pub fn retry(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::NoAnswer { .. }
            | Self::Timeout { .. } => true,
            Self::NotDevTools { status, .. } => status.is_some_and(|status| status >= 500 || status == 429),
            _ => false,
        }
    }

    pub(super) fn bad_address(why: impl Into<String>) -> Self {
        Self::BadAddress { why: why.into() }
    }

    pub(super) fn not_devtools(base: &Url, status: Option<u16>, why: impl Into<String>) -> Self {
        Self::NotDevTools { address: shown(base), status, why: why.into() }
    }

    pub(super) fn open(base: &Url, error: OpenError) -> Self {
        let address = shown(base);
        match error {
            OpenError::Refused => Self::Refused { address },
            OpenError::NoSuchHost(why) => Self::NoSuchHost { address, why },
            OpenError::Unreachable(why) => Self::Unreachable { address, why },
            OpenError::Tls(why) => Self::Tls { address, why },
            OpenError::Proxy { proxy, why } => Self::Proxy { address, proxy, why },
        }
    }

    pub(super) fn spent(address: String, phase: Phase, spent: Spent) -> Self {
        match spent {
            Spent::Expired { elapsed, .. } => Self::Timeout { address, phase, elapsed },
            Spent::Cancelled { elapsed } => Self::Cancelled { elapsed },
        }
    }

    /// Of several failures the one with the highest number is reported: somebody who answered
    /// wrongly tells more than a port where nobody is.
    pub(super) fn tells(&self) -> u8 {
        match self {
            Self::Unreachable { .. } => 0,
            Self::Refused { .. } => 1,
            Self::Timeout { .. } => 2,
            Self::NoAnswer { .. } => 3,
            Self::NotDevTools { status: None, .. } => 4,
            Self::NotDevTools { .. } => 5,
            _ => 6,
        }
    }

    /// Somebody is there who does not answer /json/version; a WebSocket may be there all the same.
    pub(super) fn is_about_the_question(&self) -> bool {
        matches!(self, Self::NotDevTools { .. } | Self::NoAnswer { .. } | Self::Denied { .. })
    }
}
