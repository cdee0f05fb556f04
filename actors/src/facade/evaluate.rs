//! Evaluates: on a link of their own, neither queued behind the tab's actions nor in their way.

use serde::Serialize;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::evaluate::{Element, EvaluateError, Script, Value};
use tabvisor_page::refs::{StaleReason, StaleRef};

use super::Supervisor;
use super::admission::{check_budget, permit};
use super::ask::{Unanswered, ask};
use super::explain::{self, explain};
use super::tabs::unexpected;
use tokio::time::Instant;

use crate::action::{Action, Done};
use crate::error::TabError;
use crate::evaluates::{EvaluatesMsg, Run};
use crate::ids::TabId;
use crate::outcome::outcome_word;
use crate::registry::TabHandle;
use crate::shared::TabShared;

/// What to evaluate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvaluateRequest {
    /// A function, an expression, or the body of an async function.
    pub function: String,
    /// Largest result in bytes of JSON; the configured limit where it is absent or larger.
    pub max_result_bytes: Option<usize>,
    /// The element that it gets as `el`.
    pub on: Option<On>,
    /// How that element is found.
    pub engine: Engine,
}

/// An element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// By its ref, in any of its spellings.
    Ref(String),
    /// By its DOM node (`backendDOMNodeId`) in the page's own process; for debugging.
    Node(i64),
}

/// How an element is found, and was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// As `Cdp` where the ref has a DOM node, else as `Page`.
    #[default]
    Auto,
    /// By its DOM node.
    Cdp,
    /// By role, name and place, in the page as it is now.
    Page,
}

/// Why an element was not found by its DOM node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// Its ref has none.
    NoDomNode,
    /// The request asked for it.
    Requested,
}

/// What an evaluate gave.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    /// The value.
    #[serde(flatten)]
    pub value: Value,
    /// How its element was found, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// Why it was not found by its DOM node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_reason: Option<FallbackReason>,
}

impl EvaluateRequest {
    /// Evaluates `function` with the configured limits.
    pub fn new(function: impl Into<String>) -> Self {
        Self { function: function.into(), ..Self::default() }
    }
}

/// An element that was found, and how.
#[derive(Default)]
struct Found {
    element: Option<Element>,
    fallback: Option<FallbackReason>,
}

impl Supervisor {
    /// Evaluates in a tab, on a link of its own: neither queued behind the tab's actions nor in
    /// their way.
    ///
    /// # Errors
    /// Bad input, limits, [`TabError::StaleRef`], [`TabError::Ambiguous`], [`TabError::Stuck`],
    /// [`TabError::Evaluate`], and whatever ends a call.
    pub async fn evaluate(
        &self,
        tab: TabId,
        request: EvaluateRequest,
        budget: &Budget,
    ) -> Result<Evaluated, TabError> {
        let handle = self.inner.registry.tab(tab)?;
        let limits = &handle.shared.browser.limits;
        check_function(&request.function, limits.max_script_bytes)?;
        check_budget(budget, limits.max_budget())?;
        let max_result_bytes = request.max_result_bytes.unwrap_or(usize::MAX).min(limits.max_result_bytes);
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let EvaluateRequest { function, on, engine, .. } = request;
        let mut measured = Measured {
            budget: budget.clone(),
            engine: if engine == Engine::Page && on.is_some() { Engine::Page } else { Engine::Cdp },
            outcome: "aborted",
        };
        let shared = handle.shared.clone();
        let outcome = async {
            let Found { element, fallback } = self.find(&shared, on.as_ref(), engine, &budget).await?;
            if let Some(reason) = fallback {
                measured.engine = Engine::Page;
                tracing::debug!(%tab, ?reason, "an element is found by role, name and place");
                metrics::counter!("tabvisor_evaluate_fallback_total", "reason" => reason.word()).increment(1);
            }
            let script = Script { text: function, max_result_bytes, element };
            let value =
                self.run(handle, script, &budget).await.map_err(|error| name_ref(error, on.as_ref()))?;
            Ok(Evaluated { value, engine: on.as_ref().map(|_| measured.engine), fallback_reason: fallback })
        };
        let outcome = outcome.await;
        if let (Err(TabError::StaleRef(stale)), Some(On::Ref(text))) = (&outcome, &on) {
            forget(&shared, text, stale.reason);
        }
        measured.outcome = outcome_word(outcome.as_ref().map(|_| ()), "value");
        outcome
    }

    /// The element that a request names.
    async fn find(
        &self,
        tab: &TabShared,
        on: Option<&On>,
        engine: Engine,
        budget: &Budget,
    ) -> Result<Found, TabError> {
        let text = match on {
            None => return Ok(Found::default()),
            Some(On::Node(_)) if engine == Engine::Page => {
                return Err(TabError::BadInput {
                    field: "engine",
                    why: "page finds elements by their ref; give one, or use cdp".into(),
                });
            }
            Some(On::Node(backend_node_id)) => {
                let element = Some(Element { backend_node_id: *backend_node_id, frame_target: None });
                return Ok(Found { element, fallback: None });
            }
            Some(On::Ref(text)) => text,
        };
        let (named, frame_target) = tab.named(text)?;
        let (node, fallback) = match (named.backend_node_id, engine) {
            (Some(node), Engine::Auto | Engine::Cdp) => (node, None),
            (None, Engine::Cdp) => {
                return Err(TabError::BadInput {
                    field: "engine",
                    why: format!("{} has no DOM node; use auto or page", named.id),
                });
            }
            (known, _) => {
                let node = match self.act(tab.id, Action::Find(named.id), budget).await? {
                    Done::Found(node) => node,
                    other => return Err(unexpected(&other)),
                };
                let reason =
                    if known.is_none() { FallbackReason::NoDomNode } else { FallbackReason::Requested };
                (node, Some(reason))
            }
        };
        Ok(Found { element: Some(Element { backend_node_id: node, frame_target }), fallback })
    }

    pub(super) async fn run(
        &self,
        mut handle: TabHandle,
        script: Script,
        budget: &Budget,
    ) -> Result<Value, TabError> {
        handle.shared.unless_recovering()?;
        for again in [true, false] {
            let limits = &handle.shared.browser.limits;
            let permits = [
                permit(&handle.shared.evaluates, "limits.evaluates_per_tab", limits.evaluates_per_tab)?,
                permit(
                    &handle.shared.browser.evaluates,
                    "limits.evaluates_per_browser",
                    limits.evaluates_per_browser,
                )?,
            ];
            let (script, run_budget) = (script.clone(), budget.clone());
            let run = |reply| {
                EvaluatesMsg::Run(Box::new(Run {
                    script,
                    budget: run_budget,
                    asked: Instant::now(),
                    span: tracing::Span::current(),
                    reply,
                    permits,
                }))
            };
            match ask(&handle.evaluates, budget, run).await {
                Ok(outcome) => return explain(&handle.shared, outcome, budget).await,
                // Nothing was sent: the actor was replaced. Once more with the one that is there.
                Err(Unanswered::NotSent) if again => {
                    handle = self.rewired(handle, budget).await?;
                }
                Err(unanswered) => return Err(explain::unanswered(&handle.shared, unanswered, budget).await),
            }
        }
        Err(explain::restarting(&handle.shared))
    }
}

/// One evaluate, counted when it is over: also when its caller went away, which drops the call where it is.
struct Measured {
    budget: Budget,
    engine: Engine,
    outcome: &'static str,
}

impl Drop for Measured {
    fn drop(&mut self) {
        let engine = if self.engine == Engine::Page { "page" } else { "cdp" };
        metrics::counter!("tabvisor_evaluates_total", "engine" => engine).increment(1);
        if self.outcome == "timeout" {
            metrics::counter!("tabvisor_evaluate_timeouts_total", "engine" => engine).increment(1);
        }
        let outcome = self.outcome;
        metrics::histogram!("tabvisor_evaluate_duration_seconds", "engine" => engine, "outcome" => outcome)
            .record(self.budget.elapsed().as_secs_f64());
    }
}

impl FallbackReason {
    /// Its name as a label.
    fn word(self) -> &'static str {
        match self {
            Self::NoDomNode => "no_backend_node_id",
            Self::Requested => "forced",
        }
    }
}

pub(super) fn check_function(function: &str, limit: usize) -> Result<(), TabError> {
    let why = if function.trim().is_empty() {
        "is empty; give a function, an expression or statements".to_owned()
    } else if function.len() > limit {
        format!("has {} bytes, over the limit of {limit} (limits.max_script_bytes)", function.len())
    } else {
        return Ok(());
    };
    Err(TabError::BadInput { field: "fn", why })
}

/// The page said that the element is gone: which ref that was.
fn name_ref(error: TabError, on: Option<&On>) -> TabError {
    match (error, on) {
        (TabError::Evaluate(EvaluateError::Stale(reason)), Some(On::Ref(text))) => {
            StaleRef::new(text, reason).into()
        }
        (error, _) => error,
    }
}

/// What left its document stays gone until a snapshot sees it again.
fn forget(tab: &TabShared, text: &str, reason: StaleReason) {
    let mut memory = tab.memory();
    if let (StaleReason::NodeDetached, Ok(id)) = (reason, memory.resolve(text).map(|named| named.id)) {
        memory.detached(id);
    }
}
