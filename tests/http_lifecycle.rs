//! Browsers as profiles over HTTP: their status, starting, stopping, making and deleting them.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::json;
use support::served::{assert_result, failure, serve, serve_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_told_stopped_and_started_again_by_whoever_needs_it() {
    let served = serve().await;
    let http = &served.http;
    let tab = served.open("/ok").await;
    let status = http.get("/").await;
    assert_eq!(
        (status.status, &status["running"], &status["profile"]),
        (200, &json!(true), &json!("openclaw"))
    );
    assert_eq!(
        (&status["driver"], &status["headless"], &status["attachOnly"]),
        (&json!("openclaw"), &json!(true), &json!(false))
    );
    assert!(status["pid"].as_u64().is_some_and(|pid| pid > 0) && status["cdpUrl"].is_null(), "{status:?}");
    assert_eq!(http.send("POST /start", "").await.body, json!({ "ok": true, "profile": "openclaw" }));
    assert_eq!(http.get("/").await["pid"], status["pid"], "one that runs is left alone");
    let ready = http.get("/readyz?timeoutMs=20000").await;
    assert_eq!((ready.status, &ready["ready"]), (200, &json!(true)), "{ready:?}");
    let doctor = http.get("/doctor?deep=1&timeoutMs=20000").await;
    assert_eq!((&doctor["ok"], &doctor["status"]), (&json!(true), &json!("pass")), "{doctor:?}");

    let stopped = http.send("POST /stop", "").await;
    assert_eq!(stopped.body, json!({ "ok": true, "stopped": true, "profile": "openclaw" }));
    support::processes::assert_none_of(served.running.state.path());
    assert_eq!(http.send("POST /stop", "").await["stopped"], false);
    assert_eq!(http.get("/tabs").await.body, json!({ "running": false, "tabs": [] }));
    let status = http.get("/").await;
    assert_eq!((&status["running"], &status["pid"]), (&json!(false), &json!(null)));
    let ready = http.get("/readyz").await;
    assert_eq!((ready.status, &ready["reason"]), (503, &json!("browser_stopped")));
    let down = http.evaluate(&tab, "1").await;
    assert_eq!(failure(&down), (409, None, Some("browser_not_running")), "{down:?}");
    assert!(down.error().starts_with("Browser profile \"openclaw\" is not running."));
    let select = http.send("POST /tabs/action", r#"{"action":"select","index":0}"#).await;
    assert_eq!(failure(&select), (409, None, Some("browser_not_running")));
    assert_eq!(http.get("/").await["running"], false, "neither of them has started it");

    let answer = http.act(json!({ "kind": "evaluate", "fn": "1 + 1", "timeoutMs": 60_000 })).await;
    assert_result(&answer, 2);
    assert_eq!(http.get("/").await["running"], true);
    let fresh = served.open("/ok").await;
    assert_ne!(fresh, tab, "names are never used again");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn profiles_are_browsers_of_their_own() {
    let served = serve_with(|config| {
        config.profiles.entry("work".into()).or_default().color = Some("#00aa00".into());
        config.profiles.entry("gone".into()).or_default().cdp_url = Some("http://127.0.0.1:9".into());
    })
    .await;
    let http = &served.http;
    let listed = http.get("/profiles").await;
    let rows = listed["profiles"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["openclaw", "gone", "work"]);
    assert_eq!((&rows[0]["isDefault"], &rows[0]["running"]), (&json!(true), &json!(true)));
    assert_eq!((&rows[2]["color"], &rows[2]["running"]), (&json!("#00aa00"), &json!(false)));

    // What is wrong with one is no trouble of another.
    let gone = http.send("POST /start?profile=gone", "").await;
    assert_eq!(failure(&gone), (409, None, Some("unavailable")), "{gone:?}");
    let headed = http.send("POST /start?profile=gone&headless=true", "").await;
    assert_eq!((headed.status, &headed["details"]["field"]), (400, &json!("headless")));
    assert_eq!(http.send("POST /start?headless=perhaps", "").await.status, 400);

    let ours = served.open("/ok").await;
    let body =
        json!({ "url": served.pages.url("/form"), "label": "main", "profile": "work", "timeoutMs": 60_000 });
    let theirs = http.try_open(body).await;
    assert_eq!((theirs.status, &theirs["resolvedProfile"]), (200, &json!("work")), "{theirs:?}");
    let tab = theirs["tabId"].as_str().unwrap();
    let of = async |profile: &str| http.get(&format!("/tabs?profile={profile}")).await["tabs"].clone();
    assert!(of("work").await.as_array().unwrap().iter().any(|row| row["tabId"] == tab));
    assert!(of("openclaw").await.as_array().unwrap().iter().all(|row| row["tabId"] != tab));
    // A tab, its label and the last used one are those of the profile; the query wins over the body.
    assert_eq!(http.evaluate(tab, "1").await.status, 404);
    assert_eq!(http.evaluate("main", "1").await.status, 404);
    let title = async |query: &str, body: serde_json::Value| {
        http.send(&format!("POST /act{query}"), &body.to_string()).await["targetId"].clone()
    };
    let script = json!({ "kind": "evaluate", "fn": "1" });
    assert_eq!(title("?profile=work", script.clone()).await, theirs["targetId"]);
    assert_eq!(
        title("", json!({ "kind": "evaluate", "fn": "1", "profile": "work" })).await,
        theirs["targetId"]
    );
    let row = http.row(&ours).await;
    assert_eq!(
        title("?profile=openclaw", json!({ "kind": "evaluate", "fn": "1", "profile": "work" })).await,
        row["targetId"]
    );

    assert_eq!(http.send("POST /stop?profile=work", "").await["stopped"], true);
    assert_eq!(http.get("/tabs?profile=work").await.body, json!({ "running": false, "tabs": [] }));
    assert_result(&http.evaluate(&ours, "1 + 1").await, 2);
    let unknown = http.get("/?profile=zzz").await;
    assert_eq!(unknown.error(), "Profile \"zzz\" not found. Available profiles: gone, openclaw, work");
    assert_eq!(http.send("DELETE /profiles/work", "").await.status, 409, "that is for its configuration");
    assert_eq!(http.send("DELETE /profiles/openclaw", "").await.status, 400);
    assert_eq!(http.send("DELETE /profiles/zzz", "").await.status, 404);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_that_a_call_makes_keeps_its_data_until_it_is_reset_or_deleted() {
    let served = serve().await;
    let http = &served.http;
    let create = async |body: serde_json::Value| http.send("POST /profiles/create", &body.to_string()).await;
    for (body, field) in [
        (json!({}), "name"),
        (json!({ "name": "Big" }), "name"),
        (json!({ "name": "a", "color": "red" }), "color"),
        (json!({ "name": "a", "driver": "x" }), "driver"),
        (json!({ "name": "a", "cdpUrl": "/etc" }), "cdpUrl"),
        (json!({ "name": "a", "userDataDir": "/etc" }), "userDataDir"),
    ] {
        let answer = create(body).await;
        assert_eq!((answer.status, &answer["details"]["field"]), (400, &json!(field)), "{answer:?}");
    }
    assert_eq!(create(json!({ "name": "a", "driver": "existing-session" })).await.status, 501);
    assert_eq!(http.get("/system-profiles").await.status, 501);
    let made = create(json!({ "name": "kept", "color": "#123456" })).await;
    let folder = served.running.state.path().join("kept-profiles/kept");
    assert_eq!(
        (made.status, &made["userDataDir"], &made["isRemote"]),
        (200, &json!(folder), &json!(false)),
        "{made:?}"
    );
    assert_eq!(create(json!({ "name": "kept" })).await.status, 409);

    let url = served.pages.url("/ok");
    let stored = async |script: &str| {
        let body = json!({ "url": url, "profile": "kept", "timeoutMs": 60_000 });
        let opened = http.try_open(body).await;
        let body =
            json!({ "kind": "evaluate", "fn": script, "targetId": opened["targetId"], "profile": "kept" });
        http.act(body).await["result"].clone()
    };
    assert_eq!(stored("localStorage.setItem('it', 'is kept'); return 1").await, 1);
    assert_eq!(http.send("POST /stop?profile=kept", "").await["stopped"], true);
    assert_eq!(stored("localStorage.getItem('it')").await, "is kept");

    let reset = http.send("POST /reset-profile?profile=kept", "").await;
    assert_eq!(
        (reset.status, &reset["moved"], &reset["from"]),
        (200, &json!(true), &json!(folder)),
        "{reset:?}"
    );
    assert!(std::path::Path::new(reset["to"].as_str().unwrap()).is_dir() && !folder.exists());
    assert_eq!(stored("localStorage.getItem('it')").await, json!(null));
    let deleted = http.send("DELETE /profiles/kept", "").await;
    assert_eq!(deleted.body, json!({ "ok": true, "profile": "kept", "deleted": true }));
    assert!(!folder.exists());
    assert_eq!(http.get("/?profile=kept").await.status, 404);
    let temporary = http.send("POST /reset-profile", "").await;
    assert_eq!((&temporary["ok"], &temporary["moved"]), (&json!(true), &json!(false)));
    served.stop().await;
}
