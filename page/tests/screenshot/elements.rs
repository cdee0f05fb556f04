//! Where elements are, and marks on them.

use serde_json::{Value, json};
use tabvisor_page::screenshot::{
    Annotation, Element, Labelled, Measured, Options, Page, Rect, ShotError, Spot, What, boxes,
    capture_labelled,
};

use crate::room::{Room, ask, options, pixel};
use crate::support::budget;

const TRUTH: &str =
    "(it => { const {x, y, width, height} = it.getBoundingClientRect(); return [x, y, width, height] })";

fn near(one: Rect, other: [f64; 4]) -> bool {
    [one.x - other[0], one.y - other[1], one.width - other[2], one.height - other[3]]
        .iter()
        .all(|it| it.abs() <= 1.0)
}

fn four(value: &Value) -> [f64; 4] {
    serde_json::from_value(value.clone()).unwrap()
}

async fn measure(room: &Room, spots: &[Spot]) -> Vec<Measured> {
    let page = Page { session: &room.stage.session, children: &room.children };
    boxes(page, spots, &budget()).await.unwrap()
}

fn found(measured: &Measured) -> Rect {
    let Measured::Box(place) = measured else { panic!("{measured:?}") };
    place.rect
}

/// The page's own truth, of frames too: content at (112, 212), the other one at 0.8.
async fn truth(room: &Room) -> [[f64; 4]; 6] {
    let own = async |css: &str| {
        four(&room.stage.evaluate(&format!("{TRUTH}(document.querySelector('{css}'))")).await)
    };
    let [top, turned, scrolled] = [own("#top").await, own("#turned").await, own("#scrolled").await];
    let (same, other) = (own("#same").await, own("#other").await);
    let inside = format!("{TRUTH}(document.querySelector('#same').contentDocument.querySelector('#in'))");
    let inner = four(&room.stage.evaluate(&inside).await);
    let in_same = [same[0] + 12.0 + inner[0], same[1] + 12.0 + inner[1], inner[2], inner[3]];
    let expression = format!("{TRUTH}(document.querySelector('#in'))");
    let asked = json!({ "expression": expression, "returnByValue": true });
    let inner = four(&ask(&room.children[0].1, "Runtime.evaluate", asked).await["result"]["value"]);
    let in_other = [
        other[0] + 0.8 * (12.0 + inner[0]),
        other[1] + 0.8 * (12.0 + inner[1]),
        0.8 * inner[2],
        0.8 * inner[3],
    ];
    [top, turned, scrolled, same, in_same, in_other]
}

#[tokio::test]
async fn boxes_are_the_pages_own_truth() {
    let room = Room::open("/shot").await;
    let spots = [
        room.spot("#top").await,
        room.spot("#turned").await,
        room.spot("#scrolled").await,
        room.spot("#same").await,
        room.spot_in_same("#in").await,
        room.spot_in_other("#in").await,
    ];
    for scroll in [0, 120] {
        room.stage.evaluate(&format!("scrollTo(0, {scroll})")).await;
        for (measured, truth) in measure(&room, &spots).await.iter().zip(truth(&room).await) {
            assert!(near(found(measured), truth), "{measured:?} {truth:?}");
        }
    }
    // Frames and what scrolls hide what they do not show.
    let hidden = [room.spot_in_same("#far").await, room.spot_in_other("#far").await, spots[2].clone()];
    let hidden = measure(&room, &hidden).await;
    assert!(
        hidden.iter().all(|it| matches!(it, Measured::Box(place) if place.shown.is_none())),
        "{hidden:?}"
    );
    let none = room.spot("#none").await;
    let gone = Spot { backend_node_id: 999_999, ..none.clone() };
    let elsewhere = Spot { target: Some("F".into()), ..none.clone() };
    let moved = Spot { frame: "F".into(), ..spots[0].clone() };
    let odd = measure(&room, &[none, gone, elsewhere, moved]).await;
    assert_eq!(odd, [Measured::NoBox, Measured::Gone, Measured::Gone, Measured::Gone]);
    room.stage.stop().await;
}

#[tokio::test]
async fn an_element_in_every_kind_of_frame() {
    let mut room = Room::open("/shot").await;
    for (spot, colour, size) in [
        (room.spot("#top").await, [0, 255, 0], (100, 40)),
        (room.spot("#low").await, [255, 0, 255], (120, 50)),
        (room.spot("#scrolled").await, [0, 255, 255], (60, 30)),
        (room.spot_in_same("#in").await, [255, 136, 0], (120, 40)),
        (room.spot_in_same("#far").await, [0, 136, 255], (120, 40)),
        (room.spot_in_other("#in").await, [255, 136, 0], (96, 32)),
        (room.spot_in_other("#far").await, [0, 136, 255], (96, 32)),
    ] {
        let shot = room.take(&options(What::Element(spot.clone()))).await;
        let (width, height) = (shot.width.abs_diff(size.0), shot.height.abs_diff(size.1));
        assert!(width <= 1 && height <= 1, "{spot:?} {}x{}", shot.width, shot.height);
        let middle = (shot.clip.x + shot.clip.width / 2.0, shot.clip.y + shot.clip.height / 2.0);
        assert_eq!(pixel(&shot, middle.0, middle.1), colour, "{spot:?}");
        assert_eq!(pixel(&shot, shot.clip.x + 2.0, shot.clip.y + 2.0), colour, "{spot:?}");
        assert!(!shot.truncated, "{spot:?}");
    }
    let none = room.spot("#none").await;
    let gone = Spot { backend_node_id: 999_999, ..none.clone() };
    assert_eq!(room.try_take(&options(What::Element(none))).await, Err(ShotError::NoBox));
    assert_eq!(room.try_take(&options(What::Element(gone))).await, Err(ShotError::Gone));
    room.stage.stop().await;
}

async fn label(room: &Room, what: What, spots: &[(&str, Spot)]) -> Labelled {
    let element = |(reference, spot): &(&str, Spot)| Element {
        r#ref: (*reference).into(),
        role: "button".into(),
        name: "".into(),
        spot: spot.clone(),
    };
    let page = Page { session: &room.stage.session, children: &room.children };
    let elements = spots.iter().map(element).collect();
    capture_labelled(page, &Options { what, ..Options::default() }, elements, &budget()).await.unwrap()
}

/// The outermost pixels of a mark have its colour, those around them are white.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn is_drawn(labelled: &Labelled, it: &Annotation) -> bool {
    let image = image::load_from_memory(&labelled.shot.bytes).unwrap().into_rgb8();
    let (left, top) = (it.r#box.x as u32, it.r#box.y as u32);
    let (right, bottom) = (it.r#box.right() as u32 - 1, it.r#box.bottom() as u32 - 1);
    let middle = top.midpoint(bottom);
    let colour = *image.get_pixel(right, bottom);
    [(left, middle), (right, middle), (left, bottom)].iter().all(|(x, y)| *image.get_pixel(*x, *y) == colour)
        && image.get_pixel(left - 1, middle).0 == [255; 3]
        && image.get_pixel(right + 1, middle).0 == [255; 3]
}

#[tokio::test]
async fn labels_land_on_their_elements() {
    let room = Room::open("/shot").await;
    let spots = [
        ("e1", room.spot("#top").await),
        ("e2", room.spot("#turned").await),
        ("e3", room.spot("#low").await),
        ("e4", room.spot("#none").await),
        ("f1e3", room.spot_in_same("#in").await),
        ("f2e3", room.spot_in_other("#in").await),
        ("f2e4", room.spot_in_other("#far").await),
    ];
    let before = room.stage.evaluate("document.documentElement.outerHTML").await;
    for device in [1, 2] {
        let metrics = json!({ "width": 900, "height": 700, "deviceScaleFactor": device, "mobile": false });
        room.stage.call("Emulation.setDeviceMetricsOverride", metrics).await;
        room.stage.evaluate("scrollTo(0, 20)").await;
        let [top, turned, _, _, in_same, in_other] = truth(&room).await;
        let mut labelled = label(&room, What::View, &spots).await;
        // A frame in a process of its own is laid out anew a moment after the page around it.
        for _ in 0..50 {
            if labelled.labels_count == 4 {
                break;
            }
            labelled = label(&room, What::View, &spots).await;
        }
        let refs: Vec<_> = labelled.annotations.iter().map(|it| &*it.r#ref).collect();
        assert_eq!(refs, ["e1", "e2", "f1e3", "f2e3"]);
        assert_eq!((labelled.labels_count, labelled.labels_skipped), (4, 3));
        for (it, truth) in labelled.annotations.iter().zip([top, turned, in_same, in_other]) {
            assert!(near(it.r#box.scaled(1.0 / f64::from(device)), truth), "{it:?} {truth:?}");
            assert!(is_drawn(&labelled, it), "{it:?}");
        }
        let all = label(&room, What::FullPage, &spots[..3]).await;
        assert_eq!(all.labels_count, 3);
        assert!(all.annotations.iter().all(|it| is_drawn(&all, it)), "{:?}", all.annotations);
    }
    assert_eq!(room.stage.evaluate("document.documentElement.outerHTML").await, before);
    let json = serde_json::to_value(label(&room, What::View, &spots[..1]).await).unwrap();
    assert_eq!(
        (&json["labels"], &json["labelsCount"], &json["labelsSkipped"], &json["imageType"]),
        (&json!(true), &json!(1), &json!(0), &json!("png"))
    );
    assert_eq!(json["annotations"][0]["ref"], "e1");
    assert!(json.get("imagePath").is_none() && json.get("shot").is_none());
    room.stage.stop().await;
}
