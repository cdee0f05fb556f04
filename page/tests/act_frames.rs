//! Actions in frames of both kinds: in the page's process, and in one of their own.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;

use serde_json::json;
use tabvisor_page::act::{Click, Effect, Place, Point, drag};

use support::{Stage, budget, evaluate, on};

const INNER: &str = "<style>body{margin:0}</style><button id=b style='position:absolute;left:30px;top:40px;width:60px;height:20px'>B</button>
    <div style='height:2000px'></div><button id=far>Far</button>";

#[tokio::test]
async fn the_offset_of_a_frame_of_the_same_process_counts_once() {
    let stage = Stage::start().await;
    // F4.
    stage.serve("/inner", INNER);
    stage.show("<iframe src=/inner style='position:absolute;left:100px;top:400px;width:300px;height:150px;border:5px solid;padding:7px'></iframe>
        <div style='height:3000px'></div>").await;
    let b = stage.element("frames[0].document.querySelector('#b')").await;
    let done = stage.click_on(&on(b.clone()), &Click::default()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed, "{done:?}");
    assert_eq!(
        done.observed.pointer.unwrap().point,
        Point { x: 100.0 + 12.0 + 60.0, y: 400.0 + 12.0 + 50.0 }
    );
    let far = stage.element("frames[0].document.querySelector('#far')").await;
    assert_eq!(stage.click_on(&on(far), &Click::default()).await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.evaluate("frames[0].clicks()").await, json!(["b", "far"]));
    // Scaled, and scrolled away in the page around it.
    stage
        .evaluate("scrollTo(0, 2500); document.querySelector('iframe').style.transform = 'scale(0.5)'")
        .await;
    assert_eq!(stage.click_on(&on(b.clone()), &Click::default()).await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.evaluate("frames[0].clicks().at(-1)").await, "b");
    // What covers the frame covers its elements.
    stage.evaluate("const over = document.createElement('div'); over.id = 'over'; over.style.cssText = 'position:fixed;inset:0'; document.body.append(over); frames[0].seen.length = 0").await;
    let refused = stage.click_on(&on(b), &Click::default()).await.unwrap_err();
    assert_eq!(refused.kind(), "covered");
    assert!(refused.to_string().contains("div#over"), "{refused}");
    assert_eq!(stage.evaluate("frames[0].seen").await, json!([]));
    stage.stop().await;
}

#[tokio::test]
async fn a_frame_in_a_process_of_its_own() {
    let stage = Stage::start().await;
    stage.serve("/inner", INNER);
    stage.show("<div style='height:1500px'></div>
        <iframe src=HOST/inner style='position:relative;left:100px;width:300px;height:150px;border:5px solid;padding:7px'></iframe>
        <div style='height:3000px'></div>").await;
    let frame = stage.frame().await;
    let b = stage.element_in(&frame, "document.querySelector('#b')").await;
    assert!(b.process.is_some());
    let done = stage.click_on(&on(b.clone()), &Click::default()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed, "{done:?}");
    let truth = stage.evaluate("(() => { const box = document.querySelector('iframe').getBoundingClientRect(); return { x: box.x + 72, y: box.y + 62 } })()").await;
    assert_eq!(
        serde_json::to_value(done.observed.pointer.as_ref().unwrap().point).unwrap(),
        json!({ "x": truth["x"].as_f64(), "y": truth["y"].as_f64() })
    );
    let far = stage.element_in(&frame, "document.querySelector('#far')").await;
    assert_eq!(stage.click_on(&on(far), &Click::default()).await.unwrap().effect, Effect::Confirmed);
    assert_eq!(evaluate(&frame, "clicks()").await, json!(["b", "far"]));
    // By coordinates, through the frame.
    stage.click_on(&on(b.clone()), &Click::default()).await.unwrap();
    let point = done.observed.pointer.unwrap().point;
    let box_now =
        stage.evaluate("document.querySelector('iframe').getBoundingClientRect().y").await.as_f64().unwrap();
    let at = Place::At(Point { x: point.x, y: box_now + 62.0 });
    let done = stage.click_on(&at, &Click::default()).await.unwrap();
    assert_eq!(
        (done.effect, done.observed.pointer.unwrap().hit.unwrap().as_str()),
        (Effect::Confirmed, "button#b \"B\"")
    );
    evaluate(&frame, "seen.length = 0").await;
    stage.evaluate("const over = document.createElement('div'); over.id = 'over'; over.style.cssText = 'position:fixed;inset:0'; document.body.append(over)").await;
    let refused = stage.click_on(&on(b.clone()), &Click::default()).await.unwrap_err();
    assert_eq!(refused.kind(), "covered");
    assert_eq!(evaluate(&frame, "seen").await, json!([]));
    // The frame goes: its elements are stale.
    stage.evaluate("document.querySelector('iframe').remove()").await;
    let refused = stage.click_on(&on(b), &Click::default()).await.unwrap_err();
    assert_eq!(refused.kind(), "stale_ref");
    stage.stop().await;
}

#[tokio::test]
async fn a_frame_in_a_frame() {
    let stage = Stage::start().await;
    stage.serve("/innermost", INNER);
    // Out of view in the frame, which is out of view in the page and taller than the viewport.
    stage.serve("/inner", "<div style='height:2500px'></div><iframe src=/innermost style='margin-left:50px;height:100px'></iframe>");
    stage.show("<div style='height:1500px'></div><iframe src=HOST/inner style='width:400px;height:3000px'></iframe>").await;
    let frame = stage.frame().await;
    for _ in 0..300 {
        if evaluate(&frame, "!!frames[0].clicks && frames[0].document.readyState === 'complete'").await
            == true
        {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let far = stage.element_in(&frame, "frames[0].document.querySelector('#far')").await;
    let done = stage.click_on(&on(far), &Click::default()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed, "{done:?}");
    assert_eq!(evaluate(&frame, "frames[0].clicks()").await, json!(["far"]));
    stage.stop().await;
}

#[tokio::test]
async fn dragging_inside_a_frame_in_a_process_of_its_own() {
    let stage = Stage::start().await;
    stage.serve("/inner", "<style>div{width:80px;height:50px;background:red;margin:9px}</style><div id=item draggable=true>Item</div><div id=zone>Zone</div><script>
        item.ondragstart = event => event.dataTransfer.setData('text/plain', 'cargo');
        zone.ondragover = event => event.preventDefault();
        zone.ondrop = event => window.got = event.dataTransfer.getData('text/plain')</script>");
    stage.show("<iframe src=HOST/inner></iframe>").await;
    let frame = stage.frame().await;
    let (item, zone) = (stage.element_in(&frame, "item").await, stage.element_in(&frame, "zone").await);
    let done = drag(&stage.page, &on(item), &on(zone), &budget()).await;
    assert_eq!(done.as_ref().map(|it| it.effect), Ok(Effect::Confirmed), "{done:?}");
    assert_eq!(evaluate(&frame, "got").await, "cargo");
    stage.stop().await;
}

#[tokio::test]
async fn a_frame_beside_that_hangs_costs_nothing() {
    let stage = Stage::start().await;
    stage.serve("/inner", INNER);
    stage.serve("/stuck", "Stuck");
    stage.show("<iframe src=/inner></iframe><iframe src=HOST/stuck></iframe>").await;
    stage.frame().await.cast("Runtime.evaluate", json!({ "expression": "for(;;);" }));
    let b = stage.element("frames[0].document.querySelector('#b')").await;
    let done = stage.click_on(&on(b), &Click::default()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed, "{done:?}");
    stage.stop().await;
}
