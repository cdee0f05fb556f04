//! `completions` and `man`: what is made of the grammar.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::failure::Failure;
use super::flags::Cli;

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tabvisor", &mut script);
    print(&script);
    ExitCode::SUCCESS
}

/// Prints the manual page, or writes one of every verb to a folder.
pub(super) fn man(out: Option<&Path>) -> Result<ExitCode, Failure> {
    let cannot = |place: &str, why: std::io::Error| Failure::failed(format!("{place}: {why}"));
    if let Some(folder) = out {
        let place = folder.display().to_string();
        std::fs::create_dir_all(folder).map_err(|why| cannot(&place, why))?;
        clap_mangen::generate_to(Cli::command(), folder).map_err(|why| cannot(&place, why))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|why| cannot("man", why))?;
    print(&page);
    Ok(ExitCode::SUCCESS)
}

fn print(bytes: &[u8]) {
    // A reader that goes away is no failure.
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
