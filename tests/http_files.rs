//! Files into pages and out of them, judged by what the page got and what is on the disk.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::eventually;
use support::http::Answer;
use support::served::{Served, serve, serve_with};
use tabvisor_cdp::task;

struct Stage {
    served: Served,
    tab: String,
    refs: Value,
}

impl Stage {
    async fn start(path: &str) -> Self {
        Self::on(serve().await, path).await
    }

    async fn on(served: Served, path: &str) -> Self {
        let tab = served.open(path).await;
        let page = served.http.get(&format!("/snapshot?targetId={tab}")).await;
        let refs = page["refs"].clone();
        Self { served, tab, refs }
    }

    fn by_name(&self, name: &str) -> String {
        let refs = self.refs.as_object().unwrap();
        let found = refs.iter().find(|(_, it)| it["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {refs:?}")).0.clone()
    }

    async fn post(&self, path: &str, mut body: Value) -> Answer {
        body["targetId"] = self.tab.clone().into();
        self.served.http.send(&format!("POST {path}"), &body.to_string()).await
    }

    async fn upload(&self, body: Value) -> Answer {
        self.post("/hooks/file-chooser", body).await
    }

    async fn click(&self, name: &str) -> Answer {
        self.post("/act", json!({ "kind": "click", "ref": self.by_name(name) })).await
    }

    /// Clicks until a click tells the whole download that it began: on a busy machine one may begin or
    /// end later than the answer.
    async fn click_that_downloads(&self, name: &str) -> Value {
        eventually("a click tells its download", || async {
            let clicked = self.click(name).await;
            let download = clicked["downloads"][0].clone();
            if download["state"] == "completed" {
                return Some(download);
            }
            // So that a wait does not find it instead of another one.
            self.post("/wait/download", json!({})).await;
            None
        })
        .await
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.served.running.state.path().join(name)
    }

    /// Writes a file of the uploads folder.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        std::fs::create_dir_all(self.folder("uploads")).unwrap();
        let path = self.folder("uploads").join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// What the page's inputs got, once it is so many files.
    async fn got(&self, count: usize) -> Value {
        eventually(&format!("the page has {count} files"), || async {
            let log = self.served.http.evaluate(&self.tab, "log").await["result"].clone();
            (log.as_array().is_some_and(|log| log.len() >= count)).then_some(log)
        })
        .await
    }
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)))
}

fn effect(answer: &Answer) -> (u16, &str) {
    (answer.status, answer["effect"].as_str().unwrap_or_else(|| panic!("{answer:?}")))
}

fn reason(answer: &Answer) -> (u16, &str) {
    (answer.status, answer["reason"].as_str().unwrap_or_else(|| panic!("{answer:?}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_reach_an_input_by_name_by_click_and_by_the_next_chooser() {
    let stage = Stage::start("/upload").await;
    let bytes = b"a,b\n1,2\n";
    let path = stage.file("table.csv", bytes);
    stage.file("other.bin", b"12345");
    // The input itself, with a path in the folder and with a whole one.
    let given = stage.upload(json!({ "paths": ["table.csv"], "inputRef": stage.by_name("One") })).await;
    assert_eq!(effect(&given), (200, "confirmed"), "{given:?}");
    assert_eq!(given["observed"]["files"], json!([{ "name": "table.csv", "size": 8 }]));
    assert_eq!(stage.got(1).await, json!([["one", "table.csv", 8, sum(bytes), "text/csv"]]));
    let given = stage.upload(json!({ "paths": [path], "element": "#many" })).await;
    assert_eq!(effect(&given), (200, "confirmed"), "{given:?}");
    assert_eq!(stage.got(2).await[1][0], "many");
    // The chooser that a click opens: of an input elsewhere, and of one that is in no document.
    let both = json!({ "paths": ["table.csv", "other.bin"], "ref": stage.by_name("Chooses") });
    let given = stage.upload(both).await;
    assert_eq!(effect(&given), (200, "confirmed"), "{given:?}");
    assert_eq!(given["observed"]["files"][1], json!({ "name": "other.bin", "size": 5 }));
    let made = stage.upload(json!({ "paths": ["other.bin"], "ref": stage.by_name("Makes") })).await;
    assert_eq!(effect(&made), (200, "confirmed"), "{made:?}");
    assert_eq!(
        stage.got(5).await[4],
        json!(["made", "other.bin", 5, sum(b"12345"), "application/octet-stream"])
    );
    // The next chooser, whatever opens it; once.
    let armed = stage.upload(json!({ "paths": ["other.bin"] })).await;
    assert_eq!((armed.status, &armed["armed"]), (200, &json!(true)), "{armed:?}");
    assert_eq!(stage.click("Chooses").await.status, 200);
    assert_eq!(stage.got(6).await[5][0], "many");
    // A kind that the input does not ask for is told.
    let unfit = stage.upload(json!({ "paths": ["other.bin"], "element": "#image" })).await;
    let warnings = &unfit["observed"]["warnings"];
    assert!(warnings[0].as_str().unwrap().contains("accept"), "{unfit:?}");
    let fit = stage.upload(json!({ "paths": ["table.csv"], "element": "#image" })).await;
    assert!(fit["observed"].get("warnings").is_none(), "{fit:?}");
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_be_given_is_refused_before_the_page_sees_anything() {
    let stage = Stage::start("/upload").await;
    stage.file("a.txt", b"a");
    stage.file("b.txt", b"b");
    std::fs::write(stage.folder("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(stage.folder("secret.txt"), stage.folder("uploads").join("link")).unwrap();
    let secret = stage.folder("secret.txt").display().to_string();
    let one = stage.by_name("One");
    for (paths, wanted) in [
        (json!(["missing.txt"]), "file_not_found"),
        (json!(["a.txt", "missing.txt"]), "file_not_found"),
        (json!(["../secret.txt"]), "file_not_allowed"),
        (json!([secret]), "file_not_allowed"),
        (json!(["/etc/passwd"]), "file_not_allowed"),
        (json!(["link"]), "file_not_allowed"),
        (json!(["."]), "file_not_allowed"),
        (json!([]), "invalid_argument"),
        (json!(["a.txt", "b.txt"]), "invalid_argument"),
    ] {
        let refused = stage.upload(json!({ "paths": paths, "inputRef": one })).await;
        assert_eq!(reason(&refused), (400, wanted), "{paths} {refused:?}");
    }
    let none =
        stage.upload(json!({ "paths": ["a.txt"], "ref": stage.by_name("Nothing"), "timeoutMs": 1500 })).await;
    assert_eq!(reason(&none), (500, "no_chooser"), "{none:?}");
    let wrong = stage.upload(json!({ "paths": ["a.txt"], "inputRef": stage.by_name("Chooses") })).await;
    assert_eq!(reason(&wrong), (500, "not_editable"), "{wrong:?}");
    assert_eq!(stage.got(0).await, json!([]));
    // Afterwards nothing is caught any more.
    assert_eq!(stage.click("Chooses").await.status, 200);
    assert_eq!(stage.got(0).await, json!([]));
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_files_go_by_their_path_and_are_done_or_failed_but_never_both() {
    let stage = Stage::start("/upload").await;
    for megabytes in [45_u64, 120] {
        let name = format!("{megabytes}.bin");
        let path = stage.file(&name, b"");
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(megabytes << 20).unwrap();
        // The page must not read all of it.
        stage.served.http.evaluate(&stage.tab, "document.getElementById('one').replaceWith(Object.assign(document.createElement('input'), { type: 'file', id: 'one' }))").await;
        let given = stage.upload(json!({ "paths": [name], "element": "#one" })).await;
        assert_eq!(effect(&given), (200, "confirmed"), "{given:?}");
        let size =
            stage.served.http.evaluate(&stage.tab, "document.getElementById('one').files[0].size").await;
        assert_eq!(size["result"], megabytes << 20);
    }
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_the_browsers_machine_are_taken_by_their_names_and_nobody_says_they_were_compared() {
    let stage = Stage::start("/upload").await;
    let path = stage.folder("there.txt");
    std::fs::write(&path, "there").unwrap();
    let given = stage.upload(json!({ "remotePath": path, "element": "#one" })).await;
    assert_eq!(effect(&given), (200, "unverifiable"), "{given:?}");
    assert_eq!(given["observed"]["files"], json!([{ "name": "there.txt", "size": 5 }]));
    stage.served.stop().await;
}

#[track_caller]
fn text(path: &Value) -> String {
    std::fs::read_to_string(path.as_str().unwrap_or_else(|| panic!("no path: {path}"))).unwrap()
}

const BODY: &str = "what was asked for\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_that_downloads_tells_the_file_and_a_wait_takes_it_where_it_is_wanted() {
    let stage = Stage::start("/downloads").await;
    let folder = stage.folder("downloads").canonicalize().unwrap();
    let download = stage.click_that_downloads("Plain").await;
    assert_eq!(
        (&download["suggestedFilename"], &download["state"]),
        (&json!("report.txt"), &json!("completed"))
    );
    assert_eq!(text(&download["path"]), BODY);
    // One that begins only when its server answers, which is after the click was seen.
    let clicked = stage.click("Late").await;
    assert_eq!(clicked["downloads"][0]["suggestedFilename"], "late.txt", "{clicked:?}");
    // One whose end was told is not waited for again; the next one is, also if it is in time for the wait only.
    let (http, tab) = (stage.served.http.clone(), stage.tab.clone());
    let waiting = task::spawn(async move {
        let body = json!({ "targetId": tab, "path": "deep/mine.txt" });
        http.send("POST /wait/download", &body.to_string()).await
    });
    eventually("it is waited for", || async {
        (stage.served.http.row(&stage.tab).await["queue"]["actions"] == 1).then_some(())
    })
    .await;
    stage.click("Named").await;
    let waited = waiting.join().await.unwrap();
    assert_eq!((waited.status, text(&waited["download"]["path"])), (200, BODY.to_owned()), "{waited:?}");
    assert_eq!(Path::new(waited["download"]["path"].as_str().unwrap()), folder.join("deep/mine.txt"));
    // A name that is taken is numbered.
    let again = stage.click_that_downloads("Plain").await;
    assert!(again["path"].as_str().unwrap().contains("report ("), "{again}");
    assert!(again["path"] != download["path"] && text(&download["path"]) == BODY);
    // A popup that turns into a download, one that a page makes, one with an odd name, one of a frame.
    for (name, file) in [("Blank", "report.txt"), ("Blob", "made.txt"), ("Odd", "_.._odd__name_.txt")] {
        let path = format!("{name}.out");
        let body = json!({ "ref": stage.by_name(name), "path": path });
        let downloaded = stage.post("/download", body).await;
        assert_eq!(downloaded.status, 200, "{name} {downloaded:?}");
        assert_eq!(downloaded["download"]["suggestedFilename"], file, "{downloaded:?}");
        assert_eq!(Path::new(downloaded["download"]["path"].as_str().unwrap()), folder.join(path));
    }
    let framed = Stage { tab: stage.served.open("/downloads-framed").await, ..stage };
    let page = framed.served.http.get(&format!("/snapshot?targetId={}", framed.tab)).await;
    let framed = Stage { refs: page["refs"].clone(), ..framed };
    // Told by the click if it began in time, else by a wait.
    let clicked = framed.click("Plain").await;
    let inside = match &clicked["downloads"][0]["path"] {
        Value::Null => framed.post("/wait/download", json!({})).await["download"]["path"].clone(),
        path => path.clone(),
    };
    assert_eq!(text(&inside), BODY, "{clicked:?}");
    framed.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_navigation_to_a_file_is_a_download_and_the_page_stays() {
    let stage = Stage::start("/ok").await;
    let url = stage.served.pages.url("/dl");
    let arrived = stage.post("/navigate", json!({ "url": url })).await;
    assert_eq!(arrived.status, 200, "{arrived:?}");
    assert_eq!(
        (&arrived["url"], &arrived["download"]["url"]),
        (&json!(stage.served.pages.url("/ok")), &json!(url))
    );
    assert_eq!(text(&arrived["download"]["path"]), BODY);
    assert_eq!(
        (&arrived["download"]["state"], &arrived["download"]["bytes"]),
        (&json!("completed"), &json!(19))
    );
    // One that does not end goes on, and that is told at the budget.
    let slow = json!({ "url": stage.served.pages.url("/dl-slow"), "timeoutMs": 2000 });
    let slow = stage.post("/navigate", slow).await;
    assert_eq!((slow.status, &slow["download"]["state"]), (200, &json!("in_progress")), "{slow:?}");
    assert_eq!(slow["download"]["totalBytes"], 1_000_000);
    // The document that is shown.
    let here = stage.served.pages.url("/ok");
    let saved = json!({ "currentDocument": true, "expectedUrl": here, "path": "page.html" });
    let saved = stage.post("/download", saved).await;
    assert_eq!(saved.status, 200, "{saved:?}");
    assert!(text(&saved["download"]["path"]).contains("<title>ok</title>"));
    let other = json!({ "currentDocument": true, "expectedUrl": "http://elsewhere/", "path": "page.html" });
    let other = stage.post("/download", other).await;
    assert_eq!(
        (&other["reason"], &other["details"]["url"]),
        (&json!("document_changed"), &json!(here)),
        "{other:?}"
    );
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_download_without_end_is_cancelled_with_the_call_that_began_it_and_leaves_nothing() {
    let stage = Stage::start("/downloads").await;
    for path in ["../out.bin", "/etc/out.bin", ""] {
        let refused = stage.post("/download", json!({ "ref": stage.by_name("Plain"), "path": path })).await;
        assert_eq!(refused.status, 400, "{refused:?}");
    }
    let refused = stage.post("/wait/download", json!({ "path": "../out.bin" })).await;
    assert_eq!(reason(&refused), (400, "file_not_allowed"));
    assert!(refused.error().starts_with("Invalid path: must stay within downloads directory"));
    // Nothing begins.
    let none = json!({ "ref": stage.by_name("Nothing"), "path": "a", "timeoutMs": 700 });
    let none = stage.post("/download", none).await;
    assert_eq!(reason(&none), (500, "timeout"), "{none:?}");
    assert!(none.error().starts_with("Error: Timeout waiting for download"), "{none:?}");
    let slow = json!({ "ref": stage.by_name("Slow"), "path": "slow.bin", "timeoutMs": 2500 });
    let slow = stage.post("/download", slow).await;
    assert_eq!((reason(&slow), &slow["details"]["cancelled"]), ((500, "timeout"), &json!(true)), "{slow:?}");
    eventually("what had arrived is removed", || async {
        let left = std::fs::read_dir(stage.folder("downloads/.arriving")).unwrap().flatten();
        let left = left.flat_map(|entry| std::fs::read_dir(entry.path()).unwrap()).count();
        (left == 0).then_some(())
    })
    .await;
    assert!(!stage.folder("downloads/slow.bin").exists());
    // A wait only waits: what it gave up can be waited for again.
    stage.click("Slow").await;
    for _ in 0..2 {
        let waited = stage.post("/wait/download", json!({ "timeoutMs": 500 })).await;
        assert_eq!(
            (reason(&waited), &waited["details"]["cancelled"]),
            ((500, "timeout"), &json!(false)),
            "{waited:?}"
        );
    }
    let state = stage.folder("downloads/.arriving");
    stage.served.running.tabvisor.stop().await;
    assert_eq!(std::fs::read_dir(state).unwrap().count(), 0, "nothing is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_becomes_a_pdf_in_a_file() {
    let stage = Stage::start("/form").await;
    let made = stage.post("/pdf", json!({})).await;
    assert_eq!(made.status, 200, "{made:?}");
    let bytes = std::fs::read(made["path"].as_str().unwrap()).unwrap();
    assert!(bytes.starts_with(b"%PDF-") && made["bytes"] == bytes.len(), "{made:?}");
    assert_eq!(made["url"], stage.served.pages.url("/form"));
    // A dialog is named at once, and nothing is sent that would hang.
    stage.served.http.evaluate(&stage.tab, "setTimeout(() => alert('stop'))").await;
    eventually("the dialog is open", || async {
        (stage.served.http.row(&stage.tab).await["state"] == "dialog").then_some(())
    })
    .await;
    let blocked = stage.post("/pdf", json!({})).await;
    assert_eq!(reason(&blocked), (409, "dialog_open"), "{blocked:?}");
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_is_not_ours_gets_files_by_their_bytes_or_paths_and_keeps_its_downloads() {
    let host = support::start().await;
    let address = support::raw::address(&host).to_string();
    let served = serve_with(|config| {
        config.browser.cdp_url = Some(address.as_str().into());
        config.files.max_transfer_bytes = 3 << 20;
    })
    .await;
    let stage = Stage::on(served, "/upload").await;
    stage.file("a.txt", b"12345");
    let given = stage.upload(json!({ "paths": ["a.txt"], "element": "#one" })).await;
    assert_eq!(effect(&given), (200, "confirmed"), "{given:?}");
    assert_eq!(stage.got(1).await[0][3], sum(b"12345"));
    let waited = stage.post("/wait/download", json!({ "timeoutMs": 5000 })).await;
    assert_eq!(reason(&waited), (501, "unsupported"), "{waited:?}");
    stage.served.stop().await;
    host.stop().await;
}
