//! What metrics cost: a scrape with every series that 200 busy tabs can make, and an evaluate with a recorder and
//! a log against one without, in one run. Run by `make bench`.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a report")]

mod report;
#[path = "../tests/support/mod.rs"]
mod support;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use report::{only_a_test, quantile};
use tabvisor::Tab;
use tabvisor::metrics::{Kind, METRICS, Metric};
use tokio::time::Instant;

const ROUNDS: usize = 10;
const PER_ROUND: usize = 50;
const SCRAPES: usize = 100;

fn main() {
    if only_a_test() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        // Counters that a link holds are those of the recorder at its birth, so each side has a tab of its own.
        let running = support::start().await;
        let plain = running.tabvisor.open("about:blank").await.unwrap();
        let mut without = Vec::new();
        times(&plain, ROUNDS * PER_ROUND, &mut Vec::new()).await;
        times(&plain, ROUNDS * PER_ROUND, &mut without).await;

        let buckets = [0.0002, 0.001, 0.01, 0.1, 1.0, 10.0, 120.0];
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &buckets)
            .unwrap()
            .install_recorder()
            .unwrap();
        tabvisor::metrics::describe();
        let log = tracing_subscriber::fmt().json().with_writer(std::io::sink);
        log.with_max_level(tracing::Level::INFO).init();
        let measured = running.tabvisor.open("about:blank").await.unwrap();
        times(&measured, PER_ROUND, &mut Vec::new()).await;
        let mut with = Vec::new();
        times(&measured, ROUNDS * PER_ROUND, &mut with).await;
        let (base, cost) = (quantile(&mut without, 0.5), quantile(&mut with, 0.5));
        println!(
            "evaluate of 1+1, p50 in ms: without {base:.3}, with recorder and log {cost:.3}, ratio {:.3}",
            cost / base
        );

        let series = fill();
        let mut scrapes: Vec<f64> = (0..SCRAPES).map(|_| scrape(&recorder)).collect();
        println!(
            "a scrape of {series} series, all that there can be: p50 {:.3} ms, p99 {:.3} ms (goal: under 1)",
            quantile(&mut scrapes, 0.5),
            quantile(&mut scrapes, 0.99)
        );
        running.stop().await;
    });
}

async fn times(tab: &Tab, count: usize, into: &mut Vec<f64>) {
    for _ in 0..count {
        let begun = Instant::now();
        let sum: i64 = tab.evaluate("1+1").await.unwrap().read().unwrap();
        into.push(begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!(sum, 2);
    }
}

fn scrape(recorder: &PrometheusHandle) -> f64 {
    let begun = Instant::now();
    assert!(recorder.render().contains("tabvisor_tabs"));
    begun.elapsed().as_secs_f64() * 1e3
}

/// Every series of the table, as 200 tabs would make them: they share them, since no label names a tab.
fn fill() -> usize {
    let mut series = 0;
    for Metric { name, kind, labels, .. } in METRICS {
        let mut all: Vec<Vec<metrics::Label>> = vec![Vec::new()];
        for (label, values) in *labels {
            all = values
                .iter()
                .flat_map(|value| {
                    all.iter().map(move |before| {
                        let label = metrics::Label::from_static_parts(label, value);
                        before.iter().cloned().chain([label]).collect()
                    })
                })
                .collect();
        }
        for labels in all {
            series += 1;
            match kind {
                Kind::Counter => metrics::counter!(*name, labels).increment(1),
                Kind::Gauge => metrics::gauge!(*name, labels).set(200.0),
                Kind::Histogram => metrics::histogram!(*name, labels).record(0.1),
            }
        }
    }
    series
}
