//! The binary as its users meet it, with its browser: a service in a process of its own, called
//! over the command line and over HTTP, and what is left of it when it ends.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rustix::process::{Signal, kill_process_group};
use serde_json::{Value, json};
use support::service::{Home, Ran, command_line, raw, rounds};
use support::{Pages, processes, secs};
use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::Instant;

fn succeeded(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

fn failed(ran: &Ran, code: i32, text: &str) {
    assert!(ran.code == code && ran.out.is_empty() && ran.err.contains(text), "{text:?}: {ran:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_tells_where_it_is_and_lets_in_whoever_has_its_token() {
    let home = Home::new();
    let mut service = home.serve(&[]).await;
    let said = support::eventually("it has said where it is", || async {
        Some(service.said()).filter(|said| said.contains("the token of other callers"))
    })
    .await;
    assert!(said.starts_with(&format!("listening on {}\n", service.url)), "{said}");
    assert!(said.contains(&format!("tabvisor --url {} open", service.url)), "{said}");

    let token_file = home.state().join("token");
    assert_eq!(service.ready["url"], service.url);
    assert_eq!(service.ready["tokenFile"], token_file.to_str().unwrap());
    assert_eq!(service.ready["chromium"]["pid"], service.chromium().unwrap());
    assert!(service.ready["chromium"]["version"].as_str().unwrap().contains("Chrome/"), "{}", service.ready);
    assert_eq!(token_file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    assert_eq!(service.http.get("/tabs").await.status, 200);
    let health = service.http.get("/healthz").await;
    assert_eq!((&health["ok"], &health["browser"]["ready"]), (&json!(true), &json!(true)));
    let metrics = service.http.get("/metrics").await;
    assert!(metrics.status == 200 && metrics.text.contains("tabvisor_build_info{"), "{metrics:?}");
    let mut stranger = service.http.clone();
    stranger.token = None;
    assert_eq!(stranger.get("/tabs").await.status, 401);
    stranger.token = Some("guessed".into());
    assert_eq!(stranger.get("/tabs").await.status, 401);
    let ran = home.run(&["--url", &service.url, "--token", "guessed", "tabs"]).await;
    failed(&ran, 1, "does not take this token");

    service.terminate().await;
    assert!(!service.ready_file.exists(), "it would tell of a service that is gone");
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_opens_as_many_files_as_it_is_allowed() {
    let limits = |pid: u32| {
        let all = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let line = all.lines().find(|line| line.starts_with("Max open files")).unwrap().to_owned();
        let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
        (numbers.next().unwrap(), numbers.next().unwrap())
    };
    let ours = std::process::id();
    let before = processes::limit_open_files(ours, Some(1000));
    let home = Home::new();
    let mut service = home.serve(&[]).await;
    processes::limit_open_files(ours, before);
    let (soft, hard) = limits(service.pid);
    assert!(soft == hard && hard > 1000, "{soft} of {hard}");
    service.terminate().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_quick_start_tells_the_story_of_a_loop_that_costs_only_itself() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let home = home.with("TABVISOR_URL", &service.url);
    let cli = async |arguments: &[&str]| home.run(arguments).await;
    let opened = succeeded(cli(&["open", &pages.url("/ok"), "--label", "main"]).await);
    let [first, tab, id] = &opened.lines().collect::<Vec<_>>()[..] else { panic!("{opened}") };
    assert_eq!((*first, *tab), (&*format!("opened: {}", pages.url("/ok")), "tab: t1 (label main)"));
    assert!(id.starts_with("id: "), "{opened}");
    succeeded(cli(&["open", &pages.url("/busy")]).await);
    service.http.loaded("t1").await;
    service.http.loaded("t2").await;

    let loop_arguments = ["evaluate", "main", "--fn", "while(true){}", "--timeout-ms", "1000"];
    let beside = async {
        service.http.in_flight("t1", 1).await;
        cli(&["evaluate", "t2", "--fn", "document.title"]).await
    };
    let (looped, beside) = tokio::join!(cli(&loop_arguments), beside);
    assert_eq!(succeeded(beside), "\"busy\"\n");
    failed(&looped, 4, "tabvisor: Error: page.evaluate: Error: evaluate timed out after 1000ms (");
    let again = ["evaluate", "main", "--fn", "1 + 1", "--timeout-ms", "5000"];
    support::eventually("the tab answers", || async {
        let ran = cli(&again).await;
        (ran.code == 0).then(|| assert_eq!(ran.out, "2\n"))
    })
    .await;

    let listed = succeeded(cli(&["tabs"]).await);
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["TAB", "LABEL", "STATE", "TITLE", "URL"]);
    assert_eq!((&rows[1][..3], rows[1][4]), (&["t2", "-", "ready"][..], &*pages.url("/busy")));
    assert_eq!((&rows[2][..3], rows[2][4]), (&["t1", "main", "ready"][..], &*pages.url("/ok")));
    let listed: Value = serde_json::from_str(&succeeded(cli(&["--json", "tabs"]).await)).unwrap();
    assert_eq!((&listed["running"], &listed["tabs"][1]["tabId"]), (&json!(true), &json!("t1")));

    assert_eq!(succeeded(cli(&["close", "main"]).await), "closed main\n");
    failed(&cli(&["evaluate", "t1", "--fn", "1"]).await, 1, "tab not found: browser tab \"t1\" not found.");
    service.terminate().await;
    failed(&cli(&["tabs"]).await, 3, "cannot reach the service");
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_prints_what_came_and_its_exit_code_tells_the_rest() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let home = home.with("TABVISOR_URL", &service.url);
    let evaluate = async |function: &str| home.run(&["evaluate", "--fn", function]).await;
    service.http.open(&pages.url("/ok")).await;
    for (function, out, err) in [
        ("document.title", "\"ok\"\n", ""),
        ("({ a: [1, 2], b: {} })", "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}\n", ""),
        ("-1", "-1\n", ""),
        ("null", "null\n", ""),
        ("undefined", "null\n", "the result is of type undefined\n"),
        ("NaN", "null\n", "the result is the number NaN\n"),
        ("123n", "null\n", "the result is the bigint 123n\n"),
        ("const a = {}; a.a = a; return a", "null\n", "the result (object) has no JSON form: cycle\n"),
        (
            "'x'.repeat(11000000)",
            "null\n",
            "the result (string) is too large: 11000000 bytes of JSON, the limit is 10485760 (limits.max_result_bytes)\n",
        ),
    ] {
        let ran = evaluate(function).await;
        assert_eq!((ran.code, &*ran.out, &*ran.err), (0, out, err), "{function}");
    }
    failed(&evaluate("null.x").await, 1, "Invalid evaluate function: Cannot read properties of null");
    failed(&evaluate("return (").await, 1, "Invalid evaluate function: Unexpected token");
    let json: Value =
        serde_json::from_str(&succeeded(home.run(&["--json", "evaluate", "--fn", "7"]).await)).unwrap();
    assert_eq!((&json["result"], &json["resultType"]), (&json!(7), &json!("number")));
    let ran = home.run(&["--json", "evaluate", "--fn", "while(1);", "--timeout-ms", "300"]).await;
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &json["ok"], &json["reason"]), (4, &json!(false), &json!("timeout")));

    // What the command line itself can tell is wrong.
    for ms in ["0", "-1", "NaN", "abc", "1.5", ""] {
        failed(&home.run(&["evaluate", "--fn", "1", "--timeout-ms", ms]).await, 2, "positive integer");
    }
    failed(&home.run(&["evaluate", "t1"]).await, 2, "--fn");
    // What the service tells.
    let over = home.run(&["evaluate", "--fn", "1", "--timeout-ms", "120001"]).await;
    failed(&over, 1, "timeoutMs is 120001 ms, over the maximum of 120000 ms");
    for empty in ["", "  "] {
        failed(&evaluate(empty).await, 1, "evaluate requires fn");
    }
    failed(&home.run(&["evaluate", "nope", "--fn", "1"]).await, 1, "browser tab \"nope\" not found.");
    failed(&home.run(&["close", "nope"]).await, 1, "browser tab \"nope\" not found.");
    failed(&home.run(&["open", "file:///etc/passwd"]).await, 1, "unsupported protocol \"file:\"");
    failed(&home.run(&["open", "http://a:b@localhost/"]).await, 1, "credentials in the URL are not allowed");
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    failed(&home.run(&["open", &format!("http://{nobody}/")]).await, 1, "net::ERR_CONNECTION_REFUSED");
    // None of it has opened or closed a tab, nor sent anything to it.
    assert_eq!(succeeded(evaluate("document.title").await), "\"ok\"\n");
    support::eventually("only the first tab is there", || async {
        (service.http.tabs().await.len() == 1).then_some(())
    })
    .await;

    let ran = evaluate("confirm('sure?')").await;
    assert_eq!((ran.code, &*ran.out), (0, "blocked by dialog d1 (confirm): sure?\n"), "{ran:?}");
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_reads_a_page_and_runs_a_script_on_what_it_read() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let home = home.with("TABVISOR_URL", &service.url);
    let snapshot = async |more: &[&str]| home.run(&[&["snapshot", "t1"], more].concat()).await;
    service.http.open(&pages.url("/form")).await;
    let text = succeeded(snapshot(&["--interactive"]).await);
    let line = text.lines().find(|line| line.contains("textbox \"Name\"")).unwrap();
    let named = line.split_once("[ref=").unwrap().1.split(']').next().unwrap();
    let on = ["evaluate", "t1", "--ref", named, "--fn", "el => el.value"];
    assert_eq!(succeeded(home.run(&on).await), "\"Ada\"\n");
    let stale = home.run(&["evaluate", "t1", "--ref", "e999", "--fn", "1"]).await;
    failed(&stale, 1, "Unknown ref \"e999\". Run a new snapshot");
    // Cut, and gone on with.
    let cut = snapshot(&["--interactive", "--max-chars", "120"]).await;
    let next = cut.err.split("--after ").nth(1).unwrap().split(' ').next().unwrap();
    let rest = succeeded(snapshot(&["--interactive", "--after", next]).await);
    assert!(!cut.out.contains("\"Away\"") && rest.contains("\"Away\""), "{cut:?} {rest}");
    let list = succeeded(snapshot(&["--format", "aria", "--limit", "1"]).await);
    assert_eq!(list, "- RootWebArea \"form\" [ref=ax1]\n");
    let file = home.path().join("page.txt");
    let told = succeeded(snapshot(&["--out", file.to_str().unwrap()]).await);
    assert_eq!(told.trim_end(), file.to_str().unwrap());
    assert!(std::fs::read_to_string(&file).unwrap().contains("textbox"));
    failed(&snapshot(&["--selector", "[["]).await, 1, "selector: \"[[\" is not a valid CSS selector");
    failed(&snapshot(&["--format", "html"]).await, 2, "ai, role, aria");
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_acts_on_a_page_and_tells_what_the_page_saw() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let home = home.with("TABVISOR_URL", &service.url);
    let url = pages.url("/acts");
    service.http.open(&url).await;
    let text = succeeded(home.run(&["snapshot", "--interactive"]).await);
    let named = |name: &str| {
        let line = text.lines().find(|line| line.contains(name)).unwrap();
        line.split_once("[ref=").unwrap().1.split(']').next().unwrap().to_owned()
    };
    let (plain, field, choice, asks) =
        (named("\"Plain\""), named("\"Field\""), named("\"Choice\""), named("\"Asks\""));
    let filled = json!([{ "ref": field, "value": "filled" }]).to_string();
    for (arguments, said) in [
        (vec!["hover", &plain], format!("hovered ref {plain} on {url} (confirmed)\n")),
        (vec!["scrollintoview", &plain], format!("scrolled ref {plain} into view on {url} (confirmed)\n")),
        (vec!["highlight", &plain], format!("highlighted ref {plain} on {url} (unverifiable)\n")),
        (vec!["fill", "--fields", &filled], format!("filled the fields on {url} (confirmed)\n")),
        (vec!["click", &plain], format!("clicked ref {plain} on {url} (confirmed)\n")),
        (vec!["type", &field, "-x", "--submit"], format!("typed into ref {field} on {url} (confirmed)\n")),
        (vec!["highlight", "--clear"], format!("took the marks away on {url} (unverifiable)\n")),
        (vec!["press", "Enter"], format!("pressed Enter on {url} (confirmed)\n")),
        (vec!["select", &choice, "b"], format!("selected b in ref {choice} on {url} (confirmed)\n")),
        (vec!["click", &asks], "blocked by dialog d1 (confirm): really?\n".into()),
        (vec!["dialog", "--accept"], "the dialog is accepted\n".into()),
    ] {
        assert_eq!(succeeded(home.run(&arguments).await), said, "{arguments:?}");
    }
    let log = service.http.evaluate("t1", "window.log").await["result"].clone();
    assert_eq!(log, json!(["click true", "enter 13 -x", "enter 13 -x", "chosen b", "confirm true"]));
    failed(&home.run(&["click", "e999"]).await, 1, "Unknown ref");
    failed(&home.run(&["dialog"]).await, 2, "--accept");
    failed(&home.run(&["press", "Entr"]).await, 1, "Enter");
    let gone = succeeded(home.run(&["navigate", &pages.url("/ok")]).await);
    assert_eq!(gone, format!("navigated on {}\n", pages.url("/ok")));
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_waits_moves_and_does_several_things_at_once() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let home = home.with("TABVISOR_URL", &service.url);
    let (acts, ok) = (pages.url("/acts"), pages.url("/ok"));
    service.http.open(&acts).await;
    let moved = |what: &str, url: &str| format!("{what} on {url}\n");
    let batch = r##"[{"kind":"click","selector":"#plain"},{"kind":"click","ref":"e999"},{"kind":"wait","timeMs":1}]"##;
    for (arguments, said) in [
        (
            vec!["wait", "#plain", "--text", "plain", "--load", "load"],
            format!("waited on {acts} (confirmed)\n"),
        ),
        (vec!["resize", "400", "300"], format!("resized to 400x300 on {acts} (confirmed)\n")),
        (vec!["navigate", &ok], moved("navigated", &ok)),
        (vec!["back"], moved("went back", &acts)),
        (vec!["forward"], moved("went forward", &ok)),
        (vec!["reload", "--tab", "t1"], moved("loaded again", &ok)),
        (vec!["focus", "t1"], "focused t1\n".into()),
        (vec!["tab", "new", "--label", "work"], "opened work\n".into()),
        (vec!["tab", "close", "1"], "closed".into()),
        (vec!["tab", "label", "t1", "first"], "labelled first\n".into()),
        (vec!["tab", "select", "1"], "selected".into()),
        (vec!["navigate", &acts], moved("navigated", &acts)),
    ] {
        let out = succeeded(home.run(&arguments).await);
        assert!(out.starts_with(&said), "{arguments:?}: {out}");
    }
    let shot = succeeded(home.run(&["screenshot", "first", "--type", "jpeg"]).await);
    let shot = Path::new(shot.trim());
    assert!(
        shot.metadata().unwrap().len() > 100 && shot.extension().unwrap().to_str().unwrap().starts_with("jp")
    );
    let done = home.run(&["batch", "--actions", batch]).await;
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.out.starts_with("1 ok\n2 failed: Unknown ref"), "{done:?}");
    assert!(done.out.ends_with("stopped (error); 1 not begun\n"), "{done:?}");
    let file = home.state().join("actions.json");
    std::fs::write(&file, batch).unwrap();
    let done = home.run(&["batch", "--actions-file", file.to_str().unwrap(), "--continue"]).await;
    assert!(done.code == 1 && done.out.contains("3 ok\n"), "{done:?}");
    std::fs::remove_file(&file).unwrap();
    failed(&home.run(&["batch", "--actions", "{"]).await, 2, "--actions is no JSON");
    failed(&home.run(&["batch"]).await, 2, "--actions");
    failed(&home.run(&["wait"]).await, 1, "at least one of");
    failed(&home.run(&["wait", "#none", "--timeout-ms", "300"]).await, 4, "Timeout 300ms exceeded");
    failed(&home.run(&["resize", "0", "1"]).await, 2, "8192");
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_requests_are_refused_quickly_and_the_service_works_on() {
    let home = Home::new();
    let mut service = home.serve(&[]).await;
    let tab = service.http.open("about:blank").await;
    let evaluate = async |more: Value| {
        let mut body = json!({ "kind": "evaluate", "targetId": tab, "fn": "1" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        service.http.act(body).await
    };
    for ms in [json!(0), json!(-1), json!("NaN"), json!("abc"), json!(1.5), json!(120_001)] {
        let answer = evaluate(json!({ "timeoutMs": ms })).await;
        assert_eq!((answer.status, &answer["code"]), (400, &json!("ACT_INVALID_REQUEST")), "{answer:?}");
        assert!(answer.error().starts_with("timeoutMs "), "{answer:?}");
    }
    for function in [json!(""), json!(null)] {
        assert_eq!(evaluate(json!({ "fn": function })).await.error(), "evaluate requires fn");
    }
    for target in ["nope", "t99", "999999999999"] {
        assert_eq!(evaluate(json!({ "targetId": target })).await.status, 404, "{target}");
    }
    // A body over the limit is refused before it is read, also when there are three at once.
    let huge = format!(r#"{{"kind":"evaluate","fn":"{}"}}"#, "x".repeat(120_000_000));
    let begun = Instant::now();
    let send = || service.http.send("POST /act", &huge);
    let answers = tokio::join!(send(), send(), send());
    assert!(begun.elapsed() < secs(20), "{:?}", begun.elapsed());
    for answer in [answers.0, answers.1, answers.2] {
        assert_eq!((answer.status, &answer["reason"]), (413, &json!("too_large")), "{answer:?}");
    }
    assert_eq!(evaluate(json!({})).await["result"], 1);
    assert_eq!(service.http.close(&tab).await.status, 200);
    let closed = evaluate(json!({})).await;
    assert_eq!((closed.status, &closed["reason"]), (404, &json!("tab_closed")), "{closed:?}");
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_lets_running_work_end_and_refuses_more() {
    let home = Home::new().with("TABVISOR_SERVER__DRAIN_MS", "60000");
    let pages = Pages::start().await;
    let mut service = home.serve(&[]).await;
    let tab = service.http.open(&pages.url("/ok")).await;
    let gate = Gate::start().await;
    let function = format!("fetch({:?}).then(it => it.text())", gate.url);
    let running = service.http.evaluating(&tab, &function, 60_000);
    gate.asked.notified().await;
    service.signal(Signal::TERM);
    support::eventually("it is stopping", || async {
        (service.http.get("/healthz").await["stopping"] == true).then_some(())
    })
    .await;
    for refused in [
        service.http.evaluate(&tab, "1").await,
        service.http.close(&tab).await,
        service.http.try_open(json!({ "url": "about:blank" })).await,
    ] {
        assert_eq!((refused.status, &refused["reason"]), (503, &json!("stopping")), "{refused:?}");
    }
    assert_eq!(service.http.tabs().await.len(), 1, "what is known can still be asked");
    gate.open.notify_one();
    let answer = running.join().await.unwrap();
    assert_eq!((answer.status, &answer["result"]), (200, &json!("done")), "{answer:?}");
    assert_eq!(service.ended().await, Some(0), "{}", service.log());
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_running_work_and_it_is_told_so() {
    let home = Home::new().with("TABVISOR_SERVER__DRAIN_MS", "60000");
    let mut service = home.serve(&[]).await;
    let tab = service.http.open("about:blank").await;
    let running = service.http.evaluating(&tab, "new Promise(() => {})", 60_000);
    service.http.in_flight(&tab, 1).await;
    service.signal(Signal::INT);
    support::eventually("it is stopping", || async {
        (service.http.get("/healthz").await["stopping"] == true).then_some(())
    })
    .await;
    let begun = Instant::now();
    service.signal(Signal::TERM);
    assert_eq!(service.ended().await, Some(0), "{}", service.log());
    assert!(begun.elapsed() < secs(30), "the drain of a minute is skipped");
    let answer = running.join().await.unwrap();
    assert_eq!((answer.status, &answer["reason"]), (503, &json!("stopping")), "{answer:?}");
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_outlives_the_drain_is_ended() {
    let home = Home::new().with("TABVISOR_SERVER__DRAIN_MS", "300");
    let mut service = home.serve(&[]).await;
    let tab = service.http.open("about:blank").await;
    let running = service.http.evaluating(&tab, "while (true) {}", 60_000);
    service.http.in_flight(&tab, 1).await;
    let begun = Instant::now();
    service.terminate().await;
    assert!(begun.elapsed() < secs(30));
    let answer = running.join().await.unwrap();
    assert_eq!((answer.status, &answer["reason"]), (503, &json!("stopping")), "{answer:?}");
    home.assert_nothing_left();
}

/// A server that takes one request and answers it when it is told to.
struct Gate {
    url: String,
    asked: Arc<Notify>,
    open: Arc<Notify>,
    _server: Task<()>,
}

impl Gate {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (asked, open) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (tell, wait) = (Arc::clone(&asked), Arc::clone(&open));
        let server = task::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let _ = socket.read(&mut [0; 4096]).await;
            tell.notify_one();
            wait.notified().await;
            let head = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n";
            socket.write_all(format!("{head}done").as_bytes()).await.unwrap();
        });
        Self { url, asked, open, _server: server }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_service_left_is_gone_once_the_next_is_ready() {
    let home = Home::new();
    let mut service = home.serve(&[]).await;
    for round in 0..rounds("TABVISOR_SOAK_KILLS", 3) {
        service.http.open("about:blank").await;
        let chromium = service.chromium().unwrap();
        // A browser that hangs does not notice that its service is gone.
        if round % 2 == 0 {
            kill_process_group(raw(chromium), Signal::STOP).unwrap();
        }
        service.signal(Signal::KILL);
        assert_eq!(service.ended().await, None);
        service = home.serve(&[]).await;
        let [profile] = &home.profiles()[..] else { panic!("round {round}: {:?}", home.profiles()) };
        let lines = processes::naming(&home.state()).into_iter().map(command_line);
        let strangers: Vec<_> =
            lines.filter(|line| !line.is_empty() && !line.contains(profile.to_str().unwrap())).collect();
        assert_eq!(strangers, Vec::<String>::new(), "round {round}: not of the new browser");
        assert_ne!(service.chromium().unwrap(), chromium);
        assert!(service.http.tabs().await.is_empty());
    }
    let tab = service.http.open("about:blank").await;
    assert_eq!(service.http.evaluate(&tab, "1 + 1").await["result"], 2);
    service.terminate().await;
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_chromium_is_replaced_and_one_that_keeps_dying_ends_the_service() {
    let home = Home::new();
    let mut service = home.serve(&[]).await;
    let tab = service.http.open("about:blank").await;
    let mut last = None;
    for kill in 1..=4 {
        let chromium = support::eventually("a browser works", || async {
            let ready = service.http.get("/healthz").await["browser"]["ready"] == true;
            service.chromium().filter(|pid| ready && Some(*pid) != last)
        })
        .await;
        if kill == 2 {
            // Its tabs are not brought back silently.
            let lost = service.http.evaluate(&tab, "1").await;
            assert_eq!((lost.status, &lost["reason"]), (409, &json!("browser_lost")), "{lost:?}");
            let again = service.http.open("about:blank").await;
            assert_eq!(service.http.evaluate(&again, "1 + 1").await["result"], 2);
        }
        last = Some(chromium);
        processes::signal(chromium, Signal::KILL);
    }
    assert_eq!(service.ended().await, Some(1), "{}", service.log());
    let log = service.log();
    let last_line = log.lines().last().unwrap();
    assert!(last_line.starts_with("tabvisor: the supervision tree failed: "), "{log}");
    // Whichever was noticed first.
    let causes = [
        "failed too often, last: its link closed",
        "failed too often, last: its process ended: killed by SIGKILL",
    ];
    assert!(causes.iter().any(|cause| last_line.contains(cause)), "{log}");
    assert!(!service.ready_file.exists());
    home.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_finds_nothing_wrong_and_leaves_nothing() {
    let home = Home::new().with("TABVISOR_SERVER__LISTEN", "127.0.0.1:0");
    let ran = home.run(&["doctor"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("1 + 1 gave 2 in "), "{ran:?}");
    let ran = home.run(&["--json", "doctor"]).await;
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &report["ok"]), (0, &json!(true)), "{ran:?}");
    let status = |id: &str| {
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["id"] == id).unwrap()["status"].clone()
    };
    for id in ["chromium", "port", "left-overs", "browser", "evaluate"] {
        assert_eq!(status(id), "ok", "{id}: {report}");
    }
    home.assert_nothing_left();
    let ran = home.run(&["doctor", "--chromium", "/nowhere/chromium"]).await;
    assert!(ran.code == 1 && ran.out.contains("/nowhere/chromium"), "{ran:?}");
}

/// A server of another kind: it answers whatever comes with `answer`, or takes it and is silent.
async fn other_server(answer: &'static [u8]) -> (String, Task<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = task::spawn(async move {
        let mut silent = Vec::new();
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            if answer.is_empty() {
                silent.push(socket);
            } else {
                let _ = socket.write_all(answer).await;
            }
        }
    });
    (url, server)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_is_none_is_named_with_its_cause() {
    let home = Home::new().with("TABVISOR_BUDGETS__START_MS", "3000");
    let attach = async |url: &str| home.run(&["serve", "--listen", "127.0.0.1:0", "--cdp-url", url]).await;
    let pages = Pages::start().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (silent, _silent) = other_server(b"").await;
    let (ssh, _ssh) = other_server(b"SSH-2.0-OpenSSH_9.6\r\n").await;
    let pages_url = pages.url("");
    for (url, cause) in [
        (&*format!("http://{closed}"), "refused the connection"),
        (&*closed.port().to_string(), "refused the connection"),
        (&*format!("ws://{closed}/devtools/browser/x"), "connection refused"),
        (&*pages_url, "is not a DevTools endpoint"),
        (&*format!("ws{}/devtools/browser/x", pages_url.trim_start_matches("http")), "404"),
        (&*silent, "no answer after"),
        (&*ssh, "is not a DevTools endpoint"),
        ("http://host.invalid:9222", "no such host"),
    ] {
        let ran = attach(url).await;
        failed(&ran, 1, cause);
        assert!(ran.err.starts_with("tabvisor: "), "{ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    }
    failed(&attach("what is this").await, 2, "browser.cdp_url: not an address of a browser");
    home.assert_nothing_left();
}

/// The port that a Chromium wrote into its profile.
fn devtools_port(profile: &Path) -> String {
    let file = std::fs::read_to_string(profile.join("DevToolsActivePort")).unwrap();
    file.lines().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_attached_leaves_the_browser_as_it_was() {
    let (owner, guest) = (Home::new(), Home::new());
    let mut owns = owner.serve(&[]).await;
    let tab = owns.http.open("about:blank").await;
    let port = devtools_port(&owner.profiles()[0]);
    let mut attached = guest.serve(&["--cdp-url", &port]).await;
    assert_eq!((&attached.ready["chromium"]["pid"], attached.chromium()), (&Value::Null, None));
    let theirs = attached.http.open("about:blank").await;
    assert_eq!(attached.http.evaluate(&theirs, "1 + 1").await["result"], 2);
    attached.terminate().await;
    guest.assert_nothing_left();
    assert_eq!(owns.http.evaluate(&tab, "1 + 1").await["result"], 2);
    owns.terminate().await;
    owner.assert_nothing_left();
}
