//! Which of the web's addresses pages may be at, where somebody has said so. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::BadUrl;

/// A host, or all below one: `example.org`, `*.example.org`, `10.0.0.7`, `[::1]`, `*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPattern {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    /// With its leading dot.
    Below(String),
    Exactly(Host),
}

/// Which documents may be loaded, in a tab or in a frame of its page. Without a word all of http and
/// https may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NavigationPolicy {
    /// Only these hosts (`example.org`, `*.example.org`, `10.0.0.7`), unless there are none.
    pub allow: Vec<HostPattern>,
    /// Never these hosts.
    pub deny: Vec<HostPattern>,
    /// Addresses of this machine and of private networks may be loaded; else only those in `allow`.
    pub private_networks: bool,
}

impl Default for NavigationPolicy {
    fn default() -> Self {
        Self { allow: Vec::new(), deny: Vec::new(), private_networks: true }
    }
}

impl TryFrom<String> for HostPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let host = |text: &str| match Host::parse(text) {
            Ok(_) if text.contains('*') => Err(format!("{text:?} has a star that is not at its beginning")),
            Ok(host) => Ok(host),
            Err(why) => Err(format!("{text:?} is not a host: {why}")),
        };
        let kind = match text.strip_prefix("*.") {
            _ if text == "*" => Kind::Any,
            Some(below) => Kind::Below(format!(".{}", host(below)?)),
            None => Kind::Exactly(host(&text)?),
        };
        Ok(Self { text, kind })
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.text
    }
}

impl HostPattern {
    fn names(&self, host: &Host<&str>) -> bool {
        match (&self.kind, host) {
            (Kind::Any, _) => true,
            (Kind::Below(below), Host::Domain(name)) => plain(name).ends_with(below.as_str()),
            (Kind::Exactly(Host::Domain(one)), Host::Domain(other)) => one == plain(other),
            (Kind::Exactly(Host::Ipv4(one)), Host::Ipv4(other)) => one == other,
            (Kind::Exactly(Host::Ipv6(one)), Host::Ipv6(other)) => one == other,
            (Kind::Below(_) | Kind::Exactly(_), _) => false,
        }
    }
}

impl NavigationPolicy {
    /// Everything may be loaded: nothing needs to be stopped for a check.
    pub fn is_open(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty() && self.private_networks
    }

    /// Checks the host as it is written.
    ///
    /// # Errors
    /// [`BadUrl::Denied`].
    pub fn check(&self, url: &Url) -> Result<(), BadUrl> {
        let Some(host) = url.host().filter(|_| matches!(url.scheme(), "http" | "https")) else {
            return Ok(());
        };
        let denied = |by| Err(BadUrl::Denied { host: host.to_string(), by });
        if self.deny.iter().any(|pattern| pattern.names(&host)) {
            return denied("is in navigation.deny");
        }
        if !self.allow.is_empty() {
            let allowed = self.allow.iter().any(|pattern| pattern.names(&host));
            return if allowed { Ok(()) } else { denied("is not in navigation.allow") };
        }
        let private = match host {
            Host::Domain(name) => plain(name) == "localhost" || plain(name).ends_with(".localhost"),
            Host::Ipv4(address) => is_private(address.into()),
            Host::Ipv6(address) => is_private(address.into()),
        };
        if private && !self.private_networks { denied(PRIVATE) } else { Ok(()) }
    }

    /// The name that has to be looked up before it is known whether this address may be loaded.
    pub fn unresolved<'a>(&self, url: &'a Url) -> Option<&'a str> {
        // A host that is allowed by its name may be wherever it is.
        let asks = !self.private_networks && self.allow.is_empty();
        url.host()
            .filter(|_| asks)
            .and_then(|host| if let Host::Domain(name) = host { Some(name) } else { None })
    }

    /// Checks what the name of `url` stands for.
    ///
    /// # Errors
    /// [`BadUrl::Denied`].
    pub fn check_resolved(&self, url: &Url, addresses: &[IpAddr]) -> Result<(), BadUrl> {
        let asks = self.unresolved(url);
        let private = addresses.iter().any(|address| is_private(*address));
        match asks.filter(|_| private) {
            Some(host) => Err(BadUrl::Denied { host: host.to_owned(), by: PRIVATE }),
            None => Ok(()),
        }
    }
}

const PRIVATE: &str = "is in a private network, which navigation.private_networks forbids";

/// A name with its root dot is the same name.
fn plain(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

/// Whether an address is this machine's or of a network that is not the world's: RFC 6890 and its
/// registries.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Carrier-grade NAT, protocol assignments, benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    // An address of the other kind in this one's clothes: mapped, compatible, NAT64, 6to4.
    let inner = match parts {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    let inner = inner.map(|(high, low)| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || inner.is_some_and(is_private_v4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn patterns(texts: &[&str]) -> Vec<HostPattern> {
        texts.iter().map(|text| HostPattern::try_from((*text).to_owned()).unwrap()).collect()
    }

    fn allows(policy: &NavigationPolicy, url: &str) -> bool {
        policy.check(&Url::parse(url).unwrap()).is_ok()
    }

    #[test]
    fn lists_name_hosts_and_what_is_below_them() {
        let policy = NavigationPolicy {
            allow: patterns(&["example.org", "*.example.org", "[::1]"]),
            deny: patterns(&["bad.example.org"]),
            ..NavigationPolicy::default()
        };
        for url in
            ["http://example.org/", "https://a.b.example.org./", "http://EXAMPLE.org:8080/x", "http://[::1]/"]
        {
            assert!(allows(&policy, url), "{url}");
        }
        for url in [
            "http://bad.example.org/",
            "http://notexample.org/",
            "http://example.org.evil.test/",
            "http://1.2.3.4/",
        ] {
            assert!(!allows(&policy, url), "{url}");
        }
        assert!(allows(&policy, "about:blank"), "it has no host");
        assert!(NavigationPolicy::default().is_open() && !policy.is_open());
    }

    #[test]
    fn private_networks_are_known_in_all_their_clothes() {
        let policy = NavigationPolicy { private_networks: false, ..NavigationPolicy::default() };
        for host in [
            "127.0.0.1",
            "127.1",
            "0x7f000001",
            "2130706433",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "[::1]",
            "[::]",
            "[fe80::1]",
            "[fd00::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:10.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
        ] {
            assert!(!allows(&policy, &format!("http://{host}/")), "{host}");
        }
        for host in [
            "example.org",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "[2606:4700::1111]",
            "localhost.example.org",
        ] {
            assert!(allows(&policy, &format!("http://{host}/")), "{host}");
        }
        let named = Url::parse("http://inner.example.org/").unwrap();
        assert_eq!(policy.unresolved(&named), Some("inner.example.org"));
        assert!(
            policy
                .check_resolved(&named, &["8.8.8.8".parse().unwrap(), "10.0.0.1".parse().unwrap()])
                .is_err()
        );
        assert!(policy.check_resolved(&named, &["8.8.8.8".parse().unwrap()]).is_ok());
        let trusted = NavigationPolicy { allow: patterns(&["inner.example.org"]), ..policy };
        assert_eq!((trusted.check(&named), trusted.unresolved(&named)), (Ok(()), None));
    }

    #[test]
    fn what_is_no_host_is_no_pattern() {
        for text in ["", "a b", "*.", "http://example.org", "example.org/x", "*.*.org", "[::1"] {
            assert!(HostPattern::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_denied_host_is_never_allowed(host in "[a-z]{1,8}\\.(org|test)", deny in "[a-z]{1,3}\\.(org|test)") {
            let policy = NavigationPolicy { allow: patterns(&["*"]), deny: patterns(&[&deny]), private_networks: true };
            prop_assert_eq!(allows(&policy, &format!("http://{host}/")), host != deny);
        }
    }
}
