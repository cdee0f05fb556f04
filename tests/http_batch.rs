//! Several actions in one request, and the size of the viewport, on a real Chromium.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::{Answer, Http};
use support::served::{assert_result, failure, serve, serve_with};

async fn batch(http: &Http, tab: &str, actions: Value, more: Value) -> Answer {
    let mut body = json!({ "kind": "batch", "targetId": tab, "actions": actions });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    http.act(body).await
}

fn oks(answer: &Answer) -> Vec<bool> {
    assert_eq!((answer.status, &answer["ok"]), (200, &json!(true)), "{answer:?}");
    answer["results"].as_array().unwrap().iter().map(|it| it["ok"] == true).collect()
}

async fn log(http: &Http, tab: &str) -> Value {
    http.evaluate(tab, "const all = window.log; window.log = []; return all").await["result"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_are_done_in_order_and_an_error_stops_them_unless_told_otherwise() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/acts").await;
    let raw = http.row(&tab).await["targetId"].clone();
    let click = json!({ "kind": "click", "selector": "#plain", "targetId": raw });
    let wrong = json!({ "kind": "click", "ref": "e999" });
    let mark = json!({ "kind": "evaluate", "fn": "() => { log.push('marked'); return 7 }" });
    let inner = json!({ "kind": "batch", "actions": [mark, { "kind": "wait", "timeMs": 1 }] });
    let done = batch(http, &tab, json!([click, inner, click]), json!({})).await;
    assert_eq!(oks(&done), [true, true, true]);
    assert!(!done.has("aborted") && !done.has("stopped"), "{done:?}");
    assert_eq!(done["results"][0]["effect"], "confirmed", "{done:?}");
    assert_eq!(done["results"][1]["results"], json!([{ "ok": true }, done["results"][1]["results"][1]]));
    assert_eq!(log(http, &tab).await, json!(["click true", "marked", "click true"]));

    let stopped = batch(http, &tab, json!([click, wrong, click]), json!({})).await;
    assert_eq!(oks(&stopped), [true, false]);
    let error = "Unknown ref \"e999\". Run a new snapshot and use a ref from that snapshot.";
    assert_eq!(stopped["results"][1]["error"], error);
    assert_eq!(stopped["stopped"], json!({ "reason": "error", "afterAction": 2, "skipped": 1 }));
    assert!(!stopped.has("aborted"));
    assert_eq!(log(http, &tab).await, json!(["click true"]));
    let all = batch(http, &tab, json!([wrong, click]), json!({ "stopOnError": false })).await;
    assert_eq!(oks(&all), [false, true]);
    assert_eq!(log(http, &tab).await, json!(["click true"]));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_wrong_anywhere_does_nothing() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/acts").await;
    let other = served.open("/ok").await;
    let click = json!({ "kind": "click", "selector": "#plain" });
    let nested =
        |depth: usize| (1..depth).fold(click.clone(), |it, _| json!({ "kind": "batch", "actions": [it] }));
    for (last, status, code, error) in [
        (json!({ "kind": "nonsense" }), 400, "ACT_KIND_REQUIRED", "kind"),
        (json!({ "kind": "press" }), 400, "ACT_INVALID_REQUEST", "press requires key"),
        (json!({ "kind": "wait" }), 400, "ACT_INVALID_REQUEST", "wait requires at least one of"),
        (
            json!({ "kind": "click", "selector": "#plain", "timeoutMs": 0 }),
            400,
            "ACT_INVALID_REQUEST",
            "timeoutMs",
        ),
        (
            json!({ "kind": "evaluate", "fn": "1", "selector": "a" }),
            400,
            "ACT_SELECTOR_UNSUPPORTED",
            "selector",
        ),
        (json!({ "kind": "batch", "actions": [] }), 400, "ACT_INVALID_REQUEST", "batch requires actions"),
        (nested(7), 400, "ACT_INVALID_REQUEST", "nested deeper than 5"),
        (
            json!({ "kind": "batch", "actions": vec![click.clone(); 99] }),
            400,
            "ACT_INVALID_REQUEST",
            "over the maximum of 100",
        ),
        (
            json!({ "kind": "evaluate", "fn": "1", "targetId": "zz" }),
            403,
            "ACT_TARGET_ID_MISMATCH",
            "must match",
        ),
        (
            json!({ "kind": "evaluate", "fn": "1", "targetId": other }),
            403,
            "ACT_TARGET_ID_MISMATCH",
            "must match",
        ),
        (json!(7), 400, "ACT_INVALID_REQUEST", "list of objects"),
    ] {
        let refused = batch(http, &tab, json!([click, last]), json!({})).await;
        assert_eq!((refused.status, &refused["code"]), (status, &json!(code)), "{last}: {refused:?}");
        assert!(refused.error().contains(error), "{refused:?}");
    }
    assert_eq!(log(http, &tab).await, json!([]));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_navigation_a_dialog_a_close_and_the_budget_stop_it() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/form").await;
    let wait = json!({ "kind": "wait", "timeMs": 1 });
    let away = json!({ "kind": "click", "selector": "a" });
    let stopped = batch(http, &tab, json!([wait, away, wait, wait]), json!({})).await;
    let ok = served.pages.url("/ok");
    assert_eq!(oks(&stopped), [true, true]);
    assert_eq!(
        stopped["aborted"],
        json!({ "reason": "navigation", "afterAction": 2, "url": ok, "skipped": 2 })
    );
    assert_eq!(
        (&stopped["results"][1]["navigated"], &stopped["results"][1]["url"]),
        (&json!(true), &json!(ok))
    );
    let loaded = http.act(json!({ "kind": "wait", "targetId": tab, "loadState": "load" })).await;
    assert_eq!(loaded.status, 200, "{loaded:?}");
    // A script that navigates is noticed before the next action.
    let form = served.pages.url("/form");
    let script = json!({ "kind": "evaluate", "fn": format!("() => {{ location.href = '{form}' }}") });
    let stopped = batch(http, &tab, json!([script, wait]), json!({})).await;
    assert_eq!(
        (oks(&stopped), &stopped["aborted"]["reason"]),
        (vec![true], &json!("navigation")),
        "{stopped:?}"
    );
    // A change inside of the document is none.
    let hash = json!({ "kind": "evaluate", "fn": "() => { location.hash = 'x' }" });
    assert_eq!(oks(&batch(http, &tab, json!([hash, wait]), json!({})).await), [true, true]);

    let acts = served.open("/acts").await;
    let asks = json!({ "kind": "click", "selector": "#asks" });
    let stopped = batch(http, &acts, json!([asks, wait]), json!({ "stopOnError": false })).await;
    assert_eq!((oks(&stopped), &stopped["blockedByDialog"]), (vec![true], &json!(true)), "{stopped:?}");
    assert_eq!(stopped["stopped"], json!({ "reason": "dialog", "afterAction": 1, "skipped": 1 }));
    assert_eq!(stopped["browserState"]["dialogs"]["pending"][0]["message"], "really?");
    let body = json!({ "accept": true, "targetId": acts });
    assert_eq!(http.send("POST /hooks/dialog", &body.to_string()).await.status, 200);

    let slow = json!({ "kind": "wait", "timeMs": 20_000 });
    let spent =
        batch(http, &acts, json!([wait, slow, wait]), json!({ "timeoutMs": 400, "stopOnError": false }))
            .await;
    assert_eq!(oks(&spent), [true, false], "{spent:?}");
    assert_eq!(
        (&spent["results"][1]["reason"], &spent["stopped"]["reason"]),
        (&json!("timeout"), &json!("budget"))
    );
    // An action's own time ends with the action.
    let brief = json!({ "kind": "wait", "text": "never", "timeoutMs": 100 });
    let went_on = batch(http, &acts, json!([brief, wait]), json!({ "stopOnError": false })).await;
    assert_eq!(oks(&went_on), [false, true], "{went_on:?}");

    let closed = batch(http, &acts, json!([{ "kind": "close" }, wait]), json!({})).await;
    assert_eq!(
        (oks(&closed), &closed["aborted"]),
        (vec![true], &json!({ "reason": "closed", "afterAction": 1, "skipped": 1 }))
    );
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_that_are_not_allowed_fail_in_their_turn() {
    let served = serve_with(|config| config.browser.evaluate_enabled = false).await;
    let http = &served.http;
    let opened = http.try_open(json!({ "url": served.pages.url("/acts") })).await;
    let tab = opened["tabId"].as_str().unwrap();
    let actions = json!([
        { "kind": "wait", "text": "Plain" }, { "kind": "evaluate", "fn": "1" }, { "kind": "wait", "fn": "1" },
    ]);
    let answer = batch(http, tab, actions, json!({ "stopOnError": false })).await;
    assert_eq!(oks(&answer), [true, false, false]);
    assert!(
        answer["results"][1]["error"].as_str().unwrap().starts_with("act:evaluate is disabled by config")
    );
    assert!(answer["results"][2]["error"].as_str().unwrap().starts_with("wait --fn is disabled"));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_are_opened_named_brought_to_the_front_and_closed_by_their_place() {
    let served = serve().await;
    let http = &served.http;
    let first = served.open("/ok").await;
    let act = async |body: Value| http.send("POST /tabs/action", &body.to_string()).await;
    let new = act(json!({ "action": "new", "label": "work" })).await;
    assert_eq!(
        (new.status, &new["tab"]["label"], &new["tab"]["suggestedTargetId"]),
        (200, &json!("work"), &json!("work")),
        "{new:?}"
    );
    let list = act(json!({ "action": "list" })).await;
    assert_eq!((&list["ok"], list["tabs"].as_array().unwrap().len()), (&json!(true), 2));
    let hidden = async |tab: &str| http.evaluate(tab, "document.visibilityState").await["result"].clone();
    // The newest is the first of the list; the older one is brought to the front.
    let selected = act(json!({ "action": "select", "index": 1 })).await;
    assert_eq!(
        (selected.status, &selected["targetId"]),
        (200, &http.row(&first).await["targetId"]),
        "{selected:?}"
    );
    assert_eq!(hidden(&first).await, "visible");
    let focused = http.send("POST /tabs/focus", r#"{"targetId":"work"}"#).await;
    assert_eq!((focused.status, &focused["targetId"]), (200, &new["tab"]["targetId"]), "{focused:?}");
    // It is the last used one from now on.
    let unnamed = http.act(json!({ "kind": "evaluate", "fn": "location.href" })).await;
    assert_result(&unnamed, "about:blank");
    let moved = act(json!({ "action": "label", "targetId": first, "label": "work" })).await;
    assert_eq!((moved.status, &moved["tab"]["tabId"]), (200, &json!(first)), "{moved:?}");
    for (body, status, error) in [
        (json!({ "action": "nope" }), 400, "unknown tab action"),
        (json!({ "action": "select" }), 400, "index is required"),
        (json!({ "action": "select", "index": -1 }), 400, "index must be a non-negative integer."),
        (json!({ "action": "close", "index": 99 }), 404, "tab not found"),
        (json!({ "action": "label", "targetId": "t1" }), 400, "targetId and label are required"),
        (json!({ "action": "new", "label": "a b" }), 400, "label must be"),
    ] {
        let refused = act(body).await;
        assert_eq!(refused.status, status, "{refused:?}");
        assert!(refused.error().contains(error), "{refused:?}");
    }
    assert_eq!(http.send("POST /tabs/focus", "{}").await.status, 400);
    assert_eq!(http.send("POST /tabs/focus", r#"{"targetId":"zz"}"#).await.status, 404);
    // Without a place it is the first: the newest.
    let closed = act(json!({ "action": "close" })).await;
    assert_eq!((closed.status, &closed["targetId"]), (200, &new["tab"]["targetId"]), "{closed:?}");
    assert_eq!(http.tabs().await.len(), 1);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_viewport_is_what_was_asked_for_and_stays_so() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/acts").await;
    let beside = served.open("/ok").await;
    let size = "() => [innerWidth, innerHeight]";
    let before = http.evaluate(&beside, size).await["result"].clone();
    let resized = http.act(json!({ "kind": "resize", "targetId": tab, "width": 333, "height": 444 })).await;
    assert_eq!((resized.status, &resized["effect"]), (200, &json!("confirmed")), "{resized:?}");
    assert_eq!(resized["observed"]["viewport"], json!({ "width": 333, "height": 444 }));
    assert_result(&http.evaluate(&tab, size).await, json!([333, 444]));
    for to in [served.pages.url("/ok"), served.pages.other_site("/ok")] {
        let body = json!({ "url": to, "targetId": tab }).to_string();
        assert_eq!(http.send("POST /navigate", &body).await.status, 200);
        assert_result(&http.evaluate(&tab, size).await, json!([333, 444]));
    }
    assert_result(&http.evaluate(&beside, size).await, before);
    for (width, height) in
        [(json!(0), json!(1)), (json!(1), json!(8193)), (json!("x"), json!(1)), (Value::Null, json!(1))]
    {
        let refused =
            http.act(json!({ "kind": "resize", "targetId": tab, "width": width, "height": height })).await;
        assert_eq!(failure(&refused).0, 400, "{refused:?}");
    }
    served.stop().await;
}
