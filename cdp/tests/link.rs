//! The link against a fake Chrome: what a real one cannot be made to show.
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::fake::{Act, FakeChrome, Raw};
use tabvisor_cdp::link::{Delivery, DialOptions, KeepAlive, Link, LinkOptions, Purpose, Session};
use url::Url;

fn budget() -> Budget {
    Budget::new(Duration::from_secs(20))
}

async fn connect(fake: &FakeChrome) -> Link {
    connect_with(fake, |_| {}).await
}

async fn connect_with(fake: &FakeChrome, change: impl FnOnce(&mut LinkOptions)) -> Link {
    let mut options = LinkOptions::new(Purpose::Browser);
    change(&mut options);
    let address: Url = fake.browser_url().parse().unwrap();
    Link::connect(&address, &DialOptions::default(), options, &budget()).await.unwrap()
}

async fn evaluate(session: &Session) -> Result<String, CdpError> {
    let params = json!({ "expression": "x" });
    session.call("Runtime.evaluate", params, &budget()).await.map(|raw| raw.get().to_owned())
}

#[tokio::test]
async fn flattened_sessions_and_page_endpoints_both_answer() {
    let fake = FakeChrome::builder().pages(1).start().await;
    let target = &fake.targets()[0];
    let link = connect(&fake).await;
    let flattened = link.attach(target, &budget()).await.unwrap();
    assert!(evaluate(&flattened).await.unwrap().contains("number"));
    let page: Url = fake.page_url(target).parse().unwrap();
    let options = LinkOptions::new(Purpose::Evaluate);
    let direct = Link::connect(&page, &DialOptions::default(), options, &budget()).await.unwrap();
    assert!(evaluate(&direct.root()).await.unwrap().contains("number"));
    assert!(matches!(link.attach("no such target", &budget()).await, Err(CdpError::Protocol { .. })));
}

#[tokio::test]
async fn answers_find_their_calls_in_whatever_order_they_come() {
    let fake = FakeChrome::builder().pages(1).start().await;
    fake.on("A.first").act(Act::hold_then("gate", Act::Reply(json!(1))));
    fake.on("A.second").act(Act::Reply(json!(2)));
    let link = connect(&fake).await;
    let root = link.root();
    let first = root.send("A.first", json!({})).await.unwrap();
    assert_eq!(root.call("A.second", json!({}), &budget()).await.unwrap().get(), "2");
    fake.release("gate");
    assert_eq!(first.await.unwrap().get(), "1");
    assert_eq!(link.counts().pending, 0);
}

#[tokio::test]
async fn a_dropped_call_leaves_the_table_and_its_late_answer_is_counted() {
    let fake = FakeChrome::start().await;
    fake.on("A.slow").act(Act::hold_then("gate", Act::Reply(json!(1))));
    let link = connect(&fake).await;
    let slow = link.root().send("A.slow", json!({})).await.unwrap();
    fake.wait_until(|counts| counts.held == 1).await;
    assert_eq!(link.counts().pending, 1);
    drop(slow);
    assert_eq!(link.counts().pending, 0);
    fake.release("gate");
    link.root().call("Browser.getVersion", json!({}), &budget()).await.unwrap();
    assert_eq!(link.counts().late, 1);
}

#[tokio::test]
async fn a_budget_ends_a_call_that_is_never_answered() {
    let fake = FakeChrome::start().await;
    fake.on("A.never").act(Act::Never);
    let link = connect(&fake).await;
    let short = Budget::new(Duration::from_millis(30));
    let outcome = link.root().call("A.never", json!({}), &short).await;
    assert!(matches!(outcome, Err(CdpError::Spent { spent: Spent::Expired { .. }, .. })), "{outcome:?}");
    assert_eq!(link.counts().pending, 0);
}

#[tokio::test]
async fn garbage_is_counted_and_survived() {
    let fake = FakeChrome::start().await;
    let link = connect(&fake).await;
    for raw in [
        Raw::Text("{not json".into()),
        Raw::Text("[]".into()),
        Raw::Text(r#"{"id":"seven","result":{}}"#.into()),
        Raw::Text(r#"{"id":-1,"result":{}}"#.into()),
        Raw::Text(r#"{"neither":1}"#.into()),
        Raw::Binary(vec![1, 2, 3]),
        Raw::Text(r#"{"id":999999,"result":{}}"#.into()),
        Raw::Text(r#"{"method":"New.event","params":{"kind":"of a later version"},"extra":[1]}"#.into()),
    ] {
        fake.send_raw(1, raw);
    }
    link.root().call("Browser.getVersion", json!({}), &budget()).await.unwrap();
    let counts = link.counts();
    assert_eq!((counts.malformed, counts.unknown, counts.pending), (6, 1, 0), "{counts:?}");
}

#[tokio::test]
async fn closing_settles_every_pending_call() {
    for how in [Act::Close, Act::HalfFrame { close: true }] {
        let fake = FakeChrome::start().await;
        fake.on("A.never").act(Act::Never);
        fake.on("A.end").act(how);
        let link = connect(&fake).await;
        let waiting: Vec<_> = {
            let mut waiting = Vec::new();
            for _ in 0..50 {
                waiting.push(link.root().send("A.never", json!({})).await.unwrap());
            }
            waiting
        };
        link.root().cast("A.end", json!({}));
        for reply in waiting {
            assert_eq!(reply.await.unwrap_err(), CdpError::LinkClosed(CloseCause::Remote));
        }
        assert_eq!(link.closed().await, CloseCause::Remote);
        assert_eq!(link.counts().pending, 0);
        let after = link.root().call("Browser.getVersion", json!({}), &budget()).await;
        assert!(matches!(after, Err(CdpError::LinkClosed(_))), "{after:?}");
    }
}

#[tokio::test]
async fn dropping_the_link_closes_the_socket_and_settles_its_sessions() {
    let fake = FakeChrome::builder().pages(1).start().await;
    fake.on("Runtime.evaluate").act(Act::Never);
    let link = connect(&fake).await;
    let session = link.attach(&fake.targets()[0], &budget()).await.unwrap();
    let waiting = session.send("Runtime.evaluate", json!({})).await.unwrap();
    drop(link);
    assert_eq!(waiting.await.unwrap_err(), CdpError::LinkClosed(CloseCause::Ours));
    fake.wait_until(|counts| counts.connections == 0).await;
}

#[tokio::test]
async fn a_crash_settles_its_session_and_no_other() {
    let fake = FakeChrome::builder().pages(2).start().await;
    fake.on("Runtime.evaluate").act(Act::Pending);
    let targets = fake.targets();
    let link = connect(&fake).await;
    let dead = link.attach(&targets[0], &budget()).await.unwrap();
    let alive = link.attach(&targets[1], &budget()).await.unwrap();
    let first = dead.send("Runtime.evaluate", json!({})).await.unwrap();
    let other = alive.send("Runtime.evaluate", json!({})).await.unwrap();
    fake.wait_until(|counts| counts.pending_in(&targets[1]) == 1).await;
    fake.crash(&targets[0]);
    assert_eq!(first.await.unwrap_err(), CdpError::Crashed);
    assert_eq!(link.counts().pending, 1);
    fake.destroy(&targets[1]);
    assert!(matches!(other.await.unwrap_err(), CdpError::Detached { .. }));
    assert_eq!(link.counts().pending, 0);
    let gone = evaluate(&alive).await.unwrap_err();
    assert!(matches!(gone, CdpError::Detached { .. }), "{gone:?}");
}

#[tokio::test]
async fn large_messages_pass_and_too_large_ones_end_only_their_own_link() {
    let fake = FakeChrome::builder().pages(1).start().await;
    fake.on("A.large").act(Act::Huge(8 << 20));
    fake.on("A.tooLarge").act(Act::Huge(3 << 20));
    let link = connect(&fake).await;
    let large = link.root().call("A.large", json!({}), &budget()).await.unwrap();
    assert!(large.get().len() > 8 << 20);
    let small = connect_with(&fake, |options| options.max_frame_bytes = 1 << 20).await;
    let outcome = small.root().call("A.tooLarge", json!({}), &budget()).await;
    assert_eq!(outcome.unwrap_err(), CdpError::LinkClosed(CloseCause::TooLarge { limit: 1 << 20 }));
    link.root().call("Browser.getVersion", json!({}), &budget()).await.unwrap();
}

#[tokio::test]
async fn a_request_over_the_limit_is_refused_before_it_is_sent() {
    let fake = FakeChrome::start().await;
    let link = connect_with(&fake, |options| options.max_request_bytes = 1000).await;
    let outcome = link.root().call("A.b", json!({ "text": "x".repeat(2000) }), &budget()).await;
    assert!(matches!(outcome, Err(CdpError::RequestTooLarge { limit: 1000, .. })), "{outcome:?}");
    link.root().call("Browser.getVersion", json!({}), &budget()).await.unwrap();
    assert!(fake.calls("A.b").is_empty());
    assert_eq!(link.counts().pending, 0);
}

#[tokio::test]
async fn a_slow_subscriber_is_told_what_it_missed_and_delays_nobody() {
    let fake = FakeChrome::start().await;
    let link = connect(&fake).await;
    let mut slow = link.root().subscribe(&["A.event"], 2);
    for n in 0..10 {
        fake.browser_event("A.event", json!({ "n": n }));
    }
    link.root().call("Browser.getVersion", json!({}), &budget()).await.unwrap();
    assert_eq!(link.counts().lagged, 8);
    assert!(matches!(slow.next().await, Some(Delivery::Event(_))));
    assert!(matches!(slow.next().await, Some(Delivery::Event(_))));
    fake.browser_event("A.event", json!({}));
    assert!(matches!(slow.next().await, Some(Delivery::Lagged { missed: 8 })));
    drop(link);
    assert!(matches!(slow.next().await, Some(Delivery::Event(_)) | None));
}

#[tokio::test]
async fn a_half_dead_socket_is_noticed_while_a_call_waits() {
    let fake = FakeChrome::start().await;
    let quick = KeepAlive {
        every: Duration::from_millis(50),
        patience: Duration::from_millis(50),
        while_idle: false,
    };
    let link = connect_with(&fake, |options| options.keep_alive = quick).await;
    fake.on("A.never").act(Act::Never);
    // A call that takes long is no half-dead socket: pings are answered.
    let long = Budget::new(Duration::from_millis(400));
    let outcome = link.root().call("A.never", json!({}), &long).await;
    assert!(matches!(outcome, Err(CdpError::Spent { .. })), "{outcome:?}");
    assert!(!link.is_closed());
    fake.stall();
    let outcome = link.root().call("A.never", json!({}), &budget()).await;
    assert!(matches!(outcome, Err(CdpError::LinkClosed(CloseCause::Silent { .. }))), "{outcome:?}");
}

#[tokio::test]
async fn an_idle_half_dead_socket_is_noticed_where_asked_for() {
    let fake = FakeChrome::start().await;
    let quick =
        KeepAlive { every: Duration::from_millis(50), patience: Duration::from_millis(50), while_idle: true };
    let link = connect_with(&fake, |options| options.keep_alive = quick).await;
    fake.stall();
    assert!(matches!(link.closed().await, CloseCause::Silent { .. }));
}

#[tokio::test]
async fn commands_of_one_batch_arrive_together_and_in_order() {
    let fake = FakeChrome::start().await;
    let link = connect(&fake).await;
    let empty = serde_json::value::to_raw_value(&json!({})).unwrap();
    let replies = link.root().send_all([("A.a", &*empty), ("A.b", &*empty), ("A.c", &*empty)]).await.unwrap();
    for reply in replies {
        reply.await.unwrap();
    }
    let methods: Vec<String> = fake.record().into_iter().map(|call| call.method).collect();
    assert_eq!(methods, ["A.a", "A.b", "A.c"]);
}
