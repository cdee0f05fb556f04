//! The client of a call goes away: its script ends, and nobody else notices.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::json;
use support::ms;
use support::served::{Served, assert_result, serve};

/// Starts `function` in the page and closes the connection of its call after 200 ms.
async fn closed_after_a_moment(served: &Served, tab: &str, function: &str) {
    // A second request would wait for the first: for the cache's entry, and for a free connection.
    let signal = "fetch('/never', { cache: 'no-store', signal: AbortSignal.timeout(100) }).catch(() => {})";
    let function = format!("{signal}; {function}");
    let body = json!({ "kind": "evaluate", "targetId": tab, "fn": function, "timeoutMs": 60_000 });
    let connection = served.http.begin("POST /act", &body.to_string()).await;
    served.pages.never_asked.notified().await;
    tokio::time::sleep(ms(200)).await;
    drop(connection);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_ends_its_loop_and_frees_its_place() {
    let served = serve().await;
    let (tab, sibling) = (served.open("/ok").await, served.open("/ok").await);
    let beside = served.http.evaluating(&sibling, "new Promise(it => { window.answer = it })", 60_000);
    served.http.in_flight(&sibling, 1).await;
    closed_after_a_moment(&served, &tab, "window.count = 0; while (true) window.count++").await;
    let first = served.number(&tab, "window.count").await;
    assert!(first > 0);
    assert_eq!(served.number(&tab, "window.count").await, first, "it counts on");
    served.http.in_flight(&tab, 0).await;
    // Nothing of it reached the other tab.
    assert_result(&served.http.evaluate(&sibling, "window.answer('mine'); return 1").await, 1);
    assert_result(&beside.join().await.unwrap(), "mine");
    served.stop().await;
}

/// Counts, and awaits after each step.
const COUNTS_ON: &str =
    "for (;;) { window.c = (window.c || 0) + 1; await new Promise(r => setTimeout(r, 10)) }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_ends_a_loop_that_awaits() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    // The page's own timer goes on.
    served.http.evaluate(&tab, "window.own = 0; setInterval(() => window.own++, 10); return 1").await;
    closed_after_a_moment(&served, &tab, COUNTS_ON).await;
    served.http.in_flight(&tab, 0).await;
    let last = support::eventually("the counter stands", || async {
        let first = served.number(&tab, "window.c").await;
        tokio::time::sleep(ms(300)).await;
        (served.number(&tab, "window.c").await == first).then_some(first)
    })
    .await;
    assert!(last > 0);
    let own = served.number(&tab, "window.own").await;
    support::eventually("the page's own timer goes on", || async {
        (served.number(&tab, "window.own").await > own).then_some(())
    })
    .await;
    assert_eq!(served.number(&tab, "window.c").await, last);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_loop_that_awaits_costs_no_call_beside_it() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    for round in 0..20 {
        closed_after_a_moment(&served, &tab, COUNTS_ON).await;
        for _ in 0..30 {
            let beside = served.http.evaluate_within(&tab, "1 + 1", 5000).await;
            assert_result(&beside, 2);
        }
        // The place of the last call may be free a moment after its answer.
        let state = served.http.row(&tab).await["state"].clone();
        assert!(state == "ready" || state == "busy", "round {round}: {state}");
    }
    served.stop().await;
}

/// Sends a call to a page whose own script runs for `work` ms, and goes away while it waits.
async fn closed_while_it_waits(served: &Served, tab: &str, work: u64, function: &str) {
    let busy =
        format!("setTimeout(() => {{ fetch('/never').catch(() => {{}}); work({work}) }}, 0); return 1");
    served.http.evaluate(tab, &busy).await;
    served.pages.never_asked.notified().await;
    let body = json!({ "kind": "evaluate", "targetId": tab, "fn": function, "timeoutMs": 30_000 });
    let connection = served.http.begin("POST /act", &body.to_string()).await;
    served.http.in_flight(tab, 1).await;
    tokio::time::sleep(ms(50)).await;
    drop(connection);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_cancelled_while_it_waits_does_not_make_its_tab_stuck() {
    let served = serve().await;
    let tab = served.open("/busy").await;
    closed_while_it_waits(&served, &tab, 700, "1").await;
    assert_result(&served.http.evaluate_within(&tab, "1 + 1", 10_000).await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_whose_client_went_away_before_it_started_does_not_hold_the_tab() {
    let served = serve().await;
    let tab = served.open("/busy").await;
    closed_while_it_waits(&served, &tab, 700, "while (true) {}").await;
    assert_eq!(served.number(&tab, "1 + 1").await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_a_script_goes_on_it_ends_and_what_it_put_into_the_page_stays() {
    let served = serve().await;
    for goes_on in [
        "setInterval(() => c++, 5); return new Promise(() => {})",
        "const tick = () => { c++; setTimeout(tick, 5) }; tick(); return new Promise(() => {})",
        "function tick() { c++; window.requestAnimationFrame(tick) } tick(); return new Promise(() => {})",
        "const again = () => sleep(5).then(() => { c++; return again() }); return again()",
        "const f = async () => { for (;;) { try { c++; await sleep(5); throw 1 } catch { } } }; await f()",
        "async function* all() { for (;;) { await sleep(5); yield 1 } } for await (const _ of all()) c++",
        "window.double = async n => { await sleep(1); return 2 * n }; for (;;) c += await double(1)",
    ] {
        let tab = served.open("/ok").await;
        let set_up = "window.c = 0; window.sleep = ms => new Promise(it => setTimeout(it, ms)); return 1";
        assert_result(&served.http.evaluate(&tab, set_up).await, 1);
        closed_after_a_moment(&served, &tab, goes_on).await;
        let last = support::eventually("the counter stands", || async {
            let first = served.number(&tab, "c").await;
            let later = served.number(&tab, "sleep(100).then(() => c)").await;
            (first == later).then_some(first)
        })
        .await;
        assert!(last > 0, "{goes_on}");
        if goes_on.contains("double") {
            assert_result(&served.http.evaluate(&tab, "double(21)").await, 42);
        }
        served.http.close(&tab).await;
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checks_in_a_script_do_not_change_what_it_does() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    for (function, result) in [
        ("const x = [1]\nawait 2\nreturn x.length", json!(1)),
        (
            "const f = async (a = await2()) => await a; function await2() { return 3 }; return await f()",
            json!(3),
        ),
        ("return -await 4 + (await 5) * 2", json!(6)),
        (
            "return (await Promise.all([1, 2].map(async n => ({ n: await n })))).map(it => it.n)",
            json!([1, 2]),
        ),
        ("async () => { 'use strict'\nlet n = 0; for await (const x of [1, 2]) n += x; return n }", json!(3)),
        ("for await (const x of [1]) if (x) return await x; return 0", json!(1)),
        ("class A { async m() { return await this.n } n = 7 } return new A().m()", json!(7)),
        ("Promise.resolve(1).then(function () { return arguments.length })", json!(1)),
        ("Promise.resolve(1).then(n => ({ n })).finally(() => 2)", json!({ "n": 1 })),
        (
            "async function f() { try { await Promise.reject(8) } catch (e) { return e } } return f()",
            json!(8),
        ),
        ("await `${await 9}`", json!("9")),
        ("const { a = await 1, ...b } = await { c: 2 }; return [a, b]", json!([1, { "c": 2 }])),
        ("return await (async x => await (async y => await x + await y)(2))(1)", json!(3)),
    ] {
        assert_result(&served.http.evaluate(&tab, function).await, result);
    }
    let thrown = served.http.evaluate(&tab, "await null;\nnull.x").await;
    assert_eq!(thrown.status, 500);
    assert!(thrown.error().contains("TypeError: Cannot read properties of null"), "{thrown:?}");
    served.stop().await;
}
