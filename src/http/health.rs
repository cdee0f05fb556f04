//! `GET /healthz` and `GET /metrics`.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::json;
use super::service::Service;

#[derive(Serialize)]
struct Health {
    ok: bool,
    version: &'static str,
    stopping: bool,
    browser: Browser,
}

#[derive(Serialize)]
struct Browser {
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// Alive, whatever the browser does.
pub(super) async fn healthz(State(service): State<Service>) -> Response {
    let facts = service.default_profile().browser();
    let health = Health {
        ok: true,
        version: env!("CARGO_PKG_VERSION"),
        stopping: service.is_stopping(),
        browser: Browser { ready: facts.is_some(), version: facts.map(|facts| facts.version.clone()) },
    };
    json(StatusCode::OK, &health)
}

/// Prometheus text.
pub(super) async fn metrics(State(service): State<Service>) -> Response {
    let text = service.metrics().unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
