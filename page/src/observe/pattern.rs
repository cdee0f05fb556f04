//! Which address is meant: exactly, by a part of it, or by a pattern. Pure.

/// An address, a part of one, or a pattern where `*` stands for anything but `/`, `**` for anything,
/// and `?` for one character that is no `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern(String);

/// Longest pattern, in bytes.
const LONGEST: usize = 2048;

impl UrlPattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "" => Err("is empty"),
            text if text.len() > LONGEST => Err("is over 2048 bytes"),
            text => Ok(Self(text.to_owned())),
        }
    }

    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it means this address.
    pub fn matches(&self, url: &str) -> bool {
        if url == self.0 || url.contains(&self.0) {
            return true;
        }
        self.0.contains('*') && glob(self.0.as_bytes(), url.as_bytes())
    }
}

/// In time of the product of both lengths at most: the pages' addresses are theirs to choose.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    // Which prefixes of the text the pattern so far may stand for.
    let mut reach = vec![false; text.len() + 1];
    reach[0] = true;
    let mut rest = pattern;
    while let Some((&first, tail)) = rest.split_first() {
        let any = rest.starts_with(b"**");
        rest = if any { &tail[1..] } else { tail };
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match first {
                b'*' => reach[at] || at > 0 && next[at - 1] && (any || text[at - 1] != b'/'),
                // A `?` is also what begins a query.
                b'?' => at > 0 && reach[at - 1] && text[at - 1] != b'/',
                plain => at > 0 && reach[at - 1] && text[at - 1] == plain,
            };
        }
        reach = next;
    }
    reach[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_is_meant_exactly_by_a_part_or_by_a_pattern() {
        for (pattern, url, meant) in [
            ("http://a/x?y=1", "http://a/x?y=1", true),
            ("/api/", "http://a/api/users", true),
            ("**/api/*", "http://a/api/users", true),
            ("**/api/*", "http://a/api/users/1", false),
            ("**/api/**", "http://a/api/users/1", true),
            ("http://a/*.json", "http://a/x.json", true),
            ("http://a/*.json", "http://a/b/x.json", false),
            ("http://a/?.j*", "http://a/x.js", true),
            ("*", "http://a/", false),
            ("**", "http://a/", true),
            ("/none", "http://a/", false),
        ] {
            assert_eq!(UrlPattern::new(pattern).unwrap().matches(url), meant, "{pattern} {url}");
        }
        assert!(UrlPattern::new("  ").is_err() && UrlPattern::new(&"x".repeat(3000)).is_err());
    }

    proptest! {
        #[test]
        fn an_address_means_itself_and_long_ones_take_no_time(url in "[a-z/*?]{1,60}") {
            prop_assert!(UrlPattern::new(&url).unwrap().matches(&url));
            let stars = UrlPattern::new(&"**a".repeat(100)).unwrap();
            prop_assert!(!stars.matches(&"b".repeat(2000)));
        }
    }
}
