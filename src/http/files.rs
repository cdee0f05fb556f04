//! `POST /hooks/file-chooser`, `/download`, `/wait/download`, `/pdf`: files into pages and out of them.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::files::Download;
use tabvisor_actors::{Given, Named, Upload, UploadTo};

use crate::TabError;

use super::act::{ActedOn, answered};
use super::call::{Call, OnTab};
use super::error::ApiError;
use super::fields::Fields;
use super::json;
use super::kept::{self, Kind};

/// How long these may take, unless the request says otherwise.
const PATIENT: Duration = Duration::from_mins(2);

#[derive(Serialize)]
struct Downloaded {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    download: Download,
}

/// Gives files to a file input, to the chooser that a click opens, or to the next one.
pub(super) async fn upload(mut call: Call) -> Result<Response, ApiError> {
    let files = given(&mut call.body)?;
    let budget = call.budget(PATIENT)?;
    let within = budget.total();
    let to = place(&mut call.body, within)?;
    let armed = matches!(to, UploadTo::NextChooser { .. });
    // The time of the request is that of the chooser.
    let budget = if armed { budget.child(call.service.budgets().action()) } else { budget };
    let on = call.on_tab_within(budget).await?;
    let work = on.service.supervisor().upload(on.tab(), Upload { files, to }, &on.budget);
    match on.run("upload", work).await {
        Ok(None) => {
            let timeout_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
            let said =
                json!({ "ok": true, "targetId": on.row.target_id, "armed": true, "armedForMs": timeout_ms });
            Ok(json(StatusCode::OK, &said))
        }
        Ok(Some(acted)) => answered(&on, Ok(acted)),
        Err(error) => answered(&on, Err(error)),
    }
}

fn given(fields: &mut Fields) -> Result<Given, ApiError> {
    let (paths, remote) = (fields.texts("paths")?, fields.texts("remotePath")?);
    match (paths.filter(|it| !it.is_empty()), remote.filter(|it| !it.is_empty())) {
        (Some(paths), None) => Ok(Given::Paths(paths)),
        (None, Some(remote)) => Ok(Given::Remote(remote)),
        (Some(_), Some(_)) => Err(ApiError::about("paths", "paths and remotePath are two places; give one.")),
        (None, None) => Err(ApiError::about("paths", "paths are required")),
    }
}

fn place(fields: &mut Fields, within: Duration) -> Result<UploadTo, ApiError> {
    let given = [fields.text("ref")?, fields.text("inputRef")?, fields.text("element")?];
    match given {
        [None, None, None] => Ok(UploadTo::NextChooser { within }),
        [Some(r#ref), None, None] => Ok(UploadTo::ChooserOf(Named::Ref(r#ref))),
        [None, Some(r#ref), None] => Ok(UploadTo::Input(Named::Ref(r#ref))),
        [None, None, Some(css)] => Ok(UploadTo::Input(Named::Css(css))),
        _ => Err(ApiError::about("ref", "ref, inputRef and element are three ways; give one.")),
    }
}

/// Has a click or the document itself download a file, and waits for it.
pub(super) async fn download(mut call: Call) -> Result<Response, ApiError> {
    let fields = &mut call.body;
    let document = fields.flag("currentDocument")?.unwrap_or(false);
    let (r#ref, expected, path) = (fields.text("ref")?, fields.text("expectedUrl")?, fields.text("path")?);
    match (document, &r#ref, &expected) {
        (true, None, None) => return Err(ApiError::about("expectedUrl", "expectedUrl is required")),
        (true, Some(_), _) => {
            return Err(ApiError::about("ref", "ref and currentDocument are two ways; give one."));
        }
        (false, None, _) => return Err(ApiError::about("ref", "ref is required")),
        _ => {}
    }
    if !document && path.is_none() {
        return Err(ApiError::about("path", "path is required"));
    }
    let on = call.on_tab(PATIENT).await?;
    let supervisor = on.service.supervisor();
    let downloaded = async {
        match (r#ref, expected) {
            (Some(r#ref), _) => {
                supervisor.download(on.tab(), Named::Ref(r#ref), path.as_deref(), &on.budget).await
            }
            (None, expected) => {
                let expected = expected.unwrap_or_default();
                supervisor.download_document(on.tab(), &expected, path.as_deref(), &on.budget).await
            }
        }
    };
    let downloaded = on.run("download", downloaded).await;
    told(&on, downloaded)
}

/// Waits for a download that something else began or begins.
pub(super) async fn wait(mut call: Call) -> Result<Response, ApiError> {
    let path = call.body.text("path")?;
    let on = call.on_tab(PATIENT).await?;
    let work = on.service.supervisor().wait_for_download(on.tab(), path.as_deref(), &on.budget);
    let waited = on.run("wait_download", work).await;
    told(&on, waited)
}

fn told(on: &OnTab, download: Result<Download, TabError>) -> Result<Response, ApiError> {
    match download {
        Ok(download) => Ok(json(StatusCode::OK, &Downloaded { ok: true, tab: on.acted_on(), download })),
        Err(error) => answered(on, Err(error)),
    }
}

/// Makes a PDF, in a file on this machine.
pub(super) async fn pdf(mut call: Call) -> Result<Response, ApiError> {
    let on = call.on_tab(call.service.budgets().snapshot()).await?;
    let document = on.run("pdf", on.service.supervisor().pdf(on.tab(), &on.budget)).await?;
    let bytes = document.len();
    let path = kept::save(on.service.pictures(), Kind::Pdf, document).await?;
    let ActedOn { target_id, url } = on.acted_on();
    Ok(json(
        StatusCode::OK,
        &json!({ "ok": true, "path": path, "targetId": target_id, "url": url, "bytes": bytes }),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn fields(value: &Value) -> Fields {
        value.as_object().cloned().unwrap().into()
    }

    #[test]
    fn where_files_go_is_said_in_one_way_or_not_at_all() {
        let read =
            |value: Value| place(&mut fields(&value), Duration::from_secs(1)).map_err(|it| it.to_string());
        assert_eq!(read(json!({ "ref": "e1" })), Ok(UploadTo::ChooserOf(Named::Ref("e1".into()))));
        assert_eq!(read(json!({ "inputRef": "e1" })), Ok(UploadTo::Input(Named::Ref("e1".into()))));
        assert_eq!(read(json!({ "element": "#a" })), Ok(UploadTo::Input(Named::Css("#a".into()))));
        assert_eq!(read(json!({})), Ok(UploadTo::NextChooser { within: Duration::from_secs(1) }));
        assert!(read(json!({ "ref": "e1", "element": "#a" })).is_err());
    }

    #[test]
    fn files_are_of_one_machine() {
        let read = |value: Value| given(&mut fields(&value)).map_err(|it| it.to_string());
        assert_eq!(read(json!({ "paths": ["a"] })), Ok(Given::Paths(vec!["a".into()])));
        assert_eq!(read(json!({ "remotePath": "/a" })), Ok(Given::Remote(vec!["/a".into()])));
        for wrong in [json!({}), json!({ "paths": [] }), json!({ "paths": ["a"], "remotePath": "/a" })] {
            assert!(read(wrong).unwrap_err().starts_with("paths "));
        }
    }
}
