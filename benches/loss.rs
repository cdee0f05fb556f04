//! Prints how long after a death its calls in flight are answered: a renderer, Chromium, the links.
//! Run by `make bench`.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, reason = "a report")]

mod report;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use report::only_a_test;
use rustix::process::Signal;
use support::proxy::Proxy;
use support::{Running, config, processes, secs};
use tabvisor::{Error, Tab, Tabvisor, Value};
use tabvisor_cdp::task::{self, Task};
use tokio::time::Instant;

const ROUNDS: usize = 10;
const CALLS: usize = 4;

type Answered = (Result<Value, Error>, Instant);

fn main() {
    if only_a_test() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        println!("answers to {CALLS} calls in flight after a death, {ROUNDS} rounds, in ms");
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            let running = support::start().await;
            times[0].extend(renderer(&running).await);
            times[1].extend(links(&running).await);
            times[2].extend(chromium(&running).await);
            running.stop().await;
        }
        for (name, times) in ["renderer killed", "links cut", "chromium killed"].iter().zip(&mut times) {
            times.sort();
            let ms = |time: &Duration| time.as_secs_f64() * 1e3;
            let (median, worst) = (ms(&times[times.len() / 2]), ms(times.last().unwrap()));
            println!("{name:18} median {median:7.2}  worst {worst:7.2}  (n={})", times.len());
        }
    });
}

async fn renderer(running: &Running) -> Vec<Duration> {
    let tab = running.tabvisor.open("about:blank").await.unwrap();
    let calls = in_flight(&tab).await;
    let address = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap().ws_url.clone();
    let pid = processes::renderer_of(&address, &tab.row().unwrap().target_id).await;
    let begun = Instant::now();
    processes::signal(pid, Signal::KILL);
    answered(calls, begun, "crashed").await
}

async fn chromium(running: &Running) -> Vec<Duration> {
    let tab = running.tabvisor.open("about:blank").await.unwrap();
    let calls = in_flight(&tab).await;
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    let begun = Instant::now();
    processes::signal(browser.pid.unwrap(), Signal::KILL);
    answered(calls, begun, "browser_lost").await
}

async fn links(running: &Running) -> Vec<Duration> {
    let browser = running.tabvisor.supervisor().browser(running.tabvisor.browser()).unwrap();
    let proxy = Proxy::to((std::net::Ipv4Addr::LOCALHOST, browser.ws_url.port().unwrap()).into()).await;
    let mut config = config(&running.state);
    config.browser.cdp_url = Some(format!("ws://{}{}", proxy.address, browser.ws_url.path()).into());
    let attached = Tabvisor::start(config).await.unwrap();
    let tab = attached.open("about:blank").await.unwrap();
    let calls = in_flight(&tab).await;
    let begun = Instant::now();
    proxy.cut();
    let times = answered(calls, begun, "browser_lost").await;
    proxy.heal();
    attached.stop().await;
    times
}

async fn in_flight(tab: &Tab) -> Vec<Task<Answered>> {
    tab.evaluate("1").await.unwrap();
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let call = tab.evaluate("new Promise(() => {})").within(secs(60)).into_future();
            task::spawn(async move { (call.await, Instant::now()) })
        })
        .collect();
    support::eventually("calls are in flight", || async {
        (tab.row().unwrap().queue.evaluates == CALLS).then_some(())
    })
    .await;
    tab.evaluate("1").await.unwrap();
    calls
}

async fn answered(calls: Vec<Task<Answered>>, begun: Instant, kind: &str) -> Vec<Duration> {
    let mut times = Vec::new();
    for call in calls {
        let (answer, at) = call.join().await.unwrap();
        assert_eq!(answer.unwrap_err().kind(), kind);
        times.push(at - begun);
    }
    times
}
