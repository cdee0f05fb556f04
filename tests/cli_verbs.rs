//! Every verb that asks a service, tried with one and without one.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::TcpListener;

use serde_json::Value;

use crate::support::Pages;
use crate::support::service::Home;

/// Command lines with their exit codes on the page `/form` of the tab `it`. PAGE is its address; a REF is that of
/// its first element.
const VERBS: &[(&str, u8)] = &[
    ("status", 0),
    ("start", 0),
    ("profiles", 0),
    ("create-profile --name made --color #00ff00", 0),
    ("delete-profile --name made", 0),
    ("delete-profile --name unknown", 1),
    ("supervisor", 0),
    ("top --once", 0),
    ("doctor", 0),
    ("open PAGE --label it", 0),
    ("tabs", 0),
    ("tab", 0),
    ("tab new --label other", 0),
    ("tab label other another", 0),
    ("tab select 1", 0),
    ("tab show it", 0),
    ("tab terminate another", 0),
    ("tab restart another", 0),
    ("tab close another", 0),
    ("focus it", 0),
    ("snapshot it --interactive", 0),
    ("evaluate it --fn 1+1", 0),
    ("evaluate it --fn for(;;); --timeout-ms 200", 4),
    ("evaluate it --fn x.y", 1),
    ("console --tab it", 0),
    ("errors --tab it", 0),
    ("requests --tab it", 0),
    ("responsebody /never --target-id it --timeout-ms 200", 4),
    ("cookies --tab it", 0),
    ("cookies set a b --for PAGE", 0),
    ("cookies clear", 0),
    ("storage local set a b", 0),
    ("storage local get a", 0),
    ("storage session clear", 0),
    ("set offline off", 0),
    ("set headers {}", 0),
    ("set credentials --clear", 0),
    ("set geo --clear", 0),
    ("set media dark", 0),
    ("set timezone Europe/Berlin", 0),
    ("set locale de-DE", 0),
    ("set device Nobody", 1),
    ("click e999", 1),
    ("click-coords 1 1", 0),
    ("type e999 text", 1),
    ("press Escape", 0),
    ("hover e999", 1),
    ("scrollintoview e999", 1),
    ("highlight --clear", 0),
    ("drag e998 e999", 1),
    ("select e999 a", 1),
    ("fill --fields [{\"ref\":\"e999\",\"value\":\"a\"}]", 1),
    ("upload nothing.txt --ref e999", 1),
    ("download e999 file.txt", 1),
    ("waitfordownload --timeout-ms 200", 4),
    ("pdf", 0),
    ("wait --time 1", 0),
    ("batch --actions [{\"kind\":\"press\",\"key\":\"a\"}]", 0),
    ("resize 800 600", 0),
    ("screenshot", 0),
    ("navigate PAGE", 0),
    ("reload", 0),
    ("back", 0),
    ("forward", 0),
    ("dialog --accept", 0),
    ("close it", 0),
    ("reset-profile", 0),
    ("stop", 0),
    ("events --count 1", 0),
];

/// A verb that asks nobody, or is one itself.
const ASK_NOBODY: [&str; 6] = ["serve", "mcp", "config", "completions", "man", "help"];

/// What they print depends on the machine and the moment.
const DEPENDS: [&str; 10] = [
    "doctor",
    "top",
    "supervisor",
    "requests",
    "console",
    "status",
    "events",
    "tab show",
    "evaluate it --fn for",
    "evaluate it --fn x",
];

/// What is printed, without what differs from run to run.
fn settled(text: &str, home: &Home, page: &str) -> String {
    let mut text = text.replace(home.path().to_str().unwrap(), "HOME");
    text = text.replace(page, "PAGE").replace(page.trim_end_matches("/form"), "SITE");
    let mut settled = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, word) = rest.split_at(start);
        settled.push_str(before);
        let end = word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let is_target = word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        settled.push_str(if is_target {
            "TARGET"
        } else if is_number {
            "N"
        } else {
            word
        });
        rest = after;
    }
    settled.push_str(rest);
    // Columns are as wide as what was in them.
    let lines = settled.lines().map(|line| line.split("  ").filter(|it| !it.is_empty()).map(str::trim));
    lines.map(|cells| cells.collect::<Vec<_>>().join("  ") + "\n").collect()
}

fn words(line: &str, page: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace("PAGE", page)).collect()
}

#[tokio::test]
async fn every_verb_is_tried() {
    let help = Home::new().run(&["--help"]).await.out;
    let (_, verbs) = help.split_once("Commands:\n").unwrap();
    let listed: BTreeSet<&str> = verbs
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| !ASK_NOBODY.contains(verb))
        .collect();
    let tried: BTreeSet<&str> = VERBS.iter().map(|(line, _)| line.split(' ').next().unwrap()).collect();
    assert_eq!(listed.difference(&tried).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_service_every_verb_says_how_to_start_one() {
    let home = Home::new();
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for (line, _) in VERBS.iter().filter(|(line, _)| *line != "doctor") {
        let words = words(line, "http://127.0.0.1:1/");
        let plain: Vec<&str> = ["--url", &url].into_iter().chain(words.iter().map(String::as_str)).collect();
        let ran = home.run(&plain).await;
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{line}: {ran:?}");
        assert!(ran.err.contains("start one with `tabvisor serve`"), "{line}: {ran:?}");
        let ran = home.run(&[&["--json"], plain.as_slice()].concat()).await;
        let answer: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {line}: {ran:?}"));
        assert_eq!((ran.code, &answer["ok"]), (3, &Value::Bool(false)), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_service_every_verb_works_in_words_and_in_json() {
    let home = Home::new();
    let service = home.serve(&[]).await;
    let pages = Pages::start().await;
    let page = pages.url("/form");
    let mut told = String::new();
    for as_json in [false, true] {
        for (line, code) in VERBS {
            let words = words(line, &page);
            let mut all = vec!["--url", service.url.as_str()];
            all.extend(as_json.then_some("--json"));
            all.extend(words.iter().map(String::as_str));
            let reading = home.run(&all);
            let ran = if line.starts_with("events") {
                // What happens is made to happen.
                let making = async {
                    crate::support::eventually("somebody reads", || async {
                        let tree = service.http.get("/supervisor").await;
                        (tree["eventStreams"]["taken"] == 1).then_some(())
                    })
                    .await;
                    service.http.send("POST /start?timeoutMs=60000", "").await
                };
                tokio::join!(reading, making).0
            } else {
                reading.await
            };
            assert_eq!(ran.code, i32::from(*code), "{line}: {ran:?}");
            if as_json {
                let answer: Value =
                    serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {line}: {ran:?}"));
                assert!(*code == 0 || answer["ok"] == false, "{line}: {ran:?}");
            } else {
                let said = if *code == 0 { &ran.out } else { &ran.err };
                // These print what there is, which may be nothing.
                let may_be_silent =
                    ["console", "errors", "requests", "cookies --tab", "storage session clear"];
                assert!(!said.is_empty() || may_be_silent.iter().any(|it| line.starts_with(it)), "{line}");
                if !DEPENDS.iter().any(|it| line.starts_with(it)) {
                    let said = settled(&format!("{}{}", ran.out, ran.err), &home, &page);
                    writeln!(told, "$ tabvisor {line}\n{said}").unwrap();
                }
            }
        }
    }
    insta::assert_snapshot!("output", told);
}

#[tokio::test]
async fn completions_and_manual_pages_are_made_without_a_configuration() {
    let home = Home::new().with("TABVISOR_LIMITS__TABS", "nonsense");
    for (shell, sign) in
        [("bash", "complete -F"), ("zsh", "#compdef tabvisor"), ("fish", "complete -c tabvisor")]
    {
        let ran = home.run(&["completions", shell]).await;
        assert!(ran.code == 0 && ran.out.contains(sign), "{shell}: {}", ran.err);
    }
    let ran = home.run(&["man"]).await;
    assert!(ran.code == 0 && ran.out.contains(".TH tabvisor 1"), "{ran:?}");
    let folder = home.path().join("man");
    let ran = home.run(&["man", "--out", folder.to_str().unwrap()]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(folder.join("tabvisor-evaluate.1").exists());
}
