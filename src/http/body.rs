//! The body of a request: read up to a limit, then parsed.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tabvisor_cdp::budget::Budget;

use super::error::ApiError;
use super::fields::Fields;

/// How long a body may take to arrive, whoever waits for it.
const ARRIVES: Duration = Duration::from_secs(30);
/// How long the rest of a refused body is taken in and thrown away.
const LINGER: Duration = Duration::from_millis(500);

/// Reads the members of a JSON object. Any other JSON counts as an object without members.
pub(super) async fn fields(request: Request, limit: usize) -> Result<Fields, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = match Budget::new(ARRIVES).run(read(&parts.headers, body, limit)).await {
        Ok(bytes) => bytes?,
        Err(_) => return Err(slow()),
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Fields::default());
    }
    check_type(&parts.headers)?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(members)) => Ok(members.into()),
        Ok(_) => Ok(Fields::default()),
        Err(why) => {
            Err(ApiError::invalid(format!("the body is not valid JSON: {why}")).reason("invalid_argument"))
        }
    }
}

async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > limit as u64) {
        // A client that asked first has sent nothing yet.
        if !headers.contains_key(EXPECT) {
            linger(body).await;
        }
        return Err(too_large(limit));
    }
    let mut body = body;
    let mut read = Vec::with_capacity(announced.and_then(|bytes| bytes.try_into().ok()).unwrap_or(0));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::invalid("the body broke off").reason("invalid_argument"))?;
        let Ok(chunk) = frame.into_data() else { continue };
        if read.len() + chunk.len() > limit {
            linger(body).await;
            return Err(too_large(limit));
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read.into())
}

/// Takes in what a client is still sending: one that is cut off in the middle of it sees a broken
/// connection instead of the answer.
async fn linger(mut body: Body) {
    let rest = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = Budget::new(LINGER).run(rest).await;
}

fn slow() -> ApiError {
    let error = format!("the body did not arrive within {} s", ARRIVES.as_secs());
    ApiError::new(StatusCode::REQUEST_TIMEOUT, error)
        .reason("slow_body")
        .header(CONNECTION, HeaderValue::from_static("close"))
}

fn too_large(limit: usize) -> ApiError {
    let error = format!("the body is over the limit of {limit} bytes (server.max_body_bytes)");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error).reason("too_large").detail("limit", limit)
}

/// A browser sends a form or a plain text across sites without asking first, so neither is taken
/// for JSON.
fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(given) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    if essence == "application/json" || essence.ends_with("+json") {
        return Ok(());
    }
    let error = "the content-type of a body must be application/json";
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error).reason("invalid_argument"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;

    async fn sent(body: &'static str, content_type: Option<&str>) -> Result<Fields, u16> {
        let mut request = Request::new(Body::from(body));
        if let Some(given) = content_type {
            request.headers_mut().insert(CONTENT_TYPE, given.parse().unwrap());
        }
        fields(request, 100).await.map_err(|error| error.into_response().status().as_u16())
    }

    #[tokio::test]
    async fn an_object_has_fields_and_anything_else_has_none() {
        let json = Some("application/json; charset=utf-8");
        assert_eq!(sent(r#"{"a":"x"}"#, json).await.unwrap().text("a").unwrap().as_deref(), Some("x"));
        assert!(sent(r#"{"a":"x"}"#, None).await.unwrap().has("a"));
        for body in ["", " ", "[1]", "5", "null"] {
            assert!(sent(body, json).await.is_ok(), "{body:?}");
        }
        assert!(sent("", Some("text/plain")).await.is_ok());
        assert_eq!(sent("{bad", json).await.unwrap_err(), 400);
        assert_eq!(sent("{}", Some("text/plain")).await.unwrap_err(), 415);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_is_not_waited_for() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let why = fields(Request::new(Body::from_stream(never)), 100).await.unwrap_err();
        assert_eq!(
            (why.status().as_u16(), why.to_string().as_str()),
            (408, "the body did not arrive within 30 s")
        );
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_by_its_length_and_by_its_bytes() {
        let long = Box::leak(format!(r#"{{"a":"{}"}}"#, "x".repeat(200)).into_boxed_str());
        assert_eq!(sent(long, None).await.unwrap_err(), 413);
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(CONTENT_LENGTH, "120000000".parse().unwrap());
        let why = fields(request, 100).await.unwrap_err().to_string();
        assert_eq!(why, "the body is over the limit of 100 bytes (server.max_body_bytes)");
    }
}
