//! A page that goes to another document while it is read, on a scripted Chrome.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::fake::{Act, FakeChrome};
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Purpose};
use tabvisor_page::refs::RefTable;
use tabvisor_page::snapshot::{
    Capture, FrameState, Limits, Part, SnapshotError, TextOptions, capture, render_role,
};

/// Frames with these documents: the main frame's, and a child's.
fn frames(main: &str, child: &str) -> Act {
    let frame = |id: &str, document: &str| json!({ "id": id, "loaderId": document, "url": "http://test/" });
    let mut inner = frame("C", child);
    inner["parentId"] = "M".into();
    Act::Reply(json!({ "frameTree": { "frame": frame("M", main), "childFrames": [{ "frame": inner }] } }))
}

fn tree() -> Value {
    let node = |id: &str, role: &str, children: &[&str]| {
        let number: i64 = id.parse().unwrap();
        json!({ "nodeId": id, "ignored": false, "role": { "value": role }, "name": { "value": "" },
                "childIds": children, "backendDOMNodeId": number })
    };
    json!({ "nodes": [node("1", "RootWebArea", &["2", "3"]), node("2", "button", &[]), node("3", "Iframe", &[])] })
}

/// Reads a page whose frames show these documents, one pair for every time that it is asked.
async fn read(documents: &[(&str, &str)]) -> Result<Capture, SnapshotError> {
    let fake = FakeChrome::start().await;
    fake.on("Accessibility.getFullAXTree").act(Act::Reply(tree()));
    fake.on("DOM.getFrameOwner").act(Act::Reply(json!({ "backendNodeId": 3 })));
    let no_styles = Act::Error { code: -32000, message: "Snapshots are not enabled".into() };
    fake.on("DOMSnapshot.captureSnapshot").act(no_styles);
    // The newest rule comes first.
    for (index, (main, child)) in documents.iter().enumerate().rev() {
        let rule = fake.on("Page.getFrameTree");
        let rule = if index + 1 == documents.len() { rule } else { rule.times(1) };
        rule.act(frames(main, child));
    }
    let budget = Budget::new(Duration::from_secs(20));
    let address = fake.page_url(&fake.targets()[0]).parse().unwrap();
    let link =
        Link::connect(&address, &DialOptions::default(), LinkOptions::new(Purpose::Page), &budget).await;
    let link = link.unwrap();
    capture(&link.root(), &[], &Part::default(), &Limits::default(), &budget).await
}

#[tokio::test]
async fn a_page_that_changed_once_is_read_again() {
    let page = read(&[("m1", "c"), ("m2", "c")]).await.unwrap();
    assert!(page.read_again);
    assert_eq!(&**page.documents.main_document(), "m2");
    let still = read(&[("m1", "c")]).await.unwrap();
    assert!(!still.read_again && still.frames.iter().all(|frame| frame.state == FrameState::Read));
}

#[tokio::test]
async fn a_page_that_keeps_changing_is_an_answer_that_says_so() {
    let error = read(&[("m1", "c"), ("m2", "c"), ("m3", "c"), ("m4", "c")]).await.unwrap_err();
    assert_eq!(error, SnapshotError::DocumentChanged);
    assert_eq!(error.to_string(), "Frame changed while its browser snapshot was being captured; retry.");
}

#[tokio::test]
async fn a_frame_that_changed_costs_only_itself() {
    let page = read(&[("m", "c1"), ("m", "c2")]).await.unwrap();
    assert_eq!(
        (page.read_again, page.frames[1].state, page.not_read.frames),
        (false, FrameState::Changed, 1)
    );
    let rendered = render_role(&page, &mut RefTable::default(), &TextOptions::default(), None);
    let lines = "- RootWebArea\n  - button [ref=e1]\n  - Iframe [ref=e2] [frame=changed]";
    assert_eq!(rendered.text, format!("{lines}\n\n[...INCOMPLETE - not read: 1 frame]"));
}
