//! Prints what 64 callers get from 16 tabs of which 4 are stuck, over HTTP: without and with 200 idle readers of
//! events. Run by `make load`; `TABVISOR_LOAD_S` is how long each takes.
#![allow(missing_docs, clippy::print_stdout, reason = "a report")]

mod report;
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use report::{only_a_test, quantile};
use reqwest::Client;
use serde_json::{Value, json};
use support::served::{Served, serve};
use tabvisor_cdp::task;
use tokio::net::TcpStream;
use tokio::time::Instant;

const CALLERS: usize = 64;
const TABS: usize = 16;
const STUCK: usize = 4;
const READERS: usize = 200;
const BUDGET: Duration = Duration::from_secs(1);
/// What an answer may be late by.
const GRACE: Duration = Duration::from_millis(25);

/// What callers saw.
#[derive(Default)]
struct Seen {
    /// Of tabs that are not stuck, in ms.
    took: Vec<f64>,
    /// How much later than its budget any answer was, in ms.
    late: Vec<f64>,
    /// By their reasons, of tabs that are not stuck.
    failures: BTreeMap<String, usize>,
    /// The same of those that are.
    of_stuck: BTreeMap<String, usize>,
}

fn main() {
    if only_a_test() {
        return;
    }
    // The client asks for one even where nothing is encrypted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let seconds = std::env::var("TABVISOR_LOAD_S").ok().and_then(|it| it.parse().ok()).unwrap_or(10);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let served = serve().await;
        let (tabs, stuck) = tabs(&served).await;
        println!(
            "{CALLERS} callers on {TABS} tabs, {STUCK} of them stuck, {seconds} s each, budget {BUDGET:?}"
        );
        let lasts = Duration::from_secs(seconds);
        load("no readers of events", &served, &tabs, &stuck, lasts).await;
        let readers = readers(&served).await;
        load(&format!("{READERS} readers of events"), &served, &tabs, &stuck, lasts).await;
        drop(readers);
        served.stop().await;
    });
}

/// All tabs, and those that are stuck: their pages loop for ever.
async fn tabs(served: &Served) -> (Vec<String>, Vec<String>) {
    let mut tabs = Vec::new();
    for _ in 0..TABS {
        let tab = served.open("/ok").await;
        served.http.evaluate(&tab, "1").await;
        tabs.push(tab);
    }
    let stuck: Vec<String> = tabs.iter().step_by(TABS / STUCK).cloned().collect();
    for tab in &stuck {
        served.http.evaluate(tab, "setTimeout(() => { for (;;); }, 0); return 1").await;
    }
    (tabs, stuck)
}

async fn readers(served: &Served) -> Vec<TcpStream> {
    let mut readers = Vec::new();
    for _ in 0..READERS {
        readers.push(served.http.begin("GET /events", "").await);
    }
    support::eventually("all of them read", || async {
        let tree = served.http.get("/supervisor").await;
        (tree["eventStreams"]["taken"] == READERS).then_some(())
    })
    .await;
    readers
}

async fn load(name: &str, served: &Served, tabs: &[String], stuck: &[String], lasts: Duration) {
    let http = Client::builder().pool_max_idle_per_host(CALLERS).no_proxy().build().expect("a client");
    let url: Arc<str> = format!("http://{}/act", served.http.address).into();
    let begun = Instant::now();
    let calling: Vec<_> = (0..CALLERS)
        .map(|n| {
            let mine: Vec<(String, bool)> = (0..tabs.len())
                .map(|it| &tabs[(it + n) % tabs.len()])
                .map(|tab| (tab.clone(), stuck.contains(tab)))
                .collect();
            let (http, url) = (http.clone(), Arc::clone(&url));
            task::spawn(async move {
                let mut seen = Seen::default();
                for (tab, is_stuck) in mine.iter().cycle() {
                    if begun.elapsed() > lasts {
                        break;
                    }
                    call(&http, &url, tab, *is_stuck, &mut seen).await;
                }
                seen
            })
        })
        .collect();
    let mut all = Seen::default();
    for caller in calling {
        let seen = caller.join().await.expect("no panic");
        all.took.extend(seen.took);
        all.late.extend(seen.late);
        for (from, into) in [(seen.failures, &mut all.failures), (seen.of_stuck, &mut all.of_stuck)] {
            for (reason, count) in from {
                *into.entry(reason).or_default() += count;
            }
        }
    }
    tell(name, &mut all, begun.elapsed());
}

async fn call(http: &Client, url: &str, tab: &str, is_stuck: bool, seen: &mut Seen) {
    let ms = u64::try_from(BUDGET.as_millis()).expect("it fits");
    let body = json!({ "kind": "evaluate", "targetId": tab, "fn": "1 + 1", "timeoutMs": ms });
    let begun = Instant::now();
    let answer = http.post(url).json(&body).send().await;
    let answer: Value = match answer {
        Ok(answer) => answer.json().await.unwrap_or_default(),
        Err(why) => json!({ "reason": format!("no answer: {why}") }),
    };
    let took = begun.elapsed();
    seen.late.push(took.saturating_sub(BUDGET).as_secs_f64() * 1e3);
    let reason = match answer["reason"].as_str() {
        None if answer["result"] == 2 => "answered",
        None => "wrong",
        Some(reason) => reason,
    };
    if is_stuck {
        *seen.of_stuck.entry(reason.to_owned()).or_default() += 1;
    } else if reason == "answered" {
        seen.took.push(took.as_secs_f64() * 1e3);
    } else {
        *seen.failures.entry(reason.to_owned()).or_default() += 1;
    }
}

fn tell(name: &str, seen: &mut Seen, took: Duration) {
    let rate = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / took.as_secs_f64();
    let late = seen.late.iter().filter(|ms| **ms > GRACE.as_secs_f64() * 1e3).count();
    println!("\n{name}");
    println!("  answered          {:8.0} a second (n={})", rate(seen.took.len()), seen.took.len());
    println!(
        "  took              p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms",
        quantile(&mut seen.took, 0.5),
        quantile(&mut seen.took, 0.99),
        quantile(&mut seen.took, 1.0)
    );
    println!(
        "  over the budget   {late} of {} by more than {GRACE:?}, worst {:.2} ms",
        seen.late.len(),
        quantile(&mut seen.late, 1.0)
    );
    println!("  failures          {:?}", seen.failures);
    println!("  of stuck tabs     {:?}", seen.of_stuck);
}
