//! How a command fails: its text and its exit code.

use std::process::ExitCode;

use serde_json::{Value, json};
use tabvisor::config::ConfigError;

use super::output::{self, clean};

/// A failed command.
#[derive(Debug)]
pub(super) struct Failure {
    exit: u8,
    text: String,
    /// The service's own answer.
    answer: Option<Value>,
}

impl Failure {
    fn new(exit: u8, text: impl Into<String>) -> Self {
        Self { exit, text: text.into(), answer: None }
    }

    /// It was tried and did not work.
    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self::new(1, text)
    }

    /// It was asked for in a wrong way.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self::new(2, text)
    }

    /// There is no service to ask.
    pub(super) fn unreachable(text: impl Into<String>) -> Self {
        Self::new(3, text)
    }

    /// The budget ended first.
    pub(super) fn out_of_time(text: impl Into<String>) -> Self {
        Self::new(4, text)
    }

    /// With the service's own answer, for `--json`.
    #[must_use]
    pub(super) fn answered(mut self, answer: Value) -> Self {
        self.answer = Some(answer);
        self
    }

    /// What is told of it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Tells it and gives the exit code.
    pub(super) fn report(&self, as_json: bool) -> ExitCode {
        if as_json {
            let mut answer =
                self.answer.clone().filter(Value::is_object).unwrap_or_else(|| json!({ "error": self.text }));
            answer["ok"] = false.into();
            output::line(&answer.to_string());
        } else {
            output::note(&format!("tabvisor: {}", clean(&self.text)));
        }
        ExitCode::from(self.exit)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}
