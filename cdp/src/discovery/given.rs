//! What a user may give as the address of a browser. Pure: text in, a value out.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use url::Url;

use super::error::DiscoveryError;
use super::port_file::PORT_FILE;
use super::version::with_scheme;
use crate::link::dial::shown;

/// What was given, told apart. Its `Debug` text has no credentials and no query.
#[derive(Clone, PartialEq, Eq)]
pub enum Given {
    /// A WebSocket address with a path: taken as it is.
    Endpoint(Url),
    /// A WebSocket address without a path.
    Bare(Url),
    /// An http or https address to ask.
    Http(Url),
    /// A port on this machine.
    Port(u16),
    /// A profile folder, or a `DevToolsActivePort` file.
    Path(PathBuf),
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(url) => f.debug_tuple("Endpoint").field(&shown(url)).finish(),
            Self::Bare(url) => f.debug_tuple("Bare").field(&shown(url)).finish(),
            Self::Http(url) => f.debug_tuple("Http").field(&shown(url)).finish(),
            Self::Port(port) => f.debug_tuple("Port").field(port).finish(),
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
        }
    }
}

impl FromStr for Given {
    type Err = DiscoveryError;

    fn from_str(text: &str) -> Result<Self, DiscoveryError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(DiscoveryError::bad_address("it is empty"));
        }
        if text.contains("://") {
            return from_url(text);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return match text.parse() {
                Ok(port) if port > 0 => Ok(Self::Port(port)),
                _ => Err(DiscoveryError::bad_address("a port is a number from 1 to 65535")),
            };
        }
        if begins_with_host_and_port(text) {
            return from_url(&format!("http://{text}"));
        }
        // A lone word is more likely a host without its port than a folder beside us.
        if text.contains(['/', '\\']) || text.starts_with('.') || text == PORT_FILE {
            return Ok(Self::Path(PathBuf::from(text)));
        }
        Err(DiscoveryError::bad_address("a host needs its port, and a path a slash (./profile)"))
    }
}

impl From<PathBuf> for Given {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

fn from_url(text: &str) -> Result<Given, DiscoveryError> {
    let url = Url::parse(text).map_err(|error| DiscoveryError::bad_address(error.to_string()))?;
    let secure = match url.scheme() {
        "ws" | "http" => false,
        "wss" | "https" => true,
        _ => return Err(DiscoveryError::bad_address("its scheme is none of ws, wss, http and https")),
    };
    if url.port() == Some(0) {
        return Err(DiscoveryError::bad_address("port 0 is no port to connect to"));
    }
    if url.path().starts_with("/devtools/page/") {
        return Err(DiscoveryError::bad_address("it is the endpoint of one page, not of the browser"));
    }
    // Copied from a browser's own listing, only with another scheme.
    let endpoint = url.path().starts_with("/devtools/browser");
    Ok(match url.scheme() {
        "http" | "https" if endpoint => {
            Given::Endpoint(with_scheme(&url, if secure { "wss" } else { "ws" })?)
        }
        "http" | "https" => Given::Http(url),
        _ if url.path().len() > 1 => Given::Endpoint(url),
        _ => Given::Bare(url),
    })
}

/// `host:9222` or `[::1]:9222`, then nothing or the rest of an address.
fn begins_with_host_and_port(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once(':').is_some_and(|(host, port)| {
        let named = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
        let numbered = host.starts_with('[') && host.ends_with(']');
        !host.is_empty()
            && (named || numbered)
            && !port.is_empty()
            && port.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> String {
        text.parse::<Given>().map_or_else(|error| error.kind().to_owned(), |given| format!("{given:?}"))
    }

    #[test]
    fn each_form_is_told_apart() {
        let cases = [
            ("ws://h:1/devtools/browser/x", r#"Endpoint("ws://h:1/devtools/browser/x")"#),
            ("wss://h/live?token=T", r#"Endpoint("wss://h/...")"#),
            ("http://h:1/devtools/browser/x", r#"Endpoint("ws://h:1/devtools/browser/x")"#),
            ("ws://h:1", r#"Bare("ws://h:1")"#),
            ("WSS://h/?token=T", r#"Bare("wss://h")"#),
            ("http://[::1]:9222", r#"Http("http://[::1]:9222")"#),
            (" localhost:9222/json/version ", r#"Http("http://localhost:9222/json/version")"#),
            ("h.example:443?token=T", r#"Http("http://h.example:443")"#),
            ("[::1]:9222", r#"Http("http://[::1]:9222")"#),
            ("9222", "Port(9222)"),
            ("/home/me/profile", r#"Path("/home/me/profile")"#),
            ("./9222", r#"Path("./9222")"#),
            ("DevToolsActivePort", r#"Path("DevToolsActivePort")"#),
        ];
        for (text, want) in cases {
            assert_eq!(parsed(text), want, "{text}");
        }
    }

    #[test]
    fn the_rest_is_refused_and_not_repeated() {
        for text in [
            "",
            " ",
            "0",
            "65536",
            "99999999999",
            "chrome",
            "ftp://me:pw@h/",
            "http://:9222",
            "http://h:99999",
            "h:0",
            "http://",
            "ws://h:1/devtools/page/x",
            "me:pw@h:9222x",
        ] {
            let error = text.parse::<Given>().unwrap_err();
            assert_eq!(error.kind(), "bad_address", "{text}");
            let text = error.to_string();
            assert!(text.contains("DevToolsActivePort") && !text.contains("pw"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC*") { let _ = text.parse::<Given>(); }
    }
}
