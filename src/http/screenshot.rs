//! `POST /screenshot`: a picture of a tab, in a file on this machine. `GET /tabs/{target}/thumbnail`: a small one,
//! as it is.

use std::time::Duration;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use tabvisor_actors::{Named, Screenshot, ScreenshotRequest, ShotOf};
use tabvisor_page::screenshot::Format;

use super::act::ActedOn;
use super::call::{Call, run};
use super::error::ApiError;
use super::fields::Fields;
use super::json;
use super::kept::{self, Kind};
use super::targets::not_found;

/// Quality of a JPEG.
const QUALITY: u8 = 80;
/// The same of a small one, and the most pixels of its longer side.
const THUMBNAIL: (u8, u32) = (60, 320);
/// How long a small one may take: a page that is late is shown another time.
const GLANCE: Duration = Duration::from_secs(3);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    ok: bool,
    path: String,
    #[serde(flatten)]
    tab: ActedOn,
    image_type: &'static str,
    width: u32,
    height: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(flatten)]
    labels: Option<Value>,
}

/// Takes a picture.
pub(super) async fn screenshot(mut call: Call) -> Result<Response, ApiError> {
    let asked = read(&mut call.body)?;
    let on = call.on_tab(call.service.budgets().snapshot()).await?;
    let work = on.service.supervisor().screenshot(on.tab(), asked, &on.budget);
    let (shot, labels) = match on.run("screenshot", work).await? {
        Screenshot::Plain(shot) => (shot, None),
        Screenshot::Labelled(labelled) => {
            let labels = serde_json::to_value(&labelled).ok();
            (labelled.shot, labels)
        }
    };
    let (width, height, truncated) = (shot.width, shot.height, shot.truncated);
    let image_type = shot.format.word();
    let kind = if image_type == "jpeg" { Kind::Jpeg } else { Kind::Png };
    let path = kept::save(on.service.pictures(), kind, shot.bytes).await?;
    let tab = on.acted_on();
    Ok(json(StatusCode::OK, &Answer { ok: true, path, tab, image_type, width, height, truncated, labels }))
}

/// What a tab looks like, for who watches many: small, not kept, and no use of the tab that makes it the last used one.
pub(super) async fn thumbnail(
    target: Result<Path<String>, PathRejection>,
    mut call: Call,
) -> Result<Response, ApiError> {
    let Path(target) = target.map_err(|_| not_found(""))?;
    let budget = call.budget(GLANCE)?;
    let row = call.profile()?.find(target.trim())?;
    let (quality, most) = THUMBNAIL;
    let asked = ScreenshotRequest {
        format: Format::Jpeg(quality),
        within: Some(most),
        ..ScreenshotRequest::default()
    };
    let work = call.service.supervisor().screenshot(row.tab_id, asked, &budget);
    let shot = match run("thumbnail", Some(row.tab_id), &budget, work).await? {
        Screenshot::Plain(shot) => shot,
        Screenshot::Labelled(labelled) => labelled.shot,
    };
    let content_type = if shot.format.word() == "jpeg" { "image/jpeg" } else { "image/png" };
    Ok(([(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-store")], shot.bytes).into_response())
}

fn read(fields: &mut Fields) -> Result<ScreenshotRequest, ApiError> {
    let full_page = fields.flag("fullPage")?.unwrap_or(false);
    let element = match (fields.text("ref")?, fields.text("element")?) {
        (Some(r#ref), _) => Some(Named::Ref(r#ref)),
        (None, selector) => selector.map(Named::Css),
    };
    let of = match element {
        Some(_) if full_page => {
            return Err(ApiError::wrong("fullPage", "is not supported for element screenshots"));
        }
        Some(named) => ShotOf::Element(named),
        None if full_page => ShotOf::FullPage,
        None => ShotOf::View,
    };
    let format = match fields.text("type")?.as_deref() {
        None | Some("png") => Format::Png,
        Some("jpeg") => Format::Jpeg(QUALITY),
        Some(_) => return Err(ApiError::wrong("type", "must be png or jpeg.")),
    };
    Ok(ScreenshotRequest { of, format, labels: fields.flag("labels")?.unwrap_or(false), within: None })
}
