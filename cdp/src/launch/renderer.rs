//! Ending one renderer of a browser of ours.

use super::end;
use super::proc::{self, Seen};

/// Sends SIGKILL to the process `pid` if it is a renderer of the browser whose process is `browser`;
/// whether it was. What a page is stuck in does not matter, nor that the process is stopped.
///
/// Proof is its group, which a launch leads alone, and its command line; ids are reused, so the
/// process that was looked at is the one that is hit.
pub fn kill_renderer(browser: u32, pid: u32) -> bool {
    let Some(seen) = proc::seen(pid).filter(|seen| is_renderer_of(browser, seen)) else { return false };
    end::kill(seen.id);
    true
}

/// The renderers of the browser whose process is `browser` that are stopped. Chromium does not tell which
/// page such a one renders: the trace that would takes ten seconds to begin (measured).
pub fn stopped_renderers(browser: u32) -> Vec<u32> {
    let all = proc::all();
    let renderers = all.iter().filter(|seen| is_renderer_of(browser, seen)).map(|seen| seen.id.pid);
    renderers.filter(|pid| proc::is_stopped(*pid)).collect()
}

fn is_renderer_of(browser: u32, seen: &Seen) -> bool {
    const KIND: &[u8] = b"--type=renderer";
    let named = seen.command.windows(KIND.len()).any(|part| part == KIND);
    seen.group == browser && seen.id.pid != browser && named && !seen.zombie
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::proc::Identity;

    fn seen(pid: u32, group: u32, command: &str) -> Seen {
        Seen { id: Identity { pid, started: 1 }, parent: 1, group, zombie: false, command: command.into() }
    }

    #[test]
    fn only_a_living_renderer_of_that_browser_is_one() {
        let renderer = seen(12, 10, "/usr/bin/chromium --type=renderer --lang=en\0");
        assert!(is_renderer_of(10, &renderer));
        assert!(!is_renderer_of(11, &renderer), "another browser's");
        assert!(!is_renderer_of(10, &Seen { zombie: true, ..renderer }));
        assert!(
            !is_renderer_of(10, &seen(10, 10, "/usr/bin/chromium\0--type=renderer\0")),
            "the browser itself"
        );
        assert!(!is_renderer_of(10, &seen(13, 10, "/usr/bin/chromium --type=gpu-process\0")));
    }

    #[test]
    fn this_process_is_no_renderer_and_not_stopped() {
        assert!(!proc::is_stopped(std::process::id()));
        assert!(stopped_renderers(std::process::id()).is_empty());
        assert!(!kill_renderer(std::process::id(), std::process::id()));
    }
}
