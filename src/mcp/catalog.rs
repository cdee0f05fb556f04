//! Which tools there are: what a model is told of each, and what it does.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};

use crate::config::Budgets;

use super::schema::{Arg, Kind, may, object};
use super::tools::{self, Answer, Read};

/// A tool.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) hints: Hints,
    /// It works on a tab, which a call may name.
    pub(super) on_tab: bool,
    pub(super) args: &'static [Arg],
    pub(super) budget: Within,
    pub(super) run: fn(super::call::Call) -> Answer,
    /// What it is as one of several steps, if it can be one.
    pub(super) step: Option<Read>,
}

/// What a tool is like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hints {
    /// It changes nothing.
    Reads,
    /// It changes what a page shows or holds, and only once.
    Sets,
    /// It does what a user does: anything.
    Acts,
}

/// How long a call may take that does not say.
#[derive(Clone, Copy, Debug)]
pub(super) enum Within {
    Action,
    Evaluate,
    Navigate,
    Snapshot,
    Wait,
    /// For what a server must bring, or somebody else must do.
    Patient,
}

impl Within {
    const PATIENT: Duration = Duration::from_mins(2);

    pub(super) fn of(self, budgets: &Budgets) -> Duration {
        match self {
            Self::Action => budgets.action(),
            Self::Evaluate => budgets.evaluate(),
            Self::Navigate => budgets.navigate(),
            Self::Snapshot => budgets.snapshot(),
            Self::Wait => budgets.wait(),
            Self::Patient => Self::PATIENT,
        }
    }
}

/// What every call takes.
const COMMON: &[Arg] = &[
    may("timeout_ms", Kind::Whole(1, 86_400_000), ""),
    may("session", Kind::Text(64), ""),
    may("target_id", Kind::Text(64), ""),
];
const ON_TAB: &[Arg] = &[may("tab_id", Kind::Text(64), "")];

impl Spec {
    /// Everything that a call of it may say.
    pub(super) fn args(&self) -> [&'static [Arg]; 3] {
        [self.args, if self.on_tab { ON_TAB } else { &[] }, COMMON]
    }

    /// As clients see it.
    pub(super) fn tool(&self) -> Tool {
        let (reads, destroys, again) = match self.hints {
            Hints::Reads => (true, false, true),
            Hints::Sets => (false, false, true),
            Hints::Acts => (false, true, false),
        };
        let hints =
            ToolAnnotations::new().read_only(reads).destructive(destroys).idempotent(again).open_world(true);
        Tool::new(self.name, self.about, Arc::new(object(&self.args()))).with_annotations(hints)
    }
}

/// All of them, in the order in which a model reads them.
pub(super) fn all() -> impl Iterator<Item = &'static Spec> {
    tools::ALL.iter().copied().flatten()
}

/// The tool of this name.
pub(super) fn find(name: &str) -> Option<&'static Spec> {
    all().find(|spec| spec.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Of English and JSON a token is about four characters.
    const CHARS_PER_TOKEN: usize = 4;

    #[test]
    fn every_tool_of_the_contract_is_there_and_once() {
        let names: Vec<_> = all().map(|it| it.name).collect();
        for name in [
            "browser_prepare",
            "browser_tabs",
            "browser_navigate",
            "browser_back",
            "browser_forward",
            "browser_reload",
            "get_browser_state",
            "browser_click",
            "browser_type",
            "browser_press_key",
            "browser_pointer",
            "browser_select",
            "browser_check",
            "browser_fill_form",
            "browser_dialog",
            "browser_set_input_files",
            "browser_download",
            "browser_wait",
            "browser_evaluate",
            "browser_screenshot",
            "browser_pdf",
            "browser_console",
            "browser_requests",
            "browser_steps",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn the_list_is_short_enough_to_be_read_every_time() {
        let tools: Vec<Tool> = all().map(Spec::tool).collect();
        let chars = serde_json::to_string(&tools).unwrap().chars().count();
        let tokens = chars / CHARS_PER_TOKEN;
        println!("{} tools, {chars} characters, about {tokens} tokens", tools.len());
        assert!(tokens < 6000, "about {tokens} tokens");
    }

    #[test]
    fn every_tool_says_what_it_is_like() {
        for spec in all() {
            let tool = spec.tool();
            let hints = tool.annotations.unwrap();
            assert!(hints.read_only_hint.is_some() && hints.destructive_hint.is_some(), "{}", spec.name);
            assert!(tool.input_schema["properties"]["timeout_ms"].is_object(), "{}", spec.name);
            assert!(!spec.about.is_empty() && spec.about.len() < 500, "{}", spec.name);
        }
    }
}
