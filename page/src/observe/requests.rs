//! Rows of requests, made from the Network domain's events. Pure.

use std::collections::HashMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::console::when;
use super::cut;
use super::ring::{Heard, Ring};
use crate::dialog::iso;

/// One request, as far as it has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// `r1`, `r2`, ...; never used again in its tab.
    pub id: String,
    /// When it was sent.
    #[serde(serialize_with = "iso")]
    pub timestamp: SystemTime,
    /// `GET`, ...
    pub method: String,
    /// Without its fragment, cut at 2048 characters.
    pub url: String,
    /// `document`, `script`, `fetch`, `websocket`, ...
    pub resource_type: String,
    /// Once there is a response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The status is 200 to 299; `false` also for a request that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Why there is no response, or not all of it: `net::ERR_...`, or what blocked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_text: Option<String>,
}

/// The requests of a tab.
#[derive(Debug)]
pub(super) struct Requests {
    ring: Ring<Request>,
    /// Rows that may still change, by Chromium's ids.
    open: HashMap<String, u64>,
}

/// Rows that are kept.
const ROWS: usize = 500;

impl Default for Requests {
    fn default() -> Self {
        Self { ring: Ring::new(ROWS), open: HashMap::new() }
    }
}

impl Requests {
    pub(super) fn on(&mut self, method: &str, params: &str) {
        match method {
            "Network.requestWillBeSent" => self.sent(params),
            "Network.responseReceived" => {
                let Ok(Received { request_id, response }) = serde_json::from_str(params) else { return };
                self.update(&request_id, |row| row.answered(response.status));
            }
            "Network.loadingFinished" => {
                let Ok(Ended { request_id, .. }) = serde_json::from_str(params) else { return };
                self.open.remove(&request_id);
            }
            "Network.loadingFailed" => {
                let Ok(ended) = serde_json::from_str::<Ended>(params) else { return };
                let Ended { request_id, error_text, blocked_reason } = ended;
                self.update(&request_id, |row| row.failed(blocked_reason.as_deref().unwrap_or(&error_text)));
                self.open.remove(&request_id);
            }
            "Network.webSocketCreated" => {
                let Ok(Socket { request_id, url, .. }) = serde_json::from_str(params) else { return };
                self.begin(request_id, "GET", &url, "websocket".into(), SystemTime::now());
            }
            "Network.webSocketHandshakeResponseReceived" => {
                let Ok(Received { request_id, response }) = serde_json::from_str(params) else { return };
                self.update(&request_id, |row| row.answered(response.status));
            }
            "Network.webSocketFrameError" => {
                let Ok(Socket { request_id, error_message, .. }) = serde_json::from_str(params) else {
                    return;
                };
                self.update(&request_id, |row| row.failed(&error_message));
            }
            "Network.webSocketClosed" => {
                let Ok(Ended { request_id, .. }) = serde_json::from_str(params) else { return };
                self.open.remove(&request_id);
            }
            _ => {}
        }
    }

    /// The link broke: what is under way will not be heard of again.
    pub(super) fn interrupted(&mut self) {
        self.open.clear();
    }

    pub(super) fn lost(&mut self, many: u64) {
        self.ring.lost(many);
    }

    pub(super) fn clear(&mut self) {
        self.ring.clear();
        self.open.clear();
    }

    /// The rows after `since` whose address or type contains `filter`.
    pub(super) fn after(&self, since: Option<u64>, gaps: u64, filter: Option<&str>) -> Heard<Request> {
        self.ring.after(since, gaps, |row| {
            filter.is_none_or(|filter| row.url.contains(filter) || row.resource_type.contains(filter))
        })
    }

    fn sent(&mut self, params: &str) {
        let Ok(sent) = serde_json::from_str::<Sent>(params) else { return };
        let Sent { request_id, request, wall_time, r#type, redirect_response } = sent;
        if let Some(redirect) = redirect_response {
            self.update(&request_id, |row| row.answered(redirect.status));
        }
        // It never leaves the page.
        if request.url.starts_with("data:") {
            return;
        }
        let kind = r#type.unwrap_or_else(|| "Other".into()).to_ascii_lowercase();
        self.begin(request_id, &request.method, &request.url, kind, when(wall_time * 1000.0));
    }

    fn begin(&mut self, id: String, method: &str, url: &str, resource_type: String, timestamp: SystemTime) {
        let number = self.ring.push(|number| Request {
            id: format!("r{number}"),
            timestamp,
            method: cut(method),
            url: cut(url),
            resource_type,
            status: None,
            ok: None,
            failure_text: None,
        });
        // Rows that made room cannot change any more.
        if self.open.len() >= 2 * ROWS {
            let oldest = number.saturating_sub(ROWS as u64);
            self.open.retain(|_, row| *row > oldest);
        }
        self.open.insert(id, number);
    }

    fn update(&mut self, id: &str, change: impl FnOnce(&mut Request)) {
        if let Some(row) = self.open.get(id).and_then(|number| self.ring.get_mut(*number)) {
            change(row);
        }
    }
}

impl Request {
    fn answered(&mut self, status: u16) {
        self.status = Some(status);
        // A WebSocket is answered with 101.
        self.ok = Some((200..300).contains(&status) || (status == 101 && self.resource_type == "websocket"));
    }

    fn failed(&mut self, why: &str) {
        self.ok = Some(false);
        self.failure_text = Some(cut(why));
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    request_id: String,
    request: Asked,
    #[serde(default)]
    wall_time: f64,
    r#type: Option<String>,
    redirect_response: Option<Answered>,
}

#[derive(Deserialize)]
struct Asked {
    url: String,
    method: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Received {
    request_id: String,
    response: Answered,
}

#[derive(Deserialize)]
struct Answered {
    #[serde(default)]
    status: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    request_id: String,
    #[serde(default)]
    error_text: String,
    blocked_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Socket {
    request_id: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    error_message: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn rows(events: &[(&str, Value)]) -> Vec<Request> {
        let mut requests = Requests::default();
        for (method, params) in events {
            requests.on(&format!("Network.{method}"), &params.to_string());
        }
        requests.after(None, 0, None).rows
    }

    fn sent(id: &str, url: &str, redirect: Option<u16>) -> (&'static str, Value) {
        let mut params = json!({
            "requestId": id, "wallTime": 1.0, "type": "Fetch", "request": { "url": url, "method": "GET" },
        });
        if let Some(status) = redirect {
            params["redirectResponse"] = json!({ "status": status });
        }
        ("requestWillBeSent", params)
    }

    fn told(row: &Request) -> (&str, &str, Option<u16>, Option<bool>, Option<&str>) {
        (&row.id, &row.url, row.status, row.ok, row.failure_text.as_deref())
    }

    #[test]
    fn a_redirect_is_two_requests() {
        let received = json!({ "requestId": "1", "response": { "status": 404 } });
        let rows = rows(&[
            sent("1", "http://a/", None),
            sent("1", "http://b/", Some(302)),
            ("responseReceived", received),
        ]);
        let told: Vec<_> = rows.iter().map(told).collect();
        assert_eq!(
            told,
            [
                ("r1", "http://a/", Some(302), Some(false), None),
                ("r2", "http://b/", Some(404), Some(false), None),
            ]
        );
        assert_eq!(rows[0].resource_type, "fetch");
    }

    #[test]
    fn a_failure_says_why_and_data_is_no_request() {
        let failed = json!({ "requestId": "1", "errorText": "net::ERR_FAILED" });
        let blocked = json!({ "requestId": "2", "errorText": "net::ERR_BLOCKED", "blockedReason": "csp" });
        let socket = json!({ "requestId": "3", "url": "ws://a/" });
        let shaken = json!({ "requestId": "3", "response": { "status": 101 } });
        let rows = rows(&[
            sent("1", "http://a/", None),
            sent("d", "data:text/plain,x", None),
            sent("2", "http://b/", None),
            ("loadingFailed", failed),
            ("loadingFailed", blocked),
            ("webSocketCreated", socket),
            ("webSocketHandshakeResponseReceived", shaken),
        ]);
        let told: Vec<_> = rows.iter().map(told).collect();
        assert_eq!(
            told,
            [
                ("r1", "http://a/", None, Some(false), Some("net::ERR_FAILED")),
                ("r2", "http://b/", None, Some(false), Some("csp")),
                ("r3", "ws://a/", Some(101), Some(true), None),
            ]
        );
    }

    #[test]
    fn what_never_ends_takes_no_room_for_ever() {
        let mut requests = Requests::default();
        for n in 0..5000 {
            let (method, params) = sent(&n.to_string(), "http://a/", None);
            requests.on(&format!("Network.{method}"), &params.to_string());
        }
        assert!(requests.open.len() <= 2 * ROWS);
        assert_eq!(requests.after(None, 0, None).dropped, 4500);
        assert_eq!(requests.after(None, 0, Some("nowhere")).rows, []);
        assert_eq!(requests.after(Some(4999), 0, Some("fetch")).rows.len(), 1);
    }
}
