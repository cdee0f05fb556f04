//! The body of a browser: its process, its lifeline, its last words and its home, and the one
//! place where all of that ends.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use tokio::process::ChildStderr;
use url::Url;

use super::error::LaunchError;
use super::exit::Exit;
use super::home::Home;
use super::process::Process;
use super::words::LastWords;
use super::{end, port, singleton};
use crate::budget::{Budget, Spent};

/// How often to look for the port. Chromium needs some 200 ms to open it.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How often, and how many times, to look for the last words of a process that has ended.
const WORDS_EVERY: (Duration, u32) = (Duration::from_millis(5), 100);

/// How Chromium says that it cannot build a sandbox.
const NO_SANDBOX: &str = "No usable sandbox!";

/// A started browser. Dropping it leaves nothing.
#[derive(Debug)]
pub(super) struct Body {
    process: Arc<Process>,
    /// Chromium ends by itself when this closes. Nothing is ever sent or read on it.
    lifeline: Option<(PipeWriter, PipeReader)>,
    words: Option<LastWords>,
    home: Home,
    ended: Option<Exit>,
}

impl Body {
    /// Starts the program in `home`.
    pub(super) fn start(executable: &Path, arguments: &[String], home: Home) -> Result<Self, LaunchError> {
        let failed =
            |why: io::Error| LaunchError::Spawn { executable: executable.to_owned(), why: why.to_string() };
        let (theirs_in, ours_out) = io::pipe().map_err(failed)?;
        let (ours_in, theirs_out) = io::pipe().map_err(failed)?;
        let mut command = Command::new(executable);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mappings = vec![
            FdMapping { parent_fd: OwnedFd::from(theirs_in), child_fd: 3 },
            FdMapping { parent_fd: OwnedFd::from(theirs_out), child_fd: 4 },
        ];
        command.fd_mappings(mappings).map_err(|why| failed(io::Error::other(why.to_string())))?;
        let (process, outputs) = Process::spawn(command).map_err(failed)?;
        let words = outputs.stderr.and_then(|stderr| ChildStderr::from_std(stderr).ok()).map(LastWords::of);
        let mut body = Self { process, lifeline: Some((ours_out, ours_in)), words, home, ended: None };
        let noted = body.home.inhabit(body.process.id());
        noted.map_err(|why| LaunchError::StateDir {
            path: body.home.profile().to_owned(),
            why: why.to_string(),
        })?;
        Ok(body)
    }

    /// Waits until the browser says where it listens.
    pub(super) async fn listening(&self, budget: &Budget) -> Result<Url, LaunchError> {
        loop {
            tokio::select! {
                biased;
                exit = self.process.exited() => return Err(self.ended_early(exit).await),
                spent = budget.spent() => return Err(self.spent(spent)),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            let address = port::read(self.home.profile());
            // Where another browser took the folder in the same moment, the file is that one's,
            // and ours is about to end.
            if let Some(address) = address.filter(|_| self.taken_by().is_none()) {
                return Ok(address);
            }
        }
    }

    fn taken_by(&self) -> Option<u32> {
        if self.home.is_temporary() {
            return None;
        }
        singleton::live_outside(self.home.profile(), self.process.id().pid)
    }

    async fn ended_early(&self, exit: Exit) -> LaunchError {
        if let Some(pid) = self.taken_by() {
            return LaunchError::ProfileInUse { folder: self.home.profile().to_owned(), pid: Some(pid) };
        }
        // The rest of its group is killed, so what it wrote comes to an end.
        for _ in 0..WORDS_EVERY.1 {
            if self.words.as_ref().is_none_or(LastWords::complete) {
                break;
            }
            tokio::time::sleep(WORDS_EVERY.0).await;
        }
        let last_words = self.last_words();
        if last_words.iter().any(|line| line.contains(NO_SANDBOX)) {
            return LaunchError::NoUsableSandbox;
        }
        LaunchError::ExitedEarly { exit, last_words }
    }

    fn spent(&self, spent: Spent) -> LaunchError {
        if let (Spent::Expired { .. }, Err(full)) = (&spent, self.home.has_room()) {
            return full;
        }
        LaunchError::Spent { spent, last_words: self.last_words() }
    }

    /// The last lines that the browser wrote.
    pub(super) fn last_words(&self) -> Vec<String> {
        self.words.as_ref().map(LastWords::lines).unwrap_or_default()
    }

    /// The process.
    pub(super) fn process(&self) -> &Arc<Process> {
        &self.process
    }

    /// The profile.
    pub(super) fn profile(&self) -> PathBuf {
        self.home.profile().to_owned()
    }

    /// Asks the browser to save its data and end. Closing the pipe does what `Browser.close` does;
    /// a headless Chromium takes SIGTERM for an order to drop everything, cookies included.
    pub(super) fn ask_to_end(&mut self) {
        self.lifeline = None;
    }

    /// Ends every process of the browser and removes what it left on disk. It blocks.
    pub(super) fn end(&mut self) -> Exit {
        if let Some(exit) = self.ended {
            return exit;
        }
        self.lifeline = None;
        self.process.kill_group();
        let ended = end::end(&self.home.family());
        let exit = self.process.collect();
        self.ended = Some(exit);
        if !ended.left.is_empty() {
            tracing::warn!(left = ?ended.left, "processes would not end; the next start tries again");
            self.home.abandon();
        }
        self.home.clear();
        exit
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.end();
    }
}
