//! Bringing a tab back, ending its scripts and looking at it, over HTTP and by the command line.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::json;
use support::served::{assert_result, serve, serve_with};
use support::service::Home;
use tabvisor::Recovery;
use tabvisor_cdp::task;

const LOOP: &str = "setTimeout(() => { for (;;); }, 0); return 1";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_looping_tab_is_freed_restarted_and_shown() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let row = served.http.get(&format!("/tabs/{tab}")).await;
    assert_eq!((row.status, &row["tabId"], row.has("lastRecovery")), (200, &json!(tab), false), "{row:?}");

    assert_result(&served.http.evaluate(&tab, LOOP).await, 1);
    let freed = served.http.send(&format!("POST /tabs/{tab}/terminate"), "").await;
    assert_eq!(
        (freed.status, &freed["ok"], &freed["rung"]),
        (200, &json!(true), &json!("terminate")),
        "{freed:?}"
    );
    assert_eq!(freed["lost"], json!(["scripts"]));
    assert_result(&served.http.evaluate(&tab, "1 + 1").await, 2);

    assert_result(&served.http.evaluate(&tab, LOOP).await, 1);
    let restarted = served.http.send(&format!("POST /tabs/{tab}/restart"), r#"{"rung":"target"}"#).await;
    assert_eq!((restarted.status, &restarted["tab"]), (200, &json!(tab)), "{restarted:?}");
    assert_eq!(restarted["rung"], "target");
    assert_eq!(restarted["url"], served.pages.url("/ok"));
    assert!(restarted["tookMs"].is_u64() && restarted["generation"].is_u64());
    let row = served.http.get(&format!("/tabs/{tab}")).await;
    assert_eq!(row["targetId"], restarted["targetId"]);
    assert_eq!((&row["lastRecovery"]["rung"], &row["restarts"]), (&json!("target"), &json!(1)));
    // By its new target, too.
    let target = restarted["targetId"].as_str().unwrap();
    assert_eq!(served.http.get(&format!("/tabs/{target}")).await["tabId"], tab);
    assert_result(&served.http.evaluate(&tab, "1 + 1").await, 2);

    let elsewhere = json!({ "url": served.pages.url("/form") }).to_string();
    let restarted = served.http.send(&format!("POST /tabs/{tab}/restart?timeoutMs=20000"), &elsewhere).await;
    assert_eq!(
        (&restarted["rung"], &restarted["url"]),
        (&json!("renderer"), &json!(served.pages.url("/form")))
    );

    for (path, body, status, reason) in [
        (format!("/tabs/{tab}/restart"), json!({ "rung": "browser" }), 400, "invalid_argument"),
        (format!("/tabs/{tab}/restart"), json!({ "url": "file:///etc/passwd" }), 400, "navigation_blocked"),
        (
            format!("/tabs/{tab}/restart"),
            json!({ "rung": "terminate", "url": served.pages.url("/ok") }),
            400,
            "invalid_argument",
        ),
        ("/tabs/t99/restart".into(), json!({}), 404, "tab_not_found"),
        ("/tabs/t99/terminate".into(), json!({}), 404, "tab_not_found"),
    ] {
        let refused = served.http.send(&format!("POST {path}"), &body.to_string()).await;
        assert_eq!(
            (refused.status, refused["reason"].as_str()),
            (status, Some(reason)),
            "{path}: {refused:?}"
        );
    }
    assert_eq!(served.http.get("/tabs/t99").await.status, 404);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_one_is_under_way_another_is_a_conflict() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    assert_result(
        &served
            .http
            .evaluate(
                &tab,
                "setTimeout(() => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1), 0); return 1",
            )
            .await,
        1,
    );
    let http = served.http.clone();
    let line = format!("POST /tabs/{tab}/restart");
    let first = task::spawn({
        let line = line.clone();
        async move { http.send(&line, "").await }
    });
    support::eventually("it is under way", || async {
        (served.http.row(&tab).await["state"] == "restarting").then_some(())
    })
    .await;
    let second = served.http.send(&line, "").await;
    // On a quiet machine the first one may be over before the second comes.
    if second.status != 200 {
        assert_eq!((second.status, second["reason"].as_str()), (409, Some("tab_restarting")), "{second:?}");
    }
    assert_eq!(first.join().await.unwrap()["rung"], "renderer");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_policy_a_stuck_tab_comes_back_without_anybody_asking() {
    let served = serve_with(|config| config.care.recovery = Recovery::Restart).await;
    let tab = served.open("/ok").await;
    assert_result(&served.http.evaluate(&tab, LOOP).await, 1);
    // Nobody waits for it, so nobody notices; this one does.
    let waits = served.http.evaluating(&tab, "1 + 1", 60_000);
    support::eventually("it has come back", || async {
        served.http.get(&format!("/tabs/{tab}")).await["lastRecovery"]["rung"].as_str().map(str::to_owned)
    })
    .await;
    // Its script was behind the one that was ended.
    assert_result(&waits.join().await.unwrap(), 2);
    let row = served.http.get(&format!("/tabs/{tab}")).await;
    assert_eq!(
        (&row["lastRecovery"]["cause"], &row["lastRecovery"]["rung"]),
        (&json!("stuck"), &json!("terminate"))
    );
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_shows_restarts_terminates_and_closes() {
    let served = serve().await;
    let home = Home::new();
    let url = format!("http://{}", served.http.address);
    let tab = served.open("/ok").await;
    let run = async |arguments: &[&str]| home.run(&[&["--url", &url, "tab"], arguments].concat()).await;
    let shown = run(&["show", &tab]).await;
    assert!(shown.code == 0 && shown.out.contains("state: ready"), "{shown:?}");
    assert_result(&served.http.evaluate(&tab, LOOP).await, 1);
    let ended = run(&["terminate", &tab]).await;
    assert!(
        ended.code == 0 && ended.out.starts_with(&format!("{tab} is usable by terminate after ")),
        "{ended:?}"
    );
    let restarted = run(&["restart", &tab, "--rung", "renderer"]).await;
    assert!(
        restarted.code == 0 && restarted.out.contains("lost: refs, js_state, form_data"),
        "{restarted:?}"
    );
    assert_eq!(run(&["restart", &tab, "--rung", "nonsense"]).await.code, 2);
    assert_eq!(run(&["restart", " "]).await.code, 2);
    assert_eq!(run(&["show", "t99"]).await.code, 1);
    let closed = run(&["close", &tab]).await;
    assert_eq!((closed.code, closed.out.trim()), (0, format!("closed {tab}").as_str()));
    served.stop().await;
}
