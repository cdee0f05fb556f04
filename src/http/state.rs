//! `/cookies`, `/storage`, `/text`, `/permissions/grant`: what pages and their browser context hold.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use tabvisor_actors::TabRow;
use tabvisor_actors::ids::TabId;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::content::{Content, Held, StorageKind};
use tabvisor_page::cookies::{NewCookie, SameSite};
use tabvisor_page::permissions::Granted;
use tracing::Instrument;

use super::act::{ActedOn, acted_on};
use super::error::ApiError;
use super::fields::Fields;
use super::service::Service;
use super::{body, json, record_overrun};

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

/// The tab of a request, and for how long.
async fn tab_of(
    service: &Service,
    query: &mut Fields,
    body: &mut Fields,
) -> Result<(TabRow, Budget), ApiError> {
    let asks = if body.has("timeoutMs") { &*body } else { &*query };
    let budget = asks.budget(service.budgets().action(), service.max_budget())?;
    let target = match body.text("targetId")? {
        Some(target) => Some(target),
        None => query.text("targetId")?,
    };
    let profile = service.profile(query, body)?;
    Ok((profile.named_or_last(target.as_deref(), &budget).await?, budget))
}

/// Body and query of a request.
async fn fields(
    service: &Service,
    query: Option<&str>,
    request: Request,
) -> Result<(Fields, Fields), ApiError> {
    let body = body::fields(request, service.max_body_bytes()).await?;
    Ok((Fields::of_query(query), body))
}

/// The cookies of the tab's browser context.
pub(super) async fn cookies(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let (row, budget) =
        tab_of(&service, &mut Fields::of_query(query.as_deref()), &mut Fields::default()).await?;
    let cookies = service.supervisor().cookies(row.tab_id, &budget).await;
    record_overrun(&budget);
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id, "cookies": cookies? })))
}

/// Sets one.
pub(super) async fn set_cookie(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let (query, mut body) = fields(&service, query.as_deref(), request).await?;
    let cookie = cookie("cookie", body.take("cookie"))?;
    add(&service, query, body, &[cookie]).await
}

/// Sets several, or none.
pub(super) async fn set_cookies(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let (query, mut body) = fields(&service, query.as_deref(), request).await?;
    let Some(Value::Array(given)) = body.take("cookies") else {
        return Err(ApiError::wrong("cookies", "must be a list of cookies"));
    };
    let named = given.into_iter().enumerate().map(|(n, it)| cookie(&format!("cookies[{n}]"), Some(it)));
    let cookies = named.collect::<Result<Vec<_>, _>>()?;
    add(&service, query, body, &cookies).await
}

async fn add(
    service: &Service,
    mut query: Fields,
    mut body: Fields,
    cookies: &[NewCookie],
) -> Result<Response, ApiError> {
    let (row, budget) = tab_of(service, &mut query, &mut body).await?;
    let added = service.supervisor().set_cookies(row.tab_id, cookies, &budget).await;
    record_overrun(&budget);
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id, "added": added? })))
}

/// Forgets them.
pub(super) async fn clear_cookies(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let (mut query, mut body) = fields(&service, query.as_deref(), request).await?;
    let (row, budget) = tab_of(&service, &mut query, &mut body).await?;
    let cleared = service.supervisor().clear_cookies(row.tab_id, &budget).await;
    record_overrun(&budget);
    cleared?;
    Ok(json(StatusCode::OK, &json!({ "ok": true, "targetId": row.target_id })))
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

fn kind_of(kind: &Result<Path<String>, PathRejection>) -> Result<StorageKind, ApiError> {
    match kind.as_ref().map(|Path(kind)| kind.as_str()) {
        Ok("local") => Ok(StorageKind::Local),
        Ok("session") => Ok(StorageKind::Session),
        _ => Err(ApiError::wrong("kind", "must be local|session")),
    }
}

/// What a storage of the page's origin holds.
pub(super) async fn storage(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    kind: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    let kind = kind_of(&kind)?;
    let mut query = Fields::of_query(query.as_deref());
    let key = query.verbatim("key")?.filter(|key| !key.is_empty());
    content(&service, &mut query, &mut Fields::default(), Content::Read(kind, key)).await
}

/// Sets a value in it.
pub(super) async fn set_storage(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    kind: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let kind = kind_of(&kind)?;
    let (mut query, mut body) = fields(&service, query.as_deref(), request).await?;
    let Some(key) = body.verbatim("key")?.filter(|key| !key.is_empty()) else {
        return Err(ApiError::wrong("key", "is required"));
    };
    let value = body.verbatim("value")?.unwrap_or_default();
    content(&service, &mut query, &mut body, Content::Write(kind, key, value)).await
}

/// Forgets everything in it.
pub(super) async fn clear_storage(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    kind: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let kind = kind_of(&kind)?;
    let (mut query, mut body) = fields(&service, query.as_deref(), request).await?;
    content(&service, &mut query, &mut body, Content::Clear(kind)).await
}

/// The text of the page, or of a part of it.
pub(super) async fn text(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let mut query = Fields::of_query(query.as_deref());
    let most = query.positive("maxChars")?.map_or(Some(TEXT_CHARS), |most| u32::try_from(most).ok());
    let Some(most) = most.filter(|most| *most <= TEXT_CHARS) else {
        return Err(ApiError::wrong("maxChars", format!("must be at most {TEXT_CHARS}")));
    };
    let selector = query.text("selector")?;
    content(&service, &mut query, &mut Fields::default(), Content::Text(selector, most)).await
}

async fn content(
    service: &Service,
    query: &mut Fields,
    body: &mut Fields,
    what: Content,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let (row, budget) = tab_of(service, query, body).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = what.name(), %tab, budget_ms = budget.left_ms());
    let held = service.supervisor().content(tab, what, &budget).instrument(span).await;
    record_overrun(&budget);
    let held = held?;
    Ok(json(StatusCode::OK, &Read { ok: true, tab: acted_on(service, row), held }))
}

/// Permissions, and who gets them.
pub(super) struct Granting {
    pub(super) origin: String,
    pub(super) permissions: Vec<String>,
}

/// Grants them in the tab's browser context.
pub(super) async fn grant_to(
    service: &Service,
    tab: TabId,
    granting: &Granting,
    budget: &Budget,
) -> Result<Granted, ApiError> {
    let Granting { origin, permissions } = granting;
    Ok(service.supervisor().grant_permissions(tab, origin, permissions, budget).await?)
}

/// Grants permissions to an origin.
pub(super) async fn grant(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let (mut query, mut body) = fields(&service, query.as_deref(), request).await?;
    let origin = body.text("origin")?.ok_or_else(|| ApiError::wrong("origin", "is required"))?;
    let required = body.texts("permissions")?.unwrap_or_default();
    let optional = body.texts("optionalPermissions")?.unwrap_or_default();
    if required.is_empty() && optional.is_empty() {
        return Err(ApiError::wrong("permissions", "is required"));
    }
    let (row, budget) = tab_of(&service, &mut query, &mut body).await?;
    let granting = Granting { origin, permissions: [required.clone(), optional].concat() };
    let granted = grant_to(&service, row.tab_id, &granting, &budget).await?;
    record_overrun(&budget);
    if let Some(unknown) = required.iter().find(|it| granted.unsupported_permissions.contains(it)) {
        let shown: String = unknown.chars().take(64).collect();
        return Err(ApiError::wrong(
            "permissions",
            format!("has one that chromium does not know: {shown:?}"),
        ));
    }
    let mut answer = json!({ "ok": true, "targetId": row.target_id, "grantMethod": "Browser.setPermission" });
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
