//! Which addresses are meant. Pure.

/// A part of an address, or, with `*` in it, a glob for a whole one: `*` stands for anything
/// within one part of the path, `**` for anything, `{a,b}` for one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    text: String,
    /// Every choice of its braces, as one glob each; none: it is a part of an address.
    globs: Vec<Vec<Token>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    /// Anything without a slash.
    Within,
    /// Anything.
    Across,
}

/// How many choices braces may make.
const CHOICES: usize = 64;

impl UrlPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it, and what is allowed.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty; give a part of an address, or a glob such as **/done*".into());
        }
        if !text.contains('*') {
            return Ok(Self { text: text.to_owned(), globs: Vec::new() });
        }
        let choices = choices(text)?;
        Ok(Self { text: text.to_owned(), globs: choices.iter().map(|choice| tokens(choice)).collect() })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether `url` is meant.
    pub fn matches(&self, url: &str) -> bool {
        if self.globs.is_empty() {
            return url.contains(&self.text);
        }
        let url: Vec<char> = url.chars().collect();
        self.globs.iter().any(|glob| matches(glob, &url))
    }
}

fn choices(text: &str) -> Result<Vec<String>, String> {
    let mut done = vec![String::new()];
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((inside, behind)) = after.split_once('}') else {
            return Err("has a { without its }".into());
        };
        if inside.contains('{') {
            return Err("has braces inside of braces".into());
        }
        let parts: Vec<&str> = inside.split(',').collect();
        if done.len() * parts.len() > CHOICES {
            return Err(format!("has braces that make more than {CHOICES} choices"));
        }
        done = done
            .iter()
            .flat_map(|head| parts.iter().map(move |part| format!("{head}{before}{part}")))
            .collect();
        rest = behind;
    }
    Ok(done.into_iter().map(|head| head + rest).collect())
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for char in text.chars() {
        match (char, tokens.last_mut()) {
            ('*', Some(last @ (Token::Within | Token::Across))) => *last = Token::Across,
            ('*', _) => tokens.push(Token::Within),
            (char, _) => tokens.push(Token::Char(char)),
        }
    }
    tokens
}

/// In time proportional to both lengths, whatever the pattern.
fn matches(glob: &[Token], url: &[char]) -> bool {
    // `reached[n]`: the tokens so far can stand for the first `n` characters.
    let mut reached = vec![false; url.len() + 1];
    reached[0] = true;
    for token in glob {
        let mut next = vec![false; url.len() + 1];
        for at in 0..=url.len() {
            next[at] = match token {
                Token::Char(char) => at > 0 && reached[at - 1] && url[at - 1] == *char,
                Token::Within => reached[at] || (at > 0 && next[at - 1] && url[at - 1] != '/'),
                Token::Across => reached[at] || (at > 0 && next[at - 1]),
            };
        }
        reached = next;
    }
    reached[url.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, url: &str) -> bool {
        UrlPattern::read(pattern).unwrap().matches(url)
    }

    #[test]
    fn without_a_star_it_is_a_part_of_the_address() {
        assert!(matches("/done", "http://a/done?x=1"));
        assert!(matches("?x=1", "http://a/done?x=1"));
        assert!(matches("{1}", "http://a/{1}"));
        assert!(!matches("/Done", "http://a/done"));
    }

    #[test]
    fn with_a_star_it_is_the_whole_address() {
        assert!(matches("**/done", "http://a/b/done"));
        assert!(!matches("**/done", "http://a/b/done?x"));
        assert!(matches("http://a/*/done*", "http://a/b/done?x"));
        assert!(!matches("http://a/*", "http://a/b/c"));
        assert!(matches("**/*.{png,jpg}", "http://a/b.jpg"));
        assert!(!matches("**/*.{png,jpg}", "http://a/b.gif"));
        assert!(matches("*", ""));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (pattern, why) in [
            (" ", "is empty"),
            ("*{a", "without its }"),
            ("*{a{b}}", "inside of braces"),
            ("*{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 64"),
        ] {
            let said = UrlPattern::read(pattern).unwrap_err();
            assert!(said.contains(why), "{pattern}: {said}");
        }
    }

    proptest! {
        #[test]
        fn an_address_matches_its_parts_and_itself_with_stars(url in "[a-z/?.]{1,30}", cut in 0usize..30) {
            let cut = cut.min(url.len());
            let (head, tail, stars) = (&url[..cut], &url[cut..], "*".repeat(40));
            for pattern in [format!("{head}**"), format!("**{tail}"), format!("{stars}{url}{stars}")] {
                prop_assert!(matches(&pattern, &url));
            }
        }
    }
}
