//! Leases: what a later start needs to know in order to end what a killed service left.
//!
//! A lease is a file in the state folder, written before anything that it describes exists and
//! removed after all of it is gone. Its owner holds a lock on the file for as long as it lives:
//! the kernel drops the lock with the process, in every container, and no number is reused.
//! Where a file system has no locks, the owner's id and start time tell.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::error::LaunchError;
use super::proc::{self, Identity};
use super::{machine, options::Profile};

/// What a lease is called while it is being written.
const UNFINISHED: &str = "new-";
/// How leases end.
const SUFFIX: &str = ".json";

/// The folders below a state folder.
#[derive(Clone, Debug)]
pub(super) struct StateDir {
    leases: PathBuf,
    profiles: PathBuf,
}

/// What a lease says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The service that launched.
    pub(super) owner: Identity,
    /// The boot and the pid namespace in which the numbers mean something.
    pub(super) boot: String,
    pub(super) pid_namespace: String,
    /// The browser, once it is started.
    pub(super) chromium: Option<Identity>,
    pub(super) profile: PathBuf,
    pub(super) temporary: bool,
}

/// A lease that this process holds.
#[derive(Debug)]
pub(super) struct Lease {
    id: String,
    state: StateDir,
    record: Record,
    /// Holds the lock.
    file: File,
}

/// A lease whose owner is gone, locked against other reapers.
#[derive(Debug)]
pub(super) struct Abandoned {
    pub(super) id: String,
    /// None: the file cannot be read.
    pub(super) record: Option<Record>,
    path: PathBuf,
    _lock: File,
}

impl StateDir {
    /// The folders below `root`, which need not exist.
    pub(super) fn at(root: &Path) -> std::io::Result<Self> {
        let root = std::path::absolute(root)?;
        Ok(Self { leases: root.join("leases"), profiles: root.join("profiles") })
    }

    /// Makes them, readable by their owner only: a profile holds cookies.
    fn create(&self) -> Result<(), LaunchError> {
        for folder in [&self.leases, &self.profiles] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|why| LaunchError::StateDir { path: folder.clone(), why: why.to_string() })?;
        }
        Ok(())
    }

    /// The temporary profile of a lease.
    pub(super) fn profile(&self, id: &str) -> PathBuf {
        self.profiles.join(id)
    }

    fn lease(&self, id: &str) -> PathBuf {
        self.leases.join(format!("{id}{SUFFIX}"))
    }

    /// The ids of the temporary profiles that exist.
    pub(super) fn profile_ids(&self) -> Vec<String> {
        let folders = names(&self.profiles).filter(|name| self.profile(name).is_dir());
        folders.filter(|name| is_id(name)).collect()
    }

    /// The ids of the leases that exist.
    pub(super) fn lease_ids(&self) -> Vec<String> {
        names(&self.leases)
            .filter_map(|name| name.strip_suffix(SUFFIX).filter(|id| is_id(id)).map(str::to_owned))
            .collect()
    }

    /// Whether this lease exists.
    pub(super) fn has_lease(&self, id: &str) -> bool {
        self.lease(id).exists()
    }

    /// Leases whose writer died while writing. A live one needs far less than a minute for it.
    pub(super) fn unfinished(&self) -> Vec<PathBuf> {
        let old = |path: &PathBuf| {
            let age =
                path.metadata().and_then(|facts| facts.modified()).ok().and_then(|time| time.elapsed().ok());
            age.is_some_and(|age| age.as_secs() > 60)
        };
        let new = names(&self.leases).filter(|name| name.starts_with(UNFINISHED));
        new.map(|name| self.leases.join(name)).filter(old).collect()
    }

    /// This lease, if its owner is gone.
    pub(super) fn abandoned(&self, id: &str) -> Option<Abandoned> {
        let path = self.lease(id);
        let file = File::open(&path).ok()?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return None;
        }
        // Replaced or removed since it was opened: somebody is at work on it.
        let (held, there) = (file.metadata().ok()?, path.metadata().ok()?);
        if (held.dev(), held.ino()) != (there.dev(), there.ino()) {
            return None;
        }
        let record: Option<Record> =
            std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let owned = record.as_ref().is_some_and(|record| record.is_from_here() && proc::runs(record.owner));
        (!owned).then(|| Abandoned { id: id.to_owned(), record, path, _lock: file })
    }
}

impl Record {
    /// Whether the numbers in it are numbers of this boot and this pid namespace.
    pub(super) fn is_from_here(&self) -> bool {
        self.boot == machine::boot() && self.pid_namespace == machine::pid_namespace()
    }
}

impl Lease {
    /// Writes a lease for a profile that does not exist yet, or for a given folder.
    pub(super) fn write(root: &Path, profile: &Profile) -> Result<Self, LaunchError> {
        let failed =
            |why: std::io::Error| LaunchError::StateDir { path: root.to_owned(), why: why.to_string() };
        let state = StateDir::at(root).map_err(failed)?;
        state.create()?;
        let draft = draft(&state).map_err(failed)?;
        let id = draft
            .path()
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix(UNFINISHED));
        let id = id.unwrap_or_default().to_owned();
        let (profile, temporary) = match profile {
            Profile::Temporary => (state.profile(&id), true),
            Profile::Folder(folder) => (folder.clone(), false),
        };
        let me = std::process::id();
        let record = Record {
            owner: proc::identity(me).unwrap_or(Identity { pid: me, started: 0 }),
            boot: machine::boot(),
            pid_namespace: machine::pid_namespace(),
            chromium: None,
            profile,
            temporary,
        };
        let file = fill(draft, &record)
            .and_then(|draft| draft.persist_noclobber(state.lease(&id)).map_err(|why| why.error))
            .map_err(failed)?;
        Ok(Self { id, state, record, file })
    }

    /// Adds the browser, now that it is started. The file is replaced as a whole.
    pub(super) fn complete(&mut self, chromium: Identity) -> std::io::Result<()> {
        self.record.chromium = Some(chromium);
        let draft = fill(draft(&self.state)?, &self.record)?;
        self.file = draft.persist(self.state.lease(&self.id)).map_err(|why| why.error)?;
        Ok(())
    }

    /// Removes the file; the lock goes with the value.
    pub(super) fn remove(&self) {
        std::fs::remove_file(self.state.lease(&self.id)).ok();
    }

    /// Its id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// What it says.
    pub(super) fn record(&self) -> &Record {
        &self.record
    }
}

impl Abandoned {
    /// Removes the file.
    pub(super) fn remove(&self) {
        std::fs::remove_file(&self.path).ok();
    }
}

fn draft(state: &StateDir) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(UNFINISHED).rand_bytes(12).tempfile_in(&state.leases)
}

/// Locked before it gets its name, so a lease with a living owner is never seen unlocked.
fn fill(mut draft: NamedTempFile, record: &Record) -> std::io::Result<NamedTempFile> {
    // Some network file systems have no locks; then the record itself must do.
    draft.as_file().lock().ok();
    draft.write_all(&serde_json::to_vec(record)?)?;
    draft.flush()?;
    Ok(draft)
}

/// Ids are what [`draft`] makes; other files in the folders are not ours.
fn is_id(name: &str) -> bool {
    name.len() == 12 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(root: &Path) -> StateDir {
        StateDir::at(root).unwrap()
    }

    /// The lease as it is when its owner was killed: on disk, unlocked, with an owner that is gone.
    fn abandon(mut lease: Lease) -> String {
        lease.record.owner.started += 1;
        lease.complete(Identity { pid: 1, started: 1 }).unwrap();
        lease.id.clone()
    }

    #[test]
    fn a_lease_is_there_before_its_profile_and_only_its_owner_may_read() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let lease = Lease::write(root.path(), &Profile::Temporary).unwrap();
        let state = state(root.path());
        assert_eq!(state.lease_ids(), [lease.id()]);
        assert_eq!(lease.record().profile, state.profile(lease.id()));
        assert!(!lease.record().profile.exists() && lease.record().temporary);
        assert_eq!(state.profiles.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        lease.remove();
        assert!(state.lease_ids().is_empty());
    }

    #[test]
    fn a_held_lease_is_not_abandoned_before_and_after_its_completion() {
        let root = tempfile::tempdir().unwrap();
        let mut lease = Lease::write(root.path(), &Profile::Folder("/given".into())).unwrap();
        let state = state(root.path());
        assert!(state.abandoned(lease.id()).is_none());
        // Not even if the record named somebody who is gone: the lock alone is enough.
        lease.record.owner.started += 1;
        lease.complete(Identity { pid: 5, started: 50 }).unwrap();
        assert!(state.abandoned(lease.id()).is_none());
        assert_eq!(state.lease_ids().len(), 1);
    }

    #[test]
    fn a_living_owner_keeps_its_lease_without_a_lock_too() {
        let root = tempfile::tempdir().unwrap();
        let lease = Lease::write(root.path(), &Profile::Temporary).unwrap();
        let id = lease.id().to_owned();
        drop(lease);
        assert!(state(root.path()).abandoned(&id).is_none());
    }

    #[test]
    fn an_abandoned_lease_says_what_it_said_and_is_held_by_one() {
        let root = tempfile::tempdir().unwrap();
        let id = abandon(Lease::write(root.path(), &Profile::Temporary).unwrap());
        let state = state(root.path());
        let first = state.abandoned(&id).unwrap();
        let record = first.record.clone().unwrap();
        assert_eq!(record.chromium, Some(Identity { pid: 1, started: 1 }));
        assert!(record.is_from_here());
        assert!(state.abandoned(&id).is_none(), "a second reaper keeps off");
        first.remove();
        drop(first);
        assert!(!state.has_lease(&id));
    }

    #[test]
    fn a_lease_of_another_boot_or_container_is_judged_by_its_lock_alone() {
        let root = tempfile::tempdir().unwrap();
        let mut lease = Lease::write(root.path(), &Profile::Temporary).unwrap();
        lease.record.pid_namespace = "pid:[1]".into();
        lease.complete(Identity { pid: 1, started: 1 }).unwrap();
        let (state, id) = (state(root.path()), lease.id().to_owned());
        assert!(state.abandoned(&id).is_none());
        drop(lease);
        assert!(!state.abandoned(&id).unwrap().record.unwrap().is_from_here());
    }

    #[test]
    fn torn_and_unreadable_leases_are_abandoned_without_a_record() {
        let root = tempfile::tempdir().unwrap();
        let id = abandon(Lease::write(root.path(), &Profile::Temporary).unwrap());
        let state = state(root.path());
        let whole = std::fs::read(state.lease(&id)).unwrap();
        for text in [&whole[..whole.len() / 2], b"", b"[]", b"{}", b"\xff\xfe"] {
            std::fs::write(state.lease(&id), text).unwrap();
            assert_eq!(state.abandoned(&id).unwrap().record, None);
        }
    }

    #[test]
    fn a_draft_is_given_up_only_when_it_is_old() {
        use std::time::{Duration, SystemTime};
        let root = tempfile::tempdir().unwrap();
        let state = state(root.path());
        state.create().unwrap();
        let draft = draft(&state).unwrap();
        assert!(state.unfinished().is_empty() && state.lease_ids().is_empty());
        draft.as_file().set_modified(SystemTime::now() - Duration::from_mins(2)).unwrap();
        assert_eq!(state.unfinished(), [draft.path()]);
    }

    #[test]
    fn foreign_files_in_the_folders_are_not_ours() {
        let root = tempfile::tempdir().unwrap();
        let state = state(root.path());
        state.create().unwrap();
        for name in ["notes.json", ".json", "abcdefghijk/.json", "short"] {
            std::fs::write(state.leases.join(name.replace('/', "-")), "{}").unwrap();
        }
        std::fs::create_dir(state.profiles.join("my profile")).unwrap();
        assert!(
            state.lease_ids().is_empty() && state.profile_ids().is_empty() && state.unfinished().is_empty()
        );
    }
}
