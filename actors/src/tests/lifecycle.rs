//! Opening, losing and stopping; limits; what a stuck page says.

use std::time::Duration;

use tabvisor_cdp::fake::{Act, DialogKind, FakeChrome, Kind};
use tabvisor_cdp::link::DialOptions;
use tabvisor_page::evaluate::{EvaluateError, Phase};
use tabvisor_page::navigate::{NavigateError, WaitUntil};

use super::{World, budget};
use crate::error::{StartError, TabError};
use crate::events::{Event, Item, Subscription};
use crate::limits::{Care, Limits};
use crate::row::TabState;
use crate::{BrowserSpec, Ended, EvaluateRequest, Source, Supervisor};

async fn until(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) -> Event {
    loop {
        match events.next().await.expect("the tree lives") {
            Item::Event(numbered) if wanted(&numbered.event) => return numbered.event,
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_tab_opens_navigates_and_closes() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let landed =
        world.supervisor.navigate(tab, "http://fake.test/a", WaitUntil::Load, &budget(5000)).await.unwrap();
    assert_eq!(landed.url, "http://fake.test/a");
    let row = world.supervisor.tab(tab).unwrap();
    assert_eq!(row.url, "http://fake.test/a");
    assert!(row.generation > 0);
    world.supervisor.close(tab, &budget(5000)).await.unwrap();
    assert!(matches!(world.run(tab, "QUICK", 1000).await, Err(TabError::TabClosed { .. })));
    assert!(matches!(world.supervisor.close(tab, &budget(1000)).await, Err(TabError::TabClosed { .. })));
    world.stop().await;
}

#[tokio::test]
async fn the_watcher_listens_before_a_page_may_navigate() {
    let world = World::new().await;
    let opened =
        world.supervisor.open(world.browser, "http://fake.test/", WaitUntil::Commit, &budget(5000)).await;
    let target = opened.unwrap().target_id;
    let record = world.fake.record();
    let of_it = |method: &str| {
        let at =
            record.iter().position(|call| call.method == method && call.target.as_deref() == Some(&target));
        at.unwrap_or_else(|| panic!("{method} was never sent"))
    };
    assert!(of_it("Page.enable") < of_it("Page.navigate"));
    world.stop().await;
}

#[tokio::test]
async fn a_page_that_another_opens_is_caught_at_birth() {
    let world = World::new().await;
    let opener = world.open().await;
    let mut events = world.supervisor.subscribe();
    let popup = world.fake.popup(&world.target(opener), "http://fake.test/popup");
    let event = until(&mut events, |event| matches!(event, Event::TabOpened { .. })).await;
    let Event::TabOpened { opener: from, .. } = event else { unreachable!() };
    assert_eq!(from, Some(opener));
    let mine = |method: &'static str| {
        let popup = popup.clone();
        move |call: &tabvisor_cdp::fake::Call| call.method == method && call.target.as_deref() == Some(&popup)
    };
    world.fake.wait_for_call(mine("Runtime.runIfWaitingForDebugger")).await;
    let record = world.fake.record();
    let listened = record.iter().position(mine("Page.enable")).expect("the watcher listens");
    let released = record.iter().position(mine("Runtime.runIfWaitingForDebugger")).unwrap();
    assert!(listened < released, "the page ran before anybody listened");
    world.stop().await;
}

#[tokio::test]
async fn pages_that_open_too_many_tabs_are_stopped_by_the_limit() {
    let world = World::with(Limits { tabs: 3, ..Limits::default() }, Care::default()).await;
    let opener = world.open().await;
    let target = world.target(opener);
    for _ in 0..10 {
        world.fake.popup(&target, "http://fake.test/popup");
    }
    world.fake.wait_until(|counts| counts.targets == 3).await;
    assert_eq!(world.supervisor.tabs().len(), 3);
    let full = world.supervisor.open(world.browser, "about:blank", WaitUntil::Load, &budget(1000)).await;
    assert!(matches!(full, Err(TabError::Overloaded { limit: "limits.tabs", max: 3, .. })), "{full:?}");
    world.stop().await;
}

#[tokio::test]
async fn tabs_that_nobody_waits_for_any_more_are_closed_and_leave_their_places() {
    let world = World::with(Limits { tabs: 1, ..Limits::default() }, Care::default()).await;
    let open =
        async |ms| world.supervisor.open(world.browser, "about:blank", WaitUntil::Load, &budget(ms)).await;
    let mut events = world.supervisor.subscribe();
    // Its page never says that it is watched.
    world.fake.on("Page.enable").times(1).act(Act::Never);
    let slow = open(300).await;
    assert!(matches!(slow, Err(TabError::Budget { sent: true, .. })), "{slow:?}");
    // Long before its watcher is given up.
    let soon = budget(5000);
    soon.run(world.fake.wait_until(|counts| counts.targets == 0)).await.unwrap();
    until(&mut events, |event| matches!(event, Event::TabClosed { .. })).await;
    // The browser makes it only after its caller has gone.
    world.fake.on("Page.enable").times(1).act(Act::Never);
    world.fake.on("Target.createTarget").times(1).act(Act::hold("made"));
    let slow = open(300).await;
    assert!(matches!(slow, Err(TabError::Budget { sent: true, .. })), "{slow:?}");
    while world.fake.release("made") == 0 {}
    let soon = budget(5000);
    soon.run(world.fake.wait_until(|counts| counts.targets == 0)).await.unwrap();
    // It may have been announced before, and is then known to be gone a moment later.
    while !world.supervisor.tabs().is_empty() {
        until(&mut events, |event| matches!(event, Event::TabClosed { .. })).await;
    }
    world.fake.forget_rules();
    open(5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn an_evaluate_over_the_limit_is_refused_at_once_and_places_come_back() {
    let world = World::with(Limits { evaluates_per_tab: 2, ..Limits::default() }, Care::default()).await;
    let tab = world.open_warm().await;
    let held = [tokio_task(world.run(tab, "HELD", 20_000)), tokio_task(world.run(tab, "HELD", 20_000))];
    world.fake.wait_until(|counts| counts.held == 2).await;
    let refused = world.run(tab, "QUICK", 20_000).await.unwrap_err();
    assert_eq!(refused.kind(), "overloaded");
    assert!(refused.to_string().contains("limits.evaluates_per_tab allows 2"), "{refused}");
    while world.fake.release("held") == 0 {}
    world.fake.release("held");
    for call in held {
        call.join().await.unwrap().unwrap();
    }
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

fn tokio_task<T: Send + 'static>(
    call: impl Future<Output = T> + Send + 'static,
) -> tabvisor_cdp::task::Task<T> {
    tabvisor_cdp::task::spawn(call)
}

#[tokio::test]
async fn evaluates_run_aside_of_each_other_and_of_a_slow_action() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let pending = tokio_task(world.run(tab, "PENDING", 20_000));
    world.fake.wait_for_call(|call| call.expression().contains("PENDING")).await;
    world.fake.on("Page.navigate").act(Act::Never);
    let supervisor = world.supervisor.clone();
    let slow = tokio_task(async move {
        supervisor.navigate(tab, "http://fake.test/slow", WaitUntil::Load, &budget(20_000)).await
    });
    world.fake.wait_for_call(|call| call.method == "Page.navigate").await;
    world.run(tab, "QUICK", 5000).await.unwrap();
    drop((pending, slow));
    world.stop().await;
}

#[tokio::test]
async fn actions_are_ordered_and_one_that_expires_in_the_queue_does_not_wait_for_the_head() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    world.fake.on("Page.navigate").times(1).act(Act::Never);
    let supervisor = world.supervisor.clone();
    let head = tokio_task(async move {
        supervisor.navigate(tab, "http://fake.test/1", WaitUntil::Load, &budget(20_000)).await
    });
    world.fake.wait_for_call(|call| call.method == "Page.navigate").await;
    let second = world.supervisor.navigate(tab, "http://fake.test/2", WaitUntil::Load, &budget(50)).await;
    assert!(matches!(second, Err(TabError::Budget { doing: "waiting for its turn", .. })), "{second:?}");
    drop(head);
    world.supervisor.navigate(tab, "http://fake.test/3", WaitUntil::Load, &budget(5000)).await.unwrap();
    let urls: Vec<_> =
        world.fake.calls("Page.navigate").iter().map(|call| call.text("url").to_owned()).collect();
    assert_eq!(urls, ["http://fake.test/1", "http://fake.test/3"], "nothing was sent for the expired one");
    world.stop().await;
}

#[tokio::test]
async fn a_loop_is_ended_on_its_own_session_and_the_next_call_is_answered() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let error = world.run(tab, "LOOP", 1000).await.unwrap_err();
    let TabError::Evaluate(EvaluateError::TimedOut(expiry)) = error else { panic!("{error:?}") };
    // On a busy machine hearing of the end may take longer than the answer may wait.
    assert!(expiry.terminated || expiry.blocked_by.is_some(), "{expiry:?}");
    world.run(tab, "QUICK", 5000).await.unwrap();
    let sessions: Vec<_> = world
        .fake
        .record()
        .into_iter()
        .filter(|call| call.expression().contains("LOOP") || call.expression().contains("QUICK"))
        .map(|call| (call.conn, call.session))
        .collect();
    let (looped, after) = (&sessions[sessions.len() - 2], &sessions[sessions.len() - 1]);
    assert_ne!(looped, after, "a link that saw an expiry never serves again");
    world.stop().await;
}

#[tokio::test]
async fn a_page_that_cannot_be_freed_says_so_at_once_until_it_answers() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let target = world.target(tab);
    let mut events = world.supervisor.subscribe();
    let error = world.run(tab, "NATIVE", 100).await.unwrap_err();
    let TabError::Evaluate(EvaluateError::TimedOut(expiry)) = error else { panic!("{error:?}") };
    assert!(!expiry.terminated && !expiry.page_responsive && expiry.still_running);
    until(&mut events, |event| matches!(event, Event::TabStuck { .. })).await;
    assert!(matches!(world.run(tab, "QUICK", 20_000).await, Err(TabError::Stuck { .. })));
    assert_eq!(world.supervisor.tab(tab).unwrap().state, TabState::Stuck);
    assert!(world.fake.free(&target));
    until(&mut events, |event| matches!(event, Event::TabFreed { .. })).await;
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn an_open_dialog_is_named_at_once_and_nothing_is_sent() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let error = world.run(tab, "DIALOG", 20_000).await.unwrap_err();
    assert!(
        matches!(error, TabError::Evaluate(EvaluateError::Dialog { phase: Phase::Running, .. })),
        "{error:?}"
    );
    let before = world.fake.calls("Runtime.evaluate").len();
    let error = world.run(tab, "QUICK", 20_000).await.unwrap_err();
    assert!(
        matches!(error, TabError::Evaluate(EvaluateError::Dialog { phase: Phase::Queued, .. })),
        "{error:?}"
    );
    let navigated = world.supervisor.navigate(tab, "http://fake.test/", WaitUntil::Load, &budget(5000)).await;
    assert!(matches!(navigated, Err(TabError::Navigate(NavigateError::Dialog { .. }))), "{navigated:?}");
    assert_eq!(world.fake.calls("Runtime.evaluate").len(), before);
    assert!(world.fake.calls("Page.navigate").is_empty());
    // Somebody else answers it.
    let mut events = world.supervisor.subscribe();
    world.fake.close_dialog(&world.target(tab), true);
    until(&mut events, |event| matches!(event, Event::DialogClosed { .. })).await;
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn a_failed_navigation_is_a_failure_and_an_opening_that_fails_leaves_no_tab() {
    let world = World::new().await;
    let tab = world.open().await;
    world.fake.on("Page.navigate").times(1).act(Act::FailLoad("net::ERR_CONNECTION_REFUSED".into()));
    let failed = world.supervisor.navigate(tab, "http://fake.test/", WaitUntil::Load, &budget(5000)).await;
    let Err(TabError::Navigate(NavigateError::Failed { net_error, .. })) = failed else {
        panic!("{failed:?}")
    };
    assert_eq!(net_error, "net::ERR_CONNECTION_REFUSED");
    world.fake.on("Page.navigate").times(1).act(Act::Occupy(Kind::Loading));
    let mut events = world.supervisor.subscribe();
    let slow =
        world.supervisor.open(world.browser, "http://fake.test/never", WaitUntil::Load, &budget(1500)).await;
    assert!(
        matches!(slow, Err(TabError::Navigate(NavigateError::TimedOut { committed: false, .. }))),
        "{slow:?}"
    );
    until(&mut events, |event| matches!(event, Event::TabClosed { .. })).await;
    assert_eq!(world.supervisor.tabs().len(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_navigation_that_expires_is_stopped_so_that_the_page_answers_again() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    world.fake.on("Page.navigate").times(1).act(Act::Occupy(Kind::Loading));
    let slow = world.supervisor.navigate(tab, "http://fake.test/never", WaitUntil::Load, &budget(1500)).await;
    assert!(
        matches!(slow, Err(TabError::Navigate(NavigateError::TimedOut { committed: false, .. }))),
        "{slow:?}"
    );
    world.run(tab, "QUICK", 5000).await.unwrap();
    assert_eq!(world.fake.calls("Page.stopLoading").len(), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_lost_control_link_is_made_again_and_the_tab_goes_on() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let control = world.fake.calls("Inspector.enable")[0].conn;
    let mut events = world.supervisor.subscribe();
    world.fake.drop_link(control);
    let event = until(&mut events, |event| matches!(event, Event::ActorRestarted { .. })).await;
    assert!(matches!(event, Event::ActorRestarted { actor: "dialog_watcher", .. }), "{event:?}");
    world.fake.wait_for_call(|call| call.method == "Inspector.enable" && call.conn != control).await;
    world.run(tab, "QUICK", 5000).await.unwrap();
    assert_eq!(world.supervisor.tab(tab).unwrap().restarts, 1);
    // It hears of dialogs again.
    world.fake.wait_for_call(|call| call.method == "Page.enable" && call.conn != control).await;
    world.fake.open_dialog(&world.target(tab), DialogKind::Alert, "again");
    until(&mut events, |event| matches!(event, Event::DialogOpened { .. })).await;
    world.stop().await;
}

#[tokio::test]
async fn a_tab_whose_actors_keep_failing_is_lost_and_its_siblings_are_not() {
    let world = World::new().await;
    let (tab, sibling) = (world.open_warm().await, world.open_warm().await);
    let mut events = world.supervisor.subscribe();
    let lost = loop {
        match world.supervisor.handle(tab) {
            Ok(handle) => handle.tab.kill(),
            Err(error) => break error,
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(
        matches!(&lost, TabError::TabLost { cause, .. } if cause.contains("failed too often")),
        "{lost:?}"
    );
    until(&mut events, |event| matches!(event, Event::TabLost { .. })).await;
    world.run(sibling, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn losing_the_browser_answers_all_calls_and_brings_nothing_back_silently() {
    let world = World::new().await;
    let (one, two) = (world.open_warm().await, world.open_warm().await);
    let calls: Vec<_> =
        [one, one, two].into_iter().map(|tab| tokio_task(world.run(tab, "PENDING", 20_000))).collect();
    world.fake.wait_until(|counts| counts.pending.values().sum::<usize>() == 3).await;
    let mut events = world.supervisor.subscribe();
    world.fake.drop_links();
    for call in calls {
        let error = call.join().await.unwrap().unwrap_err();
        assert!(matches!(error, TabError::BrowserLost { epoch, .. } if epoch.0 == 1), "{error:?}");
    }
    let event = until(&mut events, |event| matches!(event, Event::BrowserStarted { .. })).await;
    assert!(matches!(event, Event::BrowserStarted { epoch, .. } if epoch.0 == 2));
    assert!(matches!(world.run(one, "QUICK", 1000).await, Err(TabError::BrowserLost { .. })));
    let again = world.open_warm().await;
    assert!(again > two);
    world.stop().await;
}

#[tokio::test]
async fn a_browser_that_is_gone_for_good_ends_the_tree() {
    let world = World::new().await;
    world.fake.die();
    let Ended::Failed(why) = world.supervisor.ended().await else { panic!("it did not fail") };
    assert!(why.contains("failed too often"), "{why}");
    let refused = world.supervisor.open(world.browser, "about:blank", WaitUntil::Load, &budget(500)).await;
    assert!(refused.is_err());
}

#[tokio::test]
async fn a_browser_that_never_worked_is_its_callers_to_hear_and_is_not_tried_again() {
    let supervisor = Supervisor::start(16).await.unwrap();
    let spec = |address: &str| BrowserSpec {
        source: Source::Attach(address.parse().unwrap()),
        limits: std::sync::Arc::default(),
        care: Care::default(),
        policy: std::sync::Arc::default(),
        files: std::sync::Arc::default(),
        dial: DialOptions::default(),
        restarts: crate::restart::Intensity::BROWSER,
    };
    let refused = supervisor.add_browser(spec("http://127.0.0.1:1"), &budget(5000)).await;
    assert!(matches!(refused, Err(TabError::BrowserUnavailable(StartError::Discovery(_)))), "{refused:?}");
    // One that listens and says nothing uses up its own budget and no more.
    let fake = FakeChrome::start().await;
    fake.stall();
    let silent = supervisor.add_browser(spec(&fake.http_url()), &budget(300)).await;
    assert!(silent.is_err(), "{silent:?}");
    supervisor.stop().await;
}

#[tokio::test]
async fn bad_input_is_refused_by_name_before_anything_is_sent() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let before = world.fake.record().len();
    let run = |text: String, ms| {
        let supervisor = world.supervisor.clone();
        async move { supervisor.evaluate(tab, EvaluateRequest::new(text), &budget(ms)).await.unwrap_err() }
    };
    for (text, ms, says) in [
        (String::new(), 1000, "fn: is empty"),
        ("  \n".into(), 1000, "fn: is empty"),
        ("1".into(), 0, "budget must be a positive integer"),
        ("1".into(), 120_001, "over the maximum of 120000 ms"),
        ("x".repeat(120 << 20), 1000, "limits.max_script_bytes"),
    ] {
        let error = run(text, ms).await;
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.kind(), "invalid_argument");
    }
    let unknown =
        world.supervisor.evaluate("t99".parse().unwrap(), EvaluateRequest::new("1"), &budget(1000)).await;
    assert!(matches!(unknown, Err(TabError::TabNotFound { .. })));
    for url in ["", "nonsense", "file:///etc/passwd", "http://user:pw@fake.test/"] {
        let bad = world.supervisor.navigate(tab, url, WaitUntil::Load, &budget(1000)).await;
        assert!(matches!(bad, Err(TabError::BadUrl(_))), "{bad:?}");
    }
    let sent: Vec<_> = world.fake.record()[before..]
        .iter()
        .filter(|call| call.method != "Runtime.evaluate" || call.expression().len() > 1)
        .map(|call| call.method.clone())
        .collect();
    let sent: Vec<_> = sent.into_iter().filter(|method| !method.starts_with("Target.")).collect();
    assert!(sent.iter().all(|method| method == "Runtime.evaluate"), "{sent:?}");
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn stopping_answers_what_is_in_flight_and_closes_what_is_ours() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let foreign = world.fake.open("http://fake.test/foreign");
    let mine = world.target(tab);
    let call = tokio_task(world.run(tab, "PENDING", 20_000));
    world.fake.wait_for_call(|call| call.expression().contains("PENDING")).await;
    world.supervisor.stop().await;
    let answer = call.join().await.unwrap().unwrap_err();
    assert!(matches!(answer, TabError::Stopping), "{answer:?}");
    world.fake.wait_until(|counts| counts.connections == 0).await;
    let targets = world.fake.targets();
    assert!(targets.contains(&foreign) && !targets.contains(&mine), "{targets:?}");
}
