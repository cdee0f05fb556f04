//! Pages that do not answer, and renderers that die.

use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_page::state::{Known, set_up};

use crate::support::{Stage, Watch, budget, new_tab};

#[tokio::test]
async fn a_crash_and_its_revival() {
    let mut stage = Stage::start().await;
    let good = stage.open("/icon").await;
    stage.session.cast("Page.crash", json!({}));
    let crashed = stage.watch.until("crashed", |known| known.state.crashed).await;
    assert_eq!((&crashed.state.url, crashed.state.loading), (&good.state.url, false));
    assert_eq!(crashed.last_good, good.last_good);
    let known = stage.open("/other").await;
    assert_eq!((known.state.crashed, known.state.title.as_str()), (false, "Other"));
    stage.evaluate("document.title = 'Observed'").await;
    stage.watch.until("observed", |known| known.state.title == "Observed").await;
    stage.stop().await;
}

/// A busy page hears of nothing, but the browser tells what it knows; and when the page is freed, the rest
/// comes by itself.
#[tokio::test]
async fn a_page_that_is_busy_at_set_up() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    stage.evaluate("history.pushState(1, '', '/icon#busy')").await;
    let url = stage.url("/icon#busy");
    stage.watch.until("pushed", |known| known.state.url == url).await;
    stage.call("Runtime.addBinding", json!({ "name": "began" })).await;
    let mut began = stage.session.subscribe(&["Runtime.bindingCalled"], 4);
    let script = json!({ "expression": "began(''); for (;;);" });
    let busy = stage.session.send("Runtime.evaluate", script).await.unwrap();
    budget().run(began.next()).await.unwrap();
    let late = stage.link.attach(&stage.target, &budget()).await.unwrap();
    let mut watch = Watch::start(&late, Known::default(), &Budget::new(Duration::from_millis(400))).await;
    let state = watch.state();
    assert_eq!((state.url, state.title.as_str()), (url, "Icon"));
    assert!(state.can_go_back && state.document.is_none());
    stage.call("Runtime.terminateExecution", json!({})).await;
    drop(busy);
    let known =
        watch.until("freed", |known| known.state.document.is_some() && known.state.favicon.is_some()).await;
    assert_eq!((known.state.favicon, known.state.loading), (Some(stage.url("/i.png")), false));
    stage.evaluate("document.title = 'Heard'").await;
    watch.until("heard", |known| known.state.title == "Heard").await;
    stage.stop().await;
}

#[tokio::test]
async fn a_page_that_is_dead_at_set_up() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    stage.session.cast("Page.crash", json!({}));
    stage.watch.until("crashed", |known| known.state.crashed).await;
    let late = stage.link.attach(&stage.target, &budget()).await.unwrap();
    let mut watch = Watch::start(&late, Known::default(), &budget()).await;
    assert_eq!((watch.state().url, watch.state().crashed), (stage.url("/icon"), true));
    stage.open("/other").await;
    let icon = Some(stage.url("/o.png"));
    let known = watch.until("revived", |known| known.state.favicon == icon).await;
    assert_eq!(
        (known.state.title.as_str(), known.state.loading, known.state.crashed),
        ("Other", false, false)
    );
    // Another one that goes on with a death that is over.
    let again = stage.link.attach(&stage.target, &budget()).await.unwrap();
    let mut dead = watch.now.borrow().clone();
    dead.state.crashed = true;
    let again = set_up(&again, dead, &budget(), &budget()).await.unwrap();
    assert_eq!((again.known().state.url.clone(), again.known().state.crashed), (stage.url("/other"), false));
    stage.open("/icon").await;
    watch.until("heard", |known| known.state.title == "Icon").await;
    stage.stop().await;
}

/// What happens while a page is busy is told by the browser where it can be.
#[tokio::test]
async fn a_page_that_gets_busy_is_left() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    stage.evaluate("setTimeout(() => { for (;;); }); 1").await;
    // Another site, and so another process.
    let url = format!("http://localhost:{}/other", stage.server.port);
    stage.navigate(&url);
    let known = stage.watch.until("away", |known| known.state.title == "Other" && !known.state.loading).await;
    assert_eq!(known.state.url, url);
    stage.stop().await;
}

#[tokio::test]
async fn it_ends_with_its_link_or_its_target() {
    let stage = Stage::start().await;
    let root = stage.link.root();
    let (target, session) = new_tab(&stage.link).await;
    let watch = Watch::start(&session, Known::default(), &budget()).await;
    crate::support::call(&root, "Target.closeTarget", json!({ "targetId": target })).await;
    let why = budget().run(watch.running.join()).await.unwrap().unwrap();
    assert!(matches!(why, CdpError::Detached { .. }), "{why}");
    let gone = set_up(&session, Known::default(), &budget(), &budget()).await.unwrap_err();
    assert!(matches!(gone, CdpError::Detached { .. }), "{gone}");
    let Stage { chromium, link, watch, .. } = stage;
    drop(link);
    let why = budget().run(watch.running.join()).await.unwrap().unwrap();
    assert!(matches!(why, CdpError::LinkClosed(_)), "{why}");
    chromium.stop().await;
}
