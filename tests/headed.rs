//! A Chromium with windows, on a display without a screen.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::process::Stdio;

use serde_json::{Value, json};
use support::service::{Home, Service};
use support::stage::Stage;
use support::{eventually, ms, secs};
use tabvisor_cdp::budget::Budget;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A display of its own; it ends when dropped.
struct Display {
    name: String,
    _server: Child,
}

impl Display {
    async fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1400x900x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Xvfb is installed (scripts/install-xvfb)");
        let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
        let number = Budget::new(secs(20)).run(said.next_line()).await.unwrap().unwrap().unwrap();
        Self { name: format!(":{number}"), _server: server }
    }
}

/// A request with a body.
async fn post(service: &Service, path: &str, body: Value) -> support::http::Answer {
    service.http.send(&format!("POST {path}"), &body.to_string()).await
}

async fn serve(display: &Display) -> (Home, Service) {
    let home = Home::new().with("DISPLAY", &display.name);
    let service = home.serve(&["--headed", "--no-auth"]).await;
    (home, service)
}

async fn click(service: &Service, tab: &str, selector: &str) -> Value {
    let body = json!({ "kind": "click", "targetId": tab, "selector": selector, "timeoutMs": 20_000 });
    let answer = post(service, "/act", body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_print_dialog_holds_no_page() {
    let (display, stage) = (Display::start().await, Stage::start().await);
    let (_home, mut service) = serve(&display).await;
    let url = stage.page("<title>p</title><button id=print onclick='print()'>P</button><button id=b onclick='n = 1'>B</button>");
    let tab = service.http.open(&url).await;
    click(&service, &tab, "#print").await;
    click(&service, &tab, "#b").await;
    assert_eq!(service.http.evaluate_within(&tab, "n", 10_000).await["result"], 1);
    service.terminate().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dialogs_keys_clicks_and_choices_are_as_without_windows() {
    let (display, stage) = (Display::start().await, Stage::start().await);
    let (_home, mut service) = serve(&display).await;
    let url = stage.page(
        "<title>h</title><form onsubmit='event.preventDefault(); sent = f.value'><input id=f></form>
         <button id=later onclick='setTimeout(() => { said = confirm(\"q\") }, 0)'>Later</button>
         <select id=s><option>a<option>b</select><p style='margin-top:3000px'><button id=low onclick='low_ = 1'>Low</button></p>",
    );
    let tab = service.http.open(&url).await;
    let act = async |body: Value| {
        let mut body = body;
        body["targetId"] = json!(tab);
        let answer = post(&service, "/act", body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };
    let typed = act(json!({ "kind": "type", "selector": "#f", "text": "Buy milk\n" })).await;
    assert_eq!((&typed["effect"], &typed["observed"]["enterPressed"]), (&json!("confirmed"), &json!(true)));
    let chosen = act(json!({ "kind": "select", "selector": "#s", "values": ["b"] })).await;
    assert_eq!(chosen["effect"], "confirmed");
    let low = act(json!({ "kind": "click", "selector": "#low" })).await;
    assert_eq!(low["effect"], "confirmed");
    let seen = service.http.evaluate_within(&tab, "[sent, s.value, low_]", 10_000).await;
    assert_eq!(seen["result"], json!(["Buy milk", "b", 1]));

    act(json!({ "kind": "click", "selector": "#later" })).await;
    let dialog = eventually("the dialog is there", || async {
        let all = service.http.get(&format!("/dialogs?targetId={tab}")).await;
        all.body["browserState"]["dialogs"]["pending"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    let answer = json!({ "targetId": tab, "accept": true, "dialogId": dialog });
    let answered = post(&service, "/hooks/dialog", answer).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(service.http.evaluate_within(&tab, "said", 10_000).await["result"], true);
    service.terminate().await;
}

/// Of a tab behind another one no frame comes by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_tab_has_its_picture_in_time() {
    let (display, stage) = (Display::start().await, Stage::start().await);
    let (_home, mut service) = serve(&display).await;
    let behind = service.http.open(&stage.page("<title>behind</title><h1>Behind</h1>")).await;
    let _front = service.http.open(&stage.page("<title>front</title>")).await;
    let body = json!({ "targetId": behind, "timeoutMs": ms(8_000).as_millis() });
    let shot = post(&service, "/screenshot", body).await;
    assert_eq!(shot.status, 200, "{shot:?}");
    assert!(shot.body["width"].as_u64() > Some(100), "{shot:?}");
    service.terminate().await;
}
