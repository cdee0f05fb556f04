//! Dropping the caller's future ends the script in the page and frees its link.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::time::Duration;

use support::{Pages, int, ms, secs};
use tabvisor::Tab;
use tabvisor_cdp::budget::Budget;

async fn counter(tab: &Tab) -> i64 {
    int(&tab.evaluate("window.count || 0").within(secs(10)).await)
}

/// Drops the future of `script` after a moment.
async fn dropped_after(tab: &Tab, script: &str, moment: Duration) {
    let call = tab.evaluate(script).within(secs(60)).into_future();
    let cut = Budget::new(moment).run(call).await;
    assert!(cut.is_err(), "the script outlives the moment");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_loop_is_ended_and_the_tab_is_usable() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    dropped_after(&tab, "while (true) { window.count = (window.count || 0) + 1 }", ms(200)).await;
    let first = counter(&tab).await;
    assert!(first > 0);
    assert_eq!(counter(&tab).await, first, "it counts on");
    support::eventually("its place is free", || async {
        (tab.row().unwrap().queue.evaluates == 0).then_some(())
    })
    .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_dropped_loops_leave_nothing_in_flight() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    for _ in 0..20 {
        dropped_after(&tab, "while (true) {}", ms(30)).await;
    }
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
    support::eventually("all places are free", || async {
        (tab.row().unwrap().queue.evaluates == 0).then_some(())
    })
    .await;
    running.stop().await;
}
