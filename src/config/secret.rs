//! Values that are never shown: not in debug output, not in the printed configuration.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

/// A token or password. Neither its debug output nor its serialization has the value.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The value itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it can be sent in a header as it is.
    ///
    /// # Errors
    /// What it must be.
    pub fn check(&self) -> Result<(), &'static str> {
        let good = !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic());
        good.then_some(()).ok_or("must be printable ASCII without spaces, so that it fits into a header")
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("(hidden)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer).map(Self)
    }
}

/// The address of a browser. It is shown without user info and query, which may carry secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserAddress(String);

impl BrowserAddress {
    /// The address as it was given.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for BrowserAddress {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for BrowserAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.contains("://") {
            let bare = self.0.split(['?', '#']).next().unwrap_or_default();
            // What stands before an @ is no host.
            return f.write_str(bare.rsplit('@').next().unwrap_or_default());
        }
        let Ok(mut url) = Url::parse(&self.0) else { return f.write_str("(unreadable)") };
        url.set_query(None);
        url.set_fragment(None);
        if url.set_username("").and_then(|()| url.set_password(None)).is_err() {
            return f.write_str("(unreadable)");
        }
        url.fmt(f)
    }
}

impl fmt::Debug for BrowserAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for BrowserAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BrowserAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer).map(Self)
    }
}

/// A text, also where a number was written (`cdp_url = 9222`); no error repeats the value.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Text;

    impl Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
            Ok(number.to_string())
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
            u64::try_from(number)
                .map(|number| number.to_string())
                .map_err(|_| E::invalid_type(Unexpected::Other("a negative number"), &self))
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<String, E> {
            Err(E::invalid_type(Unexpected::Other("a fraction"), &self))
        }
    }

    deserializer.deserialize_any(Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_of_itself() {
        let secret = Secret::from("hunter2");
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(serde_json::to_string(&secret).unwrap(), r#""(hidden)""#);
        let why = serde_json::from_str::<Secret>("1.5").unwrap_err().to_string();
        assert!(why.contains("expected a text") && !why.contains("1.5"), "{why}");
    }

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        let shown = |text: &str| BrowserAddress::from(text).to_string();
        assert_eq!(shown("wss://me:hunter2@host:1/cdp?token=hunter2#x"), "wss://host:1/cdp");
        assert_eq!(shown("me:hunter2@host:9222?token=x"), "host:9222");
        assert_eq!(shown("9222"), "9222");
        assert_eq!(serde_json::from_str::<BrowserAddress>("9222").unwrap().expose(), "9222");
    }
}
