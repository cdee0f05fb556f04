//! Loading, going back and forward, and loading again over HTTP, on a real Chromium.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::{Answer, Http};
use support::secs;
use support::served::{failure, serve};

async fn go(http: &Http, how: &str, tab: &str, more: Value) -> Answer {
    let mut body = json!({ "targetId": tab });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    http.send(&format!("POST /navigate{how}"), &body.to_string()).await
}

fn landed(answer: &Answer) -> (&Value, &Value, &Value) {
    assert_eq!(answer.status, 200, "{answer:?}");
    (&answer["url"], &answer["httpStatus"], &answer["sameDocument"])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_is_walked_and_its_ends_are_told() {
    let served = serve().await;
    let http = &served.http;
    let page = |path: &str| json!(served.pages.url(path));
    let tab = served.open("/ok").await;
    let (ok, yes, no) = (json!(200), json!(true), json!(false));
    let to = go(http, "", &tab, json!({ "url": page("/form") })).await;
    assert_eq!(landed(&to), (&page("/form"), &ok, &no));
    // Within the same document, and back from the back-forward cache or from the network.
    let hash = page("/form#x");
    let to = go(http, "", &tab, json!({ "url": hash })).await;
    assert_eq!((&to["url"], &to["sameDocument"]), (&hash, &yes), "{to:?}");
    let back = go(http, "/back", &tab, json!({})).await;
    assert_eq!((&back["url"], &back["sameDocument"]), (&page("/form"), &yes), "{back:?}");
    let back = go(http, "/back", &tab, json!({})).await;
    assert_eq!(landed(&back), (&page("/ok"), &ok, &no));
    let forward = go(http, "/forward", &tab, json!({ "waitUntil": "commit" })).await;
    assert_eq!(landed(&forward), (&page("/form"), &ok, &no));
    assert_eq!(http.row(&tab).await["url"], page("/form"));
    assert_eq!(http.evaluate(&tab, "window.mark = 1").await.status, 200);
    let again = go(http, "/reload", &tab, json!({})).await;
    assert_eq!(landed(&again), (&page("/form"), &ok, &no));
    assert_eq!(http.evaluate(&tab, "typeof mark").await["result"], "undefined");
    // The empty page of its birth is the first entry, or there is none.
    while go(http, "/back", &tab, json!({})).await.status == 200 {}
    let before = http.row(&tab).await["url"].clone();
    let end = go(http, "/back", &tab, json!({})).await;
    assert_eq!(failure(&end), (409, None, Some("no_history")), "{end:?}");
    assert_eq!(http.row(&tab).await["url"], before);
    assert_eq!(go(http, "/back", &tab, json!({ "waitUntil": "x" })).await.status, 400);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_may_not_be_left_is_told_at_once() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/ok").await;
    let form = json!({ "url": served.pages.url("/acts") });
    assert_eq!(go(http, "", &tab, form).await.status, 200);
    let stay = "() => { onbeforeunload = e => { e.preventDefault(); return '' } }";
    assert_eq!(http.evaluate(&tab, stay).await.status, 200);
    // Chromium asks only for a page that was touched.
    let click = json!({ "kind": "click", "targetId": tab, "selector": "#plain" });
    assert_eq!(http.act(click).await.status, 200);
    for how in ["/reload", "/back", ""] {
        let arm = json!({ "targetId": tab, "accept": false }).to_string();
        assert_eq!(http.send("POST /hooks/dialog", &arm).await.status, 200);
        let begun = tokio::time::Instant::now();
        let more = json!({ "url": served.pages.url("/ok"), "timeoutMs": 60_000 });
        let stayed = go(http, how, &tab, more).await;
        assert!(begun.elapsed() < secs(20), "at once, not at the budget");
        assert_eq!(failure(&stayed), (409, None, Some("navigation_cancelled")), "{how}: {stayed:?}");
        assert!(stayed.error().contains("navigation: cancelled"));
        assert_eq!(http.evaluate(&tab, "document.title").await["result"], "acts");
    }
    // Nobody has answered beforehand: the dialog is named.
    let asked = go(http, "/reload", &tab, json!({ "timeoutMs": 60_000 })).await;
    assert_eq!(failure(&asked), (409, None, Some("dialog_open")), "{asked:?}");
    assert_eq!(asked["details"]["dialog"]["type"], "beforeunload", "{asked:?}");
    let body = json!({ "accept": true, "targetId": tab }).to_string();
    assert_eq!(http.send("POST /hooks/dialog", &body).await.status, 200);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_say_what_kind_and_what_came_with_a_status_is_no_failure() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/ok").await;
    let to = async |url: String| go(http, "", &tab, json!({ "url": url, "timeoutMs": 60_000 })).await;
    let missing = to(served.pages.url("/404")).await;
    assert_eq!(landed(&missing), (&json!(served.pages.url("/404")), &json!(404), &json!(false)));
    let none = to(served.pages.url("/204")).await;
    assert_eq!(failure(&none), (500, None, Some("no_document")), "{none:?}");
    let file = to(served.pages.url("/download")).await;
    assert_eq!((file.status, &file["download"]["suggestedFilename"]), (200, &json!("a.bin")), "{file:?}");
    assert_eq!(http.evaluate(&tab, "document.title").await["result"], "no", "the page is unchanged");
    let auth = to(served.pages.url("/401")).await;
    assert_eq!(failure(&auth), (500, None, Some("navigation_failed")), "{auth:?}");
    assert_eq!(
        (&auth["details"]["class"], &auth["details"]["mayPass"]),
        (&json!("auth_required"), &json!(false))
    );
    assert_eq!(auth["details"]["challenge"], json!({ "scheme": "basic", "realm": "fixtures" }));
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (url, class) in [
        (format!("http://{nobody}/"), "refused"),
        ("http://nobody.invalid/".to_owned(), "dns"),
        (served.pages.url("/ok").replace("http:", "https:"), "tls"),
        ("http://127.0.0.1:1/".to_owned(), "blocked"),
    ] {
        let failed = to(url.clone()).await;
        assert_eq!(failure(&failed), (500, None, Some("navigation_failed")), "{failed:?}");
        assert_eq!(failed["details"]["class"], class, "{failed:?}");
    }
    // The page of a failed load fails again, by its own name.
    to(format!("http://{nobody}/")).await;
    let again = go(http, "/reload", &tab, json!({ "timeoutMs": 60_000 })).await;
    assert_eq!(again["details"]["netError"], "net::ERR_CONNECTION_REFUSED", "{again:?}");
    served.stop().await;
}
