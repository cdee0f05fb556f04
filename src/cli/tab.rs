//! `tabvisor tab ...`: tabs by their place in the list, and what is done to one by its name.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use tabvisor::config::Loaded;

use super::client::Client;
use super::failure::Failure;
use super::flags::{Close, Common};
use super::output::{self, clean};
use super::recover::{self, Restart, Terminate};
use super::verbs::{close, read, tabs};

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
    /// Close a tab, also one that is stuck
    Close {
        /// Its place in the list, or its id (t1), label or target id; without one, the first is closed
        tab: Option<String>,
    },
    /// What is known of a tab
    Show(Close),
    /// Bring a tab back, by the mildest way that makes it usable
    Restart(Restart),
    /// End the scripts that run on a tab; its document stays
    Terminate(Terminate),
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
        Some(Verb::Close { tab }) => match tab.as_deref().map(str::parse) {
            None => ("closed", json!({ "action": "close" })),
            Some(Ok(place)) => ("closed", json!({ "action": "close", "index": index(Some(place)) })),
            Some(Err(_)) => return close(common, loaded, Close { tab: tab.unwrap_or_default() }).await,
        },
        Some(Verb::Show(asked)) => return recover::show(common, loaded, &asked.tab).await,
        Some(Verb::Restart(asked)) => return recover::restart(common, loaded, asked).await,
        Some(Verb::Terminate(asked)) => return recover::terminate(common, loaded, asked).await,
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
