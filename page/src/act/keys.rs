//! The keys of a US keyboard, and what Chromium is told of each.
//!
//! Characters that no key has (emoji, CJK, accents) are not here: they go as text.

/// A key as Chromium's `Input.dispatchKeyEvent` wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// `KeyboardEvent.key`; of a character key, the character.
    pub key: &'static str,
    /// `KeyboardEvent.code`: which key of the board.
    pub code: &'static str,
    /// `KeyboardEvent.keyCode`.
    pub key_code: u16,
    /// 0, or 1 left, 2 right, 3 number pad.
    pub location: u8,
    /// What it enters. Enter enters CR: with LF, or without text, nothing is submitted (measured).
    pub text: Option<&'static str>,
    /// Whether Shift has to be held for this character.
    pub shifted: bool,
}

impl Key {
    /// The key of a character; `None` if no key of the board has it.
    pub fn of_char(character: char) -> Option<Self> {
        match character {
            // One key press each, whatever the line ending.
            '\n' | '\r' => return Self::named("Enter"),
            '\t' => return Self::named("Tab"),
            _ => {}
        }
        let mut buffer = [0; 4];
        let text = &*character.encode_utf8(&mut buffer);
        CHARACTERS.iter().find_map(|row| {
            let Characters { plain, shifted, code, key_code } = *row;
            let is_shifted = shifted == text && shifted != plain;
            (is_shifted || plain == text).then(|| {
                let text = if is_shifted { shifted } else { plain };
                Self { key: text, code, key_code, location: 0, text: Some(text), shifted: is_shifted }
            })
        })
    }

    /// The key that `KeyboardEvent.key` or `KeyboardEvent.code` calls so, in any case; of keys
    /// that are there twice, the left one.
    pub fn named(name: &str) -> Option<Self> {
        let is = |spelt: &str| spelt.eq_ignore_ascii_case(name);
        let named = NAMED.iter().find(|row| is(row.key)).or_else(|| NAMED.iter().find(|row| is(row.code)));
        if let Some(row) = named {
            return Some(row.pressed());
        }
        let row = CHARACTERS.iter().find(|row| is(row.code))?;
        Self::of_char(row.plain.chars().next()?)
    }

    /// The same key with Shift held: `a` is `A`, `1` is `!`. A key without letters is itself.
    #[must_use]
    pub fn with_shift(self) -> Self {
        let row = CHARACTERS.iter().find(|row| row.code == self.code);
        row.and_then(|row| Self::of_char(row.shifted.chars().next()?)).unwrap_or(self)
    }

    /// All names, for suggestions.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|row| row.key)
    }
}

struct Characters {
    plain: &'static str,
    shifted: &'static str,
    code: &'static str,
    key_code: u16,
}

struct Named {
    key: &'static str,
    code: &'static str,
    key_code: u16,
    location: u8,
}

impl Named {
    fn pressed(&self) -> Key {
        let text = match (self.key, self.location) {
            ("Enter", _) => Some("\r"),
            (key, 3) if key.len() == 1 => Some(key),
            _ => None,
        };
        let Self { key, code, key_code, location } = *self;
        Key { key, code, key_code, location, text, shifted: false }
    }
}

const fn row(plain: &'static str, shifted: &'static str, code: &'static str, key_code: u16) -> Characters {
    Characters { plain, shifted, code, key_code }
}

const fn named(key: &'static str, code: &'static str, key_code: u16, location: u8) -> Named {
    Named { key, code, key_code, location }
}

#[rustfmt::skip]
const CHARACTERS: &[Characters] = &[
    row("a", "A", "KeyA", 65), row("b", "B", "KeyB", 66), row("c", "C", "KeyC", 67), row("d", "D", "KeyD", 68),
    row("e", "E", "KeyE", 69), row("f", "F", "KeyF", 70), row("g", "G", "KeyG", 71), row("h", "H", "KeyH", 72),
    row("i", "I", "KeyI", 73), row("j", "J", "KeyJ", 74), row("k", "K", "KeyK", 75), row("l", "L", "KeyL", 76),
    row("m", "M", "KeyM", 77), row("n", "N", "KeyN", 78), row("o", "O", "KeyO", 79), row("p", "P", "KeyP", 80),
    row("q", "Q", "KeyQ", 81), row("r", "R", "KeyR", 82), row("s", "S", "KeyS", 83), row("t", "T", "KeyT", 84),
    row("u", "U", "KeyU", 85), row("v", "V", "KeyV", 86), row("w", "W", "KeyW", 87), row("x", "X", "KeyX", 88),
    row("y", "Y", "KeyY", 89), row("z", "Z", "KeyZ", 90),
    row("0", ")", "Digit0", 48), row("1", "!", "Digit1", 49), row("2", "@", "Digit2", 50),
    row("3", "#", "Digit3", 51), row("4", "$", "Digit4", 52), row("5", "%", "Digit5", 53),
    row("6", "^", "Digit6", 54), row("7", "&", "Digit7", 55), row("8", "*", "Digit8", 56),
    row("9", "(", "Digit9", 57),
    row(" ", " ", "Space", 32), row(";", ":", "Semicolon", 186), row("=", "+", "Equal", 187),
    row(",", "<", "Comma", 188), row("-", "_", "Minus", 189), row(".", ">", "Period", 190),
    row("/", "?", "Slash", 191), row("`", "~", "Backquote", 192), row("[", "{", "BracketLeft", 219),
    row("\\", "|", "Backslash", 220), row("]", "}", "BracketRight", 221), row("'", "\"", "Quote", 222),
];

#[rustfmt::skip]
const NAMED: &[Named] = &[
    named("Enter", "Enter", 13, 0), named("Tab", "Tab", 9, 0), named("Backspace", "Backspace", 8, 0),
    named("Escape", "Escape", 27, 0), named("Delete", "Delete", 46, 0), named("Insert", "Insert", 45, 0),
    named("Home", "Home", 36, 0), named("End", "End", 35, 0), named("PageUp", "PageUp", 33, 0),
    named("PageDown", "PageDown", 34, 0), named("ArrowLeft", "ArrowLeft", 37, 0),
    named("ArrowUp", "ArrowUp", 38, 0), named("ArrowRight", "ArrowRight", 39, 0),
    named("ArrowDown", "ArrowDown", 40, 0),
    named("Shift", "ShiftLeft", 16, 1), named("Control", "ControlLeft", 17, 1), named("Alt", "AltLeft", 18, 1),
    named("Meta", "MetaLeft", 91, 1), named("Shift", "ShiftRight", 16, 2),
    named("Control", "ControlRight", 17, 2), named("Alt", "AltRight", 18, 2), named("Meta", "MetaRight", 92, 2),
    named("CapsLock", "CapsLock", 20, 0), named("NumLock", "NumLock", 144, 0),
    named("ScrollLock", "ScrollLock", 145, 0), named("Pause", "Pause", 19, 0),
    named("PrintScreen", "PrintScreen", 44, 0), named("ContextMenu", "ContextMenu", 93, 0),
    named("F1", "F1", 112, 0), named("F2", "F2", 113, 0), named("F3", "F3", 114, 0), named("F4", "F4", 115, 0),
    named("F5", "F5", 116, 0), named("F6", "F6", 117, 0), named("F7", "F7", 118, 0), named("F8", "F8", 119, 0),
    named("F9", "F9", 120, 0), named("F10", "F10", 121, 0), named("F11", "F11", 122, 0),
    named("F12", "F12", 123, 0),
    named("Enter", "NumpadEnter", 13, 3), named("+", "NumpadAdd", 107, 3), named("-", "NumpadSubtract", 109, 3),
    named("*", "NumpadMultiply", 106, 3), named("/", "NumpadDivide", 111, 3), named(".", "NumpadDecimal", 110, 3),
    named("0", "Numpad0", 96, 3), named("1", "Numpad1", 97, 3), named("2", "Numpad2", 98, 3),
    named("3", "Numpad3", 99, 3), named("4", "Numpad4", 100, 3), named("5", "Numpad5", 101, 3),
    named("6", "Numpad6", 102, 3), named("7", "Numpad7", 103, 3), named("8", "Numpad8", 104, 3),
    named("9", "Numpad9", 105, 3),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_has_a_key_that_enters_it() {
        for character in ' '..='~' {
            let key = Key::of_char(character).unwrap_or_else(|| panic!("{character:?}"));
            assert_eq!(key.text, Some(&*character.to_string()));
            assert_eq!(key.key, character.to_string());
            let is_shifted = character.is_ascii_uppercase() || "!@#$%^&*()_+{}|:\"<>?~".contains(character);
            assert_eq!(key.shifted, is_shifted, "{character}");
        }
        assert_eq!(Key::of_char('é').or(Key::of_char('👹')).or(Key::of_char('ａ')), None);
    }

    #[test]
    fn enter_has_all_that_submits() {
        let enter = Key::named("enter").unwrap();
        assert_eq!((enter.key, enter.code, enter.key_code, enter.text), ("Enter", "Enter", 13, Some("\r")));
        assert_eq!(Key::of_char('\n'), Some(enter));
        assert_eq!(Key::named("NumpadEnter").unwrap().location, 3);
    }

    #[test]
    fn codes_are_unique_and_name_their_key() {
        let codes = CHARACTERS.iter().map(|row| row.code).chain(NAMED.iter().map(|row| row.code));
        let mut seen = std::collections::HashSet::new();
        for code in codes {
            assert!(seen.insert(code), "{code} twice");
            assert_eq!(Key::named(code).unwrap().code, code);
        }
        assert_eq!(Key::named("Shift").unwrap().code, "ShiftLeft");
        assert_eq!(Key::named("KeyA").unwrap().with_shift().key, "A");
        assert_eq!(Key::named("F1").unwrap().with_shift().key, "F1");
    }
}
