//! Reading `/proc`: who runs, since when, in which group, under which command line.

use serde::{Deserialize, Serialize};

/// A process that cannot be mistaken for another: ids are reused, a start time with them is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    /// The process id.
    pub(super) pid: u32,
    /// When it started, in clock ticks since boot.
    pub(super) started: u64,
}

/// One process as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) id: Identity,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// It has ended, with all its threads, and waits for its parent to notice. While threads are
    /// left, its children are not given to anybody else yet.
    pub(super) zombie: bool,
    /// Its arguments, each ended by a NUL. Chromium's children join theirs with blanks.
    pub(super) command: Vec<u8>,
}

/// Every process that can be seen.
pub(super) fn all() -> Vec<Seen> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| seen(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// This process, if it is there, ended or not.
pub(super) fn seen(pid: u32) -> Option<Seen> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    parse_stat(&String::from_utf8_lossy(&stat), command)
}

/// Whether this process is stopped, as by SIGSTOP.
pub(super) fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    String::from_utf8_lossy(&stat)
        .rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

/// The identity of the process that has this id now.
pub(super) fn identity(pid: u32) -> Option<Identity> {
    seen(pid).map(|seen| seen.id)
}

/// Whether exactly this process is still running.
pub(super) fn runs(id: Identity) -> bool {
    seen(id.pid).is_some_and(|seen| seen.id == id && !seen.zombie)
}

/// Reads a `/proc/<pid>/stat`. The name stands in parentheses and may itself hold blanks,
/// parentheses and line ends, so the fields are counted from the last parenthesis on.
fn parse_stat(text: &str, command: Vec<u8>) -> Option<Seen> {
    let pid = text.split_once(' ')?.0.parse().ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let state = *fields.first()?;
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Seen {
        id: Identity { pid, started: number(19)? },
        parent: u32::try_from(number(1)?).ok()?,
        group: u32::try_from(number(2)?).ok()?,
        zombie: matches!(state, "Z" | "X" | "x") && number(17)? <= 1,
        command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "4194304 1 0 0 0 4 2 0 0 20 0 1 0 987654 223 1 18446744073709551615 1 1 0";

    #[test]
    fn names_may_hold_blanks_and_parentheses() {
        for name in ["chromium", "Web Content", "a) S 1 1 1 (b", "((", "x\ny)", ""] {
            let seen = parse_stat(&format!("4711 ({name}) S 12 4700 4700 0 -1 {REST}"), Vec::new()).unwrap();
            assert_eq!(seen.id, Identity { pid: 4711, started: 987_654 }, "{name:?}");
            assert_eq!((seen.parent, seen.group, seen.zombie), (12, 4700, false), "{name:?}");
        }
    }

    #[test]
    fn the_dead_are_marked_and_torn_lines_give_nothing() {
        let line = format!("1 (x) Z 0 1 1 0 -1 {REST}");
        assert!(parse_stat(&line, Vec::new()).unwrap().zombie);
        let threads = line.replace("20 0 1 0 987654", "20 0 3 0 987654");
        assert!(
            !parse_stat(&threads, Vec::new()).unwrap().zombie,
            "its first thread has ended, others have not"
        );
        for cut in 0..line.find("987654").unwrap() {
            assert_eq!(parse_stat(&line[..cut], Vec::new()), None, "{cut}");
        }
        assert_eq!(parse_stat("", Vec::new()), None);
    }

    #[test]
    fn this_process_is_there() {
        let me = seen(std::process::id()).unwrap();
        assert!(runs(me.id) && !me.command.is_empty());
        assert!(all().iter().any(|other| other.id == me.id));
        assert!(
            !runs(Identity { started: me.id.started + 1, ..me.id }),
            "another process with the same number"
        );
    }
}
