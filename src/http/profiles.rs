//! One browser among several: what it is, and what tabs of it are called.
//!
//! Whether it should run is decided in `runs`. Whether one that runs works at this moment is not written
//! here: it is what the supervision tree publishes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabvisor_actors::ids::BrowserId;
use tabvisor_actors::{BrowserSpec, Source, Supervisor};
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::discovery::Given;
use tabvisor_cdp::launch;
use url::Host;

use crate::config::{BrowserAddress, Config, DEFAULT, ProfileConfig};

use super::runs::{Runs, Stopped, Then, Unstarted};
use super::targets::Names;

/// What a profile is shown in that has no color.
const COLOR: &str = "#FF4500";

/// A browser by its name.
#[expect(clippy::struct_excessive_bools, reason = "as it is configured")]
pub(super) struct Profile {
    pub(super) name: String,
    /// Made by a call; the configuration does not know it.
    pub(super) created: bool,
    pub(super) color: String,
    /// The address of a browser that is attached to.
    pub(super) address: Option<BrowserAddress>,
    pub(super) is_remote: bool,
    /// The program to launch, where one is configured.
    pub(super) chromium: Option<PathBuf>,
    pub(super) no_sandbox: bool,
    headed: bool,
    spec: Result<Box<BrowserSpec>, String>,
    runs: Arc<Runs>,
    names: Mutex<Names>,
}

impl Profile {
    /// The browser of `[browser]`, which may run already.
    pub(super) fn default_one(config: &Config, browser: Option<BrowserId>) -> Self {
        let own = ProfileConfig {
            cdp_url: config.browser.cdp_url.clone(),
            profile: config.browser.profile.clone(),
            headed: config.browser.headed,
            color: None,
        };
        Self { runs: Arc::new(Runs::new(browser)), ..Self::new(DEFAULT, &own, config, false) }
    }

    pub(super) fn new(name: &str, own: &ProfileConfig, config: &Config, created: bool) -> Self {
        let spec = config.profile_spec(name, own).map(Box::new).map_err(|why| why.to_string());
        Self {
            name: name.to_owned(),
            created,
            color: own.color.clone().unwrap_or_else(|| COLOR.to_owned()),
            address: own.cdp_url.clone(),
            is_remote: own.cdp_url.as_ref().is_some_and(is_remote),
            chromium: config.browser.chromium.clone(),
            no_sandbox: config.browser.no_sandbox,
            headed: own.headed,
            spec,
            runs: Arc::new(Runs::new(None)),
            names: Mutex::default(),
        }
    }

    pub(super) fn is_default(&self) -> bool {
        self.name == DEFAULT
    }

    /// It is attached to and never launched.
    pub(super) fn is_attached(&self) -> bool {
        self.address.is_some()
    }

    /// The folder of its data, where one is kept.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        match &self.spec.as_ref().ok()?.source {
            Source::Launch(options) => match &options.profile {
                launch::Profile::Folder(folder) => Some(folder.clone()),
                launch::Profile::Temporary => None,
            },
            Source::Attach(_) => None,
        }
    }

    /// Without a window: as the last start was asked for, else as configured, and who said so.
    pub(super) fn headless(&self) -> (bool, &'static str) {
        match self.runs.headless() {
            Some(headless) => (headless, "request"),
            None if self.headed => (false, "config"),
            None => (true, "default"),
        }
    }

    /// The browser that should run now. It may be just being restarted.
    pub(super) fn running(&self) -> Option<BrowserId> {
        self.runs.running()
    }

    pub(super) fn is_starting(&self) -> bool {
        self.runs.is_starting()
    }

    /// Why it is not tried at the moment, else why the last start failed.
    pub(super) fn trouble(&self) -> Option<Unstarted> {
        match &self.spec {
            Err(why) => Some(Unstarted::Configuration(why.clone())),
            Ok(_) => self.runs.trouble(),
        }
    }

    pub(super) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the browser unless it runs, and waits until it works.
    pub(super) async fn start(
        &self,
        supervisor: &Supervisor,
        headless: Option<bool>,
        within: Duration,
        budget: &Budget,
    ) -> Result<BrowserId, Unstarted> {
        let spec = match &self.spec {
            Ok(spec) => || (**spec).clone(),
            Err(why) => return Err(Unstarted::Configuration(why.clone())),
        };
        self.runs.start(spec, supervisor, headless, within, budget).await
    }

    /// Stops the browser and waits until nothing of it is left; it goes on stopping if the budget ends
    /// before.
    pub(super) async fn stop(
        &self,
        supervisor: &Supervisor,
        then: Then,
        budget: &Budget,
    ) -> Result<Stopped, Spent> {
        let stopping = self.runs.stop(supervisor, then);
        // Its tabs are gone, and what they were called with them.
        *self.names() = Names::default();
        stopping.wait(budget).await
    }

    /// It may be started after all.
    pub(super) fn reopen(&self) {
        self.runs.reopen();
    }
}

fn is_remote(address: &BrowserAddress) -> bool {
    let given = address.expose().parse::<Given>();
    let Ok(Given::Endpoint(url) | Given::Bare(url) | Given::Http(url)) = given else { return false };
    match url.host() {
        Some(Host::Domain(name)) => name != "localhost",
        Some(Host::Ipv4(address)) => !address.is_loopback(),
        Some(Host::Ipv6(address)) => !address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_elsewhere_is_remote() {
        for (address, remote) in [
            ("9222", false),
            ("http://127.0.0.1:9222", false),
            ("ws://localhost:1/x", false),
            ("http://[::1]:1", false),
            ("https://browsers.example/", true),
            ("ws://10.0.0.1:9222/devtools/browser/x", true),
        ] {
            assert_eq!(is_remote(&address.into()), remote, "{address}");
        }
    }
}
