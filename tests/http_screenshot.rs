//! Pictures over HTTP: of a view, a page, an element, and with the refs of a snapshot.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::path::Path;

use serde_json::{Value, json};
use support::http::Answer;
use support::served::{Served, serve};

async fn shoot(served: &Served, body: Value) -> Answer {
    served.http.send("POST /screenshot", &body.to_string()).await
}

/// What a file is, by its first bytes, and how large a PNG says it is.
fn picture(path: &Value) -> (&'static str, u32, u32) {
    let bytes = std::fs::read(path.as_str().unwrap()).unwrap();
    if bytes.starts_with(&[0xff, 0xd8]) {
        return ("jpeg", 0, 0);
    }
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    ("png", number(16), number(20))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_is_a_file_of_what_was_asked_for() {
    let served = serve().await;
    let tab = served.open("/acts").await;
    let page = served.http.get(&format!("/snapshot?targetId={tab}&interactive=true")).await;
    let refs = page["refs"].as_object().unwrap();
    let plain = refs.iter().find(|(_, it)| it["name"] == "Plain").unwrap().0;
    let view = shoot(&served, json!({ "targetId": tab })).await;
    assert_eq!((view.status, &view["ok"]), (200, &json!(true)), "{view:?}");
    let (width, height) = (view["width"].as_u64().unwrap(), view["height"].as_u64().unwrap());
    assert_eq!(
        picture(&view["path"]),
        ("png", u32::try_from(width).unwrap(), u32::try_from(height).unwrap())
    );
    for (body, kind) in [
        (json!({ "targetId": tab, "ref": plain }), "png"),
        (json!({ "targetId": tab, "element": "#plain", "type": "jpeg" }), "jpeg"),
        (json!({ "targetId": tab, "fullPage": true }), "png"),
    ] {
        let shot = shoot(&served, body.clone()).await;
        assert_eq!((shot.status, &shot["imageType"]), (200, &json!(kind)), "{shot:?}");
        assert_eq!(picture(&shot["path"]).0, kind);
        if body.get("fullPage").is_none() {
            assert!(
                shot["width"].as_u64().unwrap() < width && shot["height"].as_u64().unwrap() < height,
                "{shot:?}"
            );
        }
    }
    for (body, status) in [
        (json!({ "targetId": tab, "ref": plain, "fullPage": true }), 400),
        (json!({ "targetId": tab, "type": "gif" }), 400),
        (json!({ "targetId": tab, "ref": "e999" }), 500),
        (json!({ "targetId": tab, "element": "#none" }), 500),
    ] {
        let refused = shoot(&served, body.clone()).await;
        assert_eq!(refused.status, status, "{body}: {refused:?}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_name_what_the_snapshot_names() {
    let served = serve().await;
    let tab = served.open("/acts").await;
    let page = served.http.get(&format!("/snapshot?targetId={tab}&labels=true")).await;
    assert_eq!((page.status, &page["labels"]), (200, &json!(true)), "{page:?}");
    assert!(Path::new(page["imagePath"].as_str().unwrap()).is_file());
    let annotations = page["annotations"].as_array().unwrap();
    assert_eq!(page["labelsCount"].as_u64().unwrap(), annotations.len() as u64);
    assert!(annotations.len() > 4, "{page:?}");
    for annotation in annotations {
        let named = &page["refs"][annotation["ref"].as_str().unwrap()];
        assert_eq!(named["role"], annotation["role"], "{annotation}");
        assert!(annotation["box"]["width"].as_f64().unwrap() > 0.0);
    }
    let shot = shoot(&served, json!({ "targetId": tab, "labels": true })).await;
    assert_eq!(
        (shot.status, &shot["labels"], shot["annotations"] == page["annotations"]),
        (200, &json!(true), true),
        "{shot:?}"
    );
    served.http.evaluate(&tab, "alert('here')").await;
    let blocked = shoot(&served, json!({ "targetId": tab })).await;
    assert_eq!((blocked.status, &blocked["reason"]), (409, &json!("dialog_open")), "{blocked:?}");
    served.stop().await;
}
