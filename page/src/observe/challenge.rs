//! A server that wants a login, and says which kind and for what. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::navigate::BadUrl;

/// What a server asks for with status 401, or a proxy with 407 (RFC 9110, section 11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Challenge {
    /// In lower case: `basic`, `digest`, `negotiate`, ...
    pub scheme: String,
    /// What the login is for, in the server's words, cut at 200 characters; empty where it says nothing.
    pub realm: String,
}

/// A document that was asked for, and not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Its frame's id, in CDP.
    pub frame: String,
    /// What stopped it.
    pub by: Obstacle,
}

/// What stopped a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The server wants a login.
    Login(Challenge),
    /// The navigation policy forbids its address.
    Policy(BadUrl),
}

/// Characters of a realm that are kept.
const REALM: usize = 200;

impl std::fmt::Display for Challenge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scheme, realm } = self;
        write!(f, "a {scheme} login")?;
        if realm.is_empty() { Ok(()) } else { write!(f, " for {realm:?}") }
    }
}

impl Challenge {
    /// The first one in a header `WWW-Authenticate` or `Proxy-Authenticate`.
    fn read(header: &str) -> Option<Self> {
        let header = header.trim();
        let (scheme, rest) = header.split_once([' ', '\t', ',', '\n']).unwrap_or((header, ""));
        if scheme.is_empty() {
            return None;
        }
        Some(Self { scheme: scheme.to_ascii_lowercase(), realm: realm(rest).chars().take(REALM).collect() })
    }
}

/// The value of the parameter `realm`, quoted or not.
fn realm(parameters: &str) -> String {
    let lower = parameters.to_ascii_lowercase();
    let named = lower.match_indices("realm").find_map(|(at, name)| {
        let alone =
            lower[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || before == ',');
        let value = lower[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        alone.then(|| &parameters[parameters.len() - value.len()..])
    });
    let Some(value) = named else { return String::new() };
    let Some(quoted) = value.strip_prefix('"') else {
        return value.split([',', ' ', '\n']).next().unwrap_or_default().to_owned();
    };
    let mut realm = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => realm.extend(characters.next()),
            other => realm.push(other),
        }
    }
    realm
}

/// The challenge in CDP's `Network.responseReceived` for a document, if it is one.
pub(super) fn challenged(params: &str) -> Option<Stopped> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Received<'a> {
        r#type: String,
        frame_id: Option<String>,
        #[serde(borrow)]
        response: Answered<'a>,
    }
    #[derive(Deserialize)]
    struct Answered<'a> {
        status: u16,
        #[serde(borrow)]
        headers: &'a RawValue,
    }
    let received: Received<'_> = serde_json::from_str(params).ok()?;
    let wanted = match received.response.status {
        401 => "www-authenticate",
        407 => "proxy-authenticate",
        _ => return None,
    };
    let frame = received.frame_id.filter(|_| received.r#type == "Document")?;
    let headers: serde_json::Map<String, Value> =
        serde_json::from_str(received.response.headers.get()).ok()?;
    let (_, value) = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
    Some(Stopped { frame, by: Obstacle::Login(Challenge::read(value.as_str()?)?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(header: &str) -> (String, String) {
        let Challenge { scheme, realm } = Challenge::read(header).unwrap();
        (scheme, realm)
    }

    #[test]
    fn a_header_is_read_as_servers_write_it() {
        for (header, scheme, realm) in [
            (r#"Basic realm="The vault""#, "basic", "The vault"),
            (r#"Basic charset="UTF-8", realm="a \"quoted\" one""#, "basic", "a \"quoted\" one"),
            ("Digest qop=auth, REALM = inner, nonce=x", "digest", "inner"),
            ("Negotiate", "negotiate", ""),
            ("NTLM\nBasic realm=\"second\"", "ntlm", "second"),
            (r#"Basic norealm="no""#, "basic", ""),
            (r#"Basic realm="never closed"#, "basic", "never closed"),
        ] {
            assert_eq!(read(header), (scheme.to_owned(), realm.to_owned()), "{header}");
        }
        assert_eq!(Challenge::read("  "), None);
    }

    #[test]
    fn only_a_document_that_was_refused_is_a_challenge() {
        let of = |kind: &str, status: u16| {
            let headers = json!({ "Www-Authenticate": "Basic realm=\"x\"" });
            let params = json!({ "requestId": "1", "type": kind, "frameId": "F", "response": { "status": status, "headers": headers } });
            challenged(&params.to_string())
        };
        let challenge = Challenge { scheme: "basic".into(), realm: "x".into() };
        assert_eq!(of("Document", 401), Some(Stopped { frame: "F".into(), by: Obstacle::Login(challenge) }));
        assert_eq!(of("Document", 407), None, "the proxy's header is another one");
        assert_eq!(of("Fetch", 401), None);
        assert_eq!(of("Document", 200), None);
    }

    proptest! {
        #[test]
        fn no_header_is_too_strange(header in "\\PC{0,60}") {
            if let Some(challenge) = Challenge::read(&header) {
                prop_assert!(challenge.realm.chars().count() <= REALM);
            }
        }
    }
}
