//! `GET /supervisor` and `GET /readyz`: how the tree is, and whether work is possible.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::{BrowserNode, Share};

use super::call::Look;
use super::error::ApiError;
use super::json;

/// How long the browser may take to answer.
const PROBE: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Node {
    /// Whose browser it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    #[serde(flatten)]
    browser: BrowserNode,
}

/// The tree, from what is published: no actor and no page is asked.
pub(super) async fn supervisor(mut look: Look) -> Result<Response, ApiError> {
    let only = if look.query.has("profile") { Some(look.profile()?) } else { None };
    let service = &look.service;
    let names: Vec<_> = {
        let profiles = service.profiles();
        let running = |profile: &super::profiles::Profile| profile.running().zip(Some(profile.name.clone()));
        profiles.values().filter_map(|profile| running(profile)).collect()
    };
    let of_profile = |browser: &BrowserNode| {
        names.iter().find(|(id, _)| *id == browser.browser).map(|(_, name)| name.clone())
    };
    let browsers: Vec<Node> = service
        .supervisor()
        .tree()
        .into_iter()
        .map(|browser| Node { profile: of_profile(&browser), browser })
        .filter(|node| only.as_ref().is_none_or(|only| node.profile.as_deref() == Some(only.name())))
        .collect();
    let config = service.config();
    let streams = config.server.event_streams;
    let answer = json!({
        "ok": true,
        "version": env!("CARGO_PKG_VERSION"),
        "stopping": service.is_stopping(),
        "pending": { "requests": service.running() },
        "eventStreams": Share { taken: streams - service.streams().available_permits(), limit: streams },
        "limits": config.limits,
        "browsers": browsers,
    });
    Ok(json(StatusCode::OK, &answer))
}

#[derive(Serialize)]
struct Answer {
    ready: bool,
    profile: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Whether the browser can be worked with, found out by a new link to it, as every evaluate has one.
pub(super) async fn readyz(mut look: Look) -> Result<Response, ApiError> {
    let budget = look.budget(PROBE)?;
    let it = look.profile()?;
    let said = |reason, why: Option<String>| (Some(reason), why);
    let (reason, why) = match it.profile.running() {
        _ if look.service.is_stopping() => said("stopping", None),
        None if it.profile.is_starting() => said("browser_starting", None),
        None => said("browser_stopped", it.profile.trouble().map(|why| why.text(it.name()))),
        Some(_) if it.browser().is_none() => said("browser_restarting", None),
        Some(browser) => match it.supervisor().probe(browser, &budget).await {
            Ok(()) => (None, None),
            Err(why) if why.kind() == "budget_exceeded" => said("browser_silent", Some(why.to_string())),
            Err(why) => said("browser_unavailable", Some(why.to_string())),
        },
    };
    let ready = reason.is_none();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok(json(status, &Answer { ready, profile: it.name().to_owned(), reason, why }))
}
