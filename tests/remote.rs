//! A browser that others use, too: what is there already, what goes away and comes back, and that
//! nothing of theirs is touched.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::collections::HashSet;
use std::time::Duration;

use crate::support;
use serde_json::json;
use support::proxy::Proxy;
use support::raw::{self, Bare};
use support::{Pages, int, kind, ms, secs};
use tabvisor::{RestartRequest, Rung, Tab, TabId, TabRow, TabState, Tabvisor};
use tabvisor_cdp::launch::Profile;
use tabvisor_cdp::task;
use tempfile::TempDir;
use tokio::time::Instant;

/// Wide: the machine is shared.
const AT_ONCE: Duration = secs(5);

struct Guest {
    tabvisor: Tabvisor,
    _state: TempDir,
}

impl Guest {
    async fn of(address: &str) -> Self {
        Self::with(address, |_| {}).await
    }

    async fn with(address: &str, change: impl FnOnce(&mut tabvisor::config::Config)) -> Self {
        let state = TempDir::new().unwrap();
        let mut config = support::config(&state);
        config.browser.cdp_url = Some(address.into());
        change(&mut config);
        Self { tabvisor: Tabvisor::start(config).await.unwrap(), _state: state }
    }

    /// The tab that shows this, once its row says `state`.
    async fn finds(&self, url: &str, state: TabState) -> Tab {
        let found = || async { self.row(url).filter(|row| row.state == state).map(|row| row.tab_id) };
        self.tab(support::eventually("the tab has its row", found).await)
    }

    fn row(&self, url: &str) -> Option<TabRow> {
        self.tabvisor.tabs().into_iter().find(|row| row.url == url)
    }

    fn tab(&self, id: TabId) -> Tab {
        self.tabvisor.tab(id).unwrap()
    }
}

/// A Chromium whose own pages may be used, as the one that gives tabs up.
async fn one_that_discards() -> (Bare, TempDir) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("Local State"), r#"{"internal_only_uis_enabled":true}"#).unwrap();
    let profile = Profile::Folder(folder.path().to_path_buf());
    (Bare::start_with(|options| options.profile = profile).await, folder)
}

/// Has Chromium give up the tab of this address, which nobody may be attached to.
async fn discard(bare: &Bare, url: &str) {
    let page = bare.page("chrome://discards").await;
    let click = format!(
        "(() => {{
            const all = root => [...root.querySelectorAll('*')].flatMap(it => [it, ...(it.shadowRoot ? all(it.shadowRoot) : [])]);
            const row = all(document).find(it => it.tagName === 'TR' && it.innerText.includes({}));
            const button = row && [...row.querySelectorAll('[is=action-link]')].find(it => it.innerText.includes('Urgent'));
            button?.click();
            return Boolean(button);
        }})()",
        json!(url)
    );
    let asked = || async { page.evaluate(&click).await.as_bool().unwrap().then_some(()) };
    support::eventually("its row is there", asked).await;
    // Its page stays: closed, it would give its place, and the focus, to the next one.
}

async fn targets(bare: &Bare) -> HashSet<String> {
    let all = raw::call(&bare.browser.root(), "Target.getTargets", json!({})).await.unwrap();
    let pages = all["targetInfos"].as_array().unwrap().iter().filter(|it| it["type"] == "page");
    pages.map(|it| it["targetId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_discarded_tab_has_its_row_and_comes_back_with_the_focus() {
    let pages = Pages::start().await;
    let (bare, _profile) = one_that_discards().await;
    let (kept, given_up) = (pages.url("/form"), pages.url("/ok"));
    bare.create(&kept).await;
    let before = bare.create(&given_up).await;
    let titled = || async {
        let all = raw::call(&bare.browser.root(), "Target.getTargets", json!({})).await.unwrap();
        let all = all["targetInfos"].as_array().unwrap().clone();
        all.iter().any(|it| it["title"] == "ok").then_some(())
    };
    support::eventually("it is loaded", titled).await;
    discard(&bare, &given_up).await;
    support::eventually("it is another target", || async {
        (!targets(&bare).await.contains(&before)).then_some(())
    })
    .await;
    // Nothing is loaded that nobody asked for, whatever is done by itself about crashes.
    let guest =
        Guest::with(bare.address().as_str(), |config| config.care.recovery = tabvisor::Recovery::Restart)
            .await;
    let tab = guest.finds(&given_up, TabState::Discarded).await;
    assert_eq!(guest.row(&given_up).unwrap().title, "ok");
    let beside = guest.finds(&kept, TabState::Ready).await;
    assert_eq!(int(&beside.evaluate("1 + 1").within(secs(10)).await), 2);
    let refused = tab.evaluate("1").within(secs(60)).await;
    assert_eq!(kind(&refused), "crashed");
    assert!(refused.unwrap_err().to_string().contains("discarded"));
    assert_eq!(tab.row().unwrap().state, TabState::Discarded);
    tab.focus().await.unwrap();
    let tab = guest.finds(&given_up, TabState::Ready).await;
    let discarded = tab.evaluate("document.wasDiscarded").within(secs(20)).await.unwrap();
    assert!(discarded.read::<bool>().unwrap(), "Chromium has loaded it again");
    guest.tabvisor.stop().await;
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_discarded_tab_comes_back_by_a_restart() {
    let pages = Pages::start().await;
    let (bare, _profile) = one_that_discards().await;
    let url = pages.url("/ok");
    let before = bare.create(&url).await;
    discard(&bare, &url).await;
    support::eventually("it is another target", || async {
        (!targets(&bare).await.contains(&before)).then_some(())
    })
    .await;
    let guest = Guest::of(bare.address().as_str()).await;
    let tab = guest.finds(&url, TabState::Discarded).await;
    let recovered = tab.restart(RestartRequest::default(), secs(20)).await.unwrap();
    assert_eq!((recovered.rung, &recovered.url), (Rung::Renderer, &url), "{recovered:?}");
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(20)).await), 2);
    guest.tabvisor.stop().await;
    bare.stop().await;
}

/// Measured: Chromium gives up no tab that somebody is attached to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_of_ours_is_not_given_up() {
    let pages = Pages::start().await;
    let (bare, _profile) = one_that_discards().await;
    let guest = Guest::of(bare.address().as_str()).await;
    let url = pages.url("/ok");
    let tab = guest.tabvisor.open(&url).await.unwrap();
    tab.evaluate("window.kept = 7").await.unwrap();
    let before = targets(&bare).await;
    discard(&bare, &url).await;
    assert_eq!(int(&tab.evaluate("window.kept").within(secs(20)).await), 7);
    assert!(targets(&bare).await.is_superset(&before));
    guest.tabvisor.stop().await;
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_that_are_stuck_already_are_listed_at_once_and_cost_nobody_else() {
    let pages = Pages::start().await;
    let bare = Bare::start().await;
    let hang = pages.url("/hang");
    let mut stuck = Vec::new();
    for _ in 0..3 {
        stuck.push(bare.create(&hang).await);
    }
    let fine = bare.create(&pages.other_site("/ok")).await;
    let all = || async {
        let all = raw::call(&bare.browser.root(), "Target.getTargets", json!({})).await.unwrap();
        let titles = all["targetInfos"].as_array().unwrap().clone();
        (titles.iter().filter(|it| it["title"] == "hang").count() == 3).then_some(())
    };
    support::eventually("they are loaded, and loop soon", all).await;
    let page = bare.attach(&stuck[0]).await;
    support::eventually("they loop", || async {
        let mut answer = page.send("Runtime.evaluate", raw::script("1")).await;
        raw::silent(&mut answer).await.then_some(())
    })
    .await;
    let guest = Guest::of(bare.address().as_str()).await;
    let rows = guest.tabvisor.tabs();
    let titled = rows.iter().filter(|row| row.title == "hang").count();
    assert_eq!(titled, 3, "known from the browser: {rows:?}");
    let id = rows.iter().find(|row| row.target_id == fine).unwrap().tab_id;
    assert_eq!(int(&guest.tab(id).evaluate("1 + 1").within(secs(10)).await), 2);
    // Who comes later cannot end its scripts (measured), and says so at once; it comes back in another
    // target.
    let one = guest.tab(rows.iter().find(|row| row.title == "hang").unwrap().tab_id);
    let Err(refused) = one.terminate(secs(20)).await else { panic!("it was freed") };
    assert_eq!(refused.kind(), "not_recovered");
    let request = RestartRequest { rung: None, url: Some(pages.url("/ok").parse().unwrap()) };
    let recovered = one.restart(request, secs(20)).await.unwrap();
    assert_eq!(recovered.rung, Rung::Target);
    assert_eq!(int(&one.evaluate("1 + 1").within(secs(10)).await), 2);
    guest.tabvisor.stop().await;
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_tabs_some_of_them_frozen_are_listed_at_once_and_left_as_they_were() {
    const TABS: usize = 200;
    let bare = Bare::start_with(|options| options.renderer_process_limit = 2).await;
    for n in 0..TABS {
        let target = bare.create("about:blank").await;
        if n % 10 == 0 {
            let page = bare.attach(&target).await;
            page.call("Page.setWebLifecycleState", json!({ "state": "frozen" })).await.unwrap();
        }
    }
    let before = targets(&bare).await;
    assert!(before.len() >= TABS);
    let begun = Instant::now();
    let guest = Guest::of(bare.address().as_str()).await;
    let listed: HashSet<_> = guest.tabvisor.tabs().into_iter().map(|row| row.target_id).collect();
    assert!(listed.is_superset(&before), "{} of {}", listed.len(), before.len());
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    // They are usable at once, also the last one, which is attached to when it is needed.
    for row in guest.tabvisor.tabs().iter().step_by(40) {
        assert_eq!(int(&guest.tab(row.tab_id).evaluate("1 + 1").within(secs(20)).await), 2);
    }
    guest.tabvisor.stop().await;
    assert_eq!(targets(&bare).await, before, "none of them was ours to close");
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_ours_is_closed_and_what_is_theirs_is_left() {
    let pages = Pages::start().await;
    let bare = Bare::start().await;
    let theirs = bare.page(&pages.url("/ok")).await;
    let guest = Guest::of(bare.address().as_str()).await;
    let ours = guest.tabvisor.open(pages.url("/ok")).await.unwrap().row().unwrap().target_id;
    assert!(targets(&bare).await.contains(&ours));
    guest.tabvisor.stop().await;
    support::eventually("ours is closed", || async { (!targets(&bare).await.contains(&ours)).then_some(()) })
        .await;
    assert_eq!(theirs.evaluate("1 + 1").await, 2);
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_dies_silently_costs_no_call_more_than_its_budget() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let address = raw::address(&running);
    let target = format!("127.0.0.1:{}", address.port().unwrap()).parse().unwrap();
    let proxy = Proxy::to(target).await;
    let mut through = address.clone();
    through.set_port(Some(proxy.address.port())).unwrap();
    let guest = Guest::of(through.as_str()).await;
    let tab = guest.tabvisor.open(pages.url("/ok")).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
    proxy.stall();
    let begun = Instant::now();
    let (one, other) = tokio::join!(
        tab.evaluate("1 + 1").within(ms(700)).into_future(),
        tab.snapshot(tabvisor::snapshot::Request::default()).within(ms(700)).into_future(),
    );
    assert!(one.is_err() && other.is_err(), "{one:?} {other:?}");
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    proxy.heal();
    support::eventually("it works again", || async {
        let tab = match tab.evaluate("1 + 1").within(secs(5)).await {
            Ok(_) => return Some(()),
            Err(_) => guest.tabvisor.open(pages.url("/ok")).await.ok()?,
        };
        tab.evaluate("1 + 1").within(secs(5)).await.ok().map(drop)
    })
    .await;
    guest.tabvisor.stop().await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_goes_away_and_comes_back_is_attached_to_again() {
    let pages = Pages::start().await;
    let first = Bare::start().await;
    // The address stays the same, as that of a balancer.
    let proxy = Proxy::to(socket(&first)).await;
    let http = format!("http://{}", proxy.address);
    let guest = Guest::of(&http).await;
    let tab = guest.tabvisor.open(pages.url("/ok")).await.unwrap();
    let waits = task::spawn(tab.evaluate("new Promise(() => {})").within(secs(60)).into_future());
    support::eventually("it is in flight", || async {
        (tab.row().unwrap().queue.evaluates == 1).then_some(())
    })
    .await;
    let second = Bare::start().await;
    proxy.forward_to(socket(&second));
    first.stop().await;
    // Whatever of it goes first.
    let ended = waits.join().await.unwrap();
    assert!(matches!(kind(&ended), "browser_lost" | "tab_closed" | "crashed"), "{ended:?}");
    let again = support::eventually("it is attached to the other one", || async {
        guest.tabvisor.open(pages.url("/ok")).await.ok()
    })
    .await;
    assert_eq!(int(&again.evaluate("1 + 1").within(secs(10)).await), 2);
    assert!(targets(&second).await.contains(&again.row().unwrap().target_id));
    guest.tabvisor.stop().await;
    second.stop().await;
}

fn socket(bare: &Bare) -> std::net::SocketAddr {
    format!("127.0.0.1:{}", bare.address().port().unwrap()).parse().unwrap()
}

/// Nothing is told of a tab that is closed while it is being set up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_closed_at_any_moment_of_their_birth_are_gone_and_hurt_nobody() {
    let running = support::start().await;
    let beside = running.tabvisor.open("about:blank").await.unwrap();
    for n in 0..60_u64 {
        let opening = task::spawn(running.tabvisor.open("about:blank").within(secs(20)).into_future());
        tokio::time::sleep(ms(n)).await;
        for row in running.tabvisor.tabs().iter().filter(|row| row.tab_id != beside.id()) {
            if let Ok(tab) = running.tabvisor.tab(row.tab_id) {
                let _ = tab.close().await;
            }
        }
        if let Ok(tab) = opening.join().await.unwrap() {
            let _ = tab.close().await;
        }
    }
    support::eventually("they are gone", || async {
        (running.tabvisor.tabs().iter().all(|row| row.tab_id <= beside.id())).then_some(())
    })
    .await;
    assert_eq!(int(&beside.evaluate("1 + 1").within(secs(10)).await), 2);
    assert_eq!(beside.row().unwrap().restarts, 0);
    running.stop().await;
}
