//! `GET /profiles`, `POST /profiles/create`, `DELETE /profiles/{name}`: which browsers there are.
//!
//! Those that a call makes live as long as the service. The data of one that is launched is kept in the state
//! folder and found again by the next profile of that name; when the profile is deleted it is moved aside.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use crate::config::{BrowserAddress, Config, ProfileConfig, check_name, is_color};

use super::call::Call;
use super::error::ApiError;
use super::fields::Fields;
use super::in_profile::InProfile;
use super::json;
use super::lifecycle::{DRIVER, TRANSPORT, move_aside, stopped};
use super::profiles::Profile;
use super::runs::Then;
use super::service::Service;

/// Profiles there may be, configured and made.
const MOST: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "as clients know it")]
struct Row {
    name: String,
    transport: &'static str,
    cdp_port: Option<u16>,
    cdp_url: Option<String>,
    color: String,
    driver: &'static str,
    running: bool,
    tab_count: usize,
    is_default: bool,
    is_remote: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    missing_from_config: bool,
    reconcile_reason: (),
}

impl Row {
    fn of(it: &InProfile) -> Self {
        let profile = &it.profile;
        Self {
            name: profile.name.clone(),
            transport: TRANSPORT,
            cdp_port: None,
            cdp_url: profile.address.as_ref().map(ToString::to_string),
            color: profile.color.clone(),
            driver: DRIVER,
            running: it.browser().is_some(),
            tab_count: it.tabs().len(),
            is_default: profile.is_default(),
            is_remote: profile.is_remote,
            missing_from_config: profile.created,
            reconcile_reason: (),
        }
    }
}

/// All of them, the default one first.
pub(super) async fn list(State(service): State<Service>) -> Response {
    let all: Vec<_> = service.profiles().values().cloned().collect();
    let mut rows: Vec<_> =
        all.into_iter().map(|profile| Row::of(&InProfile::new(service.clone(), profile))).collect();
    rows.sort_by_key(|row| !row.is_default);
    json(StatusCode::OK, &json!({ "profiles": rows }))
}

/// Makes one; its browser is started when it is needed.
pub(super) async fn create(mut call: Call) -> Result<Response, ApiError> {
    let service = &call.service;
    let (name, own) = asked(&mut call.body, service.config())?;
    let profile = Arc::new(Profile::new(&name, &own, service.config(), true));
    if let Some(why) = profile.trouble() {
        return Err(ApiError::wrong("cdpUrl", why.text(&name)));
    }
    {
        let mut profiles = service.profiles();
        if profiles.contains_key(&name) {
            let error = format!("profile \"{name}\" exists already");
            return Err(ApiError::new(StatusCode::CONFLICT, error).reason("profile_exists"));
        }
        if profiles.len() >= MOST {
            let error = format!("there are {MOST} profiles already, which is the limit");
            return Err(ApiError::new(StatusCode::INSUFFICIENT_STORAGE, error).reason("overloaded"));
        }
        profiles.insert(name.clone(), Arc::clone(&profile));
    }
    let answer = json!({
        "ok": true,
        "profile": name,
        "transport": TRANSPORT,
        "cdpPort": null,
        "cdpUrl": profile.address.as_ref().map(ToString::to_string),
        "userDataDir": profile.folder(),
        "color": profile.color,
        "isRemote": profile.is_remote,
    });
    Ok(json(StatusCode::OK, &answer))
}

fn asked(fields: &mut Fields, config: &Config) -> Result<(String, ProfileConfig), ApiError> {
    let name = fields.text("name")?.ok_or_else(|| ApiError::wrong("name", "is required."))?;
    check_name(&name).map_err(|why| ApiError::wrong("name", why))?;
    let color = fields.text("color")?;
    if color.as_deref().is_some_and(|color| !is_color(color)) {
        return Err(ApiError::wrong("color", "must be a color such as #ff4500."));
    }
    match fields.text("driver")?.as_deref() {
        None | Some("openclaw" | "clawd") => {}
        Some("existing-session") => return Err(elsewhere("a browser of an existing session")),
        Some(_) => return Err(ApiError::wrong("driver", "must be openclaw.")),
    }
    if fields.has("userDataDir") {
        let why = "is chosen by the service; configure a profile to have another folder.";
        return Err(ApiError::wrong("userDataDir", why));
    }
    let cdp_url = fields.text("cdpUrl")?;
    // A path of this machine is for its operator to name, in the configuration.
    let is_address =
        |url: &str| ["ws://", "wss://", "http://", "https://"].iter().any(|it| url.starts_with(it));
    if cdp_url.as_deref().is_some_and(|url| !is_address(url)) {
        return Err(ApiError::wrong("cdpUrl", "must be a ws, wss, http or https address."));
    }
    let folder = || {
        let state = config.state_folder().map_err(|why| ApiError::invalid(why.to_string()))?;
        // Not beside the temporary ones: those are removed.
        Ok::<_, ApiError>(state.join("kept-profiles").join(&name))
    };
    let profile = if cdp_url.is_some() { None } else { Some(folder()?) };
    let own = ProfileConfig { cdp_url: cdp_url.map(BrowserAddress::from), profile, headed: false, color };
    Ok((name, own))
}

/// Stops the browser of one that a call has made, moves its data aside and forgets it.
pub(super) async fn delete(
    name: Result<Path<String>, PathRejection>,
    call: Call,
) -> Result<Response, ApiError> {
    let name = name.map(|Path(name)| name.trim().to_owned()).unwrap_or_default();
    delete_named(call, &name).await
}

/// Deletes the one that is named `create`.
pub(super) async fn delete_create(call: Call) -> Result<Response, ApiError> {
    delete_named(call, "create").await
}

/// Deletes the one that is named `import`.
pub(super) async fn delete_import(call: Call) -> Result<Response, ApiError> {
    delete_named(call, "import").await
}

async fn delete_named(call: Call, name: &str) -> Result<Response, ApiError> {
    check_name(name).map_err(|why| ApiError::wrong("name", why))?;
    let budget = call.budget(call.service.budgets().start())?;
    let in_profile = call.service.profile_named(name)?;
    let profile = &in_profile.profile;
    if profile.is_default() {
        return Err(ApiError::wrong("name", "is that of the default profile, which cannot be deleted."));
    }
    if !profile.created {
        let error = format!("profile \"{name}\" is configured; take it out of the configuration");
        return Err(ApiError::new(StatusCode::CONFLICT, error).reason("profile_configured"));
    }
    let moved = match stopped(&in_profile, Then::Never, &budget).await {
        Ok(_stopped) => profile.folder().as_deref().map(move_aside).transpose(),
        Err(why) => Err(why),
    };
    let deleted = moved.inspect_err(|_| profile.reopen())?.flatten().is_some();
    forget(&mut call.service.profiles(), profile);
    Ok(json(StatusCode::OK, &json!({ "ok": true, "profile": name, "deleted": deleted })))
}

/// Takes it out, but not one that was made under its name meanwhile.
fn forget(profiles: &mut BTreeMap<String, Arc<Profile>>, profile: &Arc<Profile>) {
    if profiles.get(&profile.name).is_some_and(|it| Arc::ptr_eq(it, profile)) {
        profiles.remove(&profile.name);
    }
}

/// What needs the desktop of a person.
pub(super) async fn not_here() -> ApiError {
    elsewhere("importing from the profiles of a desktop browser")
}

fn elsewhere(what: &str) -> ApiError {
    let error =
        format!("{what} is not supported: browsers are launched by the service or attached to over CDP");
    ApiError::new(StatusCode::NOT_IMPLEMENTED, error).reason("unsupported")
}
