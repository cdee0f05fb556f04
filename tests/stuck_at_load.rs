//! Pages that get stuck whenever they are loaded: loading them again helps nobody, and nobody does
//! so for ever.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use rustix::process::Signal;
use support::stage::Stage;
use support::{int, kind, ms, processes, raw, secs};
use tabvisor::events::{Event, Item};
use tabvisor::{Error, LastRecovery, Recovery, RestartRequest, Rung, TabError};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task;

/// The first time it is a page like any other. From then on native code, which nothing ends but the end
/// of its renderer, runs while it is loaded.
const NATIVE_AT_LOAD: &str = "<script>
    if (localStorage.opened) Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);
    localStorage.opened = 1;
</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_is_ended_and_the_rest_of_the_page_is_loaded() {
    let (stage, running) = (Stage::start().await, support::start().await);
    let page = "<script>if (sessionStorage.opened) for (;;); sessionStorage.opened = 1</script>
                <script>window.after = 7</script>";
    let tab = running.tabvisor.open(stage.page(page)).await.unwrap();
    assert_eq!(int(&tab.evaluate("window.after").await), 7);
    let before = tab.row().unwrap().generation;
    let beside = raw::beside(&running, &tab).await;
    beside.session.cast("Page.reload", serde_json::json!({}));
    let loops = || async { (tab.row().unwrap().generation > before).then_some(()) };
    support::eventually("it loops", loops).await;
    let recovered = tab.restart(RestartRequest::default(), secs(20)).await.unwrap();
    assert_eq!(recovered.rung, Rung::Terminate, "{recovered:?}");
    assert_eq!(int(&tab.evaluate("window.after").within(secs(10)).await), 7);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_not_recovered_in_time_and_usable_elsewhere() {
    let (stage, running) = (Stage::start().await, support::start().await);
    let beside = running.tabvisor.open(stage.page("beside")).await.unwrap();
    let tab = running.tabvisor.open(stage.page(NATIVE_AT_LOAD)).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    let request = RestartRequest { rung: Some(Rung::Renderer), url: None };
    let begun = tokio::time::Instant::now();
    let refused = tab.restart(request, secs(8)).await;
    assert!(begun.elapsed() < secs(10), "{:?}", begun.elapsed());
    match refused {
        Err(Error::Tab(TabError::NotRecovered { tried, .. })) => {
            assert_eq!(tried, [Rung::Renderer, Rung::Target]);
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(tab.last_recovery().unwrap(), Some(LastRecovery::Failed { .. })));
    assert_eq!(int(&beside.evaluate("1 + 1").within(secs(10)).await), 2);
    let elsewhere = RestartRequest { rung: None, url: Some(stage.page("elsewhere")) };
    let recovered = tab.restart(elsewhere, secs(20)).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2, "{recovered:?}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_policy_it_is_given_up() {
    let stage = Stage::start().await;
    let running = support::start_with(|config| config.care.recovery = Recovery::Restart).await;
    let beside = running.tabvisor.open(stage.page("beside")).await.unwrap();
    let tab = running.tabvisor.open(stage.page(NATIVE_AT_LOAD)).await.unwrap();
    assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
    let mut events = running.tabvisor.subscribe();
    let renderer = processes::renderer_of(&raw::address(&running), &tab.row().unwrap().target_id).await;
    processes::signal(renderer, Signal::KILL);
    // Only a tab that somebody wants something of is found to be stuck.
    let asking = task::spawn({
        let tab = tab.clone();
        async move {
            while kind(&tab.evaluate("1").within(secs(5)).await) != "tab_lost" {
                tokio::time::sleep(ms(50)).await;
            }
        }
    });
    let mut failed = 0;
    loop {
        let told = Budget::new(secs(90)).run(events.next()).await.expect("it is given up").unwrap();
        let Item::Event(told) = told else { continue };
        match told.event {
            Event::RecoveryFailed { tried, .. } => {
                assert_eq!(tried.last(), Some(&Rung::Target));
                failed += 1;
            }
            Event::TabLost { tab: lost, .. } => {
                assert_eq!(lost, tab.id());
                break;
            }
            Event::TabRecovered(recovered) => panic!("{recovered:?}"),
            _ => {}
        }
    }
    assert_eq!(failed, 3, "as often as it may");
    asking.join().await.unwrap();
    assert_eq!(int(&beside.evaluate("1 + 1").within(secs(10)).await), 2);
    assert_eq!(running.tabvisor.tabs().len(), 1);
    running.stop().await;
}
