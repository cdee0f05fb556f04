//! Filling several fields.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use tabvisor_cdp::budget::Budget;

use super::check::check_it;
use super::error::ActError;
use super::field::{FieldFacts, FieldKind};
use super::input_seen::InputSeen;
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::select::{OptionName, Select, select_in};
use super::target::Target;
use super::text_plan::TypeMode;
use super::type_text::{TypeText, type_into};

/// A field and what it is to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct FillField {
    /// Which.
    pub target: Target,
    /// Text, a number, true or false; null empties it. What is no text checks what can be
    /// checked; an array chooses several options.
    pub value: Value,
}

/// What became of one field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldSeen {
    /// As the caller named it.
    pub field: String,
    /// How sure it is.
    pub effect: Effect,
    /// What the page saw.
    pub observed: Observed,
    /// Why it was not filled, as a word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Why it was not filled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Fills fields in their order, each by what it is: text replaces, a checkbox or radio button is
/// checked, options are chosen. Stops at the first that fails or opens a dialog.
///
/// # Errors
/// Every [`ActError`], of the first field; once one was filled, the outcome tells of the others.
pub async fn fill(page: &ActPage, fields: &[FillField], budget: &Budget) -> Result<Outcome, ActError> {
    for field in fields {
        if matches!(field.value, Value::Object(_)) {
            let why = format!("{} must be text, a number, true, false, null or a list", field.target.name());
            return Err(ActError::Invalid { field: "fields", why });
        }
    }
    let mut seen: Vec<FieldSeen> = Vec::with_capacity(fields.len());
    let mut all = Effect::Confirmed;
    for field in fields {
        let name = field.target.name();
        match fill_one(page, field, budget).await {
            Ok(Outcome { effect, observed, .. }) => {
                let stop = observed.dialog.is_some() || observed.navigation.is_some();
                seen.push(FieldSeen { field: name, effect, observed, reason: None, error: None });
                if effect != Effect::Confirmed {
                    all = Effect::Partial;
                }
                if stop {
                    break;
                }
            }
            Err(error) if seen.is_empty() => return Err(error),
            Err(error) => {
                let effect = if error.was_sent() { Effect::Unverifiable } else { Effect::Refused };
                let (reason, error) = (Some(error.kind()), Some(error.to_string()));
                seen.push(FieldSeen { field: name, effect, observed: Observed::default(), reason, error });
                break;
            }
        }
    }
    if seen.len() < fields.len() || seen.iter().any(|it| it.error.is_some()) {
        all = Effect::Partial;
    }
    let dialog = seen.last().and_then(|it| it.observed.dialog.clone());
    let navigation = seen.last().and_then(|it| it.observed.navigation.clone());
    let input = Some(InputSeen::Fields { fields: seen });
    let observed = Observed { input, navigation, dialog, ..Observed::default() };
    Ok(Outcome { effect: all, route: Route::TrustedInput, observed })
}

async fn fill_one(page: &ActPage, field: &FillField, budget: &Budget) -> Result<Outcome, ActError> {
    let node = Node::find(page, &field.target, budget).await?;
    let facts = node.field(budget).await?;
    let target = field.target.clone();
    match facts.kind {
        FieldKind::Checkbox | FieldKind::Radio | FieldKind::AriaCheckbox | FieldKind::AriaRadio => {
            let checked = checked(&field.value)?;
            check_it(page, &target, (&node, &facts), checked, budget).await
        }
        FieldKind::Select => {
            let options = match &field.value {
                Value::Array(all) => all.iter().map(text).collect::<Result<_, _>>()?,
                one => vec![text(one)?],
            };
            let select = Select { target, options, by: OptionName::Either };
            select_in(&node, &facts, &select, budget).await
        }
        _ => fill_text(page, node, &facts, target, text(&field.value)?, budget).await,
    }
}

async fn fill_text(
    page: &ActPage,
    node: Node,
    facts: &FieldFacts,
    target: Target,
    text: String,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let (mode, delay) = (TypeMode::InsertText, Duration::ZERO);
    let request = TypeText { target, text, mode, replace: true, submit: false, delay };
    type_into(page, node, facts, &request, budget).await
}

/// As the field of a form would be told.
fn text(value: &Value) -> Result<String, ActError> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        _ => Err(bad_value("must be text, a number, true, false or null for this field")),
    }
}

fn checked(value: &Value) -> Result<bool, ActError> {
    match value {
        Value::Bool(checked) => Ok(*checked),
        Value::Null => Ok(false),
        Value::Number(number) if number.as_f64() == Some(1.0) => Ok(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Ok(false),
        Value::String(text) if matches!(&**text, "1" | "true") => Ok(true),
        Value::String(text) if matches!(&**text, "0" | "false" | "") => Ok(false),
        _ => Err(bad_value("must be true or false for what can be checked")),
    }
}

fn bad_value(why: &str) -> ActError {
    ActError::Invalid { field: "fields", why: format!("value {why}") }
}
