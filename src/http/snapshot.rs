//! `GET /snapshot`: a page as text, or as a list of nodes.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use tabvisor_page::screenshot::Labelled;
use tabvisor_page::snapshot::{Format, Request, Snapshot};

use crate::TabError;

use super::act::ActedOn;
use super::call::Call;
use super::dialogs::BrowserState;
use super::error::ApiError;
use super::fields::Fields;
use super::json;
use super::kept::{self, Kind};

#[derive(Serialize)]
struct Answer {
    ok: bool,
    #[serde(flatten)]
    snapshot: Snapshot,
    #[serde(flatten)]
    tab: ActedOn,
    /// What was drawn, if labels were asked for.
    #[serde(flatten)]
    picture: Option<Labelled>,
}

/// A dialog is in the way: known at once, and nothing else is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blocked {
    ok: bool,
    format: &'static str,
    #[serde(flatten)]
    tab: ActedOn,
    #[serde(flatten)]
    nothing: Value,
    #[serde(rename = "blockedByDialog")]
    by_dialog: bool,
    browser_state: BrowserState,
}

/// The page of a tab.
pub(super) async fn snapshot(mut call: Call) -> Result<Response, ApiError> {
    let (default, max) = (call.service.budgets().snapshot(), call.service.max_budget());
    let budget = call.query.budget_or(default, max)?;
    let request = read(&mut call.query)?;
    request.check().map_err(TabError::from)?;
    let on = call.on_tab_within(budget).await?;
    let list = request.format == Format::Aria;
    let work = on.service.supervisor().snapshot_with_picture(on.tab(), request, &on.budget);
    let outcome = on.run("snapshot", work).await;
    let tab = on.acted_on();
    match outcome {
        Ok((snapshot, mut picture)) => {
            // The address that was read, not one that came since.
            let tab = ActedOn { url: None, ..tab };
            if let Some(labelled) = &mut picture {
                let bytes = labelled.shot.bytes.clone();
                labelled.image_path = Some(kept::save(on.service.pictures(), Kind::Png, bytes).await?);
            }
            Ok(json(StatusCode::OK, &Answer { ok: true, snapshot, tab, picture }))
        }
        Err(TabError::Dialog(_)) => Ok(json(StatusCode::OK, &blocked(list, tab, BrowserState::of(&on)))),
        // What is known of a page that does not answer is worth something to who wanted to see it.
        Err(error) => Err(ApiError::from(error).detail("url", on.row.url).detail("title", on.row.title)),
    }
}

fn blocked(list: bool, tab: ActedOn, browser_state: BrowserState) -> Blocked {
    let (format, nothing) = if list {
        ("aria", json!({ "nodes": [] }))
    } else {
        let stats = json!({ "lines": 0, "chars": 0, "refs": 0, "interactive": 0 });
        ("ai", json!({ "snapshot": "", "refs": {}, "stats": stats }))
    };
    Blocked { ok: true, format, tab, nothing, by_dialog: true, browser_state }
}

/// What a query asks for. Numbers that are none are ignored, as clients know it.
fn read(query: &mut Fields) -> Result<Request, ApiError> {
    let one_of = |field, allowed: &str| Err(ApiError::wrong(field, format!("must be {allowed}.")));
    let format = match query.text("format")?.as_deref() {
        None | Some("ai") => Format::Ai,
        Some("role") => Format::Role,
        Some("aria") => Format::Aria,
        Some(_) => return one_of("format", "ai, role or aria"),
    };
    let aria_refs = match query.text("refs")?.as_deref() {
        None | Some("role") => false,
        Some("aria") => true,
        Some(_) => return one_of("refs", "role or aria"),
    };
    let efficient = match query.text("mode")?.as_deref() {
        None => false,
        Some("efficient") => true,
        Some(_) => return one_of("mode", "efficient"),
    };
    Ok(Request {
        format,
        aria_refs,
        efficient,
        interactive: query.truth("interactive"),
        compact: query.truth("compact"),
        depth: query.whole("depth"),
        selector: query.text("selector")?,
        frame: query.text("frame")?,
        labels: query.truth("labels").unwrap_or(false),
        urls: query.truth("urls").unwrap_or(false),
        limit: query.whole("limit").filter(|limit| *limit > 0),
        max_chars: query.whole("maxChars"),
        after: query.text("after")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<Request, String> {
        read(&mut Fields::of_query(Some(query))).map_err(|error| error.to_string())
    }

    #[test]
    fn options_are_read_as_clients_write_them() {
        assert_eq!(asked("").unwrap(), Request::default());
        let full = "format=role&interactive=yes&compact=0&depth=3&selector=%23a&frame=f1e2&urls=1&maxChars=9&limit=7";
        assert_eq!(
            asked(full).unwrap(),
            Request {
                format: Format::Role,
                interactive: Some(true),
                compact: Some(false),
                depth: Some(3),
                selector: Some("#a".into()),
                frame: Some("f1e2".into()),
                urls: true,
                max_chars: Some(9),
                limit: Some(7),
                ..Request::default()
            }
        );
        assert!(asked("mode=efficient").unwrap().efficient);
        assert_eq!(asked("depth=-1&limit=x&maxChars=1.5&interactive=perhaps").unwrap(), Request::default());
    }

    #[test]
    fn a_word_that_means_nothing_is_refused_by_name() {
        for (query, error) in [
            ("format=html", "format must be ai, role or aria."),
            ("refs=x", "refs must be role or aria."),
            ("mode=fast", "mode must be efficient."),
        ] {
            assert_eq!(asked(query).unwrap_err(), error);
        }
    }
}
