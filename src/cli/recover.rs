//! `tabvisor tab show`, `restart`, `terminate`: one tab by its name.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tabvisor::config::Loaded;

use super::client::Client;
use super::failure::Failure;
use super::flags::{Common, positive};
use super::output::{self, clean};
use super::verbs::{check_named, read};

/// How long a service may take for what it knows already.
const KNOWN: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(super) struct Restart {
    /// The tab: its id (t1), label or target id
    tab: String,
    /// The first way to try
    #[arg(long, value_parser = ["dialog", "terminate", "stop_loading", "renderer", "target"])]
    rung: Option<String>,
    /// What to load; without it the last good address of the tab
    // Not `url`: that is the service's, and one name is one value to clap.
    #[arg(long = "load", value_name = "URL")]
    address: Option<String>,
    /// Milliseconds until the answer
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    timeout_ms: Option<u64>,
}

#[derive(Debug, Args)]
pub(super) struct Terminate {
    /// The tab: its id (t1), label or target id
    tab: String,
    /// Milliseconds until the answer
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recovered {
    tab: String,
    rung: String,
    took_ms: u64,
    lost: Vec<String>,
    url: String,
    generation: u64,
}

pub(super) async fn restart(common: &Common, loaded: &Loaded, asked: Restart) -> Result<ExitCode, Failure> {
    let Restart { tab, rung, address, timeout_ms } = asked;
    let mut body = json!({});
    for (name, value) in [("rung", rung), ("url", address)] {
        if let Some(value) = value {
            body[name] = value.into();
        }
    }
    recover(common, loaded, &tab, "restart", body, timeout_ms).await
}

pub(super) async fn terminate(
    common: &Common,
    loaded: &Loaded,
    asked: Terminate,
) -> Result<ExitCode, Failure> {
    let Terminate { tab, timeout_ms } = asked;
    recover(common, loaded, &tab, "terminate", json!({}), timeout_ms).await
}

pub(super) async fn show(common: &Common, loaded: &Loaded, tab: &str) -> Result<ExitCode, Failure> {
    check_named(tab)?;
    let text = Client::new(common, loaded)?.call(Method::GET, &["tabs", tab], None, KNOWN).await?;
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let row: Map<String, Value> = read(&text)?;
    for (name, value) in &row {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        output::line(&clean(&format!("{name}: {shown}")));
    }
    Ok(ExitCode::SUCCESS)
}

async fn recover(
    common: &Common,
    loaded: &Loaded,
    tab: &str,
    what: &str,
    mut body: Value,
    timeout_ms: Option<u64>,
) -> Result<ExitCode, Failure> {
    check_named(tab)?;
    if let Some(ms) = timeout_ms {
        body["timeoutMs"] = ms.into();
    }
    // Without a budget of ours the service's own holds, which is at most its largest one.
    let budget = timeout_ms.map_or_else(|| loaded.config.limits.max_budget(), Duration::from_millis);
    let text =
        Client::new(common, loaded)?.call(Method::POST, &["tabs", tab, what], Some(body), budget).await?;
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let Recovered { tab, rung, took_ms, lost, url, generation } = read(&text)?;
    let lost = if lost.is_empty() { "nothing".into() } else { lost.join(", ") };
    output::line(&clean(&format!(
        "{tab} is usable by {rung} after {took_ms} ms\nlost: {lost}\nurl: {url} (document {generation})"
    )));
    Ok(ExitCode::SUCCESS)
}
