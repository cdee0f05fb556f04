//! The verbs that ask a running service.

use std::process::ExitCode;
use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use tabvisor::config::Loaded;

use super::client::{Client, evaluate_body};
use super::failure::Failure;
use super::flags::{Close, Common, Evaluate, Open};
use super::output::{self, cell, clean, table};
use super::pretty::pretty;

/// How long a service may take for what it knows already.
const KNOWN: Duration = Duration::from_secs(5);
/// Longest title and address in a table.
const TITLE: usize = 40;
const ADDRESS: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    #[serde(default)]
    blocked_by_dialog: bool,
    browser_state: Option<BrowserState>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    result_type: Option<String>,
    unserializable: Option<String>,
    why: Option<String>,
    bytes: Option<u64>,
    limit: Option<u64>,
}

/// A `null` is a result, too.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
pub(super) struct BrowserState {
    dialogs: Dialogs,
}

#[derive(Deserialize)]
struct Dialogs {
    pending: Vec<Dialog>,
}

#[derive(Deserialize)]
struct Dialog {
    id: String,
    r#type: String,
    message: String,
}

#[derive(Deserialize)]
struct List {
    running: bool,
    tabs: Vec<Tab>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tab {
    #[serde(rename = "tabId")]
    id: String,
    target_id: String,
    label: Option<String>,
    title: String,
    url: String,
    #[serde(default)]
    state: String,
    stuck_for_ms: Option<u64>,
}

/// Prints the result, laid out; what JSON cannot say goes to standard error.
pub(super) async fn evaluate(common: &Common, loaded: &Loaded, asked: Evaluate) -> Result<ExitCode, Failure> {
    let target = asked.tab.or(asked.target_id);
    let body = evaluate_body(&asked.function, asked.element.as_deref(), target.as_deref(), asked.timeout_ms);
    // Without a budget of ours the service's own holds, which is at most its largest one.
    let budget = asked.timeout_ms.map_or_else(|| loaded.config.limits.max_budget(), Duration::from_millis);
    let text = Client::new(common, loaded)?.call(Method::POST, &["act"], Some(body), budget).await?;
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let answer: Evaluated = read(&text)?;
    if answer.blocked_by_dialog {
        say_blocked(answer.browser_state);
        return Ok(ExitCode::SUCCESS);
    }
    output::line(&answer.result.as_deref().map_or_else(|| "null".into(), |raw| pretty(raw.get())));
    if let Some(note) = note(&answer) {
        output::note(&clean(&note));
    }
    Ok(ExitCode::SUCCESS)
}

/// Names the dialogs that are in the way.
pub(super) fn say_blocked(state: Option<BrowserState>) {
    for dialog in state.into_iter().flat_map(|state| state.dialogs.pending) {
        let Dialog { id, r#type, message } = dialog;
        output::line(&clean(&format!("blocked by dialog {id} ({type}): {message}")));
    }
}

/// What the printed JSON does not tell.
fn note(answer: &Evaluated) -> Option<String> {
    let kind = answer.result_type.as_deref().unwrap_or("value");
    if let Some(text) = &answer.unserializable {
        return Some(format!("the result is the {kind} {text}"));
    }
    match answer.why.as_deref() {
        Some("too_large") => {
            let bytes = answer.bytes.map_or_else(String::new, |bytes| format!("{bytes} bytes of JSON, "));
            let limit = answer.limit.unwrap_or_default();
            Some(format!(
                "the result ({kind}) is too large: {bytes}the limit is {limit} (limits.max_result_bytes)"
            ))
        }
        Some(why) => Some(format!("the result ({kind}) has no JSON form: {why}")),
        None if answer.result.is_none() => Some(format!("the result is of type {kind}")),
        None => None,
    }
}

pub(super) async fn open(common: &Common, loaded: &Loaded, asked: Open) -> Result<ExitCode, Failure> {
    let mut body = json!({ "url": asked.address });
    if let Some(label) = asked.label {
        body["label"] = label.into();
    }
    let budget = loaded.config.limits.max_budget();
    let text = Client::new(common, loaded)?.call(Method::POST, &["tabs", "open"], Some(body), budget).await?;
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let tab: Tab = read(&text)?;
    let label = tab.label.map_or_else(String::new, |label| format!(" (label {label})"));
    output::line(&clean(&format!("opened: {}\ntab: {}{label}\nid: {}", tab.url, tab.id, tab.target_id)));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn tabs(common: &Common, loaded: &Loaded) -> Result<ExitCode, Failure> {
    let text = Client::new(common, loaded)?.call(Method::GET, &["tabs"], None, KNOWN).await?;
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let list: List = read(&text)?;
    if !list.running {
        output::note("the browser is not running now");
    }
    let head = ["TAB", "LABEL", "STATE", "TITLE", "URL"].map(str::to_owned);
    let rows: Vec<_> = list.tabs.iter().map(row).collect();
    output::line(&table(&[vec![head], rows].concat()));
    Ok(ExitCode::SUCCESS)
}

fn row(tab: &Tab) -> [String; 5] {
    let state = match tab.stuck_for_ms {
        Some(ms) => format!("{} {}s", tab.state, ms / 1000),
        None => tab.state.clone(),
    };
    let label = tab.label.clone().unwrap_or_else(|| "-".into());
    [tab.id.clone(), label, state, cell(&tab.title, TITLE), cell(&tab.url, ADDRESS)]
}

pub(super) async fn close(common: &Common, loaded: &Loaded, asked: Close) -> Result<ExitCode, Failure> {
    check_named(&asked.tab)?;
    let budget = loaded.config.budgets.action();
    let text = Client::new(common, loaded)?.call(Method::DELETE, &["tabs", &asked.tab], None, budget).await?;
    output::line(&if common.json { text } else { clean(&format!("closed {}", asked.tab)) });
    Ok(ExitCode::SUCCESS)
}

/// A name that is empty would be another path.
pub(super) fn check_named(tab: &str) -> Result<(), Failure> {
    if tab.trim().is_empty() {
        return Err(Failure::usage("TAB is empty; `tabvisor tabs` lists them"));
    }
    Ok(())
}

pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|why| {
        Failure::unreachable(format!("the service's answer could not be read: {why}; is it tabvisor?"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> (Option<String>, Option<String>) {
        let answer: Evaluated = read(text).unwrap();
        (answer.result.as_ref().map(|raw| raw.get().to_owned()), note(&answer))
    }

    #[test]
    fn a_null_is_a_result_and_an_absent_one_is_explained() {
        assert_eq!(said(r#"{"ok":true,"result":null,"resultType":"null"}"#), (Some("null".into()), None));
        let (result, note) = said(r#"{"ok":true,"resultType":"undefined"}"#);
        assert_eq!((result, note.as_deref()), (None, Some("the result is of type undefined")));
        let (_, note) = said(r#"{"ok":true,"resultType":"bigint","unserializable":"123n"}"#);
        assert_eq!(note.as_deref(), Some("the result is the bigint 123n"));
        let (_, note) =
            said(r#"{"ok":true,"resultType":"string","why":"too_large","bytes":200,"limit":100}"#);
        assert_eq!(
            note.as_deref(),
            Some(
                "the result (string) is too large: 200 bytes of JSON, the limit is 100 (limits.max_result_bytes)"
            )
        );
        let (result, _) = said(r#"{"ok":true,"result":{"z":1.50},"resultType":"object"}"#);
        assert_eq!(result.as_deref(), Some(r#"{"z":1.50}"#));
    }
}
