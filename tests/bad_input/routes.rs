//! Every other route and its fields.
#![expect(clippy::too_many_lines, reason = "a table")]

use serde_json::{Value, json};

use super::{Stage, no_budgets, no_numbers, no_texts, no_truths, with};

/// A route, a body that is good, and for each of its fields what it may not be.
type Row<'a> = (&'a str, Value, Vec<(&'static str, Vec<Value>)>);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_field_of_every_route_is_named_when_it_is_wrong() {
    let stage = Stage::start().await;
    let text = || no_texts().to_vec();
    let truth = || no_truths().to_vec();
    let number = || no_numbers().to_vec();
    let required = || vec![Value::Null, json!(""), json!({}), json!(["a"])];
    let words = || vec![json!("magic"), json!({}), json!(["a"])];
    let verbatim = || vec![json!(7), json!({}), json!(["a"])];
    let cookie = |more: Value| {
        let mut cookie = json!({ "name": "n", "value": "v", "url": "http://fake.test/" });
        cookie.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        cookie
    };
    let restart = format!("POST /tabs/{}/restart", stage.tab);
    let clear = json!({ "clear": true });
    let table: Vec<Row<'_>> = vec![
        (
            "POST /navigate",
            json!({ "url": "http://fake.test/" }),
            vec![("url", required()), ("waitUntil", words())],
        ),
        ("POST /navigate/back", json!({}), vec![("waitUntil", words())]),
        ("POST /navigate/forward", json!({}), vec![("waitUntil", words())]),
        ("POST /navigate/reload", json!({}), vec![("waitUntil", words())]),
        (
            "POST /screenshot",
            json!({}),
            vec![
                ("type", words()),
                ("ref", text()),
                ("element", text()),
                ("fullPage", truth()),
                ("labels", truth()),
            ],
        ),
        ("POST /screenshot", json!({ "ref": "e1" }), vec![("fullPage", vec![json!(true)])]),
        (
            "POST /highlight",
            json!({ "ref": "e1" }),
            vec![("ref", required()), ("selector", text()), ("clear", truth())],
        ),
        ("POST /pdf", json!({}), Vec::new()),
        (
            "POST /download",
            json!({ "ref": "e1", "path": "a" }),
            vec![
                ("ref", required()),
                ("path", required()),
                ("expectedUrl", text()),
                ("currentDocument", truth()),
            ],
        ),
        (
            "POST /download",
            json!({ "currentDocument": true, "expectedUrl": "a" }),
            vec![("expectedUrl", required()), ("ref", vec![json!("e1")])],
        ),
        ("POST /wait/download", json!({}), vec![("path", text())]),
        (
            "POST /hooks/file-chooser",
            json!({ "paths": ["a"] }),
            vec![
                ("paths", vec![Value::Null, json!([]), json!(7), json!({}), json!([{}])]),
                ("remotePath", vec![json!(7), json!({}), json!([{}])]),
                ("ref", text()),
                ("inputRef", text()),
                ("element", text()),
            ],
        ),
        (
            "POST /hooks/dialog",
            json!({ "accept": true }),
            vec![
                ("accept", [truth(), vec![Value::Null]].concat()),
                ("promptText", verbatim()),
                ("dialogId", text()),
            ],
        ),
        (
            "POST /response/body",
            json!({ "url": "a" }),
            vec![
                ("url", required()),
                ("maxChars", vec![json!(0), json!(-1), json!("x"), json!(1.5), json!({}), json!(5_000_001)]),
            ],
        ),
        (
            "POST /storage/local/set",
            json!({ "key": "k", "value": "v" }),
            vec![("key", [vec![Value::Null, json!("")], verbatim()].concat()), ("value", verbatim())],
        ),
        ("POST /storage/session/clear", json!({}), Vec::new()),
        ("POST /cookies/clear", json!({}), Vec::new()),
        (
            "POST /permissions/grant",
            json!({ "origin": "http://fake.test", "permissions": ["geolocation"] }),
            vec![
                ("origin", [required(), vec![json!("x"), json!("file:///a")]].concat()),
                ("permissions", vec![Value::Null, json!([]), json!({}), json!(7), json!([{}])]),
                ("optionalPermissions", vec![json!({}), json!(7), json!([{}])]),
            ],
        ),
        (
            "POST /set/offline",
            json!({ "offline": true }),
            vec![("offline", [truth(), vec![Value::Null]].concat())],
        ),
        (
            "POST /set/headers",
            json!({ "headers": {} }),
            vec![(
                "headers",
                vec![Value::Null, json!(7), json!([]), json!({ "a": 7 }), json!({ "a\n": "b" })],
            )],
        ),
        (
            "POST /set/credentials",
            json!({ "username": "a", "password": "b" }),
            vec![
                ("username", [verbatim(), vec![Value::Null]].concat()),
                ("password", [verbatim(), vec![Value::Null]].concat()),
                ("clear", truth()),
            ],
        ),
        (
            "POST /set/geolocation",
            json!({ "latitude": 1, "longitude": 1 }),
            vec![
                ("latitude", [number(), vec![Value::Null, json!(91)]].concat()),
                ("longitude", [number(), vec![Value::Null, json!(-181)]].concat()),
                ("accuracy", [number(), vec![json!(-1)]].concat()),
                ("origin", text()),
                ("clear", truth()),
            ],
        ),
        (
            "POST /set/media",
            json!({ "colorScheme": "dark" }),
            vec![("colorScheme", [words(), required()].concat())],
        ),
        ("POST /set/timezone", json!({ "timezoneId": "UTC" }), vec![("timezoneId", required())]),
        ("POST /set/locale", json!({ "locale": "de" }), vec![("locale", required())]),
        (
            "POST /set/device",
            json!({ "name": "iPhone 13" }),
            vec![("name", [required(), vec![json!("x")]].concat())],
        ),
        ("POST /set/device", clear, vec![("clear", truth())]),
        (restart.as_str(), json!({}), vec![("rung", words()), ("url", text())]),
    ];
    for (line, good, fields) in table {
        // The path names the tab of a restart.
        let targeted = !line.contains("/tabs/");
        let target = targeted.then(|| ("targetId", text()));
        let of_all = [("timeoutMs", no_budgets().to_vec())].into_iter().chain(target);
        for (field, values) in fields.into_iter().chain(of_all) {
            for value in values {
                stage.refuses(line, with(&good, field, value), field).await;
            }
        }
    }
    for (field, more) in [
        ("cookie.name", json!({ "name": null })),
        ("cookie.name", json!({ "name": 7 })),
        ("cookie.name", json!({ "name": "a=b" })),
        ("cookie.value", json!({ "value": {} })),
        ("cookie.url", json!({ "url": "x" })),
        ("cookie.url", json!({ "url": null })),
        ("cookie.path", json!({ "url": null, "domain": "a" })),
        ("cookie.domain", json!({ "domain": 7 })),
        ("cookie.expires", json!({ "expires": "x" })),
        ("cookie.expires", json!({ "expires": -7 })),
        ("cookie.httpOnly", json!({ "httpOnly": "yes" })),
        ("cookie.sameSite", json!({ "sameSite": "lax" })),
    ] {
        stage.refuses("POST /cookies/set", json!({ "cookie": cookie(more.clone()) }), field).await;
        let cookies = json!({ "cookies": [cookie(json!({})), cookie(more)] });
        stage.refuses("POST /cookies/set-many", cookies, &field.replace("cookie", "cookies[1]")).await;
    }
    stage.refuses("POST /cookies/set", json!({}), "cookie").await;
    stage.refuses("POST /cookies/set-many", json!({ "cookies": {} }), "cookies").await;
    stage.refuses("POST /storage/neither/set", json!({ "key": "k" }), "kind").await;
    for (line, field) in [
        ("GET /snapshot?format=x", "format"),
        ("GET /snapshot?refs=x", "refs"),
        ("GET /snapshot?mode=x", "mode"),
        ("GET /snapshot?timeoutMs=120001", "timeoutMs"),
        ("GET /text?maxChars=x", "maxChars"),
        ("GET /text?maxChars=999999999", "maxChars"),
        ("GET /text?timeoutMs=0", "timeoutMs"),
        ("GET /console?level=x", "level"),
        ("GET /console?since=x", "since"),
        ("GET /errors?since=-1", "since"),
        ("GET /requests?since=1.5", "since"),
        ("GET /cookies?timeoutMs=x", "timeoutMs"),
        ("GET /storage/local?timeoutMs=x", "timeoutMs"),
        ("GET /storage/x", "kind"),
        ("GET /dialogs?timeoutMs=x", "timeoutMs"),
    ] {
        stage.refuses(line, json!(null), field).await;
    }
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_field_of_what_is_done_with_tabs_is_named_when_it_is_wrong() {
    let stage = Stage::start().await;
    for (line, good, field, values) in [
        (
            "POST /tabs/open",
            json!({ "url": "about:blank" }),
            "label",
            vec![json!("a b"), json!({}), json!([])],
        ),
        ("POST /tabs/open", json!({ "url": "about:blank" }), "timeoutMs", no_budgets().to_vec()),
        ("POST /tabs/open", json!({}), "url", vec![Value::Null, json!(""), json!({}), json!([])]),
        ("POST /tabs/focus", json!({}), "targetId", vec![json!(""), json!({}), json!([])]),
        ("POST /tabs/focus", json!({}), "timeoutMs", no_budgets().to_vec()),
        ("POST /tabs/action", json!({}), "action", vec![Value::Null, json!("x"), json!({}), json!([])]),
        ("POST /tabs/action", json!({ "action": "new" }), "label", vec![json!("a b"), json!({})]),
        (
            "POST /tabs/action",
            json!({ "action": "select" }),
            "index",
            vec![Value::Null, json!(-1), json!("x"), json!({})],
        ),
        ("POST /tabs/action", json!({ "action": "close" }), "index", vec![json!(-1), json!("x"), json!({})]),
        ("POST /tabs/action", json!({ "action": "close" }), "timeoutMs", no_budgets().to_vec()),
    ] {
        for value in values {
            stage.refuses(line, with(&good, field, value), field).await;
        }
    }
    assert_eq!(stage.http.tabs().await.len(), 1);
    stage.stop().await;
}
