//! Waiting over HTTP, on a real Chromium.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::{Answer, Http};
use support::secs;
use support::served::{failure, serve, serve_with};
use tabvisor_cdp::task::{self, Task};

async fn wait(http: &Http, tab: &str, more: Value) -> Answer {
    let mut body = json!({ "kind": "wait", "targetId": tab });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    http.act(body).await
}

/// The same, on its way: until the tab has taken it up.
async fn waiting(http: &Http, tab: &str, more: Value) -> Task<Answer> {
    let (mine, name) = (http.clone(), tab.to_owned());
    let task = task::spawn(async move { wait(&mine, &name, more).await });
    support::eventually("the wait is taken up", || async {
        (http.row(tab).await["queue"]["actions"] == 1).then_some(())
    })
    .await;
    task
}

fn held(answer: &Answer) -> Vec<String> {
    assert_eq!((answer.status, &answer["effect"]), (200, &json!("confirmed")), "{answer:?}");
    let held = answer["observed"]["held"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    held.iter().map(|it| it["condition"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_holds_already_is_answered_at_once_in_the_order_of_the_contract() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/form").await;
    let page = http.get(&format!("/snapshot?targetId={tab}&interactive=true")).await;
    let element = page["refs"].as_object().unwrap().keys().next().unwrap().clone();
    let all = json!({
        "fn": "() => document.title === 'form'", "loadState": "networkidle", "url": "**/form", "ref": element,
        "selector": "#save", "textGone": "never there", "text": "  SAVE ", "timeMs": 20,
    });
    let answer = wait(http, &tab, all).await;
    assert_eq!(held(&answer), ["timeMs", "text", "textGone", "selector", "ref", "url", "loadState", "fn"]);
    assert!(answer["observed"]["elapsedMs"].as_u64().unwrap() >= 520, "{answer:?}");
    for load in ["load", "domcontentloaded"] {
        assert_eq!(held(&wait(http, &tab, json!({ "loadState": load })).await), ["loadState"]);
    }
    assert_eq!(held(&wait(http, &tab, json!({ "url": "/form" })).await), ["url"]);
    // The page has seen nothing of it.
    let left = http.evaluate(&tab, "Object.keys(globalThis).filter(it => /tabvisor/i.test(it))").await;
    assert_eq!(left["result"], json!([]));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_later_ends_the_wait_and_other_calls_go_on_meanwhile() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/acts").await;
    let act = async |script: &str| assert_eq!(http.evaluate(&tab, script).await.status, 200);
    // What is not shown is not there, also not as text of a hidden element or of a script.
    act("document.body.insertAdjacentHTML('beforeend', '<p id=p hidden>Order placed</p>')").await;
    let pending = waiting(http, &tab, json!({ "text": "order  Placed", "timeoutMs": 60_000 })).await;
    // A click is an ordered action; it does not wait for the wait.
    let clicked = http.act(json!({ "kind": "click", "targetId": tab, "selector": "#plain" })).await;
    assert_eq!(clicked["effect"], "confirmed", "{clicked:?}");
    assert!(!pending.is_finished());
    act("document.getElementById('p').hidden = false").await;
    assert_eq!(held(&pending.join().await.unwrap()), ["text"]);

    let pending = waiting(http, &tab, json!({ "textGone": "order placed", "timeoutMs": 60_000 })).await;
    act("document.getElementById('p').style.visibility = 'hidden'").await;
    assert_eq!(held(&pending.join().await.unwrap()), ["textGone"]);

    for (how, script) in [
        ("in an open shadow tree", "it.attachShadow({ mode: 'open' }).innerHTML = '<b>Deep</b>'"),
        ("in a frame", "it.innerHTML = '<iframe srcdoc=\"<b>Deep</b>\"></iframe>'"),
        ("on a button", "it.innerHTML = '<input type=button value=Deep>'"),
        (
            "by a style alone",
            "it.innerHTML = '<style>#x{display:none}</style><b id=x>Deep</b>'; document.styleSheets[document.styleSheets.length - 1].cssRules[0].style.display = 'block'",
        ),
    ] {
        act("document.body.append(Object.assign(document.createElement('div'), { id: 'host' }))").await;
        let pending = waiting(http, &tab, json!({ "text": "Deep", "timeoutMs": 60_000 })).await;
        act(&format!("const it = document.getElementById('host'); {script}")).await;
        assert_eq!(held(&pending.join().await.unwrap()), ["text"], "{how}");
        act("document.getElementById('host').remove()").await;
    }

    let pending = waiting(http, &tab, json!({ "selector": ".late", "timeoutMs": 60_000 })).await;
    act("document.body.insertAdjacentHTML('beforeend', '<i class=late></i><b class=late>x</b>')").await;
    assert_eq!(held(&pending.join().await.unwrap()), ["selector"]);
    let pending = waiting(http, &tab, json!({ "url": "#there", "timeoutMs": 60_000 })).await;
    act("location.hash = 'there'").await;
    assert_eq!(held(&pending.join().await.unwrap()), ["url"]);

    let function = json!({ "fn": "() => window.ready", "timeoutMs": 60_000 });
    let (mine, name) = (http.clone(), tab.clone());
    let pending = task::spawn(async move { wait(&mine, &name, function).await });
    act("new Promise(it => setTimeout(() => { window.ready = 1; it() }, 200))").await;
    assert_eq!(held(&pending.join().await.unwrap()), ["fn"]);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_outlives_the_document() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/acts").await;
    for (there, how) in [
        (json!({ "text": "Away" }), "http"),
        (json!({ "selector": "#save" }), "http"),
        (json!({ "url": "**/form" }), "http"),
        // Another site is another process.
        (json!({ "text": "Away" }), "other site"),
    ] {
        let mut asked = there.clone();
        asked["timeoutMs"] = json!(60_000);
        let pending = waiting(http, &tab, asked).await;
        let to = if how == "http" { served.pages.url("/form") } else { served.pages.other_site("/form") };
        let body = json!({ "url": to, "targetId": tab });
        assert_eq!(http.send("POST /navigate", &body.to_string()).await.status, 200);
        assert_eq!(held(&pending.join().await.unwrap()).len(), 1, "{there} {how}");
        let back = json!({ "url": served.pages.url("/acts"), "targetId": tab });
        assert_eq!(http.send("POST /navigate", &back.to_string()).await.status, 200);
    }
    // A ref does not: it is of a document.
    let page = http.get(&format!("/snapshot?targetId={tab}&interactive=true")).await;
    let element = page["refs"].as_object().unwrap().keys().next().unwrap().clone();
    let hide = "for (const it of document.querySelectorAll('*')) it.style.display = 'none'";
    assert_eq!(http.evaluate(&tab, hide).await.status, 200);
    let pending = waiting(http, &tab, json!({ "ref": element, "timeoutMs": 60_000 })).await;
    let body = json!({ "url": served.pages.url("/form"), "targetId": tab });
    assert_eq!(http.send("POST /navigate", &body.to_string()).await.status, 200);
    let stale = pending.join().await.unwrap();
    assert_eq!(
        (&stale["reason"], &stale["details"]["why"]),
        (&json!("stale_ref"), &json!("document_changed"))
    );
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_budget_bounds_all_conditions_and_the_answer_names_what_was_missing() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/acts").await;
    for (more, condition) in [
        (json!({ "text": "never there" }), "text"),
        (json!({ "textGone": "Plain" }), "textGone"),
        (json!({ "selector": "#none" }), "selector"),
        (json!({ "url": "/elsewhere" }), "url"),
        (json!({ "fn": "() => false" }), "fn"),
        (json!({ "timeMs": 10_000 }), "timeMs"),
        // 300 ms of the 500 are gone when it begins.
        (json!({ "timeMs": 300, "text": "never there", "fn": "1" }), "text"),
    ] {
        let begun = tokio::time::Instant::now();
        let mut asked = more.clone();
        asked["timeoutMs"] = json!(500);
        let answer = wait(http, &tab, asked).await;
        let took = begun.elapsed();
        assert_eq!(failure(&answer), (500, Some("ACT_OPERATION_FAILED"), Some("timeout")), "{answer:?}");
        assert!(
            answer.error().starts_with("TimeoutError: Timeout 500ms exceeded while waiting for"),
            "{answer:?}"
        );
        let details = &answer["details"];
        assert_eq!(
            (&details["condition"], &details["budgetMs"]),
            (&json!(condition), &json!(500)),
            "{answer:?}"
        );
        if condition != "timeMs" {
            assert_eq!(details["pageResponsive"], true, "{answer:?}");
        }
        assert!(took >= support::ms(450) && took < secs(5), "{more}: {took:?}");
    }
    // A time that is longer than the default budget is not cut.
    let long = wait(http, &tab, json!({ "timeMs": 10, "timeoutMs": 130_000 })).await;
    assert_eq!(long.status, 400, "{long:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialog_a_crash_and_a_bad_request_answer_at_once_and_a_stuck_page_at_the_budget() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/acts").await;
    for (more, error) in [
        (json!({ "selector": "[[" }), "not a valid CSS selector"),
        (json!({ "ref": "e999" }), "Unknown ref"),
        (json!({ "fn": "throw new Error('mine')" }), "mine"),
        (json!({}), "wait requires at least one of: timeMs"),
    ] {
        let answer = wait(http, &tab, more).await;
        assert!(answer.status >= 400 && answer.error().contains(error), "{answer:?}");
    }
    let busy = served.open("/busy").await;
    let pending = waiting(http, &busy, json!({ "text": "never", "timeoutMs": 60_000 })).await;
    let asked = http.evaluating(&busy, "alert('well?')", 60_000);
    let answer = pending.join().await.unwrap();
    assert_eq!((answer.status, &answer["blockedByDialog"]), (200, &json!(true)), "{answer:?}");
    let body = json!({ "accept": true, "targetId": busy });
    assert_eq!(http.send("POST /hooks/dialog", &body.to_string()).await.status, 200);
    assert_eq!(asked.join().await.unwrap()["blockedByDialog"], true);

    let stuck = http.evaluating(&busy, "work(3000)", 60_000);
    http.in_flight(&busy, 1).await;
    let answer = wait(http, &busy, json!({ "text": "never", "timeoutMs": 600 })).await;
    assert_eq!(
        (&answer["reason"], &answer["details"]["pageResponsive"]),
        (&json!("timeout"), &json!(false)),
        "{answer:?}"
    );
    assert_eq!(stuck.join().await.unwrap().status, 200);

    let pending = waiting(http, &busy, json!({ "text": "never", "timeoutMs": 60_000 })).await;
    let target = http.row(&busy).await["targetId"].as_str().unwrap().to_owned();
    let raw = support::raw::attach(&support::raw::address(&served.running), &target).await;
    let _crash = raw.send("Page.crash", json!({})).await;
    let answer = pending.join().await.unwrap();
    assert_eq!(failure(&answer), (500, Some("ACT_OPERATION_FAILED"), Some("crashed")), "{answer:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_is_never_quiet_is_named() {
    let served = serve().await;
    let http = &served.http;
    // Begun while somebody waits.
    let tab = served.open("/ok").await;
    assert_eq!(held(&wait(http, &tab, json!({ "loadState": "networkidle" })).await), ["loadState"]);
    assert_eq!(http.evaluate(&tab, "void setInterval(() => fetch('/never?mine'), 100)").await.status, 200);
    let answer = wait(http, &tab, json!({ "loadState": "networkidle", "timeoutMs": 1500 })).await;
    let open = &answer["details"]["openRequests"];
    assert_eq!((&answer["reason"], &open[0]["type"]), (&json!("timeout"), &json!("Fetch")), "{answer:?}");
    assert_eq!(open[0]["url"], served.pages.url("/never?mine"));
    // Begun before.
    let tab = served.open("/stream").await;
    let answer = wait(http, &tab, json!({ "loadState": "networkidle", "timeoutMs": 2500 })).await;
    let open = &answer["details"]["openRequests"];
    assert_eq!(
        (&answer["reason"], &open[0]["type"]),
        (&json!("timeout"), &json!("EventSource")),
        "{answer:?}"
    );
    assert_eq!(open[0]["url"], served.pages.url("/never?stream"), "{answer:?}");
    assert!(answer.error().contains("/never?stream"), "{answer:?}");
    // And ended.
    assert_eq!(http.evaluate(&tab, "source.close()").await.status, 200);
    assert_eq!(held(&wait(http, &tab, json!({ "loadState": "networkidle" })).await), ["loadState"]);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_function_is_gated_like_an_evaluate() {
    let served = serve_with(|config| config.browser.evaluate_enabled = false).await;
    let http = &served.http;
    let tab =
        http.try_open(json!({ "url": served.pages.url("/ok") })).await["tabId"].as_str().unwrap().to_owned();
    let refused = wait(http, &tab, json!({ "text": "ok", "fn": "1" })).await;
    assert_eq!((refused.status, &refused["code"]), (403, &json!("ACT_EVALUATE_DISABLED")));
    assert!(refused.error().starts_with("wait --fn is disabled"), "{refused:?}");
    assert_eq!(held(&wait(http, &tab, json!({ "text": "ok" })).await), ["text"]);
    served.stop().await;
}
