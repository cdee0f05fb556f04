//! A page that a navigation brings back: who hears of it, and what a session attached then is worth.

use rustix::process::Signal;
use serde_json::json;

use crate::support::processes;
use crate::support::raw::{self, Bare, silent};
use crate::support::stage::Stage;

const RELOADED: &[&str] = &["Inspector.targetReloadedAfterCrash"];
const COMMITTED: &[&str] = &["Page.frameNavigated"];

/// When the late session is attached.
#[derive(Clone, Copy, Debug)]
enum When {
    Dead,
    Navigating,
    Reloaded,
    Committed,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_from_before_answers_after_a_revival_and_one_from_around_it_or_else_the_next_does() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    for when in [When::Dead, When::Navigating, When::Reloaded, When::Committed].repeat(3) {
        let page = bare.page(&stage.page("")).await;
        page.call("Page.enable", json!({})).await.unwrap();
        let mut crashed = page.session.subscribe(&["Inspector.targetCrashed"], 16);
        let mut reloaded = page.session.subscribe(RELOADED, 16);
        let mut committed = page.session.subscribe(COMMITTED, 16);
        page.session.cast("Page.crash", json!({}));
        raw::next(&mut crashed).await;
        let dead = if matches!(when, When::Dead) { Some(bare.attach(&page.target).await) } else { None };
        page.session.cast("Page.navigate", json!({ "url": stage.page("") }));
        match when {
            When::Reloaded => drop(raw::next(&mut reloaded).await),
            When::Committed => drop(raw::next(&mut committed).await),
            When::Dead | When::Navigating => {}
        }
        let late = match dead {
            Some(late) => late,
            None => bare.attach(&page.target).await,
        };
        let mut answer = late.send("Runtime.evaluate", raw::script("1")).await;
        if silent(&mut answer).await {
            assert_eq!(bare.attach(&page.target).await.evaluate("1").await, 1);
        }
        assert_eq!(page.evaluate("1").await, 1, "{when:?}");
    }
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_of_a_page_whose_renderer_is_stopped_does_not_begin_and_of_another_page_it_does() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let (page, other) = (bare.page(&stage.page("")).await, bare.page(&stage.page("")).await);
    let pid = processes::renderer_of(bare.address(), &page.target).await;
    assert_ne!(processes::renderer_of(bare.address(), &other.target).await, pid);
    processes::signal(pid, Signal::STOP);
    let mut complete = other.session.subscribe(&["Tracing.tracingComplete"], 16);
    let config =
        json!({ "traceConfig": { "includedCategories": ["disabled-by-default-devtools.timeline"] } });
    other.call("Tracing.start", config.clone()).await.unwrap();
    other.call("Tracing.end", json!({})).await.unwrap();
    raw::next(&mut complete).await;
    // Ten seconds later it does, measured; nobody has that much time.
    let mut started = page.send("Tracing.start", config).await;
    assert!(silent(&mut started).await, "it begins although the renderer is stopped");
    processes::signal(pid, Signal::CONT);
    bare.stop().await;
}
