//! `POST /screenshot`: a picture of a tab, in a file on this machine.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use tabvisor_actors::{Named, Screenshot, ScreenshotRequest, ShotOf};
use tabvisor_page::screenshot::Format;

use super::act::ActedOn;
use super::call::Call;
use super::error::ApiError;
use super::fields::Fields;
use super::json;
use super::kept::{self, Kind};

/// Quality of a JPEG.
const QUALITY: u8 = 80;

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
    Ok(ScreenshotRequest { of, format, labels: fields.flag("labels")?.unwrap_or(false) })
}
