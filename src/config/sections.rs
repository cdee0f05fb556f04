//! What can be configured, with its defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tabvisor_actors::limits::{Care, Recovery};
use tabvisor_page::dialog::Policy;

use super::secret::{BrowserAddress, Secret};

/// Where the browser comes from. With `cdp_url` it is attached to, otherwise launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserConfig {
    /// The Chromium to launch; without it one is looked for at the usual places.
    pub chromium: Option<PathBuf>,
    /// A browser that runs already: `ws`, `wss`, `http` or `https` address, host and port, port,
    /// or profile folder.
    pub cdp_url: Option<BrowserAddress>,
    /// With windows; needs a display.
    pub headed: bool,
    /// A profile folder that is kept; without it a fresh one is made and removed again.
    pub profile: Option<PathBuf>,
    /// Without Chromium's sandbox. As root it runs in no other way.
    pub no_sandbox: bool,
    /// Further flags for Chromium.
    pub args: Vec<String>,
    /// Outer size of a new window in CSS pixels.
    pub window_size: (u32, u32),
    /// Chromium's own limit of renderers; past it tabs of one site share one, and its fate.
    pub renderer_process_limit: u32,
    /// How long a stopped browser may take to save its data, in ms.
    pub stop_grace_ms: u64,
    /// Whether callers of a service may run scripts in pages.
    pub evaluate_enabled: bool,
}

impl Default for BrowserConfig {
    fn default() -> Self {
        Self {
            chromium: None,
            cdp_url: None,
            headed: false,
            profile: None,
            no_sandbox: false,
            args: Vec::new(),
            window_size: (1280, 720),
            renderer_process_limit: 200,
            stop_grace_ms: 5_000,
            evaluate_enabled: true,
        }
    }
}

/// Budgets of calls that bring none, in ms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// Starting the browser.
    pub start_ms: u64,
    /// An evaluate.
    pub evaluate_ms: u64,
    /// A navigation, and the opening of a tab.
    pub navigate_ms: u64,
    /// Snapshots.
    pub snapshot_ms: u64,
    /// A wait.
    pub wait_ms: u64,
    /// Any other action.
    pub action_ms: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            start_ms: 30_000,
            evaluate_ms: 20_000,
            navigate_ms: 20_000,
            snapshot_ms: 20_000,
            wait_ms: 20_000,
            action_ms: 8_000,
        }
    }
}

impl Budgets {
    /// Starting the browser.
    pub fn start(&self) -> Duration {
        Duration::from_millis(self.start_ms)
    }

    /// An evaluate.
    pub fn evaluate(&self) -> Duration {
        Duration::from_millis(self.evaluate_ms)
    }

    /// A navigation, and the opening of a tab.
    pub fn navigate(&self) -> Duration {
        Duration::from_millis(self.navigate_ms)
    }

    /// A snapshot.
    pub fn snapshot(&self) -> Duration {
        Duration::from_millis(self.snapshot_ms)
    }

    /// A wait.
    pub fn wait(&self) -> Duration {
        Duration::from_millis(self.wait_ms)
    }

    /// Any other action.
    pub fn action(&self) -> Duration {
        Duration::from_millis(self.action_ms)
    }
}

/// How tabs are looked after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CareConfig {
    /// How long a page must stay silent before it is called stuck, in ms.
    pub stuck_after_ms: u64,
    /// What may be done then without anybody asking.
    pub recovery: Recovery,
    /// What happens to dialogs that nobody was asked about: hold, accept or dismiss.
    pub dialogs: Policy,
    /// Tabs of a browser that was lost come back with it, each under its name on its last good address.
    pub reopen_tabs: bool,
}

impl Default for CareConfig {
    fn default() -> Self {
        let Care { stuck_after, recovery, dialogs, reopen_tabs } = Care::default();
        let stuck_after_ms = u64::try_from(stuck_after.as_millis()).unwrap_or(u64::MAX);
        Self { stuck_after_ms, recovery, dialogs, reopen_tabs }
    }
}

impl CareConfig {
    /// As the supervision tree takes it.
    pub fn care(&self) -> Care {
        let stuck_after = Duration::from_millis(self.stuck_after_ms);
        Care { stuck_after, recovery: self.recovery, dialogs: self.dialogs, reopen_tabs: self.reopen_tabs }
    }
}

/// Files that go into pages and come out of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// Pages get files from this folder only; without it `uploads` in the state folder.
    pub uploads: Option<PathBuf>,
    /// Downloads are put into this folder; without it `downloads` in the state folder.
    pub downloads: Option<PathBuf>,
    /// Most bytes of an upload to a browser that sees no files of this machine: they go through the
    /// link, and the page holds them in memory.
    pub max_transfer_bytes: u64,
}

impl Default for FilesConfig {
    fn default() -> Self {
        Self { uploads: None, downloads: None, max_transfer_bytes: 50 << 20 }
    }
}

/// The HTTP service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Where it listens; port 0 takes a free one.
    #[serde(deserialize_with = "listen_address")]
    pub listen: SocketAddr,
    /// Names under which it may be addressed, besides its address and localhost.
    pub hosts: Vec<String>,
    /// Written once the service can work, with its address.
    pub ready_file: Option<PathBuf>,
    /// The secret of its callers.
    pub token: Option<Secret>,
    /// A file that holds this secret.
    pub token_file: Option<PathBuf>,
    /// Take calls without a secret; on loopback addresses only.
    pub no_auth: bool,
    /// How long running work may take when the service stops, in ms.
    pub drain_ms: u64,
    /// Largest body of a request.
    pub max_body_bytes: usize,
    /// Readers of `GET /events` at a time.
    pub event_streams: usize,
    /// Open connections at a time.
    pub connections: usize,
    /// How long a connection may take to say what it wants, in ms. One that has been answered counts, too.
    pub head_timeout_ms: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 9377).into(),
            hosts: Vec::new(),
            ready_file: None,
            token: None,
            token_file: None,
            no_auth: false,
            drain_ms: 5_000,
            max_body_bytes: 1 << 20,
            event_streams: 256,
            connections: 512,
            head_timeout_ms: 30_000,
        }
    }
}

impl ServerConfig {
    /// How long running work may take when the service stops.
    pub fn drain(&self) -> Duration {
        Duration::from_millis(self.drain_ms)
    }

    /// How long a connection may take to say what it wants.
    pub fn head_timeout(&self) -> Duration {
        Duration::from_millis(self.head_timeout_ms)
    }
}

fn listen_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numeric.as_deref().unwrap_or(&text).parse().map_err(|_| {
        D::Error::custom(format!("{text:?} is no address and port such as 127.0.0.1:9377 or [::1]:0"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_address_is_numeric_or_localhost() {
        let read = |text: &str| {
            serde_json::from_value::<ServerConfig>(serde_json::json!({ "listen": text })).map(|it| it.listen)
        };
        assert_eq!(read("localhost:0").unwrap(), (Ipv4Addr::LOCALHOST, 0).into());
        assert_eq!(read("[::1]:80").unwrap().to_string(), "[::1]:80");
        let why = read("example.org:80").unwrap_err().to_string();
        assert!(why.starts_with(r#""example.org:80" is no address and port"#), "{why}");
    }

    #[test]
    fn defaults_are_those_of_the_tree() {
        assert_eq!(CareConfig::default().care(), Care::default());
    }
}
