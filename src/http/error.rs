//! The answer to a request that failed, as the contract has it: `error`, and where they help
//! `code`, `reason` and `details`.

use std::fmt;
use std::time::Duration;

use axum::http::header::{CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};

use super::json;

/// A code of `/act`; clients know no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Code {
    #[serde(rename = "ACT_KIND_REQUIRED")]
    KindRequired,
    #[serde(rename = "ACT_INVALID_REQUEST")]
    InvalidRequest,
    #[serde(rename = "ACT_SELECTOR_UNSUPPORTED")]
    SelectorUnsupported,
    #[serde(rename = "ACT_EVALUATE_DISABLED")]
    EvaluateDisabled,
    #[serde(rename = "ACT_TARGET_ID_MISMATCH")]
    TargetIdMismatch,
    #[serde(rename = "ACT_OPERATION_FAILED")]
    OperationFailed,
}

/// A failed request.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Box<Body>,
}

#[derive(Debug, Serialize)]
struct Body {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    details: Map<String, Value>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        let body = Body { error: error.into(), code: None, reason: None, details: Map::new() };
        Self { status, headers: Vec::new(), body: Box::new(body) }
    }

    /// A request that is wrong in itself.
    pub(super) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// A field that is wrong or missing.
    pub(super) fn wrong(field: &str, why: impl fmt::Display) -> Self {
        Self::about(field, format!("{field} {why}"))
    }

    /// The same in words of its own.
    pub(super) fn about(field: &str, error: impl Into<String>) -> Self {
        Self::invalid(error).reason("invalid_argument").detail("field", field)
    }

    pub(super) fn unauthorized() -> Self {
        // Not Basic, or browsers would ask their user for a password.
        let challenge = HeaderValue::from_static("Bearer realm=\"tabvisor\"");
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized")
            .reason("unauthorized")
            .header(WWW_AUTHENTICATE, challenge)
    }

    pub(super) fn forbidden(reason: &'static str, why: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Forbidden").reason(reason).detail("why", why)
    }

    pub(super) fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the service is stopping")
            .reason("stopping")
            .header(CONNECTION, HeaderValue::from_static("close"))
    }

    #[must_use]
    pub(super) fn code(mut self, code: Code) -> Self {
        self.body.code = Some(code);
        self
    }

    #[must_use]
    pub(super) fn reason(mut self, reason: &'static str) -> Self {
        self.body.reason = Some(reason);
        self
    }

    #[must_use]
    pub(super) fn detail(mut self, name: &str, value: impl Serialize) -> Self {
        // What is given here always has a JSON form.
        if let Ok(value) = serde_json::to_value(value) {
            self.body.details.insert(name.to_owned(), value);
        }
        self
    }

    /// All members of `value` as details.
    #[must_use]
    pub(super) fn details(mut self, value: impl Serialize) -> Self {
        if let Ok(Value::Object(members)) = serde_json::to_value(value) {
            self.body.details.extend(members);
        }
        self
    }

    #[must_use]
    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// When trying again is worth it; whole seconds, rounded up.
    #[must_use]
    pub(super) fn retry_after(self, after: Duration) -> Self {
        let seconds = after.as_millis().div_ceil(1000).max(1);
        match HeaderValue::from_str(&seconds.to_string()) {
            Ok(value) => self.header(RETRY_AFTER, value),
            Err(_) => self,
        }
    }

    /// As `/act` says it: a wrong request has a code there.
    #[must_use]
    pub(super) fn of_act(mut self) -> Self {
        if self.status == StatusCode::BAD_REQUEST && self.body.reason != Some("navigation_blocked") {
            self.body.code.get_or_insert(Code::InvalidRequest);
        }
        self
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.body.error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let rejected = match (self.status, self.body.reason) {
            (_, Some("navigation_blocked")) => Some("policy"),
            (StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE, _) => Some("invalid"),
            (StatusCode::UNAUTHORIZED, _) => Some("auth"),
            (StatusCode::FORBIDDEN, Some("cross_site" | "bad_host")) => Some("origin"),
            (StatusCode::FORBIDDEN, _) => Some("policy"),
            // Overloaded is counted where it is decided.
            _ => None,
        };
        if let Some(reason) = rejected {
            metrics::counter!("tabvisor_rejected_total", "reason" => reason).increment(1);
        }
        let mut response = json(self.status, &self.body);
        response.headers_mut().extend(self.headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_is_said() {
        let said = |error: &ApiError| serde_json::to_string(&error.body).unwrap();
        assert_eq!(said(&ApiError::invalid("x")), r#"{"error":"x"}"#);
        let full = ApiError::invalid("x").of_act().reason("r").detail("limit", 5);
        assert_eq!(
            said(&full),
            r#"{"error":"x","code":"ACT_INVALID_REQUEST","reason":"r","details":{"limit":5}}"#
        );
    }

    #[test]
    fn waiting_is_told_in_whole_seconds() {
        for (ms, header) in [(0, "1"), (250, "1"), (1000, "1"), (1001, "2")] {
            let response = ApiError::invalid("x").retry_after(Duration::from_millis(ms)).into_response();
            assert_eq!(response.headers()[RETRY_AFTER], header);
        }
    }
}
