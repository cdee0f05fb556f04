//! Parts of a page, by selector and by frame, on a real Chromium.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all snapshot tests")]

#[path = "snapshot/pages.rs"]
mod pages;
#[path = "snapshot/room.rs"]
mod room;
#[path = "snapshot/support.rs"]
mod support;

use room::{Room, ref_on, text};
use tabvisor_page::refs::StaleReason;
use tabvisor_page::snapshot::{Body, Format, Request, SnapshotError};

fn by(selector: &str) -> Request {
    Request { selector: Some(selector.into()), ..Request::default() }
}

fn in_frame(frame: &str) -> Request {
    Request { frame: Some(frame.into()), ..Request::default() }
}

fn interactive() -> Request {
    Request { interactive: Some(true), ..Request::default() }
}

#[tokio::test]
async fn a_selector_names_a_part_of_the_page() {
    let mut room = Room::open("/parts").await;
    let part = room.text(&Request { interactive: Some(true), ..by("main") }).await;
    let lines: Vec<&str> = part.lines().collect();
    assert_eq!(
        lines,
        [
            "- button \"Save\" [ref=e7]",
            "- button \"Save\" [ref=e8] [nth=1]",
            "- link \"In a span\" [ref=e9]",
            "- generic \"Clicky\" [ref=e6] [cursor:pointer]",
        ]
    );
    // Refs are those of the whole page, and mean the same elements.
    let whole = room.text(&interactive()).await;
    let part = room.text(&Request { interactive: Some(true), ..by("#second") }).await;
    assert_eq!(ref_on(&whole, "[nth=1]"), ref_on(&part, "\"Save\""));
    // An element that the tree leaves out stands for what is in it.
    assert_eq!(
        room.text(&Request { interactive: Some(true), ..by("#plain") }).await,
        "- link \"In a span\" [ref=e9]"
    );
    let list = room.take(&Request { format: Format::Aria, ..by("#second") }).await;
    let Body::List(list) = &list.body else { panic!("no list") };
    assert!(list.nodes.iter().any(|node| &*node.role == "button") && list.nodes.len() < 16, "{list:?}");
    room.stage.stop().await;
}

#[tokio::test]
async fn a_selector_that_matches_nothing_is_answered_at_once() {
    let mut room = Room::open("/parts").await;
    for nothing in ["#none", "[id=\"it's \\\"none\\\"\"]", "head > title > p"] {
        let empty = room.take(&by(nothing)).await;
        assert_eq!((text(&empty), empty.truncated, &empty.missing), ("(empty)", false, &None));
    }
    for (request, field) in [(by("a["), "selector"), (in_frame("a["), "frame")] {
        let error = room.ask(&request).await.unwrap_err();
        assert_eq!(error, SnapshotError::BadSelector { field, text: "a[".into() });
        assert_eq!(error.field(), Some(field));
        assert!(error.to_string().starts_with(field));
    }
    assert_eq!(room.ask(&in_frame("#none")).await.unwrap_err(), SnapshotError::NoFrame("#none".into()));
    assert_eq!(room.ask(&in_frame("main")).await.unwrap_err(), SnapshotError::NotAFrame("main".into()));
    room.stage.stop().await;
}

#[tokio::test]
async fn a_page_cannot_stand_between_a_selector_and_its_element() {
    let mut room = Room::open("/parts").await;
    room.stage
        .evaluate(
            "document.body.insertAdjacentHTML('beforeend', '<form name=querySelector></form>');
             Document.prototype.querySelector = () => { throw new DOMException('no') }; 1",
        )
        .await;
    let part = room.text(&Request { interactive: Some(true), ..by("#second") }).await;
    assert!(part.contains("\"Save\""), "{part}");
    room.stage.stop().await;
}

#[tokio::test]
async fn a_frame_is_a_part_in_every_process() {
    let mut room = Room::open("/frames").await;
    let there = |text: &str| text.contains("\"Deep clicky\"") && text.contains("textbox \"Name\"");
    let whole = room.until(&interactive(), there).await;
    for (css, iframe, inside, outside) in [
        ("iframe[title=Same]", "\"Same\"", "\"Deep inside\"", "\"Outside\""),
        ("iframe[title=Cross]", "\"Cross\"", "textbox \"Name\"", "\"Deep inside\""),
    ] {
        let reference = ref_on(&whole, iframe);
        let by_css = room.text(&Request { interactive: Some(true), ..in_frame(css) }).await;
        let by_ref = room.text(&Request { interactive: Some(true), ..in_frame(reference) }).await;
        assert!(by_css.contains(inside) && !by_css.contains(outside), "{by_css}");
        assert_eq!(ref_on(&by_css, inside), ref_on(&whole, inside));
        let lines = |text: &str| text.lines().map(|it| it.replace(" [new]", "")).collect::<Vec<_>>();
        assert_eq!(lines(&by_css), lines(&by_ref));
    }
    // A frame in a frame, and a selector in it.
    let nested = in_frame(ref_on(&whole, "\"Innermost\""));
    let found = room.text(&Request { selector: Some("div".into()), ..nested.clone() }).await;
    let clicky = ref_on(&whole, "\"Deep clicky\"");
    assert!(found.starts_with(&format!("- generic \"Deep clicky\" [ref={clicky}] [onclick]")), "{found}");
    let list = room.take(&Request { format: Format::Aria, ..nested }).await;
    assert!(matches!(&list.body, Body::List(list) if &*list.nodes[0].name == "Innermost"));
    let field = Request { selector: Some("[aria-label=Name]".into()), ..in_frame("iframe[title=Cross]") };
    let name = ref_on(&whole, "textbox \"Name\"");
    assert!(room.text(&field).await.starts_with(&format!("- textbox \"Name\" [ref={name}]")));
    // What is asked for is not there: it says why, and waits for nothing.
    for (css, state) in [
        ("iframe[title=Never]", "loading"),
        ("iframe[title=Broken]", "failed"),
        ("iframe[title=Lazy]", "not-loaded"),
    ] {
        let empty = room.take(&in_frame(css)).await;
        assert_eq!((text(&empty), empty.missing.as_ref().unwrap().frames[0].state), ("(empty)", state));
    }
    assert_eq!(room.memory.resolve("e1").unwrap().role, "button".into());
    // Its document is another one, though nobody told yet.
    let inside = ref_on(&whole, "\"Innermost\"").to_owned();
    let go = "document.querySelector('iframe')";
    room.stage
        .evaluate(&format!(
            "new Promise(done => {{ {go}.onload = done; {go}.src = '/inner' }}).then(() => 1)"
        ))
        .await;
    let SnapshotError::StaleFrame(stale) = room.ask(&in_frame(&inside)).await.unwrap_err() else {
        panic!("not stale")
    };
    assert_eq!(stale.reason, StaleReason::FrameChanged);
    let button = ref_on(&whole, "\"Outside\"");
    assert_eq!(room.ask(&in_frame(button)).await.unwrap_err(), SnapshotError::NotAFrame(button.into()));
    room.stage.open("/three").await;
    room.text(&interactive()).await;
    let SnapshotError::StaleFrame(stale) = room.ask(&in_frame("e2")).await.unwrap_err() else {
        panic!("not stale")
    };
    assert_eq!(stale.reason, StaleReason::DocumentChanged);
    room.stage.stop().await;
}
