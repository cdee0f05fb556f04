//! A field: what kind it is, what it holds, and what became of text that was entered.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::node::Node;

const FIELD: &str = include_str!("field.js");

/// What kind of field an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// An input of one line of text.
    Line,
    /// An input whose value is no text: date, time, color, range.
    Value,
    /// A textarea.
    Textarea,
    /// Something contenteditable.
    Editable,
    /// A select.
    Select,
    /// A checkbox.
    Checkbox,
    /// A radio button.
    Radio,
    /// An element with a role that can be checked.
    AriaCheckbox,
    /// An element with the role of a radio button.
    AriaRadio,
    /// A file input.
    File,
    /// An input that is a button.
    Button,
    /// No field.
    Other,
}

impl FieldKind {
    /// Whether it has one line only.
    pub(super) fn is_single_line(self) -> bool {
        matches!(self, Self::Line | Self::Value)
    }

    /// Why no text is entered into it, and what to do instead.
    pub(super) fn why_no_text(self) -> Option<&'static str> {
        Some(match self {
            Self::Line | Self::Value | Self::Textarea | Self::Editable => return None,
            Self::Select => "it is a select; use select with a label or value",
            Self::Checkbox | Self::Radio | Self::AriaCheckbox | Self::AriaRadio => {
                "it is a checkbox or radio button; use check"
            }
            Self::File => "it is a file input; use upload",
            Self::Button => "it is a button; use click",
            Self::Other => "it is neither an input nor a textarea nor contenteditable",
        })
    }
}

/// What was found out about a field.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FieldFacts {
    pub(super) kind: FieldKind,
    /// The field in words; a label stands for its field.
    pub(super) words: String,
    /// Why it takes no input now.
    pub(super) off: Option<String>,
    pub(super) read_only: bool,
    /// `type` of an input.
    pub(super) r#type: String,
    pub(super) checked: Option<String>,
    pub(super) multiple: bool,
    /// It has the focus.
    pub(super) focused: bool,
}

#[derive(Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Probed {
    Field(FieldFacts),
    Detached,
}

#[derive(Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Focus {
    Here {
        #[serde(default)]
        empty: bool,
    },
    Detached,
    Elsewhere {
        by: String,
    },
}

/// What a field holds after text was entered, compared with what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// What was asked for.
    Equal,
    /// All of it, in another shape.
    Rewritten,
    /// Not all of it.
    Different,
    /// What it held before.
    Unchanged,
    /// The field left the page.
    Gone,
}

/// What a field holds after text was entered.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadBack {
    pub(super) verdict: Verdict,
    /// How many characters of the text are in it.
    pub(super) arrived: usize,
    /// Another element that got text meanwhile.
    pub(super) elsewhere: Option<String>,
    /// Cut; never a password's.
    pub(super) value: Option<String>,
    /// Its length, where it was cut.
    pub(super) value_chars: Option<usize>,
}

/// What a field holds after Enter was pressed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldAfterEnter {
    /// Nothing.
    Cleared,
    /// What it held before.
    Unchanged,
    /// Something else.
    Changed,
    /// The field left the page, or the page was left.
    Replaced,
}

impl Node {
    pub(super) async fn field(&self, budget: &Budget) -> Result<FieldFacts, ActError> {
        match self.ask("probe", Value::Null, budget).await? {
            Probed::Field(facts) => Ok(facts),
            Probed::Detached => Err(self.detached()),
        }
    }

    /// What an input of the same kind makes of `text`.
    pub(super) async fn would_hold(&self, text: &str, budget: &Budget) -> Result<String, ActError> {
        self.ask("wouldHold", json!({ "text": text }), budget).await
    }

    /// Gives it the focus.
    pub(super) async fn focus(&self, budget: &Budget) -> Result<(), ActError> {
        let focused = self.ask("focusField", Value::Null, budget).await?;
        self.judge_focus(focused).map(|_| ())
    }

    /// Focuses it, selects what is to be replaced, and listens who gets the text. Whether it was
    /// empty.
    pub(super) async fn prepare(&self, text: &str, replace: bool, budget: &Budget) -> Result<bool, ActError> {
        let asked = json!({ "text": text, "replace": replace, "left": budget.left_ms() });
        self.ask("prepare", asked, budget).await.and_then(|focused| self.judge_focus(focused))
    }

    fn judge_focus(&self, focus: Focus) -> Result<bool, ActError> {
        match focus {
            Focus::Here { empty } => Ok(empty),
            Focus::Detached => Err(self.detached()),
            Focus::Elsewhere { by } => {
                let why = format!("it does not keep the focus, which is now on {by}; use that one");
                Err(ActError::NotEditable { name: self.name(), why })
            }
        }
    }

    /// Gives it the text that it was prepared for, with the native setter and the events that make a
    /// page look.
    pub(super) async fn set_value(&self, budget: &Budget) -> Result<(), ActError> {
        self.ask("setValue", Value::Null, budget).await
    }

    /// Ends a paragraph at the caret, without a key.
    pub(super) async fn new_paragraph(&self, budget: &Budget) -> Result<(), ActError> {
        self.ask::<bool>("newParagraph", Value::Null, budget).await.map(|_| ())
    }

    /// What it holds now; waits up to half a second for a page that rewrites it.
    pub(super) async fn read_back(&self, budget: &Budget) -> Result<ReadBack, ActError> {
        let most = (budget.left_ms() / 2).min(500);
        self.ask("readBack", json!({ "most": most }), budget).await
    }

    /// What it holds a moment after Enter.
    pub(super) async fn after_enter(&self, budget: &Budget) -> Result<FieldAfterEnter, ActError> {
        self.ask("afterEnter", Value::Null, budget).await
    }

    /// Whether it has the focus, or something inside of it.
    pub(super) async fn has_focus(&self, budget: &Budget) -> Result<bool, ActError> {
        self.ask("isFocused", Value::Null, budget).await
    }

    /// Whether it holds a document of its own.
    pub(super) async fn is_frame(&self, budget: &Budget) -> Result<bool, ActError> {
        self.ask("isFrame", Value::Null, budget).await
    }

    /// Calls one of the functions of `field.js`.
    async fn ask<T: DeserializeOwned>(
        &self,
        function: &str,
        asked: Value,
        budget: &Budget,
    ) -> Result<T, ActError> {
        self.ask_with("", function, asked, budget).await
    }

    /// Calls one of the functions of `more`, which may use those of `field.js`.
    pub(super) async fn ask_with<T: DeserializeOwned>(
        &self,
        more: &str,
        function: &str,
        asked: Value,
        budget: &Budget,
    ) -> Result<T, ActError> {
        self.call(&format!("(it,asked)=>{{{FIELD}\n{more}\nreturn {function}(it,asked)}}"), asked, budget)
            .await
    }
}
