//! JSON with line breaks, otherwise as it came: the order of members and the digits of numbers
//! stay. Pure.

/// Lays out valid JSON.
pub(super) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json.trim();
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(token_length(rest));
        rest = after.trim_start();
        match first {
            '{' | '[' => {
                out.push(first);
                if rest.starts_with(['}', ']']) {
                    out.push_str(&rest[..1]);
                    rest = rest[1..].trim_start();
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(first);
            }
            ',' => {
                out.push(',');
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push_str(token),
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Bytes of the token at the beginning of `text`: a whole string, a whole scalar, or one character.
fn token_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let length = match bytes[0] {
        b'"' => {
            let mut at = 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at + 1
        }
        b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
        _ => text.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(text.len()).max(1),
    };
    length.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn order_and_digits_stay() {
        let text = r#"{"z":1.50,"a":[12345678901234567890123,{},[ ],"a\"]{,:\\"],"b":null}"#;
        let laid_out = "{\n  \"z\": 1.50,\n  \"a\": [\n    12345678901234567890123,\n    {},\n    [],\n    \"a\\\"]{,:\\\\\"\n  ],\n  \"b\": null\n}";
        assert_eq!(pretty(text), laid_out);
        for scalar in ["null", "1", "\"x\"", "-0"] {
            assert_eq!(pretty(scalar), scalar);
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("\\PC*", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_says_what_serde_says(value in value()) {
            prop_assert_eq!(pretty(&json!(value).to_string()), serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
