//! Tabs come back in the next browser.

use std::sync::Arc;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::fake::{Act, FakeChrome};
use tabvisor_cdp::link::DialOptions;
use tabvisor_cdp::task;
use tabvisor_page::navigate::WaitUntil;

use super::{World, budget, page};
use crate::error::TabError;
use crate::events::{Event, Item, Subscription};
use crate::ids::TabId;
use crate::limits::{Care, Limits};
use crate::recovery::{Cause, LastRecovery, Lost, Recovered, RestartRequest, Rung};
use crate::row::TabState;
use crate::{BrowserSpec, Source, Supervisor};

async fn until(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) -> Event {
    loop {
        match events.next().await.expect("the tree lives") {
            Item::Event(numbered) if wanted(&numbered.event) => return numbered.event,
            _ => {}
        }
    }
}

async fn recovered(events: &mut Subscription) -> Recovered {
    match until(events, |event| matches!(event, Event::TabRecovered(_) | Event::RecoveryFailed { .. })).await
    {
        Event::TabRecovered(recovered) => recovered,
        other => panic!("{other:?}"),
    }
}

fn url(tab: TabId) -> String {
    format!("http://fake.test/{tab}")
}

impl World {
    /// A tree on an endpoint that can go away and come back at the same port.
    async fn returning(limits: Limits) -> Self {
        let fake = FakeChrome::builder().pages(0).start().await;
        fake.evaluate_with(page);
        let supervisor = Supervisor::start(1024).await.unwrap();
        let spec = BrowserSpec {
            source: Source::Attach(fake.http_url().parse().unwrap()),
            limits: Arc::new(limits),
            care: Care { reopen_tabs: true, ..Care::default() },
            files: Arc::default(),
            dial: DialOptions::default(),
            restarts: crate::restart::Intensity::ENDPOINT,
        };
        let browser = supervisor.add_browser(spec, &budget(10_000)).await.unwrap();
        Self { fake, supervisor, browser }
    }

    async fn loaded_at_its_name(&self) -> TabId {
        let tab = self.open_warm().await;
        self.supervisor.navigate(tab, &url(tab), WaitUntil::Load, &budget(10_000)).await.unwrap();
        tab
    }

    /// The endpoint dies, and another one answers at its port.
    async fn again(&mut self, prepare: impl FnOnce(&FakeChrome)) {
        let port = self.fake.addr().port();
        self.fake.die();
        let fake = FakeChrome::builder().pages(0).port(port).start().await;
        fake.evaluate_with(page);
        prepare(&fake);
        self.fake = fake;
    }
}

#[tokio::test]
async fn tabs_of_a_lost_endpoint_come_back_under_their_names_and_calls_in_flight_are_told() {
    let mut world = World::returning(Limits::default()).await;
    let tabs = [world.loaded_at_its_name().await, world.loaded_at_its_name().await];
    let empty = world.open().await;
    let others = world.fake.open("http://others.test/");
    let mut events = world.supervisor.subscribe();
    let foreign = match until(&mut events, |event| matches!(event, Event::TabOpened { .. })).await {
        Event::TabOpened { tab, .. } => tab,
        other => panic!("{other:?}"),
    };
    assert_eq!(world.target(foreign), others);
    let pending = task::spawn(world.run(tabs[0], "PENDING", 20_000));
    world.fake.wait_for_call(|call| call.expression().contains("PENDING")).await;
    let generation = world.supervisor.tab(tabs[0]).unwrap().generation;
    world.again(|_| {}).await;
    assert!(matches!(pending.join().await.unwrap(), Err(TabError::BrowserLost { .. })));
    for _ in 0..3 {
        let back = recovered(&mut events).await;
        assert_eq!((back.rung, back.cause), (Rung::Browser, Cause::BrowserLost));
        assert!(back.lost.contains(&Lost::JsState) && back.lost.contains(&Lost::Profile), "{back:?}");
    }
    for tab in tabs {
        world.run(tab, "QUICK", 10_000).await.unwrap();
        let row = world.supervisor.tab(tab).unwrap();
        assert_eq!((row.url, row.epoch.0, row.restarts), (url(tab), 2, 1));
        assert!(row.generation > generation);
        let last = world.supervisor.last_recovery(tab).unwrap();
        assert!(matches!(last, Some(LastRecovery::Recovered(last)) if last.rung == Rung::Browser));
        world
            .supervisor
            .navigate(tab, "http://fake.test/on", WaitUntil::Load, &budget(10_000))
            .await
            .unwrap();
    }
    assert_eq!(world.supervisor.tab(empty).unwrap().epoch.0, 2);
    // It was not ours to open.
    assert_eq!(world.run(foreign, "QUICK", 5_000).await.unwrap_err().kind(), "browser_lost");
    assert_eq!(world.fake.counts().targets, 3);
    assert_eq!(world.supervisor.tabs().len(), 3);
    world.stop().await;
}

#[tokio::test]
async fn where_only_the_links_were_cut_nothing_is_opened_or_loaded_and_everybodys_tabs_go_on() {
    let world = World::returning(Limits::default()).await;
    let tab = world.loaded_at_its_name().await;
    let mut events = world.supervisor.subscribe();
    let others = world.fake.open("http://others.test/");
    let foreign = match until(&mut events, |event| matches!(event, Event::TabOpened { .. })).await {
        Event::TabOpened { tab, .. } => tab,
        other => panic!("{other:?}"),
    };
    world.run(foreign, "QUICK", 10_000).await.unwrap();
    let (before, target) = (world.supervisor.tab(tab).unwrap(), world.target(tab));
    let sent = world.fake.record().len();
    world.fake.drop_links();
    for _ in 0..2 {
        let back = recovered(&mut events).await;
        assert_eq!((back.rung, back.lost.len()), (Rung::Browser, 0), "{back:?}");
    }
    for tab in [tab, foreign] {
        world.run(tab, "QUICK", 10_000).await.unwrap();
    }
    let row = world.supervisor.tab(tab).unwrap();
    assert_eq!((row.target_id, row.url, row.generation), (target, before.url, before.generation));
    assert_eq!((row.epoch.0, world.target(foreign)), (2, others));
    for call in &world.fake.record()[sent..] {
        assert!(
            !["Target.createTarget", "Target.closeTarget", "Page.navigate"].contains(&call.method.as_str())
        );
    }
    assert_eq!(world.supervisor.tabs().len(), 2);
    world.stop().await;
}

#[tokio::test]
async fn no_more_are_opened_at_a_time_than_may_be_dialled_and_one_that_waits_can_be_closed() {
    let mut world = World::returning(Limits { dials: 2, ..Limits::default() }).await;
    let mut tabs = Vec::new();
    for _ in 0..5 {
        tabs.push(world.loaded_at_its_name().await);
    }
    let mut events = world.supervisor.subscribe();
    world.again(|fake| fake.on("Target.createTarget").act(Act::hold_then("create", Act::Default))).await;
    until(&mut events, |event| matches!(event, Event::BrowserStarted { .. })).await;
    world.fake.wait_until(|counts| counts.held == 2).await;
    let waiting = world.supervisor.tab(tabs[4]).unwrap();
    assert_eq!((waiting.state, waiting.url), (TabState::Restarting, url(tabs[4])));
    let refused = world.run(tabs[4], "QUICK", 5_000).await.unwrap_err();
    assert!(matches!(refused, TabError::TabRestarting { sent: false, .. }), "{refused:?}");
    world.supervisor.close(tabs[4], &budget(5_000)).await.unwrap();
    assert_eq!(world.run(tabs[4], "QUICK", 5_000).await.unwrap_err().kind(), "tab_closed");
    // One whose target is being made is closed as well, and the target goes.
    world.supervisor.close(tabs[0], &budget(5_000)).await.unwrap();
    assert_eq!(world.fake.counts().held, 2, "nothing else was begun");
    world.fake.forget_rules();
    assert_eq!(world.fake.release("create"), 2);
    for _ in 1..4 {
        let back = until(&mut events, |event| matches!(event, Event::TabRecovered(_))).await;
        assert!(matches!(back, Event::TabRecovered(back) if tabs[1..4].contains(&back.tab_id)));
    }
    world.fake.wait_until(|counts| counts.targets == 3).await;
    assert_eq!(world.supervisor.tabs().len(), 3);
    world.stop().await;
}

#[tokio::test]
async fn a_browser_that_is_lost_again_and_again_gets_its_tabs_back_only_so_often() {
    let mut world = World::returning(Limits::default()).await;
    let tab = world.loaded_at_its_name().await;
    let mut events = world.supervisor.subscribe();
    for epoch in 2..4 {
        world.again(|_| {}).await;
        recovered(&mut events).await;
        assert_eq!(world.supervisor.tab(tab).unwrap().epoch.0, epoch);
    }
    world.again(|_| {}).await;
    let lost = until(&mut events, |event| matches!(event, Event::TabLost { .. })).await;
    assert!(matches!(lost, Event::TabLost { tab: lost, .. } if lost == tab));
    assert_eq!(world.run(tab, "QUICK", 5_000).await.unwrap_err().kind(), "tab_lost");
    let next = world.open_warm().await;
    assert_eq!(world.supervisor.tab(next).unwrap().epoch.0, 4);
    world.stop().await;
}

#[tokio::test]
async fn a_browser_that_is_lost_while_its_tabs_come_back_and_one_that_never_does() {
    let mut world = World::returning(Limits::default()).await;
    let tab = world.loaded_at_its_name().await;
    let mut events = world.supervisor.subscribe();
    world.again(|fake| fake.on("Page.navigate").act(Act::Never)).await;
    world.fake.wait_for_call(|call| call.method == "Page.navigate").await;
    world.again(|_| {}).await;
    // The recovery whose browser went away may have said that it failed.
    let back = until(&mut events, |event| matches!(event, Event::TabRecovered(_))).await;
    assert!(matches!(back, Event::TabRecovered(back) if back.url == url(tab)));
    world.run(tab, "QUICK", 10_000).await.unwrap();
    // Stopped between two browsers: nobody is left waiting.
    world.fake.die();
    until(&mut events, |event| matches!(event, Event::BrowserLost { .. })).await;
    let supervisor = world.supervisor.clone();
    assert!(Budget::new(Duration::from_secs(10)).run(supervisor.stop()).await.is_ok());
    assert_eq!(world.run(tab, "QUICK", 5_000).await.unwrap_err().kind(), "stopping");
    assert!(world.supervisor.tabs().is_empty());
}

#[tokio::test]
async fn the_rung_browser_is_refused_where_it_may_not_be() {
    let rung = |tab, supervisor: &Supervisor| {
        let supervisor = supervisor.clone();
        let request = RestartRequest { rung: Some(Rung::Browser), url: None };
        async move { supervisor.restart(tab, request, &budget(5_000)).await.unwrap_err() }
    };
    let world = World::new().await;
    let tab = world.open_warm().await;
    let error = rung(tab, &world.supervisor).await;
    assert!(matches!(error, TabError::BadInput { field: "rung", .. }), "{error:?}");
    assert!(error.to_string().contains("care.reopen_tabs"), "{error}");
    world.run(tab, "QUICK", 5_000).await.unwrap();
    world.stop().await;
    let world = World::returning(Limits::default()).await;
    let tab = world.open_warm().await;
    let error = rung(tab, &world.supervisor).await;
    assert!(matches!(error, TabError::BadInput { field: "rung", .. }), "{error:?}");
    assert!(error.to_string().contains("attached"), "{error}");
    world.run(tab, "QUICK", 5_000).await.unwrap();
    world.stop().await;
}
