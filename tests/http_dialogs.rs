//! Dialogs over HTTP: named, answered, armed, remembered.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::Answer;
use support::raw;
use support::served::{Served, assert_result, serve, serve_with};
use tabvisor::dialog::Policy;

async fn hook(served: &Served, body: Value) -> Answer {
    served.http.send("POST /hooks/dialog", &body.to_string()).await
}

async fn dialogs(served: &Served, tab: &str) -> Value {
    served.http.get(&format!("/dialogs?targetId={tab}")).await["browserState"]["dialogs"].clone()
}

/// Starts `function`, which opens a dialog, and gives the dialog.
async fn opened(served: &Served, tab: &str, function: &str) -> Value {
    let blocked = served.http.evaluate(tab, function).await;
    assert_eq!((blocked.status, &blocked["blockedByDialog"]), (200, &json!(true)), "{blocked:?}");
    blocked["browserState"]["dialogs"]["pending"][0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_answered_by_its_id_and_remembered() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    for (function, answer, seen) in [
        ("window.got = confirm('sure?')", json!({ "accept": true }), json!(true)),
        ("window.got = confirm('sure?')", json!({ "accept": false }), json!(false)),
        (
            "window.got = prompt('who?', 'me')",
            json!({ "accept": true, "promptText": "you 👹" }),
            json!("you 👹"),
        ),
        ("window.got = prompt('who?', 'me')", json!({ "accept": true, "promptText": "" }), json!("")),
        ("window.got = prompt('who?', 'me')", json!({ "accept": true }), json!("me")),
        ("window.got = prompt('who?', 'me')", json!({ "accept": false }), Value::Null),
        (
            "setTimeout(() => { window.got = confirm('later') }); return new Promise(() => {})",
            json!({ "accept": true }),
            json!(true),
        ),
    ] {
        let dialog = opened(&served, &tab, function).await;
        let mut body = json!({ "targetId": tab, "dialogId": dialog["id"] });
        body.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        let answered = hook(&served, body).await;
        assert_eq!((answered.status, &answered["ok"]), (200, &json!(true)), "{answered:?}");
        assert_eq!(answered["dialog"]["closedBy"], "agent");
        assert_result(&served.http.evaluate_within(&tab, "window.got", 5000).await, seen);
    }
    let log = dialogs(&served, &tab).await;
    assert_eq!((&log["pending"], log["recent"].as_array().unwrap().len()), (&json!([]), 7), "{log}");
    let last = &log["recent"][6];
    assert!(last["openedAt"].as_str().unwrap() <= last["closedAt"].as_str().unwrap(), "{last}");
    for (body, status, error) in [
        (json!({ "accept": true, "dialogId": "d9" }), 500, "Error: Dialog \"d9\" is not pending."),
        (json!({ "dialogId": "d9" }), 400, "accept is required"),
        (json!({ "accept": true, "promptText": 7 }), 400, "promptText must be a string."),
    ] {
        let refused = hook(&served, body).await;
        assert_eq!((refused.status, refused.error()), (status, error), "{refused:?}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_armed_answer_is_given_once() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let armed = hook(&served, json!({ "accept": false, "targetId": tab })).await;
    assert_eq!((armed.status, &armed["armed"]), (200, &json!(true)), "{armed:?}");
    assert_result(&served.http.evaluate(&tab, "confirm('one')").await, false);
    assert_eq!(dialogs(&served, &tab).await["recent"][0]["closedBy"], "armed");
    let second = opened(&served, &tab, "confirm('two')").await;
    assert_eq!(second["message"], "two");
    // Without an id, the one that is open.
    assert_eq!(hook(&served, json!({ "accept": true, "targetId": tab })).await["dialog"]["id"], second["id"]);
    assert_result(&served.http.evaluate_within(&tab, "1 + 1", 5000).await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_answered_is_known_to_be_over() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    opened(&served, &tab, "confirm('mine?')").await;
    // A navigation takes the dialog with it.
    let other = served.running.tabvisor.tab(tab.parse().unwrap()).unwrap();
    let beside = raw::beside(&served.running, &other).await;
    beside.call("Page.navigate", json!({ "url": served.pages.url("/form") })).await.unwrap();
    support::eventually("the dialog is gone", || async {
        (dialogs(&served, &tab).await["pending"] == json!([])).then_some(())
    })
    .await;
    assert_eq!(dialogs(&served, &tab).await["recent"][0]["closedBy"], "remote");
    assert_result(&served.http.evaluate_within(&tab, "1 + 1", 5000).await, 2);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_answers_storms_without_a_word() {
    let served = serve_with(|config| config.care.dialogs = Policy::Accept).await;
    let tab = served.open("/ok").await;
    let storm = "let n = 0; for (let i = 0; i < 50; i++) n += confirm('again'); return n";
    assert_result(&served.http.evaluate(&tab, storm).await, 50);
    let log = dialogs(&served, &tab).await;
    assert_eq!(
        (log["recent"].as_array().unwrap().len(), &log["recent"][0]["repeated"]),
        (1, &json!(49)),
        "{log}"
    );
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_is_one_however_many_listen_and_its_id_is_used_once() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let other = served.running.tabvisor.tab(tab.parse().unwrap()).unwrap();
    let beside = [raw::beside(&served.running, &other).await, raw::beside(&served.running, &other).await];
    for listener in &beside {
        listener.call("Page.enable", json!({})).await.unwrap();
    }
    let dialog = opened(&served, &tab, "window.got = confirm('sure?')").await;
    assert_eq!(dialogs(&served, &tab).await["pending"].as_array().unwrap().len(), 1);
    let answer = json!({ "targetId": tab, "accept": true, "dialogId": dialog["id"] });
    assert_eq!(hook(&served, answer.clone()).await.status, 200);
    let log = dialogs(&served, &tab).await;
    assert_eq!((&log["pending"], log["recent"].as_array().unwrap().len()), (&json!([]), 1), "{log}");
    // The next one is another, which the used id does not answer.
    let next = opened(&served, &tab, "window.got = confirm('again?')").await;
    assert_ne!(next["id"], dialog["id"]);
    let refused = hook(&served, answer).await;
    assert_eq!((refused.status, &refused["reason"]), (500, &json!("no_dialog")), "{refused:?}");
    assert_eq!(dialogs(&served, &tab).await["pending"][0]["id"], next["id"]);
    // Another client answers it: that is known from its being closed.
    beside[0].call("Page.handleJavaScriptDialog", json!({ "accept": false })).await.unwrap();
    assert_result(&served.http.evaluate_within(&tab, "window.got", 20_000).await, false);
    assert_eq!(dialogs(&served, &tab).await["recent"][1]["closedBy"], "remote");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_close_is_not_asked_about_and_a_dialog_does_not_hold_it_up() {
    let served = serve().await;
    let tab = served.open("/acts").await;
    let stay = "() => { onbeforeunload = e => { e.preventDefault(); return '' } }";
    assert_eq!(served.http.evaluate(&tab, stay).await.status, 200);
    // Chromium asks only for a page that was touched.
    let click = json!({ "kind": "click", "targetId": tab, "selector": "#plain" });
    assert_eq!(served.http.act(click).await.status, 200);
    assert_eq!(served.http.close(&tab).await.status, 200);
    let stray = served.open("/ok").await;
    opened(&served, &stray, "confirm('stay?')").await;
    assert_eq!(served.http.close(&stray).await.status, 200);
    assert_eq!(served.http.tabs().await.len(), 0);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_waited_for_behind_a_dialog_that_is_open() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let dialog = opened(&served, &tab, "confirm('sure?')").await;
    let long = 60_000;
    let begun = tokio::time::Instant::now();
    for (path, more) in [
        ("/wait/download", json!({})),
        ("/download", json!({ "currentDocument": true, "expectedUrl": served.pages.url("/ok") })),
        ("/hooks/file-chooser", json!({ "remotePath": "/f" })),
        ("/highlight", json!({ "clear": true })),
    ] {
        let mut body = json!({ "targetId": tab, "timeoutMs": long });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let blocked = served.http.send(&format!("POST {path}"), &body.to_string()).await;
        assert_eq!((blocked.status, &blocked["blockedByDialog"]), (200, &json!(true)), "{path}: {blocked:?}");
        let named = &blocked["browserState"]["dialogs"]["pending"][0];
        assert_eq!(named["id"], dialog["id"], "{path}: {blocked:?}");
    }
    let body = json!({ "targetId": tab, "timeoutMs": long, "url": "ok" }).to_string();
    let refused = served.http.send("POST /response/body", &body).await;
    assert_eq!((refused.status, &refused["reason"]), (409, &json!("dialog_open")), "{refused:?}");
    assert_eq!(refused["details"]["dialog"]["id"], dialog["id"], "{refused:?}");
    assert!(begun.elapsed() < support::secs(20), "at once, not at the budget");
    served.stop().await;
}
