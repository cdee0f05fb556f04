//! Targets, sessions, discovery, auto-attach.

use serde_json::json;
use tabvisor_cdp::fake::FakeChrome;

use crate::raw::{Client, names};

#[tokio::test]
async fn it_starts_like_chrome_with_one_blank_page() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    let targets = client.call("", "Target.getTargets", json!({})).await;
    let page = &targets["targetInfos"][0];
    assert_eq!(page["url"], "about:blank");
    assert_eq!(page["attached"], false);
    assert_eq!(page["targetId"], fake.targets()[0]);
    let version = client.call("", "Browser.getVersion", json!({})).await;
    assert!(version["product"].as_str().unwrap().starts_with("Chrome/"));
    let processes = client.call("", "SystemInfo.getProcessInfo", json!({})).await;
    assert_eq!(processes["processInfo"].as_array().unwrap().len(), 2, "the browser and a renderer");
}

#[tokio::test]
async fn discovery_replays_what_is_there_and_tells_what_comes() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    client.send("", "Target.setDiscoverTargets", json!({"discover": true})).await;
    assert_eq!(names(&client.heard().await), ["Target.targetCreated", "1"]);

    let id = client.send("", "Target.createTarget", json!({"url": "http://a.test/x"})).await;
    let heard = client.heard().await;
    assert_eq!(names(&heard), ["Target.targetCreated", &id.to_string(), "Target.targetInfoChanged"]);
    assert_eq!(heard[0]["params"]["targetInfo"]["url"], "http://a.test/x");
    assert_eq!(heard[2]["params"]["targetInfo"]["title"], "a.test/x");

    let target = heard[1]["result"]["targetId"].clone();
    let id = client.send("", "Target.closeTarget", json!({"targetId": target})).await;
    let heard = client.heard().await;
    assert_eq!(names(&heard), [&id.to_string(), "Target.targetDestroyed"]);
    assert_eq!(heard[0]["result"], json!({"success": true}));
    assert_eq!(fake.targets().len(), 1);
}

#[tokio::test]
async fn an_attach_is_announced_before_it_is_answered() {
    let fake = FakeChrome::start().await;
    let target = fake.targets().remove(0);
    let mut client = Client::browser(&fake).await;
    client.call("", "Target.setDiscoverTargets", json!({"discover": true})).await;
    client.heard().await;
    let id = client.send("", "Target.attachToTarget", json!({"targetId": target, "flatten": true})).await;
    let heard = client.heard().await;
    assert_eq!(names(&heard), ["Target.targetInfoChanged", "Target.attachedToTarget", &id.to_string()]);
    assert_eq!(heard[0]["params"]["targetInfo"]["attached"], true);
    let session = heard[2]["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(fake.open_sessions(), 1);
    assert_eq!(fake.sessions_of(&target), std::slice::from_ref(&session));

    let own = client.call(&session, "Target.getTargetInfo", json!({})).await;
    assert_eq!(own["targetInfo"]["targetId"], target);

    let id = client.send("", "Target.detachFromTarget", json!({"sessionId": session})).await;
    let heard = client.heard().await;
    assert_eq!(names(&heard), ["Target.detachedFromTarget", "Target.targetInfoChanged", &id.to_string()]);
    assert_eq!(fake.open_sessions(), 0);
    let unknown = (-32001, "Session with given id not found.".to_owned());
    assert_eq!(client.refused(&session, "Runtime.evaluate", json!({})).await, unknown);
}

#[tokio::test]
async fn chromes_refusals() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    let no_target = (-32602, "No target with given id found".to_owned());
    for method in
        ["Target.attachToTarget", "Target.closeTarget", "Target.getTargetInfo", "Target.activateTarget"]
    {
        assert_eq!(client.refused("", method, json!({"targetId": "nosuch"})).await, no_target, "{method}");
    }
    let no_session = (-32602, "No session with given id".to_owned());
    assert_eq!(client.refused("", "Target.detachFromTarget", json!({"sessionId": "x"})).await, no_session);
    assert_eq!(client.refused("", "Page.enable", json!({})).await.0, -32601, "pages only");
    assert_eq!(client.refused("", "Target.createTarget", json!({"browserContextId": "x"})).await.0, -32000);
    assert_eq!(client.refused("", "Target.disposeBrowserContext", json!({})).await.0, -32000);
    assert_eq!(client.refused("", "Target.setAutoAttach", json!({"autoAttach": true})).await.0, -32602);
}

#[tokio::test]
async fn a_session_belongs_to_its_socket() {
    let fake = FakeChrome::start().await;
    let (_owner, _, session) = Client::on_page(&fake).await;
    let mut other = Client::browser(&fake).await;
    assert_eq!(other.refused(&session, "Runtime.evaluate", json!({})).await.0, -32001);
}

#[tokio::test]
async fn a_browser_context_takes_its_pages_with_it() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    let context = client.call("", "Target.createBrowserContext", json!({})).await;
    let page = client
        .call(
            "",
            "Target.createTarget",
            json!({"url": "about:blank", "browserContextId": context["browserContextId"]}),
        )
        .await;
    let info = client.call("", "Target.getTargetInfo", page).await;
    assert_eq!(info["targetInfo"]["browserContextId"], context["browserContextId"]);
    assert_eq!(fake.targets().len(), 2);
    client.call("", "Target.disposeBrowserContext", context).await;
    assert_eq!(fake.targets().len(), 1);
}

#[tokio::test]
async fn auto_attach_takes_what_is_there_and_what_comes() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    let on = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
    let id = client.send("", "Target.setAutoAttach", on).await;
    assert_eq!(names(&client.heard().await), ["Target.attachedToTarget", &id.to_string()]);
    fake.open("http://a.test/");
    let heard = client.heard().await;
    assert_eq!(heard[0]["params"]["waitingForDebugger"], false);
    assert_eq!(fake.open_sessions(), 2);
    client.call("", "Target.setAutoAttach", json!({"autoAttach": false})).await;
    assert_eq!(names(&client.heard().await), ["Target.detachedFromTarget", "Target.detachedFromTarget"]);
    assert_eq!(fake.open_sessions(), 0);
}

#[tokio::test]
async fn a_popup_waits_for_the_debugger_and_tells_everything_afterwards() {
    let fake = FakeChrome::start().await;
    let mut births = Client::browser(&fake).await;
    let on = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    births.call("", "Target.setAutoAttach", on).await;
    births.heard().await;

    let popup = fake.popup(&fake.targets()[0], "http://a.test/pop");
    let born = births.event().await;
    assert_eq!(born["params"]["waitingForDebugger"], true);
    assert_eq!(born["params"]["targetInfo"]["openerId"], fake.targets()[0]);
    assert_eq!(born["params"]["targetInfo"]["url"], "", "it has not gone anywhere yet");
    let session = born["params"]["sessionId"].as_str().unwrap().to_owned();

    // A second link gets ready while the popup waits: its renderer answers.
    let mut watcher = Client::browser(&fake).await;
    let second = watcher.attach(&popup).await;
    watcher.call(&second, "Page.enable", json!({})).await;
    assert!(watcher.heard().await.is_empty(), "nothing happens before it may run");

    births.call(&session, "Runtime.runIfWaitingForDebugger", json!({})).await;
    let heard = watcher.heard().await;
    assert_eq!(names(&heard)[0], "Page.frameStartedNavigating");
    assert_eq!(names(&heard)[2], "Page.frameNavigated");
    assert_eq!(heard[2]["params"]["frame"]["url"], "http://a.test/pop");
}

#[tokio::test]
async fn a_popup_whose_debugger_goes_away_never_loads() {
    let fake = FakeChrome::start().await;
    let mut births = Client::browser(&fake).await;
    let on = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    births.call("", "Target.setAutoAttach", on).await;
    let popup = fake.popup(&fake.targets()[0], "http://a.test/pop");
    drop(births);
    fake.wait_until(|counts| counts.connections == 0).await;
    let mut late = Client::browser(&fake).await;
    let session = late.attach(&popup).await;
    let tree = late.call(&session, "Page.getFrameTree", json!({})).await;
    assert_eq!(tree["frameTree"]["frame"]["url"], "");
}

#[tokio::test]
async fn sessions_may_be_attached_below_sessions() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    let params = json!({"targetId": target, "flatten": true});
    let id = client.send(&session, "Target.attachToTarget", params).await;
    let heard = client.heard().await;
    assert_eq!(names(&heard), ["Target.attachedToTarget", &id.to_string()]);
    assert_eq!(heard[0]["sessionId"], session, "the event comes on the parent");
    fake.detach(&session);
    let gone = names(&client.heard().await);
    assert_eq!(gone, ["Target.detachedFromTarget", "Target.detachedFromTarget"], "with what is below it");
    assert_eq!(fake.open_sessions(), 0);
}

#[tokio::test]
async fn a_page_can_be_reached_at_its_own_address() {
    let fake = FakeChrome::start().await;
    let target = fake.targets().remove(0);
    let mut page = Client::open(&fake.page_url(&target)).await;
    page.call("", "Page.enable", json!({})).await;
    let info = page.call("", "Target.getTargetInfo", json!({})).await;
    assert_eq!(info["targetInfo"]["targetId"], target);
    assert_eq!(info["targetInfo"]["attached"], true);
    fake.navigate(&target, "http://a.test/");
    let event = page.event().await;
    assert_eq!(event["method"], "Page.frameStartedNavigating");
    assert!(event["sessionId"].is_null());
    assert_eq!(fake.record()[0].target.as_deref(), Some(target.as_str()));
    fake.destroy(&target);
    page.closed().await;
}

#[tokio::test]
async fn closing_a_page_tells_its_sessions_and_answers_nothing() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").act(tabvisor_cdp::fake::Act::Pending);
    let pending = client.evaluate(&session, "p").await;
    client.heard().await;
    fake.destroy(&target);
    let heard = client.heard().await;
    assert_eq!(names(&heard), ["Inspector.detached", "Target.detachedFromTarget"]);
    assert_eq!(heard[0]["params"]["reason"], "Render process gone.");
    assert!(!client.answered().await.contains(&pending));
}
