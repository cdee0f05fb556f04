//! What kind of failure a name of Chromium's stands for. Pure.

use serde::Serialize;

/// Why a load failed, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadFailure {
    /// The name is not known.
    Dns,
    /// Nobody listens there.
    Refused,
    /// There is no way there, or it broke off.
    Unreachable,
    /// Chromium gave up waiting.
    TimedOut,
    /// Certificate or encryption.
    Tls,
    /// The server wants a login or a client's certificate.
    AuthRequired,
    /// The proxy.
    Proxy,
    /// Chromium does not load it.
    Blocked,
    /// Anything else.
    Other,
}

impl LoadFailure {
    /// Reads a name such as `net::ERR_CONNECTION_REFUSED`.
    pub fn of(net_error: &str) -> Self {
        let name = net_error.strip_prefix("net::").unwrap_or(net_error);
        let name = name.strip_prefix("ERR_").unwrap_or(name);
        let begins = |heads: &[&str]| heads.iter().any(|head| name.starts_with(head));
        if begins(&["PROXY", "TUNNEL", "SOCKS"]) {
            Self::Proxy
        } else if begins(&["NAME_", "DNS_", "ICANN_"]) {
            Self::Dns
        } else if begins(&["CONNECTION_REFUSED"]) {
            Self::Refused
        } else if begins(&["CONNECTION_TIMED_OUT", "TIMED_OUT"]) {
            Self::TimedOut
        } else if begins(&["INVALID_AUTH", "SSL_CLIENT_AUTH", "BAD_SSL_CLIENT_AUTH"]) {
            Self::AuthRequired
        } else if begins(&["CERT_", "SSL_", "BAD_SSL"]) {
            Self::Tls
        } else if begins(&["BLOCKED", "UNSAFE_PORT", "DISALLOWED", "UNKNOWN_URL_SCHEME", "ACCESS_DENIED"]) {
            Self::Blocked
        } else if begins(&["ADDRESS_", "INTERNET_", "CONNECTION_", "NETWORK_", "EMPTY_RESPONSE", "SOCKET_"]) {
            Self::Unreachable
        } else {
            Self::Other
        }
    }

    /// Whether the same load may succeed later, without anybody changing anything here.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::Dns | Self::Refused | Self::Unreachable | Self::TimedOut | Self::Proxy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_look_alike_are_told_apart() {
        for (name, class) in [
            ("net::ERR_NAME_NOT_RESOLVED", LoadFailure::Dns),
            ("net::ERR_CONNECTION_REFUSED", LoadFailure::Refused),
            ("net::ERR_CONNECTION_RESET", LoadFailure::Unreachable),
            ("net::ERR_ADDRESS_UNREACHABLE", LoadFailure::Unreachable),
            ("net::ERR_CONNECTION_TIMED_OUT", LoadFailure::TimedOut),
            ("net::ERR_CERT_DATE_INVALID", LoadFailure::Tls),
            ("net::ERR_SSL_PROTOCOL_ERROR", LoadFailure::Tls),
            ("net::ERR_SSL_CLIENT_AUTH_CERT_NEEDED", LoadFailure::AuthRequired),
            ("net::ERR_INVALID_AUTH_CREDENTIALS", LoadFailure::AuthRequired),
            ("net::ERR_PROXY_CONNECTION_FAILED", LoadFailure::Proxy),
            ("net::ERR_TUNNEL_CONNECTION_FAILED", LoadFailure::Proxy),
            ("net::ERR_UNSAFE_PORT", LoadFailure::Blocked),
            ("net::ERR_FAILED", LoadFailure::Other),
        ] {
            assert_eq!(LoadFailure::of(name), class, "{name}");
        }
        assert!(LoadFailure::Refused.may_pass() && !LoadFailure::AuthRequired.may_pass());
    }
}
