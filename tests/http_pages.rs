//! The HTTP service over real pages: what scripts give, what goes wrong with them, and which tab
//! is meant.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use support::served::{assert_result, failure, said, serve, serve_with};
use support::{ms, secs};
use tokio::net::TcpListener;
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_those_of_the_contract_and_keep_their_meaning() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    for (function, expected) in [
        ("1 + 1", json!({ "result": 2, "resultType": "number" })),
        ("'a'", json!({ "result": "a", "resultType": "string" })),
        ("true", json!({ "result": true, "resultType": "boolean" })),
        // No JSON at all, or another one.
        ("undefined", json!({ "resultType": "undefined" })),
        ("() => () => 1", json!({ "resultType": "function" })),
        ("Symbol('x')", json!({ "resultType": "symbol" })),
        ("null", json!({ "result": null, "resultType": "null" })),
        ("NaN", json!({ "result": null, "resultType": "number", "unserializable": "NaN" })),
        ("1 / 0", json!({ "result": null, "resultType": "number", "unserializable": "Infinity" })),
        ("-1 / 0", json!({ "result": null, "resultType": "number", "unserializable": "-Infinity" })),
        ("-0", json!({ "result": 0, "resultType": "number", "unserializable": "-0" })),
        ("123n", json!({ "resultType": "bigint", "unserializable": "123n" })),
        // Objects.
        ("new Date(0)", json!({ "result": "1970-01-01T00:00:00.000Z", "resultType": "date" })),
        ("new Date(NaN)", json!({ "result": null, "resultType": "date" })),
        ("new URL('http://a/b?c#d')", json!({ "result": "http://a/b?c#d", "resultType": "object" })),
        ("new Map([[1, 2]])", json!({ "result": {}, "resultType": "map" })),
        ("new Set([1])", json!({ "result": {}, "resultType": "set" })),
        ("/x/", json!({ "result": {}, "resultType": "regexp" })),
        ("new Error('e')", json!({ "result": { "name": "Error" }, "resultType": "error" })),
        ("new TypeError('e')", json!({ "result": { "name": "TypeError" }, "resultType": "error" })),
        ("document.body", json!({ "result": "ref: <Node>", "resultType": "node" })),
        ("document", json!({ "result": "ref: <Node>", "resultType": "node" })),
        ("window", json!({ "result": "ref: <Window>", "resultType": "window" })),
        ("new Uint8Array([7, 8])", json!({ "result": { "0": 7, "1": 8 }, "resultType": "typedarray" })),
        (
            "[1, undefined, NaN, () => 1]",
            json!({
                "result": [1, null, null, null], "resultType": "array",
                "unserializableAt": { "/1": "undefined", "/2": "NaN", "/3": "function" },
            }),
        ),
        (
            "({ 'a/b~': [[{ c: -1 / 0 }]] })",
            json!({
                "result": { "a/b~": [[{ "c": null }]] }, "resultType": "object",
                "unserializableAt": { "/a~1b~0/0/0/c": "-Infinity" },
            }),
        ),
        (
            "({ a: undefined, b: NaN, c: -0, d: 5n, e: document.body, f: [new Error('e')] })",
            json!({
                "result": { "b": null, "c": 0, "d": "5n", "e": "ref: <Node>", "f": [{ "name": "Error" }] },
                "resultType": "object",
                "unserializableAt": { "/a": "undefined", "/b": "NaN", "/c": "-0", "/d": "5n" },
            }),
        ),
        ("const a = {}; a.a = a; return a", json!({ "resultType": "object", "why": "cycle" })),
        ("const a = []; a.push(a); return a", json!({ "resultType": "array", "why": "cycle" })),
        // A promise is awaited.
        ("Promise.resolve({ a: 1 })", json!({ "result": { "a": 1 }, "resultType": "object" })),
        ("Promise.resolve(-0)", json!({ "result": 0, "resultType": "number", "unserializable": "-0" })),
    ] {
        assert_eq!(said(&served.http.evaluate(&tab, function).await), expected, "{function}");
    }
    let answer = served.http.evaluate(&tab, "'a\\ud800'").await;
    assert!(answer.status == 200 && answer.text.contains(r#""result":"a\ud800""#), "{answer:?}");
    // Exactly as the page wrote it: neither order nor numbers are changed on the way.
    let answer = served.http.evaluate(&tab, "({ z: 1e21, a: 0.1, 'é': '\u{1f600}' })").await;
    assert!(answer.text.contains(r#""result":{"z":1e+21,"a":0.1,"é":"😀"}"#), "{answer:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_over_the_limit_is_measured_and_not_sent() {
    let served = serve_with(|config| config.limits.max_result_bytes = 1000).await;
    let tab = served.open("/ok").await;
    let too_large = |kind: &str, bytes: u64| json!({ "resultType": kind, "why": "too_large", "bytes": bytes, "limit": 1000 });
    for (function, expected) in [
        ("'x'.repeat(2000)", too_large("string", 2000)),
        ("'é'.repeat(600)", too_large("string", 1200)),
        ("['x'.repeat(2000)]", too_large("array", 2004)),
        ("({ a: 'x'.repeat(2000) })", too_large("object", 2008)),
    ] {
        assert_eq!(said(&served.http.evaluate(&tab, function).await), expected, "{function}");
    }
    assert_result(&served.http.evaluate(&tab, "'x'.repeat(1000)").await, "x".repeat(1000));
    // Far over it: only a lower bound is worth finding out.
    let huge = served.http.evaluate(&tab, "'x'.repeat(2 ** 28)").await;
    assert_eq!((&huge["why"], &huge["limit"]), (&json!("too_large"), &json!(1000)), "{huge:?}");
    assert!(huge["bytes"].as_u64().unwrap() > 1000);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_a_function_an_expression_or_the_body_of_an_async_function() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    for (function, result) in [
        ("() => 1", json!(1)),
        ("async () => { await null; return 2 }", json!(2)),
        ("function () { return arguments.length }", json!(0)),
        ("function named() { return 'named' }", json!("named")),
        ("async function () { return 3 }", json!(3)),
        ("document.title", json!("ok")),
        ("{ a: 1 }.a", json!(1)),
        ("window.f = () => 'called'", json!("called")),
        ("'x' // a comment", json!("x")),
        ("await Promise.resolve(4)", json!(4)),
        ("const a = await Promise.resolve(5); return a", json!(5)),
        ("if (document.title) return 'body'; return 'none'", json!("body")),
        ("  return 6;  ", json!(6)),
    ] {
        assert_result(&served.http.evaluate(&tab, function).await, result);
    }
    // Statements without `return` give nothing, and are done all the same.
    assert_eq!(
        said(&served.http.evaluate(&tab, "let a = 1; window.left = a;").await),
        json!({ "resultType": "undefined" })
    );
    assert_result(&served.http.evaluate(&tab, "window.left").await, 1);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_script_throws_is_told_in_the_words_that_clients_know() {
    const PAGE: &str = "Error: page.evaluate: ";
    let served = serve().await;
    let tab = served.open("/ok").await;
    let threw = (500, None, Some("threw"));
    for (function, reason, first_line, with_stack) in [
        ("() => { throw new Error('boom') }", "threw", "Error: Invalid evaluate function: boom", true),
        ("null.x", "threw", "Error: Invalid evaluate function: Cannot read properties of null", true),
        ("() => { throw 'text' }", "threw", "Error: Invalid evaluate function: text", false),
        ("Promise.reject(new TypeError('later'))", "threw", "TypeError: later", true),
        ("async () => { await null; throw new RangeError('after') }", "threw", "RangeError: after", true),
        ("throw new Error('in a body')", "threw", "Error: in a body", true),
        ("Promise.reject('text')", "threw", "text", false),
        ("const = 1", "does_not_compile", "Error: Invalid evaluate function: Unexpected token '='", false),
        ("return (", "does_not_compile", "Error: Invalid evaluate function: Unexpected token '}'", false),
    ] {
        let answer = served.http.evaluate(&tab, function).await;
        assert_eq!(failure(&answer), (500, None, Some(reason)), "{function}");
        let (first, stack) = answer.error().split_once('\n').unwrap_or((answer.error(), ""));
        assert!(first.starts_with(&format!("{PAGE}{first_line}")), "{function}: {first}");
        assert_eq!(stack.starts_with("    at "), with_stack, "{function}: {answer:?}");
    }
    let answer = served.http.evaluate(&tab, "Promise.reject(new TypeError('later'))").await;
    assert_eq!(failure(&answer), threw);
    let details = &answer["details"];
    assert_eq!((&details["name"], &details["message"]), (&json!("TypeError"), &json!("later")));
    assert_eq!((&details["origin"], &details["retry"]), (&json!("page"), &json!("no")));

    let elsewhere = served.pages.url("/busy");
    let leaving = format!("location.href = {elsewhere:?}; return new Promise(() => {{}})");
    let answer = served.http.evaluate(&tab, &leaving).await;
    assert_eq!(failure(&answer), (500, None, Some("navigated")));
    let text = "Execution context was destroyed, most likely because of a navigation.";
    assert_eq!(answer.error(), format!("{PAGE}{text}"));
    let details = &answer["details"];
    assert_eq!(details["from"], served.pages.url("/ok"), "{answer:?}");
    assert!(details["to"].is_null() || details["to"] == elsewhere, "{answer:?}");
    assert!(details["next"].as_str().unwrap().contains("navigate"), "{answer:?}");
    // None of it has done the tab any harm.
    support::eventually("the new page is there", || async {
        let title = served.http.evaluate(&tab, "document.title").await;
        (title["result"] == "busy").then_some(())
    })
    .await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_is_answered_at_its_budget_and_nobody_else_waits_for_it() {
    const BUDGET: u64 = 2000;
    let served = serve().await;
    let (tab, sibling) = (served.open("/ok").await, served.open("/ok").await);
    let begun = Instant::now();
    let stuck = served.http.evaluating(&tab, "while (true) {}", BUDGET);
    served.http.in_flight(&tab, 1).await;
    assert_eq!(served.http.row(&tab).await["state"], "busy");
    assert_result(&served.http.evaluate(&sibling, "document.title").await, "ok");
    assert!(!stuck.is_finished(), "the sibling is answered while the loop runs");
    let answer = stuck.join().await.unwrap();
    assert!(begun.elapsed() < ms(BUDGET + 5000));
    assert_eq!(failure(&answer), (500, Some("ACT_OPERATION_FAILED"), Some("timeout")), "{answer:?}");
    let text = "Error: page.evaluate: Error: evaluate timed out after 2000ms (";
    assert!(answer.error().starts_with(text), "{answer:?}");
    let mut details = answer["details"].clone();
    let elapsed = details["elapsedMs"].take().as_u64().unwrap();
    assert!((BUDGET / 2..BUDGET + 5000).contains(&elapsed), "{answer:?}");
    if details["terminated"] == true && details["pageResponsive"] == true {
        let expected = json!({
            "budgetMs": BUDGET, "elapsedMs": null, "phase": "running", "terminated": true, "pageResponsive": true,
            "stillRunning": false, "origin": "page", "retry": "no",
        });
        assert_eq!(details, expected);
    } else {
        // On a busy machine the answer may be due before the end of the loop is heard of.
        assert!(details["phase"] == "running" && details["blockedBy"].is_string(), "{answer:?}");
    }
    assert_eq!(served.number(&tab, "1 + 1").await, 2);

    let answer = served.http.evaluate_within(&tab, "new Promise(() => {})", 1000).await;
    assert_eq!(failure(&answer), (500, Some("ACT_OPERATION_FAILED"), Some("timeout")), "{answer:?}");
    let details = &answer["details"];
    assert_eq!((&details["phase"], &details["terminated"]), (&json!("pending"), &json!(false)));
    assert_eq!(details["stillRunning"], true);
    assert!(details["pageResponsive"] == true || details["blockedBy"].is_string(), "{answer:?}");
    assert_eq!(served.number(&tab, "1 + 1").await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_named_at_once_and_again_to_every_call_after_it() {
    let served = serve().await;
    for (function, dialog) in [
        ("confirm('sure?')", json!({ "type": "confirm", "message": "sure?" })),
        ("alert('look')", json!({ "type": "alert", "message": "look" })),
        ("prompt('who?', 'me')", json!({ "type": "prompt", "message": "who?", "defaultValue": "me" })),
    ] {
        let tab = served.open("/ok").await;
        let begun = Instant::now();
        let first = served.http.evaluate_within(&tab, function, 60_000).await;
        assert!(begun.elapsed() < secs(20), "at once, not at the budget");
        let mut pending = first["browserState"]["dialogs"]["pending"].clone();
        assert!(pending[0]["id"].take().is_string(), "{first:?}");
        assert!(pending[0]["openedAt"].take().is_string(), "{first:?}");
        pending[0].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        assert_eq!(pending, json!([dialog]));
        assert!(!first.has("result") && first["blockedByDialog"] == true, "{first:?}");
        // The same answer for the calls after it.
        for _ in 0..2 {
            let next = served.http.evaluate_within(&tab, "1 + 1", 60_000).await;
            assert_eq!(said(&next), said(&first));
        }
        assert!(begun.elapsed() < secs(20));
        let row = served.http.row(&tab).await;
        assert_eq!((&row["state"], &row["dialog"]["message"]), (&json!("dialog"), &dialog["message"]));
        assert_eq!(served.http.close(&tab).await.status, 200);
    }
    // One that the page opens while it loads.
    let opened = served.http.try_open(json!({ "url": served.pages.url("/popup") })).await;
    let tab = opened["tabId"].as_str().unwrap_or_else(|| panic!("{opened:?}"));
    support::eventually("its dialog is named", || async {
        let answer = served.http.evaluate_within(tab, "1", 10_000).await;
        let message = &answer["browserState"]["dialogs"]["pending"][0]["message"];
        (message == "first words").then_some(())
    })
    .await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_its_limit_a_tab_says_at_once_when_to_come_back() {
    let served = serve().await;
    let (tab, sibling) = (served.open("/ok").await, served.open("/ok").await);
    let function = "new Promise(it => (window.all ??= []).push(it))";
    let mut pending: Vec<_> = (0..15).map(|_| served.http.evaluating(&tab, function, 60_000)).collect();
    support::eventually("the promises are in the page", || async {
        (served.http.evaluate(&tab, "window.all?.length").await["result"] == 15).then_some(())
    })
    .await;
    pending.push(served.http.evaluating(&tab, function, 60_000));
    served.http.in_flight(&tab, 16).await;
    let refused = served.http.evaluate_within(&tab, "1", 60_000).await;
    assert_eq!(failure(&refused), (429, None, Some("overloaded")), "{refused:?}");
    assert!(refused.head.to_ascii_lowercase().contains("\r\nretry-after: 1"), "{}", refused.head);
    let details = &refused["details"];
    assert_eq!((&details["limit"], &details["max"]), (&json!("limits.evaluates_per_tab"), &json!(16)));
    assert_result(&served.http.evaluate(&sibling, "1 + 1").await, 2);
    // Places are free again when their clients go away.
    drop(pending);
    served.http.in_flight(&tab, 0).await;
    assert_eq!(served.number(&tab, "1 + 1").await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_beyond_reach_says_why_and_can_be_closed() {
    let served = serve().await;
    let (tab, sibling) = (served.open("/ok").await, served.open("/ok").await);
    let never = served.pages.url("/never");
    let function = format!("const x = new XMLHttpRequest(); x.open('GET', {never:?}, false); x.send()");
    let answer = served.http.evaluate_within(&tab, &function, 3000).await;
    assert_eq!(failure(&answer), (500, Some("ACT_OPERATION_FAILED"), Some("timeout")), "{answer:?}");
    let details = &answer["details"];
    assert_eq!((&details["terminated"], &details["pageResponsive"]), (&json!(false), &json!(false)));
    assert!(details["stillRunning"] == true && details["blockedBy"].is_string(), "{answer:?}");
    // The next one does not spend its budget to find out again.
    let begun = Instant::now();
    let next = served.http.evaluate_within(&tab, "1 + 1", 60_000).await;
    assert!(begun.elapsed() < secs(20));
    assert_eq!(failure(&next), (409, None, Some("tab_stuck")), "{next:?}");
    let details = &next["details"];
    assert_eq!((&details["tab"], &details["blockedBy"]), (&json!(tab), &json!("native")));
    assert!(details["stuckForMs"].is_u64() && details["wayOut"].is_string(), "{next:?}");
    let row = served.http.row(&tab).await;
    assert_eq!((&row["state"], &row["stuckBy"]), (&json!("stuck"), &json!("native")));
    assert!(row["stuckForMs"].is_u64(), "{row}");
    assert_result(&served.http.evaluate(&sibling, "1 + 1").await, 2);

    let closed = served.http.close(&tab).await;
    assert_eq!((closed.status, &closed["targetId"]), (200, &row["targetId"]), "{closed:?}");
    let gone = served.http.evaluate(&tab, "1").await;
    assert_eq!(failure(&gone), (404, None, Some("tab_closed")), "{gone:?}");
    assert_result(&served.http.evaluate(&sibling, "1 + 1").await, 2);
    assert_eq!(served.http.tabs().await.len(), 1);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_cannot_be_opened_says_why_and_leaves_no_tab() {
    let served = serve().await;
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let open =
        async |url: String, ms: u64| served.http.try_open(json!({ "url": url, "timeoutMs": ms })).await;
    let refused = open(format!("http://{nobody}/"), 20_000).await;
    assert_eq!(failure(&refused), (500, None, Some("navigation_failed")));
    assert_eq!(refused.error(), "Error: page.goto: net::ERR_CONNECTION_REFUSED");
    assert_eq!(refused["details"]["netError"], "net::ERR_CONNECTION_REFUSED");
    for (url, text) in [
        ("file:///etc/passwd", "unsupported protocol \"file:\""),
        ("chrome://version", "unsupported protocol \"chrome:\""),
        ("javascript:1", "unsupported protocol \"javascript:\""),
        ("http://me:secret@localhost/", "credentials in the URL are not allowed"),
        ("nothing", "url is not an absolute URL"),
    ] {
        let answer = open(url.into(), 20_000).await;
        assert_eq!(failure(&answer), (400, None, Some("navigation_blocked")), "{answer:?}");
        assert!(answer.error().starts_with(&format!("Navigation blocked: {text}")), "{answer:?}");
        assert!(!answer.text.contains("secret"), "{answer:?}");
    }
    let empty = open(served.pages.url("/204"), 20_000).await;
    assert_eq!(failure(&empty), (500, None, Some("no_document")), "{empty:?}");
    let late = open(served.pages.url("/never"), 3000).await;
    assert_eq!(failure(&late), (500, Some("ACT_OPERATION_FAILED"), Some("timeout")), "{late:?}");
    assert_eq!((&late["details"]["budgetMs"], &late["details"]["committed"]), (&json!(3000), &json!(false)));
    support::eventually("no tab is left", || async { served.http.tabs().await.is_empty().then_some(()) })
        .await;
    // An error page of the site is a page.
    let tab = served.open("/404").await;
    assert_result(&served.http.evaluate(&tab, "document.title").await, "no");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_goes_by_id_label_target_or_its_beginning_and_is_remembered() {
    let served = serve().await;
    let http = &served.http;
    let unnamed = async |function: &str| http.act(json!({ "kind": "evaluate", "fn": function })).await;
    // Nothing named and nothing open: a tab is opened.
    assert_result(&unnamed("location.href").await, "about:blank");
    let opened = http.try_open(json!({ "url": served.pages.url("/ok"), "label": "main" })).await;
    let target = opened["targetId"].as_str().unwrap();
    http.loaded("t2").await;
    assert_eq!(
        (&opened["tabId"], &opened["label"], &opened["suggestedTargetId"]),
        (&json!("t2"), &json!("main"), &json!("main"))
    );
    assert_eq!((&opened["type"], &opened["resolvedProfile"]), (&json!("page"), &json!("openclaw")));
    assert!(opened["ownership"].is_object() && !opened.has("ok"), "{opened:?}");
    assert_eq!(opened["url"], served.pages.url("/ok"));
    // A beginning of the target that no other tab has, in the other case.
    let other = http.row("t1").await["targetId"].as_str().unwrap().to_owned();
    let shared = target.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let beginning = target[..=shared].to_ascii_lowercase();
    for name in ["t2", "main", target, &beginning, " t2 "] {
        let answer = http.evaluate(name, "document.title").await;
        assert_result(&answer, "ok");
        assert_eq!((&answer["targetId"], &answer["url"]), (&json!(target), &json!(served.pages.url("/ok"))));
    }

    // Without a name it is the tab that was used last.
    assert_result(&unnamed("document.title").await, "ok");
    assert_result(&http.evaluate("t1", "location.href").await, "about:blank");
    assert_result(&unnamed("location.href").await, "about:blank");
    // The newest is the first in the list; the label moves to the newest that claims it.
    let third = http.try_open(json!({ "url": served.pages.url("/busy"), "label": "main" })).await;
    assert_eq!(third["tabId"], "t3");
    http.loaded("t3").await;
    assert_result(&http.evaluate("main", "document.title").await, "busy");
    let rows: BTreeMap<_, _> = http
        .tabs()
        .await
        .iter()
        .map(|row| (row["tabId"].to_string(), (row["label"].clone(), row["suggestedTargetId"].clone())))
        .collect();
    assert_eq!(rows["\"t2\""], (Value::Null, json!("t2")));
    assert_eq!(rows["\"t3\""], (json!("main"), json!("main")));
    let order: Vec<_> = http.tabs().await.iter().map(|row| row["tabId"].clone()).collect();
    assert_eq!(order, ["t3", "t2", "t1"]);

    let unknown = http.evaluate("zzzz", "1").await;
    assert_eq!(failure(&unknown), (404, None, Some("tab_not_found")));
    assert_eq!(
        unknown.error(),
        "tab not found: browser tab \"zzzz\" not found. Use action=tabs and pass suggestedTargetId, tabId, label, or raw targetId."
    );
    let number = http.evaluate("999999999999", "1").await;
    assert!(
        number.status == 404 && number.error().contains("Numeric values are not tab targets"),
        "{number:?}"
    );
    // A label that is another tab's id means both.
    assert_eq!(http.try_open(json!({ "url": "about:blank", "label": "t1" })).await.status, 200);
    for ambiguous in [http.evaluate("t1", "1").await, http.close("t1").await] {
        assert_eq!(failure(&ambiguous), (409, None, Some("ambiguous_target")));
        assert_eq!(ambiguous.error(), "ambiguous browser tab reference");
    }

    // A closed tab is gone under each of its names, and nothing takes its place silently.
    assert_result(&http.evaluate("t3", "document.title").await, "busy");
    assert_eq!(http.close("main?targetIdMode=raw").await.status, 404);
    let closed = http.close("main").await;
    assert_eq!((closed.status, &closed["ok"], &closed["targetId"]), (200, &json!(true), &third["targetId"]));
    for (name, reason) in [("t3", "tab_closed"), ("main", "tab_not_found")] {
        let gone = http.evaluate(name, "1").await;
        assert_eq!(failure(&gone), (404, None, Some(reason)), "{gone:?}");
        assert!(gone.error().starts_with(&format!("tab not found: browser tab \"{name}\" not found. ")));
        assert_eq!(http.close(name).await.status, 404);
    }
    assert_eq!(unnamed("1").await.status, 404);
    assert_result(&http.evaluate("t2", "document.title").await, "ok");
    assert_result(&unnamed("document.title").await, "ok");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_input_is_refused_by_name_and_leaves_the_tab_as_it_was() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let evaluate = async |more: Value| {
        let mut body = json!({ "kind": "evaluate", "targetId": tab, "fn": "window.ran = true" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.http.act(body).await
    };
    let invalid = (400, Some("ACT_INVALID_REQUEST"));
    for given in [json!(0), json!(-1), json!("NaN"), json!("abc"), json!(1.5), json!("1.5"), json!("")] {
        let answer = evaluate(json!({ "timeoutMs": given })).await;
        assert_eq!((answer.status, answer["code"].as_str()), invalid, "{answer:?}");
        assert_eq!(answer.error(), "timeoutMs must be a positive integer.", "{given}");
    }
    let answer = evaluate(json!({ "timeoutMs": 120_001 })).await;
    assert_eq!((answer.status, answer["code"].as_str()), invalid, "{answer:?}");
    assert_eq!(
        answer.error(),
        "timeoutMs is 120001 ms, over the maximum of 120000 ms (limits.max_budget_ms)."
    );
    for given in [json!(""), json!("  "), json!(null)] {
        let answer = evaluate(json!({ "fn": given })).await;
        assert_eq!((answer.status, answer["code"].as_str()), invalid, "{answer:?}");
        assert_eq!(answer.error(), "evaluate requires fn");
    }
    assert_eq!(evaluate(json!({ "fn": ["1"] })).await.error(), "fn must be a string.");
    assert_eq!(evaluate(json!({ "fn": "}" })).await["reason"], "does_not_compile");
    assert_eq!(evaluate(json!({ "targetId": "t9" })).await.status, 404);
    // 120 MB are not taken in first.
    let huge = format!(r#"{{"kind":"evaluate","targetId":"{tab}","fn":"{}"}}"#, "x".repeat(120_000_000));
    let begun = Instant::now();
    let answer = served.http.send("POST /act", &huge).await;
    assert_eq!(failure(&answer), (413, None, Some("too_large")), "{answer:?}");
    assert!(begun.elapsed() < secs(20), "{:?}", begun.elapsed());
    // What a client does not know yet is ignored, and nothing of the above has run.
    let answer = evaluate(json!({ "fn": "'ran' in window", "novelty": 1, "timeoutMs": "5000" })).await;
    assert_result(&answer, false);
    let row = served.http.row(&tab).await;
    assert_eq!((&row["state"], &row["queue"]["evaluates"]), (&json!("ready"), &json!(0)), "{row}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_title_of_a_page_is_known_once_it_has_loaded() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    support::eventually("its title is known", || async {
        (served.http.row(&tab).await["title"] == "ok").then_some(())
    })
    .await;
    served.stop().await;
}
