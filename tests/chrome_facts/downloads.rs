//! What is told of downloads and of files.

use serde_json::{Value, json};
use tabvisor_cdp::link::{Delivery, Events};
use tempfile::TempDir;

use crate::support::Pages;
use crate::support::raw::{self, Bare, Raw};

const TOLD: &[&str] = &["Target.targetCreated", "Browser.downloadWillBegin", "Browser.downloadProgress"];

struct Stage {
    pages: Pages,
    bare: Bare,
    folder: TempDir,
    page: Raw,
    events: Events,
}

impl Stage {
    async fn start(path: &str) -> Self {
        let (pages, bare, folder) = (Pages::start().await, Bare::start().await, TempDir::new().unwrap());
        let root = bare.browser.root();
        let asked =
            json!({ "behavior": "allowAndName", "downloadPath": folder.path(), "eventsEnabled": true });
        raw::call(&root, "Browser.setDownloadBehavior", asked).await.unwrap();
        let page = bare.page(&pages.url(path)).await;
        let events = root.subscribe(TOLD, 1024);
        raw::call(&root, "Target.setDiscoverTargets", json!({ "discover": true })).await.unwrap();
        Self { pages, bare, folder, page, events }
    }

    async fn click(&self, id: &str) {
        let expression = format!("document.getElementById('{id}').click()");
        let asked = json!({ "expression": expression, "userGesture": true });
        self.page.call("Runtime.evaluate", asked).await.unwrap();
    }

    async fn next(&mut self, method: &str) -> Value {
        loop {
            let event = raw::next(&mut self.events).await;
            if &*event.method == method {
                return serde_json::from_str(event.params.get()).unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_download_arrives_under_its_guid_and_is_whole_when_it_is_called_completed() {
    let mut stage = Stage::start("/downloads").await;
    stage.click("odd").await;
    let begun = stage.next("Browser.downloadWillBegin").await;
    assert_eq!(begun["frameId"], stage.page.target, "the main frame has the id of its target");
    let name = begun["suggestedFilename"].as_str().unwrap();
    assert!(!name.contains('/') && name.ends_with("name_.txt"), "{name}");
    let ended = loop {
        let progress = stage.next("Browser.downloadProgress").await;
        assert_eq!(progress["guid"], begun["guid"]);
        if progress["state"] != "inProgress" {
            break progress;
        }
    };
    assert_eq!(ended["state"], "completed");
    let path = stage.folder.path().join(begun["guid"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(path).unwrap(), "odd\n");
    stage.bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_popup_that_turns_into_a_download_is_announced_before_it_with_its_opener() {
    let mut stage = Stage::start("/downloads").await;
    while let Some(Delivery::Event(_)) = stage.events.try_next() {}
    stage.click("blank").await;
    let popup = loop {
        let popup = stage.next("Target.targetCreated").await["targetInfo"].take();
        if popup["openerId"] == stage.page.target {
            break popup;
        }
    };
    let begun = stage.next("Browser.downloadWillBegin").await;
    assert_eq!(begun["frameId"], popup["targetId"], "it is the popup's, which is gone at once");
    stage.bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_download_leaves_no_file() {
    let mut stage = Stage::start("/downloads").await;
    stage.click("slow").await;
    let begun = stage.next("Browser.downloadWillBegin").await;
    let guid = begun["guid"].clone();
    let asked = json!({ "guid": guid });
    raw::call(&stage.bare.browser.root(), "Browser.cancelDownload", asked).await.unwrap();
    while stage.next("Browser.downloadProgress").await["state"] != "canceled" {}
    crate::support::eventually("its file is gone", || async {
        (std::fs::read_dir(stage.folder.path()).unwrap().count() == 0).then_some(())
    })
    .await;
    stage.bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_is_given_an_empty_file_for_a_path_that_is_none_and_told_of_the_same_files_once() {
    let stage = Stage::start("/upload").await;
    let page = &stage.page;
    let input =
        page.call("Runtime.evaluate", json!({ "expression": "document.getElementById('one')" })).await;
    let object = input.unwrap()["result"]["objectId"].clone();
    let give = async |path: &str| {
        let asked = json!({ "files": [path], "objectId": object });
        page.call("DOM.setFileInputFiles", asked).await.unwrap();
    };
    give("/no/such/file.txt").await;
    let seen = "const it = document.getElementById('one').files; JSON.stringify([it.length, it[0].name, it[0].size])";
    assert_eq!(page.evaluate(seen).await, r#"[1,"file.txt",0]"#);
    page.evaluate("window.changes = 0; document.getElementById('one').onchange = () => changes++").await;
    let file = stage.folder.path().join("a.txt");
    std::fs::write(&file, "a").unwrap();
    give(file.to_str().unwrap()).await;
    give(file.to_str().unwrap()).await;
    assert_eq!(page.evaluate("changes").await, 1);
    let _ = &stage.pages;
    stage.bare.stop().await;
}
