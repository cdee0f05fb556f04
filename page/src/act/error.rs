//! Why an action was not done, or is not known to have been.

use std::time::Duration;

use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::CdpError;

use crate::dialog::Dialog;
use crate::refs::StaleRef;

/// Why an action was not done, or is not known to have been. [`was_sent`](Self::was_sent) tells
/// the two apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// The request cannot be.
    #[error("{field}: {why}")]
    Invalid {
        /// The field of the request.
        field: &'static str,
        /// What is wrong with it, and what is allowed.
        why: String,
    },
    /// The selector is none.
    #[error("selector {0:?} is not a valid CSS selector")]
    BadSelector(String),
    /// The selector matches nothing.
    #[error("Element {0:?} not found or not visible. Run a new snapshot to see current page elements.")]
    NoMatch(String),
    /// The selector matches several.
    #[error(
        "Selector {name:?} matched {count} elements. Run a new snapshot and use a ref from it, or a selector that matches one."
    )]
    Ambiguous {
        /// The selector.
        name: String,
        /// How many match.
        count: u32,
    },
    /// The ref names nothing any more.
    #[error(transparent)]
    Stale(StaleRef),
    /// It has no box that can be seen, or cannot be scrolled to where it can.
    #[error("Element {0:?} not found or not visible. Run a new snapshot to see current page elements.")]
    NotVisible(String),
    /// It does not stand still.
    #[error("Element {0:?} is not interactable (it keeps moving). Wait until it stands still and try again.")]
    Moving(String),
    /// It or something it belongs to is disabled.
    #[error("Element {name:?} is not enabled ({by}). It takes no input until the page enables it.")]
    Disabled {
        /// The element as the caller named it.
        name: String,
        /// What disables it.
        by: String,
    },
    /// Something lies over it.
    #[error(
        "Element {name:?} is not interactable (covered; another element intercepts pointer events): {by}. Close or scroll away what covers it, or run a new snapshot."
    )]
    Covered {
        /// The element as the caller named it.
        name: String,
        /// What covers it, in words.
        by: String,
    },
    /// It takes no text, or not in this way.
    #[error("Element {name:?} is not editable: {why}")]
    NotEditable {
        /// The element as the caller named it.
        name: String,
        /// Why, and what to use instead.
        why: String,
    },
    /// A dialog is open; nothing was sent.
    #[error("a {} dialog is open ({}); answer it first", .0.kind, .0.id)]
    Dialog(Dialog),
    /// The renderer is dead.
    #[error("the renderer crashed")]
    Crashed {
        /// Something of the action was sent before.
        sent: bool,
    },
    /// The document went away under the action.
    #[error("the page navigated away")]
    Navigated {
        /// Something of the action was sent before.
        sent: bool,
    },
    /// The budget ended first.
    #[error("the action timed out after {} ms ({})", .elapsed.as_millis(), sent_words(*.sent))]
    TimedOut {
        /// The whole budget.
        budget: Duration,
        /// Time from its start.
        elapsed: Duration,
        /// Something of the action was sent before.
        sent: bool,
    },
    /// The caller cancelled.
    #[error("the action was cancelled after {} ms ({})", .elapsed.as_millis(), sent_words(*.sent))]
    Aborted {
        /// Time from the start of the budget.
        elapsed: Duration,
        /// Something of the action was sent before.
        sent: bool,
    },
    /// The page gave an answer that cannot be.
    #[error("the page's answer could not be read: {0}")]
    Unreadable(String),
    /// It was sent, and the page has something else.
    #[error("{0}")]
    Incomplete(String),
    /// The click arrived, and the page opened no file chooser.
    #[error(
        "Element {name:?} was clicked, and no file chooser opened within {} ms; use inputRef or element to name the file input itself",
        .waited.as_millis()
    )]
    NoChooser {
        /// The element as the caller named it.
        name: String,
        /// How long.
        waited: Duration,
    },
    /// The link or Chromium failed.
    #[error("{error}")]
    Link {
        /// How.
        error: CdpError,
        /// Something of the action was sent before.
        sent: bool,
    },
}

fn sent_words(sent: bool) -> &'static str {
    if sent { "it was sent, and what became of it is not known" } else { "nothing was sent" }
}

impl ActError {
    /// A word for programs; it never changes.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_argument",
            Self::BadSelector(_) => "bad_selector",
            Self::NoMatch(_) => "no_match",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Stale(_) => "stale_ref",
            Self::NotVisible(_) => "not_visible",
            Self::Moving(_) => "moving",
            Self::Disabled { .. } => "disabled",
            Self::Covered { .. } => "covered",
            Self::NotEditable { .. } => "not_editable",
            Self::Dialog(_) => "dialog_open",
            Self::Crashed { .. } => "crashed",
            Self::Navigated { .. } => "navigated",
            Self::TimedOut { .. } => "timeout",
            Self::Aborted { .. } => "aborted",
            Self::Unreadable(_) => "unreadable",
            Self::Incomplete(_) => "input_incomplete",
            Self::NoChooser { .. } => "no_chooser",
            Self::Link { .. } => "link",
        }
    }

    /// Whether something of the action was sent, so that it may have happened.
    pub fn was_sent(&self) -> bool {
        match self {
            Self::Crashed { sent }
            | Self::Navigated { sent }
            | Self::TimedOut { sent, .. }
            | Self::Aborted { sent, .. }
            | Self::Link { sent, .. } => *sent,
            Self::Incomplete(_) | Self::NoChooser { .. } => true,
            _ => false,
        }
    }

    /// The same, of an action of which something was sent.
    #[must_use]
    pub fn after_sending(mut self) -> Self {
        if let Self::Crashed { sent }
        | Self::Navigated { sent }
        | Self::TimedOut { sent, .. }
        | Self::Aborted { sent, .. }
        | Self::Link { sent, .. } = &mut self
        {
            *sent = true;
        }
        self
    }

    /// The budget is spent.
    pub(super) fn spent(budget: &Budget, spent: Spent) -> Self {
        match spent {
            Spent::Expired { total, elapsed } => Self::TimedOut { budget: total, elapsed, sent: false },
            Spent::Cancelled { .. } => Self::Aborted { elapsed: budget.elapsed(), sent: false },
        }
    }
}

impl From<CdpError> for ActError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Crashed => Self::Crashed { sent: false },
            CdpError::Spent { spent: Spent::Expired { total, elapsed }, .. } => {
                Self::TimedOut { budget: total, elapsed, sent: false }
            }
            CdpError::Spent { spent: Spent::Cancelled { elapsed }, .. } => {
                Self::Aborted { elapsed, sent: false }
            }
            error => Self::Link { error, sent: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refs::StaleReason;

    #[test]
    fn the_texts_teach_what_clients_look_for() {
        let text = ActError::NotVisible("e8".into()).to_string();
        let wanted =
            "Element \"e8\" not found or not visible. Run a new snapshot to see current page elements.";
        assert_eq!(text, wanted);
        let text = ActError::Ambiguous { name: "button".into(), count: 5 }.to_string();
        assert!(text.starts_with("Selector \"button\" matched 5 elements."), "{text}");
        let text = ActError::Disabled { name: "e6".into(), by: "disabled".into() }.to_string();
        assert!(text.starts_with("Element \"e6\" is not enabled"), "{text}");
        let text = ActError::Covered { name: "e6".into(), by: "div#banner".into() }.to_string();
        let wanted = "is not interactable (covered; another element intercepts pointer events)";
        assert!(text.contains(wanted) && text.contains("div#banner"), "{text}");
    }

    #[test]
    fn what_was_sent_is_told() {
        let error = ActError::from(CdpError::Crashed);
        assert!(!error.was_sent() && error.after_sending().was_sent());
        let stale = ActError::Stale(StaleRef::new("e1", StaleReason::NodeDetached));
        assert!(!stale.after_sending().was_sent(), "a proof that failed comes before everything");
    }
}
