//! `POST /set/{what}`: what a page is made to believe.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use tabvisor_page::emulation::{BadSetting, ColorScheme, Credentials, Device, Geolocation, Headers, Setting};

use super::call::Call;
use super::error::ApiError;
use super::fields::Fields;
use super::json;
use super::state::{Granting, grant_to};

impl From<BadSetting> for ApiError {
    fn from(bad: BadSetting) -> Self {
        Self::wrong(bad.field, bad.why)
    }
}

/// Sets one thing on a tab. It holds for the tab until it is closed.
pub(super) async fn set(
    what: Result<Path<String>, PathRejection>,
    mut call: Call,
) -> Result<Response, ApiError> {
    let Path(what) = what.map_err(|_| unknown(""))?;
    let setting = read(&what, &mut call.body)?;
    let origin = call.body.text("origin")?;
    let on = call.on_tab(call.service.budgets().action()).await?;
    let is_place = matches!(setting, Setting::Geolocation(Some(_)));
    // A place that the page may not ask for is of no use.
    let origin = origin.or_else(|| Some(on.row.url.clone()).filter(|url| url.starts_with("http")));
    let work = async {
        on.service.supervisor().emulate(on.tab(), setting, &on.budget).await?;
        if let Some(origin) = origin.filter(|_| is_place) {
            let granting = Granting { origin, permissions: vec!["geolocation".into()] };
            grant_to(&on, &granting).await?;
        }
        Ok::<_, ApiError>(())
    };
    on.run("set", work).await?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": on.row.target_id })))
}

fn unknown(what: &str) -> ApiError {
    let shown: String = what.chars().take(64).collect();
    ApiError::new(StatusCode::NOT_FOUND, format!("Cannot POST /set/{shown}")).reason("route_not_found")
}

/// What a request sets.
fn read(what: &str, fields: &mut Fields) -> Result<Setting, ApiError> {
    let clear = fields.flag("clear")?.unwrap_or(false);
    // A name, or nothing where it is to be taken back.
    let mut named = |field: &'static str| match fields.text(field)? {
        _ if clear => Ok(None),
        Some(text) => Ok(Some(text)),
        None => Err(ApiError::wrong(field, "is required")),
    };
    Ok(match what {
        "timezone" => Setting::Timezone(named("timezoneId")?),
        "locale" => Setting::Locale(named("locale")?),
        "device" => Setting::Device(named("name")?.map(|name| Device::named(&name)).transpose()?),
        "offline" => Setting::Offline(
            fields.flag("offline")?.ok_or_else(|| ApiError::wrong("offline", "is required"))?,
        ),
        "media" => Setting::Media(match fields.text("colorScheme")?.as_deref() {
            Some("dark") => Some(ColorScheme::Dark),
            Some("light") => Some(ColorScheme::Light),
            Some("no-preference") => Some(ColorScheme::NoPreference),
            Some("none") => None,
            _ => return Err(ApiError::wrong("colorScheme", "must be dark|light|no-preference|none")),
        }),
        "headers" => Setting::Headers(headers(fields.take("headers"))?),
        "credentials" if clear => Setting::Credentials(None),
        "credentials" => {
            let mut required = |field: &'static str| {
                fields.verbatim(field)?.ok_or_else(|| ApiError::wrong(field, "is required, or clear"))
            };
            let username = required("username")?;
            Setting::Credentials(Some(Credentials { username, password: required("password")? }))
        }
        "geolocation" | "geo" if clear => Setting::Geolocation(None),
        "geolocation" | "geo" => {
            let required = |field: &'static str| {
                fields.number(field)?.ok_or_else(|| ApiError::wrong(field, "is required, or clear"))
            };
            let accuracy = fields.number("accuracy")?.unwrap_or(0.0);
            Setting::Geolocation(Some(Geolocation::new(
                required("latitude")?,
                required("longitude")?,
                accuracy,
            )?))
        }
        other => return Err(unknown(other)),
    })
}

fn headers(given: Option<Value>) -> Result<Headers, ApiError> {
    let wrong = |why: &str| ApiError::wrong("headers", why);
    let Some(Value::Object(members)) = given else { return Err(wrong("must be an object of strings")) };
    let mut all = Vec::with_capacity(members.len());
    for (name, value) in members {
        let Value::String(value) = value else { return Err(wrong("must be an object of strings")) };
        all.push((name, value));
    }
    Ok(Headers::new(all)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(what: &str, body: Value) -> Result<Setting, String> {
        let Value::Object(members) = body else { panic!("no object") };
        read(what, &mut members.into()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (what, body, error) in [
            ("offline", json!({}), "offline is required"),
            ("headers", json!({ "headers": { "a": 1 } }), "headers must be an object of strings"),
            ("headers", json!({ "headers": { "a b": "x" } }), "headers has a name that is none: \"a b\""),
            ("credentials", json!({ "username": "a" }), "password is required, or clear"),
            ("geolocation", json!({ "latitude": 91, "longitude": 0 }), "latitude must be from -90 to 90"),
            ("geolocation", json!({ "latitude": "x" }), "latitude must be a finite number."),
            ("media", json!({ "colorScheme": "pink" }), "colorScheme must be dark|light|no-preference|none"),
            ("timezone", json!({}), "timezoneId is required"),
            ("moon", json!({}), "Cannot POST /set/moon"),
        ] {
            assert_eq!(asked(what, body).unwrap_err(), error);
        }
        assert!(asked("device", json!({ "name": "Nokia" })).unwrap_err().starts_with("name is no device"));
        assert_eq!(asked("device", json!({ "clear": true })), Ok(Setting::Device(None)));
        assert_eq!(asked("media", json!({ "colorScheme": "none" })), Ok(Setting::Media(None)));
    }
}
