//! Files on real Chromium: by path, by bytes, through choosers. Judged by what the page reads.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;
#[path = "act/typing.rs"]
mod typing;

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::{Chooser, Files, LocalFile, Place, Target, Turns, upload, upload_by_click};
use tempfile::TempDir;

use support::{Stage, budget, css_place, evaluate, on};
use typing::told;

/// A page whose inputs tell what they were given, bytes included.
const PAGE: &str = "<input type=file id=one><input type=file id=many multiple><button id=b onclick=\"one.click()\">B</button>
    <script>window.log=[];
    const read=async file=>{let sum=0;for(const byte of new Uint8Array(await file.arrayBuffer()))sum=(sum*31+byte)>>>0;return sum};
    addEventListener('change',async event=>{for(const it of event.target.files)
        log.push([event.target.id,it.name,it.size,await read(it),it.type,event.isTrusted])});</script>";

fn css(css: &str) -> Target {
    Target::Css(css.into())
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)))
}

async fn look(path: PathBuf) -> LocalFile {
    LocalFile::look(&path).await.unwrap()
}

#[tokio::test]
async fn bytes_arrive_as_they_are_in_as_many_parts_as_it_takes() {
    let (stage, folder) = (Stage::start().await, TempDir::new().unwrap());
    stage.show(PAGE).await;
    let large: Vec<u8> = (0..1_300_000_u32).map(|it| (it * 7 % 251) as u8).collect();
    let mut files = Vec::new();
    for (name, bytes) in [("zwei ü.png", &large[..]), ("empty.csv", b"")] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        files.push(look(path).await);
    }
    let said = told(upload(&stage.page, &css("#many"), &Files::ByBytes(files), &budget()).await);
    assert_eq!((&said["effect"], &said["route"]), (&json!("confirmed"), &json!("page")), "{said}");
    stage.until("log.length==2").await;
    assert_eq!(
        stage.evaluate("log").await,
        json!([
            ["many", "zwei ü.png", 1_300_000, sum(&large), "image/png", false],
            ["many", "empty.csv", 0, 0, "text/csv", false]
        ])
    );
    // Nothing of it is the page's to see.
    assert_eq!(stage.evaluate("typeof given").await, "undefined");
    stage.stop().await;
}

#[tokio::test]
async fn a_browser_that_sees_other_files_is_found_out_and_given_the_bytes() {
    let (stage, folder) = (Stage::start().await, TempDir::new().unwrap());
    stage.show(PAGE).await;
    std::fs::write(folder.path().join("x"), "12345").unwrap();
    // Only this process sees the file there, as if the browser were on another machine.
    let file = std::fs::File::open(folder.path().join("x")).unwrap();
    let high = rustix::io::fcntl_dupfd_cloexec(&file, 900).unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", high.as_raw_fd()));
    let local = look(path).await;
    let said = told(upload(&stage.page, &css("#one"), &Files::ByPath(vec![local.clone()]), &budget()).await);
    assert_eq!((&said["kind"], &said["sent"]), (&json!("input_incomplete"), &json!(true)), "{said}");
    assert!(said["error"].as_str().unwrap().contains("(0 bytes) instead of"), "{said}");
    let files = Files::PathElseBytes(vec![local]);
    let said = told(upload(&stage.page, &css("#one"), &files, &budget()).await);
    assert_eq!(said["effect"], "confirmed", "{said}");
    assert!(said["observed"]["warnings"][0].as_str().unwrap().contains("their bytes were given"), "{said}");
    stage.until("log.some(it=>it[2]==5)").await;
    assert_eq!(stage.evaluate("log.find(it=>it[2]==5)[3]").await, sum(b"12345"));
    stage.stop().await;
}

#[tokio::test]
async fn a_chooser_of_a_frame_of_another_site_is_filled() {
    let (stage, folder) = (Stage::start().await, TempDir::new().unwrap());
    std::fs::write(folder.path().join("a.txt"), "abc").unwrap();
    stage.serve("/inner", PAGE);
    stage.show("<iframe src=HOST/inner width=600 height=300></iframe>").await;
    let frame = stage.frame().await;
    let button = stage.element_in(&frame, "document.getElementById('b')").await;
    let files = Files::by_path(&[folder.path().join("a.txt")]).await.unwrap();
    let turns = Turns::default();
    let said = told(upload_by_click(&stage.page, &on(button), &files, &turns, &budget()).await);
    assert_eq!(said["effect"], "confirmed", "{said}");
    let seen =
        evaluate(&frame, "new Promise(it=>{const look=()=>log.length?it(log):setTimeout(look,20);look()})")
            .await;
    assert_eq!(seen, json!([["one", "a.txt", 3, sum(b"abc"), "text/plain", true]]));
    stage.stop().await;
}

#[tokio::test]
async fn a_chooser_of_one_file_takes_one_and_the_last_one_waiting_has_the_turn() {
    let (stage, folder) = (Stage::start().await, TempDir::new().unwrap());
    stage.show(PAGE).await;
    let mut paths = Vec::new();
    for name in ["a.txt", "b.txt"] {
        paths.push(folder.path().join(name));
        std::fs::write(paths.last().unwrap(), name).unwrap();
    }
    let both = Files::by_path(&paths).await.unwrap();
    let one = Files::by_path(&paths[..1]).await.unwrap();
    let turns = Turns::default();
    let said = told(upload_by_click(&stage.page, &css_place("#b"), &both, &turns, &budget()).await);
    assert_eq!(said["kind"], "invalid_argument", "{said}");
    assert!(said["error"].as_str().unwrap().contains("takes one file"), "{said}");
    assert_eq!(stage.evaluate("log").await, json!([]));
    // The end of an earlier wait does not end a later one.
    let earlier = Chooser::catch(&stage.page, &turns, &budget()).await.unwrap();
    let mut later = Chooser::catch(&stage.page, &turns, &budget()).await.unwrap();
    drop(earlier);
    stage.click("#b").await.unwrap();
    let said = told(later.fill(&one, &budget()).await);
    assert_eq!(said["effect"], "confirmed", "{said}");
    stage.until("log.length==1").await;
    // None opens.
    let brief = Budget::new(Duration::from_millis(300));
    let said = told(later.fill(&one, &brief).await);
    assert_eq!((&said["kind"], &said["sent"]), (&json!("timeout"), &json!(false)), "{said}");
    let place = Place::On(css("#many"));
    let said = told(upload_by_click(&stage.page, &place, &both, &turns, &budget()).await);
    assert_eq!(said["effect"], "confirmed", "an input may be clicked itself: {said}");
    stage.stop().await;
}
