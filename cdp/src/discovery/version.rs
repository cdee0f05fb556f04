//! `GET /json/version`, and the address that comes of its answer.

use serde::Deserialize;
use url::Url;

use super::error::DiscoveryError;
use super::http::{Answer, get};
use crate::budget::Budget;
use crate::link::dial::{DialOptions, TRUSTED_HOST, may_be_refused_by_host, shown};

/// What a browser tells about itself.
#[derive(Clone)]
pub(super) struct Version {
    /// Its WebSocket, at the address the user knows it by.
    pub(super) ws_url: Url,
    pub(super) browser: Option<String>,
    /// It refused the host name of its address and served `localhost`.
    pub(super) wants_trusted_host: bool,
}

/// Asks whoever listens at `base` (http or https).
pub(super) async fn ask(
    base: &Url,
    options: &DialOptions,
    slice: &Budget,
) -> Result<Version, DiscoveryError> {
    let (prefix, url) = version_url(base);
    let mut answer = get(&url, options, None, slice).await?;
    let mut wants_trusted_host = false;
    if refuses_host(&answer) {
        let refused = || DiscoveryError::HostRefused { address: shown(&url) };
        if !may_be_refused_by_host(&url, options) {
            return Err(refused());
        }
        answer = get(&url, options, Some(TRUSTED_HOST), slice).await?;
        if refuses_host(&answer) {
            return Err(refused());
        }
        wants_trusted_host = true;
    }
    let (returned, browser) = read(&url, &answer)?;
    Ok(Version { ws_url: rewritten(base, &prefix, &returned)?, browser, wants_trusted_host })
}

/// The path before `/json/version`, and the whole address to ask. Users paste any of the
/// `/json...` addresses; the query stays, as services take their token from it.
fn version_url(base: &Url) -> (String, Url) {
    let mut prefix = base.path().trim_end_matches('/');
    for known in ["/json/version", "/json/list", "/json"] {
        prefix = prefix.strip_suffix(known).unwrap_or(prefix);
    }
    let mut url = base.clone();
    url.set_path(&format!("{prefix}/json/version"));
    (prefix.to_owned(), url)
}

fn refuses_host(answer: &Answer) -> bool {
    const WORDS: &[u8] = b"Host header is specified and is not an IP address or localhost";
    answer.status.is_server_error() && answer.body.starts_with(WORDS)
}

fn read(url: &Url, answer: &Answer) -> Result<(Url, Option<String>), DiscoveryError> {
    #[derive(Deserialize)]
    struct Told {
        #[serde(rename = "Browser")]
        browser: Option<String>,
        #[serde(rename = "webSocketDebuggerUrl")]
        ws_url: Option<String>,
    }
    let status = answer.status.as_u16();
    let other = |why: String| DiscoveryError::not_devtools(url, Some(status), why);
    if matches!(status, 401 | 403) {
        return Err(DiscoveryError::Denied { address: shown(url), status });
    }
    if answer.status.is_redirection() {
        // Not followed: it would carry the caller's token to a host that the caller did not name.
        let to = answer.location(url).map_or_else(String::new, |to| format!(" to {to}"));
        return Err(other(format!("it redirects{to}; give the final address")));
    }
    if !answer.status.is_success() {
        return Err(other(format!("it answered {}", answer.status)));
    }
    let told: Told = serde_json::from_slice(&answer.body).map_err(|_| {
        other(format!("it answered {status} with {}, not with a version", answer.content_type()))
    })?;
    let browser = told.browser.map(|text| printable(&text)).filter(|text| !text.is_empty());
    let Some(ws_url) = told.ws_url else {
        let who = browser.map_or_else(String::new, |name| format!(" ({name})"));
        return Err(other(format!("its version{who} has no webSocketDebuggerUrl")));
    };
    match Url::parse(&ws_url) {
        Ok(ws_url) if matches!(ws_url.scheme(), "ws" | "wss") => Ok((ws_url, browser)),
        _ => Err(other("its webSocketDebuggerUrl is no WebSocket address".into())),
    }
}

/// It ends in logs and on consoles, and whoever listens there wrote it.
fn printable(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(100).collect()
}

/// The address that was returned, as seen from here: a browser behind a tunnel, a container or a
/// proxy knows itself by another scheme, host and port than its user does.
fn rewritten(base: &Url, prefix: &str, returned: &Url) -> Result<Url, DiscoveryError> {
    let mut url = with_scheme(base, if base.scheme() == "https" { "wss" } else { "ws" })?;
    url.set_fragment(None);
    // Chromium does not know of a prefix that a proxy takes off; services that return one do.
    let path = returned.path();
    let own = path.starts_with("/devtools/");
    url.set_path(&if own { format!("{prefix}{path}") } else { path.to_owned() });
    url.set_query(returned.query());
    let missing: Vec<_> = base
        .query_pairs()
        .filter(|(key, _)| !returned.query_pairs().any(|(other, _)| other == *key))
        .collect();
    if returned.query().is_none() {
        url.set_query(base.query());
    } else if !missing.is_empty() {
        url.query_pairs_mut().extend_pairs(missing);
    }
    if base.username().is_empty() && base.password().is_none() {
        let set = url.set_username(returned.username()).and_then(|()| url.set_password(returned.password()));
        set.map_err(|()| DiscoveryError::bad_address("it has no host"))?;
    }
    Ok(url)
}

/// `url` with another of the four web schemes.
pub(super) fn with_scheme(url: &Url, scheme: &str) -> Result<Url, DiscoveryError> {
    let mut url = url.clone();
    url.set_scheme(scheme).map_err(|()| DiscoveryError::bad_address("its scheme cannot be changed"))?;
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(given: &str, returned: &str) -> String {
        let base = Url::parse(given).unwrap();
        let (prefix, _) = version_url(&base);
        rewritten(&base, &prefix, &Url::parse(returned).unwrap()).unwrap().into()
    }

    #[test]
    fn the_address_is_the_one_the_user_knows() {
        let cases = [
            ("http://far:9222", "ws://127.0.0.1:1/devtools/browser/x", "ws://far:9222/devtools/browser/x"),
            ("https://far", "ws://10.0.0.7:9222/devtools/browser/x", "wss://far/devtools/browser/x"),
            ("https://far:8443", "ws://0.0.0.0/devtools/browser/x", "wss://far:8443/devtools/browser/x"),
            ("http://far", "wss://in:9/devtools/browser/x", "ws://far/devtools/browser/x"),
            ("http://[::1]:9222", "ws://localhost/devtools/browser/x", "ws://[::1]:9222/devtools/browser/x"),
            ("https://me:pw@far/", "ws://in/devtools/browser/x", "wss://me:pw@far/devtools/browser/x"),
            ("https://far/", "ws://me:pw@in/live", "wss://me:pw@far/live"),
        ];
        for (given, returned, want) in cases {
            assert_eq!(seen(given, returned), want, "{given} {returned}");
        }
    }

    #[test]
    fn a_token_in_the_query_is_not_lost() {
        assert_eq!(seen("https://far/?token=a%2Bb", "ws://in/live"), "wss://far/live?token=a%2Bb");
        assert_eq!(seen("https://far/?token=T", "ws://in/live?token=U"), "wss://far/live?token=U");
        assert_eq!(seen("https://far/?token=T&b=1", "ws://in/live?b=2"), "wss://far/live?b=2&token=T");
    }

    #[test]
    fn a_prefix_is_kept_for_browsers_that_do_not_know_it() {
        let chrome = "ws://127.0.0.1:1/devtools/browser/x";
        assert_eq!(seen("https://far/one/", chrome), "wss://far/one/devtools/browser/x");
        assert_eq!(seen("https://far/one", "wss://far/one/live/x"), "wss://far/one/live/x");
        let asked = |text: &str| version_url(&Url::parse(text).unwrap()).1.to_string();
        assert_eq!(asked("http://h:1/one/?t=1"), "http://h:1/one/json/version?t=1");
        for pasted in ["http://h:1", "http://h:1/json", "http://h:1/json/version/", "http://h:1/json/list"] {
            assert_eq!(asked(pasted), "http://h:1/json/version");
        }
    }

    #[test]
    fn what_a_stranger_calls_itself_is_made_harmless() {
        assert_eq!(printable("Chrome/1.2\n\u{1b}[31mX\u{202e}"), "Chrome/1.2[31mX");
        assert_eq!(printable(&"x".repeat(900)).len(), 100);
    }
}
