//! The verbs that do something on a page: each is one `POST /act` (or a route of its own).

use std::process::ExitCode;
use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tabvisor::config::Loaded;

use super::client::Client;
use super::failure::Failure;
use super::flags::Common;
use super::flags_of_acts::{Answer, OnTab, Verb};
use super::output::{self, clean};
use super::verbs::{BrowserState, read, say_blocked};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    #[serde(default)]
    blocked_by_dialog: bool,
    browser_state: Option<BrowserState>,
    url: Option<String>,
    effect: Option<String>,
    #[serde(default)]
    observed: Value,
    #[serde(default)]
    opened_tabs: Vec<String>,
    #[serde(default)]
    downloads: Vec<Downloaded>,
    /// Of a call that waits for one.
    download: Option<Downloaded>,
    #[serde(default)]
    armed: bool,
    /// Of a picture or a PDF.
    path: Option<String>,
    /// Of a batch.
    results: Option<Vec<Child>>,
    stopped: Option<Stopped>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Downloaded {
    url: String,
    suggested_filename: String,
    state: String,
    path: Option<String>,
}

/// What became of one action of a batch.
#[derive(Deserialize)]
struct Child {
    ok: bool,
    error: Option<String>,
    url: Option<String>,
}

#[derive(Deserialize)]
struct Stopped {
    reason: String,
    skipped: usize,
}

/// Does what a verb says and prints what the page saw of it.
pub(super) async fn act(common: &Common, loaded: &Loaded, verb: Verb) -> Result<ExitCode, Failure> {
    let (what, on, path, mut body) = asked(verb)?;
    if let Some(tab) = on.tab() {
        body["targetId"] = tab.into();
    }
    if let Some(ms) = on.timeout_ms {
        body["timeoutMs"] = ms.into();
    }
    // Without a budget of ours the service's own holds, which is at most its largest one.
    let budget = on.timeout_ms.map_or_else(|| loaded.config.limits.max_budget(), Duration::from_millis);
    let text = Client::new(common, loaded)?.call(Method::POST, path, Some(body), budget).await?;
    let told: Told = read(&text)?;
    // One that failed is a failure, whatever came after it.
    let failed = told.results.iter().flatten().any(|child| !child.ok);
    let code = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if common.json {
        output::line(&text);
        return Ok(code);
    }
    for (number, child) in told.results.iter().flatten().enumerate() {
        output::line(&clean(&child.line(number + 1)));
    }
    if let Some(Stopped { reason, skipped }) = &told.stopped {
        output::line(&clean(&format!("stopped ({reason}); {skipped} not begun")));
    }
    if told.blocked_by_dialog {
        say_blocked(told.browser_state);
        return Ok(code);
    }
    if told.results.is_some() {
        return Ok(code);
    }
    if let Some(path) = told.path {
        output::line(&clean(&path));
        return Ok(code);
    }
    let place = told.url.map_or_else(String::new, |url| format!(" on {url}"));
    let effect = told.effect.map_or_else(String::new, |effect| format!(" ({effect})"));
    output::line(&clean(&format!("{what}{place}{effect}")));
    if told.armed {
        let next = if path.ends_with(&["dialog"]) { "dialog" } else { "file chooser" };
        output::line(&format!("none is open; the next {next} is waited for"));
    }
    for Downloaded { url, suggested_filename, state, path } in told.downloads.into_iter().chain(told.download)
    {
        let place = path.unwrap_or(suggested_filename);
        output::line(&clean(&format!("download of {url}: {place} ({state})")));
    }
    for warning in told.observed["warnings"].as_array().into_iter().flatten() {
        output::note(&clean(warning.as_str().unwrap_or_default()));
    }
    for tab in told.opened_tabs {
        output::line(&clean(&format!("it opened tab {tab}")));
    }
    Ok(ExitCode::SUCCESS)
}

impl Child {
    fn line(&self, number: usize) -> String {
        let went = self.url.as_ref().map_or_else(String::new, |url| format!(", now on {url}"));
        match &self.error {
            Some(error) => format!("{number} failed: {error}{went}"),
            None if self.ok => format!("{number} ok{went}"),
            None => format!("{number} failed{went}"),
        }
    }
}

/// What is done, in words; where; to which route; with which body.
fn asked(verb: Verb) -> Result<(String, OnTab, &'static [&'static str], Value), Failure> {
    const ACT: &[&str] = &["act"];
    Ok(match verb {
        Verb::Click { element, double, button, modifiers, on } => {
            let body = json!({
                "kind": "click", "ref": element, "doubleClick": double, "button": button, "modifiers": modifiers,
            });
            (format!("clicked ref {element}"), on, ACT, body)
        }
        Verb::ClickCoords { x, y, double, button, on } => {
            let body =
                json!({ "kind": "clickCoords", "x": x, "y": y, "doubleClick": double, "button": button });
            (format!("clicked at {x}, {y}"), on, ACT, body)
        }
        Verb::Type { element, text, submit, slowly, on } => {
            let body =
                json!({ "kind": "type", "ref": element, "text": text, "submit": submit, "slowly": slowly });
            (format!("typed into ref {element}"), on, ACT, body)
        }
        Verb::Press { key, on } => {
            (format!("pressed {key}"), on, ACT, json!({ "kind": "press", "key": key }))
        }
        Verb::Hover { element, on } => {
            (format!("hovered ref {element}"), on, ACT, json!({ "kind": "hover", "ref": element }))
        }
        Verb::ScrollIntoView { element, on } => {
            let body = json!({ "kind": "scrollIntoView", "ref": element });
            (format!("scrolled ref {element} into view"), on, ACT, body)
        }
        Verb::Highlight { element, clear, on } => {
            let what = element.as_ref().map(|it| format!("highlighted ref {it}"));
            let body = json!({ "ref": element, "clear": clear });
            (what.unwrap_or_else(|| "took the marks away".into()), on, &["highlight"], body)
        }
        Verb::Drag { from, to, on } => {
            let body = json!({ "kind": "drag", "startRef": from, "endRef": to });
            (format!("dragged ref {from} to ref {to}"), on, ACT, body)
        }
        Verb::Select { element, values, on } => {
            let body = json!({ "kind": "select", "ref": element, "values": values });
            (format!("selected {} in ref {element}", values.join(", ")), on, ACT, body)
        }
        Verb::Fill { fields, on } => {
            ("filled the fields".into(), on, ACT, json!({ "kind": "fill", "fields": fields.read()? }))
        }
        Verb::Upload { paths, chooser, input_ref, element, remote, on } => {
            let mut body = json!({ "ref": chooser, "inputRef": input_ref, "element": element });
            let what = format!("gave {}", paths.join(", "));
            body[if remote { "remotePath" } else { "paths" }] = paths.into();
            (what, on, &["hooks", "file-chooser"], body)
        }
        Verb::Download { element, path, on } => {
            let body = json!({ "ref": element, "path": path });
            (format!("clicked ref {element}"), on, &["download"], body)
        }
        Verb::WaitForDownload { path, on } => {
            ("waited for a download".into(), on, &["wait", "download"], json!({ "path": path }))
        }
        Verb::Pdf { on } => ("made a PDF".into(), on, &["pdf"], json!({})),
        Verb::Wait { selector, time, text, text_gone, element, address, load, function, on } => {
            let body = json!({
                "kind": "wait", "selector": selector, "timeMs": time, "text": text, "textGone": text_gone,
                "ref": element, "url": address, "loadState": load, "fn": function,
            });
            ("waited".into(), on, ACT, body)
        }
        Verb::Batch { actions, go_on, on } => {
            let body = json!({ "kind": "batch", "actions": actions.read()?, "stopOnError": !go_on });
            ("did the actions".into(), on, ACT, body)
        }
        Verb::Resize { width, height, on } => {
            let body = json!({ "kind": "resize", "width": width, "height": height });
            (format!("resized to {width}x{height}"), on, ACT, body)
        }
        Verb::Screenshot { target, full_page, element, css, labels, format, on } => {
            let body = json!({
                "fullPage": full_page, "ref": element, "element": css, "labels": labels, "type": format,
            });
            ("took a picture".into(), OnTab::or(target, on), &["screenshot"], body)
        }
        Verb::Focus { target, timeout_ms } => {
            let what = format!("focused {target}");
            (what, OnTab { tab: Some(target), timeout_ms }, &["tabs", "focus"], json!({}))
        }
        Verb::Back(on) => ("went back".into(), on, &["navigate", "back"], json!({})),
        Verb::Forward(on) => ("went forward".into(), on, &["navigate", "forward"], json!({})),
        Verb::Reload(on) => ("loaded again".into(), on, &["navigate", "reload"], json!({})),
        Verb::Navigate { address, on } => ("navigated".into(), on, &["navigate"], json!({ "url": address })),
        Verb::Dialog { answer: Answer { accept, .. }, prompt, dialog_id, on } => {
            let body = json!({ "accept": accept, "promptText": prompt, "dialogId": dialog_id });
            let what = if accept { "the dialog is accepted" } else { "the dialog is dismissed" };
            (what.into(), on, &["hooks", "dialog"], body)
        }
    })
}
