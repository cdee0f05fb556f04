//! A dead renderer answers nothing by itself; a navigation brings its page back.

use serde_json::json;
use tabvisor::events::Event;
use tabvisor::{TabState, Tabvisor};
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::task;

use super::heard;
use crate::support::raw::{self, Bare, silent};
use crate::support::stage::Stage;
use crate::support::{self, int, kind, secs};

const CRASHED: &[&str] = &["Inspector.targetCrashed"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_pending_at_a_crash_are_answered_only_by_the_next_navigation() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let other = bare.attach(&page.target).await;
    assert_eq!(other.evaluate("1").await, 1);
    let never = json!({ "expression": "new Promise(() => {})", "awaitPromise": true });
    let pending = page.send("Runtime.evaluate", never).await;
    assert_eq!(page.evaluate("1").await, 1);
    // Never answered itself, so nobody waits for it.
    let mut crash = other.send("Page.crash", json!({})).await;
    // Our links settle what was pending; an answer of Chromium's would be counted as late.
    assert_eq!(pending.await.unwrap_err(), CdpError::Crashed);
    assert_eq!((&mut crash).await.unwrap_err(), CdpError::Crashed);
    let mut after = page.send("Runtime.evaluate", raw::script("1")).await;
    assert!(silent(&mut after).await, "a dead renderer answers");
    assert_eq!((page.link.counts().late, other.link.counts().late), (0, 0), "Chromium answers by itself now");
    let url = stage.page("revived");
    page.call("Page.navigate", json!({ "url": url })).await.unwrap();
    support::eventually("the navigation answers them", || async {
        (page.link.counts().late > 0).then_some(())
    })
    .await;
    let late = after.await;
    assert!(late.is_err(), "{late:?}");
    assert_eq!(page.evaluate("location.href").await, url);
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_is_told_to_a_later_session_only_once_it_enables_inspector() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let mut crashed = page.session.subscribe(CRASHED, 16);
    page.session.cast("Page.crash", json!({}));
    raw::next(&mut crashed).await;
    let late = bare.attach(&page.target).await;
    let mut told = late.session.subscribe(CRASHED, 16);
    assert!(silent(&mut Box::pin(told.next())).await, "a late session is told without asking");
    late.session.cast("Inspector.enable", json!({}));
    raw::next(&mut told).await;
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_session_enables_on_a_dead_renderer_is_not_on_after_its_revival_but_dialogs_are_told() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let mut crashed = page.session.subscribe(CRASHED, 16);
    page.session.cast("Page.crash", json!({}));
    raw::next(&mut crashed).await;
    let late = bare.attach(&page.target).await;
    let mut revived = late.session.subscribe(&["Inspector.targetReloadedAfterCrash"], 16);
    let mut told = late.session.subscribe(&["Page.frameNavigated", "Page.javascriptDialogOpening"], 16);
    late.session.cast("Inspector.enable", json!({}));
    late.session.cast("Page.enable", json!({}));
    let alerting = stage.page("<script>alert('first words')</script>");
    late.session.cast("Page.navigate", json!({ "url": alerting }));
    raw::next(&mut revived).await;
    // The commit comes before the page's first script, and its event would.
    assert_eq!(&*raw::next(&mut told).await.method, "Page.javascriptDialogOpening");
    late.call("Page.handleJavaScriptDialog", json!({ "accept": true })).await.unwrap();
    // So it has to be enabled again.
    late.call("Page.enable", json!({})).await.unwrap();
    late.call("Page.navigate", json!({ "url": stage.page("") })).await.unwrap();
    assert_eq!(&*raw::next(&mut told).await.method, "Page.frameNavigated");
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_had_crashed_before_we_came_says_so_and_a_navigation_revives_it() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let mut crashed = page.session.subscribe(CRASHED, 16);
    page.session.cast("Page.crash", json!({}));
    raw::next(&mut crashed).await;
    let state = tempfile::TempDir::new().unwrap();
    let mut config = support::config(&state);
    config.browser.cdp_url = Some(bare.address().as_str().into());
    let tabvisor = Tabvisor::start(config).await.unwrap();
    let id = support::eventually("its row says so", || async {
        tabvisor.tabs().iter().find(|row| row.state == TabState::Discarded).map(|row| row.tab_id)
    })
    .await;
    let tab = tabvisor.tab(id).unwrap();
    assert_eq!(kind(&tab.evaluate("1").within(secs(100)).await), "crashed");
    tab.navigate(&stage.page(""), secs(20)).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    tabvisor.stop().await;
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_calls_pending_at_a_crash_are_answered_and_a_navigation_revives_the_tab() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(stage.page("")).await.unwrap();
    let mut events = running.tabvisor.subscribe();
    let pending: Vec<_> = (0..3)
        .map(|_| {
            let call = tab
                .evaluate("fetch('/signal'); return new Promise(() => {})")
                .within(secs(100))
                .into_future();
            task::spawn(call)
        })
        .collect();
    stage.signalled(3).await;
    let beside = raw::beside(&running, &tab).await;
    beside.session.cast("Page.crash", json!({}));
    for call in pending {
        assert_eq!(kind(&call.join().await.unwrap()), "crashed");
    }
    heard(&mut events, |event| matches!(event, Event::TabCrashed { .. }).then_some(())).await;
    assert_eq!(tab.row().unwrap().state, TabState::Crashed);
    assert_eq!(kind(&tab.evaluate("1").within(secs(100)).await), "crashed", "at once");
    tab.navigate(&stage.page(""), secs(20)).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    assert_eq!(tab.row().unwrap().restarts, 0);
    running.stop().await;
}
