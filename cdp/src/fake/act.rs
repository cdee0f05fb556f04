//! What a scripted command does.

use std::time::Duration;

use serde_json::{Value, json};

/// What the fake does with a command, instead of or around what Chrome would do.
///
/// An act never waits for the one before it in a [`Seq`](Act::Seq): `Occupy` and `OpenDialog`
/// begin, and the rest follows at once. A call that was answered by the rest of the sequence is
/// not answered again when the occupation ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// What the fake would do without a rule.
    Default,
    /// Answers with this `result`, as it is.
    Reply(Value),
    /// Answers an evaluate with this value by value: `Value(json!(1))` is a number.
    Value(Value),
    /// Answers with a protocol error.
    Error {
        /// JSON-RPC code, e.g. -32000.
        code: i64,
        /// Chrome's message.
        message: String,
    },
    /// Never answers, whatever happens.
    Never,
    /// Stays pending as a promise does: the page is usable, and only a navigation settles it
    /// ("Inspected target navigated or closed").
    Pending,
    /// An event on the session that asked.
    Event {
        /// Name of the event.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// An event on every browser link.
    BrowserEvent {
        /// Name of the event.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// All of these, in order.
    Seq(Vec<Act>),
    /// Waits until a later command of that method came (and was served), then acts.
    AfterCommand(String, Box<Act>),
    /// Waits until the test releases the gate of that name, then acts.
    Hold(String, Box<Act>),
    /// Occupies the renderer's main thread until terminated, freed, navigated away or crashed.
    Occupy(Kind),
    /// Occupies the renderer's main thread for that long, then acts. A slow load
    /// ([`Kind::Loading`]) commits then, whatever the act.
    OccupyFor(Kind, Duration, Box<Act>),
    /// The call's script opens a dialog and goes on when it is closed.
    OpenDialog(Dialog),
    /// The call's script opens a window; it is answered only when the window is not, or no
    /// longer, waiting for a debugger.
    Popup(String),
    /// A navigation command whose load fails: an error page commits and the answer is a success
    /// with this `errorText`.
    FailLoad(String),
    /// The renderer dies.
    Crash,
    /// Sends half a frame; then closes the socket, or never writes on it again.
    HalfFrame {
        /// Whether to close the socket afterwards.
        close: bool,
    },
    /// Sends something that is no answer.
    Garbage(Raw),
    /// A valid answer whose string has that many bytes. From 256 MiB on, as in Chrome, nothing
    /// comes at all.
    Huge(usize),
    /// Closes the socket without a close frame, as Chrome does.
    Close,
    /// Waits, then acts.
    Delay(Duration, Box<Act>),
}

/// What occupies a renderer's main thread, which decides what gets through to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A script: termination, the probe and its own `timeout` reach it.
    Script,
    /// A native loop, a layout, a synchronous XHR: only a crash reaches it.
    Native,
    /// A dialog. [`Act::OpenDialog`] is the way to have one that can be answered.
    Dialog,
    /// The process is stopped: nothing reaches it, not even a crash.
    Stopped,
    /// A navigation whose server does not answer (for navigation commands only): commands wait,
    /// the probe answers, `Page.stopLoading` aborts it, [`free`](super::FakeChrome::free) lets it
    /// commit.
    Loading,
}

/// A JavaScript dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// Which one.
    pub kind: DialogKind,
    /// Its text.
    pub message: String,
    /// What a prompt proposes.
    pub default_prompt: String,
}

/// The dialogs that a page can open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialogKind {
    /// `alert()`
    Alert,
    /// `confirm()`
    Confirm,
    /// `prompt()`
    Prompt,
    /// "Leave this page?" Navigation commands wait for it, too.
    BeforeUnload,
}

/// Something to put on a socket as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Raw {
    /// A text message.
    Text(String),
    /// A binary message.
    Binary(Vec<u8>),
    /// Bytes on the stream itself, in no frame.
    Bytes(Vec<u8>),
}

impl Act {
    /// [`Act::Error`].
    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error { code, message: message.into() }
    }

    /// An evaluate whose script returned nothing.
    pub fn undefined() -> Self {
        Self::Reply(json!({"result": {"type": "undefined"}}))
    }

    /// An evaluate whose script threw an `Error` with this message.
    pub fn throws(message: &str) -> Self {
        let thrown = json!({
            "type": "object", "subtype": "error", "className": "Error",
            "description": format!("Error: {message}\n    at <anonymous>:1:1"),
        });
        Self::Reply(json!({
            "result": thrown,
            "exceptionDetails": {
                "exceptionId": 1, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0, "exception": thrown,
            },
        }))
    }

    /// [`Act::Event`].
    pub fn event(method: impl Into<String>, params: Value) -> Self {
        Self::Event { method: method.into(), params }
    }

    /// [`Act::Seq`].
    pub fn seq(acts: impl IntoIterator<Item = Act>) -> Self {
        Self::Seq(acts.into_iter().collect())
    }

    /// [`Act::AfterCommand`].
    pub fn after(method: impl Into<String>, act: impl Into<Act>) -> Self {
        Self::AfterCommand(method.into(), Box::new(act.into()))
    }

    /// [`Act::Hold`] of what the fake does by default.
    pub fn hold(gate: impl Into<String>) -> Self {
        Self::hold_then(gate, Self::Default)
    }

    /// [`Act::Hold`].
    pub fn hold_then(gate: impl Into<String>, act: impl Into<Act>) -> Self {
        Self::Hold(gate.into(), Box::new(act.into()))
    }

    /// [`Act::OccupyFor`].
    pub fn busy_for(kind: Kind, time: Duration, then: impl Into<Act>) -> Self {
        Self::OccupyFor(kind, time, Box::new(then.into()))
    }

    /// [`Act::OpenDialog`].
    pub fn dialog(kind: DialogKind, message: impl Into<String>) -> Self {
        Self::OpenDialog(Dialog::new(kind, message))
    }

    /// [`Act::Garbage`].
    pub fn garbage(raw: impl Into<Raw>) -> Self {
        Self::Garbage(raw.into())
    }

    /// [`Act::Delay`].
    pub fn delay(time: Duration, act: impl Into<Act>) -> Self {
        Self::Delay(time, Box::new(act.into()))
    }
}

/// A bare value is what a script returned.
impl From<Value> for Act {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl Dialog {
    /// A dialog without a proposed text.
    pub fn new(kind: DialogKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), default_prompt: String::new() }
    }

    /// What the script gets when the dialog is closed.
    pub(super) fn outcome(&self, accept: bool, text: &str) -> Value {
        match self.kind {
            DialogKind::Alert | DialogKind::BeforeUnload => json!({"result": {"type": "undefined"}}),
            DialogKind::Confirm => by_value(&json!(accept)),
            DialogKind::Prompt if accept => by_value(&json!(text)),
            DialogKind::Prompt => by_value(&Value::Null),
        }
    }
}

impl DialogKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::BeforeUnload => "beforeunload",
        }
    }
}

impl From<&str> for Raw {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Raw {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Raw {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Binary(bytes)
    }
}

/// What `Runtime.evaluate` answers for a value, by value.
pub(super) fn by_value(value: &Value) -> Value {
    let object = match value {
        Value::Null => json!({"type": "object", "subtype": "null", "value": null}),
        Value::Bool(_) => json!({"type": "boolean", "value": value}),
        Value::Number(number) => {
            json!({"type": "number", "value": value, "description": number.to_string()})
        }
        Value::String(_) => json!({"type": "string", "value": value}),
        Value::Array(_) => json!({"type": "object", "subtype": "array", "value": value}),
        Value::Object(_) => json!({"type": "object", "value": value}),
    };
    json!({ "result": object })
}
