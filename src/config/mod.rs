//! Configuration: one value with defaults, made by hand or (feature `cli`) from layers.
//!
//! | file | holds |
//! |---|---|
//! | `sections` | what can be configured |
//! | `profiles` | further browsers |
//! | `secret` | values that are never shown |
//! | `check` | which values make sense |
//! | `error` | what is wrong with a configuration, and where it came from |
//! | `layers`, `shape`, `variables` | defaults, a TOML file, `TABVISOR_*`, flags (feature `cli`) |

mod check;
mod error;
#[cfg(feature = "cli")]
mod layers;
mod profiles;
mod secret;
mod sections;
#[cfg(feature = "cli")]
mod shape;
#[cfg(feature = "cli")]
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabvisor_actors::files::Folders;
use tabvisor_actors::limits::Limits;
use tabvisor_actors::{BrowserSpec, Source};
use tabvisor_cdp::discovery::Given;
use tabvisor_cdp::launch::{LaunchOptions, Profile};
use tabvisor_cdp::link::DialOptions;
use tabvisor_page::navigate::NavigationPolicy;

pub use error::ConfigError;
#[cfg(feature = "cli")]
pub use layers::{Layers, Loaded, Row};
pub use profiles::{DEFAULT, ProfileConfig};
#[cfg(feature = "http")]
pub(crate) use profiles::{check_name, is_color};
pub use secret::{BrowserAddress, Secret};
pub use sections::{BrowserConfig, Budgets, CareConfig, FilesConfig, ServerConfig};

/// Everything that can be configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the token, leases and temporary profiles live. By default `$XDG_STATE_HOME/tabvisor`
    /// or `~/.local/state/tabvisor`; empty where neither is known.
    pub state_dir: PathBuf,
    /// Where the browser comes from.
    pub browser: BrowserConfig,
    /// How long a call may take that does not say.
    pub budgets: Budgets,
    /// How tabs are looked after.
    pub care: CareConfig,
    /// Files that go into pages and come out of them.
    pub files: FilesConfig,
    /// Limits of the browser and its tabs.
    pub limits: Limits,
    /// Which documents pages may load.
    pub navigation: NavigationPolicy,
    /// Further browsers, by their names.
    pub profiles: BTreeMap<String, ProfileConfig>,
    /// The HTTP service.
    pub server: ServerConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            state_dir: default_state_dir().unwrap_or_default(),
            browser: BrowserConfig::default(),
            budgets: Budgets::default(),
            care: CareConfig::default(),
            files: FilesConfig::default(),
            limits: Limits::default(),
            navigation: NavigationPolicy::default(),
            profiles: BTreeMap::new(),
            server: ServerConfig::default(),
        }
    }
}

impl Config {
    /// How to start the browser.
    ///
    /// # Errors
    /// [`ConfigError`] naming the key whose value makes no sense.
    pub fn browser_spec(&self) -> Result<BrowserSpec, ConfigError> {
        self.check()?;
        let source = match &self.browser.cdp_url {
            Some(address) => {
                let given: Result<Given, _> = address.expose().parse();
                Source::Attach(given.map_err(|why| ConfigError::invalid("browser.cdp_url", why.to_string()))?)
            }
            None => Source::Launch(self.launch_options()?),
        };
        Ok(BrowserSpec {
            restarts: source.restarts(),
            source,
            limits: Arc::new(self.limits.clone()),
            care: self.care.care(),
            files: Arc::new(self.folders()),
            policy: Arc::new(self.navigation.clone()),
            dial: DialOptions { max_frame_bytes: self.limits.max_frame_bytes, ..DialOptions::default() },
        })
    }

    /// The state folder, which need not exist yet.
    ///
    /// # Errors
    /// [`ConfigError`] where none is configured and the environment names no home.
    pub fn state_folder(&self) -> Result<&Path, ConfigError> {
        if self.state_dir.as_os_str().is_empty() {
            let why = "is not known: neither XDG_STATE_HOME nor HOME is set";
            return Err(ConfigError::invalid("state_dir", why));
        }
        Ok(&self.state_dir)
    }

    /// Where files of callers may be. Without a state folder nowhere, unless it is said.
    fn folders(&self) -> Folders {
        let known = !self.state_dir.as_os_str().is_empty();
        let below = |name: &str| if known { self.state_dir.join(name) } else { PathBuf::new() };
        let files = &self.files;
        Folders {
            uploads: files.uploads.clone().unwrap_or_else(|| below("uploads")),
            downloads: files.downloads.clone().unwrap_or_else(|| below("downloads")),
            max_transfer_bytes: files.max_transfer_bytes,
        }
    }

    fn launch_options(&self) -> Result<LaunchOptions, ConfigError> {
        let browser = &self.browser;
        let mut options = LaunchOptions::new(self.state_folder()?);
        options.executable.clone_from(&browser.chromium);
        options.headless = !browser.headed;
        options.profile = browser.profile.clone().map_or(Profile::Temporary, Profile::Folder);
        options.no_sandbox = browser.no_sandbox;
        options.extra_args.clone_from(&browser.args);
        options.window_size = browser.window_size;
        options.renderer_process_limit = browser.renderer_process_limit;
        options.stop_grace = Duration::from_millis(browser.stop_grace_ms);
        Ok(options)
    }
}

/// By the XDG rules: a relative `XDG_STATE_HOME` does not count.
fn default_state_dir() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var(name).ok().map(PathBuf::from).filter(|path| path.is_absolute());
    let states = folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")));
    states.map(|states| states.join("tabvisor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_means_attaching_and_none_means_launching() {
        let mut config = Config { state_dir: "/state".into(), ..Config::default() };
        config.browser.headed = true;
        config.browser.profile = Some("/profile".into());
        config.limits.max_frame_bytes = 1 << 20;
        let spec = config.browser_spec().unwrap();
        let Source::Launch(options) = &spec.source else { panic!("{spec:?}") };
        assert_eq!(options.profile, Profile::Folder("/profile".into()));
        assert!(!options.headless);
        assert_eq!((spec.dial.max_frame_bytes, spec.limits.max_frame_bytes), (1 << 20, 1 << 20));

        config.browser.cdp_url = Some("9222".into());
        let spec = config.browser_spec().unwrap();
        assert!(matches!(spec.source, Source::Attach(Given::Port(9222))));
    }

    #[test]
    fn what_is_wrong_is_named_and_credentials_are_not_repeated() {
        let mut config = Config { state_dir: "/state".into(), ..Config::default() };
        config.browser.cdp_url = Some("ftp://user:hunter2@host/".into());
        let why = config.browser_spec().unwrap_err().to_string();
        assert!(why.starts_with("browser.cdp_url: not an address of a browser"), "{why}");
        assert!(!why.contains("hunter2") && !format!("{config:?}").contains("hunter2"));

        let homeless = Config { state_dir: PathBuf::new(), ..Config::default() };
        let why = homeless.browser_spec().unwrap_err().to_string();
        assert!(why.starts_with("state_dir: is not known"), "{why}");
    }
}
