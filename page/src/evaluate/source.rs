//! From what a caller writes to what is sent. Pure.
//!
//! A caller may write a function, an expression, or the body of an async function. Which of these
//! a text is, only a JavaScript parser can tell, and Chromium has one: the text is sent in one
//! form after the other until it compiles. A text that does not compile runs nothing, so that is
//! safe; and nothing is parsed with `eval` in the page, so no content security policy matters.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::value::RawValue;

use super::checks;
use crate::clock::READ_CLOCK;

/// How the caller's text stands in the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `() => (TEXT)`: an expression; a function is called.
    Expression,
    /// `async () => (TEXT)`: an expression with `await` in it.
    AwaitExpression,
    /// `async () => { TEXT }`: statements, `return` gives the value.
    Body,
}

impl Form {
    /// What to try first. `await (x)`, `` await `x` `` and `await [x]` would compile as an
    /// expression without `await`: as a call of, or a look into, something of that name.
    pub(super) fn first(text: &str) -> Self {
        let call_like = |rest: &str| rest.trim_start().starts_with(['(', '`', '[']);
        let mut parts = text.split("await");
        parts.next();
        if parts.any(call_like) { Self::AwaitExpression } else { Self::Expression }
    }

    /// What to try when this form does not compile.
    pub(super) fn next(self, text: &str) -> Option<Self> {
        match self {
            Self::Expression if text.contains("await") => Some(Self::AwaitExpression),
            Self::Expression | Self::AwaitExpression => Some(Self::Body),
            Self::Body => None,
        }
    }
}

/// The limits that are enforced in the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The script refuses to start after this, in the page's clock.
    pub(super) deadline_ms: f64,
    /// `Runtime.evaluate`'s own timeout: Chromium ends this script, and no other, after it.
    pub(super) timeout_ms: u64,
    /// Larger results are not sent.
    pub(super) max_result_bytes: usize,
}

/// The part around the caller's text: refuses to start late, calls what is a function, tells
/// values apart that JSON would mix up, and enforces the size limit before anything is sent.
///
/// It answers `{t: type, v: value}`, `{t, j: JSON text}` for objects, `{t, u: text}` for what JSON
/// cannot carry, `{t, why, bytes?}` for what is not sent, `{t: "late"}`, or `{t: "threw", ...}`.
const PRELUDE: &str = include_str!("prelude.js");

/// A command that runs a caller's text.
pub(super) struct Command {
    pub(super) method: &'static str,
    pub(super) params: Box<RawValue>,
    /// The text has checks, so it can be ended where it goes on by itself.
    pub(super) has_checks: bool,
}

/// The command that runs `text` under the name `url`: in the page, or on the element that is the
/// object `on` there.
pub(super) fn script(text: &str, form: Form, limits: Limits, url: &str, on: Option<&str>) -> Command {
    let el = if on.is_some() { "el" } else { "" };
    let (open, close) = match form {
        Form::Expression => (format!("({el})=>("), ")"),
        Form::AwaitExpression => (format!("async({el})=>("), ")"),
        Form::Body => (format!("async({el})=>{{"), "}"),
    };
    let Limits { deadline_ms, timeout_ms, max_result_bytes } = limits;
    let prelude = PRELUDE.trim_end();
    // The line break ends a trailing `// comment` of the caller's.
    let checked = checks::with_checks(&open, text, close);
    let has_checks = checked.is_some();
    let run = match checked {
        Some(text) => checks::surrounding(&format!("{open}{text}\n{close}"), url),
        None => format!("{open}{text}\n{close}"),
    };
    let mut params = serde_json::json!({ "awaitPromise": true, "returnByValue": true, "userGesture": true });
    let method = if let Some(object) = on {
        let run = format!("({prelude})({deadline_ms},{max_result_bytes},{run},this)");
        params["functionDeclaration"] = format!("function(){{return {run}\n//# sourceURL={url}\n}}").into();
        params["objectId"] = object.into();
        "Runtime.callFunctionOn"
    } else {
        let run = format!("({prelude})({deadline_ms},{max_result_bytes},{run})");
        params["expression"] = format!("{run}\n//# sourceURL={url}").into();
        params["timeout"] = timeout_ms.into();
        "Runtime.evaluate"
    };
    Command { method, params: raw(&params), has_checks }
}

/// Parameters of a `Runtime.evaluate` whose answer only tells where the renderer is.
pub(super) fn marker() -> Box<RawValue> {
    raw(&serde_json::json!({ "expression": "0", "returnByValue": true }))
}

/// Parameters of the marker before the script: it reads the page's clock.
pub(super) fn clock_marker() -> Box<RawValue> {
    raw(&serde_json::json!({ "expression": READ_CLOCK, "returnByValue": true }))
}

/// A name for one script, unique in its page also beside other supervisors.
pub(super) fn script_url() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_nanos());
    format!("tabvisor-evaluate-{now:x}-{}.js", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The command that ends the script called `url` at its next check.
pub(super) fn end(url: &str, on: Option<&str>) -> (&'static str, Box<RawValue>) {
    let end = checks::end(url);
    match on {
        Some(object) => {
            let function = format!("function(){{{end}}}");
            let params = serde_json::json!({ "functionDeclaration": function, "objectId": object });
            ("Runtime.callFunctionOn", raw(&params))
        }
        None => ("Runtime.evaluate", raw(&serde_json::json!({ "expression": end, "returnByValue": true }))),
    }
}

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_would_call_something_named_await_is_tried_as_what_it_means_first() {
        for text in ["await (async () => 1)()", "await\n[1]", "await `x`", "1 + await(f)"] {
            assert_eq!(Form::first(text), Form::AwaitExpression, "{text}");
        }
        for text in ["1 + 1", "await f()", "'await'", "async () => { await f() }"] {
            assert_eq!(Form::first(text), Form::Expression, "{text}");
        }
    }

    #[test]
    fn the_callers_text_is_sent_as_it_is() {
        let limits = Limits { deadline_ms: 17.5, timeout_ms: 490, max_result_bytes: 10 };
        let text = "\"a\\n\" // `c`";
        let sent = script(text, Form::Expression, limits, "u.js", None);
        assert_eq!((sent.method, sent.has_checks), ("Runtime.evaluate", false));
        let sent: serde_json::Value = serde_json::from_str(sent.params.get()).unwrap();
        let expression = sent["expression"].as_str().unwrap();
        assert!(expression.contains("(17.5,10,()=>(\"a\\n\" // `c`\n))"), "{expression}");
        assert_eq!(sent["timeout"], 490);
        let sent = script(text, Form::Expression, limits, "u.js", Some("7"));
        assert_eq!(sent.method, "Runtime.callFunctionOn");
        let sent: serde_json::Value = serde_json::from_str(sent.params.get()).unwrap();
        let declaration = sent["functionDeclaration"].as_str().unwrap();
        assert!(declaration.contains("(17.5,10,(el)=>(\"a\\n\" // `c`\n),this)"), "{declaration}");
        assert_eq!((&sent["objectId"], sent.get("timeout")), (&serde_json::json!("7"), None));
    }
}
