//! A browser that was lost comes back with its tabs, where the configuration says so.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use support::stage::Stage;
use support::{eventually, int, kind, ms, processes, secs};
use tabvisor::events::{Event, Item};
use tabvisor::{Cause, Lost, RestartRequest, Rung, Tab, TabRow};
use tabvisor_cdp::task;

/// The browser's process, as an operator finds it.
fn pid(running: &support::Running) -> u32 {
    let tabvisor = &running.tabvisor;
    tabvisor.supervisor().browser(tabvisor.browser()).and_then(|facts| facts.pid).unwrap()
}

/// Its document is there, and known as such: before that it is an empty page on its way.
fn shown(row: &TabRow) -> bool {
    row.generation > 0 && !row.loading && row.title == "Two"
}

/// How a tab is known.
fn known(tab: &Tab) -> &'static str {
    tab.row().map_or_else(|error| error.kind(), |_| "ok")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_come_back_under_their_names_with_what_was_set_on_them() {
    let stage = Stage::start().await;
    let running = support::start_with(|config| config.care.reopen_tabs = true).await;
    let (one, two) = (stage.page("<title>One</title><p>one"), stage.page("<title>Two</title><p>two"));
    let first = running.tabvisor.open(&one).await.unwrap();
    let second = running.tabvisor.open(&two).await.unwrap();
    let third = running.tabvisor.open("about:blank").await.unwrap();
    // A popup of a page comes back, too.
    first.evaluate(format!("return window.open({two:?}) !== null")).await.unwrap();
    let popup = eventually("the popup is a tab", || async {
        running
            .tabvisor
            .tabs()
            .into_iter()
            .find(|row| row.opener == Some(first.id()) && row.url == two && shown(row))
    })
    .await;
    let before = second.row().unwrap();
    let mut events = running.tabvisor.subscribe();
    let held = task::spawn({
        let first = first.clone();
        async move { first.evaluate("return new Promise(() => {})").within(secs(20)).await }
    });
    eventually("it is at work", || async { (first.row().unwrap().queue.evaluates > 0).then_some(()) }).await;
    processes::signal(pid(&running), rustix::process::Signal::KILL);
    assert_eq!(kind(&held.join().await.unwrap()), "browser_lost");

    let mut back = std::collections::BTreeMap::new();
    while back.len() < 4 {
        let event = tabvisor::Budget::new(secs(60)).run(events.next()).await.unwrap().unwrap();
        let Item::Event(event) = event else { panic!("{event:?}") };
        match event.event {
            Event::TabRecovered(it) => _ = back.insert(it.tab_id, it),
            failed @ Event::RecoveryFailed { .. } => panic!("{failed:?}"),
            _ => {}
        }
    }
    for (tab, url) in
        [(first.id(), &*one), (second.id(), &*two), (third.id(), "about:blank"), (popup.tab_id, &*two)]
    {
        let it = &back[&tab];
        assert_eq!((it.cause, it.rung, it.url.as_str()), (Cause::BrowserLost, Rung::Browser, url));
        assert!(it.lost.contains(&Lost::JsState) && it.lost.contains(&Lost::Storage), "{:?}", it.lost);
    }
    assert_eq!(running.tabvisor.tabs().iter().filter(|row| row.url != "about:blank").count(), 3);
    let row = second.row().unwrap();
    assert!(row.generation > before.generation && row.epoch > before.epoch, "{row:?}");
    assert_eq!((row.url.as_str(), row.title.as_str()), (two.as_str(), "Two"));
    assert_eq!(int(&second.evaluate("return 6 * 7").await), 42);
    assert_eq!(int(&first.evaluate("return document.title.length").await), 3);
    // An operator can bring it back like any other.
    second.evaluate("while (true) {}").within(ms(300)).await.unwrap_err();
    let again =
        second.restart(RestartRequest { rung: Some(Rung::Renderer), url: None }, secs(10)).await.unwrap();
    assert_eq!(again.url, two);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_wants_any_more_does_not_come_back() {
    let stage = Stage::start().await;
    let running = support::start_with(|config| config.care.reopen_tabs = true).await;
    let (one, two) = (stage.page("<p>one"), stage.page("<p>two"));
    let kept = running.tabvisor.open(&one).await.unwrap();
    let closed = running.tabvisor.open(&two).await.unwrap();
    processes::signal(pid(&running), rustix::process::Signal::KILL);
    eventually("it is known", || async { (known(&kept) == "browser_lost").then_some(()) }).await;
    closed.close().await.unwrap();
    eventually("the other is back", || async { kept.row().ok().filter(|row| row.url == one) }).await;
    eventually("and usable", || async { kept.evaluate("return 1").await.ok() }).await;
    assert_eq!(known(&closed), "tab_closed");
    assert!(running.tabvisor.tabs().iter().all(|row| row.url != two), "{:?}", running.tabvisor.tabs());
    running.stop().await;
}
