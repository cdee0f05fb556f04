//! A renderer, Chromium or a link dies under calls: every call in flight is answered at once with
//! what happened, and nothing comes back silently.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::time::Duration;

use rustix::process::Signal;
use support::proxy::Proxy;
use support::{Pages, Running, int, kind, ms, processes, secs};
use tabvisor::events::{Event, Item};
use tabvisor::{Error, Tab, Tabvisor, Value};
use tabvisor_cdp::task::{self, Task};
use tokio::time::Instant;

type Answered = (Result<Value, Error>, Instant);

fn in_flight(tab: &Tab, script: &str) -> Task<Answered> {
    let call = tab.evaluate(script).within(secs(60)).into_future();
    task::spawn(async move { (call.await, Instant::now()) })
}

async fn all_in_flight(tab: &Tab, calls: usize) {
    support::eventually("calls are in flight", || async {
        (tab.row().unwrap().queue.evaluates == calls).then_some(())
    })
    .await;
    // The promises are in the page.
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
}

/// Wide: the machine is shared. `benches` tell the real figure.
const AT_ONCE: Duration = ms(1500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_renderer_answers_its_calls_and_leaves_siblings_alone() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let sibling = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let calls: Vec<_> = (0..4).map(|_| in_flight(&tab, "new Promise(() => {})")).collect();
    all_in_flight(&tab, 4).await;
    let target = tab.row().unwrap().target_id;
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    let pid = processes::renderer_of(&browser.ws_url, &target).await;
    let killed = Instant::now();
    processes::signal(pid, Signal::KILL);
    for call in calls {
        let (answer, at) = call.join().await.unwrap();
        assert_eq!(kind(&answer), "crashed");
        assert!(at - killed < AT_ONCE);
    }
    assert_eq!(int(&sibling.evaluate("1 + 1").await), 2);
    // The tab says so, at once, until a navigation brings it back.
    support::eventually("the row says crashed", || async {
        (tab.row().unwrap().state == tabvisor::TabState::Crashed).then_some(())
    })
    .await;
    assert_eq!(kind(&tab.evaluate("1").within(secs(20)).await), "crashed");
    tab.navigate(&pages.url("/ok"), secs(20)).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_chromium_answers_everything_and_is_started_again_without_its_tabs() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tabs = [
        running.tabvisor.open(pages.url("/ok")).await.unwrap(),
        running.tabvisor.open(pages.url("/ok")).await.unwrap(),
    ];
    let mut events = running.tabvisor.subscribe();
    let calls: Vec<_> = tabs
        .iter()
        .flat_map(|tab| [in_flight(tab, "new Promise(() => {})"), in_flight(tab, "new Promise(() => {})")])
        .collect();
    for tab in &tabs {
        all_in_flight(tab, 2).await;
    }
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    let killed = Instant::now();
    processes::signal(browser.pid.unwrap(), Signal::KILL);
    for call in calls {
        let (answer, at) = call.join().await.unwrap();
        assert_eq!(kind(&answer), "browser_lost", "{answer:?}");
        assert!(at - killed < AT_ONCE);
    }
    let lost = tabs[0].evaluate("1").await.unwrap_err();
    assert!(lost.to_string().contains("epoch 1"), "{lost}");
    loop {
        match events.next().await.unwrap() {
            Item::Event(numbered) => {
                if let Event::BrowserStarted { epoch, .. } = numbered.event {
                    assert_eq!(epoch.0, 2);
                    break;
                }
            }
            Item::Lagged { .. } => {}
        }
    }
    assert!(running.tabvisor.tabs().is_empty(), "nothing is brought back silently");
    let again = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    assert!(again.id() > tabs[1].id(), "names are never used again");
    assert_eq!(int(&again.evaluate("1 + 1").await), 2);
    assert_eq!(kind(&tabs[1].evaluate("1").await), "browser_lost");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_keeps_dying_ends_the_tree_with_its_reason() {
    let running = support::start().await;
    let supervisor = running.tabvisor.supervisor().clone();
    let mut last = None;
    let ended = task::spawn({
        let supervisor = supervisor.clone();
        async move { supervisor.ended().await }
    });
    for _ in 0..4 {
        let pid = support::eventually("a browser works", || async {
            let pid = supervisor.browser(running.tabvisor.browser()).and_then(|facts| facts.pid);
            pid.filter(|pid| Some(*pid) != last)
        })
        .await;
        last = Some(pid);
        processes::signal(pid, Signal::KILL);
    }
    match ended.join().await.unwrap() {
        tabvisor::Ended::Failed(why) => assert!(why.contains("failed too often"), "{why}"),
        other @ tabvisor::Ended::Stopped => panic!("{other:?}"),
    }
    running.stop().await;
}

/// A second supervisor that reaches the Chromium of the first through a proxy.
async fn behind_proxy(running: &Running) -> (Tabvisor, Proxy) {
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    let address = (std::net::Ipv4Addr::LOCALHOST, browser.ws_url.port().unwrap()).into();
    let proxy = Proxy::to(address).await;
    let mut config = support::config(&running.state);
    config.browser.cdp_url = Some(format!("ws://{}{}", proxy.address, browser.ws_url.path()).into());
    (Tabvisor::start(config).await.unwrap(), proxy)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_cut_mid_call_are_answers_and_attaching_again_works() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let (attached, proxy) = behind_proxy(&running).await;
    let tab = attached.open(pages.url("/ok")).await.unwrap();
    let calls: Vec<_> = (0..3).map(|_| in_flight(&tab, "new Promise(() => {})")).collect();
    all_in_flight(&tab, 3).await;
    let cut = Instant::now();
    proxy.cut();
    for call in calls {
        let (answer, at) = call.join().await.unwrap();
        assert_eq!(kind(&answer), "browser_lost", "{answer:?}");
        assert!(at - cut < AT_ONCE);
    }
    proxy.heal();
    let again = attached.open(pages.url("/ok")).await.unwrap();
    assert_eq!(int(&again.evaluate("1 + 1").await), 2);
    attached.stop().await;
    // The Chromium was not ours to end.
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_evaluates_link_is_cut_and_the_tab_goes_on() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let (attached, proxy) = behind_proxy(&running).await;
    let tab = attached.open(pages.url("/ok")).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    let before = proxy.connections();
    // More calls than spare links: the later ones dial, and those are cut.
    let calls: Vec<_> = (0..6).map(|_| in_flight(&tab, "new Promise(() => {})")).collect();
    support::eventually("new links are dialled", || async {
        (proxy.connections() > before + 2).then_some(())
    })
    .await;
    support::eventually("calls are in flight", || async {
        (tab.row().unwrap().queue.evaluates == 6).then_some(())
    })
    .await;
    proxy.cut_from(before + 1);
    let mut failed = 0;
    for call in calls {
        if let Some((answer, _)) = Budget::new(secs(5)).run(call.join()).await.ok().flatten() {
            assert_eq!(kind(&answer), "link_failed", "{answer:?}");
            failed += 1;
        }
    }
    assert!(failed > 0);
    proxy.heal();
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
    attached.stop().await;
    running.stop().await;
}

use tabvisor_cdp::budget::Budget;
