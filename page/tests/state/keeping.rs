//! Watchers that come later: to a page that is there, after another watcher, after lost events.

use serde_json::json;
use tabvisor_page::state::{Known, set_up};

use crate::support::{Stage, Watch, budget, connect, new_tab, refused};

/// A page that is there already is read: a good one, an error page, one that still loads.
#[tokio::test]
async fn a_tab_that_already_shows_a_page() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let session = stage.link.attach(&stage.target, &budget()).await.unwrap();
    let mut watch = Watch::start(&session, Known::default(), &budget()).await;
    let icon = Some(stage.url("/i.png"));
    let known = watch.until("read", |known| known.state.favicon == icon).await;
    assert_eq!((known.state.url, known.state.title.as_str()), (stage.url("/icon"), "Icon"));
    assert!(known.state.can_go_back && !known.state.loading && known.state.generation == 1);
    assert_eq!(known.last_good.unwrap().url, stage.url("/icon"));

    let url = refused().await;
    stage.navigate(&url);
    let failed = |known: &Known| known.state.error.as_ref().is_some_and(|error| error.code == -102);
    stage.watch.until("failed", failed).await;
    let session = stage.link.attach(&stage.target, &budget()).await.unwrap();
    let mut late = Watch::start(&session, Known::default(), &budget()).await;
    let known = late.until("failed for the late one, too", failed).await;
    assert_eq!((known.state.url, known.last_good), (url, None));

    let url = stage.url("/endless");
    stage.navigate(&url);
    stage.watch.until("there", |known| known.state.title == "Endless").await;
    let session = stage.link.attach(&stage.target, &budget()).await.unwrap();
    let mut late = Watch::start(&session, Known::default(), &budget()).await;
    late.until("still loading", |known| known.state.loading && known.state.title == "Endless").await;
    stage.call("Page.stopLoading", json!({})).await;
    late.until("stopped", |known| !known.state.loading).await;
    stage.stop().await;
}

#[tokio::test]
async fn a_later_watcher_goes_on_with_what_was_known() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let before = stage.watch.until("history", |known| known.state.can_go_back).await;
    // The link is lost, and the page moves on meanwhile without another document.
    let other = connect(&stage.chromium).await;
    let session = other.attach(&stage.target, &budget()).await.unwrap();
    let mut watch = Watch::start(&session, before.clone(), &budget()).await;
    assert_eq!(*watch.now.borrow(), before, "nothing is lost, not even for a moment");
    stage.evaluate("document.title = 'Next'").await;
    watch.until("next", |known| known.state.title == "Next").await;
    assert!(watch.published().iter().all(|known| known.state.generation == before.state.generation));
    // In a new tab: another document, and the last good one is still known.
    let (_, session) = new_tab(&other).await;
    let watching = set_up(&session, before.clone(), &budget(), &budget()).await.unwrap();
    let known = watching.known();
    assert_eq!(
        (known.state.url.as_str(), known.state.generation),
        ("about:blank", before.state.generation + 1)
    );
    assert_eq!(known.last_good, before.last_good);
    stage.stop().await;
}

/// More events than may wait, while nobody takes them: everything is read afresh.
#[tokio::test]
async fn lost_events_are_made_up_for() {
    let mut stage = Stage::start().await;
    stage.open("/icon").await;
    let session = stage.link.attach(&stage.target, &budget()).await.unwrap();
    let watching = set_up(&session, Known::default(), &budget(), &budget()).await.unwrap();
    assert!(watching.is_set_up());
    let script = "(async () => {
        for (let n = 0; n < 300; n++) {
          const frame = document.createElement('iframe');
          frame.src = 'about:blank?' + n;
          await new Promise(done => { frame.onload = done; document.body.append(frame); });
          frame.remove();
        }
    })()";
    stage.evaluate(script).await;
    stage.evaluate(script).await;
    stage.open("/other").await;
    assert!(stage.link.counts().lagged > 0, "events were lost");
    let (sender, mut now) = tokio::sync::watch::channel(Known::default());
    let _running = tabvisor_cdp::task::spawn(watching.run(move |known| {
        sender.send_replace(known.clone());
    }));
    let icon = Some(stage.url("/o.png"));
    let there = now.wait_for(|known| known.state.favicon == icon && !known.state.loading);
    let known = budget().run(there).await.unwrap().unwrap().clone();
    assert_eq!((known.state.url, known.state.title.as_str()), (stage.url("/other"), "Other"));
    stage.stop().await;
}
