//! Screenshots on a real Chromium.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all snapshot tests")]

#[path = "snapshot/pages.rs"]
mod pages;
#[path = "screenshot/room.rs"]
mod room;
#[path = "snapshot/support.rs"]
mod support;

#[path = "screenshot/elements.rs"]
mod elements;
#[path = "screenshot/silent.rs"]
mod silent;

use std::time::Duration;

use room::{Room, options, pixel};
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::screenshot::limits::{MOST_BYTES, MOST_PIXELS};
use tabvisor_page::screenshot::{Format, Options, Rect, ShotError, What, capture};

#[tokio::test]
async fn a_view_and_a_whole_page() {
    let mut room = Room::open("/shot").await;
    room.stage
        .evaluate("window.resizes = 0; addEventListener('resize', () => resizes++); scrollTo(0, 40)")
        .await;
    let shot = room.take(&Options::default()).await;
    let size = room.stage.evaluate("[innerWidth, innerHeight]").await;
    assert_eq!(json!([shot.width, shot.height]), size);
    assert_eq!((shot.scale, shot.truncated, shot.format), (1.0, false, Format::Png));
    assert_eq!((pixel(&shot, 45.0, 25.0), pixel(&shot, 15.0, 15.0)), ([0, 255, 0], [255, 255, 0]));
    assert_eq!(room.stage.evaluate("resizes").await, 0, "a view does not disturb the page");

    let jpeg = room.take(&Options { format: Format::Jpeg(80), ..Options::default() }).await;
    assert!(jpeg.bytes.starts_with(&[0xff, 0xd8]) && jpeg.width == shot.width);

    let width = room.stage.evaluate("document.documentElement.clientWidth").await.as_f64().unwrap();
    let all = room.take(&options(What::FullPage)).await;
    assert!((all.clip.width - width).abs() < 2.0 && (all.clip.height - 3000.0).abs() < 2.0, "{:?}", all.clip);
    assert_eq!((all.height, all.clip.y.round(), all.truncated), (MOST_PIXELS, -40.0, false));
    // The element is at 2000 of the document.
    assert_eq!(pixel(&all, 350.0, 1985.0), [255, 0, 255]);
    assert_eq!(room.stage.evaluate("scrollY").await, 40);
    room.stage.stop().await;
}

#[tokio::test]
async fn two_device_pixels_for_one() {
    let mut room = Room::open("/shot").await;
    let metrics = json!({ "width": 900, "height": 700, "deviceScaleFactor": 2, "mobile": false });
    room.stage.call("Emulation.setDeviceMetricsOverride", metrics.clone()).await;
    let shot = room.take(&Options::default()).await;
    assert_eq!((shot.width, shot.height, shot.scale), (1_800, 1_400, 2.0));
    assert_eq!(pixel(&shot, 45.0, 65.0), [0, 255, 0]);
    let top = room.spot("#top").await;
    let shot = room.take(&options(What::Element(top))).await;
    assert_eq!((shot.width, shot.height, shot.clip), (200, 80, Rect::new(40.0, 60.0, 100.0, 40.0)));
    // More pixels than an image may have.
    let wide = json!({ "width": 1_500, "height": 700, "deviceScaleFactor": 2, "mobile": false });
    room.stage.call("Emulation.setDeviceMetricsOverride", wide).await;
    let shot = room.take(&Options::default()).await;
    assert_eq!(shot.width, MOST_PIXELS);
    assert_eq!((pixel(&shot, 45.0, 65.0), pixel(&shot, 35.0, 65.0)), ([0, 255, 0], [255; 3]));
    room.stage.stop().await;
}

#[tokio::test]
async fn zoomed_by_style_and_by_fingers() {
    let mut room = Room::open("/shot").await;
    room.stage.evaluate("document.documentElement.style.zoom = 1.5; 1").await;
    let top = room.spot("#top").await;
    let shot = room.take(&options(What::Element(top.clone()))).await;
    assert_eq!((shot.width, shot.height), (150, 60));
    assert_eq!(pixel(&shot, 61.0, 91.0), [0, 255, 0]);
    room.stage.evaluate("document.documentElement.style.zoom = 1; 1").await;
    let metrics = json!({ "width": 800, "height": 600, "deviceScaleFactor": 1, "mobile": true });
    room.stage.call("Emulation.setDeviceMetricsOverride", metrics).await;
    room.stage.call("Emulation.setPageScaleFactor", json!({ "pageScaleFactor": 2 })).await;
    let shot = room.take(&Options::default()).await;
    assert_eq!((pixel(&shot, 50.0, 70.0), pixel(&shot, 50.0, 110.0)), ([0, 255, 0], [255; 3]));
    room.stage.stop().await;
}

/// Ten thousand pixels of what no encoder makes smaller.
#[tokio::test]
async fn a_long_page_of_noise() {
    let mut room = Room::open("/shot").await;
    room.stage
        .evaluate(
            "document.body.innerHTML = '<canvas width=1200 height=10000 style=display:block>';
             const canvas = document.querySelector('canvas').getContext('2d');
             const noise = canvas.createImageData(1200, 10000), dots = new Uint32Array(noise.data.buffer);
             for (let at = 0, dot = 1; at < dots.length; at++)
               dots[at] = (dot = Math.imul(dot, 1664525) + 1013904223 | 0) | 0xff000000;
             canvas.putImageData(noise, 0, 0)",
        )
        .await;
    let shot = room.take(&options(What::FullPage)).await;
    assert_eq!((shot.height, shot.clip.height, shot.truncated), (MOST_PIXELS, 10_000.0, false));
    assert!(shot.bytes.len() <= MOST_BYTES);
    room.stage.evaluate("document.body.innerHTML = '<div style=height:1000000px>'; 1").await;
    let shot = room.take(&options(What::FullPage)).await;
    assert!(shot.truncated && shot.height == MOST_PIXELS && shot.clip.height < 17_000.0);
    room.stage.stop().await;
}

/// Of a window's tabs only the front one renders.
#[tokio::test]
async fn a_tab_behind_another() {
    let mut room = Room::open("/shot").await;
    let front = room.cover().await;
    assert_eq!(room.stage.evaluate("document.visibilityState").await, "hidden");
    for what in [What::View, What::FullPage, What::Element(room.spot("#low").await)] {
        room.take(&options(what)).await;
    }
    assert_eq!(room.stage.evaluate("document.visibilityState").await, "hidden");
    let asked = json!({ "expression": "document.visibilityState" });
    let said = front.call("Runtime.evaluate", asked, &support::budget()).await.unwrap();
    assert!(said.get().contains("visible"), "the neighbour stays in front");
    room.stage.stop().await;
}

#[tokio::test]
async fn a_stuck_page_costs_its_budget_only() {
    let mut room = Room::open("/shot").await;
    room.stage.call("Runtime.addBinding", json!({ "name": "began" })).await;
    let mut began = room.stage.session.subscribe(&["Runtime.bindingCalled"], 4);
    let script = json!({ "expression": "began(''); for (;;);" });
    let busy = room.stage.session.send("Runtime.evaluate", script).await.unwrap();
    support::budget().run(began.next()).await.unwrap();
    let budget = Budget::new(Duration::from_millis(300));
    let session = room.stage.session.clone();
    let page = tabvisor_page::screenshot::Page { session: &session, children: &[] };
    let error = capture(page, &Options::default(), &budget).await.unwrap_err();
    assert!(
        matches!(&error, ShotError::Link(_)) && error.to_string().contains("Page.getLayoutMetrics"),
        "{error}"
    );
    room.stage.call("Runtime.terminateExecution", json!({})).await;
    drop(busy);
    assert!(room.take(&Options::default()).await.width > 0);
    room.stage.stop().await;
}
