//! Keys held while something else is pressed.

use super::error::ActError;

/// Keys held while something else is pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers(u8);

impl Modifiers {
    /// None.
    pub const NONE: Self = Self(0);
    /// Alt.
    pub const ALT: Self = Self(1);
    /// Control.
    pub const CONTROL: Self = Self(2);
    /// Meta: Command on a Mac.
    pub const META: Self = Self(4);
    /// Shift.
    pub const SHIFT: Self = Self(8);

    /// Reads `Alt`, `Control`, `ControlOrMeta`, `Meta` and `Shift`. `mac`: the browser runs on a
    /// Mac, where Meta does what Control does elsewhere.
    ///
    /// # Errors
    /// [`ActError::Invalid`] with what is allowed.
    pub fn read<T: AsRef<str>>(names: &[T], mac: bool) -> Result<Self, ActError> {
        names.iter().try_fold(Self::NONE, |all, name| {
            let one = match name.as_ref() {
                "Alt" => Self::ALT,
                "ControlOrMeta" if mac => Self::META,
                "Control" | "ControlOrMeta" => Self::CONTROL,
                "Meta" => Self::META,
                "Shift" => Self::SHIFT,
                other => {
                    let other: String = other.chars().take(20).collect();
                    let why = format!("{other:?} is none of Alt, Control, ControlOrMeta, Meta, Shift");
                    return Err(ActError::Invalid { field: "modifiers", why });
                }
            };
            Ok(all.and(one))
        })
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// As CDP wants them.
    pub fn bits(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_read_by_name_and_added_up() {
        assert_eq!(Modifiers::read(&["Shift", "Alt", "Shift"], false).unwrap().bits(), 9);
        assert_eq!(Modifiers::read(&["ControlOrMeta"], false).unwrap(), Modifiers::CONTROL);
        assert_eq!(Modifiers::read(&["ControlOrMeta"], true).unwrap(), Modifiers::META);
        assert_eq!(Modifiers::read::<&str>(&[], false).unwrap(), Modifiers::NONE);
        let error = Modifiers::read(&["shift"], false).unwrap_err().to_string();
        assert!(error.starts_with("modifiers: \"shift\" is none of Alt"), "{error}");
    }
}
