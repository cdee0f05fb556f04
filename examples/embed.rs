//! The promise in one minute, from Rust: a script that never ends costs its own caller and nobody
//! else. Run with `cargo run --example embed` (as root: `TABVISOR_NO_SANDBOX=1`).
#![allow(clippy::print_stdout, reason = "an example")]

use std::time::Duration;

use tabvisor::{Config, Error, Tabvisor};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut config = Config::default();
    config.browser.no_sandbox = std::env::var_os("TABVISOR_NO_SANDBOX").is_some_and(|it| it == "1");
    let tabvisor = Tabvisor::start(config).await?;

    // Whatever happens to tabs can be listened to; a slow reader is told what it missed.
    let mut events = tabvisor.subscribe();

    let tab = tabvisor.open("about:blank").await?;
    let sibling = tabvisor.open("about:blank").await?;

    // A script that never ends, with a budget of one second; its sibling answers meanwhile.
    let runaway = tab.evaluate("while (true) {}").within(Duration::from_secs(1));
    let (stuck, sum) = tokio::join!(runaway, sibling.evaluate("1 + 1"));
    println!("the sibling says {}", sum?.read::<i64>()?);
    match stuck {
        Err(error) => println!("the runaway: {} ({error})", error.kind()),
        Ok(value) => println!("the runaway gave {value:?}?"),
    }

    // The tab is usable at once.
    let sum: i64 = tab.evaluate("2 + 2").await?.read()?;
    println!("the tab says {sum}");

    // Dropping the future of a call ends its script in the page.
    let endless = tab.evaluate("while (true) { window.count = (window.count || 0) + 1 }");
    let cut = tokio::time::timeout(Duration::from_millis(200), endless.into_future()).await;
    println!("dropped after 200 ms: {}", cut.is_err());
    let first: i64 = tab.evaluate("window.count").await?.read()?;
    let again: i64 = tab.evaluate("window.count").await?.read()?;
    println!("its counter stands still: {}", first == again);

    for row in tabvisor.tabs() {
        println!("{} {:?} {}", row.tab_id, row.state, row.url);
    }
    if let Some(event) = events.next().await {
        println!("the first event: {event:?}");
    }
    tabvisor.stop().await;
    Ok(())
}
