//! What a doctor wants to know before a launch: the same checks, without launching.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;

use super::find::find_chromium;
use super::lease::StateDir;
use super::machine::Machine;
use super::process::Process;
use super::reap;
use crate::budget::Budget;

/// How long `--version` may take at most.
const VERSION_WITHIN: Duration = Duration::from_secs(10);

/// What a launch would find on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The executable that a launch would take.
    pub chromium: Option<PathBuf>,
    /// Why there is none.
    pub chromium_problem: Option<String>,
    /// What it says to `--version`; none if it says nothing in time.
    pub version: Option<String>,
    /// We run as root, so Chromium needs to be told to do without its sandbox.
    pub root: bool,
    /// Whether a sandbox can be built from user namespaces; none where it cannot be told.
    pub user_namespaces: Option<bool>,
    /// Free bytes in `/dev/shm`.
    pub shm_free_bytes: Option<u64>,
    /// They are so few that Chromium will be told to use the temporary folder instead.
    pub shm_is_small: bool,
    /// There is a display for a headed browser.
    pub display: bool,
    /// Profiles of launches whose service is gone. The next start of a service clears them.
    pub stale_leases: Vec<PathBuf>,
    /// Temporary profiles that no lease is about. They are cleared too.
    pub stale_profiles: Vec<PathBuf>,
}

/// Gathers the facts: for `executable` as [`LaunchOptions`](super::LaunchOptions) has it, and for
/// a state folder, of which nothing is changed.
pub async fn facts(executable: Option<&Path>, state_dir: &Path, budget: &Budget) -> Facts {
    let found = find_chromium(executable);
    let machine = Machine::look();
    let survey = StateDir::at(state_dir).map(|state| reap::survey(&state)).unwrap_or_default();
    let version = match &found {
        Ok(path) => version(path, budget).await,
        Err(_) => None,
    };
    Facts {
        version,
        root: machine.root,
        user_namespaces: user_namespaces(),
        shm_free_bytes: machine.shm_free,
        shm_is_small: machine.shm_is_small(),
        display: machine.display,
        stale_leases: survey.leases.into_iter().map(|(_, family)| family.profile).collect(),
        stale_profiles: survey.orphans,
        chromium_problem: found.as_ref().err().map(ToString::to_string),
        chromium: found.ok(),
    }
}

async fn version(executable: &Path, budget: &Budget) -> Option<String> {
    let mut command = Command::new(executable);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let (process, outputs) = Process::spawn(command).ok()?;
    let process = Killed(process);
    let output = ChildStdout::from_std(outputs.stdout?).ok()?;
    let mut text = Vec::new();
    let read = async {
        output.take(4096).read_to_end(&mut text).await.ok();
        process.0.exited().await
    };
    budget.child(VERSION_WITHIN).run(read).await.ok()?;
    let line =
        String::from_utf8_lossy(&text).lines().map(str::trim).find(|line| !line.is_empty())?.to_owned();
    Some(line)
}

/// Ends the process with its group, however the reading went.
struct Killed(std::sync::Arc<Process>);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill_and_collect();
    }
}

fn user_namespaces() -> Option<bool> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let most = number("/proc/sys/user/max_user_namespaces")?;
    let refused = number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1)
        || number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0);
    Some(most > 0 && !refused)
}
