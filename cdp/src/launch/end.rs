//! Ending a family of processes for good, without ever hitting another one.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, waitpid,
};

use super::family::Family;
use super::proc::{self, Identity};

/// How often to look again. A killed process is gone within milliseconds unless the kernel holds
/// it in a disk or network wait, so this bound is met only there.
const ROUNDS: u32 = 50;

/// How long one look may wait for one process.
const ROUND: Duration = Duration::from_millis(200);

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Every process that was sent SIGKILL.
    pub(super) killed: Vec<u32>,
    /// Those that were still there in the end.
    pub(super) left: Vec<u32>,
}

/// Sends SIGKILL to the whole family until nobody is left, also those that it forks meanwhile.
///
/// It blocks, for the few milliseconds that this takes.
pub(super) fn end(family: &Family) -> Ended {
    let me = std::process::id();
    let mut killed = BTreeSet::new();
    let mut left = Vec::new();
    for _ in 0..ROUNDS {
        let all = proc::all();
        let members = family.pick(&all, me);
        left = members.iter().map(|seen| seen.id.pid).collect();
        if members.is_empty() {
            break;
        }
        killed.extend(left.iter().copied());
        let handles: Vec<OwnedFd> = members.iter().filter_map(|seen| kill(seen.id)).collect();
        wait_for(&handles);
    }
    if let Some(leader) = family.leader {
        collect_orphans(leader.pid);
    }
    Ended { killed: killed.into_iter().collect(), left }
}

/// Kills exactly this process and gives a handle that becomes readable when it has ended.
pub(super) fn kill(id: Identity) -> Option<OwnedFd> {
    let pid = raw(id.pid)?;
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => {
            // The handle pins the process; if it is still the one that was seen, it stays so.
            if proc::identity(id.pid) != Some(id) {
                return None;
            }
            pidfd_send_signal(&handle, Signal::KILL).ok()?;
            Some(handle)
        }
        Err(Errno::SRCH) => None,
        // A kernel without process handles: the gap between the check and the signal is tiny.
        Err(_) => {
            if proc::identity(id.pid) == Some(id) {
                kill_process(pid, Signal::KILL).ok();
            }
            None
        }
    }
}

/// Waits until each of these processes has ended, or until the first takes too long.
pub(super) fn wait_for(handles: &[OwnedFd]) {
    if handles.is_empty() {
        pause(Duration::from_millis(20));
    }
    for handle in handles {
        if poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timespec(ROUND))) == Ok(0) {
            break;
        }
    }
}

/// Blocks for a moment. Only for the synchronous clean-up, the last thing that a browser's owner does.
pub(super) fn pause(time: Duration) {
    poll(&mut [], Some(&timespec(time))).ok();
}

/// Collects those of the leader's group that have ended and that the kernel has given to us: it
/// does where we are the first process of a container, and nobody else would then.
fn collect_orphans(group: u32) {
    let me = std::process::id();
    for seen in proc::all() {
        if seen.zombie && seen.parent == me && seen.group == group && seen.id.pid != group {
            waitpid(raw(seen.id.pid), WaitOptions::NOHANG).ok();
        }
    }
}

/// The id as the system wants it; `None` for 0 and for what no process can have.
pub(super) fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn timespec(time: Duration) -> Timespec {
    Timespec::try_from(time).unwrap_or_default()
}

/// Asks the kernel to give this process every orphan among its descendants, so that a stopped
/// browser leaves not even a zombie, whoever is process 1 and however slow.
///
/// For a service that owns its process. An embedded library has no business doing it.
///
/// # Errors
/// What the system says.
pub fn adopt_orphans() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}
