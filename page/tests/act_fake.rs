//! What a real Chromium cannot be made to do, on a scripted one: its record tells what was sent.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::fake::{Act, FakeChrome};
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Purpose};
use tabvisor_page::act::{
    ActError, ActPage, Click, Effect, Element, Modifiers, Need, Outcome, Place, Point, Scroll, Target, click,
    click_by_events, drag, hover, make_ready, scroll, scroll_into_view,
};
use tabvisor_page::condition::Condition;
use tabvisor_page::dialog::{Dialog, DialogKind};
use tabvisor_page::frame_sessions::FrameSessions;
use tokio::sync::watch;

struct Rig {
    fake: FakeChrome,
    page: ActPage,
    condition: watch::Sender<Condition>,
    _link: Link,
}

fn budget() -> Budget {
    Budget::new(Duration::from_secs(20))
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn given(value: Value) -> Act {
    Act::Reply(json!({ "result": { "type": "object", "value": value } }))
}

fn alert() -> Dialog {
    Dialog { id: "d7".into(), kind: DialogKind::Alert, message: "m".into(), default_value: None }
}

fn css() -> Target {
    Target::Css("#b".into())
}

/// The ref of an element in the document `m1`.
fn element() -> Target {
    Target::Element(Element {
        name: "e8".into(),
        backend_node_id: 3,
        frame: "M".into(),
        document: "m1".into(),
        process: None,
    })
}

impl Rig {
    /// A page that has one button, which is ready, and hears the click.
    async fn start() -> Self {
        let fake = FakeChrome::start().await;
        fake.on("Page.createIsolatedWorld").act(Act::Reply(json!({ "executionContextId": 7 })));
        fake.on("DOM.resolveNode").act(Act::Reply(json!({ "object": { "objectId": "o" } })));
        fake.on("Input.dispatchMouseEvent").act(Act::Reply(json!({})));
        let rig = {
            let options = LinkOptions::new(Purpose::Page);
            let address = fake.browser_url().parse().unwrap();
            let link = Link::connect(&address, &DialOptions::default(), options, &budget()).await.unwrap();
            let session = link.attach(&fake.targets()[0], &budget()).await.unwrap();
            let (condition, watched) = watch::channel(Condition::default());
            let page =
                ActPage { session, main: "M".into(), frames: FrameSessions::default(), condition: watched };
            Self { fake, page, condition, _link: link }
        };
        rig.shows("m1");
        rig.when("Document.prototype.querySelectorAll", Act::Reply(json!({ "result": { "objectId": "o" } })));
        let ready = json!({ "verdict": "ready", "words": "button#b", "softlyDisabled": false, "point": { "x": 5, "y": 6 } });
        rig.when("makeReady(it,asked)", given(ready));
        rig.when("return listen(it,asked)", given(heard()));
        rig.when("()=>0", given(json!(0)));
        let state = json!({ "connected": true, "focused": false });
        rig.when("return readBack(it,asked)", given(json!({ "heard": heard(), "state": state })));
        rig
    }

    fn when(&self, part: &'static str, act: Act) {
        self.fake.on("Runtime.callFunctionOn").when(move |call| call.expression().contains(part)).act(act);
    }

    fn shows(&self, document: &str) {
        let frame = json!({ "id": "M", "loaderId": document, "url": "http://test/" });
        self.fake.on("Page.getFrameTree").act(Act::Reply(json!({ "frameTree": { "frame": frame } })));
    }

    async fn click(&self, target: Target) -> Result<Outcome, ActError> {
        click(&self.page, &Place::On(target), &Click::default(), &budget()).await
    }

    fn dispatched(&self) -> usize {
        self.fake.calls("Input.dispatchMouseEvent").len()
    }
}

fn heard() -> Value {
    json!({ "events": ["mousedown", "mouseup", "click"], "complete": true, "hit": "button#b", "received": true })
}

#[tokio::test]
async fn with_a_dialog_open_or_a_dead_renderer_no_command_is_sent() {
    let rig = Rig::start().await;
    let before = rig.fake.record().len();
    for condition in [
        Condition { dialog: Some(alert()), ..Condition::default() },
        Condition { crashed: true, ..Condition::default() },
    ] {
        let kind = if condition.crashed { "crashed" } else { "dialog_open" };
        rig.condition.send_replace(condition);
        let (page, once, wheel) = (&rig.page, Click::default(), Scroll { dx: 0.0, dy: 9.0 });
        for target in [css(), element()] {
            let place = Place::On(target.clone());
            let at = Place::At(Point { x: 1.0, y: 1.0 });
            let refusals = [
                click(page, &place, &once, &budget()).await.unwrap_err(),
                click(page, &at, &once, &budget()).await.unwrap_err(),
                click_by_events(page, &target, &once, &budget()).await.unwrap_err(),
                hover(page, &place, Modifiers::NONE, &budget()).await.unwrap_err(),
                drag(page, &at, &place, &budget()).await.unwrap_err(),
                scroll(page, None, wheel, &budget()).await.unwrap_err(),
                scroll(page, Some(&place), wheel, &budget()).await.unwrap_err(),
                scroll_into_view(page, &target, &budget()).await.unwrap_err(),
                make_ready(page, &target, Need::USABLE, &budget()).await.unwrap_err(),
            ];
            for refused in refusals {
                assert_eq!((refused.kind(), refused.was_sent()), (kind, false));
            }
        }
    }
    assert_eq!(rig.fake.record().len(), before);
}

#[tokio::test]
async fn a_click_is_confirmed_by_what_was_heard_and_by_nothing_else() {
    let rig = Rig::start().await;
    assert_eq!(rig.click(css()).await.unwrap().effect, Effect::Confirmed);
    assert_eq!(rig.click(element()).await.unwrap().effect, Effect::Confirmed);
    let kinds: Vec<_> =
        rig.fake.calls("Input.dispatchMouseEvent").iter().map(|it| it.text("type").to_owned()).collect();
    assert_eq!(kinds, ["mouseMoved", "mousePressed", "mouseReleased"].repeat(2));
    let state = json!({ "connected": true, "focused": false });
    rig.when("return readBack(it,asked)", given(json!({ "heard": {}, "state": state })));
    assert_eq!(rig.click(css()).await.unwrap().effect, Effect::Unverifiable);
}

#[tokio::test]
async fn the_same_number_in_another_document_is_another_element() {
    let rig = Rig::start().await;
    // As when a frame changed its process: the number names something there, too.
    rig.shows("m2");
    let refused = rig.click(element()).await.unwrap_err();
    assert_eq!(refused.kind(), "stale_ref");
    assert!(refused.to_string().contains("the tab shows another document"), "{refused}");
    assert_eq!((rig.fake.calls("Runtime.callFunctionOn").len(), rig.dispatched()), (0, 0));
}

#[tokio::test]
async fn what_cannot_be_read_is_no_leave_to_click() {
    let rig = Rig::start().await;
    for said in [json!(5), json!({ "verdict": "maybe" }), json!(null)] {
        rig.when("makeReady(it,asked)", given(said));
        assert_eq!(rig.click(css()).await.unwrap_err().kind(), "unreadable");
    }
    let thrown = json!({ "result": { "type": "object" }, "exceptionDetails": { "text": "Uncaught" } });
    rig.when("makeReady(it,asked)", Act::Reply(thrown));
    assert_eq!(rig.click(css()).await.unwrap_err().kind(), "unreadable");
    assert_eq!(rig.dispatched(), 0);
}

#[tokio::test]
async fn a_dialog_answers_for_a_click_whose_reply_never_comes() {
    let rig = Rig::start().await;
    for (report, effect) in [(given(heard()), Effect::Confirmed), (Act::Never, Effect::Unverifiable)] {
        rig.condition.send_replace(Condition::default());
        rig.when("return listen(it,asked)", report);
        let released = |call: &tabvisor_cdp::fake::Call| call.text("type") == "mouseReleased";
        rig.fake.on("Input.dispatchMouseEvent").when(released).act(Act::Never);
        let seen = rig.dispatched();
        let open = async {
            rig.fake.wait_until(|_| rig.dispatched() == seen + 3).await;
            rig.condition.send_replace(Condition { dialog: Some(alert()), ..Condition::default() });
        };
        let (done, ()) = tokio::join!(rig.click(css()), open);
        let done = done.unwrap();
        assert_eq!((done.observed.dialog.unwrap().id, done.effect), ("d7".to_owned(), effect));
        assert_eq!(
            rig.fake
                .calls("Runtime.callFunctionOn")
                .iter()
                .filter(|it| it.expression().contains("readBack(it"))
                .count(),
            0
        );
    }
}

#[tokio::test]
async fn a_target_that_goes_away_in_the_middle() {
    for (report, heard_it) in [(given(heard()), true), (Act::Never, false)] {
        let rig = Rig::start().await;
        rig.when("return listen(it,asked)", report);
        rig.fake.on("Input.dispatchMouseEvent").act(Act::Never);
        let close = async {
            rig.fake.wait_until(|_| rig.dispatched() == 3).await;
            rig.fake.destroy(&rig.fake.targets()[0]);
        };
        let (done, ()) = tokio::join!(rig.click(css()), close);
        match done {
            Ok(done) => assert!(heard_it && done.effect == Effect::Confirmed, "{done:?}"),
            Err(error) => assert!(!heard_it && error.kind() == "link" && error.was_sent(), "{error:?}"),
        }
    }
}

#[tokio::test]
async fn a_button_that_is_down_is_let_go() {
    let rig = Rig::start().await;
    let given_up = budget();
    let held = Click { hold_for: Duration::from_secs(5), ..Click::default() };
    let place = Place::On(css());
    let cancel = async {
        rig.fake.wait_until(|_| rig.dispatched() == 2).await;
        given_up.cancel();
    };
    let (error, ()) = tokio::join!(click(&rig.page, &place, &held, &given_up), cancel);
    assert!(error.unwrap_err().was_sent());
    rig.fake.wait_for_call(|call| call.text("type") == "mouseReleased").await;
}

#[tokio::test]
async fn bad_requests_are_refused_before_anything_is_sent() {
    let rig = Rig::start().await;
    let before = rig.fake.record().len();
    let place = Place::On(css());
    let four = Click { count: 4, ..Click::default() };
    let error = click(&rig.page, &place, &four, &budget()).await.unwrap_err();
    assert_eq!(error.to_string(), "count: must be 1, 2 or 3, got 4");
    for by in [Scroll::default(), Scroll { dx: f64::NAN, dy: 1.0 }, Scroll { dx: 0.0, dy: 1e9 }] {
        let error = scroll(&rig.page, Some(&place), by, &budget()).await.unwrap_err();
        assert_eq!(error.kind(), "invalid_argument");
    }
    assert_eq!(rig.fake.record().len(), before);
}
