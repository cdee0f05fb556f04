//! Clicks on real Chromium, judged by what the page's own listeners recorded.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;

use serde_json::json;
use tabvisor_page::act::{
    Button, Click, Effect, Modifiers, NavigationState, Place, Point, Target, click_by_events,
};

use support::{Stage, budget, css_place, on};

fn kind<T: std::fmt::Debug>(answer: &Result<T, tabvisor_page::act::ActError>) -> &'static str {
    answer.as_ref().unwrap_err().kind()
}

#[tokio::test]
async fn a_click_tells_what_the_page_saw() {
    let stage = Stage::start().await;
    stage.show("<button id=go onclick='this.textContent=1'><b id=inner>Go on</b></button>").await;
    let done = stage.click("#go").await.unwrap();
    assert_eq!(
        stage.evaluate("seen.slice(0,4)").await,
        json!(["mouseover inner", "mousedown inner", "mouseup inner", "click inner"])
    );
    assert_eq!(done.effect, Effect::Confirmed);
    let told = serde_json::to_value(&done).unwrap();
    assert_eq!(told["route"], "trusted_input");
    let seen = &told["observed"];
    assert_eq!(
        (&seen["received"], &seen["isTrusted"], &seen["defaultPrevented"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert_eq!(seen["hit"], "b#inner \"Go on\"");
    assert_eq!(seen["target"], "button#go \"Go on\"");
    assert_eq!(seen["events"], json!(["mousedown", "mouseup", "click"]));
    assert_eq!((&seen["focused"], &seen["connected"]), (&json!(true), &json!(true)));
    assert!(seen.get("navigation").is_none() && seen.get("dialog").is_none(), "{told}");

    // The page cannot see that it was listened to, nor keep it from being heard.
    stage
        .show(
            "<a id=a href=/ok>A</a><script>
        a.onclick = event => event.preventDefault();
        window.tabvisorHeard = 'mine'; Map.prototype.get = null;
    </script>",
        )
        .await;
    let done = stage.click("#a").await.unwrap();
    assert_eq!(
        (done.effect, done.observed.pointer.unwrap().default_prevented),
        (Effect::Confirmed, Some(true))
    );
    assert_eq!(
        stage
            .evaluate("tabvisorHeard + ' ' + document.documentElement.outerHTML.includes('tabvisor=')")
            .await,
        "mine false"
    );
    assert_eq!(done.observed.navigation, None);

    // A page that swallows everything before anybody hears it: sent, not seen.
    stage
        .show(
            "<button id=b>B</button><script>
        addEventListener('click', event => event.stopImmediatePropagation(), true);
    </script>",
        )
        .await;
    let done = stage.click("#b").await.unwrap();
    assert_eq!((done.effect, stage.clicks().await), (Effect::Unverifiable, json!(["b"])));
    stage.stop().await;
}

#[tokio::test]
async fn buttons_counts_and_modifiers_arrive() {
    let stage = Stage::start().await;
    stage.show("<button id=b>B</button><script>
        window.keys = []; window.details = [];
        for (const type of ['click', 'auxclick']) b.addEventListener(type, event => {
          keys.push([event.altKey, event.ctrlKey, event.metaKey, event.shiftKey].map(Number).join('') + event.button);
          details.push(event.detail);
        });
    </script>").await;
    let place = css_place("#b");
    for (button, last) in [(Button::Left, "click"), (Button::Middle, "auxclick"), (Button::Right, "auxclick")]
    {
        let done = stage.click_on(&place, &Click { button, ..Click::default() }).await.unwrap();
        let events = done.observed.pointer.unwrap().events;
        assert_eq!((done.effect, events.last().unwrap().as_str()), (Effect::Confirmed, last), "{events:?}");
    }
    let modifiers = Modifiers::ALT.and(Modifiers::SHIFT);
    stage.click_on(&place, &Click { modifiers, ..Click::default() }).await.unwrap();
    assert_eq!(stage.evaluate("keys").await, json!(["00000", "00001", "00002", "10010"]));
    let done = stage.click_on(&place, &Click { count: 2, ..Click::default() }).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed);
    assert_eq!(stage.evaluate("details.slice(4)").await, json!([1, 2]));
    assert_eq!(stage.evaluate("seen.filter(it => it.startsWith('dblclick'))").await, json!(["dblclick b"]));
    stage.stop().await;
}

#[tokio::test]
async fn what_is_covered_is_not_clicked() {
    let stage = Stage::start().await;
    // H1, and an overlay that lets clicks through (H9).
    stage.show("<button id=b>B</button><div id=banner style='position:fixed;inset:0'>Cookies</div>").await;
    let refused = stage.click("#b").await;
    let text = refused.as_ref().unwrap_err().to_string();
    assert_eq!(kind(&refused), "covered");
    assert!(text.contains("div#banner \"Cookies\"") && text.contains("intercepts pointer events"), "{text}");
    assert_eq!(stage.evaluate("seen").await, json!([]), "nothing was dispatched");
    stage.evaluate("banner.style.pointerEvents='none'").await;
    assert_eq!(stage.click("#b").await.unwrap().effect, Effect::Confirmed);
    // What goes away soon is waited for: it is still there at the second look, after scrolling.
    stage
        .show(
            "<div style='height:900px'></div><button id=b>B</button><div style='height:900px'></div>
        <div id=banner style='position:fixed;inset:0'>Wait</div>
        <script>scrollTo(0, 700); setTimeout(() => addEventListener('scroll', () => setTimeout(() => banner.remove(), 100)), 200)</script>",
        )
        .await;
    stage.evaluate("new Promise(done => setTimeout(done, 300))").await;
    assert_eq!(stage.click("#b").await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.clicks().await, json!(["b"]));
    stage.stop().await;
}

#[tokio::test]
async fn what_is_out_of_view_is_scrolled_to() {
    let stage = Stage::start().await;
    // H3: far down, in a nested scroller, and below a sticky header.
    stage.show("<style>html{scroll-behavior:smooth}</style><header id=head style='position:sticky;top:0;height:60px;background:#fff'>Head</header>
        <div style='height:3000px'></div><button id=far>Far</button>
        <div id=box style='height:200px;overflow:auto'><div style='height:1500px'></div><button id=nested>N</button></div>
        <div style='height:3000px'></div>").await;
    for id in ["far", "nested"] {
        assert_eq!(stage.click(&format!("#{id}")).await.unwrap().effect, Effect::Confirmed, "{id}");
    }
    // Right below the header, where it is in the viewport and covered.
    stage.evaluate("scrollTo({top: far.offsetTop - 10, behavior: 'instant'})").await;
    assert_eq!(stage.click("#far").await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.clicks().await, json!(["far", "nested", "far"]));
    for style in [
        "display:none",
        "visibility:hidden",
        "position:absolute;left:-500px",
        "position:fixed;top:-90px",
        "width:0;height:0;padding:0;border:0;overflow:hidden",
    ] {
        stage.show(&format!("<button id=b style='{style}'>B</button>")).await;
        let refused = stage.click("#b").await;
        assert_eq!(kind(&refused), "not_visible", "{style}");
        let text =
            "Element \"#b\" not found or not visible. Run a new snapshot to see current page elements.";
        assert_eq!(refused.unwrap_err().to_string(), text);
        assert_eq!(stage.evaluate("seen").await, json!([]));
    }
    stage.stop().await;
}

#[tokio::test]
async fn a_wrapped_link_is_hit_on_one_of_its_lines() {
    let stage = Stage::start().await;
    // H4: the middle of the box is not the link.
    stage
        .show("<p style='width:40ch;font:20px monospace'>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa <a id=a href=/landed>bb cc</a></p>")
        .await;
    let rects = stage.evaluate("a.getClientRects().length").await;
    assert!(rects.as_u64().unwrap() >= 2);
    let done = stage.click("#a").await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed);
    let navigation = done.observed.navigation.unwrap();
    assert_eq!((navigation.state, navigation.url), (NavigationState::Committed, stage.url("/landed")));
    // The first line has no size.
    stage.show("<p style='width:4ch;font:20px monospace'><a id=a href=#x onclick='window.hit=1'><span style='display:block;height:0'></span>xyz</a></p>").await;
    let done = stage.click("#a").await.unwrap();
    assert_eq!((done.effect, stage.evaluate("hit").await), (Effect::Confirmed, json!(1)));
    assert_eq!(done.observed.navigation.unwrap().state, NavigationState::SameDocument);
    stage.stop().await;
}

#[tokio::test]
async fn what_is_disabled_is_refused() {
    let stage = Stage::start().await;
    // H6.
    stage.show("<button id=own disabled>A</button><fieldset disabled><legend><button id=legend>L</button></legend><button id=set>B</button></fieldset>
        <div inert><button id=inert>C</button></div><button disabled><b id=inside>D</b></button>
        <label id=label>E<input disabled></label><button id=aria aria-disabled=true>F</button>").await;
    for (id, by) in [
        ("own", "(disabled)"),
        ("set", "a disabled fieldset"),
        ("inert", "inert"),
        ("inside", "disabled button"),
        ("label", "its field is disabled"),
    ] {
        let refused = stage.click(&format!("#{id}")).await;
        assert_eq!(kind(&refused), "disabled", "{id}: {refused:?}");
        assert!(refused.unwrap_err().to_string().contains(by), "{id}");
    }
    assert_eq!(stage.evaluate("seen").await, json!([]), "nothing was dispatched");
    assert_eq!(stage.click("#legend").await.unwrap().effect, Effect::Confirmed);
    let soft = stage.click("#aria").await.unwrap();
    assert_eq!(soft.effect, Effect::Confirmed);
    assert!(soft.observed.warnings[0].contains("aria-disabled"));
    assert_eq!(stage.clicks().await, json!(["legend", "aria"]));
    stage.stop().await;
}

#[tokio::test]
async fn a_selector_names_exactly_one() {
    let stage = Stage::start().await;
    stage.show("<button>A</button><button>B</button>").await;
    let refused = stage.click("button").await;
    assert_eq!(kind(&refused), "ambiguous");
    assert!(refused.unwrap_err().to_string().starts_with("Selector \"button\" matched 2 elements."));
    assert_eq!(kind(&stage.click("#none").await), "no_match");
    assert_eq!(kind(&stage.click("[[").await), "bad_selector");
    // The document's own functions may be hidden by an image, a form's by its fields.
    stage.show("<img name=querySelectorAll><form id=f><input name=parentNode><input name=isConnected><input name=getClientRects>
        <button type=button id=b>B</button></form>").await;
    assert_eq!(stage.click("#b").await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.click("#f").await.unwrap().effect, Effect::Confirmed);
    stage.stop().await;
}

#[tokio::test]
async fn a_ref_never_lands_on_another_element() {
    let stage = Stage::start().await;
    stage.show("<button id=a>A</button><button id=b>B</button>").await;
    let (a, b) = (stage.element("a").await, stage.element("b").await);
    assert_eq!(stage.click_on(&on(b.clone()), &Click::default()).await.unwrap().effect, Effect::Confirmed);
    stage.evaluate("a.remove(); seen.length=0").await;
    let refused = stage.click_on(&on(a), &Click::default()).await;
    assert_eq!(kind(&refused), "stale_ref");
    assert!(refused.unwrap_err().to_string().contains("its element left the page"));
    let other = tabvisor_page::act::Element { document: "another".into(), ..b.clone() };
    let refused = stage.click_on(&on(other), &Click::default()).await;
    assert!(refused.unwrap_err().to_string().contains("the tab shows another document"));
    stage.show("<button id=b>B</button>").await;
    assert_eq!(kind(&stage.click_on(&on(b), &Click::default()).await), "stale_ref");
    assert_eq!(stage.evaluate("seen").await, json!([]));
    stage.stop().await;
}

#[tokio::test]
async fn what_moves_is_waited_for_or_refused() {
    let stage = Stage::start().await;
    stage
        .show(
            "<style>@keyframes slide{from{transform:translateX(600px)}}</style>
        <button id=b style='animation:slide .4s linear'>B</button>",
        )
        .await;
    assert_eq!(stage.click("#b").await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.clicks().await, json!(["b"]));
    stage
        .show(
            "<style>@keyframes slide{from{transform:translateX(600px)}}</style>
        <button id=b style='animation:slide 1s linear infinite alternate'>B</button>",
        )
        .await;
    assert_eq!(kind(&stage.click("#b").await), "moving");
    assert_eq!(stage.clicks().await, json!([]));
    stage.stop().await;
}

#[tokio::test]
async fn labels_and_shadow_trees() {
    let stage = Stage::start().await;
    stage.show("<label id=l><input id=c type=checkbox style='position:absolute;opacity:0;width:0;height:0'>Agree</label>
        <label id=l2 for=d>Other</label><input id=d type=checkbox style='display:none'>
        <label style='position:relative;display:block'><input id=e type=radio style='position:absolute;inset:0'><span id=over style='position:absolute;inset:0;background:#eee'>Over</span></label>").await;
    for id in ["c", "d", "e"] {
        let done = stage.click(&format!("#{id}")).await.unwrap();
        assert_eq!(done.effect, Effect::Confirmed, "{id} {done:?}");
        assert_eq!(done.observed.state.unwrap().checked.as_deref(), Some("true"), "{id}");
        assert_eq!(stage.evaluate(&format!("{id}.checked")).await, true);
    }
    stage.show("<x-a></x-a><x-b><i id=light>Light</i></x-b><script>
        const make = (tag, mode, html) => { const root = document.querySelector(tag).attachShadow({ mode }); root.innerHTML = html; return root };
        window.open_ = make('x-a', 'open', '<button>Open</button>');
        window.closed_ = make('x-b', 'closed', '<button id=k><slot></slot></button>');
        window.got = [];
        for (const root of [open_, closed_]) root.firstChild.onclick = event => got.push(event.isTrusted);
    </script>").await;
    for expression in ["open_.firstChild", "closed_.firstChild", "document.querySelector('x-b')", "light"] {
        let element = stage.element(expression).await;
        let done = stage.click_on(&on(element), &Click::default()).await.unwrap();
        assert_eq!(done.effect, Effect::Confirmed, "{expression} {done:?}");
    }
    assert_eq!(stage.evaluate("got").await, json!([true, true, true, true]));
    stage.stop().await;
}

#[tokio::test]
async fn a_click_by_events_goes_where_the_pointer_cannot() {
    let stage = Stage::start().await;
    stage.show("<button id=b>B</button><input id=c type=checkbox><div style='position:fixed;inset:0'></div><button id=d disabled>D</button>
        <script>window.all = []; for (const type of ['pointerover','pointerdown','mousedown','focus','pointerup','mouseup','click']) b.addEventListener(type, () => all.push(type))</script>").await;
    let by_events = async |css: &str| {
        click_by_events(&stage.page, &Target::Css(css.into()), &Click::default(), &budget()).await
    };
    let done = by_events("#b").await.unwrap();
    assert_eq!(serde_json::to_value(&done).unwrap()["route"], "dom_event");
    assert_eq!((done.effect, done.observed.pointer.unwrap().is_trusted), (Effect::Confirmed, Some(false)));
    assert_eq!(
        stage.evaluate("all").await,
        json!(["pointerover", "pointerdown", "mousedown", "focus", "pointerup", "mouseup", "click"])
    );
    let checked = by_events("#c").await.unwrap().observed.state.unwrap().checked;
    assert_eq!(checked.as_deref(), Some("true"));
    assert_eq!(kind(&by_events("#d").await), "disabled");
    stage.stop().await;
}

#[tokio::test]
async fn coordinates_say_what_was_there() {
    let stage = Stage::start().await;
    stage.show("<body style='margin:0'><button id=b style='position:absolute;left:100px;top:50px;width:80px;height:40px'>B</button>").await;
    let place = Place::At(Point { x: 120.0, y: 60.0 });
    let done = stage.click_on(&place, &Click::default()).await.unwrap();
    assert_eq!((done.effect, stage.clicks().await), (Effect::Confirmed, json!(["b"])));
    assert_eq!(done.observed.pointer.unwrap().hit.unwrap(), "button#b \"B\"");
    let outside = Place::At(Point { x: 9000.0, y: 1.0 });
    assert_eq!(kind(&stage.click_on(&outside, &Click::default()).await), "invalid_argument");
    stage.stop().await;
}

#[tokio::test]
async fn boxes_of_all_kinds() {
    let stage = Stage::start().await;
    for body in [
        "<button id=b style='width:3000px;height:4000px'>Larger than the viewport</button>",
        "<div style='margin:200px'><button id=b style='transform:rotate(45deg) scale(.5)'>Turned</button></div>",
        "<div style='width:300px;overflow-x:auto' dir=rtl><div style='width:4000px'><button id=b style='margin-right:3500px'>Left</button></div></div>",
        "<svg width=100 height=100><circle id=b cx=50 cy=50 r=40 /></svg>",
        "<div style='height:4000px'></div><div style='content-visibility:auto;contain-intrinsic-size:auto 900px'><div style='height:2000px'></div><button id=b>Later</button></div>",
        "<span id=b style='display:contents'><i style='display:block'>Contents</i></span>",
        "<a id=b href=#x><img style='float:left;width:50px;height:50px;background:red'></a>",
        "<div style='position:fixed;top:50px;left:0;height:200px;overflow:auto'><div style='height:900px'></div><button id=b>In a fixed box</button></div><div style='height:4000px'></div>",
        "<details><summary id=b>More</summary>Text</details>",
        "<select size=4><option>A<option id=b>B</select>",
        "<button id=b style='opacity:0'>Not to be seen</button>",
        "<div style='zoom:1.5'><button id=b style='margin:90px'>Zoomed</button></div>",
        "<body style='overflow:hidden;height:100px'><div style='height:3000px'></div><button id=b>Hidden overflow</button>",
        "<div id=b style='height:80px'><div style='position:absolute;left:200px;top:300px;width:20px;height:20px'></div></div>",
    ] {
        stage.show(body).await;
        let done = stage.click("#b").await;
        assert_eq!(done.as_ref().map(|it| it.effect), Ok(Effect::Confirmed), "{body} {done:?}");
        let got = "seen.some(it => it.startsWith('click '))";
        assert_eq!(stage.evaluate(got).await, true, "{body}");
    }
    for (body, by) in [
        ("<button id=b>B</button><dialog id=d>Modal</dialog><script>d.showModal()</script>", "dialog#d"),
        ("<div id=under><button id=b style='pointer-events:none'>B</button></div>", "div#under"),
        (
            "<button id=b>B</button><x-o></x-o><script>const it = document.querySelector('x-o'); it.attachShadow({ mode: 'closed' }).innerHTML = '<div style=position:fixed;inset:0>Over</div>'</script>",
            "x-o",
        ),
    ] {
        stage.show(body).await;
        let refused = stage.click("#b").await.unwrap_err();
        assert_eq!(refused.kind(), "covered", "{body}");
        assert!(refused.to_string().contains(by), "{refused}");
        assert_eq!(stage.clicks().await, json!([]));
    }
    stage.stop().await;
}
