//! Which addresses may be navigated to. Pure.

use url::Url;

/// An address that may not be navigated to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// No absolute URL.
    #[error("url is not an absolute URL: {0}")]
    Unreadable(String),
    /// Only http, https and about:blank.
    #[error("url has the scheme `{0}`; only http, https and about:blank are allowed")]
    Scheme(String),
    /// `user:password@` would end up in logs and in the page's own sight.
    #[error("url carries credentials; they are not allowed in an address")]
    Credentials,
    /// The configuration forbids its host.
    #[error("url leads to `{host}`, which {by}")]
    Denied {
        /// The host, as in the address.
        host: String,
        /// What forbids it.
        by: &'static str,
    },
}

/// Checks an address before anything is sent.
///
/// # Errors
/// [`BadUrl`].
pub fn check_url(text: &str) -> Result<Url, BadUrl> {
    let url = Url::parse(text.trim()).map_err(|why| BadUrl::Unreadable(why.to_string()))?;
    match url.scheme() {
        "http" | "https" => {}
        "about" if url.path() == "blank" => {}
        scheme => return Err(BadUrl::Scheme(scheme.to_owned())),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadUrl::Credentials);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_without_credentials_are_taken() {
        assert!(check_url("https://example.org/a#b").is_ok());
        assert!(check_url("about:blank").is_ok());
        assert!(matches!(check_url("file:///etc/passwd"), Err(BadUrl::Scheme(_))));
        assert!(matches!(check_url("about:settings"), Err(BadUrl::Scheme(_))));
        assert!(matches!(check_url("javascript:1"), Err(BadUrl::Scheme(_))));
        assert!(matches!(check_url("http://me:pw@example.org"), Err(BadUrl::Credentials)));
        assert!(matches!(check_url("example"), Err(BadUrl::Unreadable(_))));
    }
}
