//! JavaScript dialogs: which is open, which id names that one opening, who answers it. Pure.
//!
//! | file | holds |
//! |---|---|
//! | `answers` | [`Dialogs`]: open, closed, and answered by whom: an agent, an armed answer, a policy |
//! | `record` | [`DialogRecord`]: what is told of one opening |

mod answers;
mod record;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use answers::{Answer, Dialogs, Effect, Event, Handle, NotPending, Now, Policy};
pub(crate) use record::iso;
pub use record::{ClosedBy, DialogRecord};

/// How much of a message is kept.
const MESSAGE: usize = 2048;

/// Kind of a dialog, as CDP spells it (`Page.DialogType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DialogKind {
    /// `alert()`
    Alert,
    /// `confirm()`
    Confirm,
    /// `prompt()`
    Prompt,
    /// The page asks whether it may be left.
    Beforeunload,
    /// One that this version does not know.
    #[serde(other)]
    Unknown,
}

impl DialogKind {
    /// Its name, as in its JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::Beforeunload => "beforeunload",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for DialogKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One opening of a dialog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// Names this opening and no other of the tab: `d1`, `d2`, ...
    pub id: String,
    /// alert, confirm, prompt or beforeunload.
    #[serde(rename = "type")]
    pub kind: DialogKind,
    /// What the page says in it; shortened to 2048 characters.
    pub message: String,
    /// Preset text of a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_value: Option<String>,
}

/// How a dialog went away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resolution {
    /// Answered through us.
    Agent,
    /// Answered by a person or another client.
    Remote,
    /// Its page went away, or the watcher lost sight of it.
    Lost,
}

fn shortened(text: &str) -> String {
    text.chars().take(MESSAGE).collect()
}
