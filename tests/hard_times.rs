//! A machine in trouble: processes that are stopped, no memory, no disk, no descriptors. What is
//! asked meanwhile is answered by name, and afterwards everything works again.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use rustix::process::Signal;
use serde_json::json;
use support::service::{Home, rounds};
use support::{Pages, int, kind, ms, processes, raw, secs};
use tabvisor::events::{Event, Item};
use tabvisor::{RestartRequest, Rung, TabState};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task;
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_browser_is_given_up_and_another_one_takes_its_place() {
    let (pages, running) = (Pages::start().await, support::start().await);
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let facts = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    let old = facts.pid.unwrap();
    let profile =
        std::fs::read_dir(running.state.path().join("profiles")).unwrap().next().unwrap().unwrap().path();
    let waits = task::spawn(tab.evaluate("new Promise(() => {})").within(secs(60)).into_future());
    support::eventually("it is in flight", || async {
        (tab.row().unwrap().queue.evaluates == 1).then_some(())
    })
    .await;
    processes::signal(old, Signal::STOP);
    let begun = Instant::now();
    let short = tab.evaluate("1 + 1").within(ms(500)).await;
    assert!(begun.elapsed() < secs(3) && short.is_err(), "{short:?}");
    assert_eq!(kind(&waits.join().await.unwrap()), "browser_lost");
    let works = support::eventually("another one works", || async {
        let facts = running.tabvisor.supervisor().browser(running.tabvisor.browser())?;
        (facts.pid != Some(old)).then_some(facts)
    })
    .await;
    assert_ne!(works.ws_url, facts.ws_url);
    support::eventually("nothing is left of the old one", || async {
        (processes::naming(&profile).is_empty() && !profile.exists()).then_some(())
    })
    .await;
    let again = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    assert_eq!(int(&again.evaluate("1 + 1").await), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_waits_for_a_browser_that_hangs_and_leaves_nothing_of_it() {
    let running = support::start_with(|config| config.browser.stop_grace_ms = 9_000).await;
    let facts = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    processes::signal(facts.pid.unwrap(), Signal::STOP);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_renderer_is_named_at_once_and_usable_when_it_goes_on() {
    let (pages, running) = (Pages::start().await, support::start().await);
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let beside = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    tab.evaluate("window.kept = 7").await.unwrap();
    let pid = processes::renderer_of(&raw::address(&running), &tab.row().unwrap().target_id).await;
    processes::signal(pid, Signal::STOP);
    assert_eq!(kind(&tab.evaluate("1 + 1").within(ms(500)).await), "timeout");
    support::eventually("it is called stuck", || async {
        (tab.row().unwrap().state == TabState::Stuck).then_some(())
    })
    .await;
    assert_eq!(kind(&tab.evaluate("1 + 1").within(secs(20)).await), "tab_stuck");
    assert_eq!(int(&beside.evaluate("1 + 1").within(secs(10)).await), 2);
    processes::signal(pid, Signal::CONT);
    support::eventually("it answers", || async { tab.evaluate("1 + 1").within(secs(5)).await.ok() }).await;
    assert_eq!(int(&tab.evaluate("window.kept").within(secs(10)).await), 7, "nothing was lost");
    running.stop().await;
}

/// Its heap is full within seconds.
const GROW: &str = "const all = []; for (;;) all.push(new Array(10000).fill(all.length + 0.5))";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renderer_without_memory_is_a_crash_that_is_told_once_and_costs_nobody_else() {
    let pages = Pages::start().await;
    let running = support::start_with(|config| {
        config.browser.args.push("--js-flags=--max-old-space-size=40".into());
    })
    .await;
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let beside = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let mut events = running.tabvisor.subscribe();
    let waits = task::spawn(tab.evaluate("new Promise(() => {})").within(secs(60)).into_future());
    support::eventually("it is in flight", || async {
        (tab.row().unwrap().queue.evaluates == 1).then_some(())
    })
    .await;
    assert_eq!(kind(&tab.evaluate(GROW).within(secs(60)).await), "crashed");
    assert_eq!(kind(&waits.join().await.unwrap()), "crashed");
    assert_eq!(kind(&tab.evaluate("1").within(secs(60)).await), "crashed", "at once");
    assert_eq!(kind(&tab.pdf(secs(60)).await), "crashed", "an action, too");
    assert_eq!(int(&beside.evaluate("1 + 1").within(secs(10)).await), 2);
    let recovered = tab.restart(RestartRequest::default(), secs(20)).await.unwrap();
    assert_eq!(recovered.rung, Rung::Renderer);
    assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
    let mut crashes = 0;
    while let Ok(Some(told)) = Budget::new(ms(10)).run(events.next()).await {
        crashes +=
            usize::from(matches!(told, Item::Event(it) if matches!(it.event, Event::TabCrashed { .. })));
    }
    assert_eq!(crashes, 1);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_is_one_event_one_count_and_a_state() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let tab = service.http.open(&pages.url("/ok")).await;
    let count = async |metric: &str| {
        let text = service.http.get("/metrics").await.text;
        let line = text.lines().find_map(|line| line.strip_prefix(metric).map(str::to_owned));
        line.map_or(0, |value| value.trim().parse::<u64>().unwrap())
    };
    let crashes = "tabvisor_crashes_total{what=\"renderer\"}";
    assert_eq!(count(crashes).await, 0);
    let chromium = service.chromium().unwrap();
    for round in 1..=2 {
        for pid in processes::naming(&home.state()) {
            let line = support::service::command_line(pid);
            if pid != chromium && line.contains("--type=renderer") {
                let _ = rustix::process::kill_process(support::service::raw(pid), Signal::KILL);
            }
        }
        support::eventually("it has crashed", || async {
            (service.http.row(&tab).await["state"] == "crashed").then_some(())
        })
        .await;
        assert_eq!(count(crashes).await, round);
        let refused = service.http.evaluate(&tab, "1").await;
        assert_eq!(refused["reason"], "crashed", "{refused:?}");
        let restarted = service.http.send(&format!("POST /tabs/{tab}/restart"), "").await;
        assert_eq!((restarted.status, &restarted["rung"]), (200, &json!("renderer")), "{restarted:?}");
        assert_eq!(service.http.evaluate_within(&tab, "1 + 1", 20_000).await["result"], 2);
        assert_eq!(count(crashes).await, round, "a recovery is no crash");
    }
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_named_before_anybody_is_let_in() {
    let home = Home::new().with("TABVISOR_BUDGETS__START_MS", "10000");
    for size in ["4k", "64k"] {
        let Some(ran) = home.run_on_disk_of(size, &["serve", "--listen", "127.0.0.1:0"]).await else {
            return;
        };
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.err.contains("No space left on device") || ran.err.contains("its disk is full"),
            "{ran:?}"
        );
        assert_eq!(ran.out, "", "{ran:?}");
    }
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_descriptors_calls_are_refused_and_with_them_served_again() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let tab = service.http.open(&pages.url("/ok")).await;
    assert_eq!(service.http.evaluate(&tab, "1 + 1").await["result"], 2);
    let settled = async || {
        support::eventually("no link is being made", || async {
            let before = processes::next_file(service.pid);
            tokio::time::sleep(ms(100)).await;
            (processes::next_file(service.pid) == before).then_some(before)
        })
        .await
    };
    let next = settled().await;
    // One for whoever calls, none for a link.
    let before = processes::limit_open_files(service.pid, Some(next + 1));
    for _ in 0..3 {
        let refused = service.http.try_open(json!({ "url": pages.url("/ok"), "timeoutMs": 10_000 })).await;
        assert!(refused.status >= 400 && refused["reason"].is_string(), "{refused:?}");
        // What has its links goes on.
        assert_eq!(service.http.evaluate(&tab, "1 + 1").await["result"], 2);
    }
    // Not even one for whoever calls: they wait.
    // What was refused may hold one a moment longer.
    support::eventually("the refused tabs are gone", || async {
        (service.http.tabs().await.len() == 1).then_some(())
    })
    .await;
    processes::limit_open_files(service.pid, Some(settled().await));
    let waits = service.http.evaluating(&tab, "2 + 2", 20_000);
    tokio::time::sleep(ms(300)).await;
    assert!(!waits.is_finished());
    processes::limit_open_files(service.pid, before);
    assert_eq!(waits.join().await.unwrap()["result"], 4);
    let again = service.http.open(&pages.url("/ok")).await;
    assert_eq!(service.http.evaluate(&again, "1 + 1").await["result"], 2);
    assert_eq!(service.http.row(&tab).await["restarts"], 0);
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_leave_no_process_and_no_folder_behind() {
    let (pages, running) = (Pages::start().await, support::start().await);
    let tab = running.tabvisor.open(pages.url("/ok")).await.unwrap();
    let state = running.state.path();
    let folders = || std::fs::read_dir(state.join("profiles")).unwrap().count();
    let restart = async |rung| {
        let request = RestartRequest { rung: Some(rung), url: None };
        tab.restart(request, secs(20)).await.unwrap();
        assert_eq!(int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
    };
    restart(Rung::Renderer).await;
    restart(Rung::Target).await;
    let before = processes::naming(state).len();
    for round in 0..rounds("TABVISOR_SOAK_RESTARTS", 8) {
        restart(if round % 2 == 0 { Rung::Renderer } else { Rung::Target }).await;
    }
    // Chromium keeps a spare renderer, sometimes.
    support::eventually("processes are as many as before", || async {
        (processes::naming(state).len() <= before + 1).then_some(())
    })
    .await;
    assert_eq!((folders(), running.tabvisor.tabs().len()), (1, 1));
    running.stop().await;
}
