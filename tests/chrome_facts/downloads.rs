//! What is told of downloads.

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Delivery;

use crate::support::Pages;
use crate::support::ms;
use crate::support::raw::{self, Bare};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn explore() {
    let (pages, bare) = (Pages::start().await, Bare::start().await);
    let folder = tempfile::TempDir::new().unwrap();
    let root = bare.browser.root();
    let asked = json!({ "behavior": "allowAndName", "downloadPath": folder.path(), "eventsEnabled": true });
    raw::call(&root, "Browser.setDownloadBehavior", asked).await.unwrap();
    let mut events = bare.browser.subscribe_all(&["Browser.downloadWillBegin", "Browser.downloadProgress", "Target.targetCreated", "Target.targetDestroyed"], 1000);
    raw::call(&root, "Target.setDiscoverTargets", json!({"discover":true})).await.unwrap();
    let page = bare.page(&pages.url("/downloads")).await;
    page.call("Page.enable", json!({})).await.unwrap();
    let mut own = page.link.subscribe_all(&["Page.downloadWillBegin", "Page.frameRequestedNavigation","Page.frameStartedNavigating","Page.frameStoppedLoading", "Page.windowOpen"], 1000);
    for (what, path) in [("plain", "/downloads"), ("named", "/downloads"), ("blank", "/downloads"), ("blob", "/downloads"), ("odd","/downloads"), ("slow", "/downloads"), ("plain", "/downloads-framed"), ("blank", "/downloads-framed")] {
        raw::load(&page.session, &pages.url(path)).await;
        page.call("Page.enable", json!({})).await.unwrap();
        while own.try_next().is_some() {}
        while events.try_next().is_some() {}
        println!("=== {what} {path} target {}", page.target);
        let at = tokio::time::Instant::now();
        let doc = if path == "/downloads" { "document" } else { "frames[0].document" };
        page.call("Runtime.evaluate", json!({"expression": format!("{doc}.getElementById('{what}').click()"), "userGesture": true})).await.unwrap();
        let until = Budget::new(ms(1500));
        loop {
            tokio::select! {
                e = events.next() => if let Some(Delivery::Event(e)) = e { println!("{:4} browser {} {}", at.elapsed().as_millis(), e.method, e.params.get()) },
                e = own.next() => if let Some(Delivery::Event(e)) = e { println!("{:4} page    {} {}", at.elapsed().as_millis(), e.method, e.params.get()) },
                _ = until.spent() => break,
            }
        }
        for entry in std::fs::read_dir(folder.path()).unwrap() { let e = entry.unwrap(); println!("  file {:?} {}", e.file_name(), e.metadata().unwrap().len()) }
    }
    let _: Value = json!(null);
    bare.stop().await;
}
