//! A response that is waited for, with its body.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::link::{Delivery, Event, Events, Session};

use super::watch::Observing;
use super::{UrlPattern, cut};

/// A response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// Of what was asked for.
    pub url: String,
    /// For example 200.
    pub status: u16,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
    /// Its body, as text or as base64.
    pub body: String,
    /// The body is base64: it is no text.
    #[serde(skip_serializing_if = "is_false")]
    pub base64_encoded: bool,
    /// The body was longer.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_false(truth: &bool) -> bool {
    !*truth
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// None came in time whose address is meant.
    #[error("Response not found for url pattern \"{pattern}\": none came while it was waited for ({spent})")]
    NotFound {
        /// What was waited for.
        pattern: String,
        /// How long.
        spent: Spent,
    },
    /// It came, but its body did not come to its end.
    #[error("the response from {url} broke off: {why}")]
    BrokeOff {
        /// Of what was asked for.
        url: String,
        /// `net::ERR_...`.
        why: String,
    },
    /// Chromium did not keep its body: it is over 8 MiB, or there were too many.
    #[error("the body of the response from {url} was not kept by chromium: {why}")]
    NotKept {
        /// Of what was asked for.
        url: String,
        /// Chromium's words.
        why: String,
    },
    /// The link.
    #[error(transparent)]
    Link(#[from] CdpError),
}

const EVENTS: &[&str] = &["Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed"];
const WAITING: usize = 512;
/// Responses with the address that was meant whose bodies are under way at a time.
const UNDER_WAY: usize = 64;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Received {
    request_id: String,
    response: Head,
}

#[derive(Deserialize)]
struct Head {
    url: String,
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    request_id: String,
    error_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    body: String,
    base64_encoded: bool,
}

impl Observing {
    /// Waits for the next response that comes from an address that `pattern` means, and for its
    /// body, of which at most `max_chars` characters are given.
    ///
    /// # Errors
    /// [`ResponseError`].
    pub async fn response(
        &self,
        pattern: &UrlPattern,
        max_chars: usize,
        budget: &Budget,
    ) -> Result<Response, ResponseError> {
        let mut events = self.page().subscribe_link(EVENTS, WAITING);
        let (session, request_id, head) = match budget.run(self.ended(&mut events, pattern)).await {
            Ok(ended) => ended?,
            Err(spent) => return Err(ResponseError::NotFound { pattern: cut(pattern.as_str()), spent }),
        };
        let asked = session.call_as("Network.getResponseBody", json!({ "requestId": request_id }), budget);
        let Body { body, base64_encoded } = match asked.await {
            // A redirect or an empty answer has none.
            Err(CdpError::Protocol { .. }) if matches!(head.status, 204 | 205 | 300..=399) => {
                Body { body: String::new(), base64_encoded: false }
            }
            Err(CdpError::Protocol { message, .. }) => {
                return Err(ResponseError::NotKept { url: cut(&head.url), why: message });
            }
            other => other?,
        };
        let (body, base64_encoded) = plain(body, base64_encoded);
        // Four characters of base64 are three bytes, and less than four are none.
        let most = if base64_encoded { max_chars / 4 * 4 } else { max_chars };
        let end = body.char_indices().nth(most).map(|(at, _)| at);
        let text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(Response {
            url: cut(&head.url),
            status: head.status,
            headers: head.headers.into_iter().map(|(name, value)| (name, text(value))).collect(),
            body: end.map_or_else(|| body.clone(), |at| body[..at].to_owned()),
            base64_encoded,
            truncated: end.is_some(),
        })
    }

    async fn ended(
        &self,
        events: &mut Events,
        pattern: &UrlPattern,
    ) -> Result<(Session, String, Head), ResponseError> {
        let mut under_way: Vec<(String, Head)> = Vec::new();
        loop {
            let event = match events.next().await {
                Some(Delivery::Event(event)) => event,
                // One that was lost may have been it; another may come.
                Some(Delivery::Lagged { .. }) => continue,
                None => return Err(CdpError::LinkClosed(CloseCause::Remote).into()),
            };
            if let Some((id, head, ended)) = heard(&event, pattern, &mut under_way) {
                if let Some(why) = ended.error_text {
                    return Err(ResponseError::BrokeOff { url: cut(&head.url), why });
                }
                let session = event.session.as_deref().map(|it| self.page().sibling(it));
                return Ok((session.unwrap_or_else(|| self.page().clone()), id, head));
            }
        }
    }
}

/// Keeps the heads that are meant, and gives the first whose body has ended.
fn heard(
    event: &Event,
    pattern: &UrlPattern,
    under_way: &mut Vec<(String, Head)>,
) -> Option<(String, Head, Ended)> {
    let params = event.params.get();
    if &*event.method == "Network.responseReceived" {
        let Received { request_id, response } = serde_json::from_str(params).ok()?;
        if pattern.matches(&response.url) && under_way.len() < UNDER_WAY {
            under_way.push((request_id, response));
        }
        return None;
    }
    let ended: Ended = serde_json::from_str(params).ok()?;
    let at = under_way.iter().position(|(id, _)| *id == ended.request_id)?;
    let (id, head) = under_way.swap_remove(at);
    Some((id, head, ended))
}

/// Chromium encodes some bodies that are text (of a type that it does not know as one).
fn plain(body: String, base64: bool) -> (String, bool) {
    if !base64 {
        return (body, false);
    }
    match BASE64_STANDARD.decode(&body).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) if !text.contains('\0') => (text, false),
        _ => (body, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_text_wherever_it_can_be() {
        assert_eq!(plain("aGk=".into(), true), ("hi".into(), false));
        assert_eq!(plain("/w==".into(), true), ("/w==".into(), true));
        assert_eq!(plain("aGk=".into(), false), ("aGk=".into(), false));
    }
}
