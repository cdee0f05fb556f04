//! The one table of the codes that tools refuse and fail with. Pure.
//!
//! A code is what HTTP calls `reason` with `browser_` before it. Where the HTTP contract has a word of its own
//! for the same thing, or several words for what an agent does the same about, the table says which
//! code that is.

/// A reason, its code, and what helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// [`TabError::kind`](crate::TabError::kind), which HTTP tells as `reason`.
    pub(super) reason: &'static str,
    pub(super) code: &'static str,
    /// The next step.
    pub(super) next: &'static str,
}

const STATE: &str = "call get_browser_state and use a ref from it";
const LIST: &str = "list the tabs with browser_tabs, or open one with browser_tabs action=open";
const RESTART: &str = "bring it back with browser_tabs action=restart";
const LATER: &str = "call again in a moment";
const ARGUMENTS: &str = "call again with the argument that the message names corrected";
const LOOK: &str = "look with get_browser_state before doing it again: it may have happened";

const fn row(reason: &'static str, code: &'static str, next: &'static str) -> Row {
    Row { reason, code, next }
}

/// What nothing else is said about.
const INTERNAL: Row =
    row("internal", "browser_internal", "call again once; if it fails again, restart the tab");

/// Every reason.
const TABLE: &[Row] = &[
    row(
        "tab_required",
        "browser_tab_required",
        "open a tab with browser_tabs action=open, or name one with tab_id",
    ),
    row("tab_not_found", "browser_tab_not_found", LIST),
    row("tab_closed", "browser_tab_not_found", LIST),
    row("tab_lost", "browser_tab_not_found", LIST),
    row("stale_ref", "browser_ref_stale", STATE),
    row("no_match", "browser_ref_stale", STATE),
    row("covered", "browser_target_covered", "close or scroll away what covers it, then call again"),
    row(
        "disabled",
        "browser_target_disabled",
        "do first what enables it, or browser_wait until it is enabled",
    ),
    row(
        "not_editable",
        "browser_target_not_editable",
        "use the tool that the message names, or another element",
    ),
    row(
        "type_mismatch",
        "browser_type_mismatch",
        "use the tool for this kind of element; get_browser_state tells its role",
    ),
    row(
        "not_visible",
        "browser_target_not_visible",
        "open or scroll to what shows it, then call get_browser_state",
    ),
    row("ambiguous", "browser_target_ambiguous", STATE),
    row("ambiguous_ref", "browser_target_ambiguous", STATE),
    row("moving", "browser_action_unavailable", "browser_wait until it stands still, then call again"),
    row(
        "no_dialog",
        "browser_action_unavailable",
        "browser_dialog action=inspect tells which dialog is open",
    ),
    row(
        "no_history",
        "browser_action_unavailable",
        "the page is unchanged; browser_navigate goes to an address",
    ),
    row("action_unavailable", "browser_action_unavailable", "see the message"),
    row("unsupported", "browser_action_unavailable", "this browser cannot; go another way"),
    row(
        "dialog_open",
        "browser_dialog_open",
        "answer it with browser_dialog action=accept or dismiss and its dialog_id",
    ),
    row(
        "input_incomplete",
        "browser_input_incomplete",
        "read the field with get_browser_state before typing the rest",
    ),
    row(
        "evaluate_disabled",
        "browser_evaluate_disabled",
        "go without scripts: get_browser_state, browser_wait, browser_click",
    ),
    row(
        "denied",
        "browser_evaluate_disabled",
        "go without scripts: get_browser_state, browser_wait, browser_click",
    ),
    row(
        "navigation_blocked",
        "browser_navigation_blocked",
        "give an http or https address, or about:blank, without credentials",
    ),
    row(
        "file_not_allowed",
        "browser_file_not_allowed",
        "give a path inside of the folder that the message names",
    ),
    row(
        "file_not_found",
        "browser_file_not_allowed",
        "give the path of a file that is in the uploads folder",
    ),
    row("file_too_large", "browser_file_not_allowed", "give a smaller file"),
    row("overloaded", "browser_overloaded", "wait for the calls that are under way, then call again"),
    row(
        "timeout",
        "browser_budget_exceeded",
        "look with get_browser_state; give a larger timeout_ms if it only needs longer",
    ),
    row("budget_exceeded", "browser_budget_exceeded", "call again with a larger timeout_ms"),
    row("crashed", "browser_tab_crashed", RESTART),
    row(
        "tab_stuck",
        "browser_tab_stuck",
        "end its scripts with browser_tabs action=terminate, or bring it back with action=restart",
    ),
    row("tab_restarting", "browser_tab_restarting", LATER),
    row("not_recovered", "browser_tab_stuck", "close it with browser_tabs action=close and open another"),
    row("unavailable", "browser_unavailable", "browser_prepare tells why there is no browser"),
    row("browser_lost", "browser_unavailable", "its tabs are gone; open new ones once the browser is back"),
    row("stopping", "browser_unavailable", "the service is stopping; nothing more can be done with it"),
    row("invalid_argument", "browser_invalid_argument", ARGUMENTS),
    row(
        "does_not_compile",
        "browser_invalid_argument",
        "correct the function: the message says where it does not compile",
    ),
    row("too_large", "browser_invalid_argument", "give less"),
    row("threw", "browser_threw", "the page threw it; correct the function or the assumption"),
    row("navigated", "browser_navigated", "the page went elsewhere meanwhile; call get_browser_state"),
    row("interrupted", "browser_interrupted", LOOK),
    row(
        "navigation_failed",
        "browser_navigation_failed",
        "check the address; the tab shows the browser's error page",
    ),
    row("no_document", "browser_no_document", "the address gave no document; the page is unchanged"),
    row(
        "navigation_cancelled",
        "browser_navigation_cancelled",
        "the page is unchanged: it asked whether it may be left, and the answer was no",
    ),
    row("no_chooser", "browser_no_chooser", "give the ref of the file input itself, without via_chooser"),
    row(
        "download_failed",
        "browser_download_failed",
        "try again; browser_requests tells what the server said",
    ),
    row(
        "not_rendering",
        "browser_not_rendering",
        "bring the tab to the front with browser_tabs action=select",
    ),
    row("document_changed", "browser_document_changed", LATER),
    row("page_refused", "browser_page_refused", "see the message"),
    row("storage", "browser_storage", "the file could not be written on this machine"),
    row("aborted", "browser_aborted", LOOK),
    row("link_failed", "browser_link_failed", LOOK),
    row("protocol", "browser_protocol", LOOK),
    INTERNAL,
];

/// What is said about a reason.
pub(super) fn of(reason: &str) -> Row {
    TABLE.iter().find(|row| row.reason == reason).copied().unwrap_or(INTERNAL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_has_one_row() {
        let reasons: BTreeSet<_> = TABLE.iter().map(|row| row.reason).collect();
        assert_eq!(reasons.len(), TABLE.len());
        assert!(TABLE.iter().all(|row| row.code.starts_with("browser_") && !row.next.is_empty()));
    }

    #[test]
    fn every_code_of_the_contract_is_there() {
        let codes: BTreeSet<_> = TABLE.iter().map(|row| row.code).collect();
        for code in [
            "browser_tab_required",
            "browser_tab_not_found",
            "browser_ref_stale",
            "browser_target_covered",
            "browser_target_disabled",
            "browser_target_not_editable",
            "browser_target_not_visible",
            "browser_target_ambiguous",
            "browser_action_unavailable",
            "browser_dialog_open",
            "browser_input_incomplete",
            "browser_type_mismatch",
            "browser_evaluate_disabled",
            "browser_navigation_blocked",
            "browser_file_not_allowed",
            "browser_overloaded",
            "browser_budget_exceeded",
            "browser_tab_crashed",
            "browser_tab_stuck",
            "browser_tab_restarting",
            "browser_unavailable",
            "browser_invalid_argument",
        ] {
            assert!(codes.contains(code), "{code}");
        }
    }

    #[test]
    fn what_nobody_knows_is_a_bug_of_ours() {
        assert_eq!(of("no such reason").code, "browser_internal");
        assert_eq!(of("covered").code, "browser_target_covered");
    }
}
