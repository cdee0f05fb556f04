//! Rules: which commands are scripted, and how.

use super::act::Act;
use super::call::Call;
use super::shared::Shared;

/// A rule in the making; it holds from [`act`](Rule::act) on.
///
/// Rules are tried newest first, at the moment the command would be served: a command that waits
/// for a busy renderer is matched when its turn comes. Predicates run inside the fake and must
/// not call it.
#[must_use = "a rule holds only from `act` on"]
pub struct Rule<'a> {
    shared: &'a Shared,
    entry: Entry,
}

/// Says yes or no to a command.
pub(super) type Test = Box<dyn Fn(&Call) -> bool + Send>;

/// A rule that holds.
pub(super) struct Entry {
    method: String,
    pub(super) tests: Vec<Test>,
    left: Option<usize>,
    pub(super) act: Act,
}

/// What an evaluate does when no rule says otherwise.
type Evaluator = Box<dyn Fn(&Call) -> Act + Send>;

/// Everything a test has scripted.
#[derive(Default)]
pub(super) struct Script {
    rules: Vec<Entry>,
    evaluator: Option<Evaluator>,
}

impl<'a> Rule<'a> {
    pub(super) fn new(shared: &'a Shared, method: &str) -> Self {
        Self { shared, entry: Entry::new(method) }
    }

    /// Only for commands for which this holds, too.
    pub fn when(mut self, test: impl Fn(&Call) -> bool + Send + 'static) -> Self {
        self.entry.tests.push(Box::new(test));
        self
    }

    /// Only for commands on this target.
    pub fn target(self, target: &str) -> Self {
        let target = target.to_owned();
        self.when(move |call| call.target.as_ref() == Some(&target))
    }

    /// Only for the first `times` commands that match.
    pub fn times(mut self, times: usize) -> Self {
        self.entry.left = Some(times);
        self
    }

    /// What those commands do.
    pub fn act(mut self, act: impl Into<Act>) {
        self.entry.act = act.into();
        let entry = self.entry;
        self.shared.tell(|model| model.script.add(entry));
    }
}

impl Entry {
    pub(super) fn new(method: &str) -> Self {
        Self { method: method.to_owned(), tests: Vec::new(), left: None, act: Act::Default }
    }
}

impl Script {
    pub(super) fn add(&mut self, rule: Entry) {
        self.rules.push(rule);
    }

    pub(super) fn set_evaluator(&mut self, evaluator: Evaluator) {
        self.evaluator = Some(evaluator);
    }

    pub(super) fn forget(&mut self) {
        self.rules.clear();
        self.evaluator = None;
    }

    /// The act of the newest rule that matches, and one less left of it.
    pub(super) fn matching(&mut self, call: &Call) -> Option<Act> {
        let rule = self.rules.iter_mut().rev().find(|rule| {
            (rule.method == call.method || rule.method == "*")
                && rule.left != Some(0)
                && rule.tests.iter().all(|test| test(call))
        })?;
        if let Some(left) = &mut rule.left {
            *left -= 1;
        }
        Some(rule.act.clone())
    }

    /// What an evaluate without a rule does.
    pub(super) fn evaluate(&self, call: &Call) -> Act {
        self.evaluator.as_ref().map_or(Act::Default, |evaluator| evaluator(call))
    }
}
