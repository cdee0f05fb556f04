//! The cookies of a browser context, in the shape that clients of Playwright know.
//!
//! They are the browser process's: reading and setting them waits for no renderer.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

/// When a cookie goes along with requests from other sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SameSite {
    /// Never.
    Strict,
    /// With navigations; also what a cookie without a word for it is.
    #[default]
    Lax,
    /// Always.
    None,
}

/// A cookie as it is kept.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// With a dot in front where subdomains have it, too.
    pub domain: String,
    /// Its path.
    pub path: String,
    /// Seconds since 1970; -1 for one that ends with the browser.
    pub expires: f64,
    /// Scripts do not see it.
    #[serde(default)]
    pub http_only: bool,
    /// Over secure connections only.
    #[serde(default)]
    pub secure: bool,
    /// When it goes along.
    #[serde(default)]
    pub same_site: SameSite,
}

/// What a cookie says is a secret, as a rule.
impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, domain, path, .. } = self;
        f.debug_struct("Cookie")
            .field("name", name)
            .field("domain", domain)
            .field("path", path)
            .finish_non_exhaustive()
    }
}

/// A cookie to be set: for an address, or for a domain and a path.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The address that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Or the domain,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// and the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Seconds since 1970; without it, it ends with the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    /// Scripts do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_only: Option<bool>,
    /// Over secure connections only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secure: Option<bool>,
    /// When it goes along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
}

impl std::fmt::Debug for NewCookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewCookie").field("name", &self.name).finish_non_exhaustive()
    }
}

impl NewCookie {
    /// Checks what Chromium would refuse without saying why.
    ///
    /// # Errors
    /// The field, and what is wrong with it.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match (&self.url, &self.domain, &self.path) {
            (Some(url), None, None) => {
                let url = url::Url::parse(url).map_err(|_| ("url", "cannot be read"))?;
                if !matches!(url.scheme(), "http" | "https") {
                    return Err(("url", "must be an http or https address"));
                }
            }
            (Some(_), _, _) => return Err(("url", "goes without domain and path")),
            (None, Some(_), Some(_)) => {}
            (None, None, None) => return Err(("url", "or domain and path are required")),
            (None, None, Some(_)) => return Err(("domain", "is required beside path, or url alone")),
            (None, Some(_), None) => return Err(("path", "is required beside domain, or url alone")),
        }
        if self.expires.is_some_and(|at| at.is_nan() || (at < 0.0 && (at + 1.0).abs() > f64::EPSILON)) {
            return Err(("expires", "must be seconds since 1970, or -1"));
        }
        if self.name.contains(['=', ';', '\r', '\n', '\0']) || self.value.contains([';', '\r', '\n', '\0']) {
            return Err(("name", "and value must have no character that ends a cookie"));
        }
        if self.same_site == Some(SameSite::None) && self.secure == Some(false) {
            return Err(("secure", "must not be false where sameSite is None"));
        }
        Ok(())
    }
}

/// All cookies of the context that the page of `session` lives in.
///
/// # Errors
/// Every [`CdpError`].
pub async fn all(session: &Session, budget: &Budget) -> Result<Vec<Cookie>, CdpError> {
    #[derive(Deserialize)]
    struct Answer {
        cookies: Vec<Cookie>,
    }
    let Answer { cookies } = session.call_as("Storage.getCookies", json!({}), budget).await?;
    Ok(cookies)
}

/// Sets cookies; says how many of them are there afterwards. One that has expired is not.
///
/// # Errors
/// Every [`CdpError`]; a protocol error where Chromium refuses one, and then sets none.
pub async fn set(session: &Session, cookies: &[NewCookie], budget: &Budget) -> Result<usize, CdpError> {
    session.call("Storage.setCookies", json!({ "cookies": cookies }), budget).await?;
    let now = all(session, budget).await?;
    let is_there = |new: &&NewCookie| now.iter().any(|it| it.name == new.name && it.value == new.value);
    Ok(cookies.iter().filter(is_there).count())
}

/// Forgets all of them.
///
/// # Errors
/// Every [`CdpError`].
pub async fn clear(session: &Session, budget: &Budget) -> Result<(), CdpError> {
    session.call("Storage.clearCookies", json!({}), budget).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(url: Option<&str>, domain: Option<&str>, path: Option<&str>) -> NewCookie {
        let text = |it: Option<&str>| it.map(str::to_owned);
        NewCookie {
            name: "a".into(),
            value: "hush".into(),
            url: text(url),
            domain: text(domain),
            path: text(path),
            expires: None,
            http_only: None,
            secure: None,
            same_site: None,
        }
    }

    #[test]
    fn a_cookie_is_for_some_place() {
        let field = |new: NewCookie| new.check().map_err(|(field, _)| field);
        assert_eq!(field(cookie(Some("http://a/"), None, None)), Ok(()));
        assert_eq!(field(cookie(None, Some("a"), Some("/"))), Ok(()));
        for (new, wrong) in [
            (cookie(None, None, None), "url"),
            (cookie(Some("about:blank"), None, None), "url"),
            (cookie(Some("http://a/"), Some("a"), None), "url"),
            (cookie(None, Some("a"), None), "path"),
            (cookie(None, None, Some("/")), "domain"),
            (NewCookie { expires: Some(-7.0), ..cookie(Some("http://a/"), None, None) }, "expires"),
            (NewCookie { value: "a;b".into(), ..cookie(Some("http://a/"), None, None) }, "name"),
        ] {
            assert_eq!(field(new.clone()), Err(wrong), "{new:?}");
            assert!(!format!("{new:?}").contains("hush"));
        }
    }
}
