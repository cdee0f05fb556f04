//! What can be said on the command line, and how it becomes the highest layer of the configuration.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use tabvisor::config::Layers;
use tabvisor_cdp::budget::Budget;

use crate::telemetry::LogFormat;

/// A supervisor for browser tabs: every call gets one answer inside its budget, and no tab pays for another.
#[derive(Debug, Parser)]
#[command(name = "tabvisor", version, after_help = EXIT_CODES)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 the service cannot be \
    reached, 4 the budget ended first.";

#[derive(Debug, Args)]
pub(super) struct Common {
    /// The service to talk to; without it the one at `http://127.0.0.1:9377`, and none for `mcp`
    #[arg(long, global = true, env = "TABVISOR_URL")]
    pub(super) url: Option<String>,
    /// The service's token; without it the one of the configuration (`TABVISOR_TOKEN`), then of the state folder
    #[arg(long, global = true)]
    pub(super) token: Option<String>,
    /// Which of the service's browsers is meant; without it the default one
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) browser_profile: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// A TOML file with configuration
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Run the service: launch Chromium or attach to one, and take calls over HTTP
    Serve(ServeFlags),
    /// MCP tools over standard input and output, with a browser of their own, or with --url in front of a service
    Mcp(BrowserFlags),
    /// Run a function, an expression or statements in a tab and print what it gives
    Evaluate(Evaluate),
    /// Open a tab
    Open(Open),
    /// Print a tab's page as text with refs, or as a list of nodes
    Snapshot(Snapshot),
    #[command(flatten)]
    Act(super::flags_of_acts::Verb),
    #[command(flatten)]
    State(super::flags_of_state::Verb),
    /// List the tabs
    Tabs,
    /// One tab: open, name, select, show, restart, terminate, close it
    Tab(super::tab::Tab),
    /// Close a tab, also one that is stuck
    Close(Close),
    #[command(flatten)]
    Browser(super::flags_of_browsers::Verb),
    /// Check what the service needs and how it is, then do real work: through it, or with a browser of its own
    Doctor(BrowserFlags),
    /// Print the effective configuration and where each value came from
    Config(ServeFlags),
    /// Print the completions of a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one of every verb
    Man {
        /// Write them to this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(super) struct BrowserFlags {
    /// The Chromium to launch
    #[arg(long, value_name = "PATH")]
    chromium: Option<PathBuf>,
    /// Attach to a running browser instead: ws, wss, http or https address, or port
    #[arg(long, value_name = "URL", conflicts_with_all = ["chromium", "headed", "profile", "no_sandbox"])]
    cdp_url: Option<String>,
    /// Show windows; needs a display
    #[arg(long)]
    headed: bool,
    /// Keep the profile in this folder instead of a temporary one
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,
    /// Run Chromium without its sandbox (as root it runs in no other way)
    #[arg(long)]
    no_sandbox: bool,
}

#[derive(Debug, Args)]
pub(super) struct ServeFlags {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Write the address to this file once the service can work
    #[arg(long, value_name = "PATH")]
    ready_file: Option<PathBuf>,
    /// Read the token of callers from this file
    #[arg(long, value_name = "PATH", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Take calls without a token; on loopback addresses only
    #[arg(long)]
    no_auth: bool,
    /// How log lines look
    #[arg(long, value_enum, default_value_t)]
    pub(super) log_format: LogFormat,
    #[command(flatten)]
    browser: BrowserFlags,
}

#[derive(Debug, Args)]
pub(super) struct Evaluate {
    /// The tab: its id (t1), label or target id; without it the last used one
    #[arg(value_name = "TAB", conflicts_with = "target_id")]
    pub(super) tab: Option<String>,
    /// What to run
    #[arg(long = "fn", value_name = "CODE", allow_hyphen_values = true)]
    pub(super) function: String,
    /// The element that the function gets as `el`, by its ref from a snapshot
    #[arg(long = "ref", value_name = "REF")]
    pub(super) element: Option<String>,
    /// The tab, as a flag
    #[arg(long, value_name = "TAB")]
    pub(super) target_id: Option<String>,
    /// Milliseconds until the answer, whatever the page does
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(super) struct Snapshot {
    /// The tab: its id (t1), label or target id; without it the last used one
    #[arg(value_name = "TAB", conflicts_with = "target_id")]
    pub(super) tab: Option<String>,
    /// What kind
    #[arg(long, value_parser = ["ai", "role", "aria"])]
    format: Option<String>,
    /// `efficient` is interactive, compact and of depth 6
    #[arg(long, value_parser = ["efficient"])]
    mode: Option<String>,
    /// The same as `--mode efficient`
    #[arg(long, conflicts_with = "mode")]
    efficient: bool,
    /// Only what can be acted on
    #[arg(long)]
    interactive: bool,
    /// Without structure that has neither name nor ref
    #[arg(long)]
    compact: bool,
    /// Only nodes at most so deep
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Only the first element that this CSS selector matches
    #[arg(long, value_name = "CSS")]
    selector: Option<String>,
    /// Only this frame: a CSS selector of its element, or the element's ref
    #[arg(long, value_name = "FRAME")]
    frame: Option<String>,
    /// With the addresses of links
    #[arg(long)]
    urls: bool,
    /// At most so many nodes of a list
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// At most so many characters of text; 0 for any number
    #[arg(long, value_name = "N")]
    max_chars: Option<u32>,
    /// Go on where the snapshot was cut that printed this
    #[arg(long, value_name = "NEXT")]
    after: Option<String>,
    /// Write it to this file instead
    #[arg(long, value_name = "PATH")]
    pub(super) out: Option<PathBuf>,
    /// The tab, as a flag
    #[arg(long, value_name = "TAB")]
    pub(super) target_id: Option<String>,
    /// Milliseconds until the answer, whatever the page does
    #[arg(long, visible_alias = "timeout", value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub(super) timeout_ms: Option<u64>,
}

impl Snapshot {
    /// The parameters of the request.
    pub(super) fn query(&self) -> Vec<(&'static str, String)> {
        let mode = self.mode.clone().or(self.efficient.then(|| "efficient".into()));
        let number = |number: Option<u32>| number.map(|it| it.to_string());
        let truth = |truth: bool| truth.then(|| "true".to_owned());
        let all = [
            ("targetId", self.tab.clone().or_else(|| self.target_id.clone())),
            ("format", self.format.clone()),
            ("mode", mode),
            ("interactive", truth(self.interactive)),
            ("compact", truth(self.compact)),
            ("depth", number(self.depth)),
            ("selector", self.selector.clone()),
            ("frame", self.frame.clone()),
            ("urls", truth(self.urls)),
            ("limit", number(self.limit)),
            ("maxChars", number(self.max_chars)),
            ("after", self.after.clone()),
            ("timeoutMs", self.timeout_ms.map(|ms| ms.to_string())),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

#[derive(Debug, Args)]
pub(super) struct Open {
    /// http, https or about:blank
    // Not `url`: that is the service's, and one name is one value to clap.
    #[arg(value_name = "URL")]
    pub(super) address: String,
    /// A name for the tab
    #[arg(long)]
    pub(super) label: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Close {
    /// The tab: its id (t1), label or target id
    pub(super) tab: String,
}

pub(super) fn positive(text: &str) -> Result<u64, String> {
    let time = Budget::parse_ms("timeout-ms", text).map_err(|why| why.to_string())?;
    u64::try_from(time.as_millis()).map_err(|why| why.to_string())
}

/// The layers of the configuration for this command line.
pub(super) fn layers(common: &Common, verb: &Verb) -> Layers {
    // What is no UTF-8 cannot be meant for us.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut layers = Layers::new().file(common.config.as_deref()).variables(variables);
    if let Some(token) = &common.token {
        layers = layers.flag("--token", "server.token", token);
    }
    match verb {
        Verb::Serve(flags) | Verb::Config(flags) => flags.browser.add(flags.add(layers)),
        Verb::Doctor(flags) | Verb::Mcp(flags) => flags.add(layers),
        _ => layers,
    }
}

impl ServeFlags {
    fn add(&self, mut layers: Layers) -> Layers {
        if let Some(listen) = &self.listen {
            layers = layers.flag("--listen", "server.listen", listen);
        }
        if let Some(path) = &self.ready_file {
            layers = layers.flag("--ready-file", "server.ready_file", path);
        }
        if let Some(path) = &self.token_file {
            layers = layers.flag("--token-file", "server.token_file", path);
        }
        if self.no_auth {
            layers = layers.flag("--no-auth", "server.no_auth", true);
        }
        layers
    }
}

impl BrowserFlags {
    fn add(&self, mut layers: Layers) -> Layers {
        if let Some(path) = &self.chromium {
            layers = layers.flag("--chromium", "browser.chromium", path);
        }
        if let Some(url) = &self.cdp_url {
            layers = layers.flag("--cdp-url", "browser.cdp_url", url);
        }
        if self.headed {
            layers = layers.flag("--headed", "browser.headed", true);
        }
        if let Some(path) = &self.profile {
            layers = layers.flag("--profile", "browser.profile", path);
        }
        if self.no_sandbox {
            layers = layers.flag("--no-sandbox", "browser.no_sandbox", true);
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_tells_what_it_does() {
        use std::fmt::Write as _;
        fn told(command: &mut clap::Command, path: &str, into: &mut String) {
            let _ = writeln!(into, "===== {path}\n{}", command.render_long_help());
            for verb in command.get_subcommands_mut().filter(|it| it.get_name() != "help") {
                let path = format!("{path} {}", verb.get_name());
                told(verb, &path, into);
            }
        }
        let mut all = String::new();
        let mut command = Cli::command().term_width(100);
        command.build();
        told(&mut command, "tabvisor", &mut all);
        insta::assert_snapshot!("help", all);
    }

    #[test]
    fn the_address_of_a_page_is_not_that_of_the_service() {
        let cli = Cli::try_parse_from(["tabvisor", "--url", "http://a:1", "open", "http://b/"]).unwrap();
        assert_eq!(cli.common.url.as_deref(), Some("http://a:1"));
        assert!(matches!(cli.verb, Verb::Open(Open { address, .. }) if address == "http://b/"));
    }

    #[test]
    fn only_positive_integers_are_budgets() {
        let parse = |ms| Cli::try_parse_from(["tabvisor", "evaluate", "--fn", "1", "--timeout-ms", ms]);
        assert!(parse("250").is_ok());
        for ms in ["0", "-1", "1.5", "abc"] {
            assert!(parse(ms).unwrap_err().to_string().contains("positive integer"), "{ms}");
        }
    }
}
