//! `top`: the tabs again and again, on one screen.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use super::browsers::text;
use super::client::Client;
use super::failure::Failure;
use super::flags::Common;
use super::output::{self, cell, table};
use super::verbs::read;

/// How long a service may take for what it knows already.
const KNOWN: Duration = Duration::from_secs(5);
/// Longest title and address.
const TITLE: usize = 30;
const ADDRESS: usize = 60;
/// Clears a screen, and begins at its top.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// Until the service is gone, or whoever watches.
pub(super) async fn top(
    common: &Common,
    client: &Client,
    once: bool,
    interval_ms: u64,
) -> Result<ExitCode, Failure> {
    let screen = !once && !common.json && std::io::stdout().is_terminal();
    let mut next = tokio::time::interval(Duration::from_millis(interval_ms));
    next.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        next.tick().await;
        let tree = client.get(&["supervisor"], &[], KNOWN).await?;
        let shown = if common.json { tree } else { picture(&read(&tree)?) };
        output::line(&if screen { format!("{CLEAR}{shown}") } else { shown });
        if once {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// What is worth a look. Pure.
fn picture(tree: &Value) -> String {
    let share = |it: &Value| format!("{}/{}", it["taken"], it["limit"]);
    let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
    let mut lines = vec![format!(
        "tabvisor {}{}  requests {}  event streams {}",
        text(tree, "version"),
        if tree["stopping"] == true { " (stopping)" } else { "" },
        tree["pending"]["requests"],
        share(&tree["eventStreams"]),
    )];
    let mut rows = vec![
        ["TAB", "STATE", "STUCK", "ACTIONS", "EVALUATES", "RESTARTS", "SHARES", "TITLE", "URL"]
            .map(str::to_owned),
    ];
    for browser in list(&tree["browsers"]) {
        lines.push(format!(
            "{} {} {}  pid {}  tabs {}  evaluates {}  dials {}  restarts {}/{}",
            text(&browser, "profile"),
            text(&browser, "state"),
            text(&browser, "version"),
            text(&browser, "pid"),
            share(&browser["openTabs"]),
            share(&browser["evaluates"]),
            share(&browser["dials"]),
            browser["restarts"]["inWindow"],
            browser["restarts"]["max"],
        ));
        rows.extend(list(&browser["tabs"]).iter().map(row));
    }
    lines.push(table(&rows));
    lines.join("\n")
}

fn row(tab: &Value) -> [String; 9] {
    let stuck = tab["stuckForMs"].as_u64().map_or_else(|| "-".into(), |ms| format!("{}s", ms / 1000));
    let shares: Vec<&str> =
        tab["sharedRenderer"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    [
        text(tab, "tabId"),
        text(tab, "state"),
        stuck,
        format!("{}/{}", tab["actions"]["taken"], tab["actions"]["limit"]),
        format!("{}/{}", tab["evaluates"]["taken"], tab["evaluates"]["limit"]),
        text(tab, "restarts"),
        if shares.is_empty() { "-".into() } else { cell(&shares.join(","), TITLE) },
        cell(&text(tab, "title"), TITLE),
        cell(&text(tab, "url"), ADDRESS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stuck_tab_is_told_with_its_time_and_its_sharers() {
        let share = |taken: u32, limit: u32| json!({ "taken": taken, "limit": limit });
        let restarts = json!({ "inWindow": 1, "max": 3, "windowMs": 60_000 });
        let tab = json!({
            "tabId": "t2", "state": "stuck", "stuckForMs": 12_345, "sharedRenderer": ["t3"], "restarts": 4,
            "actions": share(1, 16), "evaluates": share(2, 16), "title": "A\u{1b}[2Jb", "url": "http://a/",
        });
        let tree = json!({
            "version": "1.2.3", "stopping": false, "pending": { "requests": 5 }, "eventStreams": share(0, 32),
            "browsers": [{
                "profile": "openclaw", "state": "ready", "version": "Chrome/1", "pid": 7, "openTabs": share(1, 500),
                "evaluates": share(2, 128), "dials": share(0, 32), "restarts": restarts, "tabs": [tab],
            }],
        });
        insta::assert_snapshot!("top", picture(&tree));
    }
}
