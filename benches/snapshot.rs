//! A snapshot against Chromium's own `Accessibility.getFullAXTree`, in one run, as ratios. Run by
//! `make bench`.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a report")]

mod report;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use report::{only_a_test, quantile};
use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Purpose, Session};
use tabvisor_page::snapshot::{Limits, Memory, Request};
use tokio::time::Instant;

/// Nodes of the accessibility tree, and how often they are read.
const SIZES: [(usize, usize); 3] = [(1_000, 20), (10_000, 8), (50_000, 3)];

/// A button is three nodes: itself, its text, a line of the text.
const FILL: &str = "const n = Math.ceil(size / 3); document.body.innerHTML = '';
    for (let at = 0; at < n; at++) {
        const made = document.createElement('button'); made.textContent = 'button ' + at; document.body.append(made);
    } n";

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
        let options = LinkOptions::new(Purpose::Page);
        let link = Link::connect(&browser.ws_url, &DialOptions::default(), options, &budget()).await.unwrap();
        let session = link.attach(&target, &budget()).await.unwrap();
        println!("a snapshot of everything, p50 in ms, ratio to a bare getFullAXTree of the same page");
        println!("    nodes   bare  read  rendered   whole / bare   ms per 1000 nodes");
        for (size, rounds) in SIZES {
            fill(&session, size).await;
            row(&session, rounds).await;
        }
        drop(link);
        running.stop().await;
    });
}

async fn row(session: &Session, rounds: usize) {
    let request = Request { max_chars: Some(0), ..Request::default() };
    let limits = Limits { nodes: 1_000_000, ..Limits::default() };
    let mut memory = Memory::default();
    let (mut bare, mut read, mut rendered, mut whole) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut nodes = 0;
    // Interleaved, so that a noisy moment hits both.
    for _ in 0..rounds {
        let begun = Instant::now();
        session.call("Accessibility.getFullAXTree", json!({}), &budget()).await.unwrap();
        bare.push(ms(begun));
        let begun = Instant::now();
        let plan = memory.begin(request.clone()).unwrap().within(limits);
        let taken = plan.read(session, &[], &budget()).await.unwrap();
        read.push(ms(begun));
        let rendering = Instant::now();
        let snapshot = memory.render(&taken).unwrap();
        rendered.push(ms(rendering));
        whole.push(ms(begun));
        assert!(snapshot.missing.is_none());
        nodes = taken.capture().main().tree.nodes.len();
    }
    let p50 = |times: &mut Vec<f64>| quantile(times, 0.5);
    let (bare, whole) = (p50(&mut bare), p50(&mut whole));
    #[expect(clippy::cast_precision_loss, reason = "a count of nodes")]
    let per_thousand = whole / (nodes as f64 / 1e3);
    println!(
        "{nodes:9} {bare:6.1} {:5.1} {:9.1}   x {:12.2} {per_thousand:19.2}",
        p50(&mut read),
        p50(&mut rendered),
        whole / bare,
    );
}

async fn fill(session: &Session, size: usize) {
    let params = json!({ "expression": format!("{{const size = {size}; {FILL}}}"), "returnByValue": true });
    let answer = session.call("Runtime.evaluate", params, &budget()).await.unwrap();
    let answer: Value = serde_json::from_str(answer.get()).unwrap();
    assert!(answer["result"]["value"].is_u64(), "{answer}");
}

fn ms(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn budget() -> Budget {
    Budget::new(Duration::from_mins(1))
}
