//! A stuck tab comes back, whatever it is stuck in, and a tab beside it notices nothing.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use rustix::process::Signal;
use support::stage::Stage;
use support::{Running, int, kind, ms, processes, raw, secs};
use tabvisor::act::Viewport;
use tabvisor::events::{Event, Item, Subscription};
use tabvisor::{Act, BlockedBy, Lost, Recovered, RestartRequest, Rung, Tab, TabState};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task::{self, Task};

/// A browser with a tab to get stuck and one beside it that is asked all the while.
struct Scene {
    stage: Stage,
    running: Running,
    tab: Tab,
    url: String,
    sibling: Task<()>,
    events: Subscription,
    /// On a busy machine a page may take longer to begin than its actors wait for.
    restarts: u64,
}

impl Scene {
    async fn new(body: &str) -> Self {
        let stage = Stage::start().await;
        let url = stage.page(body);
        Self::on(stage, url).await
    }

    async fn on(stage: Stage, url: String) -> Self {
        let running = support::start().await;
        let beside = running.tabvisor.open(stage.page("<title>beside</title>")).await.unwrap();
        let tab = running.tabvisor.open(&url).await.unwrap();
        assert_eq!(int(&tab.evaluate("1 + 1").await), 2);
        let sibling = task::spawn(async move {
            loop {
                let two = beside.evaluate("1 + 1").within(secs(20)).await;
                assert_eq!(int(&two), 2);
                tokio::time::sleep(ms(10)).await;
            }
        });
        let events = running.tabvisor.subscribe();
        let restarts = tab.row().unwrap().restarts;
        Self { stage, running, tab, url, sibling, events, restarts }
    }

    /// Starts a script in the page that does not come to its end, and waits until it has begun.
    async fn stuck_in(&self, script: &str) {
        let (signals, tab) = (self.stage.signals(), self.tab.clone());
        let text = format!("setTimeout(() => {{ {script} }}, 0); fetch('/signal'); return 1");
        // The request leaves before the timer fires.
        tab.evaluate(text).within(secs(20)).await.unwrap();
        self.stage.signalled(signals + 1).await;
    }

    async fn restart(&self) -> Recovered {
        let recovered = self.tab.restart(RestartRequest::default(), secs(20)).await;
        recovered.unwrap_or_else(|error| panic!("{}: {error}", error.kind()))
    }

    /// Actors that did not live through it.
    async fn restarted(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Ok(Some(Item::Event(told))) = Budget::new(ms(10)).run(self.events.next()).await {
            if let Event::ActorRestarted { actor, cause, .. } = told.event {
                all.push(format!("{actor}: {cause}"));
            }
        }
        all
    }

    /// What holds of every recovery.
    async fn usable(mut self, recovered: &Recovered, rung: Rung) {
        assert_eq!(recovered.rung, rung, "{recovered:?}");
        assert_eq!(recovered.tab_id, self.tab.id());
        assert_eq!(recovered.url, self.url);
        assert_eq!(int(&self.tab.evaluate("1 + 1").within(secs(10)).await), 2);
        let row = self.tab.row().unwrap();
        assert_eq!((row.url.as_str(), row.generation), (self.url.as_str(), recovered.generation));
        assert!(matches!(row.state, TabState::Ready | TabState::Busy), "{row:?}");
        let restarted = self.restarted().await;
        let recovery = u64::from(rung >= Rung::Renderer);
        assert_eq!((row.restarts - self.restarts, &restarted), (recovery, &Vec::new()));
        assert!(self.tab.last_recovery().unwrap().is_some());
        assert!(!self.sibling.is_finished(), "the tab beside it did not answer");
        drop(self.sibling);
        self.running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_loop_by_ending_it_and_its_document_stays() {
    let scene = Scene::new("<script>window.kept = 7</script>").await;
    let generation = scene.tab.row().unwrap().generation;
    scene.stuck_in("for (;;);").await;
    let recovered = scene.restart().await;
    assert_eq!(recovered.lost, [Lost::Scripts]);
    assert_eq!(recovered.generation, generation);
    assert_eq!(int(&scene.tab.evaluate("window.kept").await), 7);
    scene.usable(&recovered, Rung::Terminate).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_timer_that_loops_again_and_again_by_taking_it_away() {
    let scene = Scene::new("<script>window.kept = 7</script>").await;
    let signals = scene.stage.signals();
    // The request is synchronous: once it is there, so is the timer. An end of scripts that comes before
    // the first of them would end only that.
    let ask = "const ask = new XMLHttpRequest(); ask.open('GET', '/signal', false); ask.send();";
    scene.stuck_in(&format!("setInterval(() => {{ for (;;); }}, 1); {ask} for (;;);")).await;
    scene.stage.signalled(signals + 2).await;
    let recovered = scene.restart().await;
    assert_eq!(recovered.lost, [Lost::Scripts, Lost::Timers]);
    assert_eq!(int(&scene.tab.evaluate("window.kept").await), 7);
    // Scripts of the page run again.
    let timer =
        scene.tab.evaluate("new Promise(done => setTimeout(() => done(5), 0))").within(secs(10)).await;
    assert_eq!(int(&timer), 5);
    scene.usable(&recovered, Rung::Terminate).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_loop_of_microtasks() {
    let scene = Scene::new("").await;
    scene.stuck_in("const again = () => Promise.resolve().then(again); again()").await;
    let recovered = scene.restart().await;
    scene.usable(&recovered, Rung::Terminate).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_regular_expression() {
    let scene = Scene::new("").await;
    scene.stuck_in("/^(a+)+$/.test('a'.repeat(60) + '!')").await;
    let recovered = scene.restart().await;
    scene.usable(&recovered, Rung::Terminate).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_dialog_by_dismissing_it() {
    let scene = Scene::new("").await;
    scene.stuck_in("window.said = confirm('sure?')").await;
    support::eventually("it is open", || async { scene.tab.row().unwrap().dialog }).await;
    let recovered = scene.restart().await;
    assert_eq!(recovered.lost, [Lost::Dialog]);
    assert!(!scene.tab.evaluate("window.said").await.unwrap().read::<bool>().unwrap());
    scene.usable(&recovered, Rung::Dialog).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_storm_of_alerts_by_its_renderer() {
    let scene = Scene::new("").await;
    scene.stuck_in("for (;;) alert('again')").await;
    support::eventually("one is open", || async { scene.tab.row().unwrap().dialog }).await;
    let recovered = scene.restart().await;
    assert_eq!(recovered.tried, [Rung::Dialog, Rung::Renderer]);
    scene.usable(&recovered, Rung::Renderer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_question_whether_to_leave_by_staying() {
    let scene = Scene::new("<script>onbeforeunload = event => event.preventDefault()</script><p>x</p>").await;
    // A page asks only somebody who has touched it.
    let beside = raw::beside(&scene.running, &scene.tab).await;
    let gesture = serde_json::json!({ "expression": "1", "userGesture": true });
    beside.call("Runtime.evaluate", gesture).await.unwrap();
    let elsewhere = scene.stage.page("elsewhere");
    let navigation = task::spawn({
        let tab = scene.tab.clone();
        async move { tab.navigate(&elsewhere, secs(60)).await }
    });
    support::eventually("it asks", || async { scene.tab.row().unwrap().dialog }).await;
    let recovered = scene.restart().await;
    assert!(navigation.join().await.unwrap().is_err());
    scene.usable(&recovered, Rung::Dialog).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_synchronous_request_by_its_renderer() {
    let scene = Scene::new("").await;
    scene
        .stuck_in("const x = new XMLHttpRequest(); x.open('GET', '/signal-and-never', false); x.send()")
        .await;
    scene.stage.signalled(2).await;
    let recovered = scene.restart().await;
    assert_eq!(recovered.lost, [Lost::Refs, Lost::JsState, Lost::FormData]);
    scene.usable(&recovered, Rung::Renderer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_stopped_renderer_by_killing_it() {
    let scene = Scene::new("").await;
    let pid =
        processes::renderer_of(&raw::address(&scene.running), &scene.tab.row().unwrap().target_id).await;
    processes::signal(pid, Signal::STOP);
    let target = scene.tab.row().unwrap().target_id;
    assert_eq!(kind(&scene.tab.evaluate("1").within(ms(500)).await), "timeout");
    let reason = support::eventually("it is stuck", || async { scene.tab.row().unwrap().stuck_by }).await;
    assert_eq!(reason, BlockedBy::Stopped);
    let recovered = scene.restart().await;
    assert_eq!(scene.tab.row().unwrap().target_id, target, "the target stays");
    scene.usable(&recovered, Rung::Renderer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_renderer_is_replaced() {
    let scene = Scene::new("").await;
    let beside = raw::beside(&scene.running, &scene.tab).await;
    beside.session.cast("Page.crash", serde_json::json!({}));
    support::eventually("it is dead", || async {
        (scene.tab.row().unwrap().state == TabState::Crashed).then_some(())
    })
    .await;
    assert_eq!(kind(&scene.tab.evaluate("1").within(secs(20)).await), "crashed", "at once");
    let recovered = scene.restart().await;
    assert_eq!(recovered.tried, [Rung::Renderer]);
    scene.usable(&recovered, Rung::Renderer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_native_code_by_its_renderer() {
    let scene = Scene::new("").await;
    scene.stuck_in("Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)").await;
    let recovered = scene.restart().await;
    scene.usable(&recovered, Rung::Renderer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn out_of_a_navigation_that_never_ends_by_stopping_it() {
    let scene = Scene::new("<script>window.kept = 7</script>").await;
    let never = scene.url.rsplit_once('/').unwrap().0.to_owned() + "/signal-and-never";
    let navigation = task::spawn({
        let tab = scene.tab.clone();
        async move { tab.navigate(&never, secs(60)).await }
    });
    scene.stage.signalled(1).await;
    let recovered = scene.restart().await;
    assert_eq!(recovered.lost.last(), Some(&Lost::Navigation));
    assert!(navigation.join().await.unwrap().is_err());
    assert_eq!(int(&scene.tab.evaluate("window.kept").await), 7);
    scene.usable(&recovered, Rung::StopLoading).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_back_is_the_page_and_never_a_frame_in_it() {
    let stage = Stage::start().await;
    let embed = stage.page("<script>setTimeout(() => history.pushState(0, '', '/embedded'), 0)</script>");
    let url = stage.page(&format!(
        "<iframe src='{embed}'></iframe><iframe src='{}'></iframe>",
        stage.other_site(&embed)
    ));
    let scene = Scene::on(stage, url).await;
    for rung in [Rung::Renderer, Rung::Target] {
        scene.stuck_in("for (;;);").await;
        let request = RestartRequest { rung: Some(rung), url: None };
        let recovered = scene.tab.restart(request, secs(20)).await.unwrap();
        assert_eq!((recovered.rung, &recovered.url), (rung, &scene.url));
        assert_eq!(scene.tab.evaluate("location.href").await.unwrap().read::<String>().unwrap(), scene.url);
        assert_eq!(scene.tab.row().unwrap().tab_id, scene.tab.id());
    }
    drop(scene.sibling);
    scene.running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_target_keeps_the_tab_its_name_and_its_context_and_the_old_one_goes() {
    let scene = Scene::new("<title>kept</title>").await;
    let old = scene.tab.row().unwrap();
    scene.tab.evaluate("document.cookie = 'a=1; max-age=1000'").await.unwrap();
    let mut watch = scene.tab.watch_page().unwrap();
    let pending = task::spawn(scene.tab.evaluate("new Promise(() => {})").within(secs(60)).into_future());
    support::eventually("it is in flight", || async {
        (scene.tab.row().unwrap().queue.evaluates > 0).then_some(())
    })
    .await;
    let request = RestartRequest { rung: Some(Rung::Target), url: None };
    let recovered = scene.tab.restart(request, secs(20)).await.unwrap();
    assert_eq!(kind(&pending.join().await.unwrap()), "tab_restarting");
    let row = scene.tab.row().unwrap();
    assert_ne!(row.target_id, old.target_id);
    assert!(row.generation > old.generation, "generations go on");
    assert!(scene.tab.evaluate("document.cookie").await.unwrap().read::<String>().unwrap().contains("a=1"));
    let seen = async {
        loop {
            match watch.next().await {
                Some(known) if known.state.generation == recovered.generation => return,
                Some(_) => {}
                None => panic!("the watch ended"),
            }
        }
    };
    Budget::new(secs(10)).run(seen).await.unwrap();
    // Nobody hears of another tab.
    assert_eq!(
        scene.running.tabvisor.tabs().iter().map(|row| row.tab_id).filter(|id| *id == scene.tab.id()).count(),
        1
    );
    let tabs = scene.running.tabvisor.tabs().len();
    let browser = raw::connect(&raw::address(&scene.running)).await;
    support::eventually("the old target is gone", || async {
        let targets = raw::call(&browser.root(), "Target.getTargets", serde_json::json!({})).await.unwrap();
        let ids: Vec<_> =
            targets["targetInfos"].as_array().unwrap().iter().map(|it| it["targetId"].clone()).collect();
        (!ids.contains(&old.target_id.clone().into())).then_some(())
    })
    .await;
    assert_eq!(scene.running.tabvisor.tabs().len(), tabs);
    scene.usable(&recovered, Rung::Target).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_size_of_the_viewport_comes_back_too() {
    let scene = Scene::new("").await;
    let viewport = Viewport { width: 333, height: 444 };
    scene.tab.act(Act::Resize(viewport), secs(20)).await.unwrap();
    for rung in [Rung::Renderer, Rung::Target] {
        let request = RestartRequest { rung: Some(rung), url: None };
        scene.tab.restart(request, secs(20)).await.unwrap();
        support::eventually("it has its size", || async {
            let width = scene.tab.evaluate("innerWidth").await.ok()?.read::<u32>().ok()?;
            (width == viewport.width).then_some(())
        })
        .await;
    }
    drop(scene.sibling);
    scene.running.stop().await;
}
