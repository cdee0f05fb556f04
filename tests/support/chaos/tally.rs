//! What was asked, and what was answered.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tabvisor::Error;
use tabvisor_cdp::budget::Budget;
use tokio::time::Instant;

use super::super::{kind, secs};
use super::ALLOWED;

#[derive(Clone, Debug)]
pub struct Tally(Arc<Mutex<Counts>>);

#[derive(Clone, Debug, Default)]
pub struct Counts {
    asked: usize,
    /// By call and by the kind of its answer.
    answers: BTreeMap<(&'static str, &'static str), usize>,
    /// What never came, by call.
    lost: Vec<&'static str>,
    /// What came after its budget, by how much at most.
    late: Vec<(&'static str, Duration)>,
    latest: Duration,
    /// Failures that are our own.
    ours: Vec<String>,
    /// What was called confirmed and was seen by the page, and what the page knew nothing of.
    held: usize,
    lies: Vec<String>,
    /// The tabs at the first time that there were too many.
    too_many: Option<String>,
    /// What was called confirmed, but its document was gone before it could be asked.
    unasked: usize,
}

impl Tally {
    pub fn new() -> Self {
        Self(Arc::default())
    }

    fn with<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    pub fn counts(&self) -> Counts {
        self.with(|counts| counts.clone())
    }

    /// Makes a call of this budget, and notes what becomes of it.
    pub async fn call<T>(
        &self,
        what: &'static str,
        budget: Duration,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Option<Result<T, Error>> {
        self.with(|counts| counts.asked += 1);
        let began = Instant::now();
        let answer = Budget::new(budget + secs(60)).run(call).await.ok();
        let late = began.elapsed().saturating_sub(budget);
        self.with(|counts| match &answer {
            None => counts.lost.push(what),
            Some(answer) => {
                *counts.answers.entry((what, kind(answer))).or_default() += 1;
                counts.latest = counts.latest.max(late);
                if let Err(error) = answer
                    && error.kind() == "internal"
                {
                    counts.ours.push(format!("{what}: {error}"));
                }
                if late > ALLOWED {
                    counts.late.push((what, late));
                }
            }
        });
        answer
    }

    /// No tab could be opened, since there were too many.
    pub fn too_many(&self, tabs: impl FnOnce() -> String) {
        self.with(|counts| _ = counts.too_many.get_or_insert_with(tabs));
    }

    /// What the page says of something that was called confirmed; none: it could not be asked.
    pub fn confirmed(&self, true_of_page: Option<bool>, what: impl FnOnce() -> String) {
        self.with(|counts| match true_of_page {
            Some(true) => counts.held += 1,
            Some(false) => counts.lies.push(what()),
            None => counts.unasked += 1,
        });
    }
}

impl Counts {
    /// Every call has one answer, in time, and what it says is true. `checked` of them at least were
    /// held against the page.
    pub fn assert_honest(&self, checked: usize) {
        let answered: usize = self.answers.values().sum();
        assert_eq!(self.lost, Vec::<&str>::new(), "calls without an answer");
        assert_eq!(answered, self.asked, "one answer each");
        assert!(self.late.is_empty(), "late by more than {ALLOWED:?}: {:?}", self.late);
        assert!(self.lies.is_empty(), "confirmed, and the page knows nothing of it: {:#?}", self.lies);
        assert_eq!(self.ours, Vec::<String>::new(), "failures of our own");
        assert_eq!(self.too_many, None, "tabs are left that nobody has");
        assert!(self.held >= checked, "only {} of {} were checked", self.held, self.asked);
    }

    /// Calls have ended in all of these ways.
    pub fn assert_some(&self, kinds: &[&str]) {
        for kind in kinds {
            assert!(self.answers.keys().any(|(_, it)| it == kind), "nothing ended as {kind}");
        }
    }

    /// Calls of this name have ended in these ways only.
    pub fn assert_only(&self, what: &str, kinds: &[&str]) {
        for (name, kind) in self.answers.keys() {
            assert!(name != &what || kinds.contains(kind), "{what} ended as {kind}");
        }
    }
}

impl Counts {
    /// Nearly all calls of this name were a success: only what happens to a page meanwhile is an excuse.
    pub fn assert_came_back(&self, what: &str) {
        let ended = |well: bool| -> usize {
            let of = self.answers.iter().filter(|((name, kind), _)| *name == what && (*kind == "ok") == well);
            of.map(|(_, times)| times).sum()
        };
        let (well, not) = (ended(true), ended(false));
        assert!(well > 0 && not * 5 <= well, "{what}: {well} went well, {not} did not");
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered: usize = self.answers.values().sum();
        writeln!(
            f,
            "{} calls, {answered} answers, {} late, {} lost",
            self.asked,
            self.late.len(),
            self.lost.len()
        )?;
        writeln!(f, "latest answer {:?} after its budget", self.latest)?;
        let (held, lies) = (self.held, self.lies.len());
        write!(f, "confirmed: {held} true, {lies} false, {} could not be asked", self.unasked)?;
        for ((what, kind), times) in &self.answers {
            write!(f, "\n  {what:<12} {kind:<20} {times}")?;
        }
        Ok(())
    }
}
