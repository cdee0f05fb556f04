//! An evaluate through the crate against the bare wire, in one run, as ratios. Run by `make bench`.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a report")]

mod report;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use report::{only_a_test, quantile};
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Purpose, Session};
use tokio::time::Instant;
use url::Url;

const ROUNDS: usize = 20;
const PER_ROUND: usize = 50;

fn main() {
    if only_a_test() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let running = support::start().await;
        let tab = running.tabvisor.open("about:blank").await.unwrap();
        let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
        let target = tab.row().unwrap().target_id;
        let link = dial(&browser.ws_url).await;
        let session = link.attach(&target, &budget()).await.unwrap();

        let (mut bare, mut through, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
        // Interleaved, so that a noisy moment hits all three.
        for _ in 0..ROUNDS {
            for _ in 0..PER_ROUND {
                let begun = Instant::now();
                evaluate(&session).await;
                bare.push(begun.elapsed().as_secs_f64() * 1e3);
            }
            for _ in 0..PER_ROUND {
                let begun = Instant::now();
                let sum: i64 = tab.evaluate("1+1").await.unwrap().read().unwrap();
                through.push(begun.elapsed().as_secs_f64() * 1e3);
                assert_eq!(sum, 2);
            }
            for _ in 0..PER_ROUND / 5 {
                let begun = Instant::now();
                let link = dial(&browser.ws_url).await;
                let session = link.attach(&target, &budget()).await.unwrap();
                evaluate(&session).await;
                drop(link);
                fresh.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
        let base = quantile(&mut bare, 0.5);
        println!("evaluate of 1+1, p50 and p99 in ms, ratio of p50 to a bare call on an attached session");
        line("bare, attached session", &mut bare, base);
        line("through the crate", &mut through, base);
        line("bare, connect to close", &mut fresh, base);
        running.stop().await;
    });
}

fn budget() -> Budget {
    Budget::new(Duration::from_secs(10))
}

async fn dial(address: &Url) -> Link {
    let options = LinkOptions::new(Purpose::Evaluate);
    Link::connect(address, &DialOptions::default(), options, &budget()).await.unwrap()
}

async fn evaluate(session: &Session) {
    let params = json!({ "expression": "1+1", "returnByValue": true, "awaitPromise": true });
    session.call("Runtime.evaluate", params, &budget()).await.unwrap();
}

fn line(name: &str, times: &mut [f64], base: f64) {
    let (p50, p99) = (quantile(times, 0.5), quantile(times, 0.99));
    println!("{name:24} {p50:7.3} {p99:7.3}   x {:.2}  (n={})", p50 / base, times.len());
}
