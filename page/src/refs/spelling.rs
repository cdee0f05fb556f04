//! How refs are written.

use std::fmt;

/// The name of a ref: `e12`, `f1e12` in a child frame, `ax12` in an aria snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefId {
    /// An element of a role or AI snapshot. The main frame is frame 0.
    Element {
        /// The ordinal of its frame.
        frame: u32,
        /// Its number in that frame.
        number: u32,
    },
    /// A node of an aria snapshot, numbered through all frames.
    Aria {
        /// Its number in the tab.
        number: u32,
    },
}

impl RefId {
    /// Reads `e12`, `@e12`, `ref=e12`, `ax12` and `f1e12`. Everything else, bare digits too, is no
    /// ref.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('@').or_else(|| text.strip_prefix("ref=")).unwrap_or(text);
        if let Some(number) = text.strip_prefix("ax") {
            return Some(Self::Aria { number: digits(number)? });
        }
        let (frame, number) = match text.strip_prefix('f') {
            Some(rest) => {
                let (frame, number) = rest.split_once('e')?;
                (digits(frame)?, number)
            }
            None => (0, text.strip_prefix('e')?),
        };
        Some(Self::Element { frame, number: digits(number)? })
    }
}

/// A number from 1, without a leading zero: every ref has one spelling of its number.
fn digits(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| plain)
}

impl fmt::Display for RefId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Element { frame: 0, number } => write!(f, "e{number}"),
            Self::Element { frame, number } => write!(f, "f{frame}e{number}"),
            Self::Aria { number } => write!(f, "ax{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_spellings_name_the_same() {
        let e12 = Some(RefId::Element { frame: 0, number: 12 });
        for text in ["e12", "@e12", "ref=e12", " e12 "] {
            assert_eq!(RefId::read(text), e12, "{text}");
        }
        assert_eq!(RefId::read("ax12"), Some(RefId::Aria { number: 12 }));
        assert_eq!(RefId::read("@f1e12"), Some(RefId::Element { frame: 1, number: 12 }));
    }

    #[test]
    fn what_is_no_ref_is_none() {
        for text in [
            "",
            "12",
            "e",
            "e0",
            "e01",
            "e-1",
            "e+1",
            "e1x",
            "f1",
            "f0e1",
            "fe1",
            "f1e",
            "ax",
            "E1",
            "e99999999999",
        ] {
            assert_eq!(RefId::read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(frame in 0u32.., number in 1u32.., aria: bool) {
            let id = if aria { RefId::Aria { number } } else { RefId::Element { frame, number } };
            prop_assert_eq!(RefId::read(&id.to_string()), Some(id));
        }

        #[test]
        fn reading_never_panics(text in "\\PC*") {
            let _ = RefId::read(&text);
        }
    }
}
