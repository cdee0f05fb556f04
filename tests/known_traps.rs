//! What other tools of this kind were reported to hang on or to lie about, as far as no other test
//! has it already.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use support::distance::Distance;
use support::served::{Served, assert_result, serve};
use support::stage::Stage;
use support::{eventually, ms, processes, raw, secs};
use tabvisor::{RestartRequest, Screenshot, ScreenshotRequest, ShotOf, Tabvisor};
use tokio::time::Instant;

async fn post(served: &Served, line: &str, body: Value) -> support::http::Answer {
    served.http.send(line, &body.to_string()).await
}

fn reason(answer: &support::http::Answer) -> &str {
    answer["reason"].as_str().unwrap_or_else(|| panic!("{answer:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_an_evaluate_that_never_settles_pictures_and_dialogs_are_told() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let waits = served.http.evaluating(&tab, "new Promise(() => {})", 15_000);
    served.http.in_flight(&tab, 1).await;
    let shot = post(&served, "POST /screenshot", json!({ "targetId": tab, "timeoutMs": 10_000 })).await;
    assert_eq!(shot.status, 200, "{shot:?}");
    let dialogs = served.http.get(&format!("/dialogs?targetId={tab}")).await;
    assert_eq!(dialogs.status, 200, "{dialogs:?}");
    assert!(!waits.is_finished(), "they did not wait for it");
    assert_eq!(reason(&waits.join().await.unwrap()), "timeout");
    assert_result(&served.http.evaluate(&tab, "1 + 1").await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_goes_away_from_a_stuck_page_takes_the_work_along() {
    let served = serve().await;
    let (tab, beside) = (served.open("/busy").await, served.open("/ok").await);
    let stuck = "setTimeout(() => { for (;;); }, 0); return 1";
    assert_result(&served.http.evaluate(&tab, stuck).await, 1);
    let client = served.http.begin(&format!("GET /snapshot?targetId={tab}&timeoutMs=60000"), "").await;
    let queued = |n: u64| {
        let (http, tab) = (served.http.clone(), tab.clone());
        move || {
            let (http, tab) = (http.clone(), tab.clone());
            async move { (http.row(&tab).await["queue"]["actions"] == n).then_some(()) }
        }
    };
    eventually("it is at work", queued(1)).await;
    drop(client);
    eventually("it is given up", queued(0)).await;
    let read = served.http.get(&format!("/snapshot?targetId={beside}")).await;
    assert_eq!(read.status, 200, "{read:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_vanish_while_they_wait_leave_their_places_to_others() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let wait = json!({ "kind": "wait", "text": "never", "targetId": tab, "timeoutMs": 60_000 }).to_string();
    let most = 16;
    let mut clients = Vec::new();
    for _ in 0..most {
        clients.push(served.http.begin("POST /act", &wait).await);
    }
    eventually("all places are taken", || async {
        (served.http.row(&tab).await["queue"]["actions"] == most).then_some(())
    })
    .await;
    let refused = served.http.send("POST /act", &wait).await;
    assert_eq!((refused.status, reason(&refused)), (429, "overloaded"), "{refused:?}");
    drop(clients);
    eventually("all places are free", || async {
        (served.http.row(&tab).await["queue"]["actions"] == 0).then_some(())
    })
    .await;
    let read = served.http.get(&format!("/snapshot?targetId={tab}")).await;
    assert_eq!(read.status, 200, "{read:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_loops_at_its_load_is_answered_in_time_and_freed_by_terminate() {
    let (served, stage) = (serve().await, Stage::start().await);
    let tab = served.open("/ok").await;
    let url = stage.page(
        "<script>let s = 'x'; for (;;) s = (s + s).slice(0, 1e6)</script><script>window.after = 7</script>",
    );
    let begun = Instant::now();
    let body = json!({ "targetId": tab, "url": url, "timeoutMs": 1500, "waitUntil": "load" });
    let navigated = post(&served, "POST /navigate", body).await;
    assert!(begun.elapsed() < secs(6), "{:?}", begun.elapsed());
    assert!(navigated.status == 200 || reason(&navigated) == "timeout", "{navigated:?}");
    let evaluated = served.http.evaluate_within(&tab, "1 + 1", 1000).await;
    assert!(["timeout", "tab_stuck"].contains(&reason(&evaluated)), "{evaluated:?}");
    let freed = served.http.send(&format!("POST /tabs/{tab}/terminate"), "").await;
    assert_eq!((freed.status, &freed["rung"]), (200, &json!("terminate")), "{freed:?}");
    assert_result(&served.http.evaluate_within(&tab, "window.after", 10_000).await, 7);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_budget_of_a_script_on_an_element_bounds_the_script() {
    let served = serve().await;
    let tab = served.open("/form").await;
    let page = served.http.get(&format!("/snapshot?targetId={tab}&interactive=true")).await;
    let field = page["refs"].as_object().unwrap().iter().find(|(_, it)| it["name"] == "Name").unwrap().0;
    let body = json!({ "kind": "evaluate", "targetId": tab, "ref": field, "fn": "el => { for (;;); }", "timeoutMs": 500 });
    let begun = Instant::now();
    let looped = served.http.act(body).await;
    assert_eq!(reason(&looped), "timeout", "{looped:?}");
    assert!(begun.elapsed() < secs(3));
    assert_eq!(served.number(&tab, "1 + 1").await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_that_is_never_loaded_keeps_nobody_waiting() {
    let (served, stage) = (serve().await, Stage::start().await);
    let inside = stage.page("<button>Inside</button>");
    let body = format!(
        "<button>Outside</button><div style=height:50000px></div><iframe title=lazy loading=lazy src='{}'></iframe>
         <iframe title=near loading=lazy src='{inside}'></iframe>",
        stage.other_site(&inside)
    );
    let tab = served.http.open(&stage.page(&body)).await;
    let read = served.http.get(&format!("/snapshot?targetId={tab}&timeoutMs=10000")).await;
    assert_eq!(read.status, 200, "{read:?}");
    let text = read["snapshot"].as_str().unwrap();
    assert!(text.contains("Outside") && !text.contains("Inside"), "{text}");
    assert_eq!(text.matches("[frame=not-loaded]").count(), 2, "{text}");
    assert_result(&served.http.evaluate(&tab, "frames.length").await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_budget_of_a_caller_is_the_one_that_counts() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    // Stuck in native code: nothing of it can be read.
    let native = "setTimeout(() => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1), 0); return 1";
    assert_result(&served.http.evaluate(&tab, native).await, 1);
    let begun = Instant::now();
    let read = served.http.get(&format!("/snapshot?targetId={tab}&timeoutMs=1500")).await;
    assert!(["timeout", "tab_stuck"].contains(&reason(&read)), "{read:?}");
    assert!(begun.elapsed() < secs(5), "{:?}", begun.elapsed());
    // And a navigation that nobody answers.
    let other = served.open("/ok").await;
    let begun = Instant::now();
    let body = json!({ "targetId": other, "url": served.pages.url("/never"), "timeoutMs": 1000 });
    let navigated = post(&served, "POST /navigate", body).await;
    assert_eq!(reason(&navigated), "timeout", "{navigated:?}");
    assert!((ms(900)..secs(5)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    assert_result(&served.http.evaluate_within(&other, "1 + 1", 10_000).await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_worth_waiting_half_a_minute_for_is_waited_for() {
    let (served, stage) = (serve().await, Stage::start().await);
    let late = stage.page(
        "<p id=p>not yet</p><script>setTimeout(() => { p.textContent = 'here it is' }, 32000)</script>",
    );
    let (shows, tab, idle) =
        (served.http.open(&late).await, served.open("/ok").await, served.open("/ok").await);
    let settles = "new Promise(done => setTimeout(() => done(7), 32000))";
    let promise = served.http.evaluating(&tab, settles, 60_000);
    let body = json!({ "kind": "wait", "targetId": shows, "text": "here it is", "timeoutMs": 60_000 });
    let waited = served.http.act(body).await;
    assert_eq!(waited.status, 200, "{waited:?}");
    assert_result(&promise.join().await.unwrap(), 7);
    // One that nobody asked anything all the while is still there.
    assert_result(&served.http.evaluate(&idle, "1 + 1").await, 2);
    assert_eq!(served.http.row(&idle).await["restarts"], 0);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_matches_nothing_is_said_long_before_the_budget() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let begun = Instant::now();
    let read = served.http.get(&format!("/snapshot?targetId={tab}&selector=%23none&timeoutMs=60000")).await;
    assert_eq!((read.status, &read["snapshot"]), (200, &json!("(empty)")), "{read:?}");
    let body = json!({ "kind": "evaluate", "targetId": tab, "ref": "e999", "fn": "1", "timeoutMs": 60_000 });
    let on = served.http.act(body).await;
    assert!(on.error().contains("e999"), "{on:?}");
    assert!(begun.elapsed() < secs(5), "{:?}", begun.elapsed());
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budgets_that_are_none_are_refused_on_every_way_in() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    for bad in [json!(0), json!(-1), json!(1.5), json!("NaN"), json!("Infinity"), json!(1e300)] {
        let bodies = [
            ("POST /act", json!({ "kind": "evaluate", "fn": "1", "targetId": tab, "timeoutMs": bad })),
            ("POST /act", json!({ "kind": "click", "selector": "p", "targetId": tab, "timeoutMs": bad })),
            ("POST /act", json!({ "kind": "wait", "selector": "p", "targetId": tab, "timeoutMs": bad })),
            ("POST /navigate", json!({ "url": "about:blank", "targetId": tab, "timeoutMs": bad })),
            ("POST /screenshot", json!({ "targetId": tab, "timeoutMs": bad })),
            ("POST /tabs/open", json!({ "url": "about:blank", "timeoutMs": bad })),
        ];
        for (line, body) in bodies {
            let refused = served.http.send(line, &body.to_string()).await;
            assert_eq!(
                (refused.status, refused.error().contains("timeoutMs")),
                (400, true),
                "{line} {body}: {refused:?}"
            );
        }
    }
    // (A snapshot takes its default instead, as the clients that it serves expect.)
    for bad in ["0", "-1", "1.5", "NaN", "Infinity", "1e300"] {
        let refused = served.http.send(&format!("POST /tabs/{tab}/restart?timeoutMs={bad}"), "").await;
        assert_eq!(
            (refused.status, refused.error().contains("timeoutMs")),
            (400, true),
            "{bad}: {refused:?}"
        );
    }
    assert_eq!(served.http.tabs().await.len(), 1, "nothing was done");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_on_a_tab_that_is_closed_by_somebody_else_ends_with_it() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let waits = served.http.evaluating(&tab, "new Promise(() => {})", 60_000);
    served.http.in_flight(&tab, 1).await;
    let target = served.http.row(&tab).await["targetId"].as_str().unwrap().to_owned();
    let browser = raw::connect(&raw::address(&served.running)).await;
    raw::call(&browser.root(), "Target.closeTarget", json!({ "targetId": target })).await.unwrap();
    let answer = waits.join().await.unwrap();
    assert_eq!(reason(&answer), "tab_closed", "{answer:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_with_labels_takes_few_round_trips_however_large_the_page() {
    let (stage, running) = (Stage::start().await, support::start().await);
    let address = raw::address(&running);
    let target = (Ipv4Addr::LOCALHOST, address.port().unwrap()).into();
    let distance = Distance::to(target, ms(75)).await;
    let mut config = support::config(&running.state);
    config.browser.cdp_url = Some(format!("ws://{}{}", distance.address, address.path()).into());
    let far = Tabvisor::start(config).await.unwrap();
    let rows = "<p><a href=#>link</a><button>press</button></p>";
    let mut commands = Vec::new();
    for count in [2, 2000] {
        let tab = far.open(stage.page(&rows.repeat(count))).await.unwrap();
        eventually("it is loaded", || async {
            let tab = tab.clone();
            tab.evaluate("document.readyState === 'complete'").await.ok()?.read::<bool>().ok()?.then_some(())
        })
        .await;
        let before = distance.commands();
        let request =
            ScreenshotRequest { labels: true, of: ShotOf::FullPage, ..ScreenshotRequest::default() };
        let shot = tab.screenshot(request, secs(100)).await.unwrap();
        assert!(matches!(&shot, Screenshot::Labelled(it) if it.labels_count > 0), "{shot:?}");
        commands.push(distance.commands() - before);
    }
    // Measured: 26 and 78; 4000 elements are marked.
    assert!(commands[1] < 150, "{commands:?}");
    far.stop().await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_that_share_a_renderer_say_so_and_one_termination_frees_them_all() {
    let stage = Stage::start().await;
    let running = support::start_with(|config| config.browser.renderer_process_limit = 1).await;
    let url = stage.page("<title>opener</title>");
    let opener = running.tabvisor.open(&url).await.unwrap();
    opener.evaluate(format!("window.other = window.open('{url}'); return 1")).await.unwrap();
    let popup = eventually("the popup is there", || async {
        running.tabvisor.tabs().into_iter().find(|row| row.tab_id != opener.id())
    })
    .await;
    let popup = running.tabvisor.tab(popup.tab_id).unwrap();
    eventually("both say so", || async {
        let (one, other) = (opener.row().unwrap(), popup.row().unwrap());
        (one.shared_renderer == [popup.id()] && other.shared_renderer == [opener.id()]).then_some(())
    })
    .await;
    let of = async |target: &str| processes::renderer_of(&raw::address(&running), target).await;
    let (one, other) = (opener.row().unwrap().target_id, popup.row().unwrap().target_id);
    assert_eq!(of(&one).await, of(&other).await, "it is true");
    let signals = stage.signals();
    opener
        .evaluate("setTimeout(() => { for (;;); }, 0); fetch('/signal'); return 1")
        .within(secs(20))
        .await
        .unwrap();
    stage.signalled(signals + 1).await;
    assert_ne!(support::kind(&popup.evaluate("1 + 1").within(ms(800)).await), "ok");
    opener.restart(RestartRequest::default(), secs(20)).await.unwrap();
    for tab in [&opener, &popup] {
        eventually("it is usable", || async { tab.evaluate("1 + 1").within(secs(5)).await.ok() }).await;
    }
    running.stop().await;
}
