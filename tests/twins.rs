//! Two tabs that show the same address: whatever happens to one of them, a tab is never taken for the other.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use rustix::process::Signal;
use support::{Pages, Running, kind, processes, secs};
use tabvisor::{Tab, TabState};

async fn mark(tab: &Tab, as_what: &str) {
    tab.evaluate(format!("window.mark = '{as_what}'")).await.unwrap();
}

async fn marked(tab: &Tab) -> Option<String> {
    tab.evaluate("window.mark ?? null").within(secs(10)).await.unwrap().read().unwrap()
}

async fn renderer(running: &Running, tab: &Tab) -> u32 {
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    processes::renderer_of(&browser.ws_url, &tab.row().unwrap().target_id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_changes_its_renderer_is_not_taken_for_its_twin() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let (here, elsewhere) = (pages.url("/ok"), pages.url("/ok").replace("127.0.0.1", "localhost"));
    let one = running.tabvisor.open(here.as_str()).await.unwrap();
    let twin = running.tabvisor.open(here.as_str()).await.unwrap();
    mark(&one, "one").await;
    mark(&twin, "twin").await;
    let names = [one.row().unwrap(), twin.row().unwrap()].map(|row| (row.tab_id, row.target_id));

    // Another site has another renderer, and so has the way back.
    let before = renderer(&running, &one).await;
    one.navigate(&elsewhere, secs(20)).await.unwrap();
    assert_ne!(renderer(&running, &one).await, before, "the test needs a swap");
    mark(&one, "elsewhere").await;
    one.navigate(&here, secs(20)).await.unwrap();
    assert_eq!((marked(&one).await, marked(&twin).await.as_deref()), (None, Some("twin")));

    // A renderer that died is replaced by the next navigation.
    mark(&one, "again").await;
    processes::signal(renderer(&running, &one).await, Signal::KILL);
    support::eventually("the row says crashed", || async {
        (one.row().unwrap().state == TabState::Crashed).then_some(())
    })
    .await;
    assert_eq!(kind(&one.evaluate("window.mark").await), "crashed");
    assert_eq!(marked(&twin).await.as_deref(), Some("twin"));
    one.navigate(&here, secs(20)).await.unwrap();
    assert_eq!((marked(&one).await, marked(&twin).await.as_deref()), (None, Some("twin")));

    let rows = [one.row().unwrap(), twin.row().unwrap()];
    assert_eq!(rows.each_ref().map(|row| row.url.as_str()), [here.as_str(); 2]);
    assert_eq!(rows.map(|row| (row.tab_id, row.target_id)), names);

    // Nor is the one that is gone answered by the one that is left.
    one.close().await.unwrap();
    assert_eq!(kind(&one.evaluate("window.mark").await), "tab_closed");
    assert_eq!(marked(&twin).await.as_deref(), Some("twin"));
    running.stop().await;
}
