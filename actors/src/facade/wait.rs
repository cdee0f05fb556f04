//! Waiting: what the page shows in its Tab, a function by evaluates.

use std::time::Duration;

use serde_json::value::RawValue;
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_page::act::ActError;
use tabvisor_page::evaluate::{EvaluateError, Script, Value};
use tabvisor_page::wait::Late;

use tokio::time::Instant;

use super::Supervisor;
use super::evaluate::check_function;
use super::tabs::unexpected;
use crate::action::{Action, Done, Held, Wait, Waited, elapsed_ms};
use crate::error::TabError;
use crate::ids::TabId;

/// How long between two runs of a function. What it looks at may be anything, so no event tells.
const PAUSE: Duration = Duration::from_millis(50);

/// A page that answered so shortly before the end is called responsive.
const RECENT: Duration = Duration::from_millis(250);

impl Supervisor {
    /// Waits until everything that `wait` names has held, one after the other. It begins in its
    /// turn behind the actions that were asked for before, and then does not hold up those that
    /// come after: they may bring about what it waits for. A dialog or a dead renderer is told at
    /// once; a page that is stuck is waited for.
    ///
    /// # Errors
    /// [`TabError::Wait`] at the end of the budget, with what was missing; [`TabError::Dialog`],
    /// [`TabError::StaleRef`], [`TabError::Evaluate`], limits, and whatever ends a call.
    pub async fn wait(&self, tab: TabId, wait: Wait, budget: &Budget) -> Result<Waited, TabError> {
        wait.check()?;
        if let Some(function) = &wait.function {
            let handle = self.inner.registry.tab(tab)?;
            check_function(function, handle.shared.browser.limits.max_script_bytes)?;
        }
        let function = wait.function.clone();
        let mut held = match self.act(tab, Action::Wait(Box::new(wait)), budget).await? {
            Done::Waited(held) => held,
            other => return Err(unexpected(&other)),
        };
        if let Some(function) = function {
            self.until(tab, function, budget).await?;
            held.push(Held::now("fn", budget));
        }
        Ok(Waited { held, elapsed_ms: elapsed_ms(budget) })
    }

    /// Evaluates `function` until it gives something true.
    async fn until(&self, tab: TabId, function: String, budget: &Budget) -> Result<(), TabError> {
        let budget = budget.scoped();
        let _cancel = budget.cancel_on_drop();
        let mut page_responsive = None;
        let mut answered: Option<Instant> = None;
        loop {
            let handle = self.inner.registry.tab(tab)?;
            let max_result_bytes = handle.shared.browser.limits.max_result_bytes;
            let script = Script { text: function.clone(), max_result_bytes, element: None };
            match self.run(handle, script, &budget).await {
                Ok(value) if is_true(&value) => return Ok(()),
                Ok(_) => {
                    page_responsive = Some(true);
                    answered = Some(Instant::now());
                }
                // It may not stay so.
                Err(TabError::Stuck { .. }) => page_responsive = Some(false),
                Err(TabError::Evaluate(EvaluateError::TimedOut(expiry))) => {
                    let late = late(expiry.budget, expiry.elapsed);
                    // The last run may have had no time to tell.
                    let just_did = answered.is_some_and(|at| at.elapsed() < RECENT);
                    let page_responsive = Some(expiry.page_responsive || just_did);
                    return Err(TabError::Wait(Box::new(Late { page_responsive, ..late })));
                }
                // The next document is asked; and whoever finds the budget spent is told so below.
                Err(
                    TabError::Evaluate(EvaluateError::Navigated)
                    | TabError::Budget { spent: Spent::Expired { .. }, .. },
                ) => {}
                Err(error) => return Err(error),
            }
            match budget.run(tokio::time::sleep(PAUSE)).await {
                Ok(()) => {}
                Err(Spent::Cancelled { elapsed }) => {
                    return Err(ActError::Aborted { elapsed, sent: false }.into());
                }
                Err(Spent::Expired { total, elapsed }) => {
                    let late = late(total, elapsed);
                    return Err(TabError::Wait(Box::new(Late { page_responsive, ..late })));
                }
            }
        }
    }
}

fn late(budget: Duration, elapsed: Duration) -> Late {
    Late::new("fn", "the function to give something true".into(), budget, elapsed)
}

/// As JavaScript sees it.
fn is_true(value: &Value) -> bool {
    let result = value.result.as_deref().map(RawValue::get);
    match (value.unserializable.as_deref(), value.kind.as_str()) {
        (Some(text), _) => !matches!(text, "NaN" | "-0" | "0n"),
        (None, "undefined" | "null") => false,
        (None, _) => !matches!(result, Some("false" | "0" | "\"\"" | "null")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(kind: &str, result: Option<&str>, unserializable: Option<&str>) -> Value {
        Value {
            result: result.map(|text| RawValue::from_string(text.into()).unwrap()),
            kind: kind.into(),
            unserializable: unserializable.map(Into::into),
            inside: std::collections::BTreeMap::default(),
            missing: None,
        }
    }

    #[test]
    fn what_is_true_in_javascript_is_true_here() {
        for (kind, result, unserializable) in [
            ("undefined", None, None),
            ("null", Some("null"), None),
            ("boolean", Some("false"), None),
            ("number", Some("0"), None),
            ("number", Some("0"), Some("-0")),
            ("number", Some("null"), Some("NaN")),
            ("bigint", None, Some("0n")),
            ("string", Some("\"\""), None),
        ] {
            assert!(!is_true(&value(kind, result, unserializable)), "{kind} {result:?} {unserializable:?}");
        }
        for (kind, result, unserializable) in [
            ("boolean", Some("true"), None),
            ("number", Some("-1"), None),
            ("number", Some("null"), Some("Infinity")),
            ("bigint", None, Some("1n")),
            ("string", Some("\"0\""), None),
            ("object", Some("{}"), None),
            ("function", None, None),
            // Too large to be sent.
            ("string", None, None),
        ] {
            assert!(is_true(&value(kind, result, unserializable)), "{kind} {result:?} {unserializable:?}");
        }
    }
}
