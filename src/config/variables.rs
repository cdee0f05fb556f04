//! `TABVISOR_*` variables: which key each one sets, and its text as a value.
//!
//! `TABVISOR_LIMITS__TABS` sets `limits.tabs`; some keys have a short name as well. Lists are words
//! with spaces between them, or a JSON array of texts.

use figment::value::Value;

use super::ConfigError;
use super::shape::{Kind, Shape, nearest};

/// What all variables begin with.
const PREFIX: &str = "TABVISOR_";

/// Short names beside those that are made from the keys.
const PLAIN: [(&str, &str); 3] =
    [("CHROMIUM", "browser.chromium"), ("NO_SANDBOX", "browser.no_sandbox"), ("TOKEN", "server.token")];

/// Variables that are no configuration of the service: read by the client and the log.
const ELSEWHERE: [&str; 2] = ["URL", "LOG"];

/// A variable that sets a key.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) variable: String,
    pub(super) key: String,
    pub(super) value: Value,
}

/// Whether a variable is for us at all.
pub(super) fn is_ours(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|bare| !ELSEWHERE.contains(&bare) && !is_kubernetes(bare))
}

/// What `variables` set, in the order in which they count: the short names first, since the long
/// ones are the more exact.
pub(super) fn settings(shape: &Shape, variables: &[(String, String)]) -> Result<Vec<Setting>, ConfigError> {
    let (short, long): (Vec<_>, Vec<_>) = variables.iter().partition(|(name, _)| short(name).is_some());
    short.into_iter().chain(long).map(|(name, text)| setting(shape, name, text)).collect()
}

fn short(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix(PREFIX)?;
    PLAIN.iter().find(|(short, _)| *short == bare).map(|(_, key)| *key)
}

/// Reads one by the kind of its key: the text of a token stays a text, also `007`.
fn setting(shape: &Shape, name: &str, text: &str) -> Result<Setting, ConfigError> {
    let bare = name.strip_prefix(PREFIX).unwrap_or(name);
    let key = short(name).map_or_else(|| bare.to_ascii_lowercase().replace("__", "."), str::to_owned);
    let Some(kind) = shape.kind(&key) else {
        let others = PLAIN.iter().map(|(short, _)| (*short).to_owned()).chain(ELSEWHERE.map(str::to_owned));
        let names: Vec<String> = shape.keys().map(bare_name_of).chain(others).collect();
        let nearest = nearest(bare, names.iter().map(String::as_str)).map(|near| format!("{PREFIX}{near}"));
        return Err(ConfigError::Unknown { what: "variable", key: name.to_owned(), given_by: None, nearest });
    };
    match parse(kind, text) {
        Ok(value) => Ok(Setting { variable: name.to_owned(), key, value }),
        Err(why) => Err(ConfigError::Invalid { key, why, given_by: Some(name.to_owned()) }),
    }
}

fn bare_name_of(key: &str) -> String {
    key.to_ascii_uppercase().replace('.', "__")
}

/// Kubernetes gives every container variables like these for a service that is named `tabvisor`.
fn is_kubernetes(bare: &str) -> bool {
    bare == "PORT" || bare.starts_with("PORT_") || bare.starts_with("SERVICE_")
}

fn parse(kind: Kind, text: &str) -> Result<Value, String> {
    let number = |word: &str| {
        word.trim()
            .parse::<u64>()
            .map(Value::from)
            .map_err(|_| format!("must be a whole number, got {word:?}"))
    };
    let words = || {
        if !text.trim_start().starts_with('[') {
            return Ok(text.split_whitespace().map(str::to_owned).collect());
        }
        serde_json::from_str::<Vec<String>>(text).map_err(|why| format!("is no JSON array of texts: {why}"))
    };
    match kind {
        Kind::Text => Ok(Value::from(text)),
        Kind::Number => number(text),
        Kind::Numbers => {
            words()?.iter().map(|word| number(word)).collect::<Result<Vec<_>, _>>().map(Value::from)
        }
        Kind::Texts => Ok(Value::from(words()?)),
        Kind::Flag => match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(Value::from(true)),
            "0" | "false" | "no" | "off" => Ok(Value::from(false)),
            _ => Err(format!("must be true or false (1 or 0), got {text:?}")),
        },
    }
}
