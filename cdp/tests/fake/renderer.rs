//! The renderer's main thread: what waits, what interrupts, what runs late.

use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::fake::{Act, Call, FakeChrome, Kind};
use tokio::time::Instant;

use crate::raw::{Client, error, value};

fn terminated() -> (i64, String) {
    (-32000, "Execution was terminated".to_owned())
}

async fn with_loop(kind: Kind) -> FakeChrome {
    let fake = FakeChrome::start().await;
    fake.on("Runtime.evaluate").when(|call| call.expression() == "loop").act(Act::Occupy(kind));
    fake
}

#[tokio::test]
async fn an_evaluate_answers_zero_or_what_the_test_says() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    let id = client.evaluate(&session, "1+1").await;
    assert_eq!(
        client.answer(id).await["result"]["result"],
        json!({"type": "number", "value": 0, "description": "0"})
    );
    fake.evaluate_with(|call| json!(call.expression().len()));
    let id = client.evaluate(&session, "12345").await;
    assert_eq!(value(&client.answer(id).await), 5);
    assert_eq!(client.call(&session, "Foo.bar", json!({})).await, json!({}));
}

#[tokio::test]
async fn a_busy_thread_makes_commands_wait_in_order_and_the_browser_answers() {
    let fake = with_loop(Kind::Script).await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    let stuck = client.evaluate(&session, "loop").await;
    let waiting = [
        client.evaluate(&session, "1").await,
        client.send(&session, "Page.enable", json!({})).await,
        client.send(&session, "Page.getFrameTree", json!({})).await,
        client.send(&session, "Target.setAutoAttach", json!({"autoAttach": true})).await,
    ];
    assert!(client.answered().await.is_empty());
    assert_eq!(fake.pending_in(&target), 5);
    for (session, method) in [
        ("", "Target.getTargets"),
        ("", "SystemInfo.getProcessInfo"),
        (&*session, "Target.getTargetInfo"),
        (&*session, "Browser.getVersion"),
        (&*session, "Page.bringToFront"),
        (&*session, "Page.stopLoading"),
        (&*session, "Page.getNavigationHistory"),
        (&*session, "Inspector.enable"),
    ] {
        client.call(session, method, json!({})).await;
    }
    let late = client.attach(&target).await;
    assert!(!late.is_empty());

    let end = client.send(&session, "Runtime.terminateExecution", json!({})).await;
    let mut order = vec![end, stuck];
    order.extend(waiting);
    assert_eq!(client.answered().await, order);
    assert_eq!(fake.pending_in(&target), 0);
}

#[tokio::test]
async fn a_session_from_before_interrupts_a_script_and_one_from_afterwards_does_not() {
    let fake = with_loop(Kind::Script).await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    let stuck = client.evaluate(&session, "loop").await;
    let late = client.attach(&target).await;
    let waiting = [
        client.send(&late, "Performance.getMetrics", json!({})).await,
        client.send(&late, "Runtime.terminateExecution", json!({})).await,
    ];
    let probe = client.send(&session, "Performance.getMetrics", json!({})).await;
    assert_eq!(client.answered().await, [probe]);

    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    assert_eq!(error(&client.answer(stuck).await), terminated());
    assert_eq!(client.answered().await, waiting, "they run late");

    // Now its renderer has seen it, and it is from before.
    let stuck = client.evaluate(&session, "loop").await;
    client.call(&late, "Runtime.terminateExecution", json!({})).await;
    assert_eq!(error(&client.answer(stuck).await), terminated());
}

#[tokio::test]
async fn an_attach_waits_behind_the_scripts_before_it() {
    let fake = with_loop(Kind::Script).await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    client.evaluate(&session, "loop").await;
    let second = client.evaluate(&session, "loop").await;
    let late = client.attach(&target).await;
    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    let waiting = client.send(&late, "Runtime.terminateExecution", json!({})).await;
    let answered = client.answered().await;
    assert!(
        !answered.contains(&second) && !answered.contains(&waiting),
        "the second loop runs, and is older"
    );
}

#[tokio::test]
async fn other_sockets_interrupt_too_and_a_page_address_is_no_exception() {
    let fake = with_loop(Kind::Script).await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    let mut page = Client::open(&fake.page_url(&target)).await;
    let stuck = client.evaluate(&session, "loop").await;
    client.heard().await;
    let mut late = Client::open(&fake.page_url(&target)).await;
    late.send("", "Runtime.terminateExecution", json!({})).await;
    assert!(late.answered().await.is_empty());
    page.call("", "Runtime.terminateExecution", json!({})).await;
    assert_eq!(error(&client.answer(stuck).await), terminated());
}

#[tokio::test]
async fn nothing_interrupts_what_is_no_script() {
    for kind in [Kind::Native, Kind::Dialog, Kind::Stopped] {
        let fake = with_loop(kind).await;
        let (mut client, target, session) = Client::on_page(&fake).await;
        let stuck = client.evaluate(&session, "loop").await;
        let waiting = [
            client.send(&session, "Runtime.terminateExecution", json!({})).await,
            client.send(&session, "Performance.getMetrics", json!({})).await,
        ];
        assert!(client.answered().await.is_empty(), "{kind:?}");
        assert!(fake.free(&target));
        assert_eq!(value(&client.answer(stuck).await), 0, "{kind:?}: it ends by itself");
        assert_eq!(client.answered().await, waiting, "{kind:?}");
        assert!(!fake.free(&target));
    }
}

#[tokio::test]
async fn terminating_an_idle_page_does_no_harm() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    let id = client.evaluate(&session, "1").await;
    assert_eq!(value(&client.answer(id).await), 0);
}

#[tokio::test]
async fn a_scripts_own_timeout_counts_from_its_start() {
    let fake = with_loop(Kind::Script).await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    let first = client.evaluate(&session, "loop").await;
    let bounded = json!({"expression": "loop", "timeout": 15});
    let second = client.send(&session, "Runtime.evaluate", bounded.clone()).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(client.answered().await.is_empty(), "it has not started, so its time has not");
    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    assert_eq!(error(&client.answer(first).await), terminated());
    assert_eq!(error(&client.answer(second).await), terminated());

    // It does not bound what is no script.
    fake.on("Runtime.evaluate").act(Act::Occupy(Kind::Native));
    client.send(&session, "Runtime.evaluate", bounded).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(client.answered().await.is_empty());
}

#[tokio::test]
async fn a_synchronous_part_ends_by_itself_and_may_leave_a_promise() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    let busy = Act::busy_for(Kind::Script, Duration::from_millis(10), Act::Pending);
    fake.on("Runtime.evaluate").when(|call| call.expression() == "busy").act(busy);
    let sent = Instant::now();
    let pending = client.evaluate(&session, "busy").await;
    let marker = client.evaluate(&session, "0").await;
    assert_eq!(value(&client.answer(marker).await), 0, "the thread is free again");
    assert!(sent.elapsed() >= Duration::from_millis(10));
    assert_eq!(fake.pending_in(&target), 1);
    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    assert!(!client.answered().await.contains(&pending), "nothing runs that could be terminated");
    fake.navigate(&target, "http://a.test/");
    let settled = client.answer(pending).await;
    assert_eq!(error(&settled), (-32000, "Inspected target navigated or closed".to_owned()));
}

#[tokio::test]
async fn a_waiting_script_runs_although_its_session_and_socket_are_gone() {
    let fake = with_loop(Kind::Script).await;
    let (mut keeper, target, session) = Client::on_page(&fake).await;
    let (mut leaver, _, lost) = Client::on_page(&fake).await;
    keeper.evaluate(&session, "loop").await;
    keeper.heard().await;
    leaver.evaluate(&lost, "late one").await;
    leaver.call("", "Target.detachFromTarget", json!({"sessionId": lost})).await;
    let other = leaver.attach(&target).await;
    leaver.evaluate(&other, "late two").await;
    leaver.heard().await;
    drop(leaver);
    fake.wait_until(|counts| counts.connections == 1).await;
    assert_eq!(fake.pending_in(&target), 3);
    assert!(!fake.ran().iter().any(|call| call.expression().starts_with("late")));
    keeper.call(&session, "Runtime.terminateExecution", json!({})).await;
    let ran = fake.ran();
    let late: Vec<&str> =
        ran.iter().map(Call::expression).filter(|script| script.starts_with("late")).collect();
    assert_eq!(late, ["late one", "late two"]);
}

#[tokio::test]
async fn closing_the_starters_socket_does_not_stop_its_script() {
    let fake = with_loop(Kind::Script).await;
    let (mut keeper, target, session) = Client::on_page(&fake).await;
    let (mut other, _, session_of_other) = Client::on_page(&fake).await;
    other.evaluate(&session_of_other, "loop").await;
    other.heard().await;
    drop(other);
    fake.wait_until(|counts| counts.connections == 1).await;
    let waiting = keeper.evaluate(&session, "1").await;
    assert!(keeper.answered().await.is_empty());
    assert!(fake.pending_in(&target) > 0);
    keeper.call(&session, "Runtime.terminateExecution", json!({})).await;
    assert_eq!(value(&keeper.answer(waiting).await), 0);
}

#[tokio::test]
async fn a_page_can_be_busy_by_itself() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    fake.occupy(&target, Kind::Script);
    let waiting = client.evaluate(&session, "1").await;
    assert!(client.answered().await.is_empty());
    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    assert_eq!(value(&client.answer(waiting).await), 0);
}

#[tokio::test]
async fn a_popup_of_the_same_site_shares_its_openers_renderer() {
    let fake = with_loop(Kind::Script).await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/"})).await;
    let popup = fake.popup(&target, "http://a.test/pop");
    let foreign = fake.popup(&target, "http://b.test/");
    let (in_popup, in_foreign) = (client.attach(&popup).await, client.attach(&foreign).await);
    let stuck = client.evaluate(&session, "loop").await;
    let waiting = client.evaluate(&in_popup, "1").await;
    let apart = client.evaluate(&in_foreign, "1").await;
    assert_eq!(client.answered().await, [apart]);
    client.call(&in_popup, "Runtime.terminateExecution", json!({})).await;
    assert_eq!(client.answered().await, [stuck, waiting], "either can free both");
}
