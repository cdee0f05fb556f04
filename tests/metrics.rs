//! What the service tells Prometheus: what was done, in the words of the table, whatever pages are called.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::json;
use support::service::{Home, Service};
use support::{Pages, processes};
use tabvisor::metrics::{Kind, METRICS, Metric};

/// One line of a scrape.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// The samples of a scrape. A label that breaks its line or its quotes is found here.
fn read(text: &str) -> Vec<Sample> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let sample = |line: &str| {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = match series.split_once('{') {
            None => (series, ""),
            Some((name, rest)) => (name, rest.strip_suffix('}')?),
        };
        let labels = labels.split(',').filter(|it| !it.is_empty()).map(|label| {
            let (name, value) = label.split_once('=')?;
            Some((name.to_owned(), value.strip_prefix('"')?.strip_suffix('"')?.to_owned()))
        });
        Some(Sample { name: name.into(), labels: labels.collect::<Option<_>>()?, value: value.parse().ok()? })
    };
    lines.map(|line| sample(line).unwrap_or_else(|| panic!("no sample: {line:?}"))).collect()
}

async fn scrape(service: &Service) -> (String, Vec<Sample>) {
    let answer = service.http.get("/metrics").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let samples = read(&answer.text);
    (answer.text, samples)
}

fn count(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> u64 {
    let fits =
        |it: &&Sample| it.name == name && labels.iter().all(|(name, value)| it.labels[*name] == *value);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    samples.iter().filter(fits).map(|it| it.value as u64).sum()
}

/// Every series has its row in the table, and says nothing that the row does not.
fn assert_told(text: &str, samples: &[Sample]) {
    for sample in samples {
        if sample.name.starts_with("tabvisor_process_") {
            continue;
        }
        let row = METRICS.iter().find(|row| match row.kind {
            Kind::Histogram => ["_bucket", "_sum", "_count"]
                .iter()
                .any(|end| sample.name.strip_suffix(end) == Some(row.name)),
            _ => sample.name == row.name,
        });
        let Metric { name, kind, help, labels, .. } =
            row.unwrap_or_else(|| panic!("not told of: {sample:?}"));
        let word = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        assert!(text.contains(&format!("# TYPE {name} {word}\n")), "{name}");
        assert!(text.contains(&format!("# HELP {name} {help}\n")), "{name}");
        let mut given = sample.labels.clone();
        given.remove("le");
        for (label, values) in *labels {
            let value = given.remove(*label).unwrap_or_else(|| panic!("no {label}: {sample:?}"));
            assert!(
                values.is_empty() || values.contains(&&*value),
                "{label} is none of {values:?}: {sample:?}"
            );
        }
        assert!(given.is_empty(), "more labels than told: {sample:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::too_many_lines, reason = "one run, whose counts are read at its end")]
async fn what_was_done_is_counted_in_closed_sets_of_words() {
    let (home, pages) = (Home::new(), Pages::start().await);
    let mut service = home.serve(&[]).await;
    let http = &service.http;
    let hostile = "/form?a=%22%7D%20666%0Atabvisor_x%7By%3D%22z&b=<script>\"',{}";
    let tab = http.open(&pages.url(hostile)).await;
    http.loaded(&tab).await;
    let titled = "document.title = '<b>\"}\\n tabvisor_forged_total{a=\"b\"} 1\\\\'; return 7";
    assert_eq!(http.evaluate(&tab, titled).await["result"], 7);

    assert_eq!(http.evaluate(&tab, "throw new Error('outcome=\"forged\"')").await.status, 500);
    let page = http.get(&format!("/snapshot?targetId={tab}&interactive=true")).await;
    let text = page["snapshot"].as_str().unwrap();
    let (_, after) = text.split_once("textbox").unwrap().1.split_once("[ref=").unwrap();
    let field = after.split(']').next().unwrap();
    let on = |more: serde_json::Value| {
        let mut body = json!({ "kind": "evaluate", "targetId": tab, "ref": field });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        http.act(body)
    };
    for _ in 0..2 {
        assert_eq!(on(json!({ "fn": "el.tagName", "engine": "page" })).await.status, 200);
    }
    // A script on an element has no timeout of its own: it is ended by a termination.
    // On a busy machine its end is heard of later than the answer may wait.
    let mut ended = 0;
    for engine in ["cdp", "page"] {
        let looped = on(json!({ "fn": "for (;;) {}", "engine": engine, "timeoutMs": 2500 })).await;
        assert_eq!((&looped["reason"], &looped["details"]["phase"]), (&json!("timeout"), &json!("running")));
        if looped["details"]["terminated"] == true {
            ended += 1;
        } else {
            http.send(&format!("POST /tabs/{tab}/terminate"), "{}").await;
        }
        support::eventually("the page is free", || async {
            (http.get(&format!("/snapshot?targetId={tab}")).await.status == 200).then_some(())
        })
        .await;
    }
    assert_eq!(http.act(json!({ "kind": "press", "targetId": tab, "key": "Tab" })).await.status, 200);

    let asks = http.evaluate(&tab, "confirm('resolution=\"forged\"')").await;
    assert_eq!(asks["blockedByDialog"], true, "{asks:?}");
    let accepted = json!({ "accept": true, "targetId": tab }).to_string();
    assert_eq!(http.send("POST /hooks/dialog", &accepted).await.status, 200);

    let restarted = http.send(&format!("POST /tabs/{tab}/restart"), r#"{"rung":"renderer"}"#).await;
    assert_eq!((restarted.status, &restarted["rung"]), (200, &json!("renderer")), "{restarted:?}");

    let mut stranger = http.clone();
    stranger.token = Some("guessed".into());
    assert_eq!(stranger.get("/tabs").await.status, 401);
    assert_eq!(http.act(json!({ "kind": "evaluate", "targetId": tab, "fn": "" })).await.status, 400);
    let local = json!({ "url": "file:///etc/passwd", "targetId": tab }).to_string();
    assert_eq!(http.send("POST /navigate", &local).await["reason"], "navigation_blocked");
    let leaving = http.evaluating(&tab, "new Promise(() => {})", 60_000);
    http.in_flight(&tab, 1).await;
    drop(leaving);

    let chromium = service.chromium().unwrap();
    for pid in processes::naming(&home.state()) {
        if pid != chromium && support::service::command_line(pid).contains("--type=renderer") {
            let _ = rustix::process::kill_process(support::service::raw(pid), Signal::KILL);
        }
    }
    let (text, samples) = support::eventually("what happens by itself is counted, too", || async {
        let (text, samples) = scrape(&service).await;
        let aborted = ("outcome", "aborted");
        (count(&samples, "tabvisor_tabs", &[("state", "crashed")]) == 1
            && count(&samples, "tabvisor_evaluate_duration_seconds_count", &[aborted]) == 1
            && count(&samples, "tabvisor_chromium_processes", &[]) > 2)
            .then_some((text, samples))
    })
    .await;
    assert_told(&text, &samples);
    assert!(!text.contains("forged") && !text.contains("666"), "{text}");

    let is = |name: &str, labels: &[(&str, &str)], wanted: u64| {
        assert_eq!(count(&samples, name, labels), wanted, "{name} {labels:?}: {text}");
    };
    is("tabvisor_evaluates_total", &[("engine", "page")], 3);
    is("tabvisor_evaluate_timeouts_total", &[("engine", "cdp")], 1);
    is("tabvisor_evaluate_timeouts_total", &[("engine", "page")], 1);
    is("tabvisor_evaluate_fallback_total", &[("reason", "forced")], 3);
    is("tabvisor_evaluate_duration_seconds_count", &[("outcome", "threw")], 1);
    is("tabvisor_evaluate_duration_seconds_count", &[("outcome", "dialog")], 1);
    is("tabvisor_terminate_execution_total", &[("cause", "timeout"), ("result", "terminated")], ended);
    is("tabvisor_terminate_execution_total", &[("cause", "timeout"), ("result", "unanswered")], 2 - ended);
    is("tabvisor_dialogs_total", &[("kind", "confirm"), ("resolution", "accepted")], 1);
    is("tabvisor_tab_restarts_total", &[("cause", "operator"), ("rung", "renderer")], 1);
    is("tabvisor_tab_recovery_seconds_count", &[("rung", "renderer")], 1);
    is("tabvisor_crashes_total", &[("what", "renderer")], 1);
    is("tabvisor_rejected_total", &[("reason", "auth")], 1);
    is("tabvisor_rejected_total", &[("reason", "invalid")], 1);
    is("tabvisor_rejected_total", &[("reason", "policy")], 1);
    is("tabvisor_tabs", &[], 1);
    is("tabvisor_build_info", &[], 1);
    is("tabvisor_action_duration_seconds_count", &[("action", "press"), ("outcome", "ok")], 1);
    for name in [
        "tabvisor_queue_wait_seconds_count",
        "tabvisor_snapshot_nodes_count",
        "tabvisor_snapshot_duration_seconds_count",
        "tabvisor_cdp_links",
        "tabvisor_cdp_link_dials_total",
        "tabvisor_cdp_messages_total",
        "tabvisor_cdp_bytes_total",
        "tabvisor_chromium_memory_bytes",
        "tabvisor_process_resident_memory_bytes",
    ] {
        assert!(count(&samples, name, &[]) > 0, "{name}: {text}");
    }
    service.terminate().await;
}
