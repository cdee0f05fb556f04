//! Chromiums that never answer.

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::fake::{Act, FakeChrome};
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Purpose, Session};
use tabvisor_page::screenshot::{Measured, Options, Page, ShotError, Spot, boxes, capture};

use crate::support::budget;

/// A page on which everything but a shot is answered.
async fn page(fake: &FakeChrome) -> (Link, Session) {
    let viewport = json!({
        "pageX": 0, "pageY": 0, "offsetX": 0, "offsetY": 0, "clientWidth": 800, "clientHeight": 600, "scale": 1,
    });
    let metrics = json!({
        "cssLayoutViewport": viewport, "cssVisualViewport": viewport, "visualViewport": viewport,
        "cssContentSize": { "x": 0, "y": 0, "width": 800, "height": 600 },
    });
    fake.on("Page.getLayoutMetrics").act(Act::Reply(metrics));
    fake.on("Page.startScreencast").act(Act::Reply(json!({})));
    fake.on("Page.stopScreencast").act(Act::Reply(json!({})));
    fake.on("DOMSnapshot.captureSnapshot").act(Act::Reply(layout()));
    fake.on("Page.captureScreenshot").act(Act::Never);
    let address = fake.browser_url().parse().unwrap();
    let options = LinkOptions::new(Purpose::Page);
    let link = Link::connect(&address, &DialOptions::default(), options, &budget()).await.unwrap();
    let session = link.attach(&fake.targets()[0], &budget()).await.unwrap();
    (link, session)
}

fn layout() -> Value {
    json!({ "documents": [{
        "frameId": 0, "nodes": { "backendNodeId": [7] },
        "layout": { "nodeIndex": [0], "bounds": [[1, 2, 3, 4]] },
    }], "strings": ["M"] })
}

#[tokio::test]
async fn a_page_without_frames_is_said_within_the_budget() {
    let fake = FakeChrome::start().await;
    let (_link, session) = page(&fake).await;
    let page = Page { session: &session, children: &[] };
    let budget = Budget::new(Duration::from_millis(400));
    let error = capture(page, &Options::default(), &budget).await.unwrap_err();
    assert!(matches!(error, ShotError::NotRendering { .. }), "{error}");
    assert_eq!(error.reason(), Some("not_rendering"));
    assert!(error.to_string().starts_with("Page.captureScreenshot: "), "{error}");
    // It does not go on, and the next command works.
    fake.wait_for_call(|call| call.method == "Page.stopScreencast").await;
    session.call("Page.getLayoutMetrics", json!({}), &crate::support::budget()).await.unwrap();
}

#[tokio::test]
async fn a_caller_that_goes_away_is_no_page_without_frames() {
    let fake = FakeChrome::start().await;
    let (_link, session) = page(&fake).await;
    let page = Page { session: &session, children: &[] };
    let (budget, options) = (budget(), Options::default());
    let leaves = async {
        fake.wait_for_call(|call| call.method == "Page.captureScreenshot").await;
        budget.cancel();
    };
    let (result, ()) = tokio::join!(capture(page, &options, &budget), leaves);
    assert!(matches!(result, Err(ShotError::Link(CdpError::Spent { .. }))), "{result:?}");
    fake.wait_for_call(|call| call.method == "Page.stopScreencast").await;
}

#[tokio::test]
async fn a_silent_frame_costs_its_own_elements() {
    let fake = FakeChrome::start().await;
    let (link, session) = page(&fake).await;
    let other = fake.open("about:blank");
    let silent = link.attach(&other, &budget()).await.unwrap();
    fake.on("DOMSnapshot.captureSnapshot").target(&other).act(Act::Never);
    let children = [("F".into(), silent)];
    let page = Page { session: &session, children: &children };
    let spots = [None, Some("F".into())].map(|target| Spot {
        frame: target.clone().unwrap_or_else(|| "M".into()),
        target,
        backend_node_id: 7,
    });
    let measured = boxes(page, &spots, &Budget::new(Duration::from_secs(2))).await.unwrap();
    assert!(matches!(measured[..], [Measured::Box(_), Measured::Unheard]), "{measured:?}");
    // As many commands as for one element.
    assert_eq!(fake.calls("DOMSnapshot.captureSnapshot").len(), 2);
}
