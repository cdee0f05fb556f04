//! The arguments of a call, once they are checked. What is read here is of its type already.

use std::time::Duration;

use serde_json::{Map, Value};
use tabvisor_actors::{At, Named};
use tabvisor_page::act::{Modifiers, Point};

use super::envelope::Told;
use super::failure::{refusal, refused};
use super::schema::whole;

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Args(Map<String, Value>);

impl From<Map<String, Value>> for Args {
    fn from(checked: Map<String, Value>) -> Self {
        Self(checked)
    }
}

impl Args {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A text without the blanks around it.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(|text| text.trim().to_owned())
    }

    /// A text as it came.
    pub(super) fn verbatim(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    pub(super) fn whole(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(whole)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let items = self.0.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// One text or several.
    pub(super) fn options(&self, name: &'static str) -> Result<Option<Vec<String>>, Box<Told>> {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let Some(given) = self.0.get(name) else { return Ok(None) };
        let texts = match given {
            Value::Array(items) if !items.is_empty() => items.iter().map(text).collect::<Option<Vec<_>>>(),
            one => text(one).map(|one| vec![one]),
        };
        texts.map(Some).ok_or_else(|| wrong(name, format!("{name} must be a text or a list of texts")))
    }

    pub(super) fn objects(&self, name: &str) -> Vec<Map<String, Value>> {
        let items = self.0.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_object).cloned().collect()
    }

    pub(super) fn object(&self, name: &str) -> Option<Map<String, Value>> {
        self.0.get(name).and_then(Value::as_object).cloned()
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.whole("timeout_ms").map(Duration::from_millis)
    }

    /// The element of `ref`.
    pub(super) fn named(&self) -> Option<Named> {
        self.text("ref").map(Named::Ref)
    }

    /// The element of `ref`, which the schema demands.
    pub(super) fn element(&self) -> Named {
        Named::Ref(self.text("ref").unwrap_or_default())
    }

    /// The point of two arguments; both or none.
    pub(super) fn point(&self, x: &'static str, y: &'static str) -> Result<Option<Point>, Box<Told>> {
        match (self.number(x), self.number(y)) {
            (None, None) => Ok(None),
            (Some(at_x), Some(at_y)) => {
                Point::checked("x, y", at_x, at_y).map(Some).map_err(|why| wrong(x, why))
            }
            (Some(_), None) => Err(wrong(y, format!("{y} is needed with {x}"))),
            (None, Some(_)) => Err(wrong(x, format!("{x} is needed with {y}"))),
        }
    }

    /// The place of `ref`, or of `x` and `y`; not both.
    pub(super) fn place(&self) -> Result<Option<At>, Box<Told>> {
        match (self.named(), self.point("x", "y")?) {
            (Some(_), Some(_)) => Err(wrong("ref", "ref and x, y are two places; give one")),
            (Some(named), None) => Ok(Some(At::On(named))),
            (None, point) => Ok(point.map(At::Point)),
        }
    }

    /// The keys that are held.
    pub(super) fn modifiers(&self) -> Result<Modifiers, Box<Told>> {
        Modifiers::read(&self.texts("modifiers"), false).map_err(|why| wrong("modifiers", why))
    }
}

/// An argument that is wrong in what it means.
pub(super) fn wrong(field: &str, why: impl std::fmt::Display) -> Box<Told> {
    let mut refusal = refusal("invalid_argument", why.to_string());
    refusal.detail = serde_json::json!({ "field": field });
    Box::new(Told::refused(refusal))
}

/// What is asked for cannot be done here.
pub(super) fn unavailable(why: impl Into<String>, next: impl Into<String>) -> Box<Told> {
    let mut told = refused("action_unavailable", why);
    if let Some(refusal) = &mut told.refusal {
        refusal.next = next.into();
    }
    told
}
