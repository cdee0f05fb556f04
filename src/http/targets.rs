//! Which tab a request means: labels, the last used tab, and every spelling of a target. Pure.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use tabvisor_actors::TabRow;
use tabvisor_actors::ids::TabId;

use super::error::ApiError;

/// Longest label.
const LABEL: usize = 64;
/// How much of an unknown name is repeated.
const SHOWN: usize = 80;

/// What callers gave tabs names for, and which tab they used last.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// A tab has one label, a label one tab.
    labels: BTreeMap<TabId, String>,
    last: Option<Used>,
}

#[derive(Clone, Debug)]
struct Used {
    tab: TabId,
    target: String,
}

/// A tab as it can be spelled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) tab: TabId,
    pub(super) target: &'a str,
}

impl<'a> From<&'a TabRow> for Candidate<'a> {
    fn from(row: &'a TabRow) -> Self {
        Self { tab: row.tab_id, target: &row.target_id }
    }
}

/// Why a spelling means no tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    NotFound,
    Ambiguous,
}

impl Names {
    /// Gives `tab` a label; it moves from whichever tab had it.
    pub(super) fn claim(&mut self, label: String, tab: TabId) {
        self.labels.retain(|_, taken| *taken != label);
        self.labels.insert(tab, label);
    }

    pub(super) fn label(&self, tab: TabId) -> Option<&str> {
        self.labels.get(&tab).map(String::as_str)
    }

    /// Remembers the tab as the last used one.
    pub(super) fn used(&mut self, tab: &Candidate<'_>) {
        self.last = Some(Used { tab: tab.tab, target: tab.target.to_owned() });
    }

    /// Forgets the labels of tabs that are no more.
    pub(super) fn keep(&mut self, tabs: &[Candidate<'_>]) {
        self.labels.retain(|tab, _| tabs.iter().any(|it| it.tab == *tab));
    }

    /// The tab of a request that names none: the last used one, which must still be there, else
    /// the first. `Ok(None)`: there are no tabs.
    pub(super) fn unnamed<'a>(&self, tabs: &[Candidate<'a>]) -> Result<Option<Candidate<'a>>, String> {
        match &self.last {
            Some(last) => match tabs.iter().find(|it| it.tab == last.tab) {
                Some(tab) => Ok(Some(*tab)),
                None => Err(last.target.clone()),
            },
            None => Ok(tabs.first().copied()),
        }
    }

    /// The tab that `text` means: exactly a raw id, tab id or label, else the beginning of one raw
    /// id in any case.
    pub(super) fn find<'a>(&self, text: &str, tabs: &[Candidate<'a>]) -> Result<Candidate<'a>, Missed> {
        let exactly = |tab: &&Candidate<'_>| {
            tab.target == text || tab.tab.to_string() == text || self.label(tab.tab) == Some(text)
        };
        match only(tabs.iter().filter(exactly)) {
            Err(Missed::NotFound) => {}
            found => return found,
        }
        only(tabs.iter().filter(|tab| begins_with(tab.target, text)))
    }
}

fn only<'a, 'b>(mut tabs: impl Iterator<Item = &'b Candidate<'a>>) -> Result<Candidate<'a>, Missed>
where
    'a: 'b,
{
    match (tabs.next(), tabs.next()) {
        (Some(tab), None) => Ok(*tab),
        (None, _) => Err(Missed::NotFound),
        (Some(_), Some(_)) => Err(Missed::Ambiguous),
    }
}

fn begins_with(target: &str, text: &str) -> bool {
    !text.is_empty() && target.get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text))
}

/// Checks a label.
pub(super) fn check_label(label: &str) -> Result<(), ApiError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    if label.len() <= LABEL && label.bytes().all(allowed) {
        return Ok(());
    }
    Err(ApiError::invalid("label must be 1 to 64 of the characters A-Z a-z 0-9 _ . : -")
        .reason("invalid_argument")
        .detail("field", "label"))
}

/// Nothing has this name.
pub(super) fn not_found(text: &str) -> ApiError {
    let shown: String = text.chars().take(SHOWN).collect();
    let hint = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        format!(
            "Numeric values are not tab targets; use a stable tab id like \"t1\", a label, or a raw targetId. \
             For positional selection, use \"openclaw browser tab select {shown}\"."
        )
    } else {
        "Use action=tabs and pass suggestedTargetId, tabId, label, or raw targetId.".into()
    };
    let error = format!("tab not found: browser tab \"{shown}\" not found. {hint}");
    ApiError::new(StatusCode::NOT_FOUND, error).reason("tab_not_found")
}

/// Several have it.
pub(super) fn ambiguous() -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "ambiguous browser tab reference").reason("ambiguous_target")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TabId {
        text.parse().unwrap()
    }

    fn tabs() -> Vec<Candidate<'static>> {
        vec![
            Candidate { tab: id("t3"), target: "AB12FF" },
            Candidate { tab: id("t2"), target: "AB34FF" },
            Candidate { tab: id("t1"), target: "CD56FF" },
        ]
    }

    fn find(names: &Names, text: &str) -> Result<String, Missed> {
        names.find(text, &tabs()).map(|tab| tab.tab.to_string())
    }

    #[test]
    fn exact_names_come_before_beginnings() {
        let mut names = Names::default();
        names.claim("main".into(), id("t1"));
        for (text, tab) in [("AB12FF", "t3"), ("t2", "t2"), ("main", "t1"), ("cd", "t1"), ("ab3", "t2")] {
            assert_eq!(find(&names, text), Ok(tab.into()), "{text}");
        }
        for text in ["", "t9", "T1", "Main", "x", "AB12FFF", "1", "é"] {
            assert_eq!(find(&names, text), Err(Missed::NotFound), "{text}");
        }
        assert_eq!(find(&names, "ab"), Err(Missed::Ambiguous));
        names.claim("AB".into(), id("t1"));
        assert_eq!(find(&names, "AB"), Ok("t1".into()));
    }

    #[test]
    fn one_name_for_two_tabs_is_ambiguous() {
        let mut names = Names::default();
        names.claim("t2".into(), id("t1"));
        assert_eq!(find(&names, "t2"), Err(Missed::Ambiguous));
        names.claim("t3".into(), id("t3"));
        assert_eq!(find(&names, "t3"), Ok("t3".into()));
    }

    #[test]
    fn a_label_moves_to_its_newest_claimant() {
        let mut names = Names::default();
        names.claim("main".into(), id("t1"));
        names.claim("main".into(), id("t2"));
        assert_eq!((names.label(id("t1")), names.label(id("t2"))), (None, Some("main")));
        names.claim("other".into(), id("t2"));
        assert_eq!(find(&names, "main"), Err(Missed::NotFound));
        names.keep(&tabs()[2..]);
        assert_eq!(names.label(id("t2")), None);
    }

    #[test]
    fn without_a_name_it_is_the_last_used_tab_or_the_first() {
        let mut names = Names::default();
        let which = |names: &Names, tabs: &[Candidate<'_>]| {
            names.unnamed(tabs).map(|tab| tab.map(|tab| tab.tab.to_string()))
        };
        assert_eq!(which(&names, &[]), Ok(None));
        assert_eq!(which(&names, &tabs()), Ok(Some("t3".into())));
        names.used(&tabs()[1]);
        assert_eq!(which(&names, &tabs()), Ok(Some("t2".into())));
        assert_eq!(which(&names, &tabs()[2..]), Err("AB34FF".into()));
    }

    #[test]
    fn labels_have_a_pattern() {
        for label in ["a", "A-b_c.d:9", &"x".repeat(64)] {
            assert!(check_label(label).is_ok(), "{label}");
        }
        for label in ["a b", "é", "a/b", &"x".repeat(65)] {
            assert!(check_label(label).is_err(), "{label}");
        }
    }

    #[test]
    fn texts_are_those_that_agents_know() {
        assert_eq!(
            not_found("zzzz").to_string(),
            "tab not found: browser tab \"zzzz\" not found. Use action=tabs and pass suggestedTargetId, tabId, label, or raw targetId."
        );
        assert_eq!(
            not_found("99").to_string(),
            "tab not found: browser tab \"99\" not found. Numeric values are not tab targets; use a stable tab id like \"t1\", a label, or a raw targetId. For positional selection, use \"openclaw browser tab select 99\"."
        );
        assert!(not_found(&"x".repeat(1000)).to_string().len() < 300);
    }
}
