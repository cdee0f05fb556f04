//! Rules of typing and clicking that no report was about, judged by what the page's own listeners recorded.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;
#[path = "act/typing.rs"]
mod typing;

use serde_json::json;
use tabvisor_page::act::{Click, Effect, Modifiers, Target, TypeMode, TypeText, click_by_events, highlight};

use support::{Stage, budget, css_place};
use typing::{MODES, told, typing};

#[tokio::test]
async fn a_key_that_needs_shift_holds_it_in_every_event_and_a_character_without_a_key_has_none() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a>").await;
    stage.type_in("#a", "aB", TypeMode::Keystrokes).await;
    assert_eq!(
        stage.evaluate("keys.filter(it=>it[1]!=='Shift').map(it=>[it[0],it[1],it[4],it[6]])").await,
        json!([
            ["keydown", "a", false, true],
            ["keypress", "a", false, true],
            ["keyup", "a", false, true],
            ["keydown", "B", true, true],
            ["keypress", "B", true, true],
            ["keyup", "B", true, true],
        ])
    );
    // CJK, an emoji of several, a combining mark, a full-width letter.
    let text = "日👨‍👩‍👧e\u{301}ａ";
    stage.write_on("<input id=a>").await;
    let said = stage.type_in("#a", text, TypeMode::Keystrokes).await;
    assert_eq!((&said["effect"], stage.evaluate("$('a').value").await), (&json!("confirmed"), json!(text)));
    assert_eq!(stage.evaluate("downs()").await, json!(["e"]), "{said}");
    stage.stop().await;
}

#[tokio::test]
async fn a_newline_in_a_rich_editor_is_a_real_enter_for_keystrokes_and_content_otherwise() {
    let stage = Stage::start().await;
    for mode in MODES {
        stage.write_on("<div id=e contenteditable></div>").await;
        let said = stage.type_in("#e", "one\ntwo", mode).await;
        assert_eq!((&said["effect"], &said["observed"]["value"]), (&json!("confirmed"), &json!("one\ntwo")));
        let enters = stage.evaluate(
            "keys.filter(it=>it[1]==='Enter'&&it[0]!=='keypress').map(it=>[it[0],it[2],it[3],it[6]])",
        );
        let wanted = match mode {
            TypeMode::Keystrokes => json!([["keydown", "Enter", 13, true], ["keyup", "Enter", 13, true]]),
            TypeMode::InsertText | TypeMode::SetValue => json!([]),
        };
        assert_eq!(enters.await, wanted, "{mode:?} {said}");
        assert!(said["observed"].get("enterPressed").is_none(), "{said}");
    }
    stage.stop().await;
}

#[tokio::test]
async fn a_value_that_is_set_comes_with_the_events_of_a_change_and_no_key() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a value=old><textarea id=t>old</textarea>").await;
    for id in ["a", "t"] {
        stage.evaluate("inputs.length=0;keys.length=0").await;
        let said = stage.type_in(&format!("#{id}"), "new", TypeMode::SetValue).await;
        assert_eq!((&said["effect"], &said["observed"]["value"]), (&json!("confirmed"), &json!("new")));
        let seen = stage.evaluate("[keys.length,inputs]").await;
        assert_eq!(seen, json!([0, [format!("input {id}"), format!("change {id}")]]), "{said}");
    }
    stage.stop().await;
}

#[tokio::test]
async fn text_for_an_element_that_is_gone_goes_nowhere() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a autofocus><input id=b>").await;
    let gone = stage.element("$('b')").await;
    stage.evaluate("$('b').remove();$('a').focus()").await;
    let elsewhere =
        tabvisor_page::act::Element { document: "another".into(), ..stage.element("$('a')").await };
    for element in [gone, elsewhere] {
        for mode in MODES {
            let target = Target::Element(element.clone());
            let said = told(stage.try_type(&TypeText { target, mode, ..typing("", "x\n") }).await);
            assert_eq!((&said["kind"], &said["sent"]), (&json!("stale_ref"), &json!(false)), "{said}");
        }
    }
    assert_eq!(stage.evaluate("[$('a').value,keys,inputs]").await, json!(["", [], []]));
    stage.stop().await;
}

#[tokio::test]
async fn the_buttons_that_are_down_are_told_to_the_page_as_a_mouse_does() {
    let stage = Stage::start().await;
    stage
        .show(
            "<button id=b>B</button><script>window.all=[];
            for(const type of ['pointermove','mousedown','mouseup','click','dblclick'])
                b.addEventListener(type,e=>all.push([type,e.button,e.buttons,e.detail,e.pointerType||'mouse']))</script>",
        )
        .await;
    stage.click_on(&css_place("#b"), &Click { count: 2, ..Click::default() }).await.unwrap();
    assert_eq!(
        stage.evaluate("all").await,
        json!([
            ["pointermove", -1, 0, 0, "mouse"],
            ["mousedown", 0, 1, 1, "mouse"],
            ["mouseup", 0, 0, 1, "mouse"],
            ["click", 0, 0, 1, "mouse"],
            ["mousedown", 0, 1, 2, "mouse"],
            ["mouseup", 0, 0, 2, "mouse"],
            ["click", 0, 0, 2, "mouse"],
            ["dblclick", 0, 0, 2, "mouse"],
        ])
    );
    let held = Modifiers::CONTROL;
    stage.evaluate("all.length=0;b.onmousedown=b.onmouseup=e=>all.push(e.ctrlKey)").await;
    stage.click_on(&css_place("#b"), &Click { modifiers: held, ..Click::default() }).await.unwrap();
    assert_eq!(stage.evaluate("all.filter(it=>it===true).length").await, 2, "at the press and the release");
    stage.stop().await;
}

#[tokio::test]
async fn a_click_by_events_is_at_the_middle_of_an_element_and_sure_only_if_it_was_heard() {
    let stage = Stage::start().await;
    stage
        .show(
            "<button id=b style='position:absolute;left:100px;top:50px;width:80px;height:40px'>B</button>
            <script>window.at=[];b.onclick=e=>at.push([e.clientX,e.clientY,e.isTrusted])</script>",
        )
        .await;
    let by_events = async |css: &str| {
        click_by_events(&stage.page, &Target::Css(css.into()), &Click::default(), &budget()).await
    };
    assert_eq!(by_events("#b").await.unwrap().effect, Effect::Confirmed);
    assert_eq!(stage.evaluate("at").await, json!([[140, 70, false]]));
    stage.evaluate("addEventListener('click',e=>e.stopImmediatePropagation(),true)").await;
    assert_eq!(by_events("#b").await.unwrap().effect, Effect::Unverifiable);
    assert_eq!(stage.evaluate("at.length").await, 1);
    // One that leaves the page at the press gets no click.
    stage.show("<button id=b onmousedown='this.remove()'>B</button>").await;
    let done = by_events("#b").await;
    assert!(done.as_ref().is_ok_and(|it| it.effect != Effect::Confirmed), "{done:?}");
    assert_eq!(stage.clicks().await, json!([]));
    stage.stop().await;
}

#[tokio::test]
async fn what_is_drawn_over_an_element_takes_no_click_and_is_not_in_the_page() {
    let stage = Stage::start().await;
    let body = "<div style='height:3000px'></div><button id=b>B</button><iframe src=HOST/inner></iframe>";
    stage.serve("/inner", "<button id=in>In</button>");
    stage.show(body).await;
    let apart = stage.frame().await;
    let html = stage.evaluate("document.documentElement.outerHTML").await;
    let show = async |target: Option<&Target>| highlight(&stage.page, target, &budget()).await;
    let b = Target::Css("#b".into());
    for _ in 0..2 {
        let done = show(Some(&b)).await.unwrap();
        assert_eq!(
            (done.effect, done.observed.target.as_deref()),
            (Effect::Unverifiable, Some("button#b \"B\""))
        );
        assert_eq!(stage.evaluate("scrollY>0").await, true, "a person sees it");
        assert_eq!(stage.click("#b").await.unwrap().effect, Effect::Confirmed);
    }
    assert_eq!(stage.clicks().await, json!(["b", "b"]));
    assert_eq!(stage.evaluate("document.documentElement.outerHTML").await, html);
    // In a frame of another process, and the click beside it.
    let inner = stage.element_in(&apart, "document.getElementById('in')").await;
    show(Some(&Target::Element(inner.clone()))).await.unwrap();
    let done = stage.click_on(&support::on(inner), &Click::default()).await.unwrap();
    assert_eq!(done.effect, Effect::Confirmed);
    assert_eq!(support::evaluate(&apart, "clicks()").await, json!(["in"]));
    show(None).await.unwrap();
    assert_eq!(stage.click("#b").await.unwrap().effect, Effect::Confirmed);
    assert_eq!(show(Some(&Target::Css("#none".into()))).await.unwrap_err().kind(), "no_match");
    stage.stop().await;
}
