//! Navigation, also of pages that are stuck.

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::fake::{Act, FakeChrome, Kind};

use crate::raw::{Client, error, names, value};

const LOAD: [&str; 6] = [
    "Page.frameStartedNavigating",
    "Page.frameStartedLoading",
    "Page.frameNavigated",
    "Page.domContentEventFired",
    "Page.loadEventFired",
    "Page.frameStoppedLoading",
];

/// A client with page events on a page at `http://a.test/`.
async fn at_a(fake: &FakeChrome) -> (Client, String, String) {
    let (mut client, target, session) = Client::on_page(fake).await;
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/"})).await;
    client.call(&session, "Page.enable", json!({})).await;
    client.heard().await;
    (client, target, session)
}

/// What came besides answers.
fn events(heard: &[Value]) -> Vec<String> {
    names(heard).into_iter().filter(|name| name.contains('.')).collect()
}

fn navigated() -> (i64, String) {
    (-32000, "Inspected target navigated or closed".to_owned())
}

#[tokio::test]
async fn a_navigation_answers_its_ids_and_tells_the_load() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    client.call("", "Target.setDiscoverTargets", json!({"discover": true})).await;
    client.call(&session, "Runtime.enable", json!({})).await;
    client.heard().await;
    let id = client.send(&session, "Page.navigate", json!({"url": "http://a.test/2"})).await;
    let heard = client.heard().await;
    assert_eq!(
        names(&heard),
        [
            "Page.frameStartedNavigating",
            "Page.frameStartedLoading",
            &id.to_string(),
            "Runtime.executionContextsCleared",
            "Page.frameNavigated",
            "Target.targetInfoChanged",
            "Runtime.executionContextCreated",
            "Page.domContentEventFired",
            "Page.loadEventFired",
            "Page.frameStoppedLoading",
        ]
    );
    let (reply, frame) = (&heard[2]["result"], &heard[4]["params"]["frame"]);
    assert_eq!(reply["frameId"], target);
    assert_eq!(reply["loaderId"], frame["loaderId"]);
    assert_eq!(heard[0]["params"]["loaderId"], frame["loaderId"]);
    assert_eq!(frame["url"], "http://a.test/2");
    assert!(frame["parentId"].is_null());
    let tree = client.call(&session, "Page.getFrameTree", json!({})).await;
    assert_eq!(&tree["frameTree"]["frame"], frame);
    assert_eq!(fake.about(&target), ("a.test/2".to_owned(), "http://a.test/2".to_owned()));
}

#[tokio::test]
async fn who_did_not_enable_page_hears_nothing() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    let id = client.send(&session, "Page.navigate", json!({"url": "http://a.test/"})).await;
    assert_eq!(names(&client.heard().await), [id.to_string()]);
}

#[tokio::test]
async fn history_goes_back_and_forth() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/2"})).await;
    let history = client.call(&session, "Page.getNavigationHistory", json!({})).await;
    assert_eq!(history["currentIndex"], 2);
    let entry = history["entries"][1]["id"].clone();
    client.call(&session, "Page.navigateToHistoryEntry", json!({"entryId": entry})).await;
    assert_eq!(fake.about(&target).1, "http://a.test/");
    let history = client.call(&session, "Page.getNavigationHistory", json!({})).await;
    assert_eq!(history["currentIndex"], 1);
    assert_eq!(history["entries"].as_array().unwrap().len(), 3);
    client.call(&session, "Page.reload", json!({})).await;
    let history = client.call(&session, "Page.getNavigationHistory", json!({})).await;
    assert_eq!(history["entries"].as_array().unwrap().len(), 3, "a reload adds nothing");
}

#[tokio::test]
async fn a_fragment_stays_in_the_document() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = at_a(&fake).await;
    let id = client.send(&session, "Page.navigate", json!({"url": "http://a.test/#x"})).await;
    let heard = client.heard().await;
    assert_eq!(
        names(&heard),
        [
            "Page.frameStartedNavigating",
            "Page.frameStartedLoading",
            &id.to_string(),
            "Page.navigatedWithinDocument",
            "Page.frameStoppedLoading",
        ]
    );
    assert_eq!(heard[0]["params"]["navigationType"], "sameDocument");
    assert!(heard[2]["result"]["loaderId"].is_null());
}

#[tokio::test]
async fn a_failed_load_is_a_success_with_an_error_text() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = at_a(&fake).await;
    fake.on("Page.navigate").act(Act::FailLoad("net::ERR_CONNECTION_REFUSED".to_owned()));
    let reply = client.call(&session, "Page.navigate", json!({"url": "http://down.test/"})).await;
    assert_eq!(reply["errorText"], "net::ERR_CONNECTION_REFUSED");
    let heard = client.heard().await;
    assert_eq!(names(&heard), LOAD);
    assert_eq!(heard[2]["params"]["frame"]["url"], "chrome-error://chromewebdata/");
    assert_eq!(heard[2]["params"]["frame"]["unreachableUrl"], "http://down.test/");
    assert_eq!(client.refused(&session, "Page.navigate", json!({"url": "no url"})).await.0, -32000);
}

#[tokio::test]
async fn a_page_may_navigate_by_itself_and_change_its_title_silently() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    fake.navigate(&target, "http://b.test/");
    assert_eq!(names(&client.heard().await), LOAD);
    fake.set_title(&target, "B");
    assert!(client.heard().await.is_empty());
    let info = client.call(&session, "Target.getTargetInfo", json!({})).await;
    assert_eq!(info["targetInfo"]["title"], "B");
}

#[tokio::test]
async fn another_site_recovers_a_stuck_page() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    for (kind, url) in
        [(Kind::Script, "http://b.test/"), (Kind::Native, "http://a.test/"), (Kind::Stopped, "about:blank")]
    {
        fake.on("Runtime.evaluate").when(|call| call.expression() == "loop").act(Act::Occupy(kind));
        let stuck = client.evaluate(&session, "loop").await;
        let late = client.attach(&target).await;
        let script = client.evaluate(&late, "1").await;
        let enable = client.send(&late, "Page.enable", json!({})).await;
        client.call(&late, "Page.navigate", json!({"url": url})).await;
        assert_eq!(error(&client.answer(stuck).await), navigated(), "{kind:?}");
        assert_eq!(error(&client.answer(script).await), navigated(), "{kind:?}: scripts do not move on");
        assert_eq!(client.answer(enable).await["result"], json!({}), "{kind:?}: other commands do");
        let id = client.evaluate(&session, "1").await;
        assert_eq!(value(&client.answer(id).await), 0, "{kind:?}: the session survives");
        client.heard().await;
    }
}

#[tokio::test]
async fn its_own_site_makes_a_stuck_page_worse() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    fake.on("Runtime.evaluate").times(1).act(Act::Occupy(Kind::Script));
    let stuck = client.evaluate(&session, "loop").await;
    let reply = client.call(&session, "Page.navigate", json!({"url": "http://a.test/2"})).await;
    assert!(reply["loaderId"].is_string() && reply["errorText"].is_null(), "it answers as if all were well");
    assert_eq!(error(&client.answer(stuck).await), navigated());
    assert_eq!(fake.about(&target).1, "http://a.test/", "and nothing commits");
    client.send(&session, "Runtime.terminateExecution", json!({})).await;
    client.send(&session, "Performance.getMetrics", json!({})).await;
    let blank = client.send(&session, "Page.navigate", json!({"url": "about:blank"})).await;
    assert!(client.answered().await.is_empty(), "termination, probe and about:blank all hang now");
    let refusal = (-32000, "Page has pending navigations, not killing".to_owned());
    assert_eq!(client.refused(&session, "Page.crash", json!({})).await, refusal);
    client.send(&session, "Page.navigate", json!({"url": "http://a.test/3"})).await;
    assert_eq!(client.answer(blank).await["result"]["errorText"], "net::ERR_ABORTED");
    // What works is killing the renderer.
    fake.crash(&target);
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/4"})).await;
    let id = client.evaluate(&session, "1").await;
    assert_eq!(value(&client.answer(id).await), 0);
}

#[tokio::test]
async fn a_slow_load_holds_commands_back_until_it_is_stopped() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    fake.on("Page.navigate").act(Act::Occupy(Kind::Loading));
    let slow = client.send(&session, "Page.navigate", json!({"url": "http://b.test/"})).await;
    let waiting = client.evaluate(&session, "1").await;
    let heard = client.heard().await;
    assert_eq!(names(&heard), LOAD[..2]);
    client.call(&session, "Performance.getMetrics", json!({})).await;
    client.call(&session, "Runtime.terminateExecution", json!({})).await;
    let stop = client.send(&session, "Page.stopLoading", json!({})).await;
    let heard = client.heard().await;
    assert_eq!(
        names(&heard),
        [&slow.to_string(), "Page.frameStoppedLoading", &waiting.to_string(), &stop.to_string()]
    );
    assert_eq!(heard[0]["result"]["errorText"], "net::ERR_ABORTED");
    assert_eq!(fake.about(&target).1, "http://a.test/");
}

#[tokio::test]
async fn a_slow_load_commits_when_freed_or_after_its_time() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    fake.on("Page.navigate").times(1).act(Act::Occupy(Kind::Loading));
    let slow = client.send(&session, "Page.navigate", json!({"url": "http://a.test/2"})).await;
    let waiting = client.evaluate(&session, "1").await;
    client.heard().await;
    fake.free(&target);
    let heard = client.heard().await;
    assert_eq!(events(&heard), LOAD[2..]);
    assert_eq!(names(&heard).first(), Some(&slow.to_string()));
    assert_eq!(names(&heard).last(), Some(&waiting.to_string()));

    let slowly = Act::busy_for(Kind::Loading, Duration::from_millis(10), Act::Default);
    fake.on("Page.navigate").act(slowly);
    client.call(&session, "Page.navigate", json!({"url": "http://a.test/3"})).await;
    assert_eq!(fake.about(&target).1, "http://a.test/3");
}

#[tokio::test]
async fn a_newer_navigation_supersedes_a_slow_one() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = at_a(&fake).await;
    fake.on("Page.navigate").times(1).act(Act::Occupy(Kind::Loading));
    let slow = client.send(&session, "Page.navigate", json!({"url": "http://b.test/"})).await;
    client.call(&session, "Page.navigate", json!({"url": "http://c.test/"})).await;
    assert_eq!(client.answer(slow).await["result"]["errorText"], "net::ERR_ABORTED");
    assert_eq!(fake.about(&target).1, "http://c.test/");
}
