//! Whether a document that a page asks for may be loaded: by its host, and by what that stands for.

use std::net::IpAddr;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tokio::net::lookup_host;
use url::Url;

use crate::navigate::{BadUrl, NavigationPolicy};

/// How long a name may take to be looked up. One that is not found is left to Chromium, which will not
/// find it either.
const LOOKUP: Duration = Duration::from_secs(2);

/// Checks one hop of a navigation: each redirect is another one. What a name stands for may have changed
/// when Chromium looks it up a moment later; who must be safe from that needs a network of its own.
pub(super) async fn check(policy: &NavigationPolicy, url: &str) -> Result<(), BadUrl> {
    let url = Url::parse(url).map_err(|why| BadUrl::Unreadable(why.to_string()))?;
    policy.check(&url)?;
    let Some(name) = policy.unresolved(&url) else { return Ok(()) };
    let found = Budget::new(LOOKUP).run(lookup_host((name, 0))).await;
    let addresses: Vec<IpAddr> =
        found.ok().and_then(Result::ok).into_iter().flatten().map(|it| it.ip()).collect();
    policy.check_resolved(&url, &addresses)
}
