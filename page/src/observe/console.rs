//! Console messages and uncaught errors, read from Chromium's events. Pure.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::cut;
use super::text::{self, Argument};
use crate::dialog::iso;

/// One message of the console.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConsoleMessage {
    /// `log`, `info`, `warning`, `error`, `debug`, `assert`, `table`, ... as Chromium calls it.
    pub r#type: String,
    /// As `DevTools` would print it, cut at 2048 characters.
    pub text: String,
    /// When.
    #[serde(serialize_with = "iso")]
    pub timestamp: SystemTime,
    /// Where.
    pub location: Location,
}

/// Where something was said; numbers begin at 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The address of the script, or of what could not be loaded.
    pub url: String,
    /// The line.
    pub line_number: u32,
    /// The column.
    pub column_number: u32,
}

/// An error that nobody caught, or a rejection that nobody handled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncaught {
    /// What it says.
    pub message: String,
    /// For example `TypeError`; nothing where what was thrown is no error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its stack, cut at 2048 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// When.
    #[serde(serialize_with = "iso")]
    pub timestamp: SystemTime,
    /// Where it came from.
    pub location: Location,
}

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `debug` and its like.
    Debug,
    /// What is neither below nor above.
    Info,
    /// `warning`.
    Warn,
    /// `error`, and an assertion that does not hold.
    Error,
}

impl ConsoleMessage {
    /// How serious it is.
    pub fn level(&self) -> Level {
        match self.r#type.as_str() {
            "error" | "assert" => Level::Error,
            "warning" => Level::Warn,
            "debug" => Level::Debug,
            _ => Level::Info,
        }
    }

    /// From `Runtime.consoleAPICalled`; and whether Chromium keeps objects for it.
    pub(super) fn called(params: &str) -> Option<(Self, bool)> {
        let Called { r#type, args, timestamp, stack_trace } = serde_json::from_str(params).ok()?;
        let message = Self {
            text: cut(&text::message(&args)),
            r#type,
            timestamp: when(timestamp),
            location: stack_trace.map(Trace::location).unwrap_or_default(),
        };
        Some((message, args.iter().any(Argument::is_kept)))
    }

    /// From `Log.entryAdded`: what the browser itself says, such as a resource that failed.
    pub(super) fn entry(params: &str) -> Option<Self> {
        let Added { entry } = serde_json::from_str(params).ok()?;
        let Entry { source, level, text, timestamp, url, line_number, stack_trace } = entry;
        // Said again by the console of the worker.
        if source == "worker" {
            return None;
        }
        let at = Location { url: cut(&url), line_number, column_number: 0 };
        Some(Self {
            r#type: if level == "verbose" { "debug".into() } else { level },
            text: cut(&text),
            timestamp: when(timestamp),
            location: if at.url.is_empty() { stack_trace.map(Trace::location).unwrap_or(at) } else { at },
        })
    }
}

impl Uncaught {
    /// From `Runtime.exceptionThrown`.
    pub(super) fn thrown(params: &str) -> Option<Self> {
        let Thrown { timestamp, exception_details: details } = serde_json::from_str(params).ok()?;
        let said = details.exception.as_ref().map(text::thrown);
        let said = said.filter(|said| !said.is_empty()).unwrap_or(details.text);
        let is_error = details.exception.as_ref().is_some_and(Argument::is_error);
        let (name, message) = if is_error { split(&said) } else { (None, said.as_str()) };
        let location = details.stack_trace.map(Trace::location).filter(|at| !at.url.is_empty());
        Some(Self {
            message: cut(message),
            name: name.map(cut),
            stack: is_error.then(|| cut(&said)),
            timestamp: when(timestamp),
            location: location.unwrap_or_else(|| Location {
                url: cut(&details.url),
                line_number: details.line_number,
                column_number: details.column_number,
            }),
        })
    }
}

/// Name and message out of a stack as V8 writes it.
fn split(stack: &str) -> (Option<&str>, &str) {
    let head = stack.find("\n    at ").map_or(stack, |at| &stack[..at]);
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$' || c == '.')
    };
    match head.split_once(": ") {
        Some((name, message)) if is_name(name) => (Some(name), message),
        None if is_name(head) => (Some(head), ""),
        _ => (None, head),
    }
}

/// Milliseconds since 1970, as Chromium tells time here.
pub(super) fn when(ms: f64) -> SystemTime {
    let since = Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default();
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    r#type: String,
    args: Vec<Argument>,
    timestamp: f64,
    stack_trace: Option<Trace>,
}

#[derive(Deserialize)]
struct Added {
    entry: Entry,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    source: String,
    level: String,
    text: String,
    timestamp: f64,
    #[serde(default)]
    url: String,
    #[serde(default)]
    line_number: u32,
    stack_trace: Option<Trace>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thrown {
    timestamp: f64,
    exception_details: Details,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(default)]
    text: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    line_number: u32,
    #[serde(default)]
    column_number: u32,
    exception: Option<Argument>,
    stack_trace: Option<Trace>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trace {
    #[serde(default)]
    call_frames: Vec<Frame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    #[serde(default)]
    url: String,
    #[serde(default)]
    line_number: u32,
    #[serde(default)]
    column_number: u32,
}

impl Trace {
    fn location(self) -> Location {
        let Some(Frame { url, line_number, column_number }) = self.call_frames.into_iter().next() else {
            return Location::default();
        };
        Location { url: cut(&url), line_number, column_number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_uncaught_error_is_taken_apart() {
        let thrown = |exception: serde_json::Value| {
            let details = json!({
                "text": "Uncaught", "url": "http://a/", "lineNumber": 3, "columnNumber": 4, "exception": exception,
            });
            let params = json!({ "timestamp": 1000.5, "exceptionDetails": details });
            Uncaught::thrown(&params.to_string()).unwrap()
        };
        let error = |description: &str| {
            thrown(json!({ "type": "object", "subtype": "error", "description": description }))
        };
        let boom = error("TypeError: a: b\n    at f (x:1:2)");
        assert_eq!((boom.name.as_deref(), boom.message.as_str()), (Some("TypeError"), "a: b"));
        assert_eq!(boom.stack.as_deref(), Some("TypeError: a: b\n    at f (x:1:2)"));
        assert_eq!(boom.location, Location { url: "http://a/".into(), line_number: 3, column_number: 4 });
        let bare = error("Error\n    at f (x:1:2)");
        assert_eq!((bare.name.as_deref(), bare.message.as_str()), (Some("Error"), ""));
        let worded = error("it went: wrong");
        assert_eq!((worded.name, worded.message.as_str()), (None, "it went: wrong"));
        let text = thrown(json!({ "type": "string", "value": "str" }));
        assert_eq!((text.name, text.message.as_str(), text.stack), (None, "str", None));
        let nothing = thrown(json!({ "type": "undefined" }));
        assert_eq!(nothing.message, "undefined");
    }

    #[test]
    fn long_strings_are_cut_between_characters() {
        let long = json!({ "type": "log", "timestamp": 0, "args": [{ "type": "string", "value": "👹".repeat(3000) }] });
        let (message, kept) = ConsoleMessage::called(&long.to_string()).unwrap();
        assert_eq!((message.text.chars().count(), kept), (2048, false));
    }
}
