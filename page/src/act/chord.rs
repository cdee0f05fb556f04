//! Reading `Control+Shift+T`.

use std::fmt;

use super::keys::Key;
use super::modifiers::Modifiers;

/// A key to hold while another is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modifier {
    /// `Alt`, `Option`
    Alt,
    /// `Control`, `Ctrl`
    Control,
    /// `Meta`, `Cmd`, `Command`
    Meta,
    /// `Shift`
    Shift,
}

impl Modifier {
    /// Reads a name. `mac`: the browser runs on a Mac, where `ControlOrMeta` is Meta.
    pub fn read(name: &str, mac: bool) -> Option<Self> {
        Some(match &*name.to_ascii_lowercase() {
            "alt" | "option" => Self::Alt,
            "meta" | "cmd" | "command" => Self::Meta,
            "shift" => Self::Shift,
            "controlormeta" if mac => Self::Meta,
            "control" | "ctrl" | "controlormeta" => Self::Control,
            _ => return None,
        })
    }

    /// It alone.
    pub fn held(self) -> Modifiers {
        match self {
            Self::Alt => Modifiers::ALT,
            Self::Control => Modifiers::CONTROL,
            Self::Meta => Modifiers::META,
            Self::Shift => Modifiers::SHIFT,
        }
    }

    /// Its left key.
    pub(super) fn key(self) -> Key {
        let (code, key_code) = match self {
            Self::Alt => ("AltLeft", 18),
            Self::Control => ("ControlLeft", 17),
            Self::Meta => ("MetaLeft", 91),
            Self::Shift => ("ShiftLeft", 16),
        };
        Key { key: self.name(), code, key_code, location: 1, text: None, shifted: false }
    }

    /// As `KeyboardEvent.key` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alt => "Alt",
            Self::Control => "Control",
            Self::Meta => "Meta",
            Self::Shift => "Shift",
        }
    }
}

/// A key with the modifiers that are held for it. It is printed as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chord {
    /// In the order in which they go down; none twice.
    pub modifiers: Vec<Modifier>,
    /// The last one.
    pub key: Key,
}

/// Text that names no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {}", self.why())]
pub struct BadKey {
    /// The field of the request.
    pub field: &'static str,
    /// The part that was not understood, shortened.
    pub part: String,
    /// Names that look like it.
    pub near: Vec<&'static str>,
}

const SHOWN: usize = 40;

impl BadKey {
    fn why(&self) -> String {
        if self.part.is_empty() {
            return "must name a key, such as Enter, a or Control+A".to_owned();
        }
        let meant = match &*self.near {
            [] => "allowed are a character, a name of KeyboardEvent.key or KeyboardEvent.code, with \
                   Alt, Control, Meta, Shift or ControlOrMeta before it"
                .to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        format!("no key is called {:?}; {meant}", self.part)
    }
}

impl Chord {
    /// Reads `Enter`, `a`, `Control+Shift+T`, `Control++`; names in any case. `field` is what the
    /// caller called it; `mac` as for [`Modifier::read`].
    ///
    /// # Errors
    /// [`BadKey`] for what names no key, with names like it.
    pub fn read(field: &'static str, text: &str, mac: bool) -> Result<Self, BadKey> {
        let bad = |part: &str| BadKey { field, part: part.chars().take(SHOWN).collect(), near: near(part) };
        // A plus at the end is the key.
        let (held, last) = match text.strip_suffix('+') {
            Some(rest) if rest.is_empty() || rest.ends_with('+') => (rest.strip_suffix('+'), "+"),
            _ => text.rsplit_once('+').map_or((None, text), |(held, last)| (Some(held), last)),
        };
        let mut modifiers = Vec::new();
        for name in held.into_iter().flat_map(|held| held.split('+')) {
            let modifier = Modifier::read(name.trim(), mac).ok_or_else(|| bad(name))?;
            if !modifiers.contains(&modifier) {
                modifiers.push(modifier);
            }
        }
        let key = key(last, mac).ok_or_else(|| bad(last))?;
        // Control+a with Shift is Control+A: what the key enters follows from what is held.
        let key = if modifiers.contains(&Modifier::Shift) { key.with_shift() } else { key };
        Ok(Self { modifiers, key })
    }

    /// What is held. A capital letter is a key with Shift.
    pub fn held(&self) -> Modifiers {
        let shift = if self.key.shifted { Modifiers::SHIFT } else { Modifiers::NONE };
        self.modifiers.iter().fold(shift, |all, modifier| all.and(modifier.held()))
    }

    /// What it enters: nothing while Alt, Control or Meta is held.
    pub fn text(&self) -> Option<&'static str> {
        self.key.text.filter(|_| matches!(self.held(), Modifiers::NONE | Modifiers::SHIFT))
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for modifier in &self.modifiers {
            write!(f, "{}+", modifier.name())?;
        }
        // Keys that share their name are told apart by their code.
        let is_first = Key::named(self.key.key).is_none_or(|first| first.code == self.key.code);
        let is_char = self.key.key.chars().count() == 1;
        let text = if is_char && self.key.location == 0 || !is_char && is_first {
            self.key.key
        } else {
            self.key.code
        };
        f.write_str(if text == " " { "Space" } else { text })
    }
}

fn key(text: &str, mac: bool) -> Option<Key> {
    let mut characters = text.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return Key::of_char(only);
    }
    let text = text.trim();
    let name = match &*text.to_ascii_lowercase() {
        "esc" => "Escape",
        "return" => "Enter",
        "del" => "Delete",
        "ins" => "Insert",
        "up" => "ArrowUp",
        "down" => "ArrowDown",
        "left" => "ArrowLeft",
        "right" => "ArrowRight",
        "plus" => "Equal",
        _ => return Modifier::read(text, mac).map_or_else(|| Key::named(text), |held| Some(held.key())),
    };
    let key = Key::named(name)?;
    Some(if name == "Equal" { key.with_shift() } else { key })
}

/// The names with the fewest slips, two at most.
fn near(text: &str) -> Vec<&'static str> {
    let text: String = text.trim().chars().take(SHOWN).flat_map(char::to_lowercase).collect();
    if text.chars().count() < 3 {
        return Vec::new();
    }
    let modifiers = ["Alt", "Control", "Meta", "Shift", "ControlOrMeta", "Space"];
    let mut found: Vec<_> = Key::names()
        .chain(modifiers)
        .filter(|name| name.len() > 2)
        .map(|name| (slips(&text, &name.to_ascii_lowercase()), name))
        .filter(|(slips, _)| *slips <= 2)
        .collect();
    found.sort_unstable();
    found.dedup();
    let fewest = found.first().map_or(0, |(slips, _)| *slips);
    found.into_iter().take_while(|(slips, _)| *slips == fewest).take(3).map(|(_, name)| name).collect()
}

/// How many characters must be put in, left out or changed.
fn slips(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, here) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, there) in other.iter().enumerate() {
            let changed = diagonal + usize::from(here != *there);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Chord {
        Chord::read("key", text, false).unwrap_or_else(|bad| panic!("{bad}"))
    }

    #[test]
    fn chords_are_read_as_people_write_them() {
        let chord = read("Control+Shift+T");
        assert_eq!(
            (chord.held().bits(), chord.key.key, chord.key.key_code, chord.text()),
            (10, "T", 84, None)
        );
        for (text, key, bits) in [
            ("esc", "Escape", 0),
            ("return", "Enter", 0),
            ("del", "Delete", 0),
            ("ENTER", "Enter", 0),
            ("space", " ", 0),
            (" ", " ", 0),
            ("ctrl+a", "a", 2),
            ("Cmd + Left", "ArrowLeft", 4),
            ("A", "A", 8),
            ("shift+a", "A", 8),
            ("Shift+1", "!", 8),
            ("+", "+", 8),
            ("Control++", "+", 10),
            ("plus", "+", 8),
            ("ctrl", "Control", 0),
            ("KeyQ", "q", 0),
            ("Alt+F4", "F4", 1),
            ("control+CTRL+c", "c", 2),
        ] {
            let chord = read(text);
            assert_eq!((chord.key.key, chord.held().bits()), (key, bits), "{text}");
        }
        assert_eq!(read("ControlOrMeta+a").modifiers, [Modifier::Control]);
        assert_eq!(Chord::read("key", "ControlOrMeta+a", true).unwrap().modifiers, [Modifier::Meta]);
        assert_eq!(read("Shift+Enter").text(), Some("\r"));
    }

    #[test]
    fn what_names_no_key_is_told_with_names_like_it() {
        let why = |text| Chord::read("key", text, false).unwrap_err().to_string();
        assert_eq!(why("Entr"), "key: no key is called \"Entr\"; did you mean Enter?");
        assert_eq!(why("Contrl+a"), "key: no key is called \"Contrl\"; did you mean Control?");
        assert_eq!(why(""), "key: must name a key, such as Enter, a or Control+A");
        assert_eq!(why("Control+"), "key: must name a key, such as Enter, a or Control+A");
        assert!(why("é").contains("allowed are a character"), "{}", why("é"));
        assert!(why(&"x".repeat(1_000)).len() < 300);
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in "\\PC*", parts in prop::collection::vec("[a-zA-Z]{0,9}|\\+| |é", 0..6)) {
            let _ = Chord::read("key", &text, false);
            let _ = Chord::read("key", &parts.join("+"), false);
            let _ = Chord::read("key", &parts.concat(), false);
        }

        #[test]
        fn what_is_printed_reads_back(
            held in prop::sample::subsequence(vec!["Alt", "Control", "Meta", "Shift"], 0..4).prop_shuffle(),
            key in prop::sample::select(every_key()),
        ) {
            let text = held.iter().copied().chain([&*key]).collect::<Vec<_>>().join("+");
            let chord = Chord::read("key", &text, false).unwrap();
            prop_assert_eq!(&Chord::read("key", &chord.to_string(), false).unwrap(), &chord, "{} as {}", text, chord);
        }
    }

    fn every_key() -> Vec<String> {
        let characters = (' '..='~').map(String::from);
        let codes = ["NumpadEnter", "Numpad5", "NumpadAdd", "ShiftRight", "MetaRight", "AltLeft", "Minus"];
        characters.chain(codes.map(Into::into)).chain(Key::names().map(Into::into)).collect()
    }
}
