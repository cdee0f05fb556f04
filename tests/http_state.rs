//! Cookies, storage, text, emulation and permissions over HTTP, judged by what the page and its server
//! see.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::eventually;
use support::http::Answer;
use support::served::{Served, assert_result, serve};

async fn post(served: &Served, path: &str, body: Value) -> Answer {
    served.http.send(&format!("POST {path}"), &body.to_string()).await
}

async fn done(served: &Served, path: &str, body: Value) -> Answer {
    let answer = post(served, path, body).await;
    assert_eq!((answer.status, &answer["ok"]), (200, &json!(true)), "{path} {answer:?}");
    answer
}

/// Every request is refused with 400 and the field's name.
async fn refused(served: &Served, path: &str, cases: &[(Value, &str)]) {
    for (body, field) in cases {
        let answer = post(served, path, body.clone()).await;
        let seen = (answer.status, answer["details"]["field"].as_str());
        assert_eq!(seen, (400, Some(*field)), "{path} {body} {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cookies_are_set_seen_by_the_page_and_cleared() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let url = served.pages.url("/ok");
    let set =
        done(&served, "/cookies/set", json!({ "cookie": { "name": "a", "value": "1", "url": url } })).await;
    assert_eq!(set["added"], 1);
    let many = json!({ "cookies": [
        { "name": "b", "value": "2", "domain": "127.0.0.1", "path": "/", "httpOnly": true, "sameSite": "Strict", "expires": 4_000_000_000_u64 },
        { "name": "gone", "value": "3", "url": url, "expires": 1 },
    ] });
    assert_eq!(done(&served, "/cookies/set-many", many).await["added"], 1, "one had expired");
    assert_result(&served.http.evaluate(&tab, "document.cookie").await, "a=1");
    let answer = served.http.get(&format!("/cookies?targetId={tab}")).await;
    let mut cookies = answer["cookies"].as_array().unwrap().clone();
    cookies.sort_by_key(|cookie| cookie["name"].to_string());
    assert_eq!(
        json!(cookies),
        json!([
            { "name": "a", "value": "1", "domain": "127.0.0.1", "path": "/", "expires": -1.0, "httpOnly": false, "secure": false, "sameSite": "Lax" },
            { "name": "b", "value": "2", "domain": "127.0.0.1", "path": "/", "expires": cookies[1]["expires"], "httpOnly": true, "secure": false, "sameSite": "Strict" },
        ])
    );
    refused(
        &served,
        "/cookies/set",
        &[
            (json!({}), "cookie"),
            (json!({ "cookie": { "name": "a", "value": "1" } }), "cookie.url"),
            (json!({ "cookie": { "name": "a", "value": "1", "domain": "x" } }), "cookie.path"),
            (json!({ "cookie": { "value": "1", "url": url } }), "cookie.name"),
            (json!({ "cookie": { "name": "a", "value": 1, "url": url } }), "cookie.value"),
            (
                json!({ "cookie": { "name": "a", "value": "1", "url": url, "sameSite": "Sometimes" } }),
                "cookie.sameSite",
            ),
            (json!({ "cookie": { "name": "__Secure-a", "value": "1", "url": url } }), "cookie"),
        ],
    )
    .await;
    let two =
        json!({ "cookies": [{ "name": "c", "value": "1", "url": url }, { "name": "d", "value": "1" }] });
    refused(&served, "/cookies/set-many", &[(json!({}), "cookies"), (two, "cookies[1].url")]).await;
    // Also while the page answers nothing.
    let stuck = served.http.evaluating(
        &tab,
        "const end = performance.now() + 3000; while (performance.now() < end);",
        10_000,
    );
    served.http.in_flight(&tab, 1).await;
    done(&served, "/cookies/clear", json!({ "targetId": tab, "timeoutMs": 2000 })).await;
    assert_eq!(served.http.get(&format!("/cookies?targetId={tab}")).await["cookies"], json!([]));
    stuck.join().await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storage_and_text_are_what_the_page_has() {
    let served = serve().await;
    let tab = served.open("/form").await;
    for (kind, object) in [("local", "localStorage"), ("session", "sessionStorage")] {
        done(
            &served,
            &format!("/storage/{kind}/set"),
            json!({ "targetId": tab, "key": "k", "value": " ü👹 " }),
        )
        .await;
        assert_result(
            &served
                .http
                .evaluate(&tab, &format!("{object}.setItem('x', '2'); return {object}.getItem('k')"))
                .await,
            " ü👹 ",
        );
        let all = served.http.get(&format!("/storage/{kind}?targetId={tab}")).await;
        assert_eq!(all["values"], json!({ "k": " ü👹 ", "x": "2" }), "{all:?}");
        let one = served.http.get(&format!("/storage/{kind}?targetId={tab}&key=x")).await;
        assert_eq!(one["values"], json!({ "x": "2" }));
        assert_eq!(
            served.http.get(&format!("/storage/{kind}?targetId={tab}&key=none")).await["values"],
            json!({})
        );
        done(&served, &format!("/storage/{kind}/clear"), json!({ "targetId": tab })).await;
        assert_result(&served.http.evaluate(&tab, &format!("{object}.length")).await, 0);
        refused(&served, &format!("/storage/{kind}/set"), &[(json!({ "value": "1" }), "key")]).await;
    }
    let wrong = served.http.get("/storage/cloud").await;
    assert_eq!((wrong.status, wrong.error()), (400, "kind must be local|session"), "{wrong:?}");
    // The page cannot change what is read.
    assert_result(
        &served
            .http
            .evaluate(&tab, "Storage.prototype.getItem = () => 'lie'; localStorage.real = 'yes'; return 1")
            .await,
        1,
    );
    assert_eq!(
        served.http.get(&format!("/storage/local?targetId={tab}&key=real")).await["values"],
        json!({ "real": "yes" })
    );

    let text = served.http.get(&format!("/text?targetId={tab}")).await;
    assert!(text["text"].as_str().unwrap().starts_with("Form") && text["truncated"] == false, "{text:?}");
    let cut = served.http.get(&format!("/text?targetId={tab}&selector=h1&maxChars=2")).await;
    assert_eq!((&cut["text"], &cut["truncated"]), (&json!("Fo"), &json!(true)));
    let none = served.http.get(&format!("/text?targetId={tab}&selector=video")).await;
    assert_eq!((none.status, none["reason"].as_str()), (500, Some("no_match")), "{none:?}");
    let most = served.http.get(&format!("/text?targetId={tab}&maxChars=40001")).await;
    assert_eq!((most.status, most["details"]["field"].as_str()), (400, Some("maxChars")));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_believes_what_is_set_also_after_it_navigated() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let on = |more: Value| {
        let mut body = json!({ "targetId": tab });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    done(&served, "/set/timezone", on(json!({ "timezoneId": "Asia/Tokyo" }))).await;
    done(&served, "/set/locale", on(json!({ "locale": "de-DE" }))).await;
    done(&served, "/set/media", on(json!({ "colorScheme": "dark" }))).await;
    done(&served, "/set/device", on(json!({ "name": "iPhone 14" }))).await;
    done(
        &served,
        "/set/geolocation",
        on(json!({ "latitude": 52.5, "longitude": 13.4, "origin": served.pages.url("/") })),
    )
    .await;
    done(&served, "/set/headers", on(json!({ "headers": { "X-Ours": "yes" } }))).await;
    let seen = "const place = await new Promise((it, no) => navigator.geolocation.getCurrentPosition(p => it(p.coords.latitude), e => it(e.message)));
        return [Intl.DateTimeFormat().resolvedOptions().timeZone, (1.5).toLocaleString(), navigator.language,
            matchMedia('(prefers-color-scheme: dark)').matches, innerWidth > 389 && screen.width === 390, devicePixelRatio,
            'ontouchstart' in window, navigator.userAgent.includes('iPhone'), place,
            (await (await fetch('/echo')).json())['x-ours']]";
    let want = json!(["Asia/Tokyo", "1,5", "de-DE", true, true, 3, true, true, 52.5, "yes"]);
    let navigate = |url: String| {
        let body = on(json!({ "url": url }));
        let http = served.http.clone();
        async move {
            {
                let answer = http.send("POST /navigate", &body.to_string()).await;
                assert_eq!(answer.status, 200, "{answer:?}");
            }
        }
    };
    navigate(served.pages.url("/ok?2")).await;
    assert_result(&served.http.evaluate(&tab, seen).await, want);
    // The document's own request, too, and in another process.
    navigate(served.pages.other_site("/echo")).await;
    assert_result(&served.http.evaluate(&tab, "JSON.parse(document.body.innerText)['x-ours'] + Intl.DateTimeFormat().resolvedOptions().timeZone").await, "yesAsia/Tokyo");
    navigate(served.pages.url("/ok")).await;
    for (path, more) in [
        ("/set/timezone", json!({ "clear": true })),
        ("/set/locale", json!({ "clear": true })),
        ("/set/media", json!({ "colorScheme": "none" })),
        ("/set/device", json!({ "clear": true })),
        ("/set/headers", json!({ "headers": {} })),
    ] {
        done(&served, path, on(more)).await;
    }
    let after = "return [Intl.DateTimeFormat().resolvedOptions().timeZone !== 'Asia/Tokyo', navigator.language !== 'de-DE',
        devicePixelRatio, navigator.userAgent.includes('iPhone'), (await (await fetch('/echo')).json())['x-ours'] === undefined]";
    assert_result(&served.http.evaluate(&tab, after).await, json!([true, true, 1, false, true]));
    refused(&served, "/set/timezone", &[(on(json!({ "timezoneId": "Mars/Phobos" })), "timezoneId")]).await;
    refused(&served, "/set/locale", &[(on(json!({ "locale": "zz_!!" })), "locale")]).await;
    refused(&served, "/set/device", &[(on(json!({ "name": "Nokia 3310" })), "name")]).await;
    refused(&served, "/set/geolocation", &[(on(json!({ "latitude": 91, "longitude": 0 })), "latitude")])
        .await;
    assert_eq!(post(&served, "/set/moon", json!({})).await.status, 404);
    // What was refused is not kept: the next session would be refused, too.
    done(&served, "/set/timezone", on(json!({ "timezoneId": "Europe/Berlin" }))).await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_without_network_gets_it_back() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let beside = served.open("/ok").await;
    let reach = "return [navigator.onLine, await fetch('/ok').then(() => 'ok', () => 'failed')]";
    done(&served, "/set/offline", json!({ "targetId": tab, "offline": true })).await;
    assert_result(&served.http.evaluate(&tab, reach).await, json!([false, "failed"]));
    // Of this tab alone.
    assert_result(&served.http.evaluate(&beside, reach).await, json!([true, "ok"]));
    done(&served, "/set/offline", json!({ "targetId": tab, "offline": false })).await;
    assert_result(&served.http.evaluate(&tab, reach).await, json!([true, "ok"]));
    refused(&served, "/set/offline", &[(json!({ "targetId": tab }), "offline")]).await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_are_given_to_a_server_that_asks_and_wrong_ones_once() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let fetch = "const answer = await fetch('/private'); return [answer.status, await answer.text()]";
    let set = |password: &str| json!({ "targetId": tab, "username": "ada", "password": password });
    // Without any, Chromium itself would ask a person, and the request waits for that.
    done(&served, "/set/credentials", set("wrong")).await;
    assert_result(&served.http.evaluate(&tab, fetch).await, json!([401, "who?"]));
    done(&served, "/set/credentials", set("love:lace")).await;
    assert_result(&served.http.evaluate(&tab, fetch).await, json!([200, "for your eyes"]));
    // Other requests go their way meanwhile.
    assert_result(
        &served
            .http
            .evaluate(
                &tab,
                "return (await Promise.all([...Array(50)].map(() => fetch('/ok')))).every(it => it.ok)",
            )
            .await,
        true,
    );
    done(&served, "/set/credentials", json!({ "targetId": tab, "clear": true })).await;
    assert_result(&served.http.evaluate(&tab, "1 + 1").await, 2);
    refused(&served, "/set/credentials", &[(json!({ "targetId": tab, "username": "ada" }), "password")])
        .await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_set_holds_again_once_its_link_was_lost() {
    let served = support::served::serve_with(|config| config.limits.max_frame_bytes = 4 << 20).await;
    let tab = served.open("/ok").await;
    done(&served, "/set/headers", json!({ "targetId": tab, "headers": { "X-Ours": "yes" } })).await;
    done(&served, "/set/credentials", json!({ "targetId": tab, "username": "ada", "password": "love:lace" }))
        .await;
    // Closes the observing link.
    assert_result(&served.http.evaluate(&tab, "console.log('x'.repeat(6e6)); return 1").await, 1);
    eventually("its loss is told", || async {
        (served.http.get(&format!("/console?targetId={tab}")).await["gaps"] == 1).then_some(())
    })
    .await;
    // No request is held meanwhile.
    let echo = "return (await (await fetch('/echo')).json())['x-ours'] || null";
    eventually("the header is sent again", || async {
        let answer = served.http.evaluate_within(&tab, echo, 5000).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        (answer["result"] == "yes").then_some(())
    })
    .await;
    assert_result(&served.http.evaluate(&tab, "return (await fetch('/private')).status").await, 200);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permissions_are_granted_to_an_origin() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let origin = served.pages.url("/some/where");
    let body = json!({ "targetId": tab, "origin": origin, "permissions": ["notifications"], "optionalPermissions": ["telepathy"] });
    let granted = done(&served, "/permissions/grant", body).await;
    assert_eq!(
        (&granted["grantedPermissions"], &granted["unsupportedPermissions"]),
        (&json!(["notifications"]), &json!(["telepathy"]))
    );
    assert_result(
        &served
            .http
            .evaluate(&tab, "return (await navigator.permissions.query({name: 'notifications'})).state")
            .await,
        "granted",
    );
    refused(
        &served,
        "/permissions/grant",
        &[
            (json!({ "permissions": ["notifications"] }), "origin"),
            (json!({ "origin": "about:blank", "permissions": ["notifications"] }), "origin"),
            (json!({ "origin": origin }), "permissions"),
            (json!({ "origin": origin, "permissions": ["telepathy"] }), "permissions"),
        ],
    )
    .await;
    for path in ["/trace/start", "/trace/stop", "/screencast"] {
        assert_eq!(post(&served, path, json!({})).await.status, 501);
    }
    served.stop().await;
}
