//! Loading an address: not a success until the document is there.

use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::navigate::{self, How, Landed, LoadFailure, Move, NavigateError, WaitUntil, http_status};
use tabvisor_page::observe::{Obstacle, Stopped};
use tokio::sync::watch;
use url::Url;

use super::{Done, Stage};
use crate::error::TabError;
use crate::files::Download;
use crate::shared::TabShared;

/// Loads `url`.
pub(super) async fn navigate(
    stage: &Stage,
    url: &Url,
    until: WaitUntil,
    budget: &Budget,
) -> Result<Done, TabError> {
    let Stage { tab, session, .. } = stage;
    let here = Url::parse(&tab.row().url).ok();
    let same_site = here.is_some_and(|here| may_be_same_site(&here, url));
    refuse_while_stuck(tab, same_site)?;
    let condition = tab.condition.subscribe();
    let from = tab.browser.downloads.borrow().next();
    let under_way = UnderWay::on(tab);
    let how = How { until, same_site };
    let stopped = tab.observed().stopped();
    let landed = navigate::navigate(session, url, how, condition, budget).await;
    drop(under_way);
    if let Err(NavigateError::NoDocument { download: true }) = &landed
        && let Some(download) = download(tab, from, budget).await
    {
        return Ok(Done::Download(Box::new(download)));
    }
    let landed = explained(tab, landed, stopped, budget).await?;
    arrived(stage, landed, budget).await.map(Done::Landed)
}

/// Says which login a server wants, or what the policy forbids; heard of over another link.
async fn explained(
    tab: &TabShared,
    landed: Result<Landed, NavigateError>,
    mut stopped: watch::Receiver<Option<Stopped>>,
    budget: &Budget,
) -> Result<Result<Landed, NavigateError>, TabError> {
    let Err(NavigateError::Failed { net_error, .. }) = &landed else { return Ok(landed) };
    if !matches!(LoadFailure::of(net_error), LoadFailure::AuthRequired | LoadFailure::Blocked) {
        return Ok(landed);
    }
    let of_page = async {
        while stopped.changed().await.is_ok() {
            let last = stopped.borrow_and_update().clone();
            if let Some(it) = last.filter(|it| it.frame == tab.target) {
                return Some(it.by);
            }
        }
        None
    };
    let challenge = match budget.child(NAMED).run(of_page).await.ok().flatten() {
        Some(Obstacle::Policy(why)) => return Err(why.into()),
        Some(Obstacle::Login(challenge)) => Some(challenge),
        None => None,
    };
    Ok(Err(NavigateError::Failed { net_error: net_error.clone(), challenge }))
}

/// Goes back or forward, or loads again.
pub(super) async fn go(
    stage: &Stage,
    to: Move,
    until: WaitUntil,
    budget: &Budget,
) -> Result<Landed, TabError> {
    let Stage { tab, session, .. } = stage;
    refuse_while_stuck(tab, true)?;
    let under_way = UnderWay::on(tab);
    let landed = navigate::go(session, &tab.target, to, until, tab.condition.subscribe(), budget).await;
    drop(under_way);
    arrived(stage, landed, budget).await
}

/// Waits until what is published of the page is what happened there, and says how it was loaded.
async fn arrived(
    stage: &Stage,
    landed: Result<Landed, NavigateError>,
    budget: &Budget,
) -> Result<Landed, TabError> {
    let Stage { tab, session, .. } = stage;
    let mut landed = match landed {
        Ok(landed) => landed,
        Err(NavigateError::Link(error)) => return Err(error.into()),
        Err(NavigateError::Failed { net_error, .. }) if net_error == UNNAMED => {
            // The name is read from Chromium's error page.
            let mut page = tab.page.subscribe();
            let named =
                page.wait_for(|known| known.state.error.as_ref().is_some_and(|it| it.description != UNNAMED));
            let named = budget.child(NAMED).run(named).await;
            let name = named.ok().and_then(Result::ok).and_then(|it| it.state.error.clone());
            let net_error = name.map_or(net_error, |error| error.description);
            return Err(NavigateError::Failed { net_error, challenge: None }.into());
        }
        Err(other) => return Err(other.into()),
    };
    shown(tab, &landed.url, 0, budget).await;
    // Who watches the requests of the page may have been away.
    let denied = Url::parse(&landed.url).ok().and_then(|url| tab.browser.policy.check(&url).err());
    if let Some(why) = denied {
        session.call("Page.navigate", json!({ "url": "about:blank" }), budget).await?;
        return Err(why.into());
    }
    if !landed.same_document {
        landed.http_status = http_status(session, &tab.target, &budget.child(ASKED)).await;
    }
    Ok(landed)
}

/// How long what is told over the browser link may lag behind the page's.
const BEGAN: Duration = Duration::from_secs(1);

/// The download that a navigation turned into.
async fn download(tab: &TabShared, from: u64, budget: &Budget) -> Option<Download> {
    let mut changes = tab.browser.downloads.subscribe();
    let began = changes.wait_for(|all| !all.since(tab.id, from).is_empty());
    budget.child(BEGAN).run(began).await.ok()?.ok()?.since(tab.id, from).into_iter().next()
}

/// Waits until what is published of a tab knows of a navigation that happened; its document is at least
/// of this generation.
pub(crate) async fn shown(tab: &TabShared, url: &str, generation: u64, budget: &Budget) {
    tab.woken();
    // A navigation brings a dead renderer back; the watcher says so over its own link.
    let mut condition = tab.condition.subscribe();
    let _ = budget.run(condition.wait_for(|now| !now.crashed)).await;
    // Heard of over another link, and told by another task.
    let mut page = tab.page.subscribe();
    let shown = page.wait_for(|known| known.state.url == url && known.state.generation >= generation);
    let most = if generation > 0 { SHOWN_ANEW } else { SHOWN };
    let _ = budget.child(most).run(shown).await;
}

/// How long what is published of a page may lag behind what happened there. It may have gone on
/// to another address by itself meanwhile.
const SHOWN: Duration = Duration::from_millis(100);

/// The same where the page session may have to be dialled first.
const SHOWN_ANEW: Duration = Duration::from_secs(2);
/// How long a page that has landed may take to say what it came with.
const ASKED: Duration = Duration::from_millis(500);
/// A failed load whose name is not known yet, and how long that may last.
const UNNAMED: &str = "net::ERR_FAILED";
const NAMED: Duration = Duration::from_millis(500);

/// Tells other calls, for as long as it lives, why the page does not answer them.
struct UnderWay<'a>(&'a TabShared);

impl<'a> UnderWay<'a> {
    fn on(tab: &'a TabShared) -> Self {
        tab.condition.send_modify(|now| now.navigating = true);
        Self(tab)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.condition.send_modify(|now| now.navigating = false);
    }
}

/// Chromium answers "ok" to a navigation of a stuck page within its own site, nothing happens, and
/// afterwards its scripts cannot even be ended (measured).
fn refuse_while_stuck(tab: &TabShared, same_site: bool) -> Result<(), TabError> {
    let stuck = *tab.stuck.borrow();
    stuck.filter(|stuck| stuck.proven && same_site).map_or(Ok(()), |stuck| Err(stuck.refusal(tab.id)))
}

/// Errs on the side of "yes": a site is a registrable domain, of which a host's suffix is all that
/// is known here.
fn may_be_same_site(one: &Url, other: &Url) -> bool {
    let (Some(one), Some(other)) = (one.host_str(), other.host_str()) else { return false };
    let tail = |host: &str| host.rsplit('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    one == other || (one.parse::<std::net::IpAddr>().is_err() && tail(one) == tail(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_may_share_a_renderer_are_one_site() {
        let same =
            |one: &str, other: &str| may_be_same_site(&Url::parse(one).unwrap(), &Url::parse(other).unwrap());
        assert!(same("http://a.example.org/", "https://b.example.org/x"));
        assert!(same("http://127.0.0.1:1/", "http://127.0.0.1:2/"));
        assert!(!same("http://127.0.0.1/", "http://localhost/"));
        assert!(!same("http://10.0.0.1/", "http://11.0.0.1/"));
        assert!(!same("http://example.org/", "about:blank"));
    }
}
