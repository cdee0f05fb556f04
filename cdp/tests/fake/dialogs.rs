//! Dialogs.

use serde_json::{Value, json};
use tabvisor_cdp::fake::{Act, Dialog, DialogKind, FakeChrome};

use crate::raw::{Client, names, value};

const ACCEPT: &str = "Page.handleJavaScriptDialog";

fn none_showing() -> (i64, String) {
    (-32602, "No dialog is showing".to_owned())
}

async fn watching(fake: &FakeChrome) -> (Client, String, String) {
    let (mut client, target, session) = Client::on_page(fake).await;
    client.call(&session, "Page.enable", json!({})).await;
    (client, target, session)
}

#[tokio::test]
async fn an_open_dialog_holds_the_page_until_who_heard_of_it_answers() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = watching(&fake).await;
    fake.open_dialog(&target, DialogKind::Confirm, "sure?");
    let opening = client.event().await;
    assert_eq!(opening["method"], "Page.javascriptDialogOpening");
    assert_eq!(opening["params"]["type"], "confirm");
    assert_eq!(opening["params"]["message"], "sure?");

    let waiting = client.evaluate(&session, "1").await;
    client.send(&session, "Runtime.terminateExecution", json!({})).await;
    client.send(&session, "Performance.getMetrics", json!({})).await;
    assert!(client.answered().await.is_empty());
    for method in ["Input.dispatchKeyEvent", "Input.dispatchMouseEvent"] {
        client.call(&session, method, json!({})).await;
    }

    let late = client.attach(&target).await;
    client.send(&late, "Page.enable", json!({})).await;
    assert_eq!(client.refused(&late, ACCEPT, json!({"accept": true})).await, none_showing());

    let id = client.send(&session, ACCEPT, json!({"accept": true})).await;
    let heard = client.heard().await;
    let closed = "Page.javascriptDialogClosed";
    assert_eq!(
        names(&heard)[..4],
        [closed, closed, &id.to_string(), &waiting.to_string()],
        "the late one hears the end"
    );
    assert_eq!(heard[0]["params"]["result"], true);
    assert_eq!(client.refused(&session, ACCEPT, json!({"accept": true})).await, none_showing());
}

#[tokio::test]
async fn a_script_gets_what_its_dialog_returns() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = watching(&fake).await;
    let prompt = Dialog { default_prompt: "d".to_owned(), ..Dialog::new(DialogKind::Prompt, "?") };
    for (dialog, answer, returns) in [
        (Dialog::new(DialogKind::Alert, "!"), json!({"accept": true}), Value::Null),
        (Dialog::new(DialogKind::Confirm, "?"), json!({"accept": true}), json!(true)),
        (Dialog::new(DialogKind::Confirm, "?"), json!({"accept": false}), json!(false)),
        (prompt.clone(), json!({"accept": true, "promptText": "t"}), json!("t")),
        (prompt.clone(), json!({"accept": true}), json!("d")),
        (prompt, json!({"accept": false}), Value::Null),
    ] {
        fake.on("Runtime.evaluate").times(1).act(Act::OpenDialog(dialog.clone()));
        let id = client.evaluate(&session, "ask").await;
        assert_eq!(client.event().await["params"]["defaultPrompt"], dialog.default_prompt);
        client.call(&session, ACCEPT, answer).await;
        assert_eq!(value(&client.answer(id).await), &returns, "{dialog:?}");
        client.heard().await;
    }
}

#[tokio::test]
async fn a_command_may_be_answered_although_it_opened_a_dialog() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = watching(&fake).await;
    let opens = Act::seq([Act::dialog(DialogKind::Alert, "!"), Act::Reply(json!({}))]);
    fake.on("Input.dispatchMouseEvent").times(1).act(opens);
    client.call(&session, "Input.dispatchMouseEvent", json!({"type": "mousePressed"})).await;
    client.heard().await;
    let id = client.send(&session, ACCEPT, json!({"accept": true})).await;
    assert_eq!(client.answered().await, [id], "and only once");
}

#[tokio::test]
async fn a_dialog_that_nobody_heard_of_is_an_orphan() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    fake.open_dialog(&target, DialogKind::Alert, "!");
    client.evaluate(&session, "1").await;
    assert!(client.heard().await.is_empty(), "no event, no answer");
    assert_eq!(client.refused(&session, ACCEPT, json!({"accept": true})).await, none_showing());
    // Any navigation cures it, also one within the site.
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/"})).await;
    let id = client.evaluate(&session, "1").await;
    assert_eq!(value(&client.answer(id).await), 0);
}

#[tokio::test]
async fn a_dialog_whose_only_listener_left_is_an_orphan_too() {
    let fake = FakeChrome::start().await;
    let (client, target, _) = watching(&fake).await;
    let mut other = Client::browser(&fake).await;
    let session = other.attach(&target).await;
    fake.open_dialog(&target, DialogKind::Alert, "!");
    drop(client);
    fake.wait_until(|counts| counts.connections == 1).await;
    assert_eq!(other.refused(&session, ACCEPT, json!({"accept": true})).await, none_showing());
    assert!(fake.close_dialog(&target, true), "somebody at the window can");
    assert!(!fake.close_dialog(&target, true));
}

#[tokio::test]
async fn a_navigation_within_the_site_closes_a_dialog_and_commits() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = watching(&fake).await;
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/"})).await;
    fake.on("Runtime.evaluate").times(1).act(Act::dialog(DialogKind::Confirm, "?"));
    let asked = client.evaluate(&session, "confirm()").await;
    client.heard().await;
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/2"})).await;
    assert_eq!(value(&client.answer(asked).await), false);
    assert!(names(&client.heard().await).contains(&"Page.javascriptDialogClosed".to_owned()));
    assert_eq!(fake.about(&target).1, "http://a.test/2");
}

#[tokio::test]
async fn leaving_waits_for_a_beforeunload_dialog() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = watching(&fake).await;
    fake.on("Page.navigate").times(2).act(Act::dialog(DialogKind::BeforeUnload, ""));
    let go = json!({"url": "http://a.test/"});
    let stays = client.send(&session, "Page.navigate", go.clone()).await;
    assert_eq!(names(&client.heard().await), ["Page.javascriptDialogOpening"]);
    client.call(&session, ACCEPT, json!({"accept": false})).await;
    assert_eq!(client.answer(stays).await["result"]["errorText"], "net::ERR_ABORTED");
    assert_eq!(fake.about(&target).1, "about:blank");

    let leaves = client.send(&session, "Page.navigate", go).await;
    let waits = client.send(&session, "Page.navigate", json!({"url": "http://b.test/"})).await;
    client.heard().await;
    client.call(&session, ACCEPT, json!({"accept": true})).await;
    assert!(client.answer(leaves).await["result"]["loaderId"].is_string());
    assert!(client.answer(waits).await["result"]["loaderId"].is_string());
    assert_eq!(fake.about(&target).1, "http://b.test/");
}

#[tokio::test]
async fn a_dialog_goes_with_its_page() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = watching(&fake).await;
    fake.open_dialog(&target, DialogKind::Alert, "!");
    client.heard().await;
    client.call(&session, "Page.close", json!({})).await;
    let heard = names(&client.heard().await);
    assert_eq!(heard, ["Page.javascriptDialogClosed", "Inspector.detached", "Target.detachedFromTarget"]);
}
