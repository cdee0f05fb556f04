//! Every MCP tool as it is meant, told by the page.
#![cfg(feature = "mcp")]

use serde_json::{Value, json};

use crate::support;
use support::mcp::{Tools, code};
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
