//! The lock that Chromium keeps in a profile: `SingletonLock`, a link whose target is `host-pid`.
//!
//! A second Chromium on the folder would hand its work to the first and end, so the lock is
//! judged before a launch.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;

use super::error::LaunchError;
use super::family::names_profile;
use super::{machine, proc};
use crate::budget::Budget;

const LOCK: &str = "SingletonLock";
const SOCKET: &str = "SingletonSocket";
const COOKIE: &str = "SingletonCookie";

/// Whom a lock names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) host: String,
    pub(super) pid: u32,
}

/// What a lock means for a launch.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// There is none, or its browser is gone.
    Free,
    /// A browser is using the folder.
    Live(Option<u32>),
    /// Another host's: nobody here can tell.
    Elsewhere(String),
}

/// Whom the lock of this profile names.
pub(super) fn holder(profile: &Path) -> Option<Holder> {
    parse(std::fs::read_link(profile.join(LOCK)).ok()?.to_str()?)
}

/// Host names hold hyphens too: the process id is what follows the last.
fn parse(target: &str) -> Option<Holder> {
    let (host, pid) = target.rsplit_once('-')?;
    let pid = pid.parse().ok().filter(|pid| *pid > 0)?;
    (!host.is_empty()).then(|| Holder { host: host.to_owned(), pid })
}

/// `answers`: somebody accepts connections on the lock's socket. `uses`: a process was started on
/// the folder.
fn judge(holder: Option<Holder>, here: &str, answers: bool, uses: impl Fn(u32) -> bool) -> Verdict {
    match holder {
        holder if answers => {
            Verdict::Live(holder.filter(|holder| holder.host == here).map(|holder| holder.pid))
        }
        Some(Holder { host, .. }) if host != here => Verdict::Elsewhere(host),
        Some(Holder { pid, .. }) if uses(pid) => Verdict::Live(Some(pid)),
        None | Some(_) => Verdict::Free,
    }
}

/// Refuses a folder that a browser is using; a lock whose browser is gone is removed.
///
/// # Errors
/// [`LaunchError::ProfileInUse`], [`LaunchError::ProfileOnOtherHost`], or the spent budget.
pub(super) async fn check(profile: &Path, budget: &Budget) -> Result<(), LaunchError> {
    let spent = |spent| LaunchError::Spent { spent, last_words: Vec::new() };
    let answers = budget.run(answers(profile)).await.map_err(spent)?;
    let uses = |pid| is_live(pid, profile);
    match judge(holder(profile), &machine::hostname(), answers, uses) {
        Verdict::Live(pid) => Err(LaunchError::ProfileInUse { folder: profile.to_owned(), pid }),
        Verdict::Elsewhere(host) => Err(LaunchError::ProfileOnOtherHost { folder: profile.to_owned(), host }),
        Verdict::Free => {
            remove(profile);
            Ok(())
        }
    }
}

/// The browser outside `group` that the lock names and that is using the folder now.
pub(super) fn live_outside(profile: &Path, group: u32) -> Option<u32> {
    let holder = holder(profile).filter(|holder| holder.host == machine::hostname())?;
    let other = proc::seen(holder.pid)?.group != group;
    (other && is_live(holder.pid, profile)).then_some(holder.pid)
}

/// Removes the lock with all that belongs to it. Chromium keeps the socket in a folder of its own
/// among the system's temporary files (a socket's path must be short), and leaves that behind
/// whenever it is killed.
pub(super) fn remove(profile: &Path) {
    if let Some(socket) = socket(profile).filter(|socket| is_socket(socket)) {
        std::fs::remove_file(&socket).ok();
        if let Some(folder) = socket.parent() {
            std::fs::remove_file(folder.join(COOKIE)).ok();
            // Fails, as it should, on a folder that holds anything else.
            std::fs::remove_dir(folder).ok();
        }
    }
    for name in [SOCKET, COOKIE, LOCK] {
        std::fs::remove_file(profile.join(name)).ok();
    }
}

fn is_live(pid: u32, profile: &Path) -> bool {
    proc::seen(pid).is_some_and(|seen| !seen.zombie && names_profile(&seen.command, profile))
}

/// A browser on its default folder does not name it on its command line, but it listens.
async fn answers(profile: &Path) -> bool {
    match socket(profile) {
        Some(socket) => UnixStream::connect(socket).await.is_ok(),
        None => false,
    }
}

fn socket(profile: &Path) -> Option<PathBuf> {
    std::fs::read_link(profile.join(SOCKET))
        .ok()
        .filter(|target| target.is_absolute() && target.ends_with(SOCKET))
}

fn is_socket(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|facts| facts.file_type().is_socket())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[expect(
        clippy::unnecessary_wraps,
        reason = "a lock may be missing, and these are compared with what may"
    )]
    fn held(host: &str, pid: u32) -> Option<Holder> {
        Some(Holder { host: host.into(), pid })
    }

    #[test]
    fn host_names_hold_hyphens() {
        assert_eq!(parse("my-host-4711"), held("my-host", 4711));
        for text in ["", "host", "-12", "host-", "host-x", "host-0", "host--"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_lock_is_judged_by_who_lives() {
        let (uses, idle) = (|_| true, |_| false);
        assert_eq!(judge(None, "here", false, uses), Verdict::Free);
        assert_eq!(judge(held("here", 7), "here", false, uses), Verdict::Live(Some(7)));
        assert_eq!(judge(held("here", 7), "here", false, idle), Verdict::Free);
        assert_eq!(judge(held("here", 7), "here", true, idle), Verdict::Live(Some(7)));
        assert_eq!(judge(held("there", 7), "here", false, uses), Verdict::Elsewhere("there".into()));
        assert_eq!(
            judge(held("there", 7), "here", true, idle),
            Verdict::Live(None),
            "whatever it is called, it answers"
        );
        assert_eq!(judge(None, "here", true, idle), Verdict::Live(None));
    }

    #[test]
    fn removing_takes_the_socket_folder_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let (profile, sockets) = (home.path().join("profile"), home.path().join("sockets"));
        std::fs::create_dir(&profile).unwrap();
        std::fs::create_dir(&sockets).unwrap();
        let listener = UnixListener::bind(sockets.join(SOCKET)).unwrap();
        symlink(sockets.join(SOCKET), profile.join(SOCKET)).unwrap();
        symlink("1", sockets.join(COOKIE)).unwrap();
        symlink("host-1", profile.join(LOCK)).unwrap();
        std::fs::write(sockets.join("foreign"), "").unwrap();
        std::fs::write(profile.join("Preferences"), "").unwrap();
        remove(&profile);
        drop(listener);
        let names = |folder: &Path| {
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>()
        };
        assert_eq!(names(&profile), ["Preferences"]);
        assert_eq!(names(&sockets), ["foreign"], "a folder with other things stays");
    }
}
