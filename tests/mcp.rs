//! The MCP tools on a real Chromium: what every one of them tells, judged by what the page recorded.
#![cfg(feature = "mcp")]

use serde_json::{Value, json};

use crate::support;
use support::mcp::{Tools, code, told};
use support::stage::Stage;
use support::{Pages, eventually};

/// Everything that happens on it is in `log`.
const FIELDS: &str = "<title>fields</title><form><input aria-label=Line></form><textarea aria-label=Area></textarea>
    <div contenteditable role=textbox aria-label=Rich style='min-height:1em'></div><script>
    window.log = [];
    document.querySelector('form').onsubmit = e => { e.preventDefault(); log.push('submit ' + document.querySelector('input').value) };
    document.onkeydown = e => { if (e.key === 'Enter') log.push('enter ' + e.keyCode + ' ' + e.target.ariaLabel) };
    </script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trailing_newline_is_enter_in_a_line_and_content_elsewhere() {
    let (running, stage) = (support::start().await, Stage::start().await);
    let agent = Tools::of(&running).connect().await;
    let page = stage.page(FIELDS);
    for mode in ["insert_text", "keystrokes"] {
        let tab = agent.open(&page).await;
        let typed = async |label: &str| {
            let element = agent.find(&tab, label).await;
            agent
                .ok("browser_type", json!({ "tab_id": tab, "ref": element, "text": "ab\n", "mode": mode }))
                .await
        };
        let line = typed("Line").await;
        assert_eq!(line["effect"], "confirmed", "{line}");
        let observed = &line["observed"];
        assert_eq!(
            (&observed["requested_chars"], &observed["delivered_chars"]),
            (&json!(2), &json!(2)),
            "{line}"
        );
        assert_eq!((&observed["enter_pressed"], &observed["value"]), (&json!(true), &json!("ab")), "{line}");
        assert_eq!(observed["field_after_enter"], "unchanged", "{line}");
        assert_eq!(agent.value(&tab, "log.splice(0)").await, json!(["enter 13 Line", "submit ab"]));

        let area = typed("Area").await;
        assert_eq!(area["observed"]["delivered_chars"], 3, "{area}");
        assert_eq!(area["observed"]["enter_pressed"], Value::Null, "{area}");
        assert_eq!(agent.value(&tab, "document.querySelector('textarea').value").await, "ab\n");
        let rich = typed("Rich").await;
        assert_eq!(rich["observed"]["enter_pressed"], Value::Null, "{rich}");
        let text = agent.value(&tab, "document.querySelector('[contenteditable]').innerText").await;
        assert!(text.as_str().unwrap().starts_with("ab\n"), "{mode}: {text:?}");
        let log = agent.value(&tab, "log").await;
        let keys = if mode == "keystrokes" { json!(["enter 13 Area", "enter 13 Rich"]) } else { json!([]) };
        assert_eq!(log, keys, "{mode}");

        let element = agent.find(&tab, "Line").await;
        let inside = json!({ "tab_id": tab, "ref": element, "text": "a\nb", "mode": mode });
        let refused = agent.tool("browser_type", inside).await;
        assert_eq!(
            (&refused["status"], code(&refused)),
            (&json!("refused"), "browser_invalid_argument"),
            "{refused}"
        );
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_confirm_behind_a_click_is_answered_by_its_id_and_holds_up_nobody() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    for route in ["trusted", "dom_event"] {
        let tab = agent.open(&pages.url("/acts")).await;
        let asks = agent.find(&tab, "\"Asks\"").await;
        let plain = agent.find(&tab, "\"Plain\"").await;
        let clicked =
            agent.tool("browser_click", json!({ "tab_id": tab, "ref": asks, "input_route": route })).await;
        let dialog = &clicked["dialog"];
        assert_eq!(
            (&dialog["present"], &dialog["kind"], &dialog["message"]),
            (&json!(true), &json!("confirm"), &json!("really?")),
            "{clicked}"
        );
        assert_eq!(clicked["escalation"]["recommended"], "page", "{clicked}");
        let id = dialog["dialog_id"].as_str().unwrap().to_owned();

        let inspected = agent.ok("browser_dialog", json!({ "tab_id": tab, "action": "inspect" })).await;
        assert_eq!(inspected["dialog"]["dialog_id"], id, "{inspected}");
        let second = agent.tool("browser_click", json!({ "tab_id": tab, "ref": plain })).await;
        assert_eq!(
            (&second["status"], code(&second)),
            (&json!("refused"), "browser_dialog_open"),
            "{second}"
        );
        assert!(second["refusal"]["next"].as_str().unwrap().contains("browser_dialog"), "{second}");
        let state = agent.tool("get_browser_state", json!({ "tab_id": tab })).await;
        assert_eq!(
            (&state["status"], &state["observed"]["title"]),
            (&json!("partial"), &json!("acts")),
            "{state}"
        );
        assert_eq!(
            (&state["dialog"]["dialog_id"], &state["observed"]["outline"]),
            (&json!(id), &Value::Null),
            "{state}"
        );

        let nameless = agent.tool("browser_dialog", json!({ "tab_id": tab, "action": "accept" })).await;
        assert_eq!(code(&nameless), "browser_invalid_argument", "{nameless}");
        assert!(nameless["refusal"]["next"].as_str().unwrap().contains(&id), "{nameless}");
        let accept = json!({ "tab_id": tab, "action": "accept", "dialog_id": id });
        let accepted = agent.ok("browser_dialog", accept.clone()).await;
        assert_eq!(
            (&accepted["effect"], &accepted["dialog"]),
            (&json!("confirmed"), &Value::Null),
            "{accepted}"
        );
        let again = agent.tool("browser_dialog", accept).await;
        assert_eq!(
            (&again["status"], code(&again)),
            (&json!("refused"), "browser_action_unavailable"),
            "{again}"
        );

        // The second click never reached the page; a third one does.
        agent.ok("browser_click", json!({ "tab_id": tab, "ref": plain })).await;
        assert_eq!(agent.value(&tab, "log").await, json!(["confirm true", "click true"]));
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_move_nothing_of_their_tab_and_a_restart_comes_back_to_the_page() {
    let (running, stage) = (support::start().await, Stage::start().await);
    let agent = Tools::of(&running).connect().await;
    let moves = stage.page("<title>inner</title><script>history.pushState({}, '', '/moved-by-a-frame'); document.title = 'pushed'</script>");
    let late = stage.page("<title>late</title>late");
    let page = stage.page(&format!(
        "<title>main</title><link rel=icon href='/icon.png'><h1>Main</h1><script>
         window.done = 0;
         for (const src of ['{moves}', '{late}', 'http://127.0.0.1:9/']) setTimeout(() => {{
           const frame = document.createElement('iframe');
           frame.onload = () => done++;
           frame.src = src;
           document.body.append(frame);
         }}, 50);
         </script>"
    ));
    let tab = agent.open(&page).await;
    agent.ok("browser_wait", json!({ "tab_id": tab, "function": "done === 3" })).await;
    let row = async || {
        let told = agent.ok("browser_tabs", json!({})).await;
        let rows = told["observed"]["tabs"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["tab_id"] == tab).unwrap()
    };
    let main = row().await;
    let check = |row: &Value| {
        assert_eq!(
            (&row["url"], &row["title"], &row["error"]),
            (&json!(page), &json!("main"), &Value::Null),
            "{row}"
        );
        assert!(row["favicon"].as_str().unwrap().ends_with("/icon.png"), "{row}");
    };
    check(&main);
    let back =
        agent.ok("browser_tabs", json!({ "action": "restart", "tab_id": tab, "rung": "renderer" })).await;
    assert_eq!(
        (&back["observed"]["rung"], &back["observed"]["url"]),
        (&json!("renderer"), &json!(page)),
        "{back}"
    );
    agent.ok("browser_wait", json!({ "tab_id": tab, "function": "done === 3" })).await;
    eventually("the icon is known again", || async { row().await["favicon"].is_string().then_some(()) })
        .await;
    check(&row().await);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runaway_script_costs_its_own_call_and_nobody_else() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let (one, other) = (agent.open(&pages.url("/ok")).await, agent.open(&pages.url("/form")).await);
    let endless = json!({ "tab_id": one, "function": "while (true) {}", "timeout_ms": 2000 });
    let runaway = agent.begin_tool("browser_evaluate", endless).await;
    assert_eq!(agent.value(&other, "document.title").await, "form");
    assert!(!agent.was_answered(runaway), "a call on another tab runs meanwhile");
    let result = agent.result_of(runaway).await;
    let ended = told(&result);
    assert_eq!((&ended["status"], code(&ended)), (&json!("failed"), "browser_budget_exceeded"), "{ended}");
    assert_eq!(ended["retryable"], false, "{ended}");
    assert_eq!(
        (&ended["detail"]["phase"], &ended["budget"]["timeout_ms"]),
        (&json!("running"), &json!(2000)),
        "{ended}"
    );
    assert!(ended["budget"]["elapsed_ms"].as_u64().unwrap() < 4000, "{ended}");
    // A busy machine hears of the end a moment later.
    let works = async || {
        let told = agent.tool("browser_evaluate", json!({ "tab_id": one, "function": "1 + 1" })).await;
        (told["observed"]["value"] == 2).then_some(())
    };
    eventually("the tab works again", works).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_ends_in_the_page_and_is_never_answered() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/ok")).await;
    let counts = "async () => { for (;;) { window.count = (window.count || 0) + 1; await new Promise(go => setTimeout(go, 5)); } }";
    let counting = agent.begin_tool("browser_evaluate", json!({ "tab_id": tab, "function": counts })).await;
    eventually("it counts", || async {
        (agent.value(&tab, "window.count || 0").await.as_u64() > Some(3)).then_some(())
    })
    .await;
    agent
        .notify("notifications/cancelled", json!({ "requestId": counting, "reason": "changed my mind" }))
        .await;
    let stood_still = async || {
        let before = agent.value(&tab, "window.count").await;
        let later = "new Promise(done => setTimeout(() => done(window.count), 200))";
        (before == agent.value(&tab, later).await).then_some(())
    };
    eventually("it counts no more", stood_still).await;
    assert!(!agent.was_answered(counting), "no late reply");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_long_tells_how_far_it_is() {
    let (running, pages) = (support::start().await, Pages::start().await);
    let agent = Tools::of(&running).connect().await;
    let tab = agent.open(&pages.url("/ok")).await;
    let arguments = json!({ "tab_id": tab, "text": "never to be seen", "timeout_ms": 2600 });
    let params =
        json!({ "name": "browser_wait", "arguments": arguments, "_meta": { "progressToken": "mine" } });
    let answer = agent.request("tools/call", params).await;
    let late = told(&answer["result"]);
    assert_eq!((&late["status"], code(&late)), (&json!("failed"), "browser_budget_exceeded"), "{late}");
    assert_eq!(late["detail"]["condition"], "text", "{late}");
    let news: Vec<Value> =
        agent.news().into_iter().filter(|it| it["method"] == "notifications/progress").collect();
    assert!(!news.is_empty() && news.iter().all(|it| it["params"]["progressToken"] == "mine"), "{news:?}");
    assert!(
        news.windows(2)
            .all(|two| two[0]["params"]["progress"].as_f64() < two[1]["params"]["progress"].as_f64())
    );
    running.stop().await;
}
