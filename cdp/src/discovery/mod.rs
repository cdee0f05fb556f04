//! From what a user gives to the WebSocket address of a browser.
//!
//! | given | what is done |
//! |---|---|
//! | `ws://host:port/devtools/browser/...` | taken as it is |
//! | `ws://host:port`, `wss://host` | asked over http(s) first, else taken as it is: some services serve CDP at the root |
//! | `http://host:port`, `https://host/?token=...`, `host:port` | `GET /json/version` |
//! | `9222` | the same on this machine, IPv4 first, then IPv6 |
//! | a profile folder, or its `DevToolsActivePort` file | read, and compared with who listens there |
//!
//! Discovery spends at most half of what is left of the caller's budget, and at most 10 s: a port
//! that accepts and stays silent gets a typed answer, and leaves time for something else.

mod error;
mod given;
mod http;
mod port_file;
mod version;

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;

use url::{Host, Url};

use crate::budget::Budget;
use crate::link::dial::{DialOptions, TRUSTED_HOST, is_loopback, secure, shown};

pub use error::{DiscoveryError, Phase};
pub use given::Given;
pub use port_file::PORT_FILE;

use version::Version;

/// Where a browser listens. Its `Debug` text has no credentials and no query.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The address to dial.
    pub ws_url: Url,
    /// Product and version as the browser tells them (`Chrome/156.0.1.2`); `None` where it was
    /// not asked or did not tell.
    pub browser: Option<String>,
    /// Whether the address names this machine. A tunnel looks local too.
    pub local: bool,
    /// Set when the browser refused the address's own host name: dialling with this `Host` saves a
    /// refused handshake per link.
    pub host_header: Option<String>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("ws_url", &shown(&self.ws_url))
            .field("browser", &self.browser)
            .field("local", &self.local)
            .field("host_header", &self.host_header)
            .finish()
    }
}

impl Endpoint {
    fn as_given(ws_url: Url) -> Self {
        Self { local: is_loopback(&ws_url), ws_url, browser: None, host_header: None }
    }

    fn told(version: Version) -> Self {
        Self {
            local: is_loopback(&version.ws_url),
            ws_url: version.ws_url,
            browser: version.browser,
            host_header: version.wants_trusted_host.then(|| TRUSTED_HOST.to_owned()),
        }
    }

    /// `options` with what this endpoint needs besides.
    #[must_use]
    pub fn dial_options(&self, options: &DialOptions) -> DialOptions {
        let mut options = options.clone();
        options.headers.extend(self.host_header.clone().map(|host| ("Host".to_owned(), host)));
        options
    }
}

/// The most that discovery spends of a long budget.
const LONGEST: Duration = Duration::from_secs(10);

/// Finds the WebSocket address that `given` stands for.
///
/// # Errors
/// [`DiscoveryError`], naming what was asked where and what to do about it.
pub async fn resolve(
    given: &Given,
    options: &DialOptions,
    budget: &Budget,
) -> Result<Endpoint, DiscoveryError> {
    let slice = budget.child(LONGEST.min(budget.left() / 2));
    match given {
        Given::Endpoint(ws_url) => Ok(Endpoint::as_given(ws_url.clone())),
        Given::Http(base) => first_browser(&candidates(base), options, &slice).await.map(Endpoint::told),
        Given::Bare(ws_url) => {
            let base = version::with_scheme(ws_url, if secure(ws_url) { "https" } else { "http" })?;
            match first_browser(&candidates(&base), options, &slice).await {
                // Somebody is there, but not for this question; the handshake will tell.
                Err(error) if error.is_about_the_question() => Ok(Endpoint::as_given(ws_url.clone())),
                other => other.map(Endpoint::told),
            }
        }
        Given::Port(port) => first_browser(&this_machine(*port)?, options, &slice).await.map(Endpoint::told),
        Given::Path(path) => from_port_file(path, options, &slice).await,
    }
}

async fn from_port_file(
    path: &Path,
    options: &DialOptions,
    slice: &Budget,
) -> Result<Endpoint, DiscoveryError> {
    let listed = port_file::read(path, slice).await?;
    let bases = this_machine(listed.port)?;
    let asked = Asked::ask(&bases, options, slice, |version| version.ws_url.path() == listed.path).await?;
    if let Some(version) = asked.found {
        return Ok(Endpoint::told(version));
    }
    // A browser whose debugging was switched on in its own settings has no /json/version, but
    // serves the path in its file.
    let quiet = |(_, error): &&(Url, DiscoveryError)| {
        matches!(error, DiscoveryError::NotDevTools { status: Some(_), .. })
    };
    if let Some((base, _)) = asked.failed.iter().find(quiet) {
        let mut ws_url = version::with_scheme(base, "ws")?;
        ws_url.set_path(&listed.path);
        return Ok(Endpoint::as_given(ws_url));
    }
    let stale = |what: &str| DiscoveryError::PortFile {
        path: path.to_owned(),
        why: format!("it is stale: {what} on port {} now", listed.port),
    };
    if asked.other_browser {
        return Err(stale("another browser listens"));
    }
    Err(match asked.failure() {
        DiscoveryError::Refused { .. } => stale("nothing listens"),
        other => other,
    })
}

/// Both loopback addresses: Chromium falls back to IPv6 when its IPv4 port was taken, and what took
/// it may be anything.
fn this_machine(port: u16) -> Result<Vec<Url>, DiscoveryError> {
    let base = format!("http://localhost:{port}");
    Ok(candidates(&Url::parse(&base).map_err(|error| DiscoveryError::bad_address(error.to_string()))?))
}

/// Where to ask. `localhost` is asked on each family in turn, and the one that answers as a
/// browser goes into the address, so that later dials cannot reach the other. Over TLS the name
/// stays, for the certificate.
fn candidates(base: &Url) -> Vec<Url> {
    if base.host() != Some(Host::Domain("localhost")) || secure(base) {
        return vec![base.clone()];
    }
    let on = |ip: std::net::IpAddr| {
        let mut base = base.clone();
        base.set_ip_host(ip).ok().map(|()| base)
    };
    [on(Ipv4Addr::LOCALHOST.into()), on(Ipv6Addr::LOCALHOST.into())].into_iter().flatten().collect()
}

async fn first_browser(
    bases: &[Url],
    options: &DialOptions,
    slice: &Budget,
) -> Result<Version, DiscoveryError> {
    let mut asked = Asked::ask(bases, options, slice, |_| true).await?;
    asked.found.take().ok_or_else(|| asked.failure())
}

/// What the candidates said.
#[derive(Default)]
struct Asked {
    found: Option<Version>,
    /// A browser answered that was not the one looked for.
    other_browser: bool,
    failed: Vec<(Url, DiscoveryError)>,
}

impl Asked {
    /// Asks one after the other, until the browser looked for answers. One that stays silent gets
    /// half of what is left, so that the next has its turn.
    async fn ask(
        bases: &[Url],
        options: &DialOptions,
        slice: &Budget,
        looked_for: impl Fn(&Version) -> bool,
    ) -> Result<Self, DiscoveryError> {
        let mut asked = Self::default();
        for (index, base) in bases.iter().enumerate() {
            let last = index + 1 == bases.len();
            let share = if last { slice.clone() } else { slice.child(slice.left() / 2) };
            match version::ask(base, options, &share).await {
                Ok(version) if looked_for(&version) => {
                    asked.found = Some(version);
                    break;
                }
                Ok(_) => asked.other_browser = true,
                Err(error @ DiscoveryError::Cancelled { .. }) => return Err(error),
                Err(error) => asked.failed.push((base.clone(), error)),
            }
        }
        Ok(asked)
    }

    /// The failure that tells most; of equals the first.
    fn failure(self) -> DiscoveryError {
        let failures = self.failed.into_iter().map(|(_, error)| error);
        let most = failures.reduce(|most, next| if next.tells() > most.tells() { next } else { most });
        most.unwrap_or_else(|| DiscoveryError::bad_address("it names no host"))
    }
}
