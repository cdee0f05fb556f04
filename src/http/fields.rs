//! The fields of a request, read as the contract coerces them. Pure.
//!
//! Unknown fields are ignored; a field of the wrong type is refused by name.

use std::time::Duration;

use serde_json::{Map, Value};
use tabvisor_cdp::budget::{BadBudget, Budget};

use tabvisor_page::navigate;

use crate::TabError;

use super::error::ApiError;

/// The largest integer that every client can write.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// The members of a body, or the parameters of a query.
#[derive(Debug, Default)]
pub(super) struct Fields(Map<String, Value>);

impl From<Map<String, Value>> for Fields {
    fn from(members: Map<String, Value>) -> Self {
        Self(members)
    }
}

impl Fields {
    /// The parameters of a query; the first of two with one name counts.
    pub(super) fn of_query(query: Option<&str>) -> Self {
        let mut members = Map::new();
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            members.entry(name).or_insert_with(|| Value::String(value.into_owned()));
        }
        Self(members)
    }

    /// A text; numbers and booleans are read as one, and an empty one as none. It is taken out.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, ApiError> {
        let text = match self.0.remove(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Bool(truth)) => truth.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Array(_) | Value::Object(_)) => {
                return Err(ApiError::wrong(name, "must be a string."));
            }
        };
        let trimmed = text.trim();
        if trimmed.len() == text.len() {
            return Ok((!text.is_empty()).then_some(text));
        }
        Ok((!trimmed.is_empty()).then(|| trimmed.to_owned()))
    }

    /// The address to go to; checked, since it may not be navigated to whatever else is asked.
    pub(super) fn address(&mut self) -> Result<String, ApiError> {
        let Some(url) = self.text("url")? else {
            return Err(ApiError::wrong("url", "is required"));
        };
        navigate::check_url(&url).map_err(TabError::from)?;
        Ok(url)
    }

    /// A text exactly as it is, also an empty one.
    pub(super) fn verbatim(&mut self, name: &'static str) -> Result<Option<String>, ApiError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ApiError::wrong(name, "must be a string.")),
        }
    }

    /// A finite number, or a text that is one.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<f64>, ApiError> {
        let number = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        let wrong = || ApiError::wrong(name, "must be a finite number.");
        number.filter(|number: &f64| number.is_finite()).map(Some).ok_or_else(wrong)
    }

    /// A list of texts; one text is a list of one.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Option<Vec<String>>, ApiError> {
        let wrong = || ApiError::wrong(name, "must be a list of strings.");
        let texts = match self.0.remove(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(text @ Value::String(_)) => vec![text],
            Some(_) => return Err(wrong()),
        };
        let text = |item: Value| match item {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            _ => Err(wrong()),
        };
        texts.into_iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// Whatever it is. It is taken out.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Whether a field has any value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null() && value != "")
    }

    /// A boolean; what is none is refused.
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, ApiError> {
        if !self.has(name) {
            return Ok(None);
        }
        self.truth(name).map(Some).ok_or_else(|| ApiError::wrong(name, "must be true or false."))
    }

    /// A boolean; what is none is absent.
    pub(super) fn truth(&self, name: &str) -> Option<bool> {
        match self.0.get(name)? {
            Value::Bool(truth) => Some(*truth),
            Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
            Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" => Some(true),
                "false" | "0" | "no" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// A non-negative integer; what is none is absent.
    pub(super) fn whole<T: TryFrom<u64>>(&self, name: &str) -> Option<T> {
        integer(self.0.get(name)?).and_then(|number| T::try_from(number).ok())
    }

    /// A non-negative integer; what is none is refused.
    pub(super) fn count<T: TryFrom<u64>>(&self, name: &'static str) -> Result<Option<T>, ApiError> {
        if !self.has(name) {
            return Ok(None);
        }
        let wrong = || ApiError::wrong(name, "must be a non-negative integer.");
        self.whole(name).map(Some).ok_or_else(wrong)
    }

    /// A positive integer; what is none is refused.
    pub(super) fn positive(&self, name: &'static str) -> Result<Option<usize>, ApiError> {
        let wrong = || ApiError::wrong(name, "must be a positive integer.");
        if !self.has(name) {
            return Ok(None);
        }
        self.whole(name).filter(|number| *number > 0).map(Some).ok_or_else(wrong)
    }

    /// As [`budget`](Self::budget), but what is no positive integer is ignored. One over the
    /// maximum is refused all the same: it is a wish that would not be kept.
    pub(super) fn budget_or(&self, default: Duration, max: Duration) -> Result<Budget, ApiError> {
        match self.0.get("timeoutMs").and_then(millis) {
            Some(_) => self.budget(default, max),
            None => Fields::default().budget(default, max),
        }
    }

    /// The budget that `timeoutMs` asks for, beginning now; `default` where it is absent.
    pub(super) fn budget(&self, default: Duration, max: Duration) -> Result<Budget, ApiError> {
        const FIELD: &str = "timeoutMs";
        let total = match self.0.get(FIELD) {
            None | Some(Value::Null) => default,
            Some(given) => {
                millis(given).ok_or_else(|| ApiError::wrong(FIELD, "must be a positive integer."))?
            }
        };
        Budget::checked(FIELD, total, max).map_err(|why| match why {
            BadBudget::OverMaximum { .. } => {
                ApiError::invalid(format!("{why}.")).reason("invalid_argument").detail("field", FIELD)
            }
            BadBudget::NotPositive { .. } => ApiError::wrong(FIELD, "must be a positive integer."),
        })
    }
}

fn millis(given: &Value) -> Option<Duration> {
    integer(given).filter(|ms| *ms > 0).map(Duration::from_millis)
}

fn integer(given: &Value) -> Option<u64> {
    match given {
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => {
            let digits = text.trim();
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        }
        _ => None,
    }
}

/// JSON has one kind of number: `250.0` is an integer, too.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=MAX_SAFE).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn fields(value: &Value) -> Fields {
        Fields(value.as_object().cloned().unwrap())
    }

    fn budget(value: &Value) -> Result<u128, String> {
        let max = Duration::from_mins(2);
        fields(&json!({ "timeoutMs": value }))
            .budget(Duration::from_secs(20), max)
            .map(|budget| budget.total().as_millis())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn texts_are_coerced_and_trimmed() {
        let mut some =
            fields(&json!({ "a": " x ", "b": 5, "c": true, "d": "  ", "e": null, "f": {}, "g": 1.5 }));
        let mut text = |name| some.text(name).map_err(|error| error.to_string());
        assert_eq!(text("a"), Ok(Some("x".into())));
        assert_eq!(text("b"), Ok(Some("5".into())));
        assert_eq!(text("c"), Ok(Some("true".into())));
        assert_eq!(text("d"), Ok(None));
        assert_eq!(text("e"), Ok(None));
        assert_eq!(text("missing"), Ok(None));
        assert_eq!(text("f"), Err("f must be a string.".into()));
        assert_eq!(text("g"), Ok(Some("1.5".into())));
        assert_eq!(Fields::of_query(Some("a=%20x%20&a=y")).text("a").unwrap(), Some("x".into()));
    }

    #[test]
    fn a_timeout_is_kept_exactly_or_refused() {
        for (given, ms) in [(json!(1), 1), (json!("250"), 250), (json!(" 250 "), 250), (json!(250.0), 250)] {
            assert_eq!(budget(&given), Ok(ms), "{given}");
        }
        assert_eq!(budget(&Value::Null), Ok(20_000));
        for given in [
            json!(0),
            json!(-1),
            json!("abc"),
            json!(1.5),
            json!(""),
            json!("NaN"),
            json!("1e3"),
            json!("+5"),
            json!(true),
            json!([1]),
            json!(1e300),
        ] {
            assert_eq!(budget(&given), Err("timeoutMs must be a positive integer.".into()), "{given}");
        }
        assert_eq!(
            budget(&json!(120_001)),
            Err("timeoutMs is 120001 ms, over the maximum of 120000 ms (limits.max_budget_ms).".into())
        );
        assert_eq!(budget(&json!(120_000)), Ok(120_000));
    }

    proptest! {
        #[test]
        fn no_timeout_is_capped_or_rounded(ms in 1u64..200_000) {
            let expected = (ms <= 120_000).then_some(u128::from(ms));
            prop_assert_eq!(budget(&json!(ms)).ok(), expected);
            prop_assert_eq!(budget(&json!(ms.to_string())).ok(), expected);
        }
    }
}
