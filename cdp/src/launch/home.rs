//! Where one browser lives: its lease and its profile, and how both go away.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access};

use super::error::LaunchError;
use super::family::Family;
use super::lease::Lease;
use super::options::Profile;
use super::proc::Identity;
use super::{end, machine, port, singleton};
use crate::budget::Budget;

/// How often a removal is tried: a dying process may still write into the folder.
const TRIES: u32 = 80;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(25);

/// A profile begins with some megabytes.
const LEAST_ROOM: u64 = 4 << 20;

/// A lease with its profile. Dropping it removes the lease and, if it is temporary, the profile:
/// the processes must be gone by then.
#[derive(Debug)]
pub(super) struct Home {
    lease: Lease,
    /// Keeps a given folder to this browser alone, among all services of this machine.
    _claim: Option<File>,
    cleared: bool,
}

impl Home {
    /// Writes the lease, then makes or checks the profile.
    pub(super) async fn prepare(
        state_dir: &Path,
        profile: &Profile,
        budget: &Budget,
    ) -> Result<Self, LaunchError> {
        let (profile, claim) = match profile {
            Profile::Temporary => (Profile::Temporary, None),
            Profile::Folder(folder) => {
                let (folder, claim) = given(folder)?;
                singleton::check(&folder, budget).await?;
                (Profile::Folder(folder), claim)
            }
        };
        let home = Self { lease: Lease::write(state_dir, &profile)?, _claim: claim, cleared: false };
        let folder = home.profile();
        if home.is_temporary() {
            let made = DirBuilder::new().mode(0o700).create(folder);
            made.map_err(|why| LaunchError::StateDir { path: folder.to_owned(), why: why.to_string() })?;
        }
        port::forget(folder).map_err(|why| bad(folder, &why.to_string()))?;
        home.has_room()?;
        Ok(home)
    }

    /// On a full disk Chromium opens no port, and does not say why.
    pub(super) fn has_room(&self) -> Result<(), LaunchError> {
        let Some(free) = machine::free(self.profile()).filter(|free| *free < LEAST_ROOM) else {
            return Ok(());
        };
        let why = format!("its disk is full: {free} bytes are free, chromium needs {LEAST_ROOM}");
        let path = self.profile().to_owned();
        Err(if self.is_temporary() { LaunchError::StateDir { path, why } } else { bad(&path, &why) })
    }

    /// The profile.
    pub(super) fn profile(&self) -> &Path {
        &self.lease.record().profile
    }

    /// Whether the profile goes with the browser.
    pub(super) fn is_temporary(&self) -> bool {
        self.lease.record().temporary
    }

    /// The id of the lease.
    pub(super) fn id(&self) -> &str {
        self.lease.id()
    }

    /// Notes the started browser in the lease.
    pub(super) fn inhabit(&mut self, chromium: Identity) -> io::Result<()> {
        self.lease.complete(chromium)
    }

    /// By what its processes are told.
    pub(super) fn family(&self) -> Family {
        let record = self.lease.record();
        Family {
            lease: self.lease.id().to_owned(),
            profile: record.profile.clone(),
            temporary: record.temporary,
            leader: record.chromium,
        }
    }

    /// Removes what is left of the browser on disk; the lease last, and only if the rest is gone,
    /// so that a later start can try again.
    pub(super) fn clear(&mut self) {
        if self.cleared {
            return;
        }
        self.cleared = true;
        match vacate(&self.family()) {
            Ok(()) => self.lease.remove(),
            Err(why) => {
                let profile = self.profile().display();
                tracing::warn!(%profile, %why, "a profile could not be removed; the next start tries again");
            }
        }
    }

    /// Leaves everything as it is, for a later start to clear: somebody is still in there.
    pub(super) fn abandon(&mut self) {
        self.cleared = true;
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Removes what a browser that is gone left in its profile, and the profile itself if it was temporary.
///
/// In a given folder that is only what its lock says to be ours: a user's browser may run there by now.
pub(super) fn vacate(family: &Family) -> io::Result<()> {
    let profile = &family.profile;
    let ours = || {
        let leader = family.leader.map(|leader| leader.pid);
        leader.is_some() && singleton::holder(profile).map(|holder| holder.pid) == leader
    };
    if family.temporary || ours() {
        singleton::remove(profile);
        port::forget(profile).ok();
    }
    if family.temporary { remove_tree(profile) } else { Ok(()) }
}

fn remove_tree(folder: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(why) if why.kind() == io::ErrorKind::NotFound && !folder.exists() => return Ok(()),
            Err(why) if tries == TRIES => return Err(why),
            Err(_) => end::pause(PAUSE),
        }
        tries += 1;
    }
}

/// A folder that a user named: made if missing, checked, and claimed. Chromium does not refuse a
/// folder that it cannot write: it shows a message box, takes another one, and is never found.
fn given(folder: &Path) -> Result<(PathBuf, Option<File>), LaunchError> {
    let failed = |why: io::Error| bad(folder, &why.to_string());
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let whole = folder.canonicalize().map_err(failed)?;
    if whole.to_str().is_none() {
        return Err(bad(folder, "the path must be valid UTF-8"));
    }
    access(&whole, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|why| bad(folder, &format!("it must be readable and writable: {why}")))?;
    let claim = File::open(&whole).map_err(failed)?;
    match claim.try_lock() {
        Ok(()) => Ok((whole, Some(claim))),
        Err(TryLockError::WouldBlock) => {
            let pid = singleton::holder(&whole).map(|holder| holder.pid);
            Err(LaunchError::ProfileInUse { folder: whole, pid })
        }
        // A file system without locks: Chromium's own lock must do.
        Err(TryLockError::Error(_)) => Ok((whole, None)),
    }
}

fn bad(folder: &Path, why: &str) -> LaunchError {
    LaunchError::ProfileFolder { folder: folder.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget::new(Duration::from_mins(1))
    }

    fn count(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[tokio::test]
    async fn dropping_a_home_leaves_nothing() {
        let state = tempfile::tempdir().unwrap();
        let home = Home::prepare(state.path(), &Profile::Temporary, &budget()).await.unwrap();
        std::fs::write(home.profile().join("Cookies"), "").unwrap();
        assert_eq!(count(&state.path().join("leases")), 1);
        drop(home);
        assert_eq!((count(&state.path().join("leases")), count(&state.path().join("profiles"))), (0, 0));
    }

    #[tokio::test]
    async fn an_abandoned_home_stays_for_a_later_start() {
        let state = tempfile::tempdir().unwrap();
        let mut home = Home::prepare(state.path(), &Profile::Temporary, &budget()).await.unwrap();
        home.abandon();
        drop(home);
        assert_eq!((count(&state.path().join("leases")), count(&state.path().join("profiles"))), (1, 1));
    }

    #[tokio::test]
    async fn a_given_folder_is_made_claimed_once_cleaned_and_kept() {
        let root = tempfile::tempdir().unwrap();
        let (state, folder) = (root.path().join("state"), root.path().join("a/b"));
        let profile = Profile::Folder(folder.clone());
        let home = Home::prepare(&state, &profile, &budget()).await.unwrap();
        std::fs::write(folder.join("Preferences"), "").unwrap();
        let other = Home::prepare(&root.path().join("other"), &profile, &budget()).await.unwrap_err();
        assert_eq!(other.kind(), "profile_in_use");
        drop(home);
        assert_eq!(count(&folder), 1);
        assert_eq!(count(&state.join("leases")), 0);
        std::fs::write(folder.join("DevToolsActivePort"), "").unwrap();
        drop(Home::prepare(&state, &profile, &budget()).await.unwrap());
        assert_eq!(count(&folder), 1, "what an earlier browser said is forgotten");
    }

    #[tokio::test]
    async fn what_is_no_folder_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        let why = Home::prepare(root.path(), &Profile::Folder(file.clone()), &budget()).await.unwrap_err();
        assert_eq!(why.kind(), "profile_folder");
        let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"odd\xff");
        let odd = Profile::Folder(root.path().join(odd));
        assert_eq!(Home::prepare(root.path(), &odd, &budget()).await.unwrap_err().kind(), "profile_folder");
        let why = Home::prepare(&file, &Profile::Temporary, &budget()).await.unwrap_err();
        assert_eq!(why.kind(), "state_dir");
    }
}
