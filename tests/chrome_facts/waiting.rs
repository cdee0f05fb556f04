//! A script that waits behind a busy page runs later, whatever became of its sender; only a check
//! at its own head keeps it from starting.

use serde_json::json;
use tabvisor::{Phase, Tab};
use tabvisor_cdp::task::{self, Task};

use super::expired;
use crate::support::raw::{self, Bare, script};
use crate::support::stage::Stage;
use crate::support::{self, int, ms, secs};

/// Holds the page for a while and says when it begins.
const BUSY: &str =
    "{ fetch('/signal'); const end = performance.now() + 1500; while (performance.now() < end); }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_script_runs_although_its_session_was_detached_and_its_socket_closed() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let [detached, closed] = [bare.attach(&page.target).await, bare.attach(&page.target).await];
    for session in [&detached, &closed] {
        assert_eq!(session.evaluate("1").await, 1);
    }
    let busy = page.send("Runtime.evaluate", script(BUSY)).await;
    stage.signalled(1).await;
    let late = [
        detached.send("Runtime.evaluate", script("window.ofDetached = true")).await,
        closed.send("Runtime.evaluate", script("window.ofClosed = true")).await,
    ];
    // Chromium has read both: it has answered what was written after them.
    for link in [&detached.link, &closed.link] {
        raw::call(&link.root(), "Browser.getVersion", json!({})).await.unwrap();
    }
    drop(late);
    let id = detached.session.id().unwrap();
    raw::call(&detached.link.root(), "Target.detachFromTarget", json!({ "sessionId": id })).await.unwrap();
    drop(closed);
    busy.await.unwrap();
    assert_eq!(page.evaluate("[window.ofDetached, window.ofClosed]").await, json!([true, true]));
    bare.stop().await;
}

/// Lets an evaluate expire while it waits, and says whether it ran all the same; `None` where a
/// busy machine did not let it come to that.
async fn ran_after_its_deadline(stage: &Stage, tab: &Tab) -> Option<bool> {
    let signals = stage.signals();
    let neighbour: Task<_> = task::spawn({
        let call = tab.evaluate(BUSY).within(secs(20)).into_future();
        async move { call.await.unwrap() }
    });
    stage.signalled(signals + 1).await;
    let waited = expired(tab.evaluate("window.late = true").within(ms(600)).await);
    neighbour.join().await.expect("the neighbour came to its end");
    // It may have been called stuck, which is taken back a moment after it answers again.
    let late = support::eventually("the page is free", || async {
        tab.evaluate("'late' in window").within(secs(10)).await.ok()
    });
    let late = late.await.read().unwrap();
    (waited?.phase == Phase::Waiting).then_some(late)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_evaluate_never_starts_after_its_deadline() {
    guarded_on("").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guard_holds_on_a_page_whose_fake_clocks_stand_in_the_past() {
    guarded_on("<script>Date.now = () => 0; performance.now = () => 0;</script>").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guard_holds_on_a_page_whose_fake_clocks_stand_in_the_future() {
    guarded_on("<script>Date.now = () => 4e12; performance.now = () => 4e12;</script>").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guard_holds_on_a_page_that_replaced_performance() {
    guarded_on("<script>Object.defineProperty(window, 'performance', { value: { now: () => 0 } })</script>")
        .await;
}

async fn guarded_on(html: &str) {
    let stage = Stage::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(stage.page(html)).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    // The loop needs a clock that goes.
    tab.evaluate("performance.now = () => new Event('').timeStamp").await.unwrap();
    let ran = support::eventually("it waits", || ran_after_its_deadline(&stage, &tab)).await;
    assert!(!ran, "it ran after its deadline");
    running.stop().await;
}
