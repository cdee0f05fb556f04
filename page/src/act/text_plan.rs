//! What is entered of a text, and whether Enter follows. Pure.

use super::field::FieldKind;

/// How text gets into a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeMode {
    /// At once, as an input method does.
    #[default]
    InsertText,
    /// Key by key.
    Keystrokes,
    /// As the field's value, with the events that follow. It always replaces.
    SetValue,
}

/// Chromium takes 2.5 s for 1000 lines inserted into a textarea, and many minutes for 100,000, with
/// the page standing still meanwhile; as a value 1000 lines take 0.1 s (measured).
const MANY_LINES: usize = 200;

/// What to do with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) text: String,
    /// Press Enter once the text is in.
    pub(super) enter: bool,
    pub(super) mode: TypeMode,
}

/// A newline that ends the text of a single-line field is the Enter key; elsewhere in it there
/// is no place for one. In other fields newlines are content. An input without text takes a
/// value where text would be inserted, and so does a textarea for very many lines.
pub(super) fn plan(kind: FieldKind, text: &str, mode: TypeMode, submit: bool) -> Result<Plan, &'static str> {
    let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut enter = submit;
    if kind.is_single_line() {
        enter |= text.ends_with('\n');
        text.truncate(text.strip_suffix('\n').unwrap_or(&text).len());
        if text.contains('\n') {
            return Err("a field of one line takes a newline only at the end, where it presses Enter");
        }
    }
    let many = kind == FieldKind::Textarea && text.matches('\n').count() > MANY_LINES;
    let by_value = mode == TypeMode::InsertText && (many || kind == FieldKind::Value);
    Ok(Plan { text, enter, mode: if by_value { TypeMode::SetValue } else { mode } })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_newline_is_enter_or_content_or_refused() {
        let planned_as = |kind, text| plan(kind, text, TypeMode::InsertText, false);
        let planned = |text: &str, enter| Ok(Plan { text: text.into(), enter, mode: TypeMode::InsertText });
        assert_eq!(planned_as(FieldKind::Line, "Buy milk\n"), planned("Buy milk", true));
        assert_eq!(planned_as(FieldKind::Line, "Buy milk\r\n"), planned("Buy milk", true));
        assert_eq!(planned_as(FieldKind::Line, "\n"), planned("", true));
        assert!(planned_as(FieldKind::Line, "a\nb").is_err());
        assert!(planned_as(FieldKind::Line, "a\n\n").is_err());
        assert_eq!(planned_as(FieldKind::Textarea, "a\nb\n"), planned("a\nb\n", false));
        assert_eq!(planned_as(FieldKind::Editable, "a\r\nb\r"), planned("a\nb\n", false));
        assert_eq!(planned_as(FieldKind::Value, "2026-01-31").map(|plan| plan.mode), Ok(TypeMode::SetValue));
        let long = "x\n".repeat(MANY_LINES + 1);
        assert_eq!(planned_as(FieldKind::Textarea, &long).map(|plan| plan.mode), Ok(TypeMode::SetValue));
    }

    proptest! {
        #[test]
        fn a_single_line_never_gets_a_newline(text in "[a\r\n]{0,6}", submit: bool) {
            if let Ok(plan) = plan(FieldKind::Line, &text, TypeMode::Keystrokes, submit) {
                prop_assert!(!plan.text.contains(['\r', '\n']));
                prop_assert_eq!(plan.enter, submit || text.ends_with(['\r', '\n']));
            }
        }
    }
}
