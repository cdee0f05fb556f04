//! What the page saw of text, keys, choices and files.

use serde::Serialize;

use super::field::FieldAfterEnter;
use super::fill::FieldSeen;

/// What the page saw of input other than the pointer's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum InputSeen {
    /// Of text.
    Text(TextSeen),
    /// Of a key.
    Key(KeySeen),
    /// Of options of a select.
    Choice(ChoiceSeen),
    /// Of files.
    Files {
        /// As the page has them.
        files: Vec<FileSeen>,
    },
    /// Of several fields.
    Fields {
        /// Those that were tried, in their order.
        fields: Vec<FieldSeen>,
    },
}

/// What the page saw of text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextSeen {
    /// Unicode scalar values that were asked for, without a newline that stands for Enter.
    pub requested_chars: usize,
    /// How many of them arrived.
    pub delivered_chars: usize,
    /// The field holds something else than what was asked for.
    pub differs_from_requested: bool,
    /// What it holds, cut at 2000 characters; never a password's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// How long it is, where it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_chars: Option<usize>,
    /// Whether the page saw Enter, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enter_pressed: Option<bool>,
    /// What became of the field then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_after_enter: Option<FieldAfterEnter>,
    /// Another element that got text meanwhile, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
}

/// What the page saw of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeySeen {
    /// The chord as it was understood.
    pub chord: String,
    /// A frame of another document has the focus, so it could not be looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_frame: bool,
    /// The page saw it go down.
    pub seen: bool,
    /// The element that got it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// The page kept the browser from doing what the key does by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_prevented: Option<bool>,
}

/// What is selected after options were chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceSeen {
    /// Values of the selected options.
    pub selected: Vec<String>,
    /// Their labels.
    pub labels: Vec<String>,
    /// The page undid it.
    pub reverted: bool,
}

/// A file as the page has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct FileSeen {
    /// Its name without folder.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}
