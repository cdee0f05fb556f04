//! The MCP tools that are about whole tabs, about several steps, and about being short.
#![cfg(feature = "mcp")]

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;

use crate::support;
use support::mcp::{Tools, code, told};
use support::{Pages, eventually, secs};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_go_with_their_connection_unless_they_are_kept() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let tools = Tools::of(&running);
    let (agent, other) = (tools.connect().await, tools.connect().await);
    let theirs = other.open(&pages.url("/ok")).await;
    let mine = agent.open(&pages.url("/acts")).await;
    let kept =
        agent.ok("browser_tabs", json!({ "action": "open", "url": pages.url("/ok"), "keep": true })).await;
    let kept = kept["observed"]["tab_id"].as_str().unwrap().to_owned();
    let opens = agent.find(&mine, "\"Opens\"").await;
    let clicked = agent.ok("browser_click", json!({ "tab_id": mine, "ref": opens })).await;
    let popup = clicked["observed"]["opened_tabs"][0].clone();
    assert_eq!((&popup["url"], &popup["opener"]), (&json!(pages.url("/ok")), &json!(mine)), "{clicked}");
    let rows = agent.ok("browser_tabs", json!({})).await;
    let of = |tab: &Value| {
        rows["observed"]["tabs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| &row["tab_id"] == tab)
            .cloned()
            .unwrap()
    };
    assert_eq!(of(&popup["tab_id"])["mine"], true, "{rows}");
    assert_eq!(of(&json!(theirs))["mine"], false, "{rows}");
    // Without a name it is the tab that this session used last.
    agent.ok("browser_tabs", json!({ "action": "select", "tab_id": mine })).await;
    let told = agent.ok("browser_evaluate", json!({ "function": "document.title" })).await;
    assert_eq!(
        (&told["observed"]["value"], &told["observed"]["tab_id"]),
        (&json!("acts"), &json!(mine)),
        "{told}"
    );

    agent.close().await;
    let left = async || {
        let rows = other.ok("browser_tabs", json!({})).await;
        let rows = rows["observed"]["tabs"].as_array().unwrap().clone();
        let names: Vec<_> = rows.iter().map(|row| row["tab_id"].as_str().unwrap().to_owned()).collect();
        (!names.contains(&mine) && !names.contains(&popup["tab_id"].as_str().unwrap().to_owned()))
            .then_some(names)
    };
    let names = eventually("what it opened is closed", left).await;
    assert!(names.contains(&theirs) && names.contains(&kept), "{names:?}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_other_tab_takes_the_place_of_one_that_is_gone() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let first = agent.open(&pages.url("/acts")).await;
    let plain = agent.find(&first, "\"Plain\"").await;
    let second = agent.open(&pages.url("/acts")).await;
    assert_eq!(agent.find(&second, "\"Plain\"").await, plain, "refs are of their tab");
    agent.ok("browser_tabs", json!({ "action": "close", "tab_id": second })).await;
    let refused = agent.tool("browser_click", json!({ "ref": plain })).await;
    assert_eq!(
        (&refused["status"], code(&refused)),
        (&json!("refused"), "browser_tab_required"),
        "{refused}"
    );
    assert!(refused["refusal"]["message"].as_str().unwrap().starts_with(&second), "{refused}");
    let opened = agent.ok("browser_navigate", json!({ "url": pages.url("/ok") })).await;
    assert_eq!(opened["observed"]["opened_tabs"].as_array().unwrap().len(), 1);
    assert_eq!(agent.value(&first, "log.length").await, 0, "nothing was clicked");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_tells_where_it_led() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    // The session has no tab: it gets one.
    let first = agent.ok("browser_navigate", json!({ "url": pages.url("/ok") })).await;
    let tab = first["observed"]["tab_id"].clone();
    assert_eq!(first["observed"]["http_status"], 200, "{first}");
    assert_eq!(first["observed"]["opened_tabs"][0]["tab_id"], tab, "{first}");
    let document = first["observed"]["document"].as_u64().unwrap();
    let missing = agent.ok("browser_navigate", json!({ "url": pages.url("/404") })).await;
    assert_eq!(
        (&missing["observed"]["http_status"], &missing["observed"]["tab_id"]),
        (&json!(404), &tab),
        "{missing}"
    );
    assert!(missing["observed"]["document"].as_u64().unwrap() > document, "{missing}");
    let none = agent.tool("browser_navigate", json!({ "url": pages.url("/204") })).await;
    assert_eq!(
        (&none["status"], &none["observed"]["navigation"]),
        (&json!("partial"), &json!("no_document")),
        "{none}"
    );
    assert_eq!(none["observed"]["url"], pages.url("/404"), "{none}");
    let back = agent.ok("browser_back", json!({})).await;
    assert_eq!(back["observed"]["url"], pages.url("/ok"), "{back}");
    let nothing = agent.tool("browser_back", json!({})).await;
    if nothing["status"] == "ok" {
        assert_eq!(code(&agent.tool("browser_back", json!({})).await), "browser_action_unavailable");
    } else {
        assert_eq!(code(&nothing), "browser_action_unavailable", "{nothing}");
    }
    let result = agent.result("browser_navigate", json!({ "url": "http://127.0.0.1:1/" })).await;
    let failed = told(&result);
    assert_eq!(
        (&failed["status"], code(&failed)),
        (&json!("failed"), "browser_navigation_failed"),
        "{failed}"
    );
    assert!(failed["detail"]["net_error"].as_str().unwrap().starts_with("net::ERR_"), "{failed}");
    for url in ["file:///etc/passwd", "javascript:alert(1)", "http://a:b@127.0.0.1/"] {
        let refused = agent.tool("browser_navigate", json!({ "url": url })).await;
        assert_eq!(
            (&refused["status"], code(&refused)),
            (&json!("refused"), "browser_navigation_blocked"),
            "{refused}"
        );
    }
    let download = agent.tool("browser_navigate", json!({ "url": pages.url("/dl") })).await;
    assert_eq!(
        (&download["status"], &download["observed"]["navigation"]),
        (&json!("partial"), &json!("download")),
        "{download}"
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_steps_are_one_call_and_stop_where_something_comes_between() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/acts")).await;
    let (plain, asks, field) = (
        agent.find(&tab, "\"Plain\"").await,
        agent.find(&tab, "\"Asks\"").await,
        agent.find(&tab, "Field").await,
    );
    let click = |element: &str| json!({ "tool": "browser_click", "arguments": { "ref": element } });
    let steps = json!([
        click(&plain),
        { "tool": "browser_type", "arguments": { "ref": field, "text": "x\n" } },
        { "tool": "browser_evaluate", "arguments": { "function": "log.length" } },
        click(&asks),
        click(&plain),
    ]);
    let told = agent.tool("browser_steps", json!({ "tab_id": tab, "steps": steps })).await;
    assert_eq!(told["status"], "partial", "{told}");
    let stopped = &told["observed"]["stopped"];
    assert_eq!(
        (&stopped["reason"], &stopped["after_step"], &stopped["skipped"]),
        (&json!("dialog"), &json!(4), &json!(1)),
        "{told}"
    );
    assert_eq!(told["observed"]["steps"][2]["observed"]["value"], 2, "{told}");
    let id = told["dialog"]["dialog_id"].clone();
    agent.ok("browser_dialog", json!({ "tab_id": tab, "action": "dismiss", "dialog_id": id })).await;
    assert_eq!(agent.value(&tab, "log").await, json!(["click true", "enter 13 x", "confirm false"]));
    // Everything is checked before the first begins.
    for (steps, why) in [
        (json!([click(&plain), { "tool": "browser_pdf" }]), "steps[1]: \"browser_pdf\" is no step"),
        (
            json!([click(&plain), { "tool": "browser_click", "arguments": { "reff": "e1" } }]),
            "steps[1]: browser_click has no argument \"reff\"",
        ),
    ] {
        let refused = agent.tool("browser_steps", json!({ "tab_id": tab, "steps": steps })).await;
        assert!(refused["refusal"]["message"].as_str().unwrap().starts_with(why), "{refused}");
    }
    assert_eq!(agent.value(&tab, "log.length").await, 3);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_actions_are_short() {
    const CHARS: usize = 4 * 400;
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/acts")).await;
    let at = async |words: &str| agent.find(&tab, words).await;
    for (tool, arguments) in [
        ("browser_click", json!({ "ref": at("\"Plain\"").await })),
        ("browser_click", json!({ "ref": at("\"Covered\"").await })),
        ("browser_click", json!({ "ref": at("\"Opens\"").await, "tab_id": tab })),
        ("browser_type", json!({ "tab_id": tab, "ref": at("Field").await, "text": "some text\n" })),
        ("browser_check", json!({ "tab_id": tab, "ref": at("Box").await })),
        ("browser_select", json!({ "tab_id": tab, "ref": at("Choice").await, "label": "b" })),
        ("browser_press_key", json!({ "tab_id": tab, "key": "Escape" })),
        ("browser_evaluate", json!({ "tab_id": tab, "function": "while (true) {}", "timeout_ms": 300 })),
        ("browser_navigate", json!({ "tab_id": tab, "url": pages.url("/ok") })),
        ("browser_click", json!({ "tab_id": tab, "ref": "e999" })),
    ] {
        let result = agent.result(tool, arguments).await;
        let size = result.to_string().chars().count();
        assert!(size < CHARS, "{tool}: {size} characters: {result}");
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_version_of_the_protocol_is_spoken() {
    let running = support::start().await;
    let tools = Tools::of(&running);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let agent = tools.connect_as(version).await;
        let listed = agent.request("tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 24, "{version}");
        agent.close().await;
    }
    let brief = Budget::new(secs(30));
    brief.run(running.stop()).await.unwrap();
}
