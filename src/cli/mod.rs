//! The command line.
//!
//! | file | holds |
//! |---|---|
//! | `flags` | what can be said, and how it becomes configuration |
//! | `serve`, `token`, `manager` | the service, and what its manager is told |
//! | `mcp` | the tools over standard input and output |
//! | `client`, `verbs`, `acts`, `snapshot`, `state`, `tab`, `recover`, `browsers` | calls to a running service |
//! | `top`, `events` | what goes on in it |
//! | `doctor`, `show_config`, `manual` | what helps when it does not run |
//! | `failure`, `output`, `pretty` | exit codes and what is printed |

mod acts;
mod browsers;
mod client;
mod doctor;
mod events;
mod failure;
mod flags;
mod flags_of_acts;
mod flags_of_browsers;
mod flags_of_state;
mod manager;
mod manual;
mod mcp;
mod output;
mod pretty;
mod recover;
mod serve;
mod show_config;
mod snapshot;
mod state;
mod tab;
mod token;
mod top;
mod verbs;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::telemetry::{self, LogFormat};

use self::failure::Failure;
use self::flags::{Cli, Verb};

/// How long blocking work that is left may hold up the end of the process.
const RUNTIME_ENDS_WITHIN: Duration = Duration::from_secs(1);

/// Runs the command line of this process.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let json = cli.common.json;
    match start(cli) {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    }
}

fn start(cli: Cli) -> Result<ExitCode, Failure> {
    // No provider of cryptography is built into the HTTP client, so that there is only one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().map_err(|why| Failure::failed(why.to_string()))?;
    let done = runtime.block_on(Box::pin(dispatch(cli)));
    runtime.shutdown_timeout(RUNTIME_ENDS_WITHIN);
    done
}

async fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    let Cli { common, verb } = cli;
    match verb {
        Verb::Completions { shell } => return Ok(manual::completions(shell)),
        Verb::Man { out } => return manual::man(out.as_deref()),
        _ => {}
    }
    let format = if let Verb::Serve(flags) = &verb { flags.log_format } else { LogFormat::Text };
    // The actor library's own spans say nothing to an operator.
    let level = if matches!(verb, Verb::Serve(_)) { "info,ractor=warn" } else { "warn" };
    telemetry::log(format, level).map_err(Failure::usage)?;
    let loaded = flags::layers(&common, &verb).load()?;
    match verb {
        Verb::Serve(_) => serve::serve(loaded).await,
        Verb::Mcp(_) => mcp::mcp(&common, loaded).await,
        Verb::Doctor(_) => doctor::doctor(&common, &loaded).await,
        Verb::Config(_) => Ok(show_config::show(&loaded, common.json)),
        Verb::Evaluate(asked) => verbs::evaluate(&common, &loaded, asked).await,
        Verb::Open(asked) => verbs::open(&common, &loaded, asked).await,
        Verb::Snapshot(asked) => snapshot::snapshot(&common, &loaded, asked).await,
        Verb::Act(verb) => acts::act(&common, &loaded, verb).await,
        Verb::State(verb) => state::state(&common, &loaded, verb).await,
        Verb::Browser(verb) => browsers::browser(&common, &loaded, verb).await,
        Verb::Tabs => verbs::tabs(&common, &loaded).await,
        Verb::Tab(asked) => tab::tab(&common, &loaded, asked).await,
        Verb::Close(asked) => verbs::close(&common, &loaded, asked).await,
        Verb::Completions { .. } | Verb::Man { .. } => Ok(ExitCode::SUCCESS),
    }
}
