//! The arguments of a tool: what they are, as a schema that a client can show a model, and the check of what
//! came. Pure. Nothing is coerced, and what is not known is refused by name with the nearest that is.

use serde_json::{Map, Value, json};

/// An argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arg {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// Empty where the name says it.
    pub(super) about: &'static str,
}

/// What an argument may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Text that is not empty, of at most so many bytes.
    Text(usize),
    /// Any text of at most so many bytes.
    Verbatim(usize),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// An integer in this range.
    Whole(u64, u64),
    /// A number.
    Number,
    /// So many texts at most, and at least one.
    Texts(usize),
    /// Text, a number, `true`, `false`, `null`, or a list of texts.
    Value,
    /// An object with these members.
    Object(&'static [Arg]),
    /// So many of them at most, and at least one.
    Objects(&'static [Arg], usize),
    /// An object that is checked elsewhere.
    Arguments,
}

/// An argument that may be left out.
pub(super) const fn may(name: &'static str, kind: Kind, about: &'static str) -> Arg {
    Arg { name, kind, required: false, about }
}

/// An argument that is needed.
pub(super) const fn must(name: &'static str, kind: Kind, about: &'static str) -> Arg {
    Arg { name, kind, required: true, about }
}

/// Nobody needs to be told of a maximum that is larger.
const LARGE: u64 = 1_000_000;

/// Longest part of an argument that is repeated in a refusal.
const SHOWN: usize = 60;

/// The schema of an object with these members.
pub(super) fn object(args: &[&[Arg]]) -> Map<String, Value> {
    let all = || args.iter().copied().flatten();
    let properties: Map<String, Value> = all().map(|arg| (arg.name.to_owned(), property(arg))).collect();
    let required: Vec<&str> = all().filter(|arg| arg.required).map(|arg| arg.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

fn property(arg: &Arg) -> Value {
    let mut schema = match arg.kind {
        Kind::Text(_) | Kind::Verbatim(_) => json!({ "type": "string" }),
        Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Whole(least, LARGE..) => json!({ "type": "integer", "minimum": least }),
        Kind::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Texts(most) => json!({ "type": "array", "items": { "type": "string" }, "maxItems": most }),
        Kind::Value => json!({}),
        Kind::Object(members) => Value::Object(object(&[members])),
        Kind::Objects(members, most) => {
            json!({ "type": "array", "items": object(&[members]), "maxItems": most })
        }
        Kind::Arguments => json!({ "type": "object" }),
    };
    if !arg.about.is_empty() {
        schema["description"] = json!(arg.about);
    }
    schema
}

/// What is wrong with arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wrong {
    pub(super) message: String,
    pub(super) detail: Value,
}

/// Checks what came for a tool. An argument that is `null` was left out.
pub(super) fn check(
    tool: &str,
    args: &[&[Arg]],
    given: Map<String, Value>,
) -> Result<Map<String, Value>, Wrong> {
    let given: Map<String, Value> = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
    check_members(tool, args, &given)?;
    Ok(given)
}

fn check_members(of: &str, args: &[&[Arg]], given: &Map<String, Value>) -> Result<(), Wrong> {
    let all = || args.iter().copied().flatten();
    for name in given.keys() {
        if all().any(|arg| arg.name == name) {
            continue;
        }
        let names: Vec<&str> = all().map(|arg| arg.name).collect();
        let nearest = nearest(name, names.iter().copied());
        let hint = nearest.map(|it| format!("; the nearest is {it:?}")).unwrap_or_default();
        let message = format!("{of} has no argument {:?}{hint}", short(name));
        return Err(Wrong {
            message,
            detail: json!({ "field": short(name), "nearest": nearest, "allowed": names }),
        });
    }
    for arg in all() {
        match given.get(arg.name) {
            Some(value) => check_value(arg, value)?,
            None if arg.required => {
                let message = format!("{of} needs {}", arg.name);
                return Err(Wrong { message, detail: json!({ "field": arg.name }) });
            }
            None => {}
        }
    }
    Ok(())
}

fn check_value(arg: &Arg, value: &Value) -> Result<(), Wrong> {
    let name = arg.name;
    let wrong =
        |why: String| Err(Wrong { message: format!("{name} {why}"), detail: json!({ "field": name }) });
    match (arg.kind, value) {
        (Kind::Text(_), Value::String(text)) if text.trim().is_empty() => wrong("is empty".into()),
        (Kind::Text(most) | Kind::Verbatim(most), Value::String(text)) if text.len() > most => {
            wrong(format!("has {} bytes, over the limit of {most}", text.len()))
        }
        (Kind::OneOf(words), Value::String(text)) if words.contains(&text.as_str()) => Ok(()),
        (Kind::OneOf(words), value) => {
            let given = value.as_str().unwrap_or_default();
            let nearest = nearest(given, words.iter().copied());
            let message = format!("{name} must be one of {}, got {}", words.join(", "), shown(value));
            Err(Wrong { message, detail: json!({ "field": name, "nearest": nearest, "allowed": words }) })
        }
        (Kind::Text(_) | Kind::Verbatim(_), Value::String(_))
        | (Kind::Flag, Value::Bool(_))
        | (Kind::Arguments, Value::Object(_)) => Ok(()),
        (Kind::Whole(least, most), value) => match whole(value) {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            _ => wrong(format!("must be an integer from {least} to {most}, got {}", shown(value))),
        },
        (Kind::Number, Value::Number(number)) if number.as_f64().is_some_and(f64::is_finite) => Ok(()),
        (Kind::Texts(most), Value::Array(items)) => {
            if items.is_empty() || items.len() > most {
                return wrong(format!("must be a list of 1 to {most} texts, got {}", items.len()));
            }
            if !items.iter().all(Value::is_string) {
                return wrong("must be a list of texts".into());
            }
            Ok(())
        }
        (Kind::Value, value) => match value {
            Value::Object(_) => wrong("must be text, a number, true, false, null or a list".into()),
            _ => Ok(()),
        },
        (Kind::Object(members), Value::Object(given)) => check_members(name, &[members], given),
        (Kind::Objects(members, most), Value::Array(items)) => {
            if items.is_empty() || items.len() > most {
                return wrong(format!("must be a list of 1 to {most} objects, got {}", items.len()));
            }
            for (at, item) in items.iter().enumerate() {
                let of = format!("{name}[{at}]");
                let Value::Object(given) = item else {
                    return wrong(format!("must be a list of objects; {of} is none"));
                };
                check_members(&of, &[members], given)?;
            }
            Ok(())
        }
        (kind, value) => wrong(format!("must be {}, got {}", word(kind), shown(value))),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Text(_) | Kind::Verbatim(_) | Kind::OneOf(_) => "a string",
        Kind::Flag => "true or false",
        Kind::Whole(..) => "an integer",
        Kind::Number => "a number",
        Kind::Texts(_) => "a list of strings",
        Kind::Value => "a value",
        Kind::Object(_) | Kind::Arguments => "an object",
        Kind::Objects(..) => "a list of objects",
    }
}

/// JSON has one kind of number: `250.0` is an integer, too.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
pub(super) fn whole(value: &Value) -> Option<u64> {
    const MAX_SAFE: f64 = 9_007_199_254_740_991.0;
    let exact =
        |number: f64| (number.fract() == 0.0 && (0.0..=MAX_SAFE).contains(&number)).then_some(number as u64);
    value.as_u64().or_else(|| exact(value.as_f64()?))
}

/// The name that was probably meant.
pub(super) fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given = short(given).to_ascii_lowercase();
    let like = |name: &'a str| (strsim::jaro_winkler(&given, name), name);
    let best = names.map(like).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(like, _)| *like > 0.7).map(|(_, name)| name)
}

fn short(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

fn shown(value: &Value) -> String {
    short(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGS: &[Arg] = &[
        must("ref", Kind::Text(9), "which"),
        may("mode", Kind::OneOf(&["fast", "slow"]), ""),
        may("count", Kind::Whole(1, 3), ""),
        may("fields", Kind::Objects(&[must("value", Kind::Value, "")], 2), ""),
    ];

    fn wrong(given: &Value) -> Wrong {
        check("a_tool", &[ARGS], given.as_object().cloned().unwrap()).unwrap_err()
    }

    #[test]
    fn what_is_right_passes_and_null_is_left_out() {
        let given = json!({ "ref": "e1", "mode": null, "count": 2.0, "fields": [{ "value": true }] });
        let checked = check("a_tool", &[ARGS], given.as_object().cloned().unwrap()).unwrap();
        assert!(!checked.contains_key("mode") && checked.len() == 3);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_near() {
        for (given, message) in [
            (json!({}), "a_tool needs ref"),
            (json!({ "ref": null }), "a_tool needs ref"),
            (json!({ "ref": "e1", "reff": 1 }), "a_tool has no argument \"reff\"; the nearest is \"ref\""),
            (json!({ "ref": "e1", "zzz": 1 }), "a_tool has no argument \"zzz\""),
            (json!({ "ref": 1 }), "ref must be a string, got 1"),
            (json!({ "ref": " " }), "ref is empty"),
            (json!({ "ref": "0123456789" }), "ref has 10 bytes, over the limit of 9"),
            (json!({ "ref": "e1", "mode": "fats" }), "mode must be one of fast, slow, got \"fats\""),
            (json!({ "ref": "e1", "count": "2" }), "count must be an integer from 1 to 3, got \"2\""),
            (json!({ "ref": "e1", "count": 4 }), "count must be an integer from 1 to 3, got 4"),
            (json!({ "ref": "e1", "fields": [] }), "fields must be a list of 1 to 2 objects, got 0"),
            (json!({ "ref": "e1", "fields": [{}] }), "fields[0] needs value"),
            (
                json!({ "ref": "e1", "fields": [{ "value": 1, "valu": 2 }] }),
                "fields[0] has no argument \"valu\"",
            ),
        ] {
            let said = wrong(&given).message;
            assert!(said.starts_with(message), "{given}: {said}");
        }
        assert_eq!(wrong(&json!({ "ref": "e1", "mode": "fats" })).detail["nearest"], "fast");
    }

    #[test]
    fn a_schema_says_what_the_check_checks() {
        let schema = Value::Object(object(&[ARGS]));
        assert_eq!(schema["required"], json!(["ref"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["ref"], json!({ "type": "string", "description": "which" }));
        assert_eq!(schema["properties"]["mode"]["enum"], json!(["fast", "slow"]));
        assert_eq!(schema["properties"]["fields"]["items"]["required"], json!(["value"]));
    }
}
