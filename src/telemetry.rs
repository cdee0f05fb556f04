//! Log and metrics of the process. Only the binary installs them; the crates emit through facades.

use std::io::IsTerminal;
use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tabvisor_cdp::task::{self, Task};
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// From 0.2 ms, a quick evaluate, to 120 s, the largest budget.
const SECONDS: [f64; 18] = [
    0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    120.0,
];

/// The nodes of a page, as a snapshot reads them.
const NODES: [f64; 10] = [10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5];

/// How often this process looks at itself, and samples are folded into their histograms, so that a scrape has
/// little to do.
const UPKEEP: Duration = Duration::from_secs(5);

/// Logs to standard error what `TABVISOR_LOG`, else `RUST_LOG`, else `default` lets through.
pub(crate) fn log(format: LogFormat, default: &str) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let asked = ["TABVISOR_LOG", "RUST_LOG"].into_iter().find_map(|name| Some((name, variable(name)?)));
    let filter = match asked {
        Some((name, text)) => EnvFilter::try_new(text).map_err(|why| format!("{name}: {why}"))?,
        None => EnvFilter::new(default),
    };
    let colours = std::io::stderr().is_terminal();
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr);
    let installed = match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    installed.map_err(|why| why.to_string())
}

/// The recorder of this process.
pub(crate) struct Metrics {
    handle: PrometheusHandle,
    _upkeep: Task<()>,
}

impl Metrics {
    /// Installs it; within a runtime.
    pub(crate) fn install() -> Result<Self, BuildError> {
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
            .set_buckets_for_metric(Matcher::Full("tabvisor_snapshot_nodes".into()), &NODES)?
            .install_recorder()?;
        tabvisor::metrics::describe();
        let process = metrics_process::Collector::new("tabvisor_");
        process.describe();
        process.collect();
        let folding = handle.clone();
        let upkeep = task::spawn(async move {
            loop {
                tokio::time::sleep(UPKEEP).await;
                process.collect();
                folding.run_upkeep();
            }
        });
        Ok(Self { handle, _upkeep: upkeep })
    }

    /// Gives the text for a scrape.
    pub(crate) fn renderer(&self) -> impl Fn() -> String + Send + Sync + 'static {
        let handle = self.handle.clone();
        move || handle.render()
    }
}

/// What runs here, as a metric.
pub(crate) fn build_info(chromium: &str) {
    let version = env!("CARGO_PKG_VERSION");
    metrics::gauge!("tabvisor_build_info", "version" => version, "chromium" => chromium.to_owned()).set(1.0);
}
