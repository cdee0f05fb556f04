//! What became of a call, in the few words that metrics may use.

use crate::error::TabError;

/// The closed set of the label `outcome`; `done` is the word for one that succeeded.
pub(crate) fn outcome_word(outcome: Result<(), &TabError>, done: &'static str) -> &'static str {
    match outcome.map_err(TabError::kind) {
        Ok(()) => done,
        Err("threw" | "does_not_compile") => "threw",
        Err("timeout" | "budget_exceeded") => "timeout",
        Err("aborted") => "aborted",
        Err("dialog_open") => "dialog",
        Err("navigated") => "navigated",
        Err("crashed") => "crashed",
        Err("tab_closed" | "tab_lost" | "browser_lost" | "stopping") => "closed",
        Err("overloaded") => "overloaded",
        Err(
            "tab_stuck" | "tab_restarting" | "invalid_argument" | "navigation_blocked" | "denied"
            | "tab_not_found" | "stale_ref" | "ambiguous_ref",
        ) => "refused",
        Err(_) => "failed",
    }
}
