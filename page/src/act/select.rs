//! Choosing options of a select.

use serde::{Deserialize, Serialize};
use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::field::{FieldFacts, FieldKind};
use super::input_seen::{ChoiceSeen, InputSeen};
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::target::Target;

const SELECT: &str = include_str!("select.js");

/// How options are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptionName {
    /// By value, or by label if no option has this value.
    #[default]
    Either,
    /// By value.
    Value,
    /// By label.
    Label,
}

/// Options to choose. They become all that is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// Of which select.
    pub target: Target,
    /// Which; several only where the select takes several.
    pub options: Vec<String>,
    /// How they are named.
    pub by: OptionName,
}

#[derive(Deserialize)]
struct Shown {
    value: String,
    label: String,
}

#[derive(Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Verdict {
    None { one: String, options: Vec<Shown> },
    Ambiguous { one: String, options: Vec<Shown> },
    Disabled { one: String },
    Gone,
    Chosen(ChoiceSeen),
}

/// Chooses options and reads back what is chosen after the page had its say.
///
/// # Errors
/// Every [`ActError`]; [`ActError::Invalid`] where an option is not there, or not the only one.
pub async fn select(page: &ActPage, request: &Select, budget: &Budget) -> Result<Outcome, ActError> {
    let node = Node::find(page, &request.target, budget).await?;
    let facts = node.field(budget).await?;
    select_in(&node, &facts, request, budget).await
}

/// The same, for a field that was looked at.
pub(super) async fn select_in(
    node: &Node,
    facts: &FieldFacts,
    request: &Select,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    if facts.kind != FieldKind::Select {
        let why = format!("it is {}, no select; click it and then its option", facts.words);
        return Err(ActError::NotEditable { name: node.name(), why });
    }
    if let Some(why) = &facts.off {
        return Err(ActError::NotEditable { name: node.name(), why: why.clone() });
    }
    let invalid = |why| Err(ActError::Invalid { field: "values", why });
    if request.options.len() != 1 && !facts.multiple {
        return invalid(format!("this select takes one option, got {}", request.options.len()));
    }
    let asked = json!({ "wanted": request.options, "by": request.by });
    let mut observed = Observed { target: Some(facts.words.clone()), ..Observed::default() };
    // The page's own handlers run in it.
    let chosen = match node.ask_with(SELECT, "choose", asked, budget).await {
        Err(ActError::Dialog(dialog)) => {
            observed.dialog = Some(dialog);
            return Ok(Outcome { effect: Effect::Unverifiable, route: Route::Page, observed });
        }
        chosen => chosen.map_err(ActError::after_sending)?,
    };
    let seen = match chosen {
        Verdict::Chosen(seen) => seen,
        Verdict::Gone => {
            observed.warnings.push("the select was gone before it could be read back");
            return Ok(Outcome { effect: Effect::Unverifiable, route: Route::Page, observed });
        }
        Verdict::None { one, options } => {
            return invalid(format!("no option {:?}; there are {}", short(&one), listed(&options)));
        }
        Verdict::Ambiguous { one, options } => {
            return invalid(format!("several options {:?} among {}", short(&one), listed(&options)));
        }
        Verdict::Disabled { one } => return invalid(format!("option {:?} is disabled", short(&one))),
    };
    let effect = if seen.reverted { Effect::SuspectedNoop } else { Effect::Confirmed };
    observed.input = Some(InputSeen::Choice(seen));
    Ok(Outcome { effect, route: Route::Page, observed })
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

fn listed(options: &[Shown]) -> String {
    let one = |it: &Shown| format!("{:?} ({})", short(&it.value), short(&it.label));
    let all: Vec<String> = options.iter().map(one).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
