//! When a text must be quoted to stand in a YAML outline, by Playwright's rule.

/// A key, in single quotes if it needs them.
pub(super) fn key(text: &str) -> String {
    if needs_quotes(text) { format!("'{}'", text.replace('\'', "''")) } else { text.to_owned() }
}

/// A value, in double quotes if it needs them.
pub(super) fn value(text: &str) -> String {
    if !needs_quotes(text) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.extend(format!("\\x{:02x}", u32::from(c)).chars()),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn needs_quotes(text: &str) -> bool {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().last()) else { return true };
    if first.is_whitespace() || last.is_whitespace() || "-&*],?!>|@\"'#%[".contains(first) {
        return true;
    }
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends = rest.peek().is_none_or(|next| next.is_whitespace());
        let comment = c == '#' && before.is_some_and(char::is_whitespace);
        if (c.is_control() && c != '\t') || "{}`".contains(c) || (c == ':' && ends) || comment {
            return true;
        }
        before = Some(c);
    }
    is_number(text)
        || ["y", "n", "yes", "no", "true", "false", "on", "off", "null"].contains(&&*text.to_lowercase())
}

/// What JavaScript's `Number` takes for one.
fn is_number(text: &str) -> bool {
    let hex = [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)];
    if let Some((digits, radix)) =
        hex.iter().find_map(|(prefix, radix)| Some((text.strip_prefix(prefix)?, *radix)))
    {
        return !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    }
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let infinity = matches!(text, "Infinity" | "+Infinity" | "-Infinity");
    infinity || (plain && text.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_yaml_would_misread_is_quoted() {
        for text in [
            "", " a", "a ", "-a", "a: b", "a:", "a #b", "a\nb", "&a", "[a", "{a", "`", "12", "1e3", "0x1F",
            "Yes", "null", "'a", "\"a",
        ] {
            assert!(needs_quotes(text), "{text:?}");
        }
        for text in [
            "a",
            "a-b",
            "a:b",
            "a#b",
            "heading \"x\" [level=1]",
            "/two",
            "12 apples",
            "1.2.3",
            "a [b]",
            "é",
            "0xyz",
        ] {
            assert!(!needs_quotes(text), "{text:?}");
        }
    }

    #[test]
    fn quoting_keeps_the_text() {
        assert_eq!(key("button \"Other: it's\" [ref=e11]"), "'button \"Other: it''s\" [ref=e11]'");
        assert_eq!(value("say: \"hi\\\"\n\u{7f}"), r#""say: \"hi\\\"\n\x7f""#);
    }

    proptest! {
        #[test]
        fn a_value_is_always_one_line(text in any::<String>()) {
            prop_assert!(!value(&text).contains(['\n', '\r']));
        }
    }
}
