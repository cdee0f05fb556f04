//! The started process: leader of its own group, watched through a process handle.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::end::{self, raw};
use super::exit::Exit;
use super::proc::{self, Identity};

/// How often to ask on a kernel without process handles.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// A child process and its group.
///
/// No runtime collects the child: when it has ended it stays a zombie until
/// [`collect`](Self::collect). So its number, which is its group's too, cannot become another's
/// while the rest of the group is looked for and killed.
#[derive(Debug)]
pub(super) struct Process {
    pid: Pid,
    id: Identity,
    ended: Option<AsyncFd<OwnedFd>>,
    child: Mutex<Collected>,
}

#[derive(Debug)]
struct Collected {
    child: Child,
    exit: Option<Exit>,
}

/// What a started process writes.
#[derive(Debug)]
pub(super) struct Outputs {
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

enum State {
    Running,
    /// Ended and not collected: its number is still its own.
    Ended(Exit),
    /// Collected, by us or by somebody else in this process. The number may be another's: hands off.
    Gone,
}

impl Process {
    /// Starts `command` as the leader of a new group. The command goes with it, and so do the
    /// child's ends of the pipes that it holds.
    pub(super) fn spawn(mut command: Command) -> io::Result<(Arc<Self>, Outputs)> {
        let mut child = command.process_group(0).spawn()?;
        drop(command);
        let outputs = Outputs { stdout: child.stdout.take(), stderr: child.stderr.take() };
        let number = child.id();
        let pid = raw(number).ok_or_else(|| io::Error::other("the child has no process id"))?;
        let id = proc::identity(number).unwrap_or(Identity { pid: number, started: 0 });
        let ended = pidfd_open(pid, PidfdFlags::empty()).ok().and_then(watch);
        let child = Mutex::new(Collected { child, exit: None });
        Ok((Arc::new(Self { pid, id, ended, child }), outputs))
    }

    /// Number and start time.
    pub(super) fn id(&self) -> Identity {
        self.id
    }

    /// Completes when the process has ended; the rest of its group is killed then. Any number may
    /// wait, also afterwards.
    pub(super) async fn exited(&self) -> Exit {
        loop {
            if let Some(exit) = self.exit() {
                return exit;
            }
            match &self.ended {
                None => tokio::time::sleep(ASK_EVERY).await,
                Some(handle) => match handle.readable().await {
                    Ok(mut ready) => {
                        if let Some(exit) = self.exit() {
                            return exit;
                        }
                        ready.clear_ready();
                    }
                    // The runtime is shutting down and takes this future with it.
                    Err(_) => std::future::pending().await,
                },
            }
        }
    }

    /// How it ended, if it has.
    fn exit(&self) -> Option<Exit> {
        let collected = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        match self.state() {
            State::Running => None,
            State::Ended(exit) => {
                kill_process_group(self.pid, Signal::KILL).ok();
                Some(exit)
            }
            State::Gone => Some(collected.exit.unwrap_or(Exit::Unknown)),
        }
    }

    /// Sends SIGKILL to the whole group, whether its leader lives or not.
    pub(super) fn kill_group(&self) {
        let _collected = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(self.state(), State::Gone) {
            kill_process_group(self.pid, Signal::KILL).ok();
        }
    }

    /// Takes the ended process out of the process table, and gives its number up.
    pub(super) fn collect(&self) -> Exit {
        let mut collected = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if collected.exit.is_none() {
            let status = collected.child.try_wait().ok().flatten();
            collected.exit = status.map(Exit::from);
        }
        collected.exit.unwrap_or(Exit::Unknown)
    }

    /// Kills the group and collects its leader, blocking until that has ended. For a process
    /// without a home.
    pub(super) fn kill_and_collect(&self) {
        self.kill_group();
        if let Some(handle) = &self.ended {
            end::wait_for(std::slice::from_ref(handle.get_ref()));
        }
        self.collect();
    }

    /// Only asked under the lock, so that nobody collects it before the answer is used.
    fn state(&self) -> State {
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), peek) {
            Ok(None) => State::Running,
            Ok(Some(status)) => State::Ended(match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Exit::Code(code),
                (None, Some(signal)) => Exit::Signal(signal),
                (None, None) => Exit::Unknown,
            }),
            Err(_) => State::Gone,
        }
    }
}

/// Lets the runtime tell when this process handle becomes readable.
fn watch(handle: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    #[expect(
        deprecated,
        reason = "its replacement is unsafe, for types that may change their descriptor; an OwnedFd cannot"
    )]
    AsyncFd::with_interest(handle, Interest::READABLE).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn sh(script: &str) -> Arc<Process> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null());
        Process::spawn(command).unwrap().0
    }

    #[tokio::test]
    async fn everybody_hears_how_it_ended_before_and_after_it_was_collected() {
        let process = sh("exit 7");
        assert_eq!(tokio::join!(process.exited(), process.exited()), (Exit::Code(7), Exit::Code(7)));
        assert!(proc::seen(process.id().pid).is_some_and(|seen| seen.id == process.id() && seen.zombie));
        assert_eq!(process.collect(), Exit::Code(7));
        assert!(!proc::seen(process.id().pid).is_some_and(|seen| seen.id == process.id()));
        assert_eq!((process.exited().await, process.collect()), (Exit::Code(7), Exit::Code(7)));
        process.kill_group();
    }

    #[tokio::test]
    async fn a_killed_group_says_so() {
        let process = sh("sleep 1000 & wait");
        process.kill_group();
        assert_eq!(process.exited().await, Exit::Signal(9));
        assert_eq!(process.collect(), Exit::Signal(9));
    }

    #[tokio::test]
    async fn without_process_handles_it_is_asked() {
        let mut process = sh("exit 3");
        Arc::get_mut(&mut process).unwrap().ended = None;
        assert_eq!(process.exited().await, Exit::Code(3));
        process.collect();
    }

    #[tokio::test]
    async fn a_status_that_somebody_else_took_is_unknown() {
        let process = sh("exit 3");
        process.exited().await;
        rustix::process::waitpid(Some(process.pid), rustix::process::WaitOptions::empty()).unwrap();
        assert_eq!(process.exited().await, Exit::Unknown);
        process.kill_group();
        assert_eq!(process.collect(), Exit::Unknown);
    }
}
