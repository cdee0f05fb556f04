//! What other tools were reported to get wrong, as far as snapshots and refs alone can show it.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all snapshot tests")]

#[path = "snapshot/pages.rs"]
mod pages;
#[path = "snapshot/room.rs"]
mod room;
#[path = "snapshot/support.rs"]
mod support;

use room::{Room, ref_on, text};
use serde_json::json;
use tabvisor_page::refs::{StaleReason, is_attached};
use tabvisor_page::snapshot::{FrameState, Request};

fn interactive() -> Request {
    Request { interactive: Some(true), ..Request::default() }
}

#[tokio::test]
async fn a_cross_site_frame_is_there_with_refs() {
    let mut room = Room::open("/frames").await;
    let shown = room.until(&interactive(), |text| text.contains("textbox \"Name\"")).await;
    let found = room.memory.resolve(ref_on(&shown, "textbox \"Name\"")).unwrap();
    assert_ne!(&found.frame, room.memory.documents().unwrap().main());
    assert!(found.backend_node_id.is_some());
    room.stage.stop().await;
}

#[tokio::test]
async fn clickable_elements_of_a_same_site_frame_have_refs() {
    let mut room = Room::open("/three").await;
    let clicky = room.stage.url("/clicky").replace("127.0.0.1", "b.localhost");
    let host = room.stage.url("/three").replace("127.0.0.1", "a.localhost");
    let mut parsed = room.stage.session.subscribe(&["Page.domContentEventFired"], 16);
    room.stage.call("Page.navigate", json!({ "url": host })).await;
    support::budget().run(parsed.next()).await.unwrap();
    room.stage
        .evaluate(&format!(
            "document.body.insertAdjacentHTML('beforeend', '<iframe title=Other src={clicky}></iframe>')"
        ))
        .await;
    let shown = room.until(&interactive(), |text| text.contains("\"By listener\"")).await;
    for clicky in ["\"By attribute\"", "\"by style\"", "\"By listener\""] {
        let reference = ref_on(&shown, clicky);
        assert!(reference.starts_with("f1e") && room.memory.resolve(reference).is_ok(), "{shown}");
    }
    let part = room.text(&Request { frame: Some("iframe".into()), ..interactive() }).await;
    assert_eq!(ref_on(&part, "\"By listener\""), ref_on(&shown, "\"By listener\""));
    room.stage.stop().await;
}

#[tokio::test]
async fn an_old_ref_means_what_it_meant() {
    let mut room = Room::open("/three").await;
    room.stage.evaluate("document.querySelectorAll('button').forEach(it => it.stamp = it.textContent)").await;
    let before = room.text(&interactive()).await;
    let second = ref_on(&before, "button \"B\"").to_owned();
    room.stage
        .evaluate("document.querySelector('main').insertAdjacentHTML('afterbegin', '<button>New</button>')")
        .await;
    let after = room.text(&interactive()).await;
    assert_eq!(room.stamp(&second).await, "B");
    // Unchanged elements keep their refs, and the new one has a number of its own.
    for name in ["A", "B", "C"] {
        let words = format!("button \"{name}\"");
        assert_eq!(ref_on(&after, &words), ref_on(&before, &words));
    }
    assert!(!before.contains(&format!("[ref={}]", ref_on(&after, "button \"New\""))));
    // Removed, it is stale and not its neighbour.
    room.stage.evaluate("document.querySelectorAll('button')[2].remove()").await;
    let found = room.memory.resolve(&second).unwrap().clone();
    let there =
        is_attached(&room.stage.session, &found.frame, found.backend_node_id.unwrap(), &support::budget())
            .await;
    assert!(!there.unwrap());
    room.memory.detached(found.id);
    room.text(&interactive()).await;
    assert_eq!(room.memory.resolve(&second).unwrap_err().reason, StaleReason::NodeDetached);
    room.stage.stop().await;
}

#[tokio::test]
async fn a_page_cannot_lie_about_what_is_attached() {
    let mut room = Room::open("/three").await;
    room.stage
        .evaluate(
            "document.querySelector('main').innerHTML = '<form role=button aria-label=F><input name=isConnected><input name=ownerDocument></form>';
             window.kept = document.querySelector('form'); 1",
        )
        .await;
    let shown = room.text(&interactive()).await;
    let found = room.memory.resolve(ref_on(&shown, "button \"F\"")).unwrap().clone();
    let (frame, node) = (&*found.frame, found.backend_node_id.unwrap());
    assert!(is_attached(&room.stage.session, frame, node, &support::budget()).await.unwrap());
    room.stage.evaluate("kept.remove()").await;
    assert!(!is_attached(&room.stage.session, frame, node, &support::budget()).await.unwrap());
    room.stage.stop().await;
}

#[tokio::test]
async fn refs_do_not_outlive_a_navigation() {
    let mut room = Room::open("/three").await;
    let before = room.text(&interactive()).await;
    let link = ref_on(&before, "link \"Go\"").to_owned();
    room.stage.open("/form").await;
    // Told by an event, before any other snapshot.
    let tree = room.stage.call("Page.getFrameTree", json!({})).await;
    let frame = &tree["frameTree"]["frame"];
    let id = |key: &str| frame[key].as_str().unwrap().into();
    room.memory.show(id("id"), id("loaderId"));
    assert_eq!(room.memory.resolve(&link).unwrap_err().reason, StaleReason::DocumentChanged);
    // And by a snapshot.
    room.text(&interactive()).await;
    assert_eq!(room.memory.resolve(&link).unwrap_err().reason, StaleReason::DocumentChanged);
    room.stage.stop().await;
}

#[tokio::test]
async fn shadow_trees_are_there() {
    let mut room = Room::open("/shadow").await;
    for request in [interactive(), Request::default()] {
        let shown = room.text(&request).await;
        for name in ["open button", "closed button", "closed clicky"] {
            assert!(shown.contains(name), "{name} is not in\n{shown}");
        }
    }
    room.stage.stop().await;
}

#[tokio::test]
async fn a_frame_that_never_loads_is_listed_and_not_waited_for() {
    let mut room = Room::open("/frames").await;
    let snapshot = room.take(&interactive()).await;
    assert!(text(&snapshot).contains("- Iframe \"Never\" [ref=e4] [frame=loading]"), "{}", text(&snapshot));
    let missing = snapshot.missing.unwrap();
    let never = missing.frames.iter().find(|it| &*it.name == "Never").unwrap();
    assert_eq!(Some(never.state), FrameState::Loading.word());
    room.stage.stop().await;
}

#[tokio::test]
async fn a_reading_that_is_given_up_leaves_nothing() {
    let mut room = Room::open("/three").await;
    let before = room.text(&interactive()).await;
    let part = Request { selector: Some("main".into()), ..interactive() };
    for polls in 0..40 {
        let plan = room.memory.begin(part.clone()).unwrap();
        let budget = support::budget();
        let reading = plan.read(&room.stage.session, &[], &budget);
        let mut reading = Box::pin(reading);
        // Given up at a different point every time.
        for _ in 0..polls {
            tokio::select! { biased; _ = &mut reading => break, () = tokio::task::yield_now() => {} }
        }
    }
    let lines = |text: &str| text.lines().map(str::trim_start).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&room.text(&part).await), lines(&before));
    room.stage.stop().await;
}
