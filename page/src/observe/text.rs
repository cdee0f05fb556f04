//! The text of a console message: format words filled in, the rest joined, objects as previews.
//! Pure.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;

/// A value that was logged: the part of CDP's `RemoteObject` that is needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Argument {
    r#type: String,
    subtype: Option<String>,
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    object_id: Option<String>,
    preview: Option<Preview>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preview {
    subtype: Option<String>,
    description: Option<String>,
    #[serde(default)]
    overflow: bool,
    #[serde(default)]
    properties: Vec<Property>,
    #[serde(default)]
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Property {
    name: String,
    r#type: String,
    subtype: Option<String>,
    value: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    key: Option<Preview>,
    value: Preview,
}

impl Argument {
    /// Chromium keeps the object until it is told to let go of it.
    pub(super) fn is_kept(&self) -> bool {
        self.object_id.is_some()
    }

    pub(super) fn is_error(&self) -> bool {
        self.subtype.as_deref() == Some("error")
    }

    fn text(&self) -> String {
        match (&self.value, &self.unserializable_value) {
            (Some(Value::String(text)), _) | (None, Some(text)) => return text.clone(),
            (Some(value), _) => return value.to_string(),
            (None, None) => {}
        }
        match (self.r#type.as_str(), self.subtype.as_deref(), &self.preview) {
            ("undefined", _, _) => "undefined".into(),
            (_, Some("null"), _) => "null".into(),
            (_, Some("error" | "regexp" | "date" | "node"), _) | (_, _, None) => {
                self.description.clone().unwrap_or_else(|| self.r#type.clone())
            }
            (_, _, Some(preview)) => preview.text(),
        }
    }
}

impl Preview {
    fn text(&self) -> String {
        let list = self.subtype.as_deref().is_some_and(|kind| matches!(kind, "array" | "typedarray"));
        let mut parts: Vec<String> = self.entries.iter().map(Entry::text).collect();
        parts.extend(self.properties.iter().filter(|it| it.r#type != "accessor").map(|it| {
            let indexed = list && it.name.bytes().all(|byte| byte.is_ascii_digit());
            if indexed { it.text() } else { format!("{}: {}", it.name, it.text()) }
        }));
        if self.overflow {
            parts.push("…".into());
        }
        let inside = parts.join(", ");
        if list {
            return format!("[{inside}]");
        }
        match self.description.as_deref() {
            None | Some("" | "Object") => format!("{{{inside}}}"),
            // An entry that is a plain value.
            Some(name) if parts.is_empty() => name.to_owned(),
            Some(name) => format!("{name} {{{inside}}}"),
        }
    }
}

impl Property {
    fn text(&self) -> String {
        let value = self.value.as_deref().unwrap_or_default();
        match (self.r#type.as_str(), self.subtype.as_deref()) {
            ("string", _) => format!("'{value}'"),
            ("function", _) => "ƒ".into(),
            ("object", None) if value == "Object" => "{…}".into(),
            _ if value.is_empty() => self.r#type.clone(),
            _ => value.to_owned(),
        }
    }
}

impl Entry {
    fn text(&self) -> String {
        let value = self.value.text();
        self.key.as_ref().map_or_else(|| value.clone(), |key| format!("{} => {value}", key.text()))
    }
}

/// A message as one text.
pub(super) fn message(arguments: &[Argument]) -> String {
    let mut rest = arguments.iter();
    let mut out = String::new();
    // Only a first argument that is a text has format words, and only if there is more.
    if let [first, _, ..] = arguments
        && let Some(Value::String(format)) = &first.value
    {
        rest.next();
        fill(&mut out, format, &mut rest);
        if rest.len() > 0 {
            out.push(' ');
        }
    }
    let rest: Vec<String> = rest.map(Argument::text).collect();
    out.push_str(&rest.join(" "));
    out
}

/// What was thrown.
pub(super) fn thrown(argument: &Argument) -> String {
    argument.text()
}

fn fill<'a>(out: &mut String, format: &str, arguments: &mut impl Iterator<Item = &'a Argument>) {
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        let word = if c == '%' { chars.peek().copied() } else { None };
        let Some(word) = word.filter(|word| matches!(word, 's' | 'd' | 'i' | 'f' | 'o' | 'O' | 'c' | '%'))
        else {
            out.push(c);
            continue;
        };
        chars.next();
        if word == '%' {
            out.push('%');
            continue;
        }
        let Some(argument) = arguments.next() else {
            out.extend(['%', word]);
            continue;
        };
        match word {
            // A style, which text has none of.
            'c' => {}
            'd' | 'i' | 'f' => number(out, argument, word != 'f'),
            _ => out.push_str(&argument.text()),
        }
    }
}

fn number(out: &mut String, argument: &Argument, whole: bool) {
    let text = argument.text();
    match text.trim().parse::<f64>() {
        Ok(number) => {
            let _ = write!(out, "{}", if whole { number.trunc() } else { number });
        }
        Err(_) => out.push_str("NaN"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(arguments: &Value) -> String {
        message(&serde_json::from_value::<Vec<Argument>>(arguments.clone()).unwrap())
    }

    fn text(value: &str) -> Value {
        json!({ "type": "string", "value": value })
    }

    #[test]
    fn values_are_joined() {
        let all = json!([
            { "type": "number", "value": 1.5 }, text("a"), { "type": "undefined" },
            { "type": "object", "subtype": "null", "value": null }, { "type": "boolean", "value": true },
            { "type": "number", "unserializableValue": "-0", "description": "-0" },
            { "type": "bigint", "unserializableValue": "10n" }, { "type": "symbol", "description": "Symbol(q)" },
            { "type": "object", "subtype": "error", "description": "Error: bad\n    at x", "objectId": "1" },
        ]);
        assert_eq!(said(&all), "1.5 a undefined null true -0 10n Symbol(q) Error: bad\n    at x");
        assert_eq!(said(&json!([])), "");
        assert_eq!(said(&json!([text("100% sure")])), "100% sure");
    }

    #[test]
    fn format_words_are_filled() {
        let one = json!({ "type": "number", "value": 1.9 });
        for (format, want) in [
            ("%s!", "1.9! more"),
            ("%d", "1 more"),
            ("%f", "1.9 more"),
            ("%cred", "red more"),
            ("%% %s", "% 1.9 more"),
            ("%s %s", "1.9 more"),
            ("%s %s %s", "1.9 more %s"),
            ("%x", "%x 1.9 more"),
            ("end %", "end % 1.9 more"),
        ] {
            assert_eq!(said(&json!([text(format), one, text("more")])), want, "{format}");
        }
        assert_eq!(said(&json!([text("%d"), text("x")])), "NaN");
    }

    #[test]
    fn objects_are_previews() {
        let object = |preview: Value| json!([{ "type": "object", "description": "?", "objectId": "1", "preview": preview }]);
        let plain = object(
            json!({ "type": "object", "description": "Object", "overflow": true, "properties": [
            { "name": "a", "type": "number", "value": "1" }, { "name": "b", "type": "string", "value": "x" },
            { "name": "c", "type": "object", "value": "Object" }, { "name": "d", "type": "function", "value": "" },
            { "name": "e", "type": "object", "subtype": "array", "value": "Array(2)" },
        ] }),
        );
        assert_eq!(said(&plain), "{a: 1, b: 'x', c: {…}, d: ƒ, e: Array(2), …}");
        let list = object(
            json!({ "type": "object", "subtype": "array", "description": "Array(2)", "properties": [
            { "name": "0", "type": "number", "value": "1" }, { "name": "1", "type": "undefined", "value": "undefined" },
        ] }),
        );
        assert_eq!(said(&list), "[1, undefined]");
        let map =
            object(json!({ "type": "object", "subtype": "map", "description": "Map(1)", "properties": [],
            "entries": [{ "key": { "type": "string", "description": "k", "properties": [] },
                          "value": { "type": "number", "description": "2", "properties": [] } }] }));
        assert_eq!(said(&map), "Map(1) {k => 2}");
        // Without a preview there is at least a word.
        assert_eq!(
            said(&json!([{ "type": "object", "description": "Array(4)", "objectId": "1" }])),
            "Array(4)"
        );
    }
}
