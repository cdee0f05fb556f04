//! One thing that can be set, checked before anything is sent. Pure.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Device;

/// One thing that can be set; `None` takes it back.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// No network.
    Offline(bool),
    /// Headers that every request has beside its own; empty for none.
    Headers(Headers),
    /// What to say to servers that ask who one is.
    Credentials(Option<Credentials>),
    /// Where the page is.
    Geolocation(Option<Geolocation>),
    /// Which colours it should prefer.
    Media(Option<ColorScheme>),
    /// An IANA name, such as `Europe/Berlin`.
    Timezone(Option<String>),
    /// A BCP 47 tag, such as `de-DE`.
    Locale(Option<String>),
    /// Size, density, touch and user agent.
    Device(Option<&'static Device>),
}

impl Setting {
    /// It is set on the observing sessions, not on the page session.
    pub fn is_of_network(&self) -> bool {
        matches!(self, Self::Offline(_) | Self::Headers(_) | Self::Credentials(_))
    }

    /// The field of a request that names it.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Offline(_) => "offline",
            Self::Headers(_) => "headers",
            Self::Credentials(_) => "credentials",
            Self::Geolocation(_) => "geolocation",
            Self::Media(_) => "colorScheme",
            Self::Timezone(_) => "timezoneId",
            Self::Locale(_) => "locale",
            Self::Device(_) => "name",
        }
    }
}

/// Why something cannot be set; nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {why}")]
pub struct BadSetting {
    /// The field of the request.
    pub field: &'static str,
    /// What is wrong with it and what is allowed.
    pub why: String,
}

impl BadSetting {
    fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into() }
    }
}

/// Headers for every request. Their values are nobody's to see.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(pub(super) BTreeMap<String, String>);

impl Headers {
    /// Checks names and values.
    ///
    /// # Errors
    /// A name or value that cannot be sent; the value is not told.
    pub fn new(headers: impl IntoIterator<Item = (String, String)>) -> Result<Self, BadSetting> {
        let headers: BTreeMap<_, _> = headers.into_iter().collect();
        for (name, value) in &headers {
            let shown: String = name.chars().take(80).collect();
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(BadSetting::new("headers", format!("has a name that is none: {shown:?}")));
            }
            if value.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
                let why = format!("has characters in the value of {shown:?} that cannot be sent");
                return Err(BadSetting::new("headers", why));
            }
        }
        Ok(Self(headers))
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A user name and a password, given to whatever server asks for them.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// A place on earth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Geolocation {
    latitude: f64,
    longitude: f64,
    accuracy: f64,
}

impl Geolocation {
    /// Checks that there is such a place; `accuracy` is in metres.
    ///
    /// # Errors
    /// The number that is out of range.
    pub fn new(latitude: f64, longitude: f64, accuracy: f64) -> Result<Self, BadSetting> {
        if !(-90.0..=90.0).contains(&latitude) {
            return Err(BadSetting::new("latitude", "must be from -90 to 90"));
        }
        if !(-180.0..=180.0).contains(&longitude) {
            return Err(BadSetting::new("longitude", "must be from -180 to 180"));
        }
        if !(accuracy >= 0.0 && accuracy.is_finite()) {
            return Err(BadSetting::new("accuracy", "must be a number of metres, 0 or more"));
        }
        Ok(Self { latitude, longitude, accuracy })
    }
}

/// Which colours a page should prefer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorScheme {
    /// Dark ones.
    Dark,
    /// Light ones.
    Light,
    /// As it likes.
    NoPreference,
}

impl ColorScheme {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::NoPreference => "no-preference",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_sent_is_refused_by_name_and_without_its_value() {
        let headers = |name: &str, value: &str| Headers::new([(name.to_owned(), value.to_owned())]);
        assert!(headers("X-Key", "a b\tü").is_ok());
        for (name, value) in [("", "x"), ("a b", "x"), ("a:", "x"), ("X-Key", "se\r\ncret")] {
            let why = headers(name, value).unwrap_err();
            assert_eq!(why.field, "headers");
            assert!(!why.to_string().contains("cret"), "{why}");
        }
    }

    #[test]
    fn there_is_no_such_place() {
        for (latitude, longitude, accuracy, field) in [
            (91.0, 0.0, 0.0, "latitude"),
            (f64::NAN, 0.0, 0.0, "latitude"),
            (0.0, -181.0, 0.0, "longitude"),
            (0.0, 0.0, -1.0, "accuracy"),
            (0.0, 0.0, f64::INFINITY, "accuracy"),
        ] {
            assert_eq!(Geolocation::new(latitude, longitude, accuracy).unwrap_err().field, field);
        }
        assert!(Geolocation::new(-90.0, 180.0, 0.0).is_ok());
    }
}
