//! Random interleavings of calls, kills, drops, crashes and closes: exactly one answer each,
//! nothing pending at the end, no task, link or map entry left.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task::{self, Task};
use tokio::runtime::Handle;

use super::{World, budget};
use crate::error::TabError;
use crate::ids::TabId;
use crate::limits::{Care, Limits, Recovery};
use crate::registry::TabHandle;

#[derive(Clone, Copy, Debug)]
enum Step {
    Run { tab: usize, word: &'static str, ms: u64 },
    DropCall(usize),
    Navigate { tab: usize, ms: u64 },
    Pause(u64),
    CutLink(usize),
    Crash(usize),
    ClosePage(usize),
    CloseTab(usize),
    AnswerDialog(usize),
    KillEvaluates(usize),
    KillTab(usize),
    Open,
}

fn step() -> impl Strategy<Value = Step> {
    let word = prop::sample::select(vec![
        "QUICK", "QUICK", "QUICK", "LOOP", "NATIVE", "PENDING", "NEVER", "THROW", "DIALOG", "CLOSE", "CRASH",
        "GARBAGE",
    ]);
    prop_oneof![
        10 => (0usize..3, word, 2u64..40).prop_map(|(tab, word, ms)| Step::Run { tab, word, ms }),
        3 => (0usize..8).prop_map(Step::DropCall),
        2 => (0usize..3, 2u64..40).prop_map(|(tab, ms)| Step::Navigate { tab, ms }),
        4 => (0u64..8).prop_map(Step::Pause),
        2 => (0usize..12).prop_map(Step::CutLink),
        1 => (0usize..3).prop_map(Step::Crash),
        1 => (0usize..3).prop_map(Step::ClosePage),
        1 => (0usize..3).prop_map(Step::CloseTab),
        1 => (0usize..3).prop_map(Step::AnswerDialog),
        1 => (0usize..3).prop_map(Step::KillEvaluates),
        1 => (0usize..3).prop_map(Step::KillTab),
        1 => Just(Step::Open),
    ]
}

/// Longer than any budget and grace here: who has no answer by then has none at all.
const NO_ANSWER: Duration = Duration::from_secs(20);

/// How calls ended, over all cases: proof that the interleavings are about something.
type Endings = Arc<Mutex<BTreeMap<&'static str, usize>>>;

async fn play(steps: Vec<Step>, endings: Endings) {
    let limits = Limits { evaluates_per_tab: 4, tabs: 4, ..Limits::default() };
    let care =
        Care { stuck_after: Duration::from_millis(15), recovery: Recovery::Terminate, ..Care::default() };
    let world = World::with(limits, care).await;
    let mut tabs = vec![world.open().await, world.open().await];
    let mut handles: Vec<TabHandle> = tabs.iter().map(|tab| world.supervisor.handle(*tab).unwrap()).collect();
    let mut calls: Vec<Task<Result<(), TabError>>> = Vec::new();
    for step in steps {
        let pick = |n: usize| tabs[n % tabs.len()];
        match step {
            Step::Run { tab, word, ms } => {
                let call = world.run(pick(tab), word, ms);
                calls.push(task::spawn(async move { call.await.map(drop) }));
            }
            Step::DropCall(n) if !calls.is_empty() => drop(calls.swap_remove(n % calls.len())),
            Step::Navigate { tab, ms } => {
                let (supervisor, tab) = (world.supervisor.clone(), pick(tab));
                calls.push(task::spawn(async move {
                    let until = tabvisor_page::navigate::WaitUntil::Load;
                    supervisor.navigate(tab, "http://fake.test/", until, &budget(ms)).await.map(drop)
                }));
            }
            Step::Pause(ms) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            Step::CutLink(n) => {
                // Never the browser link (the first): losing that is another test.
                let links = world.fake.connections();
                if links.len() > 1 {
                    world.fake.drop_link(links[1 + n % (links.len() - 1)]);
                }
            }
            Step::Crash(tab) => with_target(&world, pick(tab), |target| world.fake.crash(target)),
            Step::ClosePage(tab) => with_target(&world, pick(tab), |target| world.fake.destroy(target)),
            Step::CloseTab(tab) => {
                let (supervisor, tab) = (world.supervisor.clone(), pick(tab));
                calls.push(task::spawn(async move { supervisor.close(tab, &budget(1000)).await }));
            }
            Step::AnswerDialog(tab) => with_target(&world, pick(tab), |target| {
                world.fake.close_dialog(target, true);
            }),
            Step::KillEvaluates(tab) => {
                if let Ok(handle) = world.supervisor.handle(pick(tab)) {
                    handle.evaluates.kill();
                }
            }
            Step::KillTab(tab) => {
                if let Ok(handle) = world.supervisor.handle(pick(tab)) {
                    handle.tab.kill();
                }
            }
            Step::Open => {
                let until = tabvisor_page::navigate::WaitUntil::Load;
                let opened = world.supervisor.open(world.browser, "about:blank", until, &budget(5000)).await;
                if let Ok(row) = opened {
                    tabs.push(row.tab_id);
                    handles.extend(world.supervisor.handle(row.tab_id));
                }
            }
            Step::DropCall(_) => {}
        }
    }
    for call in calls {
        let answer = Budget::new(NO_ANSWER).run(call.join()).await.expect("every call is answered");
        let answer = answer.expect("no call panics");
        let word = answer.as_ref().map_or_else(TabError::kind, |()| "ok");
        *endings.lock().unwrap().entry(word).or_default() += 1;
        if let Err(TabError::Internal(why)) = &answer {
            assert!(why.contains("restarted"), "only a killed actor may say so: {why}");
        }
    }
    // Nothing pending: every permit is back, every count is zero.
    for handle in &handles {
        let free = async {
            while handle.shared.evaluates.available_permits() < 4
                || handle.shared.actions.available_permits() < 16
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            while handle.shared.scripts.started() > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        Budget::new(NO_ANSWER).run(free).await.expect("every permit comes back");
    }
    drop(handles);
    let registry = world.supervisor.registry();
    world.stop().await;
    assert!(registry.tabs().is_empty(), "the registry is empty");
}

fn with_target(world: &World, tab: TabId, act: impl FnOnce(&str)) {
    if let Ok(row) = world.supervisor.tab(tab)
        && world.fake.targets().contains(&row.target_id)
    {
        act(&row.target_id);
    }
}

/// Interleavings that run side by side in one case.
const SIDE_BY_SIDE: usize = 16;

#[test]
fn every_call_is_answered_exactly_once_and_nothing_is_left() {
    let cases = std::env::var("TABVISOR_INTERLEAVINGS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000);
    let cases = u32::try_from(cases / SIDE_BY_SIDE).unwrap().max(1);
    let config = Config { cases, max_shrink_iters: 40, failure_persistence: None, ..Config::default() };
    let plans = prop::collection::vec(prop::collection::vec(step(), 1..24), SIDE_BY_SIDE);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let endings = Endings::default();
    let outcome = TestRunner::new(config).run(&plans, |plans| {
        runtime.block_on(async {
            let before = Handle::current().metrics().num_alive_tasks();
            let playing: Vec<_> =
                plans.into_iter().map(|steps| tokio_spawn(play(steps, Arc::clone(&endings)))).collect();
            for world in playing {
                world.await.expect("the interleaving holds");
            }
            let settled = async {
                while Handle::current().metrics().num_alive_tasks() > before {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            let left = Budget::new(NO_ANSWER).run(settled).await;
            assert!(
                left.is_ok(),
                "{} tasks are left",
                Handle::current().metrics().num_alive_tasks() - before
            );
        });
        Ok(())
    });
    outcome.unwrap();
    let endings = endings.lock().unwrap();
    println!("{endings:?}");
    for word in ["ok", "timeout", "tab_closed"] {
        assert!(endings.contains_key(word), "no call ended with {word}: {endings:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a test whose panic must be seen by its join handle")]
fn tokio_spawn<F>(future: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(future)
}
