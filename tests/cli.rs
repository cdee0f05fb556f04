//! The binary as its users meet it, as far as it goes without a browser.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Runs `tabvisor` with an environment of its own.
fn tabvisor(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabvisor"));
    command.args(arguments).env_clear().env("HOME", home).envs(variables.iter().copied());
    command.output().unwrap()
}

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let home = TempDir::new().unwrap();
    let output = tabvisor(home.path(), arguments, variables);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// An address at which nothing listens.
fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [
        &["evaluate"][..],
        &["evaluate", "--fn", "1", "--timeout-ms", "0"],
        &["evaluate", "--fn", "1", "--timeout-ms", "abc"],
        &["evaluate", "t1", "--fn", "1", "--target-id", "t2"],
        &["--url", "not an address", "tabs"],
        &["--url", "ftp://127.0.0.1", "tabs"],
        &["close"],
        &["close", " "],
        &["console", "--level", "loud"],
        &["set", "credentials", "ada"],
        &["set", "headers", "{"],
        &["set", "offline", "maybe"],
        &["storage", "cloud", "get"],
        &["nonsense"],
        &["serve", "--cdp-url", "9222", "--headed"],
        &["serve", "--listen", "somewhere"],
        &["serve", "--no-auth", "--listen", "0.0.0.0:0"],
        &["--config", "/nowhere.toml", "config"],
    ] {
        let (code, _, said) = run(arguments, &[]);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(!said.is_empty());
    }
    let (code, said, _) = run(&["--help"], &[]);
    assert!(code == 0 && said.contains("Exit codes:"), "{said}");
}

#[test]
fn without_a_service_it_says_so_and_how_to_start_one() {
    let url = nowhere();
    for arguments in [
        &["tabs"][..],
        &["open", "http://example.org/"],
        &["close", "t1"],
        &["evaluate", "--fn", "1", "--timeout-ms", "200"],
    ] {
        let (code, out, said) = run(arguments, &[("TABVISOR_URL", &url)]);
        assert_eq!((code, out.as_str()), (3, ""), "{said}");
        assert!(said.contains(&format!("cannot reach the service at {url}")), "{said}");
        assert!(said.contains("start one with `tabvisor serve`"), "{said}");
    }
    let (code, out, _) = run(&["--json", "--url", &url, "tabs"], &[]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["ok"]), (3, &Value::Bool(false)));
}

#[test]
fn a_proxy_of_the_environment_is_not_asked_for_this_machine() {
    let (code, _, said) = run(
        &["--url", &nowhere(), "tabs"],
        &[("http_proxy", "http://127.0.0.1:9"), ("HTTP_PROXY", "http://127.0.0.1:9")],
    );
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("Connection refused"), "{said}");
}

/// Answers one connection with `answer` and gives the request.
fn answer_once(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut some = [0; 4096];
        while !request.windows(4).any(|part| part == b"\r\n\r\n") {
            let read = socket.read(&mut some).unwrap();
            request.extend_from_slice(&some[..read]);
        }
        socket.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    (url, served)
}

macro_rules! http {
    ($status:literal, $body:literal) => {
        concat!(
            "HTTP/1.1 ",
            $status,
            "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
            $body
        )
    };
}

#[test]
fn the_exit_code_tells_a_spent_budget_from_a_failure() {
    let timeout = http!("500 Internal Server Error", r#"{"error":"evaluate timed out","reason":"timeout"}"#);
    let (url, _) = answer_once(timeout);
    let (code, out, said) = run(&["--url", &url, "evaluate", "--fn", "for(;;);"], &[]);
    assert_eq!((code, out.as_str(), said.as_str()), (4, "", "tabvisor: evaluate timed out\n"));
    let (url, _) =
        answer_once(http!("500 Internal Server Error", r#"{"error":"it threw \u001b[2J","reason":"threw"}"#));
    let (code, _, said) = run(&["--url", &url, "evaluate", "--fn", "throw 1"], &[]);
    assert_eq!((code, said.as_str()), (1, "tabvisor: it threw \u{fffd}[2J\n"));
    let (url, _) = answer_once(http!("401 Unauthorized", r#"{"error":"Unauthorized"}"#));
    let (code, _, said) = run(&["--url", &url, "tabs"], &[]);
    assert!(code == 1 && said.contains("wants a token"), "{said}");
    let (url, _) = answer_once(http!("200 OK", "<html>"));
    let (code, _, said) = run(&["--url", &url, "tabs"], &[]);
    assert!(code == 3 && said.contains("is it tabvisor?"), "{said}");
}

#[test]
fn results_are_printed_as_they_came() {
    let (url, _) =
        answer_once(http!("200 OK", r#"{"ok":true,"result":{"z":1.50,"a":null},"resultType":"object"}"#));
    let (code, out, said) = run(&["--url", &url, "evaluate", "--fn", "1"], &[]);
    assert_eq!((code, out.as_str(), said.as_str()), (0, "{\n  \"z\": 1.50,\n  \"a\": null\n}\n", ""));
    let (url, _) =
        answer_once(http!("200 OK", r#"{"ok":true,"resultType":"bigint","unserializable":"123n"}"#));
    let (code, out, said) = run(&["--url", &url, "evaluate", "--fn", "123n"], &[]);
    assert_eq!((code, out.as_str(), said.as_str()), (0, "null\n", "the result is the bigint 123n\n"));
}

#[test]
fn a_token_is_found_and_sent() {
    let tabs = http!("200 OK", r#"{"running":true,"tabs":[]}"#);
    let (url, served) = answer_once(tabs);
    run(&["--url", &url, "tabs"], &[("TABVISOR_TOKEN", "from-environment")]);
    assert!(served.join().unwrap().contains("authorization: Bearer from-environment"));

    let home = TempDir::new().unwrap();
    let state = home.path().join(".local/state/tabvisor");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("token"), "from-state\n").unwrap();
    let (url, served) = answer_once(tabs);
    tabvisor(home.path(), &["--url", &url, "tabs"], &[]);
    assert!(served.join().unwrap().contains("authorization: Bearer from-state"));
}

#[test]
fn the_configuration_is_printed_with_its_sources() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("tabvisor.toml");
    std::fs::write(&file, "[limits]\ntabs = 7\n").unwrap();
    let file = file.to_str().unwrap();
    let arguments = [
        "config",
        "--json",
        "--config",
        file,
        "--listen",
        "localhost:0",
        "--cdp-url",
        "http://me:hunter2@h:1/?t=hunter2",
    ];
    let output =
        tabvisor(home.path(), &arguments, &[("TABVISOR_NO_SANDBOX", "1"), ("TABVISOR_TOKEN", "hunter2")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("hunter2"));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let row = |key: &str| {
        let row = rows.iter().find(|row| row["key"] == key).unwrap();
        (row["value"].clone(), row["source"].as_str().unwrap().to_owned())
    };
    assert_eq!(row("limits.tabs"), (7.into(), file.to_owned()));
    assert_eq!(row("browser.no_sandbox"), (true.into(), "TABVISOR_NO_SANDBOX".into()));
    assert_eq!(row("server.listen"), ("127.0.0.1:0".into(), "--listen".into()));
    assert_eq!(row("server.token"), ("(hidden)".into(), "TABVISOR_TOKEN".into()));
    assert_eq!(row("browser.cdp_url"), ("http://h:1/".into(), "--cdp-url".into()));
    assert_eq!(row("limits.dials"), (32.into(), "default".into()));
    let state = home.path().join(".local/state/tabvisor");
    assert_eq!(row("state_dir"), (state.to_str().unwrap().into(), "default".into()));
    let plain = tabvisor(home.path(), &["config", "--config", file], &[]);
    let plain = String::from_utf8(plain.stdout).unwrap();
    let line = plain.lines().find(|line| line.starts_with("limits.tabs ")).unwrap();
    assert!(line.contains(" 7 ") && line.ends_with(file), "{line}");
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("tabvisor.toml");
    std::fs::write(&file, "[limits]\ntab = 7\n").unwrap();
    let output = tabvisor(home.path(), &["config", "--config", file.to_str().unwrap()], &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        said,
        format!("tabvisor: unknown key limits.tab (from {}); did you mean limits.tabs?\n", file.display())
    );
    let (code, _, said) = run(&["config"], &[("TABVISOR_LIMITS__TAB", "7")]);
    assert_eq!(
        (code, said.as_str()),
        (2, "tabvisor: unknown variable TABVISOR_LIMITS__TAB; did you mean TABVISOR_LIMITS__TABS?\n")
    );
}

#[test]
fn a_service_without_its_browser_says_why_and_ends() {
    let home = TempDir::new().unwrap();
    let address = nowhere();
    let ready = home.path().join("ready.json");
    std::fs::write(&ready, "of an earlier run").unwrap();
    let arguments =
        ["serve", "--listen", "127.0.0.1:0", "--cdp-url", &address, "--ready-file", ready.to_str().unwrap()];
    let output = tabvisor(home.path(), &arguments, &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("refused the connection"), "{said}");
    assert!(output.stdout.is_empty() && !ready.exists());
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, _, said) = run(&["serve", "--listen", &address, "--cdp-url", "1"], &[]);
    assert!(code == 1 && said.contains(&format!("cannot listen on {address}")), "{said}");
}
