//! Under which names this service is addressed, and from which sites it may be told to act. Pure.
//!
//! A page of another site can reach a local service in two ways. It can send requests across
//! sites: a browser then names the site (`Origin`, `Referer`, `Sec-Fetch-Site`). Or its name can
//! be made to resolve to this machine (DNS rebinding): then it is the same site to the browser,
//! and only the `Host` header tells.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{HOST, ORIGIN, REFERER};
use axum::http::{HeaderMap, HeaderName, Method, Uri};
use url::{Host, Url};

use super::error::ApiError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names of this service.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    bound: Option<IpAddr>,
    names: Vec<String>,
}

impl Hosts {
    pub(super) fn bound(&mut self, address: SocketAddr) {
        self.bound = Some(address.ip().to_canonical());
    }

    pub(super) fn named(&mut self, names: &[String]) {
        self.names.extend(names.iter().map(|name| name.trim_end_matches('.').to_ascii_lowercase()));
    }

    /// Checks where a request comes from, before anything else of it is looked at.
    pub(super) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = self.addressed(uri, headers)?;
        if matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE) {
            self.not_across_sites(headers, &host)?;
        }
        Ok(())
    }

    fn addressed(&self, uri: &Uri, headers: &HeaderMap) -> Result<Host, ApiError> {
        let refused = |why: &str| ApiError::forbidden("bad_host", why);
        let mut given = headers.get_all(HOST).iter();
        let (Some(host), None) = (given.next(), given.next()) else {
            return Err(refused("there must be one Host header"));
        };
        let host = host.to_str().ok().and_then(host_of).filter(|host| self.is_ours(host));
        let host = host.ok_or_else(|| {
            refused("the Host header names neither this address nor a configured name (server.hosts)")
        })?;
        // A target in absolute form has a host of its own.
        match uri.authority().map(|authority| host_of(authority.as_str())) {
            Some(target) if target.as_ref() != Some(&host) => {
                Err(refused("the request target names another host than the Host header"))
            }
            _ => Ok(host),
        }
    }

    fn is_ours(&self, host: &Host) -> bool {
        // Bound to all addresses, each of them is ours; a rebound name is never a number.
        let any = self.bound.is_some_and(|bound| bound.is_unspecified());
        self.is_trusted(host) || (any && !matches!(host, Host::Domain(_)))
    }

    fn is_trusted(&self, host: &Host) -> bool {
        let ip = match host {
            Host::Domain(name) => {
                let name = name.trim_end_matches('.');
                return name == "localhost" || self.names.iter().any(|known| known == name);
            }
            Host::Ipv4(ip) => IpAddr::from(*ip),
            Host::Ipv6(ip) => IpAddr::from(*ip).to_canonical(),
        };
        ip.is_loopback() || self.bound == Some(ip) || self.names.contains(&ip.to_string())
    }

    fn not_across_sites(&self, headers: &HeaderMap, host: &Host) -> Result<(), ApiError> {
        let refused = |why: &str| ApiError::forbidden("cross_site", why);
        let ours = |site: &str| {
            let site = Url::parse(site).ok().and_then(|url| url.host().map(|host| host.to_owned()));
            site.is_some_and(|site| self.is_trusted(&site) || site == *host)
        };
        if headers.get_all(SEC_FETCH_SITE).iter().any(|site| site == "cross-site") {
            return Err(refused("Sec-Fetch-Site says that another site sends it"));
        }
        for (name, why) in [
            (ORIGIN, "the Origin header names another site"),
            (REFERER, "the Referer header names another site"),
        ] {
            let mut given = headers.get_all(&name).iter().peekable();
            if given.peek().is_some() {
                let all_ours = given.all(|site| site.to_str().is_ok_and(ours));
                return if all_ours { Ok(()) } else { Err(refused(why)) };
            }
        }
        Ok(())
    }
}

/// The host of `host:port`, read as a URL's is: `0x7f.1` is a number there, too.
fn host_of(authority: &str) -> Option<Host> {
    if authority.is_empty() || authority.contains(['@', '/', '?', '#', '\\']) {
        return None;
    }
    let url = Url::parse(&format!("http://{authority}/")).ok()?;
    url.host().map(|host| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(bound: &str, names: &[&str]) -> Hosts {
        let mut hosts = Hosts::default();
        hosts.bound(bound.parse().unwrap());
        hosts.named(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        hosts
    }

    fn check(hosts: &Hosts, method: &Method, given: &[(HeaderName, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name, value.parse().unwrap());
        }
        hosts.check(method, &Uri::from_static("/act"), &headers).is_ok()
    }

    fn addressed(hosts: &Hosts, host: &str) -> bool {
        check(hosts, &Method::GET, &[(HOST, host)])
    }

    #[test]
    fn it_answers_to_its_own_names_only() {
        let local = hosts("127.0.0.1:9377", &["tabvisor.internal"]);
        for host in [
            "127.0.0.1:9377",
            "127.0.0.1",
            "localhost:1",
            "LOCALHOST",
            "localhost.",
            "[::1]:9377",
            "127.5.5.5",
            "[::ffff:127.0.0.1]",
            "tabvisor.internal:80",
            "TabVisor.Internal.",
        ] {
            assert!(addressed(&local, host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "[::2]",
            "a@localhost",
            "localhost/evil",
            "evil.example#localhost",
            "localhost:x",
            "notlocalhost",
            "evil.tabvisor.internal",
        ] {
            assert!(!addressed(&local, host), "{host}");
        }
        assert!(!check(&local, &Method::GET, &[]));
        assert!(!check(&local, &Method::GET, &[(HOST, "localhost"), (HOST, "localhost")]));
    }

    #[test]
    fn bound_to_all_addresses_every_number_is_its_own_and_no_name() {
        let all = hosts("0.0.0.0:9377", &[]);
        assert!(addressed(&all, "10.1.2.3:9377") && addressed(&all, "[fd00::1]"));
        assert!(!addressed(&all, "evil.example"));
        let one = hosts("10.1.2.3:9377", &[]);
        assert!(addressed(&one, "10.1.2.3") && !addressed(&one, "10.1.2.4"));
    }

    #[test]
    fn a_target_of_its_own_must_be_the_same() {
        let local = hosts("127.0.0.1:9377", &[]);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost:9377".parse().unwrap());
        let check = |uri: &'static str| local.check(&Method::GET, &Uri::from_static(uri), &headers).is_ok();
        assert!(check("http://localhost:9377/tabs") && !check("http://evil.example/tabs"));
    }

    #[test]
    fn what_changes_something_must_not_come_from_another_site() {
        let local = hosts("127.0.0.1:9377", &["tabvisor.internal"]);
        let post = |given: &[(HeaderName, &str)]| {
            let mut all = vec![(HOST, "127.0.0.1:9377")];
            all.extend(given.iter().cloned());
            check(&local, &Method::POST, &all)
        };
        assert!(post(&[]));
        for origin in
            ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8", "http://tabvisor.internal"]
        {
            assert!(post(&[(ORIGIN, origin)]), "{origin}");
        }
        for origin in [
            "null",
            "https://evil.example",
            "",
            "file://",
            "http://localhost.evil.example",
            "http://10.0.0.1",
        ] {
            assert!(!post(&[(ORIGIN, origin)]), "{origin}");
        }
        assert!(!post(&[(REFERER, "https://evil.example/x")]) && post(&[(REFERER, "http://localhost/x")]));
        assert!(!post(&[(SEC_FETCH_SITE, "cross-site")]));
        assert!(!post(&[(SEC_FETCH_SITE, "cross-site"), (ORIGIN, "http://localhost")]));
        assert!(post(&[(SEC_FETCH_SITE, "same-origin"), (ORIGIN, "http://localhost")]));
        let get = [(HOST, "localhost"), (ORIGIN, "https://evil.example"), (SEC_FETCH_SITE, "cross-site")];
        assert!(check(&local, &Method::GET, &get));
    }

    #[test]
    fn bound_to_all_addresses_only_its_own_site_may_act() {
        let all = hosts("0.0.0.0:9377", &[]);
        let post = |host, origin| check(&all, &Method::POST, &[(HOST, host), (ORIGIN, origin)]);
        assert!(post("10.1.2.3:9377", "http://10.1.2.3:9377"));
        assert!(!post("10.1.2.3:9377", "http://6.6.6.6"));
    }
}
