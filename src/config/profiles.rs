//! Further browsers, each by a name of its own. The one of `[browser]` is named [`DEFAULT`].

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tabvisor_actors::BrowserSpec;

use super::{BrowserAddress, Config, ConfigError};

/// The name of the browser that `[browser]` describes.
pub const DEFAULT: &str = "openclaw";

/// Longest name.
const NAME: usize = 64;

/// A further browser. What it does not say is as in `[browser]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileConfig {
    /// A browser that runs already, as `browser.cdp_url`; otherwise one is launched.
    pub cdp_url: Option<BrowserAddress>,
    /// A profile folder that is kept; without it a fresh one is made for every start.
    pub profile: Option<PathBuf>,
    /// With windows; needs a display.
    pub headed: bool,
    /// What a client may show it in: `#rrggbb`.
    pub color: Option<String>,
}

impl Config {
    /// How to start the browser of a profile.
    ///
    /// # Errors
    /// [`ConfigError`] naming the key whose value makes no sense.
    pub fn profile_spec(&self, name: &str, profile: &ProfileConfig) -> Result<BrowserSpec, ConfigError> {
        let mut config = self.clone();
        config.browser.cdp_url.clone_from(&profile.cdp_url);
        config.browser.profile.clone_from(&profile.profile);
        config.browser.headed = profile.headed;
        config.browser_spec().map_err(|error| match error {
            ConfigError::Invalid { key, why, given_by } if key == "browser.cdp_url" => {
                ConfigError::Invalid { key: format!("profiles.{name}.cdp_url"), why, given_by }
            }
            other => other,
        })
    }

    pub(super) fn check_profiles(&self) -> Result<(), ConfigError> {
        for (name, profile) in &self.profiles {
            check_name(name).map_err(|why| ConfigError::invalid(format!("profiles.{name}"), why))?;
            let wrong =
                |key: &str, why: &str| Err(ConfigError::invalid(format!("profiles.{name}.{key}"), why));
            if name == DEFAULT {
                let why = "is the browser of [browser]; give this one another name";
                return Err(ConfigError::invalid(format!("profiles.{name}"), why));
            }
            if profile.color.as_deref().is_some_and(|color| !is_color(color)) {
                return wrong("color", "must be a color such as #ff4500");
            }
            if profile.cdp_url.is_some() && profile.profile.is_some() {
                return wrong("profile", "is given beside cdp_url; a browser that runs has its own");
            }
            if profile.profile.as_ref().is_some_and(|folder| !folder.is_absolute()) {
                return wrong("profile", "must be an absolute path");
            }
        }
        Ok(())
    }
}

/// Whether a browser may have this name.
pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=NAME).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-') {
        return Ok(());
    }
    Err("must be 1 to 64 of the characters a-z 0-9 -, and not begin with -")
}

/// Whether it is `#rrggbb`.
pub(crate) fn is_color(text: &str) -> bool {
    text.len() == 7
        && text.strip_prefix('#').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabvisor_actors::Source;
    use tabvisor_cdp::launch::Profile;

    fn with(name: &str, change: impl FnOnce(&mut ProfileConfig)) -> Config {
        let mut config = Config { state_dir: "/state".into(), ..Config::default() };
        change(config.profiles.entry(name.into()).or_default());
        config
    }

    #[test]
    fn a_profile_is_a_browser_with_its_own_source_and_the_rest_of_browser() {
        let mut config = with("work", |it| it.profile = Some("/work".into()));
        config.browser.no_sandbox = true;
        config.browser.cdp_url = Some("9222".into());
        config.check().unwrap();
        let spec = config.profile_spec("work", &config.profiles["work"]).unwrap();
        let Source::Launch(options) = &spec.source else { panic!("{spec:?}") };
        assert_eq!(options.profile, Profile::Folder("/work".into()));
        assert!(options.no_sandbox && options.headless);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |config: Config| config.check().unwrap_err().to_string();
        assert!(why(with("Work", |_| {})).starts_with("profiles.Work: must be 1 to 64"));
        assert!(why(with(DEFAULT, |_| {})).starts_with("profiles.openclaw: is the browser of [browser]"));
        assert!(
            why(with("a", |it| it.color = Some("red".into())))
                .starts_with("profiles.a.color: must be a color")
        );
        let both = with("a", |it| (it.cdp_url, it.profile) = (Some("1".into()), Some("/p".into())));
        assert!(why(both).starts_with("profiles.a.profile: is given beside"));
        let config = with("a", |it| it.cdp_url = Some("ftp://x/".into()));
        let said = config.profile_spec("a", &config.profiles["a"]).unwrap_err().to_string();
        assert!(said.starts_with("profiles.a.cdp_url: not an address"), "{said}");
    }
}
