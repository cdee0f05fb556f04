//! Faults in bad moments: each was a defect once.

use std::time::Duration;

use tabvisor_cdp::fake::{Act, DialogKind, FakeChrome, Kind};
use tabvisor_cdp::task;
use tabvisor_page::navigate::WaitUntil;

use super::{World, budget};
use crate::error::{Retry, TabError};
use crate::events::{Event, Item, Subscription};
use crate::limits::{Care, Limits};
use crate::row::TabState;

async fn until(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) {
    loop {
        match events.next().await.expect("the tree lives") {
            Item::Event(numbered) if wanted(&numbered.event) => return,
            _ => {}
        }
    }
}

/// The moment that a page gets to confirm what it may not be able to is not the browser's.
#[tokio::test]
async fn a_browser_that_is_slow_costs_no_actor_its_life() {
    let world = World::new().await;
    let slow = Act::delay(Duration::from_millis(400), Act::Default);
    world.fake.on("Target.getTargetInfo").act(slow.clone());
    world.fake.on("Page.getNavigationHistory").act(slow);
    let tab = world.open().await;
    let landed = world.supervisor.navigate(tab, "http://fake.test/", WaitUntil::Load, &budget(10_000)).await;
    assert_eq!(landed.unwrap().url, "http://fake.test/");
    assert_eq!(world.supervisor.tab(tab).unwrap().restarts, 0);
    world.stop().await;
}

#[tokio::test]
async fn a_tab_that_was_dead_before_we_came_is_kept_and_can_be_brought_back() {
    let fake = FakeChrome::builder().pages(1).start().await;
    let target = fake.targets().remove(0);
    fake.crash(&target);
    let world = World::on(fake, Limits::default(), Care::default()).await;
    world.fake.wait_for_call(|call| call.method == "Page.enable").await;
    let tab = loop {
        if let Some(row) = world.supervisor.tabs().first()
            && row.state == TabState::Discarded
        {
            break row.tab_id;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    assert_eq!(world.run(tab, "QUICK", 5000).await.unwrap_err().kind(), "crashed");
    world.supervisor.navigate(tab, "http://fake.test/", WaitUntil::Load, &budget(5000)).await.unwrap();
    world.run(tab, "QUICK", 5000).await.unwrap();
    assert_eq!(world.supervisor.tab(tab).unwrap().restarts, 0);
    world.stop().await;
}

/// The actor hears of its link at the same time as its action; whoever is first, the answer is the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_action_whose_link_is_cut_says_so() {
    let world = World::new().await;
    world.fake.on("Page.navigate").act(Act::Never);
    for round in 0..60 {
        let tab = world.open().await;
        let (supervisor, url) = (world.supervisor.clone(), format!("http://fake.test/{round}"));
        let asked = url.clone();
        let answer =
            task::spawn(
                async move { supervisor.navigate(tab, &url, WaitUntil::Load, &budget(20_000)).await },
            );
        let call = world.fake.wait_for_call(|call| call.text("url") == asked).await;
        world.fake.drop_link(call.conn);
        let error = answer.join().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), "link_failed", "{error}");
        world.supervisor.close(tab, &budget(5_000)).await.unwrap();
    }
    world.stop().await;
}

#[tokio::test]
async fn a_watcher_that_is_replaced_does_not_leave_a_dialog_behind_that_nobody_sees() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let mut events = world.supervisor.subscribe();
    world.fake.open_dialog(&world.target(tab), DialogKind::Alert, "first");
    until(&mut events, |event| matches!(event, Event::DialogOpened { .. })).await;
    let control = world.fake.calls("Inspector.enable")[0].conn;
    world.fake.drop_link(control);
    until(&mut events, |event| matches!(event, Event::DialogClosed { .. })).await;
    // It is answered by somebody else; the tab is not refused for good.
    world.fake.close_dialog(&world.target(tab), true);
    world.fake.wait_for_call(|call| call.method == "Page.enable" && call.conn != control).await;
    world.run(tab, "QUICK", 10_000).await.unwrap();
    // No id comes twice.
    world.fake.open_dialog(&world.target(tab), DialogKind::Alert, "second");
    until(&mut events, |event| matches!(event, Event::DialogOpened { dialog, .. } if dialog.id == "d2"))
        .await;
    world.stop().await;
}

#[tokio::test]
async fn control_links_lost_beside_an_open_dialog_do_not_cost_the_tab() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    world.fake.open_dialog(&world.target(tab), DialogKind::Alert, "stays");
    let handle = world.supervisor.handle(tab).unwrap();
    let mut events = world.supervisor.subscribe();
    for _ in 0..2 {
        handle.shared.control.subscribe().wait_for(Option::is_some).await.unwrap();
        let control = world.fake.calls("Inspector.enable").last().unwrap().conn;
        world.fake.drop_link(control);
        // The new one cannot be confirmed by the page, and listens all the same.
        until(&mut events, |event| matches!(event, Event::ActorRestarted { .. })).await;
        world.fake.wait_for_call(|call| call.method == "Inspector.enable" && call.conn > control).await;
    }
    handle.shared.control.subscribe().wait_for(Option::is_some).await.unwrap();
    assert_eq!(world.supervisor.tab(tab).unwrap().restarts, 2);
    world.stop().await;
}

#[tokio::test]
async fn an_opening_that_expires_while_chromium_makes_the_target_leaves_no_tab() {
    let world = World::new().await;
    world.fake.on("Target.createTarget").times(1).act(Act::hold("create"));
    let expired = world.supervisor.open(world.browser, "about:blank", WaitUntil::Load, &budget(100)).await;
    let error = expired.unwrap_err();
    assert!(matches!(error, TabError::Budget { sent: true, .. }), "{error:?}");
    assert_eq!(error.retry(), Retry::AfterChange, "it may have happened");
    world.fake.wait_until(|counts| counts.held == 1).await;
    world.fake.release("create");
    world.fake.wait_for_call(|call| call.method == "Target.closeTarget").await;
    world.fake.wait_until(|counts| counts.targets == 0).await;
    assert!(world.supervisor.tabs().is_empty());
    world.stop().await;
}

#[tokio::test]
async fn forty_openings_given_up_at_any_moment_leave_no_tab() {
    let world = World::new().await;
    for n in 0..40 {
        let (supervisor, browser) = (world.supervisor.clone(), world.browser);
        let opening = task::spawn(async move {
            supervisor.open(browser, "http://fake.test/", WaitUntil::Load, &budget(5000)).await.map(drop)
        });
        tokio::time::sleep(Duration::from_micros(n * 150)).await;
        drop(opening);
    }
    world.fake.wait_until(|counts| counts.targets == 0).await;
    while !world.supervisor.tabs().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn no_script_runs_before_the_watcher_listens() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let handle = world.supervisor.handle(tab).unwrap();
    let session = handle.shared.control.send_replace(None);
    let before = world.fake.calls("Runtime.evaluate").len();
    let call = task::spawn(world.run(tab, "DIALOG", 20_000));
    let short = world.run(tab, "QUICK", 50).await.unwrap_err();
    assert!(matches!(short.kind(), "budget_exceeded" | "timeout"), "{short:?}");
    assert_eq!(world.fake.calls("Runtime.evaluate").len(), before);
    handle.shared.control.send_replace(session);
    assert_eq!(call.join().await.unwrap().unwrap_err().kind(), "dialog_open");
    world.stop().await;
}

#[tokio::test]
async fn a_call_that_was_given_up_while_it_waited_is_ended_when_its_turn_comes() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let target = world.target(tab);
    world.fake.occupy(&target, Kind::Script);
    let given_up = task::spawn(world.run(tab, "LOOP", 60_000));
    world.fake.wait_for_call(|call| call.expression().contains("LOOP")).await;
    drop(given_up);
    // Its turn comes only after it was given up.
    let handle = world.supervisor.handle(tab).unwrap();
    while handle.shared.evaluates.available_permits() < Limits::default().evaluates_per_tab {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(world.fake.free(&target));
    world.fake.wait_for_call(|call| call.method == "Runtime.terminateExecution").await;
    world.run(tab, "QUICK", 20_000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn what_waits_for_its_turn_survives_the_loss_of_the_page_link() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    world.fake.on("Page.navigate").times(1).act(Act::Never);
    let navigate = || {
        let supervisor = world.supervisor.clone();
        async move { supervisor.navigate(tab, "http://fake.test/", WaitUntil::Commit, &budget(20_000)).await }
    };
    let first = task::spawn(navigate());
    world.fake.wait_for_call(|call| call.method == "Page.navigate").await;
    let second = task::spawn(navigate());
    while world.supervisor.tab(tab).unwrap().queue.actions < 2 {
        tokio::task::yield_now().await;
    }
    let page = world.fake.calls("Page.navigate")[0].conn;
    world.fake.drop_link(page);
    assert!(first.join().await.unwrap().is_err(), "it was under way");
    second.join().await.unwrap().unwrap();
    world.stop().await;
}
