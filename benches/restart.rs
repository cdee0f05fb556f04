//! Prints how long a tab that loops takes to come back: its scripts ended, its renderer replaced, its target
//! replaced. Run by `make bench`.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a report")]

mod report;
#[path = "../tests/support/mod.rs"]
mod support;

use report::{only_a_test, quantile};
use support::stage::Stage;
use support::{Running, secs};
use tabvisor::{RestartRequest, Rung, Tab};
use tokio::time::Instant;

const ROUNDS: usize = 20;
const GOAL_MS: f64 = 500.0;

fn main() {
    if only_a_test() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        println!("a tab in an endless loop, until it has answered again, {ROUNDS} rounds, in ms");
        let (stage, running) = (Stage::start().await, support::start().await);
        for rung in [Rung::Terminate, Rung::Renderer, Rung::Target] {
            let mut times = Vec::new();
            for _ in 0..ROUNDS {
                times.push(once(&stage, &running, rung).await);
            }
            let (p50, p95) = (quantile(&mut times, 0.5), quantile(&mut times, 0.95));
            let verdict = if p95 < GOAL_MS { "yes" } else { "NO" };
            println!("{:10} p50 {p50:7.2}  p95 {p95:7.2}  under {GOAL_MS} ms: {verdict}", rung.name());
        }
        running.stop().await;
    });
}

/// From the call to its answer: with the last two, the new document has committed and answered a script.
async fn once(stage: &Stage, running: &Running, rung: Rung) -> f64 {
    let tab = running.tabvisor.open(stage.page("<title>loops</title><p>x")).await.unwrap();
    looping(stage, &tab).await;
    let begun = Instant::now();
    let recovered = tab.restart(RestartRequest { rung: Some(rung), url: None }, secs(20)).await.unwrap();
    let took = begun.elapsed();
    assert_eq!(recovered.rung, rung);
    tab.close().await.unwrap();
    took.as_secs_f64() * 1e3
}

async fn looping(stage: &Stage, tab: &Tab) {
    let signals = stage.signals();
    tab.evaluate("setTimeout(() => { for (;;); }, 0); fetch('/signal'); return 1").await.unwrap();
    stage.signalled(signals + 1).await;
}
