//! Rules and acts.

use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::fake::{Act, FakeChrome, Kind, Raw};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use crate::raw::{Client, error, names, value};

#[tokio::test]
async fn rules_are_tried_newest_first_and_run_out() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").act(json!("old"));
    fake.on("Runtime.evaluate").when(|call| call.expression() == "x").act(json!("x"));
    fake.on("Runtime.evaluate").times(1).act(json!("once"));
    fake.on("Runtime.evaluate").target("elsewhere").act(Act::Never);
    for (script, says) in [("x", "once"), ("x", "x"), ("y", "old")] {
        let id = client.evaluate(&session, script).await;
        assert_eq!(value(&client.answer(id).await), says);
    }
    fake.on("*").target(&target).act(Act::error(-1, "all"));
    assert_eq!(client.refused(&session, "Page.enable", json!({})).await, (-1, "all".to_owned()));
    fake.forget_rules();
    client.call(&session, "Page.enable", json!({})).await;
}

#[tokio::test]
async fn replies_errors_exceptions_and_silence() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.evaluate_with(|call| match call.expression() {
        "raw" => Act::Reply(json!({"result": {"type": "bigint", "unserializableValue": "1n"}})),
        "error" => Act::error(-32000, "no"),
        "throws" => Act::throws("boom"),
        "undefined" => Act::undefined(),
        "never" => Act::Never,
        "list" => json!([1, {"a": null}]).into(),
        _ => Act::Default,
    });
    let id = client.evaluate(&session, "raw").await;
    assert_eq!(client.answer(id).await["result"]["result"]["unserializableValue"], "1n");
    let id = client.evaluate(&session, "error").await;
    assert_eq!(error(&client.answer(id).await), (-32000, "no".to_owned()));
    let id = client.evaluate(&session, "throws").await;
    assert_eq!(client.answer(id).await["result"]["exceptionDetails"]["text"], "Uncaught");
    let id = client.evaluate(&session, "undefined").await;
    assert_eq!(client.answer(id).await["result"]["result"], json!({"type": "undefined"}));
    let id = client.evaluate(&session, "list").await;
    assert_eq!(value(&client.answer(id).await), &json!([1, {"a": null}]));
    let never = client.evaluate(&session, "never").await;
    let id = client.evaluate(&session, "else").await;
    assert_eq!(value(&client.answer(id).await), 0);
    assert!(!client.answered().await.contains(&never));
}

#[tokio::test]
async fn a_sequence_puts_events_around_an_answer() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    let browser_event = Act::BrowserEvent { method: "C.c".to_owned(), params: json!({}) };
    fake.on("Foo.bar").act(Act::seq([
        Act::event("A.a", json!({"n": 1})),
        Act::Reply(json!({"n": 2})),
        Act::event("B.b", json!({"n": 3})),
        browser_event,
    ]));
    let id = client.send(&session, "Foo.bar", json!({})).await;
    let heard = client.heard().await;
    assert_eq!(names(&heard), ["A.a", &id.to_string(), "B.b", "C.c"]);
    assert!(heard[..3].iter().all(|message| message["sessionId"] == *session));
    assert!(heard[3]["sessionId"].is_null());
}

#[tokio::test]
async fn an_answer_can_wait_for_a_later_command() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").times(1).act(Act::after("Runtime.evaluate", json!("first")));
    let first = client.evaluate(&session, "1").await;
    assert!(client.answered().await.is_empty(), "its own coming does not count");
    let second = client.evaluate(&session, "2").await;
    assert_eq!(client.answered().await, [second, first]);
}

#[tokio::test]
async fn an_answer_can_wait_for_the_test() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").times(1).act(Act::hold("gate"));
    fake.on("Page.enable").times(1).act(Act::hold_then("gate", Act::error(-1, "held")));
    let ids = [client.evaluate(&session, "1").await, client.send(&session, "Page.enable", json!({})).await];
    fake.wait_until(|counts| counts.held == 2).await;
    let free = client.evaluate(&session, "2").await;
    assert_eq!(client.answered().await, [free], "the page is usable meanwhile");
    assert_eq!(fake.pending_in(&target), 0, "what is held is not in the renderer");
    assert_eq!(fake.release("other"), 0);
    assert_eq!(fake.release("gate"), 2);
    assert_eq!(client.answered().await, ids);
}

#[tokio::test]
async fn an_answer_can_take_time() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").times(1).act(Act::delay(Duration::from_millis(15), json!("late")));
    let sent = Instant::now();
    let late = client.evaluate(&session, "1").await;
    let soon = client.evaluate(&session, "2").await;
    client.answer(soon).await;
    assert_eq!(value(&client.answer(late).await), "late");
    assert!(sent.elapsed() >= Duration::from_millis(15));
}

#[tokio::test]
async fn a_window_that_waits_keeps_the_call_that_opened_it() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").act(Act::Popup("http://a.test/".to_owned()));
    let id = client.evaluate(&session, "open()").await;
    assert_eq!(client.answered().await, [id], "nobody makes this one wait");
    let mut births = Client::browser(&fake).await;
    let on = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    births.call("", "Target.setAutoAttach", on).await;
    births.heard().await;
    let id = client.evaluate(&session, "open()").await;
    let born = births.event().await;
    assert!(client.answered().await.is_empty());
    let waiting = born["params"]["sessionId"].as_str().unwrap().to_owned();
    births.call(&waiting, "Runtime.runIfWaitingForDebugger", json!({})).await;
    assert_eq!(value(&client.answer(id).await), 0);
}

#[tokio::test]
async fn half_a_frame_and_then_nothing_or_the_end() {
    for close in [false, true] {
        let fake = FakeChrome::start().await;
        let (mut client, target, session) = Client::on_page(&fake).await;
        fake.on("Runtime.evaluate").act(Act::HalfFrame { close });
        client.evaluate(&session, "1").await;
        fake.wait_for_call(|call| call.method == "Runtime.evaluate").await;
        if close {
            client.closed().await;
        } else {
            // Whatever else happens, this socket is silent and open.
            fake.crash(&target);
            let nothing = tokio::time::timeout(Duration::from_millis(20), client.frame()).await;
            assert!(nothing.is_err(), "{nothing:?}");
            assert_eq!(fake.open_connections(), 1);
        }
    }
}

#[tokio::test]
async fn garbage_of_all_kinds() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.on("Text.x").act(Act::seq([Act::garbage("{no json"), Act::Default]));
    client.send(&session, "Text.x", json!({})).await;
    assert_eq!(client.frame().await.unwrap().unwrap(), Message::text("{no json"));
    fake.on("Binary.x").act(Act::garbage(vec![0xff, 0x00]));
    client.send(&session, "Binary.x", json!({})).await;
    client.frame().await.unwrap().unwrap();
    assert_eq!(client.frame().await.unwrap().unwrap(), Message::binary(vec![0xff, 0x00]));
    let conn = fake.connections()[0];
    fake.send_raw(conn, "{\"id\":4711,\"result\":{}}");
    assert_eq!(client.answered().await, [4711]);
    fake.send_raw(conn, Raw::Bytes(vec![0xff; 16]));
    assert!(client.frame().await.unwrap().is_err(), "no frame begins like that");
}

#[tokio::test]
async fn a_huge_answer_arrives_and_one_of_256_mib_never_does() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").times(1).act(Act::Huge(3 << 20));
    let id = client.evaluate(&session, "big").await;
    let answer = client.answer(id).await;
    assert_eq!(value(&answer).as_str().unwrap().len(), 3 << 20);
    assert_eq!(answer["sessionId"], session);
    fake.on("Runtime.evaluate").times(1).act(Act::Huge(256 << 20));
    client.evaluate(&session, "bigger").await;
    assert!(client.answered().await.is_empty());
}

#[tokio::test]
async fn a_close_comes_after_what_was_said_before() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").act(Act::seq([json!("last words").into(), Act::Close]));
    let id = client.evaluate(&session, "1").await;
    assert_eq!(value(&client.answer(id).await), "last words");
    client.closed().await;
    assert_eq!(fake.open_connections(), 0);
    assert_eq!(fake.open_sessions(), 0);
}

#[tokio::test]
async fn an_act_that_needs_the_thread_waits_for_it() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    fake.occupy(&target, Kind::Native);
    fake.on("Target.getTargetInfo").act(Act::Occupy(Kind::Script));
    let id = client.send(&session, "Target.getTargetInfo", json!({})).await;
    assert!(client.answered().await.is_empty());
    fake.free(&target);
    client.call(&session, "Performance.getMetrics", json!({})).await;
    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    assert_eq!(error(&client.answer(id).await).0, -32000);
}
