//! What is run in the isolated world of a document.
//!
//! Measured on Chromium 156, and why it is done this way:
//!
//! - `Runtime.enable` is not wanted on this session: a page that floods its console would flood the
//!   link. `Runtime.bindingCalled` arrives without it.
//! - Without it, `Runtime.addBinding` with a world's name reaches only contexts that are there
//!   already; new documents do not get the binding. So `Page.addScriptToEvaluateOnNewDocument` would
//!   find none, and the world is entered at every commit instead: `Page.createIsolatedWorld` (which
//!   gives the same context when asked again), then the binding is added and the script run in one write.
//! - The page world sees neither the binding nor anything else of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::model::{TITLE_LIMIT, URL_LIMIT};

/// The world; each CDP session has its own of this name.
pub(super) const WORLD: &str = "tabvisor.state";

/// The binding in that world.
pub(super) const BINDING: &str = "tabvisorReport";

/// Least time between two reports of one document in ms; the last of what happens meanwhile counts.
const PAUSE_MS: u32 = 100;

/// What a document says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Report {
    /// `document.title`.
    pub title: String,
    /// The first icon that is not too long.
    pub icon: Option<String>,
    /// `document.readyState` is `complete`.
    pub loaded: bool,
    /// How often it was asked to be printed.
    #[serde(default)]
    pub prints: u32,
}

/// `Runtime.bindingCalled`: the context and what it reports.
pub(super) fn read_report(params: &RawValue) -> Option<(i64, Report)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Called {
        name: String,
        payload: String,
        execution_context_id: i64,
    }
    let called: Called = serde_json::from_str(params.get()).ok()?;
    if called.name != BINDING {
        return None;
    }
    Some((called.execution_context_id, serde_json::from_str(&called.payload).ok()?))
}

/// Parameters of `Runtime.evaluate` that installs the observer.
pub(super) fn install(context: i64) -> Value {
    let script = include_str!("observer.js");
    let call = format!("({script}\n)('{BINDING}', {TITLE_LIMIT}, {URL_LIMIT}, {PAUSE_MS})");
    json!({ "contextId": context, "expression": call, "silent": true })
}

/// Parameters of `Runtime.evaluate` that reads what an error page shows as its error.
pub(super) fn read_error(context: i64) -> Value {
    // Filled once the page is parsed (measured, also for the pages about certificates).
    let script = "document.querySelector('.error-code')?.textContent ?? ''";
    json!({ "contextId": context, "expression": script, "returnByValue": true, "silent": true })
}
