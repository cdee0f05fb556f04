//! The dialogs of one tab: which is open, which were, and who answers.
//!
//! ```text
//!   opened --> answer under way (armed, or by policy) --closed--> recent
//!      |                     |
//!      |                     +--answer failed--> shown
//!      +--> shown --answer--> answer under way
//! ```
//! Only `closed` takes a dialog away: a person or another client may have answered it.

use std::collections::VecDeque;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{ClosedBy, Dialog, DialogKind, DialogRecord, shortened};

/// How many closed dialogs are remembered.
const RECENT: usize = 20;

/// A moment: for expiry, and for people.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// What deadlines are compared with.
    pub instant: Instant,
    /// What is told.
    pub wall: SystemTime,
}

impl Now {
    /// Reads both clocks.
    pub fn read() -> Self {
        Self { instant: Instant::now(), wall: SystemTime::now() }
    }
}

/// What to do with a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// OK, or Cancel.
    pub accept: bool,
    /// What to enter in a prompt; without it, what it was preset with, as OK does.
    pub prompt_text: Option<String>,
}

/// What happens to dialogs that nobody was asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// They stay until somebody answers.
    #[default]
    Hold,
    /// Accepted at once.
    Accept,
    /// Dismissed at once.
    Dismiss,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// `Page.javascriptDialogOpening`.
    Opened {
        /// alert, confirm, prompt or beforeunload.
        kind: DialogKind,
        /// What the page says.
        message: String,
        /// Preset text of a prompt.
        default_value: Option<String>,
    },
    /// `Page.javascriptDialogClosed`, whoever answered.
    Closed {
        /// Its `result`.
        accepted: bool,
    },
    /// The document, the renderer or the watcher's link went away, and the dialog with it.
    Lost,
    /// Chromium did not take the answer to this one.
    AnswerFailed {
        /// Its id.
        id: String,
    },
}

/// `Page.handleJavaScriptDialog`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Which dialog it answers.
    pub id: String,
    /// OK, or Cancel.
    pub accept: bool,
    /// For prompts.
    pub prompt_text: Option<String>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It waits for an answer: every call on the tab has to know.
    Show(Dialog),
    /// Answer it.
    Handle(Handle),
    /// It is gone. A dialog that was never shown ends so, too, unless it repeats the one before
    /// and was answered by the policy: a page that alerts in a loop would be heard of everywhere.
    Closed(DialogRecord),
}

/// The dialog that was to be answered is not open, or its answer is under way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPending {
    /// One was named.
    #[error("Dialog \"{0}\" is not pending.")]
    Named(String),
    /// None was named, and none is open.
    #[error("No dialog is pending.")]
    Any,
}

#[derive(Debug)]
struct Open {
    record: DialogRecord,
    /// In full.
    default_value: Option<String>,
    /// Who answers, once somebody does.
    answered_by: Option<ClosedBy>,
    /// Everybody knows of it.
    shown: bool,
}

/// The dialogs of one tab.
#[derive(Debug, Default)]
pub struct Dialogs {
    opened: u64,
    open: Option<Open>,
    recent: VecDeque<DialogRecord>,
    policy: Policy,
    armed: Option<(Answer, Instant)>,
    closing: bool,
}

impl Dialogs {
    /// Continues after `opened` dialogs, so that no id comes twice.
    pub fn after(opened: u64) -> Self {
        Self { opened, ..Self::default() }
    }

    /// Takes what happened; the effects are in order.
    pub fn on(&mut self, event: Event, now: Now) -> Vec<Effect> {
        match event {
            Event::Opened { kind, message, default_value } => {
                // Chromium shows one at a time: the end of the other was missed.
                let mut effects = self.end(ClosedBy::Lost, None, now);
                effects.push(self.opened(kind, &message, default_value, now));
                effects
            }
            Event::Closed { accepted } => {
                let by = self.open.as_ref().and_then(|open| open.answered_by);
                self.end(by.unwrap_or(ClosedBy::Remote), Some(accepted), now)
            }
            Event::Lost => self.end(ClosedBy::Lost, None, now),
            Event::AnswerFailed { id } => match &mut self.open {
                Some(open) if open.record.dialog.id == id => {
                    (open.answered_by, open.shown) = (None, true);
                    vec![Effect::Show(open.record.dialog.clone())]
                }
                _ => Vec::new(),
            },
        }
    }

    /// Answers the open dialog, if it is the one that is meant.
    ///
    /// # Errors
    /// [`NotPending`]: it has another id, none is open, or its answer is under way.
    pub fn answer(&mut self, id: Option<&str>, answer: &Answer) -> Result<Handle, NotPending> {
        let open = self.open.as_mut().filter(|open| open.answered_by.is_none());
        match open.filter(|open| id.is_none_or(|id| id == open.record.dialog.id)) {
            Some(open) => Ok(open.answer(answer, ClosedBy::Agent)),
            None => Err(id.map_or(NotPending::Any, |id| NotPending::Named(id.chars().take(80).collect()))),
        }
    }

    /// The next dialog that opens before `until` is answered so. Replaces what was armed before.
    pub fn arm(&mut self, answer: Answer, until: Instant) {
        self.armed = Some((answer, until));
    }

    /// Takes back what is armed.
    pub fn disarm(&mut self) {
        self.armed = None;
    }

    /// When the armed answer is forgotten, if there is one.
    pub fn armed_until(&self) -> Option<Instant> {
        self.armed.as_ref().map(|(_, until)| *until)
    }

    /// From now on. A dialog that is shown is answered by it, too.
    pub fn set_policy(&mut self, policy: Policy) -> Option<Handle> {
        self.policy = policy;
        let answer = policy.answer()?;
        let open = self.open.as_mut().filter(|open| open.answered_by.is_none())?;
        Some(open.answer(&answer, ClosedBy::Policy))
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// We close the tab: the page's question whether it may be left is accepted.
    pub fn closing(&mut self) -> Option<Handle> {
        self.closing = true;
        let open = self.open.as_mut().filter(|open| open.answered_by.is_none())?;
        (open.record.dialog.kind == DialogKind::Beforeunload).then(|| open.answer(&OK, ClosedBy::Policy))
    }

    /// The open dialog.
    pub fn pending(&self) -> Option<&DialogRecord> {
        self.open.as_ref().map(|open| &open.record)
    }

    /// Closed ones, oldest first, at most 20.
    pub fn recent(&self) -> impl Iterator<Item = &DialogRecord> {
        self.recent.iter()
    }

    fn opened(&mut self, kind: DialogKind, message: &str, default_value: Option<String>, now: Now) -> Effect {
        self.opened += 1;
        let default_value = default_value.filter(|_| kind == DialogKind::Prompt);
        let dialog = Dialog {
            id: format!("d{}", self.opened),
            kind,
            message: shortened(message),
            default_value: default_value.as_deref().map(shortened),
        };
        let record = DialogRecord {
            dialog: dialog.clone(),
            opened_at: now.wall,
            closed_at: None,
            closed_by: None,
            accepted: None,
            repeated: 0,
        };
        let given = self.answer_for(kind, now);
        let shown = given.is_none();
        let open = self.open.insert(Open { record, default_value, answered_by: None, shown });
        match given {
            Some((answer, by)) => Effect::Handle(open.answer(&answer, by)),
            None => Effect::Show(dialog),
        }
    }

    /// The answer that is there before anybody was asked.
    fn answer_for(&mut self, kind: DialogKind, now: Now) -> Option<(Answer, ClosedBy)> {
        if self.closing && kind == DialogKind::Beforeunload {
            return Some((OK, ClosedBy::Policy));
        }
        if let Some((answer, _)) = self.armed.take().filter(|(_, until)| now.instant < *until) {
            return Some((answer, ClosedBy::Armed));
        }
        Some((self.policy.answer()?, ClosedBy::Policy))
    }

    fn end(&mut self, by: ClosedBy, accepted: Option<bool>, now: Now) -> Vec<Effect> {
        let Some(Open { mut record, shown, .. }) = self.open.take() else { return Vec::new() };
        (record.closed_at, record.closed_by, record.accepted) = (Some(now.wall), Some(by), accepted);
        if let Some(last) = self.recent.back_mut().filter(|last| !shown && repeats(last, &record)) {
            record.opened_at = last.opened_at;
            record.repeated = last.repeated.saturating_add(1);
            *last = record;
            return Vec::new();
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(record.clone());
        vec![Effect::Closed(record)]
    }
}

const OK: Answer = Answer { accept: true, prompt_text: None };

impl Open {
    fn answer(&mut self, answer: &Answer, by: ClosedBy) -> Handle {
        self.answered_by = Some(by);
        let preset = || self.default_value.clone();
        let text = answer.prompt_text.clone().or_else(preset);
        let is_text = answer.accept && self.record.dialog.kind == DialogKind::Prompt;
        Handle {
            id: self.record.dialog.id.clone(),
            accept: answer.accept,
            prompt_text: text.filter(|_| is_text),
        }
    }
}

impl Policy {
    fn answer(self) -> Option<Answer> {
        match self {
            Self::Hold => None,
            Self::Accept => Some(OK),
            Self::Dismiss => Some(Answer { accept: false, prompt_text: None }),
        }
    }
}

/// Whether `record` is one more of the same that nobody was asked about.
fn repeats(last: &DialogRecord, record: &DialogRecord) -> bool {
    let looks = |it: &DialogRecord| (it.dialog.kind, it.closed_by, it.accepted);
    record.closed_by == Some(ClosedBy::Policy)
        && looks(last) == looks(record)
        && last.dialog.message == record.dialog.message
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
