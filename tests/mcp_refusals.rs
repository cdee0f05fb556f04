//! Every MCP tool in every wrong way: what is refused says what to do next, and nothing is a protocol error.
#![cfg(feature = "mcp")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::{Value, json};

use crate::support;
use support::mcp::{Agent, Tools, code};
use support::{Pages, eventually};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_wrong_with_arguments_is_a_refusal_that_names_it() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/acts")).await;
    let listed = agent.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert_eq!(tools.len(), 24);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let refused = async |arguments: Value, field: &str| {
            let told = agent.tool(name, arguments.clone()).await;
            assert_eq!(
                (&told["status"], code(&told)),
                (&json!("refused"), "browser_invalid_argument"),
                "{name} {arguments}: {told}"
            );
            let refusal = &told["refusal"];
            assert!(refusal["message"].as_str().unwrap().contains(field), "{name} {arguments}: {told}");
            assert!(refusal["next"].as_str().is_some_and(|next| !next.is_empty()), "{told}");
        };
        refused(json!({ "timeout_mss": 5 }), "the nearest is \"timeout_ms\"").await;
        for timeout in [json!(0), json!(-5), json!("5"), json!(1.5), json!(200_000)] {
            let mut all = good(&tool["inputSchema"]);
            all["timeout_ms"] = timeout;
            refused(all, "timeout_ms").await;
        }
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        for (property, schema) in properties {
            let mut all = good(&tool["inputSchema"]);
            for bad in wrong_for(schema) {
                all[property] = bad;
                refused(all.clone(), property).await;
            }
        }
        for property in tool["inputSchema"]["required"].as_array().into_iter().flatten() {
            let property = property.as_str().unwrap();
            let mut all = good(&tool["inputSchema"]);
            all.as_object_mut().unwrap().remove(property);
            refused(all, property).await;
        }
    }
    assert_eq!(agent.value(&tab, "log.length").await, 0, "nothing of it reached the page");
    for arguments in [json!([]), json!("ref"), json!(5)] {
        let none = agent.tool("browser_click", arguments).await;
        assert_eq!((&none["status"], code(&none)), (&json!("refused"), "browser_invalid_argument"), "{none}");
    }
    let unknown = agent.request("tools/call", json!({ "name": "browser_clik", "arguments": {} })).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("browser_click"), "{unknown}");
    running.stop().await;
}

/// Arguments that a schema takes, as far as it demands some.
fn good(schema: &Value) -> Value {
    let mut all = json!({});
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let property = &schema["properties"][name];
        all[name] = match property["type"].as_str() {
            Some("string") => property["enum"].get(0).cloned().unwrap_or(json!("about:blank")),
            Some("array") if property["items"]["type"] == "string" => json!(["a"]),
            Some("array") => json!([good(&property["items"])]),
            Some("integer" | "number") => json!(1),
            _ => json!("x"),
        };
    }
    all
}

/// Values that a schema does not take.
fn wrong_for(schema: &Value) -> Vec<Value> {
    match schema["type"].as_str() {
        Some("string") if schema.get("enum").is_some() => vec![json!("no such word"), json!(5)],
        Some("string") => {
            vec![json!(5), json!({}), json!("x".repeat(17_000_000 / 10))].into_iter().take(2).collect()
        }
        Some("boolean") => vec![json!("true"), json!(1)],
        Some("integer") => vec![json!("1"), json!(-1), json!(1.5)],
        Some("number") => vec![json!("1"), json!(true)],
        Some("array") => vec![json!([]), json!("a"), json!({}), json!([[]])],
        Some("object") => vec![json!("a"), json!([])],
        _ => vec![json!({})],
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_huge_is_refused_or_bounded() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/acts")).await;
    for (tool, arguments, field) in [
        ("browser_click", json!({ "ref": "e".repeat(1000) }), "ref"),
        ("browser_navigate", json!({ "url": format!("http://a/{}", "x".repeat(10_000)) }), "url"),
        ("browser_type", json!({ "ref": "e1", "text": "x".repeat(1_000_001) }), "text"),
        ("browser_wait", json!({ "text": "x".repeat(10_001) }), "text"),
        ("browser_set_input_files", json!({ "ref": "e1", "files": vec!["a"; 51] }), "files"),
        ("browser_steps", json!({ "steps": vec![json!({ "tool": "browser_reload" }); 17] }), "steps"),
        ("browser_tabs", json!({ "tab_id": "t".repeat(100) }), "tab_id"),
    ] {
        let refused = agent.tool(tool, arguments).await;
        assert_eq!(
            (&refused["status"], code(&refused)),
            (&json!("refused"), "browser_invalid_argument"),
            "{tool}: {refused}"
        );
        assert_eq!(refused["refusal"]["detail"]["field"], field, "{refused}");
        assert!(refused.to_string().len() < 1000, "it does not repeat what was too long");
    }
    agent.value(&tab, "(() => { document.title = 't'.repeat(5000); for (let i = 0; i < 300; i++) console.log('x'.repeat(5000)); return 1 })()").await;
    let console = agent.ok("browser_console", json!({ "tab_id": tab })).await;
    assert!(console.to_string().len() < 40_000, "{}", console.to_string().len());
    assert_eq!(console["observed"]["messages"].as_array().unwrap().len(), 50);
    let rows = agent.ok("browser_tabs", json!({})).await;
    assert!(rows.to_string().len() < 3000, "{rows}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_refs_closed_tabs_and_crashed_ones_say_what_to_do() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let listed = agent.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let (tab, closed) = (agent.open(&pages.url("/acts")).await, agent.open(&pages.url("/ok")).await);
    agent.ok("browser_tabs", json!({ "action": "close", "tab_id": closed })).await;
    let crashed = agent.open(&pages.url("/ok")).await;
    kill(&running, &agent, &crashed).await;
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        if schema["properties"].get("tab_id").is_none() {
            continue;
        }
        let base = match name {
            "browser_tabs" => json!({ "action": "select" }),
            "browser_click" | "browser_wait" => json!({ "ref": "e1" }),
            "browser_select" => json!({ "ref": "e1", "label": "x" }),
            "browser_steps" => {
                json!({ "steps": [{ "tool": "browser_press_key", "arguments": { "key": "a" } }] })
            }
            "browser_pointer" => json!({ "action": "hover", "ref": "e1" }),
            "browser_press_key" => json!({ "key": "a" }),
            _ => good(schema),
        };
        let on = async |tab: &str, more: Value| {
            let mut all = base.clone();
            all.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            all["tab_id"] = json!(tab);
            all["timeout_ms"] = json!(10_000);
            agent.tool(name, all).await
        };
        let gone = on(&closed, json!({})).await;
        assert_eq!(
            (&gone["status"], code(&gone)),
            (&json!("refused"), "browser_tab_not_found"),
            "{name}: {gone}"
        );
        let never = on("t999", json!({})).await;
        assert_eq!(
            (&never["status"], code(&never)),
            (&json!("refused"), "browser_tab_not_found"),
            "{name}: {never}"
        );
        if schema["properties"].get("ref").is_some() && name != "browser_set_input_files" {
            let unknown = on(&tab, json!({ "ref": "e999" })).await;
            assert_eq!(
                (&unknown["status"], code(&unknown)),
                (&json!("refused"), "browser_ref_stale"),
                "{name}: {unknown}"
            );
            assert!(unknown["refusal"]["next"].as_str().unwrap().contains("get_browser_state"), "{unknown}");
        }
        // What needs a page, and does not bring a new one.
        let page_is_needed = [
            "browser_tabs",
            "browser_navigate",
            "browser_back",
            "browser_forward",
            "browser_reload",
            "browser_dialog",
            "browser_console",
            "browser_requests",
            "browser_set_input_files",
            "browser_download",
            "browser_steps",
        ];
        if !page_is_needed.contains(&name) {
            let dead = on(&crashed, json!({})).await;
            let refused = ["browser_tab_crashed", "browser_ref_stale"];
            assert!(dead["status"] == "refused" && refused.contains(&code(&dead)), "{name}: {dead}");
        }
    }
    let back = agent.ok("browser_tabs", json!({ "action": "restart", "tab_id": crashed })).await;
    assert_eq!(back["observed"]["url"], pages.url("/ok"), "{back}");
    assert_eq!(agent.value(&crashed, "document.title").await, "ok");
    running.stop().await;
}

/// Ends the renderer of a tab, and waits until that is known.
async fn kill(running: &support::Running, agent: &Agent, tab: &str) {
    let target = running.tabvisor.supervisor().tab(tab.parse().unwrap()).unwrap().target_id;
    let raw = support::raw::attach(&support::raw::address(running), &target).await;
    let _crash = raw.send("Page.crash", json!({})).await;
    eventually("it has crashed", || async {
        let rows = agent.ok("browser_tabs", json!({})).await;
        let rows = rows["observed"]["tabs"].as_array().unwrap().clone();
        rows.iter().any(|row| row["tab_id"] == tab && row["state"] == "crashed").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_tab_and_without_scripts_the_way_on_is_named() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::with(&running, |config| config.browser.evaluate_enabled = false).connect().await;
    let none = agent.tool("browser_click", json!({ "ref": "e1" })).await;
    assert_eq!((&none["status"], code(&none)), (&json!("refused"), "browser_tab_required"), "{none}");
    let tab = agent.open(&pages.url("/acts")).await;
    for (tool, arguments) in
        [("browser_evaluate", json!({ "function": "1" })), ("browser_wait", json!({ "function": "1" }))]
    {
        let refused = agent.tool(tool, arguments).await;
        assert_eq!(
            (&refused["status"], code(&refused)),
            (&json!("refused"), "browser_evaluate_disabled"),
            "{refused}"
        );
    }
    let steps = json!([{ "tool": "browser_evaluate", "arguments": { "function": "1" } }]);
    let stepped = agent.tool("browser_steps", json!({ "tab_id": tab, "steps": steps })).await;
    assert_eq!(stepped["observed"]["steps"][0]["refusal"]["code"], "browser_evaluate_disabled", "{stepped}");
    let prepared = agent.ok("browser_prepare", json!({})).await;
    assert_eq!(prepared["observed"]["how"], "launched", "{prepared}");
    let target = prepared["observed"]["target_id"].clone();
    agent.ok("browser_tabs", json!({ "target_id": target })).await;
    let late = agent.tool("browser_prepare", json!({ "headless": false })).await;
    assert_eq!((&late["status"], code(&late)), (&json!("refused"), "browser_action_unavailable"), "{late}");
    let policy = agent.ok("browser_dialog", json!({ "tab_id": tab, "policy": "accept" })).await;
    assert_eq!(policy["observed"]["policy"], "accept", "{policy}");
    let asks = agent.find(&tab, "\"Asks\"").await;
    agent.tool("browser_click", json!({ "tab_id": tab, "ref": asks })).await;
    let closed = async || {
        let told = agent.ok("browser_dialog", json!({ "tab_id": tab })).await;
        told["observed"]["recent"].get(0).cloned()
    };
    let recent = eventually("the policy has answered", closed).await;
    assert_eq!((&recent["kind"], &recent["message"]), (&json!("confirm"), &json!("really?")), "{recent}");
    running.stop().await;
}
