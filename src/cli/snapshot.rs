//! `tabvisor snapshot`: what a tab's page shows.

use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use tabvisor::config::Loaded;

use super::client::Client;
use super::failure::Failure;
use super::flags::{Common, Snapshot};
use super::output::{self, clean};
use super::verbs::{BrowserState, read, say_blocked};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    blocked_by_dialog: bool,
    browser_state: Option<BrowserState>,
    #[serde(default)]
    snapshot: String,
    #[serde(default)]
    nodes: Vec<Node>,
    next: Option<String>,
}

/// A node of a list.
#[derive(Deserialize)]
struct Node {
    r#ref: String,
    role: String,
    #[serde(default)]
    name: String,
    value: Option<String>,
    #[serde(default)]
    depth: usize,
}

/// Prints the page, or writes it to a file.
pub(super) async fn snapshot(common: &Common, loaded: &Loaded, asked: Snapshot) -> Result<ExitCode, Failure> {
    // Without a budget of ours the service's own holds, which is at most its largest one.
    let budget = asked.timeout_ms.map_or_else(|| loaded.config.limits.max_budget(), Duration::from_millis);
    let text = Client::new(common, loaded)?.get(&["snapshot"], &asked.query(), budget).await?;
    let (text, next) = if common.json {
        (text, None)
    } else {
        let answer: Answer = read(&text)?;
        if answer.blocked_by_dialog {
            say_blocked(answer.browser_state);
            return Ok(ExitCode::SUCCESS);
        }
        let lines: Vec<String> = answer.nodes.iter().map(line).collect();
        let text = if lines.is_empty() { answer.snapshot } else { lines.join("\n") };
        (text, answer.next)
    };
    match &asked.out {
        Some(path) => {
            let written = std::fs::write(path, format!("{text}\n"));
            written
                .map_err(|why| Failure::failed(format!("{} could not be written: {why}", path.display())))?;
            output::line(&path.display().to_string());
        }
        None if common.json => output::line(&text),
        None => output::line(&clean(&text)),
    }
    if let Some(next) = next {
        output::note(&format!("it was cut; the rest: --after {next} with the same options"));
    }
    Ok(ExitCode::SUCCESS)
}

fn line(node: &Node) -> String {
    let Node { r#ref, role, name, value, depth } = node;
    let value = value.as_ref().map_or_else(String::new, |value| format!(" = {value:?}"));
    format!("{}- {role} {name:?}{value} [ref={ref}]", "  ".repeat(*depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_a_line() {
        let node = r#"{"ref":"ax2","role":"textbox","name":"Name","value":"Ada","depth":1}"#;
        assert_eq!(line(&read(node).unwrap()), r#"  - textbox "Name" = "Ada" [ref=ax2]"#);
    }
}
