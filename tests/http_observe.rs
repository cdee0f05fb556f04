//! What pages say, over HTTP: console, uncaught errors, requests, responses.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::Answer;
use support::served::{Served, assert_result, serve, serve_with};
use support::{eventually, raw};

async fn ask(served: &Served, what: &str, tab: &str, more: &str) -> Answer {
    let answer = served.http.get(&format!("/{what}?targetId={tab}{more}")).await;
    assert_eq!((answer.status, &answer["ok"]), (200, &json!(true)), "{answer:?}");
    answer
}

async fn texts(served: &Served, tab: &str, more: &str) -> Vec<String> {
    let answer = ask(served, "console", tab, more).await;
    let rows = answer["messages"].as_array().unwrap();
    rows.iter().filter(|row| by_page(row)).map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

/// Chromium asks for an icon by itself, and says that there is none.
fn by_page(row: &Value) -> bool {
    !row["location"]["url"].as_str().unwrap().ends_with("/favicon.ico")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_there_once_its_script_was_answered() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let script = "console.log('one', 1, {a: 1, b: [1, 2]});\nconsole.warn('%s is %d', 'two', 2);\n\
                  console.error(new TypeError('three'));\nconsole.debug([1, 'x', null]); return 7";
    assert_result(&served.http.evaluate(&tab, script).await, 7);
    let answer = ask(&served, "console", &tab, "").await;
    let rows: Vec<_> = answer["messages"].as_array().unwrap().iter().filter(|row| by_page(row)).collect();
    let types: Vec<_> = rows.iter().map(|row| row["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["log", "warning", "error", "debug"], "{answer:?}");
    assert_eq!(rows[0]["text"], "one 1 {a: 1, b: Array(2)}");
    assert_eq!(rows[1]["text"], "two is 2");
    assert!(rows[2]["text"].as_str().unwrap().starts_with("TypeError: three\n    at "), "{answer:?}");
    assert_eq!(rows[3]["text"], "[1, 'x', null]");
    assert!(rows[0]["timestamp"].as_str().unwrap().ends_with('Z'), "{answer:?}");
    assert!(rows[1]["location"]["lineNumber"].is_u64() && rows[1]["location"]["columnNumber"].is_u64());
    assert_eq!((&answer["dropped"], &answer["lost"], &answer["gaps"]), (&json!(0), &json!(0), &json!(0)));

    assert_eq!(texts(&served, &tab, "&level=warn").await.len(), 2);
    assert_eq!(texts(&served, &tab, "&level=error").await.len(), 1);
    assert_eq!(texts(&served, &tab, "&level=info").await.len(), 3);
    let next = answer["next"].as_u64().unwrap();
    served.http.evaluate(&tab, "console.log('four')").await;
    assert_eq!(texts(&served, &tab, &format!("&since={next}")).await, ["four"]);
    let wrong = served.http.get(&format!("/console?targetId={tab}&level=loud")).await;
    assert_eq!((wrong.status, wrong["details"]["field"].as_str()), (400, Some("level")), "{wrong:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_heard_from_its_first_word_on() {
    let served = serve().await;
    let tab = served.open("/says").await;
    assert_eq!(texts(&served, &tab, "").await[0], "first words");
    let answer = ask(&served, "requests", &tab, "").await;
    let first = &answer["requests"][0];
    assert_eq!(
        (&first["id"], &first["resourceType"], &first["status"]),
        (&json!("r1"), &json!("document"), &json!(200))
    );
    assert_eq!(first["url"], served.pages.url("/says"));
    // A page that a page opened, with and without a way back to its opener.
    for features in ["", "noopener"] {
        let before = served.http.tabs().await.len();
        let script = format!("open('/says?{features}', '_blank', '{features}'); return 1");
        assert_result(&served.http.evaluate(&tab, &script).await, 1);
        let popup = eventually("the popup has its tab", || async {
            let tabs = served.http.tabs().await;
            (tabs.len() > before).then(|| tabs[0]["tabId"].as_str().unwrap().to_owned())
        })
        .await;
        eventually("the popup is heard", || async {
            let said = ask(&served, "console", &popup, "").await;
            let asked = ask(&served, "requests", &popup, "&filter=document").await;
            (said["messages"][0]["text"] == "first words" && asked["requests"][0]["status"] == 200)
                .then_some(())
        })
        .await;
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uncaught_errors_are_told_until_they_are_cleared() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let script = "setTimeout(() => { throw new RangeError('thrown') });\nPromise.reject(new TypeError('rejected'));\n\
                  Promise.reject('just text');\nreturn new Promise(it => setTimeout(() => it(1), 50))";
    assert_result(&served.http.evaluate(&tab, script).await, 1);
    let answer = ask(&served, "errors", &tab, "&clear=true").await;
    let mut rows: Vec<_> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str(), row["message"].as_str().unwrap()))
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, [(None, "just text"), (Some("RangeError"), "thrown"), (Some("TypeError"), "rejected")]);
    let thrown = answer["errors"].as_array().unwrap().iter().find(|row| row["message"] == "thrown").unwrap();
    assert!(thrown["stack"].as_str().unwrap().starts_with("RangeError: thrown\n    at "), "{answer:?}");
    assert_eq!(ask(&served, "errors", &tab, "").await["errors"], json!([]));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_say_how_they_ended() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let gone = "http://127.0.0.1:9/";
    let script = format!(
        "await fetch('/404'); await fetch('{gone}', {{mode: 'no-cors'}}).catch(() => 0);
         await fetch('data:text/plain,x'); await fetch('/ok', {{method: 'POST', body: 'x'.repeat(1e6)}}); return 1"
    );
    assert_result(&served.http.evaluate(&tab, &script).await, 1);
    let answer = eventually("all have ended", || async {
        let answer = ask(&served, "requests", &tab, "&filter=fetch").await;
        (answer["requests"].as_array().unwrap().iter().filter(|row| row.get("ok").is_some()).count() == 3)
            .then_some(answer)
    })
    .await;
    let row = |n: usize| answer["requests"][n].clone();
    assert_eq!(
        (&row(0)["status"], &row(0)["ok"], &row(0)["method"]),
        (&json!(404), &json!(false), &json!("GET"))
    );
    assert_eq!((&row(1)["url"], row(1).get("status")), (&json!(gone), None));
    assert!(row(1)["failureText"].as_str().unwrap().starts_with("net::ERR_"), "{answer:?}");
    assert_eq!((&row(2)["method"], &row(2)["ok"]), (&json!("POST"), &json!(true)));
    assert_eq!(ask(&served, "requests", &tab, "&filter=404").await["requests"].as_array().unwrap().len(), 1);
    ask(&served, "requests", &tab, "&clear=1").await;
    assert_eq!(ask(&served, "requests", &tab, "").await["requests"], json!([]));
    // A resource that failed is said by the browser, in the console.
    assert!(texts(&served, &tab, "&level=error").await.iter().any(|text| text.contains("404")));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_other_sites_are_heard_too() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let far = served.pages.other_site("/says");
    let script = format!(
        "const f = document.createElement('iframe'); f.src = '{far}'; document.body.append(f); await new Promise(it => f.onload = it); return 1"
    );
    assert_result(&served.http.evaluate(&tab, &script).await, 1);
    eventually("the frame is heard", || async {
        texts(&served, &tab, "").await.contains(&"first words".to_owned()).then_some(())
    })
    .await;
    let requests = ask(&served, "requests", &tab, "").await;
    let urls: Vec<_> = requests["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["url"].clone(), row["status"].clone()))
        .collect();
    assert!(urls.contains(&(json!(far), json!(200))), "{urls:?}");
    // What the frame itself asked for.
    assert!(urls.contains(&(json!(served.pages.other_site("/404")), json!(404))), "{urls:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_is_bounded_and_its_loss_is_told() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let beside = served.open("/ok").await;
    assert_result(
        &served.http.evaluate(&tab, "for (let i = 0; i < 6000; i++) console.log(i); return 1").await,
        1,
    );
    assert_result(&served.http.evaluate_within(&beside, "1 + 1", 5000).await, 2);
    let answer = eventually("the flood is over", || async {
        let answer = ask(&served, "console", &tab, "").await;
        let counted = answer["next"].as_u64().unwrap() + answer["lost"].as_u64().unwrap();
        (6000..=6001).contains(&counted).then_some(answer)
    })
    .await;
    assert_eq!(answer["messages"].as_array().unwrap().len(), 500);
    assert_eq!(
        answer["dropped"].as_u64().unwrap() + 500,
        answer["next"].as_u64().unwrap(),
        "{}",
        answer["next"]
    );
    // It goes on afterwards.
    served.http.evaluate(&tab, "console.log('after')").await;
    eventually("the page is heard again", || async {
        texts(&served, &tab, "").await.contains(&"after".to_owned()).then_some(())
    })
    .await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_message_over_the_frame_limit_costs_observation_only() {
    let served = serve_with(|config| config.limits.max_frame_bytes = 4 << 20).await;
    let tab = served.open("/ok").await;
    let row = served.http.row(&tab).await;
    served.http.evaluate(&tab, "console.log('before')").await;
    eventually("it is heard", || async {
        texts(&served, &tab, "").await.contains(&"before".to_owned()).then_some(())
    })
    .await;
    assert_result(&served.http.evaluate(&tab, "console.log('x'.repeat(6e6)); return 1").await, 1);
    eventually("the gap is told", || async {
        (ask(&served, "console", &tab, "").await["gaps"] == 1).then_some(())
    })
    .await;
    eventually("the page is heard again", || async {
        served.http.evaluate(&tab, "console.log('after')").await;
        texts(&served, &tab, "").await.contains(&"after".to_owned()).then_some(())
    })
    .await;
    let now = ask(&served, "console", &tab, "").await;
    // What broke the link does not break the next one, and what was told is not told again.
    assert_eq!(now["gaps"], 1, "{now:?}");
    assert_eq!(texts(&served, &tab, "").await.iter().filter(|text| *text == "before").count(), 1);
    assert_eq!(served.http.row(&tab).await["restarts"], row["restarts"]);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stuck_page_costs_a_reader_a_moment() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    served.http.evaluate(&tab, "console.log('before')").await;
    assert_eq!(texts(&served, &tab, "").await, ["before"]);
    let other = served.running.tabvisor.tab(tab.parse().unwrap()).unwrap();
    let beside = raw::beside(&served.running, &other).await;
    let _pending = beside.send("Runtime.evaluate", json!({ "expression": "alert('open')" })).await;
    eventually("the dialog is open", || async {
        (served.http.row(&tab).await["state"] == "dialog").then_some(())
    })
    .await;
    let began = tokio::time::Instant::now();
    assert_eq!(texts(&served, &tab, "").await, ["before"]);
    assert!(began.elapsed() < support::secs(3), "{:?}", began.elapsed());
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_response_that_comes_is_given_with_its_body() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let wait = |body: Value| {
        let http = served.http.clone();
        tabvisor_cdp::task::spawn(async move { http.send("POST /response/body", &body.to_string()).await })
    };
    // The page asks over and over: only what comes while somebody waits counts.
    served
        .http
        .evaluate(&tab, "window.asking = setInterval(() => fetch('/ok?' + Math.random()), 50); return 1")
        .await;
    let answer = wait(json!({ "targetId": tab, "url": "**/ok?*" })).join().await.unwrap();
    assert_eq!((answer.status, &answer["response"]["status"]), (200, &json!(200)), "{answer:?}");
    assert_eq!(answer["response"]["body"], "<!doctype html><title>ok</title><p>ok</p>");
    assert!(
        answer["response"]["headers"]["content-type"].as_str().unwrap().starts_with("text/html"),
        "{answer:?}"
    );
    let cut = wait(json!({ "targetId": tab, "url": "/ok?", "maxChars": 9 })).join().await.unwrap();
    assert_eq!(
        (&cut["response"]["body"], &cut["response"]["truncated"]),
        (&json!("<!doctype"), &json!(true))
    );
    let missed = wait(json!({ "targetId": tab, "url": "/nowhere", "timeoutMs": 300 })).join().await.unwrap();
    assert_eq!((missed.status, missed["reason"].as_str()), (500, Some("response_not_found")), "{missed:?}");
    assert!(
        missed.error().starts_with("Error: Response not found for url pattern \"/nowhere\""),
        "{missed:?}"
    );
    for (body, field) in [
        (json!({}), "url"),
        (json!({ "url": "/x", "maxChars": 0 }), "maxChars"),
        (json!({ "url": "/x", "maxChars": 6_000_000 }), "maxChars"),
    ] {
        let wrong = wait(body).join().await.unwrap();
        assert_eq!((wrong.status, wrong["details"]["field"].as_str()), (400, Some(field)), "{wrong:?}");
    }
    served.stop().await;
}
