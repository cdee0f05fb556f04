//! `tabvisor mcp` as a process, as clients start it: with a browser of its own, and in front of a service.
#![cfg(feature = "mcp")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::support;
use support::mcp::{Agent, code};
use support::service::Home;
use support::{Pages, eventually, processes, secs};

/// A process, and a client at its streams.
struct Running {
    agent: Agent,
    child: Child,
}

fn start(home: &Home, arguments: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabvisor"));
    command.arg("mcp").args(arguments).env_clear().env("HOME", home.path()).kill_on_drop(true);
    command.envs(home.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (read, write) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    Running { agent: Agent::new(read, write), child }
}

impl Running {
    /// Ends its input, and tells how long it took to end.
    async fn ends(mut self) -> std::time::Duration {
        let began = Instant::now();
        self.agent.close().await;
        let status = Budget::new(secs(30)).run(self.child.wait()).await.expect("it ends").unwrap();
        let took = began.elapsed();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
        assert!(status.success(), "{status}: {said}");
        took
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alone_it_has_a_browser_of_its_own_that_ends_with_its_input() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let alone = start(&home, &[]);
    let agent = alone.agent.clone();
    let about = agent.initialize("2025-06-18").await;
    assert_eq!(
        (&about["protocolVersion"], &about["serverInfo"]["name"]),
        (&json!("2025-06-18"), &json!("tabvisor")),
        "{about}"
    );
    assert!(about["instructions"].as_str().unwrap().contains("get_browser_state"));
    assert_eq!(agent.request("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().len(), 24);
    assert!(processes::naming(&home.state()).is_empty(), "nothing is started before it is needed");

    let prepared =
        agent.ok("browser_prepare", json!({ "profile": { "mode": "isolated_named", "name": "work" } })).await;
    let pid = u32::try_from(prepared["observed"]["prepared_pid"].as_u64().unwrap()).unwrap();
    let line = support::service::command_line(pid);
    assert!(line.contains("named/work"), "{line}");
    let opened = agent.ok("browser_navigate", json!({ "url": pages.url("/ok") })).await;
    assert_eq!(opened["observed"]["http_status"], 200, "{opened}");
    // A script that never ends holds up no end.
    agent
        .begin_tool("browser_evaluate", json!({ "function": "while (true) {}", "timeout_ms": 60_000 }))
        .await;
    eventually("it runs", || async {
        let rows = agent.ok("browser_tabs", json!({})).await;
        (rows["observed"]["tabs"][0]["queue"]["evaluates"] == 1).then_some(())
    })
    .await;
    let took = alone.ends().await;
    // A second on a machine that does nothing else.
    assert!(took < secs(5), "{took:?}");
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_it_too_and_an_input_that_ends_at_once_is_no_failure() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut signalled = start(&home, &[]);
    signalled.agent.initialize("2025-11-25").await;
    signalled.agent.open(&pages.url("/ok")).await;
    processes::signal(signalled.child.id().unwrap(), Signal::TERM);
    let status = Budget::new(secs(30)).run(signalled.child.wait()).await.expect("it ends").unwrap();
    assert!(status.success(), "{status}");
    home.assert_nothing_left();
    let took = start(&home, &[]).ends().await;
    assert!(took < secs(5), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_front_of_a_service_the_tabs_are_the_services() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let before = service.http.open(&pages.url("/form")).await;
    let front = start(&home, &["--url", &service.url]);
    let agent = front.agent.clone();
    let about = agent.initialize("2025-11-25").await;
    assert_eq!(about["serverInfo"]["name"], "tabvisor", "{about}");
    assert_eq!(agent.value(&before, "document.title").await, "form");
    let mine = agent.open(&pages.url("/ok")).await;
    let kept =
        agent.ok("browser_tabs", json!({ "action": "open", "url": pages.url("/ok"), "keep": true })).await;
    let kept = kept["observed"]["tab_id"].as_str().unwrap().to_owned();
    assert_eq!(service.http.evaluate(&mine, "document.title").await["result"], "ok");

    let arguments = json!({ "tab_id": mine, "text": "never", "timeout_ms": 2600 });
    let params = json!({ "name": "browser_wait", "arguments": arguments, "_meta": { "progressToken": 7 } });
    let late = agent.request("tools/call", params).await;
    assert_eq!(late["result"]["structuredContent"]["code"], "browser_budget_exceeded", "{late}");
    assert!(agent.news().iter().any(|it| it["params"]["progressToken"] == 7), "progress comes through");

    let counts = "async () => { for (;;) { window.count = (window.count || 0) + 1; await new Promise(go => setTimeout(go, 5)); } }";
    let counting = agent.begin_tool("browser_evaluate", json!({ "tab_id": mine, "function": counts })).await;
    let count = async || service.http.evaluate(&mine, "window.count || 0").await["result"].as_u64().unwrap();
    eventually("it counts", || async { (count().await > 3).then_some(()) }).await;
    agent.notify("notifications/cancelled", json!({ "requestId": counting })).await;
    let later = "new Promise(done => setTimeout(() => done(window.count), 200))";
    eventually("it counts no more", || async {
        let before = count().await;
        (service.http.evaluate(&mine, later).await["result"] == before).then_some(())
    })
    .await;
    assert!(!agent.was_answered(counting));

    let took = front.ends().await;
    assert!(took < secs(5), "{took:?}");
    eventually("its tab is closed", || async {
        (!service.http.tabs().await.iter().any(|row| row["tabId"] == mine)).then_some(())
    })
    .await;
    let left = service.http.tabs().await;
    assert!([&before, &kept].iter().all(|tab| left.iter().any(|row| row["tabId"] == **tab)), "{left:?}");
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_service_it_says_so() {
    let home = Home::new();
    let mut front = start(&home, &["--url", "http://127.0.0.1:1"]);
    let about = json!({ "name": "test", "version": "0" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
    front.agent.begin("initialize", params).await;
    let status = Budget::new(secs(30)).run(front.child.wait()).await.expect("it ends").unwrap();
    let mut said = String::new();
    front.child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("tabvisor serve"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_cannot_be_started_is_told_and_tried_again() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let alone = start(&home, &["--chromium", "/no/such/chromium"]);
    let agent = alone.agent.clone();
    agent.initialize("2025-11-25").await;
    for _ in 0..2 {
        let refused = agent.tool("browser_navigate", json!({ "url": pages.url("/ok") })).await;
        assert_eq!(
            (&refused["status"], code(&refused)),
            (&json!("refused"), "browser_unavailable"),
            "{refused}"
        );
        assert!(refused["refusal"]["message"].as_str().unwrap().contains("/no/such/chromium"), "{refused}");
    }
    alone.ends().await;
    home.assert_nothing_left();
}
