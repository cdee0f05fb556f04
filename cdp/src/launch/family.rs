//! Which processes belong to one launch.
//!
//! A process is taken for ours only on proof: it has the id *and* the start time that the lease
//! names, or its command line carries our lease *and* our profile as separate arguments (a
//! `grep` for them has them in one), or it is a child of Chromium (`--type=`) on a temporary
//! profile, whose name nobody else has. A group is ours when a proven process is in it. On a
//! folder that a user gave, a user's own browser may run later: there the profile alone proves
//! nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::flags::{LEASE, USER_DATA_DIR};
use super::proc::{Identity, Seen};

/// One launch, as far as its processes can be told by it.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// The id of the lease.
    pub(super) lease: String,
    /// The profile that they were started on.
    pub(super) profile: PathBuf,
    /// Whether the profile is ours alone.
    pub(super) temporary: bool,
    /// The process that was started, leader of its group; unknown for a moment around its start.
    pub(super) leader: Option<Identity>,
}

impl Family {
    /// Those of `all` that are running and ours; never the process `me`, nor its group.
    pub(super) fn pick<'a>(&self, all: &'a [Seen], me: u32) -> Vec<&'a Seen> {
        let groups = self.groups(all, me);
        let ours = |seen: &&Seen| {
            groups.contains(&seen.group) || self.is_browser(seen) || (self.temporary && self.is_child(seen))
        };
        all.iter().filter(|seen| !seen.zombie && seen.id.pid != me).filter(ours).collect()
    }

    fn groups(&self, all: &[Seen], me: u32) -> BTreeSet<u32> {
        let leader = self.leader.map(|leader| leader.pid);
        let own = |seen: &&Seen| seen.group == seen.id.pid || Some(seen.group) == leader;
        let mut groups: BTreeSet<u32> =
            all.iter().filter(|seen| self.is_browser(seen)).filter(own).map(|seen| seen.group).collect();
        // The leader is gone, but its children hold on to the group, and so to its number.
        groups.extend(
            all.iter()
                .filter(|seen| Some(seen.group) == leader && self.is_child(seen))
                .map(|seen| seen.group),
        );
        if let Some(mine) = all.iter().find(|seen| seen.id.pid == me) {
            groups.remove(&mine.group);
        }
        groups
    }

    fn is_browser(&self, seen: &Seen) -> bool {
        let has = |flag: &str, value: &str| {
            seen.command
                .split(|byte| *byte == 0)
                .any(|argument| argument.strip_prefix(flag.as_bytes()) == Some(value.as_bytes()))
        };
        let named =
            || has(LEASE, &self.lease) && self.profile.to_str().is_some_and(|dir| has(USER_DATA_DIR, dir));
        Some(seen.id) == self.leader || named()
    }

    fn is_child(&self, seen: &Seen) -> bool {
        contains(&seen.command, b"--type=") && names_profile(&seen.command, &self.profile)
    }
}

/// Whether a command line says `--user-data-dir=` with exactly this folder, as an argument of its
/// own or in the title that Chromium gives its children.
pub(super) fn names_profile(command: &[u8], profile: &Path) -> bool {
    let Some(profile) = profile.to_str().filter(|profile| !profile.is_empty()) else { return false };
    let wanted = format!("{USER_DATA_DIR}{profile}").into_bytes();
    command
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, part)| *part == wanted)
        .any(|(at, part)| matches!(command.get(at + part.len()), None | Some(0 | b' ')))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: u32 = 1;
    const DIR: &str = "/state/profiles/abc";

    fn family(temporary: bool, leader: Option<Identity>) -> Family {
        Family { lease: "abc".into(), profile: DIR.into(), temporary, leader }
    }

    fn seen(pid: u32, group: u32, command: &str) -> Seen {
        Seen {
            id: Identity { pid, started: u64::from(pid) * 10 },
            parent: 1,
            group,
            zombie: false,
            command: command.into(),
        }
    }

    fn browser(pid: u32) -> Seen {
        seen(pid, pid, &format!("/usr/bin/chromium\0--user-data-dir={DIR}\0--tabvisor-lease=abc\0"))
    }

    fn renderer(pid: u32, group: u32) -> Seen {
        seen(pid, group, &format!("/usr/bin/chromium --type=renderer --user-data-dir={DIR} --lang=en\0"))
    }

    fn picked(family: &Family, all: &[Seen]) -> Vec<u32> {
        family.pick(all, ME).iter().map(|seen| seen.id.pid).collect()
    }

    #[test]
    fn the_browser_its_group_and_strayed_children_are_ours() {
        let all = [
            seen(ME, ME, "tabvisor\0"),
            browser(10),
            seen(11, 10, "zygote\0"),
            renderer(12, 12),
            seen(13, 13, "vim\0"),
        ];
        assert_eq!(picked(&family(true, None), &all), [10, 11, 12]);
    }

    #[test]
    fn orphans_hold_on_to_the_group_of_a_dead_leader() {
        let gone = Identity { pid: 10, started: 100 };
        let all = [seen(11, 10, "some helper\0"), renderer(12, 10)];
        assert_eq!(picked(&family(false, Some(gone)), &all), [11, 12]);
        assert_eq!(picked(&family(false, Some(gone)), &all[..1]), [0; 0], "the number alone proves nothing");
    }

    #[test]
    fn a_reused_number_is_not_ours() {
        let gone = Identity { pid: 10, started: 99 };
        assert_eq!(
            picked(&family(true, Some(gone)), &[seen(10, 10, "bash\0"), seen(11, 10, "make\0")]),
            [0; 0]
        );
        let same = Identity { pid: 10, started: 100 };
        assert_eq!(picked(&family(true, Some(same)), &[seen(10, 10, "sh\0"), seen(11, 10, "x\0")]), [10, 11]);
    }

    #[test]
    fn people_who_name_the_profile_are_not_ours() {
        let all = [
            seen(20, 20, &format!("pgrep\0-f\0--user-data-dir={DIR}\0")),
            seen(21, 21, &format!("grep\0--user-data-dir={DIR} --tabvisor-lease=abc\0")),
            seen(22, 22, &format!("tail\0-f\0{DIR}/chrome_debug.log\0")),
            seen(23, 23, &format!("/usr/bin/chromium --type=renderer --user-data-dir={DIR}d\0")),
            seen(24, 24, &format!("/usr/bin/chromium\0--user-data-dir={DIR}\0--tabvisor-lease=other\0")),
        ];
        assert_eq!(picked(&family(true, None), &all), [0; 0]);
    }

    #[test]
    fn a_users_browser_on_a_given_folder_is_not_ours() {
        let users = [seen(30, 30, &format!("/usr/bin/chromium\0--user-data-dir={DIR}\0")), renderer(31, 30)];
        assert_eq!(picked(&family(false, Some(Identity { pid: 10, started: 100 })), &users), [0; 0]);
        assert_eq!(
            picked(&family(false, None), &[browser(10), renderer(11, 10)]),
            [10, 11],
            "ours is, by its lease"
        );
    }

    #[test]
    fn never_ourselves_nor_our_group_nor_the_dead() {
        let mut dead = browser(10);
        dead.zombie = true;
        let mine = Seen { id: Identity { pid: ME, started: 1 }, ..browser(ME) };
        assert_eq!(picked(&family(true, None), &[mine, seen(5, ME, "shell\0"), dead]), [0; 0]);
        let leader = Identity { pid: 10, started: 100 };
        let zombie = Seen { zombie: true, ..seen(10, 10, "") };
        assert_eq!(
            picked(&family(true, Some(leader)), &[zombie, seen(11, 10, "x\0")]),
            [11],
            "a dead leader still proves its group"
        );
    }

    #[test]
    fn profiles_are_compared_to_their_end() {
        assert!(names_profile(b"x\0--user-data-dir=/a b\0", Path::new("/a b")));
        assert!(names_profile(b"x --user-data-dir=/a", Path::new("/a")));
        assert!(!names_profile(b"x --user-data-dir=/ab", Path::new("/a")));
        assert!(!names_profile(b"x --user-data-dir=", Path::new("")));
    }
}
