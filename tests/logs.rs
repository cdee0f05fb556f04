//! What is in the log, and what never is.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::Pages;
use support::service::Home;

const PASSWORD: &str = "typed-hunter2-xyzzy";
const COOKIE: &str = "cookie-worth-7d1f";
const QUERY: &str = "query-key-55aa";
const TITLE: &str = "title-of-a-page-93bc";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_tells_of_calls_and_of_no_secret_nor_page() {
    let (home, pages) = (Home::new().with("TABVISOR_LOG", "debug"), Pages::start().await);
    let mut service = home.serve(&["--log-format", "json"]).await;
    let http = &service.http;
    let tab = http.open(&pages.url(&format!("/form?key={QUERY}"))).await;
    http.loaded(&tab).await;
    let page = http.get(&format!("/snapshot?targetId={tab}&interactive=true")).await;
    let text = page["snapshot"].as_str().unwrap();
    let (_, after) = text.split_once("textbox").unwrap().1.split_once("[ref=").unwrap();
    let field = after.split(']').next().unwrap();
    let typed = json!({ "kind": "type", "targetId": tab, "ref": field, "text": PASSWORD });
    assert_eq!(http.act(typed).await.status, 200);
    let cookie =
        json!({ "targetId": tab, "cookie": { "name": "s", "value": COOKIE, "url": pages.url("/") } });
    assert_eq!(http.send("POST /cookies/set", &cookie.to_string()).await.status, 200);
    let title = format!("document.title = '{TITLE}'; return document.title + document.cookie");
    assert!(http.evaluate(&tab, &title).await.text.contains(COOKIE), "the page has it");
    assert_eq!(http.evaluate(&tab, &format!("throw new Error('{TITLE}')")).await.status, 500);
    let away = json!({ "targetId": tab, "url": pages.url(&format!("/ok?key={QUERY}")) }).to_string();
    assert_eq!(http.send("POST /navigate", &away).await.status, 200);
    let refused = json!({ "targetId": tab, "url": format!("file:///{QUERY}") }).to_string();
    assert_eq!(http.send("POST /navigate", &refused).await["reason"], "navigation_blocked");
    let mut stranger = http.clone();
    stranger.token = Some(format!("guessed-{PASSWORD}"));
    assert_eq!(stranger.get(&format!("/tabs?token={QUERY}")).await.status, 401);
    let restarted = http.send(&format!("POST /tabs/{tab}/restart"), r#"{"rung":"renderer"}"#).await;
    assert_eq!(restarted.status, 200, "{restarted:?}");
    let token = http.token.clone().unwrap();
    service.terminate().await;

    let log = service.log();
    for secret in [&*token, PASSWORD, COOKIE, QUERY, TITLE] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let spans = |line: &Value| line["spans"].as_array().cloned().unwrap_or_default();
    let call = |action: &str| {
        lines.iter().flat_map(spans).find(|span| span["action"] == action && span["tab"] == *tab)
    };
    for action in ["evaluate", "snapshot", "type", "navigate"] {
        let span = call(action).unwrap_or_else(|| panic!("no span of {action}: {log}"));
        assert!(span["budget_ms"].as_u64().is_some_and(|left| left > 0), "{span}");
    }
}
