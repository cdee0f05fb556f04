//! What can be said on the command line about browsers, and about what goes on in the service.

use std::num::NonZeroU32;

use clap::{Args, Subcommand};

use super::flags::positive;

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// How a browser is
    Status,
    /// Start a browser, unless it runs
    Start {
        /// Without windows, or with (`--headless=false`), for this start
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
        headless: Option<bool>,
        #[command(flatten)]
        within: Within,
    },
    /// Stop a browser and wait until nothing of it is left
    Stop(Within),
    /// Stop a browser and move its data aside
    ResetProfile(Within),
    /// List the browsers
    Profiles,
    /// Make a profile; its browser is started when it is needed
    CreateProfile {
        /// Lower-case letters, digits and hyphens
        #[arg(long)]
        name: String,
        /// What it is shown in, such as #ff4500
        #[arg(long)]
        color: Option<String>,
        /// Attach to the browser at this address
        // Not `cdp_url`: that is what `serve` attaches to.
        #[arg(id = "address", long = "cdp-url", value_name = "URL")]
        address: Option<String>,
        /// How it is driven
        #[arg(long, value_parser = ["openclaw", "clawd", "existing-session"])]
        driver: Option<String>,
    },
    /// Delete a profile that was made by a call
    DeleteProfile {
        #[arg(long)]
        name: String,
    },
    /// Print the supervision tree
    Supervisor,
    /// Watch the tabs: states, queues, restarts
    Top {
        /// Print them once
        #[arg(long)]
        once: bool,
        /// Milliseconds from one look to the next
        #[arg(long, value_name = "N", value_parser = positive, default_value = "1000")]
        interval_ms: u64,
    },
    /// Print what happens to tabs and browsers, as it happens
    Events {
        /// End after so many
        #[arg(long, value_name = "N")]
        count: Option<NonZeroU32>,
    },
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Within {
    /// Milliseconds until the answer
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub(super) timeout_ms: Option<u64>,
}
