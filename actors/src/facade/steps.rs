//! Several steps in one call: each is a call of its own, one after the other, within one budget.

use std::time::Duration;

use serde::Serialize;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::NavigationState;
use tabvisor_page::navigate::{self, Landed, Move, WaitUntil};

use super::Supervisor;
use super::evaluate::{EvaluateRequest, Evaluated, check_function};
use crate::action::{Act, Acted, Wait, Waited};
use crate::error::TabError;
use crate::ids::TabId;
use crate::shared::TabShared;

/// Steps that are done one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// What to do.
    pub steps: Vec<Step>,
    /// Go on after a step that failed.
    pub go_on: bool,
}

/// One of several steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What to do.
    pub what: StepKind,
    /// Its part of the budget; what is left of the whole where it is absent or larger.
    pub within: Option<Duration>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// What a user would do.
    Act(Act),
    /// Wait.
    Wait(Wait),
    /// Run a script.
    Evaluate(EvaluateRequest),
    /// Load an address. That the page navigates then is no reason to stop.
    Navigate {
        /// Which.
        url: String,
        /// How far to wait.
        until: WaitUntil,
    },
    /// Go back or forward, or load again; likewise.
    Go {
        /// Where.
        to: Move,
        /// How far to wait.
        until: WaitUntil,
    },
    /// Close the tab; it ends the steps.
    Close,
    /// More steps.
    Steps(Steps),
    /// It may not be done, for this reason; it fails in its turn.
    Denied(&'static str),
}

/// What became of several steps.
#[derive(Debug)]
pub struct Stepped {
    /// Of every step that was begun.
    pub results: Vec<StepResult>,
    /// Why not all were done.
    pub stopped: Option<Stopped>,
}

/// What became of a step.
#[derive(Debug)]
pub struct StepResult {
    /// What it gave.
    pub outcome: Result<StepDone, TabError>,
    /// Where the main frame went meanwhile.
    pub navigated: Option<String>,
}

/// What a step gave.
#[derive(Debug)]
#[expect(missing_docs, reason = "named as the kinds of steps are")]
pub enum StepDone {
    Acted(Box<Acted>),
    Waited(Waited),
    Evaluated(Box<Evaluated>),
    Landed(Landed),
    Closed,
    Stepped(Stepped),
}

/// Why and where steps stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stopped {
    /// Why.
    pub reason: StopReason,
    /// The step behind which they stopped, from 1.
    pub after_action: usize,
    /// Where the page is then, after a navigation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// How many were not begun.
    pub skipped: usize,
}

/// Why steps stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// A step failed.
    Error,
    /// A dialog is open.
    Dialog,
    /// The main frame shows another document, or is on its way to one.
    Navigation,
    /// The tab is closed.
    Closed,
    /// The budget is spent.
    Budget,
}

/// Most steps, those inside of steps included.
const MOST: usize = 100;
/// Deepest steps inside of steps.
const DEEPEST: usize = 5;
/// How long a load that a script asked for may take to begin: its answer comes on another link
/// than the news of the page.
const BEGINS: Duration = Duration::from_millis(150);
/// How long a load that a step began may take to show its document, before the next step.
const SETTLES: Duration = Duration::from_millis(500);

impl Step {
    /// A step within what is left of the budget.
    pub fn new(what: StepKind) -> Self {
        Self { what, within: None }
    }
}

impl Steps {
    /// Checks all of them; nothing is sent.
    ///
    /// # Errors
    /// [`TabError::BadInput`] naming what is wrong.
    pub fn check(&self, max_script_bytes: usize) -> Result<(), TabError> {
        let bad = |why: String| Err(TabError::BadInput { field: "actions", why });
        let count = self.count();
        if count > MOST {
            return bad(format!("are {count}, over the maximum of {MOST}"));
        }
        self.check_each(1, max_script_bytes)
    }

    fn count(&self) -> usize {
        let inside = |step: &Step| match &step.what {
            StepKind::Steps(steps) => 1 + steps.count(),
            _ => 1,
        };
        self.steps.iter().map(inside).sum()
    }

    fn check_each(&self, depth: usize, max_script_bytes: usize) -> Result<(), TabError> {
        let bad = |why: String| Err(TabError::BadInput { field: "actions", why });
        if depth > DEEPEST {
            return bad(format!("are nested deeper than {DEEPEST}"));
        }
        if self.steps.is_empty() {
            return bad("are none; give at least one".into());
        }
        for step in &self.steps {
            match &step.what {
                StepKind::Wait(wait) => {
                    wait.check()?;
                    if let Some(function) = &wait.function {
                        check_function(function, max_script_bytes)?;
                    }
                }
                StepKind::Evaluate(request) => check_function(&request.function, max_script_bytes)?,
                StepKind::Navigate { url, .. } => drop(navigate::check_url(url)?),
                StepKind::Steps(steps) => steps.check_each(depth + 1, max_script_bytes)?,
                StepKind::Act(_) | StepKind::Go { .. } | StepKind::Close | StepKind::Denied(_) => {}
            }
        }
        Ok(())
    }
}

impl Supervisor {
    /// Does several steps on a tab, one after the other, all within one budget. It stops behind a
    /// step that failed (unless told to go on), at a dialog, when the main frame goes to another
    /// document without having been told to, and when the tab is closed. All steps are checked
    /// before the first is begun. Actions of other callers may come between them.
    ///
    /// # Errors
    /// Bad input and unknown tabs. What becomes of the steps is in the answer.
    pub async fn steps(&self, tab: TabId, steps: Steps, budget: &Budget) -> Result<Stepped, TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        let limits = &shared.browser.limits;
        steps.check(limits.max_script_bytes)?;
        super::admission::check_budget(budget, limits.max_budget())?;
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        Ok(self.all(&shared, steps, &budget).await)
    }

    async fn all(&self, tab: &TabShared, Steps { steps, go_on }: Steps, budget: &Budget) -> Stepped {
        let count = steps.len();
        let mut results: Vec<StepResult> = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            let stop = |reason, after_action, url| {
                Some(Stopped { reason, after_action, url, skipped: count - after_action })
            };
            if at > 0 && budget.check().is_err() {
                return Stepped { results, stopped: stop(StopReason::Budget, at, None) };
            }
            let told_to =
                matches!(step.what, StepKind::Navigate { .. } | StepKind::Go { .. } | StepKind::Steps(_));
            let before = Before::of(tab);
            let part = step.within.map_or_else(|| budget.clone(), |within| budget.child(within));
            let outcome = Box::pin(self.step(tab, step.what, &part)).await;
            let inner = match &outcome {
                Ok(StepDone::Stepped(inner)) => inner.stopped.clone(),
                _ => None,
            };
            let is_last = at + 1 == count;
            let navigated = match &outcome {
                _ if told_to => inner.as_ref().and_then(|it| it.url.clone()),
                outcome => before.navigated(tab, outcome.as_ref().ok(), is_last, budget).await,
            };
            let reason = match &outcome {
                // The time was not its own but that of all.
                Err(error)
                    if step.within.is_none()
                        && !is_last
                        && matches!(error.kind(), "timeout" | "budget_exceeded") =>
                {
                    Some(StopReason::Budget)
                }
                outcome => reason(outcome, inner.as_ref(), navigated.is_some(), go_on),
            };
            results.push(StepResult { outcome, navigated: navigated.clone() });
            match reason {
                Some(StopReason::Error | StopReason::Navigation) if is_last => {}
                Some(reason) => return Stepped { results, stopped: stop(reason, at + 1, navigated) },
                None => {}
            }
        }
        Stepped { results, stopped: None }
    }

    async fn step(&self, tab: &TabShared, what: StepKind, budget: &Budget) -> Result<StepDone, TabError> {
        let id = tab.id;
        Ok(match what {
            StepKind::Act(act) => StepDone::Acted(Box::new(self.act_on(id, act, budget).await?)),
            StepKind::Wait(wait) => StepDone::Waited(self.wait(id, wait, budget).await?),
            StepKind::Evaluate(request) => {
                StepDone::Evaluated(Box::new(self.evaluate(id, request, budget).await?))
            }
            StepKind::Navigate { url, until } => {
                StepDone::Landed(self.navigate(id, &url, until, budget).await?)
            }
            StepKind::Go { to, until } => StepDone::Landed(self.go(id, to, until, budget).await?),
            StepKind::Close => {
                self.close(id, budget).await?;
                StepDone::Closed
            }
            StepKind::Steps(steps) => StepDone::Stepped(self.all(tab, steps, budget).await),
            StepKind::Denied(why) => return Err(TabError::Denied { why }),
        })
    }
}

/// Why nothing comes after a step with this outcome.
fn reason(
    outcome: &Result<StepDone, TabError>,
    inner: Option<&Stopped>,
    navigated: bool,
    go_on: bool,
) -> Option<StopReason> {
    let gone = |error: &TabError| {
        matches!(error.kind(), "tab_closed" | "tab_lost" | "browser_lost" | "tab_not_found" | "stopping")
    };
    match outcome {
        Ok(StepDone::Closed) => Some(StopReason::Closed),
        Ok(StepDone::Acted(acted)) if acted.outcome.observed.dialog.is_some() => Some(StopReason::Dialog),
        Err(error) if error.kind() == "dialog_open" => Some(StopReason::Dialog),
        Err(error) if gone(error) => Some(StopReason::Closed),
        _ if navigated => Some(StopReason::Navigation),
        Err(_) if !go_on => Some(StopReason::Error),
        _ => match inner.map(|it| it.reason) {
            Some(StopReason::Error) if go_on => None,
            inner => inner,
        },
    }
}

/// Where a page was before a step.
struct Before {
    generation: u64,
    loading: bool,
}

impl Before {
    fn of(tab: &TabShared) -> Self {
        let known = tab.page.borrow();
        Self { generation: known.state.generation, loading: known.state.loading }
    }

    /// Where the main frame went since, or is on its way to. Before another step, what has begun
    /// to load gets a moment to show its document or to turn out to be none (a download).
    async fn navigated(
        &self,
        tab: &TabShared,
        done: Option<&StepDone>,
        is_last: bool,
        budget: &Budget,
    ) -> Option<String> {
        if let Some(StepDone::Acted(acted)) = done
            && let Some(navigation) = &acted.outcome.observed.navigation
            && navigation.state != NavigationState::SameDocument
        {
            return Some(navigation.url.clone());
        }
        let mut page = tab.page.subscribe();
        if !is_last {
            if !self.loading && matches!(done, Some(StepDone::Evaluated(_))) {
                let begun =
                    page.wait_for(|known| known.state.loading || known.state.generation != self.generation);
                let _ = budget.child(BEGINS).run(begun).await;
            }
            let settled =
                page.wait_for(|known| !known.state.loading || known.state.generation != self.generation);
            let _ = budget.child(SETTLES).run(settled).await;
        }
        let known = page.borrow();
        let state = &known.state;
        let began = !is_last && !self.loading && state.loading;
        (state.generation != self.generation || began).then(|| state.url.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(count: usize) -> Steps {
        Steps { steps: vec![Step::new(StepKind::Close); count], go_on: false }
    }

    fn nested(depth: usize) -> Steps {
        (1..depth).fold(many(1), |inside, _| Steps {
            steps: vec![Step::new(StepKind::Steps(inside))],
            go_on: false,
        })
    }

    #[test]
    fn steps_are_bounded_in_number_and_depth() {
        assert!(many(100).check(9).is_ok() && nested(5).check(9).is_ok());
        for (steps, why) in [
            (many(0), "are none"),
            (many(101), "over the maximum of 100"),
            (nested(6), "deeper than 5"),
            (Steps { steps: vec![Step::new(StepKind::Steps(many(100)))], go_on: false }, "are 101"),
        ] {
            let said = steps.check(9).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn every_step_is_checked_before_the_first() {
        let of = |what| Steps { steps: vec![Step::new(StepKind::Close), Step::new(what)], go_on: true };
        let url = "file:///etc/passwd".to_owned();
        for what in [
            StepKind::Wait(Wait::default()),
            StepKind::Evaluate(EvaluateRequest::new(" ")),
            StepKind::Evaluate(EvaluateRequest::new("0123456789")),
            StepKind::Navigate { url, until: WaitUntil::Load },
        ] {
            assert!(of(what).check(9).is_err());
        }
    }

    #[test]
    fn what_stops_and_what_does_not() {
        let failed = || Err(TabError::Internal("x".into()));
        let closed = Err(TabError::TabClosed { tab: TabId(1) });
        let waited = || Ok(StepDone::Waited(Waited { held: Vec::new(), elapsed_ms: 0 }));
        let inner = |reason| Stopped { reason, after_action: 1, url: None, skipped: 1 };
        assert_eq!(reason(&waited(), None, false, false), None);
        assert_eq!(reason(&waited(), None, true, true), Some(StopReason::Navigation));
        assert_eq!(reason(&failed(), None, false, false), Some(StopReason::Error));
        assert_eq!(reason(&failed(), None, false, true), None);
        assert_eq!(reason(&closed, None, false, true), Some(StopReason::Closed));
        assert_eq!(reason(&Ok(StepDone::Closed), None, false, true), Some(StopReason::Closed));
        for (inside, go_on, outside) in [
            (StopReason::Error, true, None),
            (StopReason::Error, false, Some(StopReason::Error)),
            (StopReason::Dialog, true, Some(StopReason::Dialog)),
            (StopReason::Closed, true, Some(StopReason::Closed)),
        ] {
            assert_eq!(reason(&waited(), Some(&inner(inside)), false, go_on), outside);
        }
    }
}
