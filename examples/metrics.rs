//! Metrics in a program that embeds tabvisor: it installs a recorder of its own, or none. Run with
//! `cargo run --example metrics` (as root: `TABVISOR_NO_SANDBOX=1`).
#![allow(clippy::print_stdout, reason = "an example")]

use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use tabvisor::{Config, Tabvisor};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Any recorder of the crate `metrics` will do; this one gives text for Prometheus.
    let metrics = PrometheusBuilder::new().install_recorder()?;
    tabvisor::metrics::describe();

    let mut config = Config::default();
    config.browser.no_sandbox = std::env::var_os("TABVISOR_NO_SANDBOX").is_some_and(|it| it == "1");
    let tabvisor = Tabvisor::start(config).await?;
    let tab = tabvisor.open("about:blank").await?;
    tab.evaluate("1 + 1").await?;
    let endless = tab.evaluate("while (true) {}").within(Duration::from_millis(500)).await;
    println!("the endless one: {}", endless.err().map_or("a value", |error| error.kind()));
    tabvisor.stop().await;

    for line in metrics.render().lines().filter(|line| line.starts_with("tabvisor_evaluate")) {
        println!("{line}");
    }
    Ok(())
}
