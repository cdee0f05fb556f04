//! Renderers that die.

use serde_json::json;
use tabvisor_cdp::fake::{Act, DialogKind, FakeChrome, Kind};

use crate::raw::{Client, error, names, value};

fn crashed() -> (i64, String) {
    (-32000, "Target crashed".to_owned())
}

#[tokio::test]
async fn a_crash_is_told_to_every_session_and_discoverer_and_answers_nothing() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    client.call("", "Target.setDiscoverTargets", json!({"discover": true})).await;
    fake.on("Runtime.evaluate").when(|call| call.expression() == "loop").act(Act::Occupy(Kind::Script));
    fake.on("Runtime.evaluate").when(|call| call.expression() == "promise").act(Act::Pending);
    let mut page = Client::open(&fake.page_url(&target)).await;
    let promise = client.evaluate(&session, "promise").await;
    let running = client.evaluate(&session, "loop").await;
    let waiting = client.evaluate(&session, "1").await;
    client.heard().await;
    fake.crash(&target);
    let heard = client.heard().await;
    assert_eq!(names(&heard), ["Inspector.targetCrashed", "Target.targetCrashed"]);
    assert_eq!(heard[1]["params"], json!({"targetId": target, "status": "crashed", "errorCode": 5}));
    assert_eq!(page.event().await["method"], "Inspector.targetCrashed");

    let later = client.evaluate(&session, "2").await;
    let probe = client.send(&session, "Performance.getMetrics", json!({})).await;
    client.call(&session, "Target.getTargetInfo", json!({})).await;
    assert!(client.answered().await.is_empty());
    let refusal = (-32000, "The target has already crashed".to_owned());
    assert_eq!(client.refused(&session, "Page.crash", json!({})).await, refusal);

    // Who comes late hears of it from Inspector.enable, and its other commands hang.
    let late = client.attach(&target).await;
    client.send(&late, "Page.enable", json!({})).await;
    assert!(client.heard().await.is_empty());
    client.call(&late, "Inspector.enable", json!({})).await;
    assert_eq!(client.event().await["method"], "Inspector.targetCrashed");

    client.call(&late, "Page.navigate", json!({"url": "http://a.test/"})).await;
    for id in [running, promise, waiting, later, probe] {
        assert_eq!(error(&client.answer(id).await), crashed());
    }
    assert!(names(&client.heard().await).contains(&"Inspector.targetReloadedAfterCrash".to_owned()));
    let id = client.evaluate(&session, "1").await;
    assert_eq!(value(&client.answer(id).await), 0, "the sessions survive");
    assert_eq!(fake.pending_in(&target), 0);
}

#[tokio::test]
async fn page_crash_kills_whatever_runs_except_a_stopped_process() {
    for kind in [Kind::Script, Kind::Native, Kind::Dialog] {
        let fake = FakeChrome::start().await;
        let (mut client, target, session) = Client::on_page(&fake).await;
        fake.occupy(&target, kind);
        let id = client.send(&session, "Page.crash", json!({})).await;
        assert_eq!(client.event().await["method"], "Inspector.targetCrashed", "{kind:?}");
        assert!(client.answered().await.is_empty(), "{kind:?}: it is never answered itself");
        client.call(&session, "Page.reload", json!({})).await;
        assert_eq!(error(&client.answer(id).await), crashed());
    }
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    fake.occupy(&target, Kind::Stopped);
    client.send(&session, "Page.crash", json!({})).await;
    assert!(client.heard().await.is_empty());
}

#[tokio::test]
async fn page_crash_from_a_late_session_waits() {
    let fake = FakeChrome::start().await;
    let (mut client, target, _) = Client::on_page(&fake).await;
    fake.occupy(&target, Kind::Script);
    let late = client.attach(&target).await;
    client.send(&late, "Page.crash", json!({})).await;
    assert!(client.heard().await.is_empty());
    fake.free(&target);
    let heard = names(&client.heard().await);
    assert_eq!(
        heard,
        ["Inspector.targetCrashed", "Inspector.targetCrashed"],
        "and kills when it gets through"
    );
}

#[tokio::test]
async fn a_crash_takes_the_dialog_and_those_who_share_the_process() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    client.call(&session, "Page.enable", json!({})).await;
    let popup = fake.popup(&target, "about:blank");
    let in_popup = client.attach(&popup).await;
    fake.open_dialog(&target, DialogKind::Alert, "!");
    client.heard().await;
    fake.crash(&target);
    let heard = client.heard().await;
    assert_eq!(
        names(&heard),
        ["Page.javascriptDialogClosed", "Inspector.targetCrashed", "Inspector.targetCrashed"]
    );
    assert_eq!(heard[2]["sessionId"], in_popup);
    // Each is revived by itself.
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/"})).await;
    client.evaluate(&in_popup, "1").await;
    let id = client.evaluate(&session, "1").await;
    client.answer(id).await;
    assert!(client.answered().await.is_empty(), "the popup is still dead");
}

#[tokio::test]
async fn a_scripted_crash_and_a_closed_browser() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").act(Act::Crash);
    let id = client.evaluate(&session, "bomb").await;
    assert_eq!(client.event().await["method"], "Inspector.targetCrashed");
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/"})).await;
    assert_eq!(error(&client.answer(id).await), crashed());

    client.call("", "Browser.close", json!({})).await;
    client.closed().await;
    assert_eq!(fake.open_connections(), 0);
    assert!(tokio::net::TcpStream::connect(fake.addr()).await.is_err(), "the port is closed");
}
