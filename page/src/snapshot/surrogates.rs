//! JSON texts with halves of surrogate pairs in them: pages may hold such strings, Chromium sends
//! them escaped, and a strict parser refuses the whole text for one of them.

use std::borrow::Cow;

/// The text with every half that stands alone replaced by U+FFFD.
pub(super) fn replaced(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut fixed = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        let Some(unit) = unit_at(bytes, at) else {
            // Another escape, two bytes long.
            at += 2;
            continue;
        };
        let low_follows = || unit_at(bytes, at + 6).is_some_and(|next| (0xDC00..0xE000).contains(&next));
        match unit {
            0xD800..0xDC00 if low_follows() => at += 12,
            0xD800..0xE000 => {
                fixed.push_str(&json[copied..at]);
                fixed.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            _ => at += 6,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    fixed.push_str(&json[copied..]);
    Cow::Owned(fixed)
}

/// The code unit of a `\uXXXX` that begins at `at`.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_halves_that_stand_alone_are_replaced() {
        assert_eq!(replaced(r#""a\ud83d\ude00b""#), r#""a\ud83d\ude00b""#);
        assert_eq!(replaced(r#""\ud800x\udc00\u0041""#), r#""\ufffdx\ufffd\u0041""#);
        assert_eq!(replaced(r#""\\ud800""#), r#""\\ud800""#, "an escaped backslash and letters");
        assert_eq!(replaced(r#""\ud800\ud83d\ude00""#), r#""\ufffd\ud83d\ude00""#);
    }

    proptest! {
        #[test]
        fn any_string_of_code_units_can_be_read(units in prop::collection::vec(any::<u16>(), 0..20)) {
            let escaped: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let escaped = escaped.concat();
            let text: String = serde_json::from_str(&replaced(&format!("\"{escaped}\""))).unwrap();
            prop_assert_eq!(text, String::from_utf16_lossy(&units));
        }
    }
}
