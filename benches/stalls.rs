//! Prints how late answers are with 19 of 24 tabs stuck. Run by `make stalls`.
#![allow(missing_docs, clippy::print_stdout, reason = "a report")]

mod report;
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use report::{only_a_test, quantile};
use support::stalls::{self, Stall};

const ROUNDS: usize = 3;

fn main() {
    if only_a_test() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let pages = support::Pages::start().await;
        let mut late: BTreeMap<Stall, Vec<f64>> = BTreeMap::new();
        let mut next = Vec::new();
        let mut siblings: Vec<Duration> = Vec::new();
        for _ in 0..ROUNDS {
            let running = support::start().await;
            let outcome = stalls::run(&running, &pages).await;
            for report in outcome.reports {
                // A dialog is told at once; it has no lateness.
                if report.stall != Stall::Confirm {
                    late.entry(report.stall).or_default().push(report.late_ms());
                }
                next.push(report.next_took.as_secs_f64() * 1e3);
            }
            siblings.extend(outcome.siblings);
            running.stop().await;
        }
        println!(
            "answers against a budget of {} ms, {ROUNDS} rounds of 24 tabs, in ms",
            stalls::BUDGET.as_millis()
        );
        let mut all = Vec::new();
        for (stall, times) in &mut late {
            line(&format!("{stall:?}"), times);
            all.extend_from_slice(times);
        }
        line("all late by", &mut all);
        line("next call took", &mut next);
        line("siblings took", &mut siblings.iter().map(|time| time.as_secs_f64() * 1e3).collect::<Vec<_>>());
        let verdict = quantile(&mut all, 0.5) < 25.0 && quantile(&mut all, 1.0) < 150.0;
        println!("median under 25 ms and worst under 150 ms: {}", if verdict { "yes" } else { "NO" });
    });
}

fn line(name: &str, times: &mut [f64]) {
    println!(
        "{name:16} median {:8.2}  p90 {:8.2}  worst {:8.2}  (n={})",
        quantile(times, 0.5),
        quantile(times, 0.9),
        quantile(times, 1.0),
        times.len()
    );
}
