//! Who can end a script, and how that is told.

use serde_json::json;
use tabvisor::{Error, EvaluateError, Phase, TabError, TabState};
use tabvisor_page::evaluate::BlockedBy;

use super::expired;
use crate::support::raw::{self, Bare, Raw, refusal, script, silent};
use crate::support::stage::Stage;
use crate::support::{self, Running, secs};

/// A loop that tells the stage that it has begun.
const LOOP: &str = "fetch('/signal'); for (;;);";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_attached_after_a_loop_began_cannot_end_it_and_one_attached_before_can() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let starter = bare.page(&stage.page("")).await;
    let before = bare.attach(&starter.target).await;
    assert_eq!(before.evaluate("1").await, 1);
    let looping = starter.send("Runtime.evaluate", script(LOOP)).await;
    stage.signalled(1).await;
    let after = bare.attach(&starter.target).await;
    let mut late = after.send("Runtime.terminateExecution", json!({})).await;
    assert!(silent(&mut late).await, "a late session can end scripts: no need for spare links");
    before.call("Runtime.terminateExecution", json!({})).await.unwrap();
    assert_eq!(refusal(looping.await), (-32000, "Execution was terminated".into()));
    // It was queued, not refused, and runs now.
    late.await.unwrap();
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_loops_by_itself_is_known_to_be_held_by_a_script_thanks_to_the_spare_link() {
    let stage = Stage::start().await;
    let running = support::start().await;
    // On a busy machine it may not be known in time.
    support::eventually("a script is named", || async {
        (what_holds_a_looping_page(&running, &stage).await == BlockedBy::Script).then_some(())
    })
    .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_spare_link_a_call_cannot_know_what_holds_a_looping_page() {
    let stage = Stage::start().await;
    let running = support::start_with(|config| config.limits.spare_links = 0).await;
    for _ in 0..2 {
        assert_eq!(what_holds_a_looping_page(&running, &stage).await, BlockedBy::Unknown);
    }
    running.stop().await;
}

async fn what_holds_a_looping_page(running: &Running, stage: &Stage) -> BlockedBy {
    let page = "<script>window.go = () => setTimeout(() => { fetch('/signal'); for (;;); })</script>";
    let tab = running.tabvisor.open(stage.page(page)).await.unwrap();
    let signals = stage.signals();
    tab.evaluate("go()").await.unwrap();
    stage.signalled(signals + 1).await;
    let waited = expired(tab.evaluate("1").within(secs(2)).await);
    if let Some(waited) = &waited {
        assert_eq!(waited.phase, Phase::Waiting);
        assert!(!waited.terminated && !waited.page_responsive, "{waited:?}");
    }
    if waited.is_some() {
        support::eventually("it is called stuck", || async {
            (tab.row().unwrap().state == TabState::Stuck).then_some(())
        })
        .await;
    }
    tab.close().await.unwrap();
    waited.map_or(BlockedBy::Unknown, |waited| waited.blocked_by.expect("a reason"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_ends_its_own_loop_and_a_termination_whatever_runs() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let other = bare.attach(&page.target).await;
    let neighbour =
        "fetch('/signal'); const end = performance.now() + 900; while (performance.now() < end); 'done'";
    // The timeout counts from the start of its own script, so the neighbour is no business of its.
    let long = page.send("Runtime.evaluate", script(&format!("{{ {neighbour} }}"))).await;
    stage.signalled(1).await;
    let own = other.send("Runtime.evaluate", json!({ "expression": "for (;;);", "timeout": 100 })).await;
    assert_eq!(raw::value(read(long.await)), "done");
    assert_eq!(refusal(own.await), (-32000, "Execution was terminated".into()));
    assert_eq!(page.evaluate("1").await, 1);
    // A termination hits what runs, whoever asked for either.
    let long = page.send("Runtime.evaluate", script(&format!("{{ {neighbour} }}"))).await;
    stage.signalled(2).await;
    other.call("Runtime.terminateExecution", json!({})).await.unwrap();
    assert_eq!(refusal(long.await), (-32000, "Execution was terminated".into()));
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_is_an_internal_error_where_a_promise_is_awaited() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let other = bare.attach(&page.target).await;
    assert_eq!(other.evaluate("1").await, 1);
    let internal = (-32603, "Internal error".to_owned());
    let awaited =
        |expression: &str| json!({ "expression": expression, "awaitPromise": true, "timeout": 20_000 });
    let by_termination = page.send("Runtime.evaluate", awaited(LOOP)).await;
    stage.signalled(1).await;
    other.call("Runtime.terminateExecution", json!({})).await.unwrap();
    assert_eq!(refusal(by_termination.await), internal);
    let by_timeout = json!({ "expression": "for (;;);", "awaitPromise": true, "timeout": 100 });
    assert_eq!(refusal(page.call("Runtime.evaluate", by_timeout).await), internal);
    bare.stop().await;
}

/// Loops in the first continuation of an async function.
const MICROTASK_LOOP: &str = "(async () => { await null; for (;;); })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_in_a_microtask_is_ended_by_the_timeout_but_never_answered() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let params = json!({ "expression": MICROTASK_LOOP, "awaitPromise": true, "timeout": 200 });
    let mut ended = page.send("Runtime.evaluate", params).await;
    // Answered behind it, on the same session: it is over.
    assert_eq!(page.evaluate("1").await, 1);
    assert!(silent(&mut ended).await, "it is answered: the second marker is not needed any more");
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_answer_says_that_a_loop_in_a_microtask_was_ended() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(stage.page("")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    // On a busy machine the end may be heard of after the answer.
    support::eventually("its end is heard of in time", || async {
        match tab.evaluate(MICROTASK_LOOP).within(secs(1)).await {
            Err(Error::Tab(TabError::Evaluate(EvaluateError::TimedOut(ended)))) => {
                (ended.terminated && ended.page_responsive && !ended.still_running).then_some(())
            }
            Ok(value) => panic!("{value:?}"),
            Err(_) => None,
        }
    })
    .await;
    support::eventually("the page is free", || async { tab.evaluate("1").await.ok() }).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_answered_during_a_loop_and_not_during_a_synchronous_request() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let probe = bare.attach(&page.target).await;
    assert_eq!(probe.evaluate("1").await, 1);
    let looping = page.send("Runtime.evaluate", script(LOOP)).await;
    stage.signalled(1).await;
    probe.call("Performance.getMetrics", json!({})).await.unwrap();
    probe.call("Runtime.terminateExecution", json!({})).await.unwrap();
    refusal(looping.await);
    sync_request(&stage, &page, 2).await;
    let mut metrics = probe.send("Performance.getMetrics", json!({})).await;
    assert!(silent(&mut metrics).await, "the probe does not tell loops from requests any more");
    let mut end = probe.send("Runtime.terminateExecution", json!({})).await;
    assert!(silent(&mut end).await, "a termination reaches a synchronous request");
    bare.stop().await;
}

/// Leaves `page` in a synchronous request that is never answered.
async fn sync_request(stage: &Stage, page: &Raw, signals: usize) {
    let text = "const x = new XMLHttpRequest(); x.open('GET', '/signal-and-never', false); x.send()";
    page.session.cast("Runtime.evaluate", script(text));
    stage.signalled(signals).await;
}

fn read(
    answer: Result<Box<serde_json::value::RawValue>, tabvisor_cdp::error::CdpError>,
) -> Result<serde_json::Value, tabvisor_cdp::error::CdpError> {
    answer.map(|raw| serde_json::from_str(raw.get()).unwrap())
}
