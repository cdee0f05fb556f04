//! What a body of `POST /act` asks for, by its kind. Pure.

use std::time::Duration;

use serde_json::{Map, Value};
use tabvisor_actors::{Act, At, Named};
use tabvisor_page::act::{Button, Chord, Click, Modifiers, OptionName, Point, TypeMode, Viewport};

use super::error::{ApiError, Code};
use super::fields::Fields;

/// Kinds that do what a user would; the others are `evaluate`, `wait`, `batch` and `close`.
pub(super) const KINDS: [&str; 11] = [
    "click",
    "clickCoords",
    "type",
    "insertText",
    "press",
    "hover",
    "scrollIntoView",
    "drag",
    "select",
    "fill",
    "resize",
];

/// Time between two keys of `slowly`.
const SLOWLY: Duration = Duration::from_millis(75);

/// Reads the action of one of [`KINDS`].
pub(super) fn read(kind: &str, fields: &mut Fields) -> Result<Act, ApiError> {
    Ok(match kind {
        "click" => {
            let by_events = match fields.text("mode")?.as_deref() {
                None | Some("trusted") => false,
                Some("dom_event") => true,
                Some(_) => return Err(ApiError::wrong("mode", "must be trusted or dom_event.")),
            };
            let click = Click { hover_for: delay(fields)?, ..click(fields)? };
            Act::Click { at: At::On(named(fields, "click", "ref", "selector")?), click, by_events }
        }
        "clickCoords" => {
            let at = At::Point(point(fields)?);
            Act::Click { at, click: Click { hold_for: delay(fields)?, ..click(fields)? }, by_events: false }
        }
        "type" => {
            let on = named(fields, "type", "ref", "selector")?;
            let Some(text) = fields.verbatim("text")? else { return Err(required("type", "text")) };
            let slowly = fields.flag("slowly")?.unwrap_or(false);
            let mode = match fields.text("mode")?.as_deref() {
                None if slowly => TypeMode::Keystrokes,
                None | Some("insert_text") => TypeMode::InsertText,
                Some("keystrokes") => TypeMode::Keystrokes,
                Some("set_value") => TypeMode::SetValue,
                Some(_) => {
                    return Err(ApiError::wrong("mode", "must be insert_text, keystrokes or set_value."));
                }
            };
            let replace = fields.flag("replace")?.unwrap_or(!slowly);
            let submit = fields.flag("submit")?.unwrap_or(false);
            let delay = if slowly { SLOWLY } else { Duration::ZERO };
            Act::Type { on, text, mode, replace, submit, delay }
        }
        "insertText" => {
            let Some(text) = fields.verbatim("text")? else { return Err(required("insertText", "text")) };
            Act::InsertText { text }
        }
        "press" => {
            no_selector(fields)?;
            // A space is a key.
            let key = fields.verbatim("key")?.filter(|key| !key.is_empty());
            let Some(key) = key else { return Err(required("press", "key")) };
            let chord = Chord::read("key", &key, false);
            let chord = chord.map_err(|why| ApiError::invalid(why.to_string()).detail("field", "key"))?;
            let on = fields.text("ref")?.map(Named::Ref);
            Act::Press { chord, on, hold_for: delay(fields)? }
        }
        "hover" => Act::Hover {
            at: At::On(named(fields, "hover", "ref", "selector")?),
            modifiers: modifiers(fields)?,
        },
        "scrollIntoView" => Act::ScrollIntoView { on: named(fields, "scrollIntoView", "ref", "selector")? },
        "drag" => Act::Drag {
            from: At::On(named(fields, "drag", "startRef", "startSelector")?),
            to: At::On(named(fields, "drag", "endRef", "endSelector")?),
        },
        "select" => {
            let on = named(fields, "select", "ref", "selector")?;
            let Some(options) = fields.texts("values")?.filter(|values| !values.is_empty()) else {
                return Err(required("select", "values"));
            };
            Act::Select { on, options, by: OptionName::Either }
        }
        "resize" => Act::Resize(Viewport { width: side(fields, "width")?, height: side(fields, "height")? }),
        _ => {
            no_selector(fields)?;
            Act::Fill { fields: fill(fields.take("fields"))? }
        }
    })
}

fn required(kind: &str, field: &'static str) -> ApiError {
    ApiError::invalid(format!("{kind} requires {field}")).detail("field", field)
}

fn no_selector(fields: &Fields) -> Result<(), ApiError> {
    if fields.has("selector") {
        return Err(ApiError::invalid(super::act::NO_SELECTOR)
            .code(Code::SelectorUnsupported)
            .detail("field", "selector"));
    }
    Ok(())
}

pub(super) fn named(
    fields: &mut Fields,
    kind: &str,
    by_ref: &'static str,
    by_selector: &'static str,
) -> Result<Named, ApiError> {
    match (fields.text(by_ref)?, fields.text(by_selector)?) {
        (Some(r#ref), _) => Ok(Named::Ref(r#ref)),
        (None, Some(selector)) => Ok(Named::Css(selector)),
        (None, None) => {
            let error = format!("{kind} requires {by_ref} or {by_selector}");
            Err(ApiError::invalid(error).detail("field", by_ref))
        }
    }
}

fn side(fields: &Fields, field: &'static str) -> Result<u32, ApiError> {
    if !fields.has(field) {
        return Err(required("resize", field));
    }
    let side = fields.whole::<u32>(field).filter(|side| (1..=Viewport::MAX).contains(side));
    let why = format!("must be a positive integer, at most {}.", Viewport::MAX);
    side.ok_or_else(|| ApiError::wrong(field, why))
}

fn click(fields: &mut Fields) -> Result<Click, ApiError> {
    let button = match fields.text("button")?.as_deref() {
        None | Some("left") => Button::Left,
        Some("middle") => Button::Middle,
        Some("right") => Button::Right,
        Some(_) => return Err(ApiError::wrong("button", "must be left, right or middle.")),
    };
    let count = if fields.flag("doubleClick")?.unwrap_or(false) { 2 } else { 1 };
    Ok(Click { button, count, modifiers: modifiers(fields)?, ..Click::default() })
}

fn modifiers(fields: &mut Fields) -> Result<Modifiers, ApiError> {
    let names = fields.texts("modifiers")?.unwrap_or_default();
    Modifiers::read(&names, false)
        .map_err(|why| ApiError::invalid(why.to_string()).detail("field", "modifiers"))
}

fn delay(fields: &mut Fields) -> Result<Duration, ApiError> {
    let field = "delayMs";
    if !fields.has(field) {
        return Ok(Duration::ZERO);
    }
    let ms = fields.whole::<u64>(field).filter(|ms| *ms <= 5000);
    let wrong = || ApiError::wrong(field, "must be a non-negative integer, at most 5000.");
    ms.map(Duration::from_millis).ok_or_else(wrong)
}

fn point(fields: &mut Fields) -> Result<Point, ApiError> {
    let mut at = [0.0; 2];
    for (place, field) in at.iter_mut().zip(["x", "y"]) {
        let Some(number) = fields.number(field)? else { return Err(required("clickCoords", field)) };
        *place = number;
    }
    Point::checked("x, y", at[0], at[1])
        .map_err(|why| ApiError::invalid(why.to_string()).detail("field", "x, y"))
}

fn fill(fields: Option<Value>) -> Result<Vec<(Named, Value)>, ApiError> {
    let wrong = |why: &str| ApiError::invalid(format!("fields {why}")).detail("field", "fields");
    let Some(Value::Array(fields)) = fields.filter(|fields| *fields != Value::Array(Vec::new())) else {
        return Err(required("fill", "fields"));
    };
    let read = |field: Value| {
        let Value::Object(field) = field else {
            return Err(wrong("must be a list of objects with ref and value"));
        };
        let mut field: Map<String, Value> = field;
        let Some(Value::String(r#ref)) = field.remove("ref").filter(|it| *it != "") else {
            return Err(wrong("need a ref each"));
        };
        let kind = field.remove("type").filter(|kind| !kind.is_null());
        if kind.as_ref().is_some_and(|kind| !kind.is_string()) {
            return Err(wrong("need a type that is a string, or none"));
        }
        let value = match (kind.as_ref().and_then(Value::as_str), field.remove("value").unwrap_or_default()) {
            (_, Value::Object(_)) => {
                return Err(wrong("need a value that is text, a number, true, false, null or a list"));
            }
            (Some("checkbox" | "radio"), value) => Value::Bool(
                matches!(&value, Value::Bool(true)) || value == 1 || value == "1" || value == "true",
            ),
            (_, value) => value,
        };
        Ok((Named::Ref(r#ref), value))
    };
    fields.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(body: &Value) -> Result<Act, String> {
        let mut fields = Fields::from(body.as_object().cloned().unwrap());
        read(body["kind"].as_str().unwrap(), &mut fields).map_err(|error| error.to_string())
    }

    fn by_ref(name: &str) -> Named {
        Named::Ref(name.into())
    }

    #[test]
    fn kinds_are_read_as_clients_write_them() {
        let click = Click { count: 2, button: Button::Right, ..Click::default() };
        assert_eq!(
            asked(&json!({ "kind": "click", "ref": "e1", "doubleClick": "true", "button": "right" }))
                .unwrap(),
            Act::Click { at: At::On(by_ref("e1")), click, by_events: false }
        );
        let typed = |mode, replace, delay| Act::Type {
            on: by_ref("e2"),
            text: " a\n".into(),
            mode,
            replace,
            submit: false,
            delay,
        };
        assert_eq!(
            asked(&json!({ "kind": "type", "ref": "e2", "text": " a\n" })).unwrap(),
            typed(TypeMode::InsertText, true, Duration::ZERO)
        );
        assert_eq!(
            asked(&json!({ "kind": "type", "ref": "e2", "text": " a\n", "slowly": true })).unwrap(),
            typed(TypeMode::Keystrokes, false, SLOWLY)
        );
        let fields =
            json!([{ "ref": "e3", "value": 7 }, { "ref": "e4", "type": "checkbox", "value": "true" }]);
        assert_eq!(
            asked(&json!({ "kind": "fill", "fields": fields })).unwrap(),
            Act::Fill { fields: vec![(by_ref("e3"), json!(7)), (by_ref("e4"), json!(true))] }
        );
        assert!(matches!(
            asked(&json!({ "kind": "press", "key": " " })).unwrap(),
            Act::Press { on: None, .. }
        ));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for (body, error) in [
            (json!({ "kind": "click" }), "click requires ref or selector"),
            (
                json!({ "kind": "click", "ref": "e1", "button": "top" }),
                "button must be left, right or middle.",
            ),
            (json!({ "kind": "click", "ref": "e1", "delayMs": 5001 }), "delayMs must be"),
            (json!({ "kind": "click", "ref": "e1", "modifiers": ["Hyper"] }), "modifiers"),
            (json!({ "kind": "clickCoords", "x": 1 }), "clickCoords requires y"),
            (json!({ "kind": "clickCoords", "x": -1, "y": 2 }), "x, y"),
            (json!({ "kind": "type", "ref": "e1" }), "type requires text"),
            (json!({ "kind": "press" }), "press requires key"),
            (json!({ "kind": "press", "key": "Entr" }), "Enter"),
            (json!({ "kind": "press", "key": "a", "selector": "b" }), "'selector' is not supported"),
            (json!({ "kind": "drag", "startRef": "e1" }), "drag requires endRef or endSelector"),
            (json!({ "kind": "resize", "width": 10 }), "resize requires height"),
            (json!({ "kind": "resize", "width": 0, "height": 5 }), "width must be a positive integer"),
            (json!({ "kind": "resize", "width": 5, "height": 8193 }), "height must be a positive integer"),
            (json!({ "kind": "select", "ref": "e1", "values": [] }), "select requires values"),
            (json!({ "kind": "fill", "fields": [{ "value": 1 }] }), "need a ref each"),
        ] {
            let said = asked(&body).unwrap_err();
            assert!(said.contains(error), "{body}: {said}");
        }
    }
}
