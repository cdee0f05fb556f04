//! Everything at once, at random: actions, scripts, dialogs, loops, dead renderers, navigations,
//! restarts and closed tabs. Every call is answered once and inside its budget, what is called confirmed has
//! happened in the page, and nothing is left at the end.
//!
//! `TABVISOR_CHAOS_S` says how long (60 s without it), `TABVISOR_CHAOS_SEED` with which numbers.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test: a panic is its way to fail, and it tells its numbers"
)]

use crate::support;

use std::sync::Arc;

use support::chaos::left::Held;
use support::chaos::tally::Tally;
use support::chaos::{gremlin, left, page, seed, setting, worker};
use support::secs;
use support::stage::Stage;
use tabvisor_cdp::task;
use tokio::time::Instant;

/// Tabs that are worked on at a time.
const TABS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_every_call_has_its_one_honest_answer() {
    let lasting = secs(setting("TABVISOR_CHAOS_S").unwrap_or(60));
    let seed = seed();
    eprintln!("chaos with TABVISOR_CHAOS_SEED={seed} for {lasting:?}");
    let stage = Stage::start().await;
    let url: Arc<str> = stage.page(page::BODY).into();
    let before = Held::now();
    let running = support::start().await;
    let tally = Tally::new();
    let end = Instant::now() + lasting;

    let mut work = Vec::new();
    for slot in 0..TABS {
        let (tabvisor, url, tally) = (running.tabvisor.clone(), Arc::clone(&url), tally.clone());
        let rng = fastrand::Rng::with_seed(seed + slot as u64);
        work.push(task::spawn(worker::work(tabvisor, url, tally, rng, end)));
    }
    let address = support::raw::address(&running);
    let rng = fastrand::Rng::with_seed(seed + 1_000);
    work.push(task::spawn(gremlin::haunt(running.tabvisor.clone(), address, rng, end)));

    let warm = left::after(end, lasting / 5).await;
    for one in work {
        one.join().await.expect("no worker panics");
    }
    let memory = left::resident();
    let counts = tally.counts();
    eprintln!(
        "{counts}\nmemory {} MiB after a fifth of the time, {} MiB at the end",
        warm >> 20,
        memory >> 20
    );
    // That it was a test: a loaded machine does at least that much.
    counts.assert_honest(20 * usize::try_from(lasting.as_secs() / 60).unwrap().max(1));
    counts.assert_some(&["ok", "timeout", "crashed", "dialog_open"]);
    // Also a tab that is stuck is closed.
    counts.assert_only("close", &["ok", "tab_closed", "tab_lost"]);
    counts.assert_came_back("restart");
    left::assert_flat(warm, memory, lasting);
    // A tab that could not be opened is gone a moment after the answer that says so.
    support::eventually("every tab is closed", || async { running.tabvisor.tabs().is_empty().then_some(()) })
        .await;
    running.stop().await;
    drop(stage);
    before.assert_nothing_more().await;
}
