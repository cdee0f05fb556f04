//! Every option on one page of a real Chromium, as whole texts.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all snapshot tests")]

#[path = "snapshot/pages.rs"]
mod pages;
#[path = "snapshot/room.rs"]
mod room;
#[path = "snapshot/support.rs"]
mod support;

use room::{Room, text};
use tabvisor_page::snapshot::{Format, Request};

/// The text with a port that is always the same.
fn settled(room: &Room, text: &str) -> String {
    text.replace(&room.stage.url(""), "http://test")
}

#[tokio::test]
async fn every_option() {
    let mut room = Room::open("/golden").await;
    let plain = Request::default;
    let requests = [
        ("ai", plain()),
        ("ai_interactive", Request { aria_refs: true, interactive: Some(true), ..plain() }),
        ("ai_compact", Request { aria_refs: true, compact: Some(true), ..plain() }),
        ("ai_depth", Request { aria_refs: true, depth: Some(2), ..plain() }),
        ("ai_urls", Request { aria_refs: true, urls: true, ..plain() }),
        ("role", Request { format: Format::Role, ..plain() }),
        ("role_interactive", Request { interactive: Some(true), ..plain() }),
        ("role_compact", Request { compact: Some(true), ..plain() }),
        ("role_depth", Request { depth: Some(4), ..plain() }),
        ("role_urls", Request { urls: true, interactive: Some(true), ..plain() }),
        ("role_labels", Request { labels: true, compact: Some(true), interactive: Some(true), ..plain() }),
        ("efficient", Request { efficient: true, ..plain() }),
        ("efficient_but", Request { efficient: true, interactive: Some(false), depth: Some(4), ..plain() }),
        ("selector", Request { selector: Some("main".into()), ..plain() }),
        ("selector_urls", Request { selector: Some("nav".into()), urls: true, ..plain() }),
        ("frame", Request { frame: Some("iframe".into()), ..plain() }),
        ("frame_selector", Request { frame: Some("iframe".into()), selector: Some("div".into()), ..plain() }),
        ("max_chars", Request { max_chars: Some(200), interactive: Some(true), ..plain() }),
    ];
    for (name, request) in &requests {
        // A memory of its own, so that no text depends on those before it.
        room.memory = tabvisor_page::snapshot::Memory::default();
        let shown = room.text(request).await;
        insta::assert_snapshot!(*name, settled(&room, &shown));
    }
    let list = Request { format: Format::Aria, limit: Some(30), ..plain() };
    let list = serde_json::to_value(room.take(&list).await).unwrap();
    let nodes = list["nodes"].as_array().unwrap().iter().map(|node| {
        let mut node = node.clone();
        // Chromium counts them through the whole process.
        node.as_object_mut().unwrap().remove("backendDOMNodeId");
        node.to_string()
    });
    insta::assert_snapshot!("aria", nodes.collect::<Vec<_>>().join("\n"));
    assert_eq!((&list["truncated"], list["next"].is_string()), (&true.into(), true));

    let role = requests.iter().find(|(name, _)| *name == "role_interactive").unwrap();
    let first = room.take(&role.1).await;
    room.stage
        .evaluate("document.querySelector('main').insertAdjacentHTML('afterbegin', '<button>Fresh</button>')")
        .await;
    let second = room.take(&role.1).await;
    insta::assert_snapshot!("delta", settled(&room, text(&second)));
    assert_ne!(text(&first), text(&second));
    room.stage.stop().await;
}

#[tokio::test]
async fn going_on_after_a_cut() {
    let mut room = Room::open("/big?n=300").await;
    let whole = room.text(&Request { max_chars: Some(0), ..Request::default() }).await;
    let mut request = Request { max_chars: Some(4_000), ..Request::default() };
    let mut lines: Vec<String> = Vec::new();
    while lines.len() < 10_000 {
        let part = room.take(&request).await;
        let body = text(&part).split("\n\n").next().unwrap();
        lines.extend(body.lines().map(|line| line.replace(" [new]", "")));
        let Some(next) = part.next else { break };
        request.after = Some(next);
    }
    assert_eq!(lines.join("\n"), whole);

    // A page that is another in between says so, and another document is refused.
    request.after = None;
    request.after = room.take(&request).await.next;
    room.stage.evaluate("document.querySelector('button').remove()").await;
    assert!(room.take(&request).await.changed);
    room.stage.open("/big?n=300").await;
    let error = room.ask(&request).await.unwrap_err();
    assert_eq!(error.to_string(), "after: the document changed since; take a new snapshot without `after`");
    room.stage.stop().await;
}
