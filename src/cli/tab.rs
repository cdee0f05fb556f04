//! `tabvisor tab ...`: tabs by their place in the list.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use tabvisor::config::Loaded;

use super::client::Client;
use super::failure::Failure;
use super::flags::Common;
use super::output::{self, clean};
use super::verbs::{read, tabs};

#[derive(Debug, Args)]
pub(super) struct Tab {
    /// Without one, the tabs are listed
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Open an empty tab
    New {
        /// A name for it
        #[arg(long)]
        label: Option<String>,
    },
    /// Give a tab a name
    Label {
        /// Its id (t1), label or target id
        target: String,
        label: String,
    },
    /// Bring the tab at this place of the list to the front; the first is 1
    Select { place: NonZeroUsize },
    /// Close the tab at this place of the list; without one, the first
    Close { place: Option<NonZeroUsize> },
}

/// Does what the verb says.
pub(super) async fn tab(common: &Common, loaded: &Loaded, asked: Tab) -> Result<ExitCode, Failure> {
    let index = |place: Option<NonZeroUsize>| place.map(|place| place.get() - 1);
    let (what, body) = match asked.verb {
        None => return tabs(common, loaded).await,
        Some(Verb::New { label }) => ("opened", json!({ "action": "new", "label": label })),
        Some(Verb::Label { target, label }) => {
            ("labelled", json!({ "action": "label", "targetId": target, "label": label }))
        }
        Some(Verb::Select { place }) => {
            ("selected", json!({ "action": "select", "index": index(Some(place)) }))
        }
        Some(Verb::Close { place }) => ("closed", json!({ "action": "close", "index": index(place) })),
    };
    let budget = loaded.config.budgets.action();
    let text =
        Client::new(common, loaded)?.call(Method::POST, &["tabs", "action"], Some(body), budget).await?;
    if common.json {
        output::line(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let told: Value = read(&text)?;
    let tab = &told["tab"];
    let name = tab["suggestedTargetId"].as_str().or(told["targetId"].as_str()).unwrap_or_default();
    output::line(&clean(&format!("{what} {name}")));
    Ok(ExitCode::SUCCESS)
}
