//! Actions over HTTP, judged by what the page itself saw.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use serde_json::{Value, json};
use support::http::Answer;
use support::secs;
use support::served::{Served, assert_result, serve};

struct Stage {
    served: Served,
    tab: String,
    refs: Value,
}

impl Stage {
    async fn start() -> Self {
        let served = serve().await;
        let tab = served.open("/acts").await;
        let page = served.http.get(&format!("/snapshot?targetId={tab}&interactive=true")).await;
        Self { served, tab, refs: page["refs"].clone() }
    }

    fn by_name(&self, name: &str) -> String {
        let refs = self.refs.as_object().unwrap();
        let found = refs.iter().find(|(_, it)| it["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {refs:?}")).0.clone()
    }

    async fn act(&self, kind: &str, more: Value) -> Answer {
        let mut body = json!({ "kind": kind, "targetId": self.tab });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.served.http.act(body).await
    }

    async fn on(&self, kind: &str, name: &str, more: Value) -> Answer {
        let mut body = json!({ "ref": self.by_name(name) });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.act(kind, body).await
    }

    /// What the page has logged since it was asked last.
    async fn log(&self) -> Value {
        self.served.http.evaluate(&self.tab, "const all = window.log; window.log = []; return all").await["result"].clone()
    }
}

fn assert_effect(answer: &Answer, effect: &str) {
    assert_eq!(
        (answer.status, &answer["ok"], &answer["effect"]),
        (200, &json!(true), &json!(effect)),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_answer_says_is_what_the_page_saw() {
    let stage = Stage::start().await;
    let clicked = stage.on("click", "Plain", json!({})).await;
    assert_effect(&clicked, "confirmed");
    assert_eq!(clicked["observed"]["isTrusted"], true, "{clicked:?}");
    assert_eq!(stage.log().await, json!(["click true"]));
    let by_events = stage.on("click", "Plain", json!({ "mode": "dom_event" })).await;
    assert_eq!(
        (by_events.status, &by_events["observed"]["isTrusted"]),
        (200, &json!(false)),
        "{by_events:?}"
    );
    assert_eq!(stage.log().await, json!(["click false"]));
    let twice = stage.act("click", json!({ "selector": "#plain", "doubleClick": true })).await;
    assert_effect(&twice, "confirmed");
    assert_eq!(stage.log().await, json!(["click true", "click true"]));

    let typed = stage.on("type", "Field", json!({ "text": "Buy milk\n" })).await;
    assert_effect(&typed, "confirmed");
    assert_eq!(typed["observed"]["enterPressed"], true, "{typed:?}");
    assert_eq!(stage.log().await, json!(["enter 13 Buy milk"]));
    let replaced = stage.on("type", "Field", json!({ "text": "Ada", "submit": true })).await;
    assert_effect(&replaced, "confirmed");
    assert_eq!(stage.log().await, json!(["enter 13 Ada"]));
    assert_effect(&stage.on("press", "Field", json!({ "key": "Enter" })).await, "confirmed");
    assert_eq!(stage.log().await, json!(["enter 13 Ada"]));
    assert_eq!(stage.act("insertText", json!({ "text": " L" })).await.status, 200);
    assert_result(
        &stage.served.http.evaluate(&stage.tab, "document.querySelector('input').value").await,
        "Ada L",
    );

    assert_effect(&stage.on("select", "Choice", json!({ "values": ["b"] })).await, "confirmed");
    assert_eq!(stage.log().await, json!(["chosen b"]));
    let fields = json!([
        { "ref": stage.by_name("Field"), "value": "Grace" },
        { "ref": stage.by_name("Box"), "type": "checkbox", "value": true },
    ]);
    assert_effect(&stage.act("fill", json!({ "fields": fields })).await, "confirmed");
    assert_eq!(stage.log().await, json!(["checked true"]));
    assert_eq!(stage.on("hover", "Plain", json!({})).await.status, 200);
    assert_eq!(stage.on("scrollIntoView", "Plain", json!({})).await.status, 200);
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_is_not_done_and_says_why() {
    let stage = Stage::start().await;
    for (kind, name, more, reason) in [
        ("click", "Covered", json!({}), "covered"),
        ("click", "Off", json!({}), "disabled"),
        ("type", "Plain", json!({ "text": "x" }), "not_editable"),
        ("type", "Choice", json!({ "text": "x" }), "not_editable"),
    ] {
        let refused = stage.on(kind, name, more).await;
        assert_eq!(
            (refused.status, &refused["code"], &refused["reason"]),
            (500, &json!("ACT_OPERATION_FAILED"), &json!(reason)),
            "{refused:?}"
        );
        assert_eq!(refused["details"]["sent"], false);
    }
    for (more, reason) in [
        (json!({ "ref": "e999" }), "stale_ref"),
        (json!({ "selector": "button" }), "ambiguous"),
        (json!({ "selector": "#none" }), "no_match"),
        (json!({ "selector": "[[" }), "invalid_argument"),
    ] {
        let refused = stage.act("click", more).await;
        assert_eq!(refused["reason"], reason, "{refused:?}");
    }
    assert_eq!(stage.log().await, json!([]));
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_click_that_opens_a_dialog_answers_with_it_and_the_dialog_can_be_answered() {
    let stage = Stage::start().await;
    let begun = tokio::time::Instant::now();
    let asked = stage.on("click", "Asks", json!({ "timeoutMs": 60_000 })).await;
    assert!(begun.elapsed() < secs(20), "at once, not at the budget");
    assert_eq!((asked.status, &asked["blockedByDialog"]), (200, &json!(true)), "{asked:?}");
    let dialog = &asked["browserState"]["dialogs"]["pending"][0];
    assert_eq!(dialog["message"], "really?");
    // Everything else says so at once, too, and does nothing.
    for (kind, more) in [("type", json!({ "text": "x" })), ("click", json!({}))] {
        let blocked = stage.on(kind, "Field", more).await;
        assert_eq!((blocked.status, &blocked["blockedByDialog"]), (200, &json!(true)), "{blocked:?}");
    }
    let body = json!({ "accept": true, "dialogId": dialog["id"], "targetId": stage.tab });
    let answered = stage.served.http.send("POST /hooks/dialog", &body.to_string()).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    support::eventually("the page knows the answer", || async {
        (stage.log().await == json!(["confirm true"])).then_some(())
    })
    .await;
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_a_click_opens_is_told() {
    let stage = Stage::start().await;
    let opened = stage.on("click", "Opens", json!({})).await;
    assert_effect(&opened, "confirmed");
    let tab = opened["openedTabs"][0].as_str().unwrap_or_else(|| panic!("{opened:?}"));
    assert_eq!(stage.served.http.row(tab).await["opener"], stage.tab);
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_navigation_is_told_as_it_ended() {
    let stage = Stage::start().await;
    let http = &stage.served.http;
    let url = stage.served.pages.url("/form");
    let navigate = async |body: Value| http.send("POST /navigate", &body.to_string()).await;
    let landed = navigate(json!({ "url": url, "targetId": stage.tab })).await;
    assert_eq!((landed.status, &landed["url"]), (200, &json!(url)), "{landed:?}");
    assert_eq!(http.row(&stage.tab).await["url"], url);
    let stale = stage.on("click", "Plain", json!({})).await;
    assert_eq!(
        (&stale["reason"], &stale["details"]["why"]),
        (&json!("stale_ref"), &json!("document_changed")),
        "{stale:?}"
    );
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = navigate(json!({ "url": format!("http://{nobody}/"), "targetId": stage.tab })).await;
    assert_eq!((refused.status, refused.error()), (500, "Error: page.goto: net::ERR_CONNECTION_REFUSED"));
    let row = support::eventually("the error is in the row", || async {
        let row = http.row(&stage.tab).await;
        (row["error"]["description"] == "net::ERR_CONNECTION_REFUSED").then_some(row)
    })
    .await;
    assert_eq!(row["error"]["code"], -102);
    assert_eq!(navigate(json!({ "url": "file:///etc/passwd" })).await["reason"], "navigation_blocked");
    assert_eq!(navigate(json!({})).await.status, 400);
    stage.served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_right_after_a_click_that_leaves_the_page_has_a_page_to_run_in() {
    let served = serve().await;
    let tab = served.open("/acts").await;
    for _ in 0..5 {
        let link = "() => { document.body.insertAdjacentHTML('afterbegin', '<a id=go href=/ok>Go</a>') }";
        assert_eq!(served.http.evaluate(&tab, link).await.status, 200);
        let clicked = json!({ "kind": "click", "targetId": tab, "selector": "#go" });
        assert_eq!(served.http.act(clicked).await.status, 200);
        assert_result(&served.http.evaluate(&tab, "document.title").await, "ok");
        let row = served.http.row(&tab).await;
        assert_eq!(row["url"], served.pages.url("/ok"), "{row}");
    }
    served.stop().await;
}
