//! The command line on what pages say, hold and believe.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::Value;
use support::Pages;
use support::service::Home;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_tells_what_a_page_says_and_sets_what_it_believes() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let home = home.with("TABVISOR_URL", &service.url);
    let url = pages.url("/ok");
    service.http.open(&url).await;
    let run = async |arguments: &[&str]| {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, 0, "{arguments:?} {ran:?}");
        ran.out
    };
    let script = "console.warn('one', 2); setTimeout(() => { throw new TypeError('three') }); await fetch('/404'); \
                  return new Promise(it => setTimeout(() => it(1), 50))";
    run(&["evaluate", "--fn", script]).await;
    let console = run(&["console", "--level", "warn"]).await;
    assert!(console.contains("Z [warning] one 2\n"), "{console}");
    let errors = run(&["errors", "--clear"]).await;
    assert!(errors.contains("Z TypeError: three\n    at "), "{errors}");
    assert_eq!(run(&["errors"]).await, "");
    let requests = run(&["requests", "--filter", "fetch"]).await;
    assert!(requests.ends_with(&format!(" GET 404 fetch {}\n", pages.url("/404"))), "{requests}");

    assert_eq!(run(&["cookies", "set", "a", "-1", "--for", &url]).await, "done\n");
    assert_eq!(run(&["cookies"]).await, "a=-1 (127.0.0.1/)\n");
    run(&["cookies", "clear"]).await;
    assert_eq!(run(&["cookies"]).await, "");
    run(&["storage", "local", "set", "k", "v"]).await;
    assert_eq!(run(&["storage", "local", "get"]).await, "{\n  \"k\": \"v\"\n}\n");
    run(&["storage", "local", "clear"]).await;
    assert_eq!(run(&["storage", "local", "get", "k"]).await, "{}\n");

    run(&["set", "timezone", "Asia/Tokyo"]).await;
    run(&["set", "geo", "-33.9", "151.2"]).await;
    run(&["set", "device", "Pixel 7", "--target-id", "t1"]).await;
    run(&["set", "offline", "on"]).await;
    let seen = "[Intl.DateTimeFormat().resolvedOptions().timeZone, await new Promise(it => \
                navigator.geolocation.getCurrentPosition(p => it(p.coords.latitude))), screen.width, navigator.onLine]";
    let seen: Value =
        serde_json::from_str(&run(&["evaluate", "--fn", &format!("return {seen}")]).await).unwrap();
    assert_eq!(seen, serde_json::json!(["Asia/Tokyo", -33.9, 412, false]));
    let refused = home.run(&["set", "timezone", "Mars/Phobos"]).await;
    assert!(refused.code == 1 && refused.err.contains("timezoneId"), "{refused:?}");
    let late = home.run(&["responsebody", "/nowhere", "--timeout-ms", "200"]).await;
    assert!(late.code == 4 && late.err.contains("Response not found for url pattern"), "{late:?}");
    // What pages say and hold is in no log of ours.
    let log = service.log();
    assert!(!log.contains("three") && !log.contains("a=-1"), "{log}");
    service.terminate().await;
    home.assert_nothing_left();
}
