//! A Chromium that is lost comes back with its tabs, where that is wished for.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use rustix::process::Signal;
use support::{Pages, Running, int, kind, ms, processes, secs};
use tabvisor::act::Viewport;
use tabvisor::events::{Event, Item, Subscription};
use tabvisor::{Act, RestartRequest, Rung, Tab};
use tabvisor_cdp::task;

async fn start() -> Running {
    support::start_with(|config| config.care.reopen_tabs = true).await
}

fn pid(running: &Running) -> u32 {
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    browser.pid.unwrap()
}

/// Waits until so many tabs have come back.
async fn back(events: &mut Subscription, mut tabs: usize) {
    while tabs > 0 {
        match events.next().await.unwrap() {
            Item::Event(told) => match told.event {
                Event::TabRecovered(recovered) => {
                    assert_eq!(recovered.rung, Rung::Browser, "{recovered:?}");
                    tabs -= 1;
                }
                Event::RecoveryFailed { .. } | Event::TabLost { .. } => panic!("{told:?}"),
                _ => {}
            },
            Item::Lagged { .. } => {}
        }
    }
}

async fn text(tab: &Tab, script: &str) -> String {
    tab.evaluate(script).within(secs(20)).await.unwrap().read().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_chromium_comes_back_with_its_tabs_what_was_set_on_them_and_the_cookies() {
    let pages = Pages::start().await;
    let running = start().await;
    let one = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let other = running.tabvisor.open(pages.url("/ok?2")).await.unwrap();
    let size = Viewport { width: 432, height: 321 };
    one.act(Act::Resize(size), secs(20)).await.unwrap();
    one.evaluate("document.cookie = 'kept=yes; max-age=3600'; document.cookie = 'session=too'; return 1")
        .await
        .unwrap();
    // Whatever loads next has them copied; the copy gathers for half a second.
    other.navigate(&pages.url("/ok?3"), secs(20)).await.unwrap();
    tokio::time::sleep(secs(2)).await;
    let mut events = running.tabvisor.subscribe();
    let call = one.evaluate("new Promise(() => {})").within(secs(60)).into_future();
    let call = task::spawn(call);
    support::eventually("the call is in flight", || async {
        (one.row().unwrap().queue.evaluates == 1).then_some(())
    })
    .await;
    processes::signal(pid(&running), Signal::KILL);
    assert_eq!(kind(&call.join().await.unwrap()), "browser_lost");
    back(&mut events, 2).await;
    assert_eq!(text(&one, "location.href").await, pages.url("/ok"));
    assert_eq!(text(&other, "location.href").await, pages.url("/ok?3"));
    let row = one.row().unwrap();
    assert_eq!((row.epoch.0, row.restarts, row.url), (2, 1, pages.url("/ok")));
    let cookies = text(&one, "document.cookie").await;
    assert!(cookies.contains("kept=yes") && cookies.contains("session=too"), "{cookies}");
    support::eventually("the viewport is as it was", || async {
        (int(&one.evaluate("innerWidth").await) == 432).then_some(())
    })
    .await;
    assert_eq!(running.tabvisor.tabs().len(), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chromium_that_hangs_is_noticed_and_replaced() {
    let pages = Pages::start().await;
    let running = start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let mut events = running.tabvisor.subscribe();
    processes::signal(pid(&running), Signal::STOP);
    back(&mut events, 1).await;
    assert_eq!(text(&tab, "location.href").await, pages.url("/ok"));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_restarts_the_browser_more_often_than_it_may_fail() {
    let pages = Pages::start().await;
    let running = start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let beside = running.tabvisor.open(pages.url("/ok?2")).await.unwrap();
    tab.evaluate("document.cookie = 'kept=yes'; return 1").await.unwrap();
    let request = RestartRequest { rung: Some(Rung::Browser), url: None };
    let mut seen = pid(&running);
    for _ in 0..2 {
        let recovered = tab.restart(request.clone(), secs(60)).await.unwrap();
        assert_eq!((recovered.rung, &recovered.url), (Rung::Browser, &pages.url("/ok")));
        assert_ne!(std::mem::replace(&mut seen, pid(&running)), pid(&running));
        assert_eq!(text(&tab, "document.cookie").await, "kept=yes");
    }
    support::eventually("the tab beside is back", || async {
        let row = beside.row().unwrap();
        (row.epoch.0 == 3 && row.url == pages.url("/ok?2")).then_some(())
    })
    .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_not_there_any_more_is_an_error_page_and_not_tried_for_ever() {
    let pages = Pages::start().await;
    let running = start().await;
    let gone = Pages::start().await;
    let tab = running.tabvisor.open(gone.url("/ok")).await.unwrap();
    let beside = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    drop(gone);
    let mut events = running.tabvisor.subscribe();
    processes::signal(pid(&running), Signal::KILL);
    back(&mut events, 2).await;
    support::eventually("the row tells the error", || async { tab.row().unwrap().error.map(drop) }).await;
    assert_eq!(int(&beside.evaluate("1 + 1").await), 2);
    // The tab is usable.
    tab.navigate(&pages.url("/ok"), secs(20)).await.unwrap();
    assert_eq!(text(&tab, "location.href").await, pages.url("/ok"));
    let again = tokio::time::timeout(ms(300), back(&mut events, 1)).await;
    assert!(again.is_err(), "it was opened once");
    running.stop().await;
}
