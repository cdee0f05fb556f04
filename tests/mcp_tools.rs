//! Every MCP tool once as it is meant, and then in every wrong way: what is refused says what to do next, and
//! nothing is a protocol error.
#![cfg(feature = "mcp")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::{Value, json};

use crate::support;
use support::mcp::{Agent, Tools, code};
use support::stage::Stage;
use support::{Pages, eventually};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pointer_does_what_a_user_does() {
    let (running, stage) = (support::start().await, Stage::start().await);
    let agent = Tools::of(&running).connect().await;
    let page = stage.page(
        "<title>pointer</title><button id=a>Target</button><div draggable=true role=button aria-label=Card>card</div>
         <div role=button aria-label=Basket style='padding:20px' ondragover='event.preventDefault()' ondrop='log.push(`dropped`)'>basket</div>
         <div style='height:4000px'></div><button>Deep</button><script>window.log = [];
         for (const type of ['click', 'dblclick', 'contextmenu', 'mouseover']) a.addEventListener(type, e => log.push(type + ' ' + e.isTrusted));
         </script>",
    );
    let tab = agent.open(&page).await;
    let target = agent.find(&tab, "Target").await;
    let pointer = async |arguments: Value| {
        let mut all = arguments;
        all["tab_id"] = json!(tab);
        agent.ok("browser_pointer", all).await
    };
    let log = async || agent.value(&tab, "log.splice(0)").await;
    pointer(json!({ "action": "hover", "ref": target })).await;
    assert_eq!(log().await, json!(["mouseover true"]));
    pointer(json!({ "action": "double_click", "ref": target })).await;
    assert!(log().await.as_array().unwrap().contains(&json!("dblclick true")));
    pointer(json!({ "action": "right_click", "ref": target })).await;
    assert!(log().await.as_array().unwrap().contains(&json!("contextmenu true")));
    let synthetic =
        agent.ok("browser_click", json!({ "tab_id": tab, "ref": target, "input_route": "dom_event" })).await;
    assert_eq!(synthetic["route"], "dom_event", "{synthetic}");
    assert!(log().await.as_array().unwrap().contains(&json!("click false")));

    let scrolled = pointer(json!({ "action": "scroll", "delta_y": 300 })).await;
    let wheel = scrolled["observed"]["scrolled"]["y"].as_f64();
    assert_eq!(wheel, agent.value(&tab, "scrollY").await.as_f64(), "{scrolled}");
    let deep = agent.find(&tab, "Deep").await;
    pointer(json!({ "action": "scroll_into_view", "ref": deep })).await;
    assert!(agent.value(&tab, "scrollY").await.as_f64().unwrap() > 3000.0);
    let (card, basket) = (agent.find(&tab, "Card").await, agent.find(&tab, "Basket").await);
    pointer(json!({ "action": "scroll_into_view", "ref": card })).await;
    let dragged = pointer(json!({ "action": "drag", "ref": card, "destination_ref": basket })).await;
    assert!(dragged["observed"]["dropped_on"].is_string(), "{dragged}");
    assert!(log().await.as_array().unwrap().contains(&json!("dropped")));
    let at = agent.value(&tab, "(() => { scrollTo(0, 0); const box = a.getBoundingClientRect(); return [box.x + 5, box.y + 5] })()").await;
    agent.ok("browser_click", json!({ "tab_id": tab, "x": at[0], "y": at[1] })).await;
    assert!(log().await.as_array().unwrap().contains(&json!("click true")));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_are_filled_and_read_back() {
    let (running, stage) = (support::start().await, Stage::start().await);
    let agent = Tools::of(&running).connect().await;
    let page = stage.page(
        "<title>forms</title><input aria-label=Name><input type=email aria-label=Mail value=old@x><input type=checkbox aria-label=Box>
         <input type=password aria-label=Secret>
         <select aria-label=One><option value=1>first<option value=2>second</select>
         <select aria-label=Undone onchange='setTimeout(() => this.selectedIndex = 0)'><option>a<option>b</select>
         <input aria-label=Upper oninput='this.value = this.value.toUpperCase()'><input aria-label=Off readonly value=kept>
         <script>window.keys = []; onkeydown = e => keys.push(e.key)</script>",
    );
    let tab = agent.open(&page).await;
    let at = async |words: &str| agent.find(&tab, words).await;
    let call = async |tool: &str, more: Value| {
        let mut all = more;
        all["tab_id"] = json!(tab);
        agent.tool(tool, all).await
    };
    let fields = json!([
        { "ref": at("Name").await, "value": "Ada" }, { "ref": at("Mail").await, "value": "a@b.c" },
        { "ref": at("Box").await, "value": true }, { "ref": at("One").await, "value": "second" },
    ]);
    let filled = call("browser_fill_form", json!({ "fields": fields })).await;
    assert_eq!((&filled["status"], &filled["effect"]), (&json!("ok"), &json!("confirmed")), "{filled}");
    assert_eq!(filled["observed"]["fields"].as_array().unwrap().len(), 4, "{filled}");
    let held = "[...document.querySelectorAll('input,select')].slice(0, 5).map(it => it.type === 'checkbox' ? it.checked : it.value)";
    assert_eq!(agent.value(&tab, held).await, json!(["Ada", "a@b.c", true, "", "2"]));

    let chosen = call("browser_select", json!({ "ref": at("One").await, "value": "1" })).await;
    assert_eq!(
        (&chosen["effect"], &chosen["observed"]["labels"]),
        (&json!("confirmed"), &json!(["first"])),
        "{chosen}"
    );
    let undone = call("browser_select", json!({ "ref": at("Undone").await, "label": "b" })).await;
    assert_eq!(
        (&undone["status"], &undone["effect"], &undone["observed"]["reverted"]),
        (&json!("partial"), &json!("suspected_noop"), &json!(true)),
        "{undone}"
    );
    let unchecked = call("browser_check", json!({ "ref": at("Box").await, "checked": false })).await;
    assert_eq!(unchecked["observed"]["checked"], "false", "{unchecked}");

    let upper = call("browser_type", json!({ "ref": at("Upper").await, "text": "abc" })).await;
    assert_eq!(
        (&upper["observed"]["value"], &upper["observed"]["differs_from_requested"]),
        (&json!("ABC"), &json!(true)),
        "{upper}"
    );
    let secret = call("browser_type", json!({ "ref": at("Secret").await, "text": "hunter2" })).await;
    assert_eq!((&secret["status"], &secret["observed"]["value"]), (&json!("ok"), &Value::Null), "{secret}");
    assert!(!secret.to_string().contains("hunter2"));
    let mail = call("browser_type", json!({ "ref": at("Mail").await, "text": "n@x", "replace": true })).await;
    assert_eq!(mail["observed"]["value"], "n@x", "{mail}");
    let value =
        call("browser_type", json!({ "ref": at("Name").await, "text": "set", "mode": "set_value" })).await;
    assert_eq!((&value["observed"]["value"], &value["route"]), (&json!("set"), &json!("page")), "{value}");
    let pressed = call("browser_press_key", json!({ "key": "Control+a" })).await;
    assert_eq!(pressed["observed"]["seen"], true, "{pressed}");
    assert_eq!(agent.value(&tab, "keys.slice(-2)").await, json!(["Control", "a"]));

    for (tool, more, wanted) in [
        ("browser_type", json!({ "ref": at("Off").await, "text": "x" }), "browser_target_not_editable"),
        ("browser_type", json!({ "ref": at("Box").await, "text": "x" }), "browser_target_not_editable"),
        ("browser_type", json!({ "ref": at("One").await, "text": "x" }), "browser_target_not_editable"),
        ("browser_check", json!({ "ref": at("Name").await }), "browser_type_mismatch"),
        ("browser_select", json!({ "ref": at("Name").await, "label": "x" }), "browser_type_mismatch"),
        ("browser_select", json!({ "ref": at("One").await, "label": "third" }), "browser_invalid_argument"),
    ] {
        let refused = call(tool, more.clone()).await;
        assert_eq!(
            (&refused["status"], code(&refused)),
            (&json!("refused"), wanted),
            "{tool} {more}: {refused}"
        );
    }
    let named = call("browser_type", json!({ "ref": at("Box").await, "text": "x" })).await;
    assert_eq!(named["refusal"]["next"], "use browser_check", "{named}");
    assert_eq!(agent.value(&tab, "document.querySelector('[readonly]').value").await, "kept");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_read_in_parts_and_in_pictures() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/form")).await;
    let state = async |more: Value| {
        let mut all = more;
        all["tab_id"] = json!(tab);
        agent.ok("get_browser_state", all).await
    };
    let whole = state(json!({})).await;
    let outline = whole["observed"]["outline"].as_str().unwrap();
    assert!(outline.contains("button \"Hidden\"") && outline.contains("link \"Away\""), "{outline}");
    assert_eq!(
        (&whole["observed"]["title"], &whole["observed"]["state"]),
        (&json!("form"), &json!("ready")),
        "{whole}"
    );
    let found = state(json!({ "query": "away" })).await;
    let text = found["observed"]["outline"].as_str().unwrap();
    assert!(text.contains("Away") && !text.contains("Save"), "{found}");
    assert_eq!(found["observed"]["matches"], 1);
    let link = agent.find(&tab, "Away").await;
    let scoped = state(json!({ "scope_ref": link })).await;
    assert!(scoped["observed"]["outline"].as_str().unwrap().starts_with("- link \"Away\""), "{scoped}");
    let cut = state(json!({ "max_chars": 80 })).await;
    assert_eq!(cut["observed"]["truncated"], true, "{cut}");
    assert!(cut["observed"]["outline"].as_str().unwrap().chars().count() < 150, "{cut}");
    let next = state(json!({ "max_chars": 80, "since": cut["observed"]["next"] })).await;
    assert_ne!(next["observed"]["outline"], cut["observed"]["outline"], "{next}");
    let gone = agent.tool("get_browser_state", json!({ "tab_id": tab, "scope_ref": "e999" })).await;
    assert_eq!(code(&gone), "browser_ref_stale", "{gone}");

    let image = |result: &Value, at: usize| {
        let image = &result["content"][at];
        assert_eq!(image["type"], "image", "{image}");
        image["mimeType"].as_str().unwrap().to_owned()
    };
    let pictured =
        agent.result("get_browser_state", json!({ "tab_id": tab, "include_screenshot": true })).await;
    assert_eq!(image(&pictured, 1), "image/jpeg");
    for (more, mime) in [
        (json!({}), "image/png"),
        (json!({ "type": "jpeg", "full_page": true }), "image/jpeg"),
        (json!({ "ref": link }), "image/png"),
        (json!({ "annotate": true }), "image/png"),
    ] {
        let mut all = more;
        all["tab_id"] = json!(tab);
        let result = agent.result("browser_screenshot", all).await;
        assert_eq!(image(&result, 1), mime);
        assert!(
            result["structuredContent"]["observed"]["width"].as_u64() > Some(0),
            "{}",
            result["structuredContent"]
        );
        assert!(result["structuredContent"].to_string().len() < 3000, "no picture among the words");
    }
    let pdf = agent.ok("browser_pdf", json!({ "tab_id": tab })).await;
    let bytes = std::fs::read(pdf["observed"]["path"].as_str().unwrap()).unwrap();
    assert!(bytes.starts_with(b"%PDF") && pdf["observed"]["bytes"] == bytes.len(), "{pdf}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_keep_their_types_and_what_pages_say_is_told() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/says")).await;
    for (function, member, value, kind) in [
        ("1 + 1", "value", json!(2), "number"),
        ("undefined", "value", Value::Null, "undefined"),
        ("NaN", "unserializable", json!("NaN"), "number"),
        ("123n", "unserializable", json!("123n"), "bigint"),
        ("(() => { const it = {}; it.it = it; return it })()", "why", json!("cycle"), "object"),
        ("document.body", "value", json!("ref: <Node>"), "node"),
        ("async () => [1, 'a', null]", "value", json!([1, "a", null]), "array"),
    ] {
        let told = agent.tool("browser_evaluate", json!({ "tab_id": tab, "function": function })).await;
        assert_eq!(
            (&told["observed"][member], &told["observed"]["type"]),
            (&value, &json!(kind)),
            "{function}: {told}"
        );
    }
    let large = agent
        .tool("browser_evaluate", json!({ "tab_id": tab, "function": "'x'.repeat(5000)", "max_bytes": 1000 }))
        .await;
    assert_eq!(
        (&large["status"], &large["observed"]["why"]),
        (&json!("partial"), &json!("too_large")),
        "{large}"
    );
    let threw = agent
        .tool(
            "browser_evaluate",
            json!({ "tab_id": tab, "function": "() => { throw new TypeError('mine') }" }),
        )
        .await;
    assert_eq!(
        (&threw["status"], code(&threw), &threw["detail"]["message"]),
        (&json!("failed"), "browser_threw", &json!("mine")),
        "{threw}"
    );
    let broken = agent.tool("browser_evaluate", json!({ "tab_id": tab, "function": "const = ;" })).await;
    assert_eq!(
        (&broken["status"], code(&broken)),
        (&json!("refused"), "browser_invalid_argument"),
        "{broken}"
    );

    agent.value(&tab, "(() => { console.warn('careful'); setTimeout(() => { throw new Error('uncaught') }); return 1 })()").await;
    let heard = async || {
        let told = agent.ok("browser_console", json!({ "tab_id": tab })).await;
        told["observed"]["uncaught_errors"].is_array().then_some(told)
    };
    let console = eventually("the error is heard", heard).await;
    let texts: Vec<&str> = console["observed"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["text"].as_str())
        .collect();
    assert!(texts.contains(&"first words") && texts.contains(&"careful"), "{console}");
    let warned = agent.ok("browser_console", json!({ "tab_id": tab, "level": "warn" })).await;
    assert!(!warned["observed"]["messages"].to_string().contains("first words"), "{warned}");
    let since =
        agent.ok("browser_console", json!({ "tab_id": tab, "since": console["observed"]["next"] })).await;
    assert_eq!(since["observed"]["messages"], json!([]), "{since}");
    let requests = agent.ok("browser_requests", json!({ "tab_id": tab, "filter": "/404" })).await;
    let row = &requests["observed"]["requests"][0];
    assert_eq!(
        (&row["method"], &row["status"], &row["type"]),
        (&json!("GET"), &json!(404), &json!("fetch")),
        "{requests}"
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_go_in_and_come_out() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let uploads = running.state.path().join("uploads");
    std::fs::create_dir_all(&uploads).unwrap();
    std::fs::write(uploads.join("a.txt"), "some bytes").unwrap();
    let tab = agent.open(&pages.url("/upload")).await;
    let one = agent.find(&tab, "One").await;
    let given =
        agent.ok("browser_set_input_files", json!({ "tab_id": tab, "ref": one, "files": ["a.txt"] })).await;
    assert_eq!(given["observed"]["files"], json!([{ "name": "a.txt", "size": 10 }]), "{given}");
    let chooses = agent.find(&tab, "Chooses").await;
    let chosen = json!({ "tab_id": tab, "ref": chooses, "files": ["a.txt"], "via_chooser": true });
    agent.ok("browser_set_input_files", chosen).await;
    eventually("both are heard of", || async {
        (agent.value(&tab, "log.map(it => it[0])").await == json!(["one", "many"])).then_some(())
    })
    .await;
    for files in [json!(["/etc/passwd"]), json!(["../token"]), json!(["nothing.txt"])] {
        let refused =
            agent.tool("browser_set_input_files", json!({ "tab_id": tab, "ref": one, "files": files })).await;
        assert_eq!(
            (&refused["status"], code(&refused)),
            (&json!("refused"), "browser_file_not_allowed"),
            "{refused}"
        );
    }
    let tab = agent.open(&pages.url("/downloads")).await;
    let plain = agent.find(&tab, "Plain").await;
    let downloaded =
        agent.ok("browser_download", json!({ "tab_id": tab, "ref": plain, "destination": "got.txt" })).await;
    let file = &downloaded["observed"]["download"];
    let bytes = std::fs::read(file["path"].as_str().unwrap()).unwrap();
    assert_eq!(
        (bytes.as_slice(), &file["bytes"]),
        (b"what was asked for\n".as_slice(), &json!(19)),
        "{downloaded}"
    );
    let outside = agent
        .tool("browser_download", json!({ "tab_id": tab, "ref": plain, "destination": "../got.txt" }))
        .await;
    assert_eq!(code(&outside), "browser_file_not_allowed", "{outside}");
    let nothing = agent.find(&tab, "Nothing").await;
    let none =
        agent.tool("browser_download", json!({ "tab_id": tab, "ref": nothing, "timeout_ms": 1500 })).await;
    assert_eq!((&none["status"], code(&none)), (&json!("failed"), "browser_budget_exceeded"), "{none}");
    running.stop().await;
}

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
