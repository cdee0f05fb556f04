//! Hovering, dragging and scrolling on real Chromium.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;

use serde_json::json;
use tabvisor_page::act::{Effect, Modifiers, Scroll, Target, drag, hover, scroll, scroll_into_view};

use support::{Stage, budget, css_place, on};

#[tokio::test]
async fn hovering_shows_what_hovering_shows() {
    let stage = Stage::start().await;
    stage.show("<style>#tip{display:none} #b:hover + #tip{display:block}</style><button id=b>B</button><i id=tip>Tip</i><button id=d disabled>D</button>").await;
    let done = hover(&stage.page, &css_place("#b"), Modifiers::NONE, &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed, "{done:?}");
    assert_eq!(stage.evaluate("getComputedStyle(tip).display").await, "block");
    // Once more on the same place, and on what is disabled.
    for css in ["#b", "#d"] {
        let done = hover(&stage.page, &css_place(css), Modifiers::NONE, &budget()).await.unwrap();
        assert_eq!(done.effect, Effect::Confirmed, "{css} {done:?}");
    }
    assert_eq!(stage.clicks().await, json!([]));
    stage.stop().await;
}

#[tokio::test]
async fn dragging_with_the_pointer() {
    let stage = Stage::start().await;
    stage.show("<div id=knob style='position:absolute;left:20px;top:20px;width:30px;height:30px;background:red'></div>
        <div id=end style='position:absolute;left:400px;top:300px;width:80px;height:80px;background:blue'></div><script>
        knob.onpointerdown = event => { knob.setPointerCapture(event.pointerId); window.held = true };
        knob.onpointermove = event => { if (window.held) { knob.style.left = event.clientX + 'px'; knob.style.top = event.clientY + 'px' } };
        knob.onpointerup = () => window.held = false;
    </script>").await;
    let done = drag(&stage.page, &css_place("#knob"), &css_place("#end"), &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed, "{done:?}");
    assert_eq!(
        stage.evaluate("[held, knob.style.left, knob.style.top]").await,
        json!([false, "440px", "340px"])
    );
    stage.stop().await;
}

#[tokio::test]
async fn dragging_as_html_knows_it() {
    let stage = Stage::start().await;
    let page = "<div id=item draggable=true style='width:60px;height:30px;background:red'>Item</div><div style='height:1500px'></div>
        <div id=zone style='width:200px;height:100px;background:blue'>Zone</div><script>
        item.ondragstart = event => event.dataTransfer.setData('text/plain', 'cargo');
        zone.ondragover = event => { if (!window.closed_) event.preventDefault() };
        zone.ondrop = event => window.got = event.dataTransfer.getData('text/plain');
    </script>";
    stage.show(page).await;
    // The two are not in view together.
    let done = drag(&stage.page, &css_place("#item"), &css_place("#zone"), &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed, "{done:?}");
    assert_eq!(stage.evaluate("got").await, "cargo");
    assert_eq!(done.observed.pointer.unwrap().dropped_on.unwrap(), "div#zone \"Zone\"");
    stage.until("seen.includes('dragend item')").await;
    // A zone that takes nothing.
    stage.show(page).await;
    stage.evaluate("closed_ = true").await;
    let done = drag(&stage.page, &css_place("#item"), &css_place("#zone"), &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::SuspectedNoop, "{done:?}");
    assert_eq!(stage.evaluate("'got' in window").await, false);
    // A drag that the page keeps from beginning is one of the pointer.
    stage.show(page).await;
    stage.evaluate("item.ondragstart = event => event.preventDefault()").await;
    let done = drag(&stage.page, &css_place("#item"), &css_place("#zone"), &budget()).await.unwrap();
    assert!(done.observed.pointer.unwrap().events.contains(&"mouseup".to_owned()));
    // And nothing is held afterwards.
    stage.evaluate("seen.length = 0").await;
    assert_eq!(stage.click("#zone").await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.clicks().await, json!(["zone"]));
    // Into a frame.
    stage.serve("/inner", "<div id=zone style='height:100px'>In</div><script>zone.ondragover = event => event.preventDefault(); zone.ondrop = event => window.got = event.dataTransfer.getData('text/plain')</script>");
    stage.show("<div id=item draggable=true>Item</div><iframe src=/inner></iframe><script>item.ondragstart = event => event.dataTransfer.setData('text/plain', 'cargo')</script>").await;
    let zone = stage.element("frames[0].zone").await;
    let done = drag(&stage.page, &css_place("#item"), &on(zone), &budget()).await.unwrap();
    assert_eq!((done.effect, stage.evaluate("frames[0].got").await), (Effect::Confirmed, json!("cargo")));
    stage.stop().await;
}

#[tokio::test]
async fn the_wheel_tells_how_far_it_went() {
    let stage = Stage::start().await;
    stage.show("<div id=box style='height:200px;overflow:auto'><div style='height:1000px'>In</div></div><div style='height:5000px'></div>").await;
    let by = Scroll { dx: 0.0, dy: 300.0 };
    let done = scroll(&stage.page, None, by, &budget()).await.unwrap();
    let moved = done.observed.pointer.unwrap().scrolled.unwrap();
    assert_eq!((done.effect, json!(moved.y)), (Effect::Confirmed, json!(300.0)));
    assert_eq!(stage.evaluate("scrollY").await, json!(300));
    let done = scroll(&stage.page, Some(&css_place("#box")), by, &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed);
    assert_eq!(stage.evaluate("box.scrollTop").await, json!(300));
    let up = Scroll { dx: 0.0, dy: -9000.0 };
    scroll(&stage.page, Some(&css_place("#box")), up, &budget()).await.unwrap();
    stage.evaluate("scrollTo(0, 0)").await;
    let done = scroll(&stage.page, None, up, &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::SuspectedNoop, "at its end already: {done:?}");
    stage.show("<div id=map style='width:300px;height:300px'></div><script>
        map.addEventListener('wheel', event => { event.preventDefault(); window.zoom = event.deltaY }, { passive: false })</script>").await;
    let done = scroll(&stage.page, Some(&css_place("#map")), by, &budget()).await.unwrap();
    assert_eq!((done.effect, stage.evaluate("zoom").await), (Effect::Confirmed, json!(300)));
    assert_eq!(done.observed.pointer.unwrap().default_prevented, Some(true));
    let nothing = scroll(&stage.page, None, Scroll::default(), &budget()).await.unwrap_err();
    assert!(nothing.to_string().starts_with("dx, dy: "), "{nothing}");
    stage.stop().await;
}

#[tokio::test]
async fn scrolling_to_an_element() {
    let stage = Stage::start().await;
    stage.serve("/inner", "<div style='height:2000px'></div><p id=p>P</p>");
    stage.show("<div style='height:3000px'></div><p id=p>P</p><iframe src=HOST/inner></iframe><div style='height:3000px'></div>").await;
    let done = scroll_into_view(&stage.page, &Target::Css("#p".into()), &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed);
    let in_view = "(() => { const box = p.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight })()";
    assert_eq!(stage.evaluate(in_view).await, true);
    stage.evaluate("scrollTo(0, 0)").await;
    let frame = stage.frame().await;
    let p = stage.element_in(&frame, "p").await;
    let done = scroll_into_view(&stage.page, &Target::Element(p), &budget()).await.unwrap();
    assert!(done.observed.pointer.is_some());
    assert_eq!(support::evaluate(&frame, in_view).await, true);
    assert_eq!(
        stage.evaluate("document.querySelector('iframe').getBoundingClientRect().top < innerHeight").await,
        true
    );
    stage.stop().await;
}
