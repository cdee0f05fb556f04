//! A navigation is no success until its document is there.

use serde_json::json;
use tabvisor::{Error, NavigateError, Phase, Tab, TabError};
use tabvisor_cdp::task;
use tabvisor_page::evaluate::BlockedBy;

use super::expired;
use crate::support::raw::{self, Bare, script, silent};
use crate::support::stage::Stage;
use crate::support::{self, Pages, expiry, int, kind, ms, secs};

/// A loop that tells the stage that it has begun.
const LOOP: &str = "fetch('/signal'); for (;;);";

fn navigation<T: std::fmt::Debug>(outcome: Result<T, Error>) -> NavigateError {
    match outcome {
        Err(Error::Tab(TabError::Navigate(error))) => error,
        other => panic!("no failed navigation: {other:?}"),
    }
}

async fn href(tab: &Tab) -> String {
    tab.evaluate("location.href").within(secs(10)).await.unwrap().read().unwrap()
}

/// An address on which nobody listens.
async fn closed_port() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_load_sits_in_a_successful_reply() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let answer = page.call("Page.navigate", json!({ "url": closed_port().await })).await.unwrap();
    assert_eq!(answer["errorText"], "net::ERR_CONNECTION_REFUSED");
    let location = page.evaluate("location.href").await;
    assert!(location.as_str().unwrap().starts_with("chrome-error://"), "{location}");
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_navigation_to_a_closed_port_is_a_failure_with_its_name() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let refused = "net::ERR_CONNECTION_REFUSED";
    match navigation(tab.navigate(&closed_port().await, secs(20)).await) {
        NavigateError::Failed { net_error, .. } => assert_eq!(net_error, refused),
        other => panic!("{other:?}"),
    }
    // The tab goes on.
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    tab.navigate(&pages.url("/ok"), secs(20)).await.unwrap();
    // An opening that fails leaves no tab.
    let failed = running.tabvisor.open(closed_port().await).await;
    assert!(matches!(navigation(failed), NavigateError::Failed { net_error, .. } if net_error == refused));
    support::eventually("one tab is left", || async { (running.tabvisor.tabs().len() == 1).then_some(()) })
        .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_content_and_a_download_leave_the_page_and_say_so() {
    let (pages, stage) = (Pages::start().await, Stage::start().await);
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("window.here = 'still'").await.unwrap();
    let attachment =
        [("content-disposition", "attachment; filename=a.bin"), ("content-type", "application/octet-stream")];
    for (url, is_download) in [(pages.url("/204"), false), (stage.page_with(&attachment, "bytes"), true)] {
        match navigation(tab.navigate(&url, secs(20)).await) {
            NavigateError::NoDocument { download } => assert_eq!(download, is_download),
            other => panic!("{url}: {other:?}"),
        }
        assert_eq!(href(&tab).await, pages.url("/ok"));
        assert_eq!(tab.row().unwrap().url, pages.url("/ok"));
        assert_eq!(tab.evaluate("window.here").await.unwrap().read::<String>().unwrap(), "still");
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_same_site_navigation_of_a_looping_page_is_answered_does_nothing_and_takes_termination_away() {
    let (stage, bare) = (Stage::start().await, Bare::start().await);
    let page = bare.page(&stage.page("")).await;
    let before = bare.attach(&page.target).await;
    assert_eq!(before.evaluate("1").await, 1);
    page.session.cast("Runtime.evaluate", script(LOOP));
    stage.signalled(1).await;
    let answer = before.call("Page.navigate", json!({ "url": stage.page("") })).await.unwrap();
    assert!(answer.get("errorText").is_none() && answer["loaderId"].is_string(), "{answer}");
    let mut alive = before.send("Runtime.evaluate", script("1")).await;
    assert!(silent(&mut alive).await, "the navigation freed the page");
    let mut end = before.send("Runtime.terminateExecution", json!({})).await;
    assert!(silent(&mut end).await, "termination still works after it");
    // What always works.
    let close = json!({ "targetId": page.target });
    raw::call(&bare.browser.root(), "Target.closeTarget", close).await.unwrap();
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_navigation_of_a_looping_page_claims_no_success_and_close_works() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let looping =
        stage.page("<script>window.go = () => setTimeout(() => { fetch('/signal'); for (;;); })</script>");
    let tab = running.tabvisor.open(looping).await.unwrap();
    tab.evaluate("go()").await.unwrap();
    stage.signalled(1).await;
    match navigation(tab.navigate(&stage.page("elsewhere"), secs(1)).await) {
        NavigateError::TimedOut { committed, .. } => assert!(!committed),
        other => panic!("{other:?}"),
    }
    let still = tab.evaluate("1").within(ms(500)).await;
    assert!(still.is_err(), "{still:?}");
    tab.close().await.unwrap();
    assert_eq!(kind(&tab.evaluate("1").await), "tab_closed");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_loop_still_ends_in_its_budget_when_the_tab_is_navigated_meanwhile() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(stage.page("")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    let looping = task::spawn(tab.evaluate(LOOP).within(secs(2)).into_future());
    stage.signalled(1).await;
    let elsewhere = stage.page("elsewhere");
    let landed = tab.navigate(&elsewhere, secs(10)).await;
    assert_eq!(landed.unwrap().url, elsewhere);
    // Its document went away under it; the loop ended by its own timeout, termination was gone.
    let looping = looping.join().await.unwrap();
    assert!(matches!(kind(&looping), "navigated" | "timeout"), "{looping:?}");
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_navigation_that_timed_out_uncommitted_does_not_happen_later() {
    let stage = Stage::start().await;
    let running = support::start().await;
    let here = stage.page("");
    let tab = running.tabvisor.open(&here).await.unwrap();
    tab.evaluate("1").await.unwrap();
    let looping = task::spawn(tab.evaluate(LOOP).within(secs(3)).into_future());
    stage.signalled(1).await;
    match navigation(tab.navigate(&stage.page("elsewhere"), secs(1)).await) {
        NavigateError::TimedOut { committed, .. } => assert!(!committed),
        other => panic!("{other:?}"),
    }
    // The loop has its own answer, and the page is free after it.
    expiry(looping.join().await.unwrap());
    support::eventually("the page is free", || async { tab.evaluate("1").await.ok() }).await;
    assert_eq!(href(&tab).await, here);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_answered_during_a_pending_navigation_until_it_is_stopped() {
    let (pages, bare) = (Pages::start().await, Bare::start().await);
    let page = bare.page(&pages.url("/ok")).await;
    let other = bare.attach(&page.target).await;
    assert_eq!(other.evaluate("1").await, 1);
    page.session.cast("Page.navigate", json!({ "url": pages.url("/never") }));
    pages.never_asked.notified().await;
    let mut waiting = other.send("Runtime.evaluate", script("location.pathname")).await;
    assert!(silent(&mut waiting).await, "evaluates are answered during a navigation");
    page.call("Page.stopLoading", json!({})).await.unwrap();
    let answer = waiting.await.unwrap();
    assert!(answer.get().contains("/ok"), "{answer}");
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_evaluate_during_a_pending_navigation_answers_at_its_own_budget_and_the_tab_comes_back() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    let navigating = task::spawn({
        let (tab, url) = (tab.clone(), pages.url("/never"));
        async move { tab.navigate(&url, secs(3)).await }
    });
    pages.never_asked.notified().await;
    if let Some(waited) = expired(tab.evaluate("1").within(secs(1)).await) {
        assert_eq!(waited.phase, Phase::Waiting);
        assert!(!waited.terminated && !waited.page_responsive && !waited.still_running, "{waited:?}");
    }
    match navigation(navigating.join().await.unwrap()) {
        NavigateError::TimedOut { committed, .. } => assert!(!committed),
        other => panic!("{other:?}"),
    }
    support::eventually("it answers again", || async { tab.evaluate("1").await.ok() }).await;
    assert_eq!(href(&tab).await, pages.url("/ok"));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pending_navigation_is_not_blamed_on_a_script_and_does_not_outlive_itself() {
    let pages = Pages::start().await;
    let running = support::start().await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("1").await.unwrap();
    let navigating = task::spawn({
        let (tab, url) = (tab.clone(), pages.url("/never"));
        async move { tab.navigate(&url, secs(3)).await }
    });
    pages.never_asked.notified().await;
    let waited = expiry(tab.evaluate("1").within(secs(1)).await);
    assert_ne!(waited.blocked_by, Some(BlockedBy::Script), "nothing runs there: {waited:?}");
    navigation(navigating.join().await.unwrap());
    // It was stopped before it was answered, so the next call finds the page free.
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
    running.stop().await;
}
