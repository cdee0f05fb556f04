//! Why there is no browser, and which knob changes that.

use std::path::PathBuf;

use super::exit::Exit;
use crate::budget::Spent;

/// Why Chromium was not launched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// No executable was named and none is at the usual places.
    #[error(
        "no chromium found; looked for {}; install one (Debian: `apt-get install chromium`) or name it with \
         --chromium or TABVISOR_CHROMIUM", .looked.join(", ")
    )]
    NotFound {
        /// Every name and path that was tried.
        looked: Vec<String>,
    },
    /// The named executable cannot be run.
    #[error("{} (from {named_by}) cannot be run: {why}", .path.display())]
    BadExecutable {
        /// What was named.
        path: PathBuf,
        /// The option or variable that named it.
        named_by: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Root, and nobody said that the sandbox may be off.
    #[error(
        "chromium has no sandbox as root: run as another user, or say --no-sandbox / TABVISOR_NO_SANDBOX=1"
    )]
    RootNeedsNoSandbox,
    /// Not root, but the system gives Chromium nothing to build its sandbox from.
    #[error(
        "chromium found no usable sandbox: allow unprivileged user namespaces (sysctl \
         user.max_user_namespaces, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0, in Docker a \
         seccomp profile that permits them), \
         install chromium-sandbox, or say --no-sandbox / TABVISOR_NO_SANDBOX=1"
    )]
    NoUsableSandbox,
    /// A window was asked for and there is no display.
    #[error(
        "a headed browser needs a display: set DISPLAY or WAYLAND_DISPLAY (xvfb-run gives one), or drop \
         --headed"
    )]
    NoDisplay,
    /// An extra argument that cannot be passed on.
    #[error("chromium argument {argument:?} refused: {why}")]
    ArgumentRefused {
        /// What was given.
        argument: String,
        /// Why, and what to use instead.
        why: &'static str,
    },
    /// The state folder cannot be used.
    #[error("state folder {}: {why}", .path.display())]
    StateDir {
        /// The file or folder that failed.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The given profile folder cannot be used.
    #[error("profile folder {}: {why}", .folder.display())]
    ProfileFolder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Another browser of this machine is using the given profile folder.
    #[error(
        "profile folder {} is in use{}: stop that browser, or choose another folder with --profile",
        .folder.display(), .pid.map(|pid| format!(" by chromium with pid {pid}")).unwrap_or_default()
    )]
    ProfileInUse {
        /// The folder.
        folder: PathBuf,
        /// The browser that has it, where it can be told.
        pid: Option<u32>,
    },
    /// The given profile folder carries the lock of another machine (or of a container with another name).
    #[error(
        "profile folder {} is locked by chromium on host {host:?}: stop it there; if that host is gone, \
         delete SingletonLock in the folder",
        .folder.display()
    )]
    ProfileOnOtherHost {
        /// The folder.
        folder: PathBuf,
        /// The host named by the lock.
        host: String,
    },
    /// The system could not start the program.
    #[error("could not start {}: {why}", .executable.display())]
    Spawn {
        /// The program.
        executable: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The program ended before it could be talked to.
    #[error("chromium ended before it opened its DevTools port ({exit}){}", said(.last_words))]
    ExitedEarly {
        /// How it ended.
        exit: Exit,
        /// The last lines that it wrote.
        last_words: Vec<String>,
    },
    /// The budget ended before Chromium could be talked to.
    #[error("chromium opened no DevTools port: {spent}{}", said(.last_words))]
    Spent {
        /// Expired or cancelled, with the numbers.
        spent: Spent,
        /// The last lines that it wrote.
        last_words: Vec<String>,
    },
}

impl LaunchError {
    /// A stable word for the kind, for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "chromium_not_found",
            Self::BadExecutable { .. } => "bad_executable",
            Self::RootNeedsNoSandbox => "root_needs_no_sandbox",
            Self::NoUsableSandbox => "no_usable_sandbox",
            Self::NoDisplay => "no_display",
            Self::ArgumentRefused { .. } => "argument_refused",
            Self::StateDir { .. } => "state_dir",
            Self::ProfileFolder { .. } => "profile_folder",
            Self::ProfileInUse { .. } => "profile_in_use",
            Self::ProfileOnOtherHost { .. } => "profile_on_other_host",
            Self::Spawn { .. } => "spawn_failed",
            Self::ExitedEarly { .. } => "exited_early",
            Self::Spent { spent: Spent::Expired { .. }, .. } => "budget_exceeded",
            Self::Spent { spent: Spent::Cancelled { .. }, .. } => "cancelled",
        }
    }
}

fn said(last_words: &[String]) -> String {
    if last_words.is_empty() {
        "; it said nothing".into()
    } else {
        format!("; it said: {}", last_words.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_teach() {
        assert_eq!(
            LaunchError::RootNeedsNoSandbox.to_string(),
            "chromium has no sandbox as root: \
             run as another user, or say --no-sandbox / TABVISOR_NO_SANDBOX=1"
        );
        let early =
            LaunchError::ExitedEarly { exit: Exit::Code(3), last_words: vec!["boom".into(), "bang".into()] };
        assert_eq!(
            early.to_string(),
            "chromium ended before it opened its DevTools port (exit status 3); it said: boom | bang"
        );
        let used = LaunchError::ProfileInUse { folder: "/p".into(), pid: Some(7) }.to_string();
        assert!(used.starts_with("profile folder /p is in use by chromium with pid 7: stop"), "{used}");
    }
}
