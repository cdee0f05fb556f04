//! Giving files to a file input.

use serde::Deserialize;
use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::field::FieldKind;
use super::files::{Files, told};
use super::input_seen::{FileSeen, InputSeen};
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::target::Target;
use super::transfer;

/// What an input has, and whether all of it is of the kinds that it asks for.
const FILES: &str = "const filesOf=it=>{
    const el=fieldOf(it).el;
    const kinds=el.accept.split(',').map(kind=>kind.trim().toLowerCase()).filter(kind=>kind);
    const fits=file=>!kinds.length||kinds.some(kind=>kind.startsWith('.')?file.name.toLowerCase().endsWith(kind)
        :kind.endsWith('/*')?file.type.startsWith(kind.slice(0,-1)):file.type===kind);
    const files=[...el.files];
    return{files:files.map(file=>({name:file.name,size:file.size})),fits:files.every(fits)}};";
const TAKEN: &str = "the page took the files out of the input, or never got them";
const UNFIT: &str = "a file is of no kind that the input asks for (accept); the page may refuse it";
const NOT_COMPARED: &str =
    "the files are of the machine that the browser runs on; what they should be is not known here";
const BYTES: &str =
    "the browser did not see the same files at these paths, so their bytes were given to the page";

#[derive(Deserialize)]
struct Has {
    files: Vec<FileSeen>,
    fits: bool,
}

/// Gives files to a file input, in the place of what it has, and reads back what the page got.
/// Whether the caller may read them is not asked here.
///
/// # Errors
/// Every [`ActError`]; [`ActError::Incomplete`] where the page got something else.
pub async fn upload(
    page: &ActPage,
    target: &Target,
    files: &Files,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let node = Node::find(page, target, budget).await?;
    let facts = node.field(budget).await?;
    let refuse = |why: String| Err(ActError::NotEditable { name: node.name(), why });
    if facts.kind != FieldKind::File {
        return refuse(format!("it is {}, no file input", facts.words));
    }
    if let Some(why) = facts.off {
        return refuse(why);
    }
    files.check_count(facts.multiple)?;
    let observed = Observed { target: Some(facts.words), ..Observed::default() };
    give(&node, files, observed, budget).await
}

/// Gives files to a file input that takes so many.
pub(super) async fn give(
    node: &Node,
    files: &Files,
    mut observed: Observed,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let mut route = Route::Cdp;
    let given = async {
        if let Files::ByBytes(local) = files {
            route = Route::Page;
            transfer::transfer(node, local, budget).await?;
            return has(node, budget).await;
        }
        set(node, files, budget).await?;
        let has = has(node, budget).await?;
        match files {
            // Files that have another size there; a page that took them away is another matter.
            Files::PathElseBytes(local) if !has.files.is_empty() && !files.are(&has.files) => {
                route = Route::Page;
                observed.warnings.push(BYTES);
                transfer::transfer(node, local, budget).await?;
                self::has(node, budget).await
            }
            _ => Ok(has),
        }
    };
    let has = match given.await {
        Ok(has) => has,
        Err(ActError::Dialog(dialog)) => {
            observed.dialog = Some(dialog);
            return Ok(Outcome { effect: Effect::Unverifiable, route, observed });
        }
        Err(error) => return Err(error),
    };
    if !files.are(&has.files) && !has.files.is_empty() {
        let got = told(has.files.iter());
        return Err(ActError::Incomplete(format!("the page got {got} instead of {}", files.words())));
    }
    let taken = has.files.is_empty() && !files.is_empty();
    if taken {
        observed.warnings.push(TAKEN);
    }
    if !has.fits {
        observed.warnings.push(UNFIT);
    }
    let unknown = matches!(files, Files::Remote(_));
    if unknown {
        observed.warnings.push(NOT_COMPARED);
    }
    observed.input = Some(InputSeen::Files { files: has.files });
    let effect = if taken || unknown { Effect::Unverifiable } else { Effect::Confirmed };
    Ok(Outcome { effect, route, observed })
}

async fn set(node: &Node, files: &Files, budget: &Budget) -> Result<(), ActError> {
    let given = json!({ "files": files.paths(), "objectId": node.object_id() });
    let set = async { Ok(node.session().call("DOM.setFileInputFiles", given, budget).await?) };
    node.page.during(budget, set).await.map(drop).map_err(ActError::after_sending)
}

async fn has(node: &Node, budget: &Budget) -> Result<Has, ActError> {
    node.ask_with(FILES, "filesOf", Value::Null, budget).await.map_err(ActError::after_sending)
}
