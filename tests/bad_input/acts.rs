//! `POST /act`: every kind and every field, alone and in the middle of others.
#![expect(clippy::too_many_lines, reason = "a table")]

use serde_json::{Value, json};

use super::{Stage, no_budgets, no_delays, no_lists, no_numbers, no_texts, no_truths, with};

/// A body that is good, and for each of its fields what it may not be; `null` stands for its absence.
type Asked = (Value, Vec<(&'static str, Vec<Value>)>);

fn acts() -> Vec<Asked> {
    let missing = || vec![Value::Null, json!("")];
    let text = || no_texts().to_vec();
    let modifiers = || [no_lists().as_slice(), &[json!(["Hyper"])]].concat();
    let words = |more: &str| [no_texts().as_slice(), &[json!(more)]].concat();
    let required = |more: Vec<Value>| [missing(), more].concat();
    let sides = || {
        vec![Value::Null, json!(0), json!(-1), json!(8193), json!("x"), json!(1.5), json!({}), json!(true)]
    };
    let place = [no_numbers().as_slice(), &[Value::Null]].concat();
    let pointed = |mut more: Vec<(&'static str, Vec<Value>)>| {
        more.extend([
            ("button", words("top")),
            ("doubleClick", no_truths().to_vec()),
            ("modifiers", modifiers()),
            ("delayMs", no_delays().to_vec()),
        ]);
        more
    };
    let verbatim = || vec![Value::Null, json!(7), json!(true), json!({}), json!(["a"])];
    vec![
        (
            json!({ "kind": "click", "ref": "e1" }),
            pointed(vec![("ref", required(text())), ("selector", text()), ("mode", words("magic"))]),
        ),
        (json!({ "kind": "clickCoords", "x": 1, "y": 1 }), pointed(vec![("x", place.clone()), ("y", place)])),
        (
            json!({ "kind": "type", "ref": "e1", "text": "a" }),
            vec![
                ("ref", required(text())),
                ("selector", text()),
                ("text", verbatim()),
                ("mode", words("magic")),
                ("submit", no_truths().to_vec()),
                ("slowly", no_truths().to_vec()),
                ("replace", no_truths().to_vec()),
            ],
        ),
        (json!({ "kind": "insertText", "text": "a" }), vec![("text", verbatim())]),
        (
            json!({ "kind": "press", "key": "a" }),
            vec![
                ("key", [verbatim(), vec![json!(""), json!("Entr"), json!("Hyper+a")]].concat()),
                ("ref", text()),
                ("selector", vec![json!("a")]),
                ("delayMs", no_delays().to_vec()),
            ],
        ),
        (
            json!({ "kind": "hover", "ref": "e1" }),
            vec![("ref", required(text())), ("selector", text()), ("modifiers", modifiers())],
        ),
        (
            json!({ "kind": "scrollIntoView", "ref": "e1" }),
            vec![("ref", required(text())), ("selector", text())],
        ),
        (
            json!({ "kind": "drag", "startRef": "e1", "endRef": "e2" }),
            vec![
                ("startRef", required(text())),
                ("endRef", required(text())),
                ("startSelector", text()),
                ("endSelector", text()),
            ],
        ),
        (
            json!({ "kind": "select", "ref": "e1", "values": ["a"] }),
            vec![
                ("ref", required(text())),
                ("selector", text()),
                ("values", [no_lists().as_slice(), &[Value::Null, json!([])]].concat()),
            ],
        ),
        (
            json!({ "kind": "fill", "fields": [{ "ref": "e1", "value": "a" }] }),
            vec![
                ("selector", vec![json!("a")]),
                (
                    "fields",
                    vec![
                        Value::Null,
                        json!([]),
                        json!("a"),
                        json!({}),
                        json!([5]),
                        json!([{ "value": "a" }]),
                        json!([{ "ref": "", "value": "a" }]),
                        json!([{ "ref": 5, "value": "a" }]),
                        json!([{ "ref": "e1", "value": "a" }, { "value": "b" }]),
                        json!([{ "ref": "e1", "value": { "a": 1 } }]),
                        json!([{ "ref": "e1", "value": "a", "type": 5 }]),
                    ],
                ),
            ],
        ),
        (json!({ "kind": "resize", "width": 5, "height": 5 }), vec![("width", sides()), ("height", sides())]),
        (
            json!({ "kind": "wait", "text": "a" }),
            vec![
                ("text", text()),
                ("timeMs", vec![json!(-1), json!(30_001), json!("x"), json!({}), json!(1.5)]),
                ("textGone", text()),
                ("selector", text()),
                ("ref", text()),
                ("url", [text(), vec![json!("*{")]].concat()),
                ("loadState", words("idle")),
                ("fn", text()),
            ],
        ),
        (
            json!({ "kind": "evaluate", "fn": "1" }),
            vec![
                ("fn", required(text())),
                ("ref", text()),
                ("selector", vec![json!("a")]),
                ("engine", words("magic")),
                ("backendDOMNodeId", vec![json!("x"), json!(0), json!(-1), json!(1.5), json!({})]),
            ],
        ),
        (json!({ "kind": "close" }), Vec::new()),
        (
            json!({ "kind": "batch", "actions": [{ "kind": "press", "key": "a" }] }),
            vec![
                ("actions", vec![Value::Null, json!([]), json!({}), json!("a"), json!([7]), json!(7)]),
                ("stopOnError", no_truths().to_vec()),
            ],
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_field_of_every_act_is_named_when_it_is_wrong() {
    let stage = Stage::start().await;
    let of_all = || [("timeoutMs", no_budgets().to_vec()), ("targetId", no_texts().to_vec())];
    for (good, fields) in acts() {
        for (field, values) in fields.into_iter().chain(of_all()) {
            for value in values {
                let bad = with(&good, field, value);
                stage.refuses("POST /act", bad.clone(), field).await;
                // The same in the middle of others: none of them is done.
                if good["kind"] != "close" {
                    let actions = json!([{ "kind": "press", "key": "b" }, bad]);
                    let nested =
                        json!({ "kind": "batch", "actions": [{ "kind": "batch", "actions": actions }] });
                    stage.refuses("POST /act", nested, field).await;
                }
            }
        }
    }
    for body in [json!({}), json!({ "kind": "nonsense" }), json!({ "kind": {} }), json!([1])] {
        stage.refuses("POST /act", body, "kind").await;
    }
    stage.stop().await;
}
