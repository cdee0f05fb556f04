//! Only its own script pays: an expiry never ends anybody else's.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use support::{Pages, expiry, int, kind, ms, secs};
use tabvisor::{Error, EvaluateError, Phase, TabError};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task;

/// A loop of `ms` that leaves a trace when it comes to its end.
fn loop_for(ms: u32) -> String {
    format!(
        "const end = performance.now() + {ms}; while (performance.now() < end);
         window.done = (window.done || 0) + 1; return 'done'"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pending_promise_expires_beside_a_legitimate_loop_and_the_loop_returns_its_value() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    let pending = task::spawn({
        let tab = tab.clone();
        async move { tab.evaluate("window.started = true; return new Promise(() => {})").within(ms(300)).await }
    });
    support::eventually("the promise is pending", || async {
        tab.evaluate("window.started === true").await.unwrap().read::<bool>().unwrap().then_some(())
    })
    .await;
    let long = tab.evaluate(loop_for(1500)).within(secs(10)).await;
    let pending = expiry(pending.join().await.unwrap());
    assert_eq!(pending.phase, Phase::Pending);
    assert!(pending.still_running && !pending.terminated);
    assert!(pending.elapsed < ms(1200), "it did not wait for its neighbour: {pending:?}");
    assert_eq!(long.unwrap().read::<String>().unwrap(), "done");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_queued_behind_a_neighbour_answers_at_its_budget_and_never_starts() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    let neighbour = task::spawn({
        let tab = tab.clone();
        async move { tab.evaluate(loop_for(1500)).within(secs(10)).await }
    });
    support::eventually("the neighbour runs", || async {
        (tab.row().unwrap().queue.evaluates > 0).then_some(())
    })
    .await;
    // Calls of 100 ms until one finds the neighbour running.
    let mut attempt = 0;
    let queued = loop {
        attempt += 1;
        let answer = tab.evaluate(format!("window.sideEffect = {attempt}; return 1")).within(ms(100)).await;
        if answer.is_err() {
            break expiry(answer);
        }
        assert!(attempt < 1000, "no call met the neighbour");
    };
    assert_eq!(queued.phase, Phase::Waiting);
    assert!(!queued.terminated && !queued.still_running && !queued.page_responsive, "{queued:?}");
    assert_eq!(queued.may_start_within_ms, None);
    let neighbour = neighbour.join().await.unwrap();
    assert_eq!(neighbour.unwrap().read::<String>().unwrap(), "done");
    // Its text was in the page's queue; it refused to start.
    let last = int(&tab.evaluate("window.sideEffect || 0").await);
    assert!(last < attempt, "a call that had expired ran later");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_that_waits_says_that_it_may_still_start() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/busy")).await.unwrap();
    tab.evaluate("setTimeout(() => work(1500), 0); 1").await.unwrap();
    let budget = Budget::new(secs(20));
    let waiting = task::spawn({
        let (supervisor, id, budget) = (running.tabvisor.supervisor().clone(), tab.id(), budget.clone());
        async move { supervisor.evaluate(id, tabvisor::EvaluateRequest::new("1"), &budget).await }
    });
    support::eventually("it waits", || async { (tab.row().unwrap().queue.evaluates > 0).then_some(()) })
        .await;
    budget.cancel();
    match waiting.join().await.unwrap() {
        Err(TabError::Evaluate(EvaluateError::Aborted(expiry))) => match expiry.phase {
            Phase::Waiting => assert!(expiry.may_start_within_ms.is_some_and(|left| left > 0), "{expiry:?}"),
            // Cancelled before it was written.
            Phase::Queued => {}
            other => panic!("{other:?}"),
        },
        // Cancelled before it was written, or answered before the page was busy.
        Err(TabError::Budget { .. }) | Ok(_) => {}
        other => panic!("{other:?}"),
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_own_script_is_not_ended_by_somebodys_short_evaluate() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/busy")).await.unwrap();
    tab.evaluate("setTimeout(() => work(800), 50); 1").await.unwrap();
    let waited = support::eventually("a call meets the page's script", || async {
        let answer = tab.evaluate("1").within(ms(200)).await;
        answer.is_err().then(|| expiry(answer))
    })
    .await;
    assert_eq!(waited.phase, Phase::Waiting);
    assert!(!waited.terminated);
    let worked = tab.evaluate("window.worked").within(secs(5)).await;
    assert_eq!(int(&worked), 1, "the page's script came to its end");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_after_an_await_is_ended_once_the_page_was_silent_for_stuck_after() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    let script = "await new Promise(done => setTimeout(done, 50)); while (true) {}";
    let expired = expiry(tab.evaluate(script).within(ms(500)).await);
    assert_eq!(expired.phase, Phase::Pending);
    assert!(!expired.page_responsive && expired.still_running, "{expired:?}");
    // The next call waits for the page, and gets it within its own budget.
    let next = tab.evaluate("1 + 1").within(secs(10)).await;
    assert_eq!(int(&next), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_loops_by_itself_is_reported_and_not_ended() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/busy")).await.unwrap();
    tab.evaluate("setTimeout(() => { for (;;); }, 0); 1").await.unwrap();
    let first = tab.evaluate("1").within(ms(300)).await;
    assert!(matches!(first, Err(Error::Tab(TabError::Evaluate(_)))), "{first:?}");
    support::eventually("it is called stuck", || async {
        (tab.row().unwrap().state == tabvisor::TabState::Stuck).then_some(())
    })
    .await;
    let refused = tab.evaluate("1").within(secs(20)).await;
    assert_eq!(kind(&refused), "tab_stuck");
    tab.close().await.unwrap();
    running.stop().await;
}
