//! What a tool tells, in the shape that all of them share: as structured content, and the same in few words.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::{Effect, Route};
use tabvisor_page::dialog::Dialog;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// As it was asked for.
    Ok,
    /// In part, or up to something that must be looked at.
    Partial,
    /// Nothing was sent.
    Refused,
    /// Something was sent, and the outcome is bad or not known.
    Failed,
}

/// What a tool tells.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) status: Status,
    pub(super) effect: Effect,
    pub(super) route: Route,
    /// One line.
    pub(super) summary: String,
    /// What was read back from the page, for an effect that is confirmed.
    pub(super) evidence: Option<&'static str>,
    pub(super) observed: Map<String, Value>,
    pub(super) dialog: Option<Dialog>,
    pub(super) escalation: Option<Escalation>,
    pub(super) refusal: Option<Refusal>,
    pub(super) failure: Option<Failure>,
    /// The code of an action that was done in part.
    pub(super) code: Option<&'static str>,
    /// More text behind the summary: an outline, rows, a value.
    pub(super) text: Option<String>,
    pub(super) images: Vec<Image>,
    pub(super) time: Option<Time>,
}

/// What the agent should turn to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Escalation {
    pub(super) recommended: &'static str,
    pub(super) reason: &'static str,
}

/// Why nothing was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) detail: Value,
    pub(super) next: String,
}

/// What went wrong with what was sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) retryable: bool,
    pub(super) detail: Value,
    pub(super) next: &'static str,
}

/// A picture.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
    pub(super) mime: &'static str,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Time {
    #[serde(rename = "timeout_ms")]
    timeout: u64,
    #[serde(rename = "elapsed_ms")]
    elapsed: u64,
    #[serde(rename = "queued_ms")]
    queued: u64,
}

impl From<&Budget> for Time {
    fn from(budget: &Budget) -> Self {
        let queued = budget.queued().unwrap_or_default();
        Self { timeout: ms(budget.total()), elapsed: ms(budget.elapsed()), queued: ms(queued) }
    }
}

pub(super) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Told {
    /// Something was done, or read.
    pub(super) fn new(effect: Effect, route: Route, summary: impl Into<String>) -> Self {
        let status = match effect {
            Effect::Confirmed | Effect::Unverifiable => Status::Ok,
            Effect::Partial | Effect::SuspectedNoop => Status::Partial,
            Effect::Refused => Status::Refused,
        };
        Self {
            status,
            effect,
            route,
            summary: summary.into(),
            evidence: None,
            observed: Map::new(),
            dialog: None,
            escalation: None,
            refusal: None,
            failure: None,
            code: None,
            text: None,
            images: Vec::new(),
            time: None,
        }
    }

    /// It was seen, and this is what tells.
    pub(super) fn seen(route: Route, evidence: &'static str, summary: impl Into<String>) -> Self {
        Self { evidence: Some(evidence), ..Self::new(Effect::Confirmed, route, summary) }
    }

    /// Nothing was sent.
    pub(super) fn refused(refusal: Refusal) -> Self {
        let summary = refusal.code;
        Self { refusal: Some(refusal), ..Self::new(Effect::Refused, Route::Browser, summary) }
    }

    /// Something was sent.
    pub(super) fn failed(failure: Failure) -> Self {
        let summary = failure.code;
        let told = Self::new(Effect::Unverifiable, Route::Page, summary);
        Self { status: Status::Failed, failure: Some(failure), ..told }
    }

    /// Adds what was seen.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // What is given here always has a JSON form.
        if let Ok(value) = serde_json::to_value(value) {
            self.observed.insert(name.to_owned(), value);
        }
        self
    }

    /// A dialog that is open now.
    pub(super) fn open(&mut self, dialog: Dialog) {
        if self.status != Status::Refused {
            let reason = "the page waits for the answer to its dialog, and answers nothing else meanwhile";
            self.escalation = Some(Escalation { recommended: "page", reason });
        }
        self.dialog = Some(dialog);
    }

    /// Whether it ends what comes after it.
    pub(super) fn is_bad(&self) -> bool {
        matches!(self.status, Status::Refused | Status::Failed)
    }

    /// Counts it, where it was refused for what the caller asked. What was overloaded is counted where that is
    /// decided.
    pub(super) fn count(&self) {
        let reason = match self.refusal.as_ref().map(|it| it.code) {
            Some("browser_invalid_argument") => "invalid",
            Some("browser_navigation_blocked" | "browser_evaluate_disabled" | "browser_file_not_allowed") => {
                "policy"
            }
            _ => return,
        };
        metrics::counter!("tabvisor_rejected_total", "reason" => reason).increment(1);
    }

    /// The structured content.
    pub(super) fn structured(&self) -> Value {
        let mut all = Map::new();
        let mut put = |name: &str, value: Value| {
            if !value.is_null() {
                all.insert(name.to_owned(), value);
            }
        };
        put("status", json!(self.status));
        put("effect", json!(self.effect));
        put("route", json!(self.route));
        put("summary", json!(self.summary));
        put("evidence", json!(self.evidence));
        put("observed", Value::Object(self.observed.clone()));
        put("dialog", self.dialog.as_ref().map_or(Value::Null, dialog));
        put("escalation", json!(self.escalation));
        put("refusal", json!(self.refusal));
        put("code", json!(self.code));
        if let Some(failure) = &self.failure {
            put("code", json!(failure.code));
            put("message", json!(failure.message));
            put("retryable", json!(failure.retryable));
            put("detail", failure.detail.clone());
            put("next", json!(failure.next));
        }
        put("budget", json!(self.time));
        Value::Object(all)
    }

    /// The same in few words.
    pub(super) fn words(&self) -> String {
        let why = self.refusal.as_ref().map(|it| it.message.as_str());
        let why = why.or(self.failure.as_ref().map(|it| it.message.as_str()));
        let first = match (self.status, self.effect, why) {
            (status, _, Some(why)) => format!("{}: {}: {why}", word(status), self.summary),
            (Status::Ok, Effect::Confirmed, None) => format!("ok: {}", self.summary),
            (status, effect, None) => format!("{}, {}: {}", word(status), word(effect), self.summary),
        };
        let mut lines = vec![first];
        let next = self.refusal.as_ref().map(|it| it.next.as_str());
        if let Some(next) = next.or(self.failure.as_ref().map(|it| it.next)) {
            lines.push(format!("next: {next}"));
        }
        if let Some(dialog) = self.dialog.as_ref().filter(|_| self.refusal.is_none()) {
            lines.push(format!("a {} dialog is open, {}: {:?}", dialog.kind, dialog.id, dialog.message));
        }
        lines.extend(self.text.clone());
        lines.join("\n")
    }

    pub(super) fn into_result(mut self) -> CallToolResult {
        let mut content = vec![ContentBlock::text(self.words())];
        for image in std::mem::take(&mut self.images) {
            content.push(ContentBlock::image(BASE64_STANDARD.encode(image.bytes), image.mime));
        }
        let mut result = CallToolResult::success(content);
        // A refusal is no error of the tool: the call was understood, and told why not.
        result.is_error = (self.status == Status::Failed).then_some(true);
        result.structured_content = Some(self.structured());
        result
    }
}

fn word(of: impl Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
}

fn dialog(dialog: &Dialog) -> Value {
    let mut told = json!({
        "present": true, "kind": dialog.kind, "dialog_id": dialog.id, "message": dialog.message,
    });
    if let Some(preset) = &dialog.default_value {
        told["default_value"] = json!(preset);
    }
    told
}

/// The members of a value of ours, named as the tools name them: `requestedChars` is `requested_chars` here.
/// Not for what a page made.
pub(super) fn snake(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members.into_iter().map(|(name, value)| (snake_name(&name), snake(value))).collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(snake).collect()),
        other => other,
    }
}

fn snake_name(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

/// The members of a value of ours.
pub(super) fn members(value: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value).map(snake) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabvisor_page::dialog::DialogKind;

    fn refusal() -> Refusal {
        let (code, next) = ("browser_ref_stale", "call get_browser_state".to_owned());
        Refusal { code, message: "it is gone".into(), detail: json!({ "ref": "e1" }), next }
    }

    #[test]
    fn a_refusal_is_a_result_and_a_failure_an_error() {
        let refused = Told::refused(refusal()).into_result();
        assert_eq!(refused.is_error, None);
        let structured = refused.structured_content.unwrap();
        assert_eq!((&structured["status"], &structured["effect"]), (&json!("refused"), &json!("refused")));
        assert_eq!(structured["refusal"]["detail"]["ref"], "e1");
        let failure = Failure {
            code: "browser_threw",
            message: "x".into(),
            retryable: false,
            detail: Value::Null,
            next: "correct it",
        };
        let failed = Told::failed(failure).into_result();
        assert_eq!(failed.is_error, Some(true));
        let structured = failed.structured_content.unwrap();
        assert_eq!((&structured["code"], &structured["retryable"]), (&json!("browser_threw"), &json!(false)));
        assert!(structured.get("refusal").is_none());
    }

    #[test]
    fn words_say_what_the_members_say() {
        let mut told = Told::new(Effect::Unverifiable, Route::DomEvent, "clicked").with("url", "http://a/");
        assert_eq!(told.words(), "ok, unverifiable: clicked");
        let asks = Dialog {
            id: "d1".into(),
            kind: DialogKind::Confirm,
            message: "sure?".into(),
            default_value: None,
        };
        told.open(asks);
        assert_eq!(told.words(), "ok, unverifiable: clicked\na confirm dialog is open, d1: \"sure?\"");
        let structured = told.structured();
        assert_eq!(
            structured["dialog"],
            json!({ "present": true, "kind": "confirm", "dialog_id": "d1", "message": "sure?" })
        );
        assert_eq!(structured["escalation"]["recommended"], "page");
        assert!(Told::refused(refusal()).words().ends_with("next: call get_browser_state"));
    }

    #[test]
    fn names_are_those_of_the_tools() {
        let value = json!({ "requestedChars": 1, "files": [{ "aB": "cD" }], "url": null });
        assert_eq!(snake(value), json!({ "requested_chars": 1, "files": [{ "a_b": "cD" }], "url": null }));
    }
}
