//! `/cookies`, `/storage`, `/text`, `/permissions/grant`: what pages and their browser context hold.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use tabvisor_page::content::{Content, Held, StorageKind};
use tabvisor_page::cookies::{NewCookie, SameSite};
use tabvisor_page::permissions::Granted;

use super::act::ActedOn;
use super::call::{Call, OnTab};
use super::error::ApiError;
use super::json;

/// Most characters of a text, and how many without a word for it.
const TEXT_CHARS: u32 = 40_000;

#[derive(Serialize)]
struct Read {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(flatten)]
    held: Held,
}

/// The cookies of the tab's browser context.
pub(super) async fn cookies(mut call: Call) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().action()).await?;
    let cookies = on.run("cookies", on.service.supervisor().cookies(on.tab(), &on.budget)).await?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": on.row.target_id, "cookies": cookies })))
}

/// Sets one.
pub(super) async fn set_cookie(mut call: Call) -> Result<Response, ApiError> {
    let cookie = cookie("cookie", call.body.take("cookie"))?;
    add(call, &[cookie]).await
}

/// Sets several, or none.
pub(super) async fn set_cookies(mut call: Call) -> Result<Response, ApiError> {
    let Some(Value::Array(given)) = call.body.take("cookies") else {
        return Err(ApiError::wrong("cookies", "must be a list of cookies"));
    };
    let named = given.into_iter().enumerate().map(|(n, it)| cookie(&format!("cookies[{n}]"), Some(it)));
    let cookies = named.collect::<Result<Vec<_>, _>>()?;
    add(call, &cookies).await
}

async fn add(mut call: Call, cookies: &[NewCookie]) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().action()).await?;
    let adding = on.service.supervisor().set_cookies(on.tab(), cookies, &on.budget);
    let added = on.run("set_cookies", adding).await?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": on.row.target_id, "added": added })))
}

/// Forgets them.
pub(super) async fn clear_cookies(mut call: Call) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().action()).await?;
    on.run("clear_cookies", on.service.supervisor().clear_cookies(on.tab(), &on.budget)).await?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": on.row.target_id })))
}

/// A cookie as a request writes it; its faults are told by the place in the request.
fn cookie(place: &str, given: Option<Value>) -> Result<NewCookie, ApiError> {
    let wrong = |field: &str, why: &str| ApiError::wrong(&format!("{place}.{field}"), why);
    let Some(Value::Object(members)) = given else { return Err(ApiError::wrong(place, "is required")) };
    let text = |field: &str| match members.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(field, "must be a string")),
    };
    let truth = |field: &str| match members.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(truth)) => Ok(Some(*truth)),
        Some(_) => Err(wrong(field, "must be true or false")),
    };
    let expires = match members.get("expires") {
        None | Some(Value::Null) => None,
        Some(given) => Some(given.as_f64().ok_or_else(|| wrong("expires", "must be seconds since 1970"))?),
    };
    let same_site = match text("sameSite")?.as_deref() {
        None => None,
        Some("Lax") => Some(SameSite::Lax),
        Some("None") => Some(SameSite::None),
        Some("Strict") => Some(SameSite::Strict),
        Some(_) => return Err(wrong("sameSite", "must be Lax|None|Strict")),
    };
    let new = NewCookie {
        name: text("name")?.filter(|it| !it.is_empty()).ok_or_else(|| wrong("name", "is required"))?,
        value: text("value")?.ok_or_else(|| wrong("value", "is required"))?,
        url: text("url")?,
        domain: text("domain")?,
        path: text("path")?,
        expires,
        http_only: truth("httpOnly")?,
        secure: truth("secure")?,
        same_site,
    };
    new.check().map_err(|(field, why)| wrong(field, why))?;
    Ok(new)
}

type KindOf = Result<Path<String>, PathRejection>;

fn kind_of(kind: &KindOf) -> Result<StorageKind, ApiError> {
    match kind.as_ref().map(|Path(kind)| kind.as_str()) {
        Ok("local") => Ok(StorageKind::Local),
        Ok("session") => Ok(StorageKind::Session),
        _ => Err(ApiError::wrong("kind", "must be local|session")),
    }
}

/// What a storage of the page's origin holds.
pub(super) async fn storage(kind: KindOf, mut call: Call) -> Result<Response, ApiError> {
    let kind = kind_of(&kind)?;
    let key = call.query.verbatim("key")?.filter(|key| !key.is_empty());
    content(call, Content::Read(kind, key)).await
}

/// Sets a value in it.
pub(super) async fn set_storage(kind: KindOf, mut call: Call) -> Result<Response, ApiError> {
    let kind = kind_of(&kind)?;
    let Some(key) = call.body.verbatim("key")?.filter(|key| !key.is_empty()) else {
        return Err(ApiError::wrong("key", "is required"));
    };
    let value = call.body.verbatim("value")?.unwrap_or_default();
    content(call, Content::Write(kind, key, value)).await
}

/// Forgets everything in it.
pub(super) async fn clear_storage(kind: KindOf, call: Call) -> Result<Response, ApiError> {
    let kind = kind_of(&kind)?;
    content(call, Content::Clear(kind)).await
}

/// The text of the page, or of a part of it.
pub(super) async fn text(mut call: Call) -> Result<Response, ApiError> {
    let most = call.query.positive("maxChars")?.map_or(Some(TEXT_CHARS), |most| u32::try_from(most).ok());
    let Some(most) = most.filter(|most| *most <= TEXT_CHARS) else {
        return Err(ApiError::wrong("maxChars", format!("must be at most {TEXT_CHARS}")));
    };
    let selector = call.query.text("selector")?;
    content(call, Content::Text(selector, most)).await
}

async fn content(mut call: Call, what: Content) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().action()).await?;
    let name = what.name();
    let held = on.run(name, on.service.supervisor().content(on.tab(), what, &on.budget)).await?;
    Ok(json(StatusCode::OK, &Read { ok: true, tab: on.acted_on(), held }))
}

/// Permissions, and who gets them.
pub(super) struct Granting {
    pub(super) origin: String,
    pub(super) permissions: Vec<String>,
}

/// Grants them in the tab's browser context.
pub(super) async fn grant_to(on: &OnTab, granting: &Granting) -> Result<Granted, ApiError> {
    let Granting { origin, permissions } = granting;
    Ok(on.service.supervisor().grant_permissions(on.tab(), origin, permissions, &on.budget).await?)
}

/// Grants permissions to an origin.
pub(super) async fn grant(mut call: Call) -> Result<Response, ApiError> {
    let origin = call.body.text("origin")?.ok_or_else(|| ApiError::wrong("origin", "is required"))?;
    let required = call.body.texts("permissions")?.unwrap_or_default();
    let optional = call.body.texts("optionalPermissions")?.unwrap_or_default();
    if required.is_empty() && optional.is_empty() {
        return Err(ApiError::wrong("permissions", "is required"));
    }
    let on = call.on_tab(call.service.budgets().action()).await?;
    let granting = Granting { origin, permissions: [required.clone(), optional].concat() };
    let granted = on.run("grant", grant_to(&on, &granting)).await?;
    if let Some(unknown) = required.iter().find(|it| granted.unsupported_permissions.contains(it)) {
        let shown: String = unknown.chars().take(64).collect();
        return Err(ApiError::wrong(
            "permissions",
            format!("has one that chromium does not know: {shown:?}"),
        ));
    }
    let mut answer =
        json!({ "ok": true, "targetId": on.row.target_id, "grantMethod": "Browser.setPermission" });
    if let (Some(answer), Value::Object(granted)) = (answer.as_object_mut(), json!(granted)) {
        answer.extend(granted);
    }
    Ok(json(StatusCode::OK, &answer))
}

/// There is no file that Playwright's viewer would open without Playwright.
pub(super) async fn no_trace() -> ApiError {
    not_here(
        "traces in Playwright's format need Playwright; use /console, /errors, /requests and /screenshot",
    )
}

/// A page is shown by pictures.
pub(super) async fn no_screencast() -> ApiError {
    not_here("a screencast would keep the page rendering for as long as it is watched; use /screenshot")
}

fn not_here(why: &str) -> ApiError {
    ApiError::new(StatusCode::NOT_IMPLEMENTED, format!("not available: {why}")).reason("not_implemented")
}
