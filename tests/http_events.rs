//! What happens, as it happens; the tree; and whether the service can work.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::Http;
use support::served::{assert_result, serve, serve_with};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;

/// A reader of events.
struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Reads until the head of the answer is over.
    async fn open(http: &Http) -> Self {
        let mut socket = BufReader::new(http.begin("GET /events", "").await);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(socket.read_line(&mut head).await.unwrap() > 0, "{head}");
        }
        assert!(
            head.starts_with("HTTP/1.1 200") && head.contains("content-type: text/event-stream"),
            "{head}"
        );
        Self(socket)
    }

    /// The next event, with its name and data; `None` at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).await.unwrap_or_default() == 0 {
                return None;
            }
            if let Some(text) = line.strip_prefix("event: ") {
                text.trim().clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).unwrap()));
            }
        }
    }

    async fn until(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next().await.unwrap_or_else(|| panic!("it ended before {wanted}"));
            if name == wanted {
                return data;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_hears_what_happens_to_tabs_and_a_place_is_free_again_when_it_leaves() {
    let served = serve_with(|config| config.server.event_streams = 1).await;
    let mut events = Stream::open(&served.http).await;
    let refused = served.http.get("/events").await;
    assert_eq!(
        (refused.status, &refused["details"]["limit"]),
        (429, &json!("server.event_streams")),
        "{refused:?}"
    );
    let tab = served.open("/ok").await;
    let opened = events.until("tab_opened").await;
    assert_eq!((&opened["tab"], &opened["event"]), (&json!(tab), &json!("tab_opened")));
    assert!(opened["seq"].is_u64(), "{opened}");
    assert_result(&served.http.evaluate(&tab, "setTimeout(() => alert('hello'), 0); return 1").await, 1);
    assert_eq!(events.until("dialog_opened").await["dialog"]["message"], "hello");
    served.http.close(&tab).await;
    assert_eq!(events.until("tab_closed").await["tab"], tab);
    drop(events);
    support::eventually("its place is free", || async {
        (served.http.get("/supervisor").await["eventStreams"]["taken"] == 0).then_some(())
    })
    .await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tree_is_told_also_while_a_page_is_stuck() {
    let served = serve().await;
    let tab = served.open("/ok").await;
    let stuck = served.http.evaluating(&tab, "for (;;);", 5_000);
    served.http.in_flight(&tab, 1).await;
    let tree = served.http.get("/supervisor").await;
    assert_eq!(tree.status, 200, "{tree:?}");
    let browser = &tree["browsers"][0];
    assert_eq!((&browser["profile"], &browser["state"]), (&json!("openclaw"), &json!("ready")), "{browser}");
    assert_eq!((&browser["restarts"]["inWindow"], &browser["restarts"]["max"]), (&json!(0), &json!(3)));
    let node = browser["tabs"].as_array().unwrap().iter().find(|node| node["tabId"] == tab.as_str()).unwrap();
    assert_eq!(node["evaluates"], json!({ "taken": 1, "limit": 16 }), "{node}");
    let actors: Vec<_> =
        node["actors"].as_array().unwrap().iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(actors, ["running"; 4], "{node}");
    assert_eq!(node["actors"][0], json!({ "actor": "dialog_watcher", "state": "running", "link": true }));
    assert!(tree["pending"]["requests"].as_u64().unwrap() >= 1 && tree["limits"]["tabs"].is_u64());
    // A stuck page is no reason to call the service unready.
    let ready = served.http.get("/readyz?timeoutMs=20000").await;
    assert_eq!((ready.status, &ready["ready"]), (200, &json!(true)), "{ready:?}");
    assert_eq!(stuck.join().await.unwrap()["reason"], "timeout");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_browser_is_told_and_a_stream_ends_when_the_service_does() {
    let served = serve().await;
    let mut events = Stream::open(&served.http).await;
    let pid = served.http.get("/").await["pid"].as_i64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert!(events.until("browser_lost").await["cause"].is_string());
    assert_eq!(events.until("browser_started").await["epoch"], 2);
    let tree = served.http.get("/supervisor").await;
    assert_eq!(tree["browsers"][0]["restarts"]["inWindow"], 1, "{tree:?}");
    served.service.refuse_work();
    assert!(events.next().await.is_none());
    let ready = served.http.get("/readyz").await;
    assert_eq!((ready.status, &ready["reason"]), (503, &json!("stopping")));
    assert_eq!(served.http.get("/events").await.status, 503);
    served.stop().await;
}
