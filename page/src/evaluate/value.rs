//! What came back, told apart. Pure.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a script gave.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Value {
    /// The value as JSON; absent for `undefined`, functions, symbols and what JSON cannot carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// JavaScript's type: `undefined`, `null`, `boolean`, `number`, `bigint`, `string`, `symbol`,
    /// `function`, `array`, `typedarray`, `object`, `date`, `regexp`, `map`, `set`, `error`,
    /// `node`, `window`, ...
    #[serde(rename = "resultType")]
    pub kind: String,
    /// The value as text where JSON has no form for it: `NaN`, `-Infinity`, `-0`, `123n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unserializable: Option<String>,
    /// What JSON has no form for inside of the value, by its JSON pointer (RFC 6901): `NaN`,
    /// `Infinity`, `-0`, `123n`, `undefined`, `function`, `symbol`; at most 200 of them.
    #[serde(rename = "unserializableAt", skip_serializing_if = "BTreeMap::is_empty")]
    pub inside: BTreeMap<String, String>,
    /// Why there is a type but no value.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
}

/// Why a value was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Missing {
    /// It contains itself.
    Cycle,
    /// Over the limit; it was measured in the page and never sent.
    TooLarge {
        /// Its size, where it could be rendered at all; for far too large ones a lower bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
        /// The limit (`limits.max_result_bytes`).
        limit: usize,
    },
}

impl Value {
    /// The value read as `T`.
    ///
    /// # Errors
    /// What serde says of it; a missing value reads as JSON `null`.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.result.as_ref().map_or("null", |raw| raw.get()))
    }
}

/// What the page threw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thrown {
    /// `TypeError`, ...; empty for what is no error object.
    pub name: String,
    /// Its message, at most 8192 characters.
    pub message: String,
    /// Its stack, at most 8192 characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stack: String,
    /// Rejected after the synchronous part rather than thrown from it.
    pub later: bool,
}

/// What the answer of a script says.
#[derive(Debug)]
pub(super) enum Answer {
    Value(Value),
    Threw(Thrown),
    /// It found its deadline passed and did not start.
    Late,
    /// Its element was in its document no more; nothing ran.
    Detached,
    /// The text does not compile in this form; nothing ran.
    DoesNotCompile(String),
    /// Not an answer of our prelude.
    Unreadable(&'static str),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
    #[serde(borrow)]
    result: Remote<'a>,
    #[serde(borrow)]
    exception_details: Option<Exception<'a>>,
}

#[derive(Deserialize)]
struct Remote<'a> {
    #[serde(borrow)]
    value: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exception<'a> {
    #[serde(borrow)]
    exception: Option<Described<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described<'a> {
    #[serde(borrow)]
    class_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    t: Cow<'a, str>,
    #[serde(borrow)]
    v: Option<&'a RawValue>,
    j: Option<String>,
    u: Option<String>,
    #[serde(borrow)]
    why: Option<Cow<'a, str>>,
    bytes: Option<u64>,
    #[serde(default)]
    at: Vec<(String, String)>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    stack: String,
    #[serde(default)]
    later: bool,
}

/// Reads the result of `Runtime.evaluate`.
pub(super) fn read(reply: &RawValue, limit: usize) -> Answer {
    let Ok(reply) = serde_json::from_str::<Reply<'_>>(reply.get()) else {
        return Answer::Unreadable("no Runtime.evaluate result");
    };
    if let Some(details) = reply.exception_details {
        return exception(details);
    }
    let envelope = reply.result.value.and_then(|raw| serde_json::from_str::<Envelope<'_>>(raw.get()).ok());
    let Some(envelope) = envelope else { return Answer::Unreadable("no envelope") };
    match envelope.t.as_ref() {
        "late" => return Answer::Late,
        "detached" => return Answer::Detached,
        "threw" => {
            let Envelope { name, message, stack, later, .. } = envelope;
            return Answer::Threw(Thrown { name, message, stack, later });
        }
        _ => {}
    }
    let missing = match envelope.why.as_deref() {
        Some("cycle") => Some(Missing::Cycle),
        Some(_) => Some(Missing::TooLarge { bytes: envelope.bytes, limit }),
        None => None,
    };
    let result = match envelope.j {
        // Rendered by the page's JSON.stringify: valid unless the page replaced that.
        Some(text) => match RawValue::from_string(text) {
            Ok(raw) => Some(raw),
            Err(_) => return Answer::Unreadable("the page's JSON.stringify gave no JSON"),
        },
        None => envelope.v.map(ToOwned::to_owned),
    };
    // serde reads `"v":null` as absent; these types have no value, all others have one.
    let valueless = matches!(envelope.t.as_ref(), "undefined" | "function" | "symbol" | "bigint");
    let result = match result {
        None if !valueless && missing.is_none() => Some(RawValue::NULL.to_owned()),
        result => result,
    };
    let Envelope { t, u, at, .. } = envelope;
    let inside = at.into_iter().collect();
    Answer::Value(Value { result, kind: t.into_owned(), unserializable: u, inside, missing })
}

/// The prelude catches whatever the caller's text throws, so an exception here was raised before
/// it ran: the text does not compile.
fn exception(details: Exception<'_>) -> Answer {
    match details.exception {
        Some(Described { class_name: Some(class), description }) if class == "SyntaxError" => {
            let text = description.unwrap_or_default();
            Answer::DoesNotCompile(text.lines().next().unwrap_or_default().to_owned())
        }
        _ => Answer::Unreadable("an exception outside the script"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(envelope: &str) -> Answer {
        let text = format!(r#"{{"result":{{"type":"object","value":{envelope}}}}}"#);
        read(&RawValue::from_string(text).unwrap(), 100)
    }

    fn rendered(envelope: &str) -> String {
        match answer(envelope) {
            Answer::Value(value) => serde_json::to_string(&value).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_json_would_mix_up_stays_apart() {
        assert_eq!(rendered(r#"{"t":"undefined"}"#), r#"{"resultType":"undefined"}"#);
        assert_eq!(rendered(r#"{"t":"null","v":null}"#), r#"{"result":null,"resultType":"null"}"#);
        assert_eq!(
            rendered(r#"{"t":"number","v":null,"u":"NaN"}"#),
            r#"{"result":null,"resultType":"number","unserializable":"NaN"}"#
        );
        assert_eq!(
            rendered(r#"{"t":"string","v":"\ud800"}"#),
            r#"{"result":"\ud800","resultType":"string"}"#
        );
        assert_eq!(
            rendered(r#"{"t":"object","j":"{\"a\":1.50}"}"#),
            r#"{"result":{"a":1.50},"resultType":"object"}"#
        );
        assert_eq!(
            rendered(r#"{"t":"array","j":"[null]","at":[["/0","NaN"]]}"#),
            r#"{"result":[null],"resultType":"array","unserializableAt":{"/0":"NaN"}}"#
        );
        assert_eq!(
            rendered(r#"{"t":"string","why":"too_large","bytes":200}"#),
            r#"{"resultType":"string","why":"too_large","bytes":200,"limit":100}"#
        );
        assert_eq!(rendered(r#"{"t":"object","why":"cycle"}"#), r#"{"resultType":"object","why":"cycle"}"#);
    }

    #[test]
    fn only_a_compile_error_asks_for_another_form() {
        let text = r#"{"result":{"type":"object"},"exceptionDetails":{"exception":{"className":"SyntaxError","description":"SyntaxError: Unexpected token\n    at x"}}}"#;
        let compile = read(&RawValue::from_string(text.into()).unwrap(), 1);
        assert!(matches!(compile, Answer::DoesNotCompile(why) if why == "SyntaxError: Unexpected token"));
        assert!(matches!(answer(r#"{"t":"threw","name":"SyntaxError","message":"m"}"#), Answer::Threw(_)));
        assert!(matches!(answer(r#"{"t":"late"}"#), Answer::Late));
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(text in "\\PC*") {
            if let Ok(raw) = RawValue::from_string(text) { let _ = read(&raw, 1); }
        }
    }
}
