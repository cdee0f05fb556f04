//! `POST /hooks/file-chooser`, `/download`, `/wait/download`, `/pdf`: files into pages and out of them.

use std::time::Duration;

use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::files::Download;
use tabvisor_actors::{Given, Named, TabRow, Upload, UploadTo};
use tabvisor_cdp::budget::Budget;
use tracing::Instrument;

use crate::TabError;

use super::act::{ActedOn, acted_on, answered};
use super::error::ApiError;
use super::fields::Fields;
use super::kept::{self, Kind};
use super::service::Service;
use super::{body, json, record_overrun};

/// How long these may take, unless the request says otherwise.
const PATIENT: Duration = Duration::from_mins(2);

#[derive(Serialize)]
struct Downloaded {
    ok: bool,
    #[serde(flatten)]
    tab: ActedOn,
    download: Download,
}

/// What a request says of every one of them.
struct Asked {
    row: TabRow,
    budget: Budget,
}

impl Asked {
    async fn read(
        service: &Service,
        query: Option<&str>,
        fields: &mut Fields,
        default: Duration,
    ) -> Result<Self, ApiError> {
        let target = fields.text("targetId")?;
        let budget = fields.budget(default.min(service.max_budget()), service.max_budget())?;
        let profile = service.profile(&mut Fields::of_query(query), fields)?;
        let row = profile.named_or_last(target.as_deref(), &budget).await?;
        Ok(Self { row, budget })
    }
}

/// Gives files to a file input, to the chooser that a click opens, or to the next one.
pub(super) async fn upload(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let files = given(&mut fields)?;
    let within = fields.budget(PATIENT.min(service.max_budget()), service.max_budget())?.total();
    let to = place(&mut fields, within)?;
    let armed = matches!(to, UploadTo::NextChooser { .. });
    let Asked { row, mut budget } = Asked::read(&service, query.as_deref(), &mut fields, PATIENT).await?;
    if armed {
        // The time of the request is that of the chooser.
        budget = budget.child(service.budgets().action());
    }
    let (tab, upload) = (row.tab_id, Upload { files, to });
    let span = tracing::info_span!("request", action = "upload", %tab, budget_ms = budget.left_ms());
    let outcome = service.supervisor().upload(tab, upload, &budget).instrument(span).await;
    record_overrun(&budget);
    match outcome {
        Ok(None) => {
            let timeout_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
            let said =
                json!({ "ok": true, "targetId": row.target_id, "armed": true, "armedForMs": timeout_ms });
            Ok(json(StatusCode::OK, &said))
        }
        Ok(Some(acted)) => answered(&service, row, Ok(acted)),
        Err(error) => answered(&service, row, Err(error)),
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
pub(super) async fn download(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
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
    let Asked { row, budget } = Asked::read(&service, query.as_deref(), &mut fields, PATIENT).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = "download", %tab, budget_ms = budget.left_ms());
    let supervisor = service.supervisor();
    let downloaded = async {
        match (r#ref, expected) {
            (Some(r#ref), _) => supervisor.download(tab, Named::Ref(r#ref), path.as_deref(), &budget).await,
            (None, expected) => {
                let expected = expected.unwrap_or_default();
                supervisor.download_document(tab, &expected, path.as_deref(), &budget).await
            }
        }
    };
    let downloaded = downloaded.instrument(span).await;
    record_overrun(&budget);
    told(&service, row, downloaded)
}

/// Waits for a download that something else began or begins.
pub(super) async fn wait(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let path = fields.text("path")?;
    let Asked { row, budget } = Asked::read(&service, query.as_deref(), &mut fields, PATIENT).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = "wait_download", %tab, budget_ms = budget.left_ms());
    let waited = service.supervisor().wait_for_download(tab, path.as_deref(), &budget).instrument(span).await;
    record_overrun(&budget);
    told(&service, row, waited)
}

fn told(service: &Service, row: TabRow, download: Result<Download, TabError>) -> Result<Response, ApiError> {
    match download {
        Ok(download) => {
            let tab = acted_on(service, row);
            Ok(json(StatusCode::OK, &Downloaded { ok: true, tab, download }))
        }
        Err(error) => answered(service, row, Err(error)),
    }
}

/// Makes a PDF, in a file on this machine.
pub(super) async fn pdf(
    State(service): State<Service>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let _work = service.work()?;
    let mut fields = body::fields(request, service.max_body_bytes()).await?;
    let default = service.budgets().snapshot();
    let Asked { row, budget } = Asked::read(&service, query.as_deref(), &mut fields, default).await?;
    let tab = row.tab_id;
    let span = tracing::info_span!("request", action = "pdf", %tab, budget_ms = budget.left_ms());
    let document = service.supervisor().pdf(tab, &budget).instrument(span).await;
    record_overrun(&budget);
    let document = document?;
    let bytes = document.len();
    let path = kept::save(service.pictures(), Kind::Pdf, document).await?;
    let ActedOn { target_id, url } = acted_on(&service, row);
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
