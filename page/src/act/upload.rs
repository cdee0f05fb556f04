//! Giving files to a file input.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::field::FieldKind;
use super::input_seen::{FileSeen, InputSeen};
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::target::Target;

const FILES: &str =
    "const filesOf=it=>[...fieldOf(it).el.files].map(file=>({name:file.name,size:file.size}));";

/// Gives files to a file input, in the place of what it has, and reads back what the page got.
/// Whether the caller may read them is not asked here.
///
/// # Errors
/// Every [`ActError`]; [`ActError::Invalid`] for a path that is no file here: Chromium would
/// take it and give the page an empty file (measured). [`ActError::Incomplete`] where the page
/// got something else, as from a browser on another machine.
pub async fn upload(
    page: &ActPage,
    target: &Target,
    paths: &[PathBuf],
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        files.push(look(path).await?);
    }
    let node = Node::find(page, target, budget).await?;
    let facts = node.field(budget).await?;
    let refuse = |why: String| Err(ActError::NotEditable { name: node.name(), why });
    if facts.kind != FieldKind::File {
        return refuse(format!("it is {}, no file input", facts.words));
    }
    if let Some(why) = facts.off {
        return refuse(why);
    }
    if files.len() > 1 && !facts.multiple {
        let why = format!("this input takes one file, got {}", files.len());
        return Err(ActError::Invalid { field: "paths", why });
    }
    let mut observed = Observed { target: Some(facts.words), ..Observed::default() };
    let given = json!({ "files": paths, "objectId": node.object_id() });
    let read = async {
        page.during(budget, async { Ok(node.session().call("DOM.setFileInputFiles", given, budget).await?) })
            .await?;
        node.ask_with::<Vec<FileSeen>>(FILES, "filesOf", Value::Null, budget).await
    };
    let seen = match read.await.map_err(ActError::after_sending) {
        Ok(seen) => seen,
        Err(ActError::Dialog(dialog)) => {
            observed.dialog = Some(dialog);
            return Ok(Outcome { effect: Effect::Unverifiable, route: Route::Cdp, observed });
        }
        Err(error) => return Err(error),
    };
    if seen != files {
        // A page may take what it got out of the input at once.
        if seen.is_empty() {
            observed.warnings.push("the page took the files out of the input, or never got them");
            observed.input = Some(InputSeen::Files { files: seen });
            return Ok(Outcome { effect: Effect::Unverifiable, route: Route::Cdp, observed });
        }
        let told = |files: &[FileSeen]| {
            let all: Vec<_> = files.iter().map(|it| format!("{} ({} bytes)", it.name, it.size)).collect();
            all.join(", ")
        };
        return Err(ActError::Incomplete(format!(
            "the page got {} instead of {}",
            told(&seen),
            told(&files)
        )));
    }
    observed.input = Some(InputSeen::Files { files: seen });
    Ok(Outcome { effect: Effect::Confirmed, route: Route::Cdp, observed })
}

/// What the page will have to see of a file.
async fn look(path: &Path) -> Result<FileSeen, ActError> {
    let invalid = |why: &str| {
        let shown: String = path.display().to_string().chars().take(200).collect();
        ActError::Invalid { field: "paths", why: format!("{shown:?} {why}") }
    };
    if !path.is_absolute() {
        return Err(invalid("is no absolute path"));
    }
    let about = tokio::fs::metadata(path).await.map_err(|_| invalid("is not there or cannot be read"))?;
    let name = path.file_name().and_then(|name| name.to_str());
    match name {
        Some(name) if about.is_file() => Ok(FileSeen { name: name.to_owned(), size: about.len() }),
        Some(_) => Err(invalid("is no file")),
        None => Err(invalid("has no name that a page could read")),
    }
}
