//! A launched browser, as its owner sees it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::body::Body;
use super::exit::Exit;

/// A running Chromium that is ours alone.
///
/// Whichever way this value goes, nothing of the browser is left. [`stop`](Self::stop) lets it
/// save its data first. Dropping kills its whole process group, waits until that is gone and
/// removes the temporary profile; it blocks for that, some tens of milliseconds. If this process
/// is killed, Chromium sees its debugging pipe close and ends by itself; what it then leaves on
/// disk, or is too stuck to do, [`reap`](super::reap()) clears at the next start.
#[derive(Debug)]
pub struct Chromium {
    body: Body,
    profile: PathBuf,
    executable: PathBuf,
    address: Url,
    grace: Duration,
}

/// How a stopped browser went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// How the process ended.
    pub exit: Exit,
    /// It did not end within its grace and was killed: what it had not saved is lost.
    pub forced: bool,
}

impl Chromium {
    pub(super) fn new(body: Body, executable: PathBuf, address: Url, grace: Duration) -> Self {
        Self { profile: body.profile(), body, executable, address, grace }
    }

    /// The process id, which is the id of its process group too.
    pub fn pid(&self) -> u32 {
        self.body.process().id().pid
    }

    /// The WebSocket address of the browser endpoint. Its path names this very browser: connect to
    /// it as it is, and it cannot be another one.
    pub fn address(&self) -> &Url {
        &self.address
    }

    /// The profile folder.
    pub fn profile(&self) -> &Path {
        &self.profile
    }

    /// The program that was started.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// The last lines that the browser wrote to its standard error, bounded: what to show when it
    /// ended unasked.
    pub fn last_words(&self) -> Vec<String> {
        self.body.last_words()
    }

    /// Completes as soon as the process has ended, for whatever reason. The future is its own:
    /// any number may wait, in other tasks too, and waiting keeps nothing alive. The rest of the
    /// process group is killed then; profile and lease stay until this value is stopped or dropped.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + use<> {
        let process = Arc::clone(self.body.process());
        async move { process.exited().await }
    }

    /// Lets the browser save its data and end, kills what is left of it after the grace of its
    /// [`LaunchOptions`](super::LaunchOptions), and removes its temporary profile.
    ///
    /// Dropping the future kills it at once.
    pub async fn stop(self) -> Stopped {
        let grace = self.grace;
        self.stop_within(grace).await
    }

    /// [`stop`](Self::stop), with another grace.
    pub async fn stop_within(mut self, grace: Duration) -> Stopped {
        self.body.ask_to_end();
        let forced = tokio::time::timeout(grace, self.exited()).await.is_err();
        // Killing and removing block, so they go where that is allowed. If the runtime is ending
        // and refuses, the value is dropped there, which does the same.
        let Self { mut body, .. } = self;
        let ended = tokio::task::spawn_blocking(move || body.end()).await;
        Stopped { exit: ended.unwrap_or(Exit::Unknown), forced }
    }
}
