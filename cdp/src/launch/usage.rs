//! What Chromium's processes use.

use super::proc;

/// What the processes of some Chromiums use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many there are.
    pub processes: u32,
    /// Memory that each has for itself. What they share is left out: counted with each, it would be
    /// counted many times.
    pub memory_bytes: u64,
}

/// Reads it for the browsers with these processes; each has its children in its group.
pub fn usage(browsers: &[u32]) -> Usage {
    if browsers.is_empty() {
        return Usage::default();
    }
    let all = proc::all();
    let theirs = all.iter().filter(|seen| browsers.contains(&seen.group) && !seen.zombie);
    theirs.fold(Usage::default(), |sum, seen| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", seen.id.pid)).unwrap_or_default();
        Usage { processes: sum.processes + 1, memory_bytes: sum.memory_bytes + anonymous(&status) }
    })
}

/// Bytes, from a `/proc/<pid>/status`.
fn anonymous(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_read_and_a_torn_line_gives_nothing() {
        assert_eq!(anonymous("Name:\tx\nRssAnon:\t     120 kB\nRssFile:\t 7 kB\n"), 120 * 1024);
        for torn in ["", "RssAnon:", "RssAnon:\t12", "RssAnon:\tx kB"] {
            assert_eq!(anonymous(torn), 0, "{torn:?}");
        }
    }

    #[test]
    fn only_the_groups_that_are_named_count() {
        assert_eq!(usage(&[]), Usage::default());
        let group = proc::seen(std::process::id()).unwrap().group;
        let ours = usage(&[group]);
        assert!(ours.processes >= 1 && ours.memory_bytes > 0, "{ours:?}");
    }
}
