//! The HTTP service reads pages, and runs scripts on what it has read.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::Answer;
use support::served::{Served, assert_result, serve};

async fn snapshot(served: &Served, tab: &str, options: &str) -> Answer {
    served.http.get(&format!("/snapshot?targetId={tab}&{options}")).await
}

async fn on(served: &Served, tab: &str, r#ref: &str, more: Value) -> Answer {
    let mut body = json!({ "kind": "evaluate", "targetId": tab, "ref": r#ref });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    served.http.act(body).await
}

/// The ref of the first line that has all of these words.
fn ref_of(snapshot: &Answer, words: &[&str]) -> String {
    let text = snapshot["snapshot"].as_str().unwrap();
    let line = text.lines().find(|line| words.iter().all(|word| line.contains(word)));
    let line = line.unwrap_or_else(|| panic!("no line with {words:?}: {text}"));
    let (_, rest) = line.split_once("[ref=").unwrap_or_else(|| panic!("no ref: {line}"));
    rest.split(']').next().unwrap().to_owned()
}

/// A snapshot that has these words, once the page has come so far.
async fn showing(served: &Served, tab: &str, options: &str, words: &[&str]) -> Answer {
    support::eventually("the page shows what is asked for", || async {
        let answer = snapshot(served, tab, options).await;
        let text = answer["snapshot"].as_str().unwrap_or_default().to_owned();
        words.iter().all(|word| text.contains(word)).then_some(answer)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_read_in_every_format() {
    let served = serve().await;
    let tab = served.open("/form").await;
    let ai = snapshot(&served, &tab, "").await;
    assert_eq!((ai.status, &ai["ok"], &ai["format"]), (200, &json!(true), &json!("ai")), "{ai:?}");
    assert_eq!(ai["url"], served.pages.url("/form"));
    assert!(ai["targetId"].is_string() && ai["stats"]["refs"].as_u64().unwrap() > 3, "{ai:?}");
    let role = snapshot(&served, &tab, "interactive=true").await;
    let name = ref_of(&role, &["textbox", "\"Name\""]);
    let named = &role["refs"][&name];
    assert_eq!((&named["role"], &named["name"]), (&json!("textbox"), &json!("Name")), "{role:?}");
    // The same elements by the same names, whatever the format.
    assert_eq!(ref_of(&ai, &["textbox", "\"Name\""]), name);
    let again = snapshot(&served, &tab, "interactive=true").await;
    assert_eq!((&again["newElements"], again["refs"] == role["refs"]), (&json!(0), true), "{again:?}");
    let list = snapshot(&served, &tab, "format=aria&limit=3").await;
    let nodes = list["nodes"].as_array().unwrap();
    assert_eq!(
        (nodes.len(), &nodes[0]["ref"], &list["truncated"]),
        (3, &json!("ax1"), &json!(true)),
        "{list:?}"
    );
    let part = snapshot(&served, &tab, "selector=%23save").await;
    assert_eq!(part["stats"]["refs"], 1, "{part:?}");
    let none = snapshot(&served, &tab, "selector=%23none").await;
    assert_eq!((none.status, &none["snapshot"]), (200, &json!("(empty)")));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_contradicts_itself_is_refused_by_name() {
    let served = serve().await;
    let tab = served.open("/form").await;
    for (options, field) in [
        ("format=aria&mode=efficient", "format"),
        ("refs=aria&selector=a", "refs"),
        ("selector=%5B%5B", "selector"),
        ("frame=%23none", "frame"),
        ("frame=e999", "frame"),
        ("after=x", "after"),
    ] {
        let answer = snapshot(&served, &tab, options).await;
        assert_eq!(answer["details"]["field"], field, "{options}: {answer:?}");
        assert!([400, 500].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(snapshot(&served, "t99", "").await.status, 404);
    assert_eq!(snapshot(&served, &tab, "timeoutMs=120001").await.status, 400);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_snapshot_goes_on_where_it_was_cut() {
    let served = serve().await;
    let tab = served.open("/form").await;
    let whole = snapshot(&served, &tab, "interactive=true").await;
    let cut = snapshot(&served, &tab, "interactive=true&maxChars=120").await;
    assert_eq!(cut["truncated"], true, "{cut:?}");
    let next = cut["next"].as_str().unwrap_or_else(|| panic!("{cut:?}"));
    let rest = snapshot(&served, &tab, &format!("interactive=true&after={next}")).await;
    let refs = |answer: &Answer| answer["refs"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut both = [refs(&cut), refs(&rest)].concat();
    let mut all = refs(&whole);
    both.sort();
    all.sort();
    assert_eq!(both, all, "{cut:?} {rest:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_runs_on_the_element_of_a_ref() {
    let served = serve().await;
    let tab = served.open("/form").await;
    let page = snapshot(&served, &tab, "interactive=true").await;
    let (name, hidden) = (ref_of(&page, &["textbox"]), ref_of(&page, &["\"Hidden\""]));
    for (function, result) in [
        ("el => el.value", json!("Ada")),
        ("function (el) { return el.tagName }", json!("INPUT")),
        ("async el => { await null; return el.value }", json!("Ada")),
        ("el.value", json!("Ada")),
        ("const v = await el.value; return v + '!'", json!("Ada!")),
        ("el => () => el.value", Value::Null),
    ] {
        let answer = on(&served, &tab, &name, json!({ "fn": function })).await;
        if !result.is_null() {
            assert_result(&answer, result);
        }
        assert_eq!((answer.status, &answer["engine"]), (200, &json!("cdp")), "{answer:?}");
        assert!(answer.body.get("fallbackReason").is_none());
    }
    for spelling in [format!("@{name}"), format!("ref={name}"), format!(" {name} ")] {
        assert_result(&on(&served, &tab, &spelling, json!({ "fn": "el.value" })).await, "Ada");
    }
    assert_result(
        &on(&served, &tab, &hidden, json!({ "fn": "el => el.getRootNode().mode" })).await,
        "closed",
    );
    let list = snapshot(&served, &tab, "format=aria").await;
    let aria = list["nodes"].as_array().unwrap().iter().find(|it| it["role"] == "textbox").unwrap();
    let answer = on(&served, &tab, aria["ref"].as_str().unwrap(), json!({ "fn": "el.value" })).await;
    assert_result(&answer, "Ada");
    let body = json!({ "kind": "evaluate", "targetId": tab, "fn": "el.value",
                       "backendDOMNodeId": aria["backendDOMNodeId"] });
    assert_result(&served.http.act(body).await, "Ada");
    // Its mistakes are its own.
    let thrown = on(&served, &tab, &name, json!({ "fn": "el => el.nothing.here" })).await;
    assert!(thrown.status == 500 && thrown.error().contains("Cannot read properties"), "{thrown:?}");
    let wrong = on(&served, &tab, &name, json!({ "fn": "el => (" })).await;
    assert!(wrong.status == 500 && wrong.error().contains("Invalid evaluate function"), "{wrong:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_every_kind_are_read_and_scripts_run_in_them() {
    let served = serve().await;
    let tab = served.open("/frames").await;
    let both = ["\"near\"", "\"far\"", "[ref=f1e", "[ref=f2e"];
    let page = showing(&served, &tab, "interactive=true", &both).await;
    let port = served.pages.url("/").rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    let mut hosts = Vec::new();
    for frame in ["f1e", "f2e"] {
        let name = ref_of(&page, &["textbox", &format!("[ref={frame}")]);
        assert_result(&on(&served, &tab, &name, json!({ "fn": "el => el.value" })).await, "Ada");
        let host =
            on(&served, &tab, &name, json!({ "fn": "async () => { await null; return location.host }" }))
                .await;
        hosts.push(host["result"].as_str().unwrap().to_owned());
        // A loop in a frame is ended there, and the frame is usable again.
        let looped = on(&served, &tab, &name, json!({ "fn": "for (;;) {}", "timeoutMs": 500 })).await;
        assert_eq!((looped.status, &looped["reason"]), (500, &json!("timeout")), "{looped:?}");
        assert_eq!(looped["details"]["terminated"], true, "{looped:?}");
        let usable = || async {
            (on(&served, &tab, &name, json!({ "fn": "el.value" })).await.status == 200).then_some(())
        };
        support::eventually("the frame is usable", usable).await;
    }
    hosts.sort();
    assert_eq!(hosts, [format!("127.0.0.1:{port}"), format!("localhost:{port}")]);
    // Another document in a frame takes its refs with it, and no others.
    let (outer, near) = (ref_of(&page, &["\"Outer\""]), ref_of(&page, &["textbox", "[ref=f1e"]));
    served.http.evaluate(&tab, "document.querySelector('iframe').src = '/ok'").await;
    support::eventually("the ref of the frame is stale", || async {
        let stale = on(&served, &tab, &near, json!({ "fn": "1" })).await;
        (stale["details"]["why"] == "frame_changed").then_some(())
    })
    .await;
    assert_result(&on(&served, &tab, &outer, json!({ "fn": "el.textContent" })).await, "Outer");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ref_names_its_element_or_says_why_it_names_nothing() {
    let served = serve().await;
    let tab = served.open("/form").await;
    let unknown = on(&served, &tab, "e999", json!({ "fn": "1" })).await;
    assert_eq!((unknown.status, &unknown["reason"]), (500, &json!("stale_ref")), "{unknown:?}");
    assert_eq!(
        unknown.error(),
        "Error: Unknown ref \"e999\". Run a new snapshot and use a ref from that snapshot."
    );
    let page = snapshot(&served, &tab, "interactive=true").await;
    let (name, save) = (ref_of(&page, &["textbox"]), ref_of(&page, &["\"Save\""]));
    // The same document at another address.
    served.http.evaluate(&tab, "history.pushState(0, '', '/elsewhere'); location.hash = 'x'").await;
    assert_result(&on(&served, &tab, &name, json!({ "fn": "el.value" })).await, "Ada");
    // Another of the same looks is not it.
    let replace = "el => { const other = el.cloneNode(true); el.replaceWith(other) }";
    on(&served, &tab, &save, json!({ "fn": replace })).await;
    for engine in ["auto", "cdp", "page"] {
        let gone = on(&served, &tab, &save, json!({ "fn": "1", "engine": engine })).await;
        assert_eq!(
            (gone.status, &gone["details"]["why"]),
            (500, &json!("node_detached")),
            "{engine}: {gone:?}"
        );
        assert!(gone.error().ends_with("Run a new snapshot and use a ref from that snapshot."), "{gone:?}");
    }
    let navigated = served.http.evaluate(&tab, "location.href = '/form'; return 1").await;
    assert_eq!(navigated.status, 200, "{navigated:?}");
    support::eventually("the tab shows another document", || async {
        let stale = on(&served, &tab, &name, json!({ "fn": "1" })).await;
        (stale["details"]["why"] == "document_changed").then_some(())
    })
    .await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_is_found_by_its_looks_only_where_that_is_certain() {
    let served = serve().await;
    let tab = served.open("/form").await;
    let page = snapshot(&served, &tab, "interactive=true").await;
    let (name, save) = (ref_of(&page, &["textbox"]), ref_of(&page, &["\"Save\"", "[nth=1]"]));
    for named in [&name, &save] {
        let found = on(&served, &tab, named, json!({ "fn": "el.tagName", "engine": "page" })).await;
        assert_eq!(
            (found.status, &found["engine"], &found["fallbackReason"]),
            (200, &json!("page"), &json!("requested")),
            "{found:?}"
        );
    }
    let looped =
        on(&served, &tab, &name, json!({ "fn": "for (;;) {}", "engine": "page", "timeoutMs": 1500 })).await;
    assert_eq!(
        (&looped["reason"], &looped["details"]["terminated"]),
        (&json!("timeout"), &json!(true)),
        "{looped:?}"
    );
    // A third of the name: which is which is undefined now.
    served
        .number(&tab, "document.body.append(document.getElementById('save').cloneNode(true)); return 1")
        .await;
    let ambiguous = on(&served, &tab, &save, json!({ "fn": "1", "engine": "page" })).await;
    assert_eq!((ambiguous.status, &ambiguous["reason"]), (500, &json!("ambiguous_ref")), "{ambiguous:?}");
    assert_eq!(ambiguous["details"]["count"], 3);
    assert_result(&on(&served, &tab, &save, json!({ "fn": "el.tagName" })).await, "BUTTON");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_waits_for_no_dialog_and_no_stuck_page() {
    let served = serve().await;
    let tab = served.open("/form").await;
    let page = snapshot(&served, &tab, "").await;
    let name = ref_of(&page, &["textbox"]);
    let asked = served.http.evaluate(&tab, "confirm('sure?')").await;
    assert_eq!(asked["blockedByDialog"], true, "{asked:?}");
    for (options, nothing) in [("", json!("")), ("format=aria", Value::Null)] {
        let blocked = snapshot(&served, &tab, options).await;
        assert_eq!((blocked.status, &blocked["blockedByDialog"]), (200, &json!(true)), "{blocked:?}");
        assert_eq!(blocked["browserState"]["dialogs"]["pending"][0]["message"], "sure?");
        assert_eq!(blocked.body.get("snapshot").cloned().unwrap_or_default(), nothing, "{blocked:?}");
    }
    let blocked = on(&served, &tab, &name, json!({ "fn": "1" })).await;
    assert_eq!((blocked.status, &blocked["blockedByDialog"]), (200, &json!(true)), "{blocked:?}");

    let stuck = served.open("/form").await;
    let native = "const x = new XMLHttpRequest(); x.open('GET', '/never', false); x.send()";
    let held = served.http.evaluate_within(&stuck, native, 500).await;
    assert_eq!(held["reason"], "timeout", "{held:?}");
    let refused = support::eventually("the tab is known to be stuck", || async {
        let refused = snapshot(&served, &stuck, "timeoutMs=5000").await;
        (refused["reason"] == "tab_stuck").then_some(refused)
    })
    .await;
    assert_eq!(
        (refused.status, &refused["details"]["url"]),
        (409, &json!(served.pages.url("/form"))),
        "{refused:?}"
    );
    assert_eq!(refused["details"]["title"], "form");
    served.stop().await;
}
