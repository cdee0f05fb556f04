//! Bringing tabs back on a fake Chrome: what a real one cannot be made to show.

use std::time::Duration;

use tabvisor_cdp::fake::{Act, Kind};
use tabvisor_cdp::task;
use tabvisor_page::navigate::WaitUntil;

use super::{World, budget};
use crate::error::TabError;
use crate::events::{Event, Item, Subscription};
use crate::ids::TabId;
use crate::limits::{Care, Limits, Recovery};
use crate::recovery::{Cause, GaveUp, LastRecovery, Lost, RestartRequest, Rung};
use crate::row::TabState;

const URL: &str = "http://fake.test/a";

async fn until(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) -> Event {
    loop {
        match events.next().await.expect("the tree lives") {
            Item::Event(numbered) if wanted(&numbered.event) => return numbered.event,
            _ => {}
        }
    }
}

impl World {
    async fn loaded(&self) -> TabId {
        let tab = self.open_warm().await;
        self.supervisor.navigate(tab, URL, WaitUntil::Load, &budget(10_000)).await.unwrap();
        tab
    }

    fn restart(
        &self,
        tab: TabId,
        rung: Option<Rung>,
        ms: u64,
    ) -> impl Future<Output = Result<crate::recovery::Recovered, TabError>> + Send + 'static {
        let supervisor = self.supervisor.clone();
        async move { supervisor.restart(tab, RestartRequest { rung, url: None }, &budget(ms)).await }
    }
}

#[tokio::test]
async fn a_stuck_page_is_never_navigated_or_reloaded_before_its_renderer_is_dead() {
    let world = World::new().await;
    let tab = world.loaded().await;
    let before = world.fake.record().len();
    world.fake.occupy(&world.target(tab), Kind::Native);
    let recovered = world.restart(tab, None, 20_000).await.unwrap();
    assert_eq!((recovered.rung, recovered.url.as_str()), (Rung::Renderer, URL));
    assert_eq!(recovered.tried, [Rung::Renderer], "there is no script to end");
    let since = &world.fake.record()[before..];
    let first = |method: &str| since.iter().position(|call| call.method == method);
    assert!(first("Page.crash").unwrap() < first("Page.navigate").unwrap());
    assert_eq!(since.iter().filter(|call| call.method == "Page.navigate").count(), 1);
    assert_eq!(first("Page.reload"), None);
    assert_eq!(first("Runtime.terminateExecution"), None);
    world.run(tab, "QUICK", 5000).await.unwrap();
    assert_eq!(world.supervisor.tab(tab).unwrap().restarts, 1);
    world.stop().await;
}

#[tokio::test]
async fn a_script_is_ended_and_nothing_else_is_done() {
    let world = World::new().await;
    let tab = world.loaded().await;
    let generation = world.supervisor.tab(tab).unwrap().generation;
    let before = world.fake.record().len();
    world.fake.occupy(&world.target(tab), Kind::Script);
    let mut events = world.supervisor.subscribe();
    let recovered = world.supervisor.terminate(tab, &budget(20_000)).await.unwrap();
    assert_eq!((recovered.rung, recovered.generation), (Rung::Terminate, generation));
    assert_eq!(recovered.lost, [Lost::Scripts]);
    let told = until(&mut events, |event| matches!(event, Event::TabRecovered(_))).await;
    assert!(matches!(told, Event::TabRecovered(told) if told == recovered));
    for call in &world.fake.record()[before..] {
        assert!(!["Page.crash", "Page.navigate", "Page.stopLoading"].contains(&call.method.as_str()));
    }
    let last = world.supervisor.last_recovery(tab).unwrap();
    assert_eq!(last, Some(LastRecovery::Recovered(recovered)));
    world.stop().await;
}

#[tokio::test]
async fn what_is_no_script_is_not_ended_by_terminate_and_the_page_is_left_as_it_is() {
    let world = World::new().await;
    let tab = world.loaded().await;
    world.fake.occupy(&world.target(tab), Kind::Native);
    let error = world.supervisor.terminate(tab, &budget(2_000)).await.unwrap_err();
    assert!(matches!(&error, TabError::NotRecovered { why: GaveUp::NothingHelped, .. }), "{error:?}");
    assert!(world.fake.calls("Page.crash").is_empty());
    assert!(world.fake.free(&world.target(tab)));
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn one_at_a_time_and_nothing_comes_between() {
    let world = World::new().await;
    let tab = world.loaded().await;
    let pending = task::spawn(world.run(tab, "PENDING", 20_000));
    world.fake.wait_for_call(|call| call.expression().contains("PENDING")).await;
    world.fake.on("Page.navigate").times(1).act(Act::hold("navigation"));
    let first = task::spawn(world.restart(tab, Some(Rung::Renderer), 20_000));
    assert_eq!(pending.join().await.unwrap().unwrap_err().kind(), "tab_restarting");
    world.fake.wait_until(|counts| counts.held == 1).await;
    assert_eq!(world.supervisor.tab(tab).unwrap().state, TabState::Restarting);
    for refused in [
        world.restart(tab, None, 20_000).await.unwrap_err(),
        world.supervisor.terminate(tab, &budget(20_000)).await.unwrap_err(),
        world.run(tab, "QUICK", 20_000).await.unwrap_err(),
        world.supervisor.navigate(tab, URL, WaitUntil::Load, &budget(20_000)).await.unwrap_err(),
    ] {
        assert!(matches!(refused, TabError::TabRestarting { sent: false, .. }), "{refused:?}");
    }
    world.fake.release("navigation");
    assert_eq!(first.join().await.unwrap().unwrap().rung, Rung::Renderer);
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn a_document_that_comes_meanwhile_is_left_alone() {
    let world = World::new().await;
    let tab = world.loaded().await;
    let target = world.target(tab);
    world.fake.occupy(&target, Kind::Script);
    world.fake.on("Runtime.terminateExecution").act(Act::Never);
    let restart = task::spawn(world.restart(tab, None, 20_000));
    world.fake.wait_for_call(|call| call.method == "Runtime.terminateExecution").await;
    let mut events = world.supervisor.subscribe();
    world.fake.navigate(&target, "http://other.test/");
    until(&mut events, |event| matches!(event, Event::TabNavigated { .. })).await;
    let error = restart.join().await.unwrap().unwrap_err();
    let TabError::NotRecovered { why, tried, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*why, tried.as_slice()), (GaveUp::DocumentChanged, &[Rung::Terminate][..]));
    assert_eq!(error.kind(), "document_changed");
    assert!(world.fake.calls("Page.crash").is_empty());
    assert_eq!(world.supervisor.tab(tab).unwrap().url, "http://other.test/");
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn a_budget_that_ends_on_the_ladder_is_an_answer_with_the_rungs() {
    let world = World::new().await;
    let tab = world.loaded().await;
    world.fake.occupy(&world.target(tab), Kind::Stopped);
    world.fake.on("Target.createTarget").times(1).act(Act::Never);
    let mut events = world.supervisor.subscribe();
    let error = world.restart(tab, None, 1_000).await.unwrap_err();
    let TabError::NotRecovered { why, tried, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*why, tried.as_slice()), (GaveUp::OutOfTime, &[Rung::Renderer, Rung::Target][..]));
    assert_eq!(error.kind(), "budget_exceeded");
    until(&mut events, |event| matches!(event, Event::RecoveryFailed { .. })).await;
    // The next one may.
    assert_eq!(world.restart(tab, None, 20_000).await.unwrap().rung, Rung::Target);
    world.stop().await;
}

#[tokio::test]
async fn a_tab_goes_on_in_another_target_under_its_name() {
    let world = World::new().await;
    let tab = world.loaded().await;
    let (old, before) = (world.target(tab), world.supervisor.tab(tab).unwrap().generation);
    let mut events = world.supervisor.subscribe();
    let pending = task::spawn(world.run(tab, "PENDING", 60_000));
    world.fake.wait_for_call(|call| call.expression().contains("PENDING")).await;
    world.fake.occupy(&old, Kind::Stopped);
    let recovered = world.restart(tab, None, 20_000).await.unwrap();
    assert_eq!((recovered.rung, recovered.url.as_str()), (Rung::Target, URL));
    assert!(recovered.generation > before);
    assert_eq!(pending.join().await.unwrap().unwrap_err().kind(), "tab_restarting");
    assert_ne!(world.target(tab), old);
    world.fake.wait_until(|counts| counts.targets == 1).await;
    assert_eq!(world.supervisor.tabs().len(), 1);
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.supervisor.navigate(tab, "http://fake.test/b", WaitUntil::Load, &budget(5_000)).await.unwrap();
    world.supervisor.close(tab, &budget(5_000)).await.unwrap();
    // Whoever follows the events hears of one tab all the while.
    let told = until(&mut events, |event| {
        matches!(event, Event::TabOpened { .. } | Event::TabClosed { .. } | Event::TabLost { .. })
    });
    assert!(matches!(told.await, Event::TabClosed { tab: closed } if closed == tab));
    world.stop().await;
}

#[tokio::test]
async fn a_tab_that_is_closed_meanwhile_is_closed_and_no_target_of_it_is_left() {
    for held in ["Page.crash", "Target.createTarget"] {
        let world = World::new().await;
        let tab = world.loaded().await;
        world.fake.occupy(&world.target(tab), Kind::Stopped);
        world.fake.on(held).times(1).act(Act::hold("gate"));
        let rung = if held == "Page.crash" { Rung::Renderer } else { Rung::Target };
        let restart = task::spawn(world.restart(tab, Some(rung), 20_000));
        if held == "Page.crash" {
            world.fake.free(&world.target(tab));
        }
        world.fake.wait_until(|counts| counts.held == 1).await;
        world.supervisor.close(tab, &budget(5_000)).await.unwrap();
        world.fake.release("gate");
        let error = restart.join().await.unwrap().unwrap_err();
        assert!(["tab_closed", "not_recovered"].contains(&error.kind()), "{held}: {error:?}");
        world.fake.wait_until(|counts| counts.targets == 0).await;
        assert!(world.supervisor.tabs().is_empty());
        world.stop().await;
    }
}

#[tokio::test]
async fn a_tab_that_dies_again_and_again_is_brought_back_by_itself_but_not_for_ever() {
    let care = Care { recovery: Recovery::Restart, ..Care::default() };
    let world = World::with(Limits::default(), care).await;
    let tab = world.loaded().await;
    let mut events = world.supervisor.subscribe();
    for _ in 0..3 {
        world.fake.crash(&world.target(tab));
        let told = until(&mut events, |event| matches!(event, Event::TabRecovered(_))).await;
        let Event::TabRecovered(recovered) = told else { unreachable!() };
        assert_eq!((recovered.cause, recovered.rung), (Cause::Crashed, Rung::Renderer));
        world.run(tab, "QUICK", 5000).await.unwrap();
    }
    world.fake.crash(&world.target(tab));
    until(&mut events, |event| matches!(event, Event::TabLost { .. })).await;
    assert_eq!(world.run(tab, "QUICK", 5000).await.unwrap_err().kind(), "tab_lost");
    world.fake.wait_until(|counts| counts.targets == 0).await;
    world.stop().await;
}

#[tokio::test]
async fn a_policy_that_comes_later_holds_for_what_is_wrong_already() {
    let world = World::new().await;
    let tab = world.loaded().await;
    let mut events = world.supervisor.subscribe();
    world.fake.crash(&world.target(tab));
    until(&mut events, |event| matches!(event, Event::TabCrashed { .. })).await;
    assert_eq!(world.supervisor.last_recovery(tab).unwrap(), None);
    world.supervisor.set_recovery_policy(tab, Recovery::Restart).unwrap();
    until(&mut events, |event| matches!(event, Event::TabRecovered(_))).await;
    world.stop().await;
}

#[tokio::test]
async fn a_page_on_which_work_waits_is_called_stuck_and_the_work_is_not_given_up() {
    let care = Care { stuck_after: Duration::from_millis(200), ..Care::default() };
    let world = World::with(Limits::default(), care).await;
    let (tab, idle) = (world.loaded().await, world.loaded().await);
    let mut events = world.supervisor.subscribe();
    // The observer of a page asks it once, at its birth.
    let before = world.fake.record().len();
    world.fake.occupy(&world.target(tab), Kind::Native);
    world.fake.occupy(&world.target(idle), Kind::Native);
    let call = task::spawn(world.run(tab, "QUICK", 20_000));
    let stuck = until(&mut events, |event| matches!(event, Event::TabStuck { .. })).await;
    assert!(matches!(stuck, Event::TabStuck { tab: stuck, .. } if stuck == tab));
    assert_eq!(world.supervisor.tab(tab).unwrap().state, TabState::Stuck);
    let since = &world.fake.record()[before..];
    let probes = since.iter().filter(|it| it.method == "Performance.getMetrics");
    let probed: Vec<_> = probes.map(|it| it.target.clone()).collect();
    assert!(probed.contains(&Some(world.target(tab))));
    assert!(!probed.contains(&Some(world.target(idle))), "a tab on which nothing waits is not asked");
    assert!(world.fake.free(&world.target(tab)));
    call.join().await.unwrap().unwrap();
    until(&mut events, |event| matches!(event, Event::TabFreed { .. })).await;
    world.stop().await;
}

#[tokio::test]
async fn bad_wishes_name_their_field_before_anything_is_sent() {
    let world = World::new().await;
    let tab = world.loaded().await;
    let before = world.fake.record().len();
    let wish = |rung, url: &str| RestartRequest { rung, url: Some(url.to_owned()) };
    let error = world.supervisor.restart(tab, wish(Some(Rung::Terminate), URL), &budget(5_000)).await;
    assert!(matches!(error, Err(TabError::BadInput { field: "url", .. })), "{error:?}");
    let error = world.supervisor.restart(tab, wish(None, "file:///etc/passwd"), &budget(5_000)).await;
    assert!(matches!(error, Err(TabError::BadUrl(_))), "{error:?}");
    let unknown = world.supervisor.terminate("t99".parse().unwrap(), &budget(5_000)).await;
    assert!(matches!(unknown, Err(TabError::TabNotFound { .. })), "{unknown:?}");
    assert_eq!(world.fake.record().len(), before);
    let recovered = world.supervisor.restart(tab, wish(None, "http://fake.test/c"), &budget(5_000)).await;
    assert_eq!(recovered.unwrap().url, "http://fake.test/c");
    world.stop().await;
}

#[tokio::test]
async fn a_link_that_a_revived_page_never_answers_is_replaced_by_one_that_it_does() {
    let world = World::with(Limits { spare_links: 0, ..Limits::default() }, Care::default()).await;
    let tab = world.loaded().await;
    world.fake.crash(&world.target(tab));
    world.restart(tab, None, 20_000).await.unwrap();
    // The next session is one that its renderer does not know.
    let deaf = std::sync::Mutex::new(None);
    world
        .fake
        .on("Runtime.evaluate")
        .when(move |call| {
            let mut deaf = deaf.lock().unwrap();
            call.session.is_some() && *deaf.get_or_insert_with(|| call.session.clone()) == call.session
        })
        .act(Act::Never);
    world.run(tab, "QUICK", 10_000).await.unwrap();
    world.stop().await;
}
