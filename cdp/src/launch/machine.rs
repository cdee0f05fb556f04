//! The facts of this machine that a launch depends on.

use std::path::Path;

/// Below this much free shared memory, large pages crash their renderers.
const SMALL_SHM: u64 = 512 * 1024 * 1024;

/// What the flags depend on, gathered once, so that choosing them stays a pure function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// Effective user 0: Chromium refuses to build its sandbox.
    pub(super) root: bool,
    /// Free bytes in `/dev/shm`; none where there is no such place.
    pub(super) shm_free: Option<u64>,
    /// `DISPLAY` or `WAYLAND_DISPLAY` is set.
    pub(super) display: bool,
}

impl Machine {
    /// Looks at the machine as it is now.
    pub(super) fn look() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            root: rustix::process::geteuid().is_root(),
            shm_free: free(Path::new("/dev/shm")),
            display: set("DISPLAY") || set("WAYLAND_DISPLAY"),
        }
    }

    /// Whether Chromium must keep its shared memory elsewhere. Containers give 64 MiB by default.
    pub(super) fn shm_is_small(&self) -> bool {
        self.shm_free.is_none_or(|free| free < SMALL_SHM)
    }
}

/// Free bytes on the disk of a folder, where it can be told.
pub(super) fn free(folder: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// The name of this host as Chromium writes it into a profile's lock.
pub(super) fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// This boot: process ids and start times mean nothing in another one.
pub(super) fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// This pid namespace: process ids mean nothing in another one (containers may share a state folder).
pub(super) fn pid_namespace() -> String {
    std::fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shared_memory_is_below_512_mib_or_missing() {
        let with = |shm_free| Machine { root: false, shm_free, display: false }.shm_is_small();
        assert!(with(Some(64 << 20)));
        assert!(with(Some((512 << 20) - 1)));
        assert!(!with(Some(512 << 20)));
        assert!(with(None));
    }
}
