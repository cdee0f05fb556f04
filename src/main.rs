//! The binary `tabvisor`: the service, its command line, and what only a process may install
//! (log, metrics recorder, signal handlers).

mod cli;
mod telemetry;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
