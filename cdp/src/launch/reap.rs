//! Ending what a killed service left, at the start of the next one.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::family::{Family, names_profile};
use super::lease::{Abandoned, StateDir};
use super::{end, home, proc};

/// What a reaping did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reaped {
    /// Processes that were ended.
    pub ended: Vec<u32>,
    /// Temporary profiles that were removed.
    pub removed: Vec<PathBuf>,
    /// Profiles that could not be cleared, because a process would not end or a file could not be
    /// removed. The next reaping tries again.
    pub kept: Vec<PathBuf>,
}

/// What a reaping would do.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Leases whose owner is gone, each with the profile that it is about.
    pub(super) leases: Vec<(Abandoned, Family)>,
    /// Temporary profiles that no lease is about.
    pub(super) orphans: Vec<PathBuf>,
}

/// Ends the browsers of services that are gone, and removes their temporary profiles.
///
/// For the start of a service. A service that lives keeps everything of its own, also one with
/// the same state folder; so does every process that cannot be proven to be a left-over, and a
/// given folder stays, whatever happens. It never fails: what it could not do is in
/// [`Reaped::kept`].
pub async fn reap(state_dir: &Path) -> Reaped {
    let root = state_dir.to_owned();
    let work = tokio::task::spawn_blocking(move || reap_now(&root));
    let reaped = work.await.unwrap_or_default();
    if reaped != Reaped::default() {
        let Reaped { ended, removed, kept } = &reaped;
        tracing::info!(?ended, ?removed, ?kept, "cleared what an earlier service left");
    }
    reaped
}

fn reap_now(root: &Path) -> Reaped {
    let Ok(state) = StateDir::at(root) else { return Reaped::default() };
    let mut reaped = Reaped::default();
    let survey = survey(&state);
    for (lease, family) in survey.leases {
        let ended = end::end(&family);
        reaped.ended.extend(ended.killed);
        let existed = family.temporary && family.profile.exists();
        if ended.left.is_empty() && home::vacate(&family).is_ok() {
            lease.remove();
            reaped.removed.extend(existed.then_some(family.profile));
        } else {
            reaped.kept.push(family.profile);
        }
    }
    for profile in survey.orphans {
        let family = Family { lease: String::new(), profile, temporary: true, leader: None };
        let done = home::vacate(&family).is_ok();
        if done { &mut reaped.removed } else { &mut reaped.kept }.push(family.profile);
    }
    for draft in state.unfinished() {
        std::fs::remove_file(draft).ok();
    }
    reaped
}

/// Finds what is left over.
pub(super) fn survey(state: &StateDir) -> Survey {
    // Profiles first: a lease is written before its profile and removed after it, so one that is
    // seen now and has no lease afterwards has no owner.
    let profiles = state.profile_ids();
    let abandoned = state.lease_ids().into_iter().filter_map(|id| state.abandoned(&id));
    let leases = abandoned
        .map(|lease| (family(state, &lease), lease))
        .map(|(family, lease)| (lease, family))
        .collect();
    let orphans = profiles.into_iter().filter(|id| !state.has_lease(id)).map(|id| state.profile(&id));
    Survey { leases, orphans: orphans.filter(|profile| !inhabited(profile)).collect() }
}

fn family(state: &StateDir, lease: &Abandoned) -> Family {
    let own = state.profile(&lease.id);
    match &lease.record {
        // It cannot be read. If it was about a temporary profile, that has the name of the lease.
        None => Family { lease: lease.id.clone(), profile: own, temporary: true, leader: None },
        Some(record) => Family {
            lease: lease.id.clone(),
            profile: record.profile.clone(),
            // Only a folder in our own place is ever removed, whatever a lease says.
            temporary: record.temporary && record.profile == own,
            leader: record.chromium.filter(|_| record.is_from_here()),
        },
    }
}

/// Somebody removed the lease of a browser that lives; its owner is not known, so it may live too.
fn inhabited(profile: &Path) -> bool {
    proc::all().iter().any(|seen| !seen.zombie && names_profile(&seen.command, profile))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::lease::Lease;
    use crate::launch::options::Profile;
    use crate::launch::proc::Identity;

    fn state(root: &Path) -> StateDir {
        StateDir::at(root).unwrap()
    }

    /// Writes a lease as it is found when its owner was killed, and gives its id.
    fn left(root: &Path, profile: &Profile, change: impl Fn(&mut serde_json::Value)) -> String {
        let lease = Lease::write(root, profile).unwrap();
        let id = lease.id().to_owned();
        let file = root.join("leases").join(format!("{id}.json"));
        drop(lease);
        let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        record["owner"]["started"] = 1.into();
        change(&mut record);
        std::fs::write(&file, record.to_string()).unwrap();
        id
    }

    #[tokio::test]
    async fn nothing_there_is_nothing_done() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(reap(&root.path().join("missing")).await, Reaped::default());
        assert!(!root.path().join("missing").exists());
    }

    #[tokio::test]
    async fn temporary_profiles_go_and_given_folders_stay() {
        let root = tempfile::tempdir().unwrap();
        let given = tempfile::tempdir().unwrap();
        std::fs::write(given.path().join("Cookies"), "").unwrap();
        let id = left(root.path(), &Profile::Temporary, |_| ());
        left(root.path(), &Profile::Folder(given.path().to_owned()), |_| ());
        let profile = state(root.path()).profile(&id);
        std::fs::create_dir(&profile).unwrap();
        std::fs::write(profile.join("Cookies"), "").unwrap();
        let reaped = reap(root.path()).await;
        assert_eq!(reaped, Reaped { removed: vec![profile], ..Reaped::default() });
        assert!(given.path().join("Cookies").exists());
        assert!(state(root.path()).lease_ids().is_empty());
    }

    #[tokio::test]
    async fn a_lease_that_points_elsewhere_removes_nothing_there() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        left(root.path(), &Profile::Temporary, |record| {
            record["profile"] = elsewhere.path().to_str().unwrap().into();
        });
        assert_eq!(reap(root.path()).await, Reaped::default());
        assert!(elsewhere.path().exists());
    }

    #[tokio::test]
    async fn a_reused_process_id_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let me = proc::identity(std::process::id()).unwrap();
        let parent = proc::seen(me.pid).unwrap().parent;
        left(root.path(), &Profile::Temporary, |record| {
            record["chromium"] = serde_json::to_value(Identity { pid: parent, started: 1 }).unwrap();
        });
        assert_eq!(reap(root.path()).await, Reaped::default());
    }

    #[tokio::test]
    async fn torn_leases_and_profiles_without_one_are_cleared() {
        let root = tempfile::tempdir().unwrap();
        let id = left(root.path(), &Profile::Temporary, |_| ());
        let state = state(root.path());
        std::fs::write(root.path().join("leases").join(format!("{id}.json")), "{\"owner\":").unwrap();
        let profiles = [state.profile(&id), state.profile("abcdefghijkl")];
        for profile in &profiles {
            std::fs::create_dir(profile).unwrap();
        }
        std::fs::create_dir(state.profile("somebody else's")).unwrap();
        let mut removed = reap(root.path()).await.removed;
        removed.sort();
        let mut wanted = profiles.to_vec();
        wanted.sort();
        assert_eq!(removed, wanted);
        assert!(state.lease_ids().is_empty() && state.profile("somebody else's").exists());
    }

    #[tokio::test]
    async fn what_lives_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let lease = Lease::write(root.path(), &Profile::Temporary).unwrap();
        std::fs::create_dir(&lease.record().profile).unwrap();
        assert_eq!(reap(root.path()).await, Reaped::default());
        assert!(lease.record().profile.exists());
    }
}
