//! What is measured: every metric with its type, unit and labels. Labels have a closed set of values; none is
//! ever an address, a title, a tab or a text of a page.
//!
//! Everything is emitted through the facade of the crate `metrics`, so it goes to whatever recorder the
//! program has installed, and nowhere if it has none. [`describe`] tells that recorder what they mean.

use metrics::Unit;
use tabvisor_cdp::budget::Budget;

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its unit; [`Unit::Count`] where it counts things.
    pub unit: Unit,
    /// What it says.
    pub help: &'static str,
    /// Its labels and their possible values; nothing where the values are those of a version.
    pub labels: &'static [(&'static str, &'static [&'static str])],
}

const ENGINE: (&str, &[&str]) = ("engine", &["cdp", "page"]);
const EVALUATED: (&str, &[&str]) = (
    "outcome",
    &[
        "value",
        "threw",
        "timeout",
        "aborted",
        "dialog",
        "navigated",
        "crashed",
        "closed",
        "refused",
        "overloaded",
        "failed",
    ],
);
const ACTED: (&str, &[&str]) = (
    "outcome",
    &[
        "ok",
        "threw",
        "timeout",
        "aborted",
        "dialog",
        "navigated",
        "crashed",
        "closed",
        "refused",
        "overloaded",
        "failed",
    ],
);
const ACTION: (&str, &[&str]) = (
    "action",
    &[
        "navigate",
        "back",
        "forward",
        "reload",
        "snapshot",
        "screenshot",
        "click",
        "type",
        "insert_text",
        "press",
        "hover",
        "drag",
        "select",
        "check",
        "fill",
        "scroll",
        "scroll_into_view",
        "resize",
        "highlight",
        "upload",
        "save_document",
        "pdf",
        "emulate",
        "storage_read",
        "storage_write",
        "storage_clear",
        "text",
        "wait",
        "find",
    ],
);
const PURPOSE: (&str, &[&str]) =
    ("purpose", &["browser", "control", "page", "observe", "evaluate", "network"]);
const DIRECTION: (&str, &[&str]) = ("direction", &["in", "out"]);
const RUNG: (&str, &[&str]) =
    ("rung", &["dialog", "terminate", "stop_loading", "renderer", "target", "browser"]);

const fn counter(
    name: &'static str,
    help: &'static str,
    labels: &'static [(&'static str, &'static [&'static str])],
) -> Metric {
    Metric { name, kind: Kind::Counter, unit: Unit::Count, help, labels }
}

const fn gauge(
    name: &'static str,
    unit: Unit,
    help: &'static str,
    labels: &'static [(&'static str, &'static [&'static str])],
) -> Metric {
    Metric { name, kind: Kind::Gauge, unit, help, labels }
}

const fn seconds(
    name: &'static str,
    help: &'static str,
    labels: &'static [(&'static str, &'static [&'static str])],
) -> Metric {
    Metric { name, kind: Kind::Histogram, unit: Unit::Seconds, help, labels }
}

/// All of them, but for those of the process, which the program's own collector describes.
pub const METRICS: &[Metric] = &[
    seconds(
        "tabvisor_evaluate_duration_seconds",
        "Time of an evaluate from its admission to its answer.",
        &[ENGINE, EVALUATED],
    ),
    counter("tabvisor_evaluates_total", "Evaluates that are over.", &[ENGINE]),
    counter("tabvisor_evaluate_timeouts_total", "Evaluates that ended with their budget.", &[ENGINE]),
    counter(
        "tabvisor_evaluate_fallback_total",
        "Elements of evaluates that were found by role, name and place.",
        &[("reason", &["no_backend_node_id", "node_gone", "attach_blocked", "link_failed", "forced"])],
    ),
    counter(
        "tabvisor_terminate_execution_total",
        "Scripts that were asked to end by Runtime.terminateExecution.",
        &[
            ("cause", &["timeout", "abort", "operator", "recovery"]),
            ("result", &["terminated", "unanswered", "failed"]),
        ],
    ),
    seconds(
        "tabvisor_budget_overrun_seconds",
        "How much later than its budget a call was answered, where it was.",
        &[("surface", &["crate", "http", "mcp"])],
    ),
    seconds(
        "tabvisor_action_duration_seconds",
        "Time of an action from its call to its answer.",
        &[ACTION, ACTED],
    ),
    seconds(
        "tabvisor_queue_wait_seconds",
        "How long a call waited for its turn.",
        &[("kind", &["action", "evaluate"])],
    ),
    gauge(
        "tabvisor_tabs",
        Unit::Count,
        "Tabs by their state, counted once a second.",
        &[("state", &["ready", "busy", "dialog", "stuck", "crashed", "discarded", "restarting"])],
    ),
    counter(
        "tabvisor_tab_restarts_total",
        "Tabs that were brought back, by the rung that did it.",
        &[("cause", &["operator", "stuck", "crashed", "browser_lost"]), RUNG],
    ),
    seconds("tabvisor_tab_recovery_seconds", "How long bringing a tab back took.", &[RUNG]),
    counter(
        "tabvisor_dialogs_total",
        "Dialogs that are over, by how.",
        &[
            ("kind", &["alert", "confirm", "prompt", "beforeunload", "unknown"]),
            ("resolution", &["accepted", "dismissed", "policy", "elsewhere", "lost"]),
        ],
    ),
    counter(
        "tabvisor_crashes_total",
        "Renderers and browsers that died, actors that panicked.",
        &[("what", &["renderer", "browser", "actor"])],
    ),
    counter(
        "tabvisor_supervisor_restarts_total",
        "Actors that were restarted.",
        &[("actor", &["browser", "dialog_watcher", "observer", "evaluates", "tab"])],
    ),
    gauge("tabvisor_cdp_links", Unit::Count, "Open links to Chromium.", &[PURPOSE]),
    counter("tabvisor_cdp_link_dials_total", "Links to Chromium that were opened.", &[PURPOSE]),
    counter("tabvisor_cdp_messages_total", "Messages over links.", &[PURPOSE, DIRECTION]),
    counter("tabvisor_cdp_bytes_total", "Bytes of messages over links.", &[PURPOSE, DIRECTION]),
    counter(
        "tabvisor_rejected_total",
        "Calls that were refused for what they asked, or how, or when.",
        &[("reason", &["overloaded", "auth", "origin", "policy", "invalid"])],
    ),
    seconds("tabvisor_snapshot_duration_seconds", "Time of reading and writing down a page.", &[]),
    Metric {
        name: "tabvisor_snapshot_nodes",
        kind: Kind::Histogram,
        unit: Unit::Count,
        help: "Nodes of the accessibility trees that snapshots read.",
        labels: &[],
    },
    gauge(
        "tabvisor_chromium_memory_bytes",
        Unit::Bytes,
        "Memory that the processes of our Chromiums have for themselves, read every ten seconds.",
        &[],
    ),
    gauge(
        "tabvisor_chromium_processes",
        Unit::Count,
        "Processes of our Chromiums, counted every ten seconds.",
        &[],
    ),
    gauge(
        "tabvisor_build_info",
        Unit::Count,
        "Always 1; the versions are in the labels.",
        &[("version", &[]), ("chromium", &[])],
    ),
    counter("tabvisor_downloads_total", "Downloads that are over.", &[("outcome", &["completed", "failed"])]),
    counter(
        "tabvisor_popups_closed_total",
        "Tabs of pages that were closed since there were too many, by the limit.",
        &[("limit", &["limits.popups_per_tab", "limits.tabs"])],
    ),
    counter("tabvisor_observer_restarts_total", "Observing links that were made anew.", &[]),
];

/// Tells the installed recorder what every metric means.
pub fn describe() {
    for Metric { name, kind, unit, help, .. } in METRICS.iter().copied() {
        match kind {
            Kind::Counter => metrics::describe_counter!(name, unit, help),
            Kind::Gauge => metrics::describe_gauge!(name, unit, help),
            Kind::Histogram => metrics::describe_histogram!(name, unit, help),
        }
    }
}

/// Tells how much later than its budget a call ended, where it did.
pub(crate) fn overrun(budget: &Budget, surface: &'static str) {
    if let Some(over) = budget.elapsed().checked_sub(budget.total()).filter(|over| !over.is_zero()) {
        metrics::histogram!("tabvisor_budget_overrun_seconds", "surface" => surface)
            .record(over.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]
    use super::*;
    use tabvisor_actors::TabState;
    use tabvisor_actors::recovery::Rung;

    fn words(metric: &str, label: &str) -> &'static [&'static str] {
        let metric = METRICS.iter().find(|it| it.name == metric).unwrap();
        metric.labels.iter().find(|(name, _)| *name == label).unwrap().1
    }

    #[test]
    fn names_are_as_prometheus_wants_them_and_none_comes_twice() {
        for (place, Metric { name, kind, unit, help, .. }) in METRICS.iter().enumerate() {
            assert!(name.starts_with("tabvisor_") && help.ends_with('.'), "{name}");
            assert_eq!(*kind == Kind::Counter, name.ends_with("_total"), "{name}");
            assert_eq!(*unit == Unit::Seconds, name.ends_with("_seconds"), "{name}");
            assert!(METRICS[..place].iter().all(|before| before.name != *name), "{name}");
        }
    }

    #[test]
    fn sets_that_the_crates_know_are_told_whole() {
        assert_eq!(words("tabvisor_tabs", "state"), TabState::ALL.map(TabState::name));
        let rungs = words("tabvisor_tab_restarts_total", "rung");
        assert_eq!(rungs[..Rung::ALL.len()], Rung::ALL.map(Rung::name));
    }
}
