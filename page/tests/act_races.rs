//! What happens while an action is under way: dialogs, crashes, navigations, closing, and a page
//! that does not answer.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;

use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::{
    ActError, Click, Effect, NavigationState, Place, Point, Target, click, click_by_events, hover,
};
use tabvisor_page::act::{Modifiers, scroll_into_view};
use tabvisor_page::dialog::DialogKind;

use support::{Stage, budget, css_place, on};

#[tokio::test]
async fn a_click_that_opens_a_dialog_answers_with_it() {
    let stage = Stage::start().await;
    // C1, C3, C5: in the handler, right after it, at the press, and by events.
    stage
        .show(
            "<button id=now onclick=\"window.said=confirm('now?')\">A</button>
        <button id=later onclick=\"setTimeout(()=>{window.said=confirm('later?')},0)\">B</button>
        <button id=press onmousedown=\"window.said=confirm('press?')\">C</button>",
        )
        .await;
    for (id, message) in [("now", "now?"), ("later", "later?")] {
        let done = stage.click(&format!("#{id}")).await.unwrap();
        let dialog = done.observed.dialog.unwrap();
        assert_eq!((dialog.kind, &*dialog.message), (DialogKind::Confirm, message));
        assert_eq!(done.effect, Effect::Confirmed, "{id}: it was heard before the dialog opened");
        let told = serde_json::to_value(&dialog).unwrap();
        stage.answer(true).await;
        stage.until("said === true").await;
        stage.evaluate("delete window.said").await;
        assert_eq!(told["type"], "confirm");
    }
    let done = stage.click("#press").await.unwrap();
    assert_eq!(done.observed.dialog.unwrap().message, "press?");
    stage.answer(false).await;
    stage.until("said === false").await;
    // No button is held: the next click is a whole one.
    stage.evaluate("seen.length = 0").await;
    stage.click("#later").await.unwrap();
    stage.answer(true).await;
    assert_eq!(stage.clicks().await, json!(["later"]));
    let target = Target::Css("#now".into());
    let done = click_by_events(&stage.page, &target, &Click::default(), &budget()).await.unwrap();
    assert_eq!(done.observed.dialog.unwrap().message, "now?");
    stage.answer(true).await;
    stage.stop().await;
}

#[tokio::test]
async fn with_a_dialog_open_everything_is_refused_at_once() {
    let stage = Stage::start().await;
    stage.show("<button id=b onclick='alert(1)'>B</button>").await;
    stage.click("#b").await.unwrap();
    let place = css_place("#b");
    let refusals = [
        stage.click("#b").await.unwrap_err(),
        stage.click_on(&Place::At(Point { x: 1.0, y: 1.0 }), &Click::default()).await.unwrap_err(),
        hover(&stage.page, &place, Modifiers::NONE, &budget()).await.unwrap_err(),
        scroll_into_view(&stage.page, &Target::Css("#b".into()), &budget()).await.unwrap_err(),
    ];
    for refused in refusals {
        assert_eq!((refused.kind(), refused.was_sent()), ("dialog_open", false));
        assert!(refused.to_string().contains("alert dialog is open (d1)"), "{refused}");
    }
    stage.answer(true).await;
    stage.evaluate("seen.length = 0").await;
    stage.click("#b").await.unwrap();
    stage.answer(true).await;
    assert_eq!(stage.clicks().await, json!(["b"]));
    stage.stop().await;
}

#[tokio::test]
async fn a_click_that_leaves_the_page_tells_where_to() {
    let stage = Stage::start().await;
    stage.show("<a id=a href=/landed>A</a>").await;
    let a = stage.element("a").await;
    let done = stage.click("#a").await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed);
    let navigation = done.observed.navigation.unwrap();
    assert_eq!((navigation.state, navigation.url), (NavigationState::Committed, stage.url("/landed")));
    // F7: the old ref is no silent nothing.
    let refused = stage.click_on(&on(a), &Click::default()).await.unwrap_err();
    assert_eq!(refused.kind(), "stale_ref");
    // To another site, whose document lives in another process; and a form.
    stage.show("<a id=a href=HOST/other>A</a>").await;
    let navigation = stage.click("#a").await.unwrap().observed.navigation.unwrap();
    assert_eq!(navigation.state, NavigationState::Committed);
    assert!(navigation.url.ends_with("/other"), "{navigation:?}");
    stage.show("<form action=/sent><button id=b>Send</button></form>").await;
    let done = stage.click("#b").await.unwrap();
    let navigation = done.observed.navigation.unwrap();
    assert_eq!((done.effect, navigation.state), (Effect::Confirmed, NavigationState::Committed));
    // In the handler of the press already: no click ever comes.
    stage.show("<button id=b onmousedown='location=\"/pressed\"'>B</button>").await;
    let done = stage.click("#b").await.unwrap();
    assert!(done.observed.navigation.unwrap().url.ends_with("/pressed"));
    // The page asks whether it may be left.
    stage
        .show("<a id=a href=/landed>A</a><script>onbeforeunload = event => event.preventDefault()</script>")
        .await;
    let done = stage.click("#a").await.unwrap();
    assert_eq!(done.observed.dialog.unwrap().kind, DialogKind::Beforeunload);
    assert_eq!(
        (done.effect, done.observed.navigation.unwrap().state),
        (Effect::Confirmed, NavigationState::Started)
    );
    stage.answer(true).await;
    stage.until("location.pathname === '/landed'").await;
    // A download and a new tab are no navigations.
    stage.show("<a id=a href=/ok download>A</a><a id=b href=/ok target=_blank>B</a>").await;
    for css in ["#a", "#b"] {
        let done = stage.click(css).await.unwrap();
        assert_eq!((done.effect, done.observed.navigation), (Effect::Confirmed, None), "{css}");
    }
    // A frame inside is none of the tab's navigations.
    stage.serve("/inner", "<a id=a href=/landed>A</a>");
    stage.show("<iframe src=/inner></iframe>").await;
    let a = stage.element("frames[0].document.querySelector('a')").await;
    let done = stage.click_on(&on(a), &Click::default()).await.unwrap();
    assert_eq!((done.effect, done.observed.navigation), (Effect::Confirmed, None));
    stage.stop().await;
}

#[tokio::test]
async fn an_element_that_goes_away_under_the_click() {
    let stage = Stage::start().await;
    stage.show("<button id=b onclick='this.remove()'>B</button><button id=c onmousedown='this.remove()'>C</button>").await;
    let done = stage.click("#b").await.unwrap();
    assert_eq!((done.effect, done.observed.state.unwrap().connected), (Effect::Confirmed, false));
    let done = stage.click("#c").await.unwrap();
    assert_eq!(done.effect, Effect::Unverifiable, "pressed, but no click: {done:?}");
    assert_eq!(stage.clicks().await, json!(["b"]));
    // Something comes under the pointer just then.
    stage
        .show(
            "<button id=b>B</button><div id=over style='display:none;position:fixed;inset:0'>Over</div>
        <script>b.onmouseover = () => over.style.display = 'block'</script>",
        )
        .await;
    let done = stage.click("#b").await.unwrap();
    let seen = done.observed.pointer.unwrap();
    assert_eq!((done.effect, seen.received), (Effect::Unverifiable, Some(false)), "{seen:?}");
    assert_eq!(stage.clicks().await, json!(["over"]));
    assert_eq!(done.observed.warnings, ["another element got the click"]);
    stage.stop().await;
}

#[tokio::test]
async fn a_crash_is_the_answer() {
    let stage = Stage::start().await;
    stage.show("<button id=b>B</button>").await;
    let held = Click { hover_for: Duration::from_secs(5), ..Click::default() };
    let place = css_place("#b");
    let crash = async {
        stage.until("seen.includes('mouseover b')").await;
        stage.page.session.cast("Page.crash", json!({}));
    };
    let (answer, ()) = tokio::join!(stage.click_on(&place, &held), crash);
    assert_eq!(answer.unwrap_err(), ActError::Crashed { sent: true });
    let refused = stage.click("#b").await.unwrap_err();
    assert_eq!(refused, ActError::Crashed { sent: false });
    stage.stop().await;
}

#[tokio::test]
async fn a_page_that_hangs_costs_the_budget_and_not_more() {
    let stage = Stage::start().await;
    stage.show("<button id=b onclick='for(;;);'>B</button><button id=c>C</button>").await;
    let place = css_place("#b");
    let short = Budget::new(Duration::from_millis(700));
    let late = click(&stage.page, &place, &Click::default(), &short).await.unwrap_err();
    assert_eq!((late.kind(), late.was_sent()), ("timeout", true), "{late}");
    let short = Budget::new(Duration::from_millis(100));
    let late = click(&stage.page, &css_place("#c"), &Click::default(), &short).await.unwrap_err();
    assert_eq!((late.kind(), late.was_sent()), ("timeout", false), "{late}");
    let (cancelled, once) = (budget(), Click::default());
    let (late, ()) =
        tokio::join!(click(&stage.page, &place, &once, &cancelled), async { cancelled.cancel() });
    assert_eq!(late.unwrap_err().kind(), "aborted");
    stage.stop().await;
}

#[tokio::test]
async fn a_click_that_is_given_up_holds_no_button() {
    let stage = Stage::start().await;
    stage.show("<button id=b>B</button><button id=c>C</button>").await;
    let held = Click { hold_for: Duration::from_secs(5), ..Click::default() };
    let cancelled = budget();
    let place = css_place("#b");
    let cancel = async {
        stage.until("seen.includes('mousedown b')").await;
        cancelled.cancel();
    };
    let (given_up, ()) = tokio::join!(click(&stage.page, &place, &held, &cancelled), cancel);
    let given_up = given_up.unwrap_err();
    assert_eq!((given_up.kind(), given_up.was_sent()), ("aborted", true));
    stage.until("seen.includes('mouseup b')").await;
    assert_eq!(stage.click("#c").await.unwrap().effect, Effect::Confirmed);
    stage.stop().await;
}

#[tokio::test]
async fn a_tab_that_its_own_button_closes() {
    let stage = Stage::start().await;
    stage.show("<button id=b onclick='window.close()'>B</button>").await;
    let answer = stage.click("#b").await;
    match answer {
        Ok(done) => assert_eq!(done.effect, Effect::Confirmed, "{done:?}"),
        Err(error) => panic!("{error:?}"),
    }
    stage.stop().await;
}
