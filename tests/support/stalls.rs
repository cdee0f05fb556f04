//! 24 tabs at once, 19 of them stuck in seven ways, budget 500 ms each. Used by the test (wide
//! bounds) and by `make stalls` (prints lateness).

use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use tabvisor::{Error, Tab, Value, WaitUntil};
use tabvisor_cdp::task;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Pages, Running, ms, processes, secs};

pub const BUDGET: Duration = ms(500);

/// How a tab is stuck, and how many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stall {
    Loop,
    Microtasks,
    Promise,
    Confirm,
    SyncXhr,
    Stopped,
    Regex,
}

pub const STALLS: [(Stall, usize); 7] = [
    (Stall::Loop, 5),
    (Stall::Microtasks, 3),
    (Stall::Promise, 3),
    (Stall::Confirm, 3),
    (Stall::SyncXhr, 2),
    (Stall::Stopped, 2),
    (Stall::Regex, 1),
];

pub const IDLE: usize = 5;

impl Stall {
    fn script(self, pages: &Pages) -> String {
        match self {
            Self::Loop => "while (true) {}".into(),
            Self::Microtasks => "const again = () => Promise.resolve().then(again); return again()".into(),
            Self::Promise => "new Promise(() => {})".into(),
            Self::Confirm => "confirm('sure?')".into(),
            Self::SyncXhr => format!(
                "const x = new XMLHttpRequest(); x.open('GET', '{}', false); x.send(); return x.status",
                pages.url("/never")
            ),
            Self::Stopped => "1 + 1".into(),
            Self::Regex => "/^(a+)+$/.test('a'.repeat(60) + '!')".into(),
        }
    }
}

/// One call that got stuck, and the call after it.
#[derive(Debug)]
pub struct Report {
    pub stall: Stall,
    pub answer: Result<Value, Error>,
    /// Time to the answer.
    pub took: Duration,
    /// The next evaluate of `1 + 1` on the same tab, and its time.
    pub next: Result<Value, Error>,
    pub next_took: Duration,
}

impl Report {
    /// Answer time minus budget, in ms; negative when early.
    pub fn late_ms(&self) -> f64 {
        (self.took.as_secs_f64() - BUDGET.as_secs_f64()) * 1e3
    }
}

pub struct Outcome {
    pub reports: Vec<Report>,
    /// Times of `1 + 1` on the idle siblings while the others were stuck.
    pub siblings: Vec<Duration>,
}

/// Runs the scenario once.
pub async fn run(running: &Running, pages: &Pages) -> Outcome {
    let tabvisor = &running.tabvisor;
    let mut stuck = Vec::new();
    for (stall, count) in STALLS {
        for _ in 0..count {
            let tab = tabvisor.open(pages.url("/ok")).until(WaitUntil::Load).await.unwrap();
            stuck.push((stall, tab));
        }
    }
    let mut idle = Vec::new();
    for _ in 0..IDLE {
        idle.push(tabvisor.open(pages.url("/ok")).await.unwrap());
    }
    // One answered call each: a spare link is attached and warm on every tab.
    for tab in stuck.iter().map(|(_, tab)| tab).chain(&idle) {
        tab.evaluate("1").await.unwrap();
    }
    let browser = tabvisor.supervisor().browser(tabvisor.browser()).unwrap();
    let mut stopped = Vec::new();
    for (_, tab) in stuck.iter().filter(|(stall, _)| *stall == Stall::Stopped) {
        let target = tab.row().unwrap().target_id;
        stopped.push(processes::renderer_of(&browser.ws_url, &target).await);
    }
    for pid in &stopped {
        processes::signal(*pid, Signal::STOP);
    }

    let (over, still) = watch::channel(false);
    let siblings: Vec<_> = idle.into_iter().map(|tab| task::spawn(ask_again(tab, still.clone()))).collect();
    let calls: Vec<_> = stuck
        .into_iter()
        .map(|(stall, tab)| {
            let script = stall.script(pages);
            task::spawn(async move {
                let begun = Instant::now();
                let answer = tab.evaluate(script).within(BUDGET).await;
                let took = begun.elapsed();
                let begun = Instant::now();
                let next = tab.evaluate("1 + 1").within(secs(5)).await;
                Report { stall, answer, took, next, next_took: begun.elapsed() }
            })
        })
        .collect();
    let mut reports = Vec::new();
    for call in calls {
        reports.push(call.join().await.expect("no panic"));
    }
    over.send_replace(true);
    let mut times = Vec::new();
    for sibling in siblings {
        times.extend(sibling.join().await.expect("every sibling was answered"));
    }
    for pid in &stopped {
        processes::signal(*pid, Signal::CONT);
    }
    Outcome { reports, siblings: times }
}

async fn ask_again(tab: Tab, over: watch::Receiver<bool>) -> Vec<Duration> {
    let mut times = Vec::new();
    while !*over.borrow() {
        let begun = Instant::now();
        let sum: i64 = tab.evaluate("1 + 1").within(secs(5)).await.unwrap().read().unwrap();
        assert_eq!(sum, 2);
        times.push(begun.elapsed());
        tokio::time::sleep(ms(20)).await;
    }
    times
}

/// For the head of a printed report.
pub fn when() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map(|it| it.as_secs()).unwrap_or_default()
}
