//! A network that delays, loses, repeats, floods, stalls and cuts, between tabvisor and a Chromium
//! that is not its own: every call has its one answer in time, and what it says is true.
//!
//! `TABVISOR_CHAOS_S` says how long (40 s without it), `TABVISOR_CHAOS_SEED` with which numbers.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test: a panic is its way to fail, and it tells its numbers"
)]

use crate::support;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use support::chaos::tally::Tally;
use support::chaos::{page, seed, setting, worker};
use support::stage::Stage;
use support::weather::{Fault, Weather};
use support::{ms, secs};
use tabvisor::Tabvisor;
use tabvisor_cdp::task;
use tokio::time::Instant;

const TABS: usize = 6;
/// The browser link is the oldest connection. Without it all tabs are lost, so it suffers less often.
const BROWSER_SUFFERS: Duration = secs(15);

fn any_fault(rng: &mut fastrand::Rng) -> Fault {
    match rng.u8(..9) {
        0 => Fault::Delay(ms(rng.u64(20..400))),
        1 | 2 => Fault::LoseAnswer,
        3 => Fault::LoseCommand,
        4 => Fault::Repeat,
        5 => Fault::Flood(rng.usize(100..5_000)),
        6 => Fault::Stall(ms(rng.u64(100..1_500))),
        7 => Fault::HalfClose,
        _ => Fault::Cut,
    }
}

async fn storm(weather: &Weather, mut rng: fastrand::Rng, end: Instant) -> BTreeMap<&'static str, usize> {
    let mut done = BTreeMap::new();
    let mut spared = Instant::now() + BROWSER_SUFFERS;
    while Instant::now() < end {
        tokio::time::sleep(ms(rng.u64(40..400))).await;
        let first = if Instant::now() > spared {
            spared = Instant::now() + BROWSER_SUFFERS;
            0
        } else {
            1
        };
        let fault = any_fault(&mut rng);
        if weather.on_one(fault, |open| if first == 0 { 0 } else { rng.usize(first.min(open - 1)..open) }) {
            *done.entry(fault.name()).or_default() += 1;
        }
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_lost_in_any_weather() {
    let lasting = secs(setting("TABVISOR_CHAOS_S").unwrap_or(40));
    let seed = seed();
    eprintln!("faults with TABVISOR_CHAOS_SEED={seed} for {lasting:?}");
    let stage = Stage::start().await;
    let url: Arc<str> = stage.page(page::BODY).into();
    let running = support::start().await;
    let address = support::raw::address(&running);
    let weather = Weather::over((Ipv4Addr::LOCALHOST, address.port().unwrap()).into()).await;
    let mut config = support::config(&running.state);
    config.browser.cdp_url = Some(format!("ws://{}{}", weather.address, address.path()).into());
    let attached = Tabvisor::start(config).await.unwrap();
    let tally = Tally::new();
    let end = Instant::now() + lasting;

    let mut work = Vec::new();
    for slot in 0..TABS {
        let (tabvisor, url, tally) = (attached.clone(), Arc::clone(&url), tally.clone());
        let rng = fastrand::Rng::with_seed(seed + slot as u64);
        work.push(task::spawn(worker::work(tabvisor, url, tally, rng, end)));
    }
    let faults = storm(&weather, fastrand::Rng::with_seed(seed + 1_000), end).await;
    for one in work {
        one.join().await.expect("no worker panics");
    }
    let counts = tally.counts();
    eprintln!("faults: {faults:?}, {} in all\n{counts}", faults.values().sum::<usize>());
    counts.assert_honest(20);
    assert!(faults.len() >= 7, "the weather was too good: {faults:?}");

    // The sky is clear again: everything works.
    let tab = support::eventually("a tab is opened", || async { attached.open(&*url).await.ok() }).await;
    assert_eq!(support::int(&tab.evaluate("1 + 1").within(secs(10)).await), 2);
    attached.stop().await;
    running.stop().await;
}
