//! What the routes answer, as golden shapes, each checked against the description at `/openapi.json`.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::support::http::Answer;
use crate::support::served::{Served, serve};

/// Members that are there or not as the machine is quick or slow.
const BY_CHANCE: [&str; 5] = ["favicon", "sharedRenderer", "opener", "lastRecovery", "detectError"];

/// A value by its types: what a client may rely on.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "truth".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "text".into(),
        Value::Array(items) => {
            let mut shapes: Vec<Value> = items.iter().map(shape).collect();
            shapes.dedup();
            shapes.into()
        }
        Value::Object(members) => {
            let told = members.iter().filter(|(name, _)| !BY_CHANCE.contains(&name.as_str()));
            Value::Object(told.map(|(name, value)| (name.clone(), shape(value))).collect())
        }
    }
}

/// What is wrong with `value` by `schema`; the part of JSON Schema that the description uses.
fn faults(document: &Value, schema: &Value, value: &Value, place: &str, into: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = document.pointer(name.strip_prefix('#').unwrap()).unwrap();
        return faults(document, schema, value, place, into);
    }
    for schema in schema["allOf"].as_array().into_iter().flatten() {
        faults(document, schema, value, place, into);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let fits = |schema: &&Value| {
            let mut wrong = Vec::new();
            faults(document, schema, value, place, &mut wrong);
            wrong.is_empty()
        };
        if !any.iter().any(|schema| fits(&schema)) {
            into.push(format!("{place} fits none of its forms: {value}"));
        }
    }
    let is_of = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        _ => true,
    };
    if !is_of {
        return into.push(format!("{place} is no {}: {value}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        into.push(format!("{place} is none of {}: {value}", schema["enum"]));
    }
    if let Some(members) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                into.push(format!("{place}.{name} is missing"));
            }
        }
        for (name, value) in members {
            let of_member = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
            if let Some(schema) = of_member {
                faults(document, schema, value, &format!("{place}.{name}"), into);
            }
        }
    }
    for item in value.as_array().into_iter().flatten() {
        faults(document, &schema["items"], item, &format!("{place}[]"), into);
    }
}

/// Answers, and what they look like.
struct Golden<'a> {
    served: &'a Served,
    document: Value,
    told: String,
}

impl Golden<'_> {
    /// Asks, and writes down the shape of the answer to the operation at `path`.
    async fn ask(&mut self, line: &str, path: &str, body: Value) -> Answer {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.served.http.send(line, &text).await;
        let method = line.split(' ').next().unwrap().to_ascii_lowercase();
        let response = &self.document["paths"][path][&method]["responses"][answer.status.to_string()];
        let schema = &response["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{line} has answered {}, which is not told: {answer:?}", answer.status);
        let mut wrong = Vec::new();
        faults(&self.document, schema, &answer.body, path, &mut wrong);
        assert_eq!(wrong, Vec::<String>::new(), "{line}: {answer:?}");
        let kind = body["kind"].as_str().map_or_else(String::new, |kind| format!(" {kind}"));
        let shape = serde_json::to_string_pretty(&shape(&answer.body)).unwrap();
        writeln!(self.told, "{} {path}{kind} -> {}\n{shape}\n", method.to_ascii_uppercase(), answer.status)
            .unwrap();
        answer
    }

    async fn get(&mut self, path: &str, query: &str) -> Answer {
        self.ask(&format!("GET {path}{query}"), path, Value::Null).await
    }

    async fn post(&mut self, path: &str, body: Value) -> Answer {
        self.ask(&format!("POST {path}"), path, body).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_core_route_answers_in_the_shape_that_is_told() {
    let served = serve().await;
    let document = served.http.get("/openapi.json").await.body;
    let mut golden = Golden { served: &served, document, told: String::new() };
    let it = &mut golden;
    for path in ["/", "/profiles", "/doctor", "/healthz"] {
        it.get(path, "").await;
    }
    let url = served.pages.url("/form");
    let opened = it.post("/tabs/open", json!({ "url": url, "label": "it" })).await;
    served.http.loaded(opened["tabId"].as_str().unwrap()).await;
    it.get("/tabs", "").await;
    it.ask("GET /tabs/it", "/tabs/{target}", Value::Null).await;
    it.post("/tabs/focus", json!({ "targetId": "it" })).await;
    it.post("/tabs/action", json!({ "action": "label", "targetId": "it", "label": "it" })).await;
    let page = it.get("/snapshot", "?targetId=it&format=role&interactive=true").await;
    it.get("/snapshot", "?targetId=it&format=aria&limit=3").await;
    let field = page["refs"].as_object().unwrap().iter().find(|(_, it)| it["role"] == "textbox");
    let field = field.unwrap_or_else(|| panic!("no field: {page:?}")).0.clone();

    for act in [
        json!({ "kind": "evaluate", "fn": "({ a: 1 })" }),
        json!({ "kind": "evaluate", "fn": "el => el", "ref": field }),
        json!({ "kind": "evaluate", "fn": "throw 1" }),
        json!({ "kind": "evaluate", "fn": "for (;;) {}", "timeoutMs": 400 }),
        json!({ "kind": "click", "ref": field }),
        json!({ "kind": "type", "ref": field, "text": "Ada" }),
        json!({ "kind": "press", "key": "End" }),
        json!({ "kind": "hover", "ref": "e999" }),
        json!({ "kind": "wait", "timeMs": 1 }),
        json!({ "kind": "batch", "actions": [{ "kind": "press", "key": "a" }, { "kind": "hover", "ref": "e999" }] }),
        json!({ "kind": "resize", "width": 700, "height": 500 }),
        json!({ "kind": "dance" }),
        json!({ "kind": "click", "ref": field, "selector": "a", "button": "top" }),
    ] {
        it.post("/act", act).await;
    }
    it.post("/screenshot", json!({ "targetId": "it" })).await;
    it.post("/pdf", json!({ "targetId": "it" })).await;
    it.post("/navigate", json!({ "targetId": "it", "url": url })).await;
    it.post("/navigate", json!({ "targetId": "it", "url": "file:///etc/passwd" })).await;
    it.post("/navigate/reload", json!({ "targetId": "it" })).await;
    it.post("/act", json!({ "kind": "evaluate", "fn": "confirm('sure?')" })).await;
    it.get("/dialogs", "?targetId=it").await;
    it.get("/snapshot", "?targetId=it").await;
    it.post("/hooks/dialog", json!({ "accept": true, "targetId": "it" })).await;
    it.post(
        "/act",
        json!({ "kind": "evaluate", "fn": "console.warn('careful'); return 1", "targetId": "it" }),
    )
    .await;
    for path in ["/console", "/errors", "/requests", "/text", "/cookies"] {
        it.get(path, "?targetId=it").await;
    }
    it.post("/cookies/set", json!({ "cookie": { "name": "a", "value": "b", "url": url } })).await;
    it.get("/cookies", "?targetId=it").await;
    it.post("/cookies/clear", json!({})).await;
    it.ask("POST /storage/local/set", "/storage/{kind}/set", json!({ "key": "a", "value": "b" })).await;
    it.ask("GET /storage/local", "/storage/{kind}", Value::Null).await;
    it.ask("POST /set/offline", "/set/{what}", json!({ "offline": false })).await;
    it.ask("POST /tabs/it/terminate", "/tabs/{target}/terminate", json!({})).await;
    it.get("/supervisor", "").await;
    it.ask("DELETE /tabs/it", "/tabs/{target}", Value::Null).await;
    it.ask("GET /tabs/nobody", "/tabs/{target}", Value::Null).await;
    it.get("/tabs", "?profile=nobody").await;
    it.post("/stop", json!({})).await;
    it.get("/readyz", "").await;
    it.get("/tabs", "").await;
    insta::assert_snapshot!("shapes", golden.told);
    served.stop().await;
}

#[test]
fn what_is_not_as_described_is_found() {
    let document = json!({ "components": { "schemas": { "It": {
        "type": "object", "required": ["a"],
        "properties": { "a": { "type": "string", "enum": ["x"] }, "b": { "type": "array", "items": { "type": "integer" } } },
    } } } });
    let schema = json!({ "anyOf": [{ "$ref": "#/components/schemas/It" }] });
    let ok = |value: Value| {
        let mut wrong = Vec::new();
        faults(&document, &schema, &value, "it", &mut wrong);
        wrong.is_empty()
    };
    assert!(ok(json!({ "a": "x", "b": [1], "c": null })));
    for wrong in
        [json!({}), json!({ "a": "y" }), json!({ "a": "x", "b": ["1"] }), json!([]), json!(Map::new())]
    {
        assert!(!ok(wrong.clone()), "{wrong}");
    }
}
