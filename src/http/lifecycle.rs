//! `GET /`, `POST /start`, `POST /stop`, `POST /reset-profile`: a browser, from outside.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::find_chromium;

use crate::TabError;

use super::call::{Call, Look, run};
use super::error::ApiError;
use super::in_profile::InProfile;
use super::json;
use super::runs::{Stopped, Then};

/// Over what a browser is driven; there is nothing else.
pub(super) const TRANSPORT: &str = "cdp";
/// What clients call a browser that is driven in this way.
pub(super) const DRIVER: &str = "openclaw";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "as clients know it")]
struct Status {
    enabled: bool,
    profile: String,
    driver: &'static str,
    transport: &'static str,
    running: bool,
    starting: bool,
    cdp_ready: bool,
    cdp_http: bool,
    page_ready: bool,
    pid: Option<u32>,
    /// Whoever reaches its port has the browser, so that of one that we launched is not told.
    cdp_port: Option<u16>,
    cdp_url: Option<String>,
    chosen_browser: Option<&'static str>,
    version: Option<String>,
    detected_browser: Option<&'static str>,
    detected_executable_path: Option<PathBuf>,
    detect_error: Option<String>,
    user_data_dir: Option<PathBuf>,
    color: String,
    headless: bool,
    headless_source: &'static str,
    no_sandbox: bool,
    executable_path: Option<PathBuf>,
    attach_only: bool,
    /// Why it cannot be started now, or the last start failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    graphics: (),
}

/// From what is known: nothing is launched, and nobody is asked.
pub(super) async fn status(mut look: Look) -> Result<Response, ApiError> {
    let in_profile = look.profile()?;
    let profile = &in_profile.profile;
    let facts = in_profile.browser();
    let running = facts.is_some();
    let (headless, headless_source) = profile.headless();
    let found = (!profile.is_attached()).then(|| find_chromium(profile.chromium.as_deref()));
    let (detected_executable_path, detect_error) = match found {
        None => (None, None),
        Some(Ok(path)) => (Some(path), None),
        Some(Err(why)) => (None, Some(why.to_string())),
    };
    let status = Status {
        enabled: true,
        profile: profile.name.clone(),
        driver: DRIVER,
        transport: TRANSPORT,
        running,
        starting: profile.is_starting(),
        cdp_ready: running,
        cdp_http: running,
        page_ready: running,
        pid: facts.as_ref().and_then(|facts| facts.pid),
        cdp_port: None,
        cdp_url: profile.address.as_ref().map(ToString::to_string),
        chosen_browser: running.then_some("chromium"),
        version: facts.map(|facts| facts.version.clone()),
        detected_browser: detected_executable_path.as_ref().map(|_| "chromium"),
        detected_executable_path,
        detect_error,
        user_data_dir: profile.folder(),
        color: profile.color.clone(),
        headless,
        headless_source,
        no_sandbox: profile.no_sandbox,
        executable_path: profile.chromium.clone(),
        attach_only: profile.is_attached(),
        trouble: profile.trouble().map(|why| why.text(&profile.name)),
        graphics: (),
    };
    Ok(json(StatusCode::OK, &status))
}

/// Starts the browser unless it runs.
pub(super) async fn start(mut call: Call) -> Result<Response, ApiError> {
    let headless = match (call.query.has("headless"), call.query.truth("headless")) {
        (true, None) => return Err(ApiError::wrong("headless", "must be true or false.")),
        (_, headless) => headless,
    };
    let budget = call.budget(call.service.budgets().start())?;
    let in_profile = call.profile()?;
    if headless.is_some() && in_profile.profile.is_attached() {
        let why = "is for browsers that are launched here; this one is attached to.";
        return Err(ApiError::wrong("headless", why));
    }
    run("start", None, &budget, in_profile.started(headless, &budget)).await?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "profile": in_profile.name() })))
}

/// Stops the browser and answers when nothing of it is left. One that is attached to is left alone, but for
/// the tabs that were opened in it.
pub(super) async fn stop(mut call: Call) -> Result<Response, ApiError> {
    let budget = call.budget(call.service.budgets().start())?;
    let in_profile = call.profile()?;
    let stopped = stopped(&in_profile, Then::Again, &budget).await?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "stopped": stopped.ran, "profile": in_profile.name() })))
}

/// Stops the browser and moves its data aside, so that the next start begins with none.
pub(super) async fn reset(mut call: Call) -> Result<Response, ApiError> {
    let budget = call.budget(call.service.budgets().start())?;
    let in_profile = call.profile()?;
    if in_profile.profile.is_attached() {
        let error = "reset-profile works for browsers that are launched here; this one is attached to";
        return Err(ApiError::about("profile", error));
    }
    let _stopped = stopped(&in_profile, Then::Again, &budget).await?;
    let from = in_profile.profile.folder();
    // A temporary one went with the browser.
    let to = from.as_deref().map(move_aside).transpose()?.flatten();
    let answer = json!({
        "ok": true, "profile": in_profile.name(), "moved": to.is_some(), "from": from, "to": to,
    });
    Ok(json(StatusCode::OK, &answer))
}

pub(super) async fn stopped(
    in_profile: &InProfile,
    then: Then,
    budget: &Budget,
) -> Result<Stopped, ApiError> {
    let stopping = in_profile.profile.stop(in_profile.supervisor(), then, budget);
    let stopped = run("stop", None, budget, stopping).await;
    stopped.map_err(|spent| TabError::Budget { spent, doing: "stopping the browser", sent: true }.into())
}

/// Renames a folder, if it is there, to a name beside it that is free.
pub(super) fn move_aside(folder: &Path) -> Result<Option<PathBuf>, ApiError> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut to = folder.as_os_str().to_owned();
    to.push(format!(".old-{}", now.as_millis()));
    match std::fs::rename(folder, &to) {
        Ok(()) => Ok(Some(to.into())),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => {
            let error = format!("the profile folder {} cannot be moved: {why}", folder.display());
            Err(ApiError::new(StatusCode::CONFLICT, error).reason("folder_in_use"))
        }
    }
}
