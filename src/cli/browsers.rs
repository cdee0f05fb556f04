//! The verbs about browsers and the tree.

use std::process::ExitCode;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tabvisor::config::Loaded;

use super::client::Client;
use super::failure::Failure;
use super::flags::Common;
use super::flags_of_browsers::{Verb, Within};
use super::output::{self, clean, table};
use super::verbs::read;
use super::{events, top};

/// How long a service may take for what it knows already.
const KNOWN: Duration = Duration::from_secs(5);

/// The lines of an answer.
type Print = fn(&Value) -> Vec<String>;

/// Does what the verb says.
pub(super) async fn browser(common: &Common, loaded: &Loaded, verb: Verb) -> Result<ExitCode, Failure> {
    let client = Client::new(common, loaded)?;
    let within =
        |it: Within| it.timeout_ms.map_or_else(|| loaded.config.budgets.start(), Duration::from_millis);
    let mut query = Vec::new();
    let (method, path, body, budget, print): (_, &[&str], _, _, Print) = match &verb {
        Verb::Top { once, interval_ms } => return top::top(common, &client, *once, *interval_ms).await,
        Verb::Events { count } => return events::events(common, &client, *count).await,
        Verb::Status => (Method::GET, &[], None, KNOWN, status),
        Verb::Profiles => (Method::GET, &["profiles"], None, KNOWN, profiles),
        Verb::Supervisor => (Method::GET, &["supervisor"], None, KNOWN, tree),
        Verb::Start { headless, within: it } => {
            query.extend(headless.map(|headless| ("headless", headless.to_string())));
            query.extend(it.timeout_ms.map(|ms| ("timeoutMs", ms.to_string())));
            (Method::POST, &["start"], None, within(*it), |it| says("running:", it))
        }
        Verb::Stop(it) => (Method::POST, &["stop"], timed(*it), within(*it), stopped),
        Verb::ResetProfile(it) => (Method::POST, &["reset-profile"], timed(*it), within(*it), reset),
        Verb::CreateProfile { name, color, address, driver } => {
            let body = json!({ "name": name, "color": color, "cdpUrl": address, "driver": driver });
            (Method::POST, &["profiles", "create"], Some(body), KNOWN, |it| says("created", it))
        }
        Verb::DeleteProfile { name } => {
            if name.trim().is_empty() {
                return Err(Failure::usage("--name is empty; `tabvisor profiles` lists them"));
            }
            (Method::DELETE, &["profiles", name], None, loaded.config.budgets.start(), |it| {
                says("deleted", it)
            })
        }
    };
    let text = client.ask(method, path, &query, body, budget).await?;
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    for line in print(&read(&text)?) {
        output::line(&clean(&line));
    }
    Ok(ExitCode::SUCCESS)
}

fn timed(within: Within) -> Option<Value> {
    within.timeout_ms.map(|ms| json!({ "timeoutMs": ms }))
}

/// A member as text; empty where there is none.
pub(super) fn text(value: &Value, member: &str) -> String {
    match &value[member] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn status(it: &Value) -> Vec<String> {
    let shown = [
        ("profile", "profile"),
        ("running", "running"),
        ("browser", "version"),
        ("pid", "pid"),
        ("attached to", "cdpUrl"),
        ("program", "detectedExecutablePath"),
        ("data", "userDataDir"),
        ("headless", "headless"),
        ("trouble", "trouble"),
        ("trouble", "detectError"),
    ];
    let lines = shown.map(|(name, member)| (name, text(it, member)));
    lines
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("{name}: {text}"))
        .collect()
}

fn profiles(it: &Value) -> Vec<String> {
    let head = ["PROFILE", "RUNNING", "TABS", "ATTACHED TO"].map(str::to_owned);
    let rows = it["profiles"].as_array().into_iter().flatten();
    let rows =
        rows.map(|row| ["name", "running", "tabCount", "cdpUrl"].map(|member| clean(&text(row, member))));
    vec![table(&[vec![head], rows.collect()].concat())]
}

fn says(what: &str, it: &Value) -> Vec<String> {
    vec![format!("{what} {}", text(it, "profile"))]
}

fn stopped(it: &Value) -> Vec<String> {
    let what = if it["stopped"] == true { "stopped" } else { "was not running:" };
    says(what, it)
}

fn reset(it: &Value) -> Vec<String> {
    if it["moved"] == true {
        vec![format!("moved {} to {}", text(it, "from"), text(it, "to"))]
    } else {
        vec!["there was nothing to move".into()]
    }
}

/// The tree, one actor a line.
fn tree(it: &Value) -> Vec<String> {
    let share = |it: &Value| format!("{}/{}", it["taken"], it["limit"]);
    let restarts = |it: &Value| format!("{}/{} restarts", it["inWindow"], it["max"]);
    let mut lines =
        vec![format!("tabvisor {}, {} requests at work", text(it, "version"), it["pending"]["requests"])];
    for browser in it["browsers"].as_array().into_iter().flatten() {
        lines.push(format!(
            "browser {} {} {} ({}), evaluates {}, tabs {}",
            text(browser, "profile"),
            text(browser, "state"),
            text(browser, "version"),
            restarts(&browser["restarts"]),
            share(&browser["evaluates"]),
            share(&browser["openTabs"]),
        ));
        for tab in browser["tabs"].as_array().into_iter().flatten() {
            lines.push(format!(
                "  {} {} ({}), actions {}, evaluates {}",
                text(tab, "tabId"),
                text(tab, "state"),
                restarts(&tab["actorRestarts"]),
                share(&tab["actions"]),
                share(&tab["evaluates"]),
            ));
            for actor in tab["actors"].as_array().into_iter().flatten() {
                let link = match &actor["link"] {
                    Value::Bool(true) => ", linked",
                    Value::Bool(false) => ", no link",
                    _ => "",
                };
                lines.push(format!("    {} {}{link}", text(actor, "actor"), text(actor, "state")));
            }
        }
    }
    lines
}
