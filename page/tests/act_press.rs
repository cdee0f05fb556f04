//! Keys on real Chromium, judged by what the page's own listeners recorded.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;
#[path = "act/typing.rs"]
mod typing;

use serde_json::json;

use tabvisor_page::act::TypeMode;

use support::Stage;

#[tokio::test]
async fn enter_submits_a_form_breaks_a_line_and_clicks_a_button() {
    let stage = Stage::start().await;
    let page = "<form onsubmit='event.preventDefault();items.push(`submit`)'><input id=a></form>
        <textarea id=t>x</textarea><div id=e contenteditable>x</div><button id=b onclick='items.push(`click`)'>B</button>";
    for key in ["Enter", "return", "NumpadEnter"] {
        stage.write_on(page).await;
        let said = stage.press(key, Some("#a")).await;
        assert_eq!(
            (&said["effect"], &said["observed"]["seen"]),
            (&json!("confirmed"), &json!(true)),
            "{said}"
        );
        assert_eq!(said["observed"]["hit"], "input#a");
        assert_eq!(stage.evaluate("items").await, json!(["submit"]), "{key}");
        stage.press(key, Some("#b")).await;
        assert_eq!(stage.evaluate("items").await, json!(["submit", "click"]), "{key}");
        stage.evaluate("$('t').focus(),$('t').setSelectionRange(1,1)").await;
        stage.press(key, None).await;
        assert_eq!(stage.evaluate("$('t').value").await, "x\n", "{key}");
    }
    let said = stage.press("space", Some("#b")).await;
    assert_eq!(said["observed"]["chord"], "Space");
    assert_eq!(stage.evaluate("items.length").await, 3);
    stage.stop().await;
}

#[tokio::test]
async fn a_chord_holds_what_it_says_and_edits_as_on_a_keyboard() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a value=old>").await;
    stage.press("Control+Shift+T", Some("#a")).await;
    assert_eq!(
        stage.evaluate("keys.map(it=>it.slice(0,5))").await,
        json!([
            ["keydown", "Control", "ControlLeft", 17, false],
            ["keydown", "Shift", "ShiftLeft", 16, true],
            ["keydown", "T", "KeyT", 84, true],
            ["keyup", "T", "KeyT", 84, true],
            ["keyup", "Shift", "ShiftLeft", 16, false],
            ["keyup", "Control", "ControlLeft", 17, false],
        ])
    );
    stage.press("ControlOrMeta+a", None).await;
    stage.press("Backspace", None).await;
    assert_eq!(stage.evaluate("$('a').value").await, "");
    for key in ["x", "Shift+y", "Z", "left", "del", "Home", "!"] {
        stage.press(key, None).await;
    }
    assert_eq!(stage.evaluate("$('a').value").await, "!xY");
    stage.stop().await;
}

#[tokio::test]
async fn what_the_page_did_with_a_key_is_told() {
    let stage = Stage::start().await;
    stage
        .write_on("<input id=a onkeydown=\"if(event.key==='x')event.preventDefault();if(event.key==='d')confirm('sure?')\"><iframe srcdoc='<input autofocus>'></iframe><p id=p>text")
        .await;
    let said = stage.press("x", Some("#a")).await;
    assert_eq!(said["observed"]["defaultPrevented"], true, "{said}");
    let said = stage.press("y", Some("#a")).await;
    assert_eq!(said["observed"]["defaultPrevented"], false, "{said}");
    let said = stage.press("d", Some("#a")).await;
    assert_eq!(
        (&said["observed"]["seen"], &said["observed"]["dialog"]["type"]),
        (&json!(true), &json!("confirm")),
        "{said}"
    );
    let said = stage.press("y", Some("#a")).await;
    assert_eq!((&said["kind"], &said["sent"]), (&json!("dialog_open"), &json!(false)), "{said}");
    stage.answer(true).await;
    stage.until("$('a').value==='yd'").await;
    // A page that keeps keys to itself, before anybody else hears of them.
    stage
        .write_on(
            "<input id=a><script>addEventListener('keydown',e=>{items.push(e.key);e.stopImmediatePropagation()},true)</script>
            <iframe srcdoc='<input>'></iframe><p id=p>text",
        )
        .await;
    let said = stage.type_in("#a", "x\n", TypeMode::InsertText).await;
    assert_eq!(
        (&said["effect"], &said["observed"]["enterPressed"]),
        (&json!("confirmed"), &json!(true)),
        "{said}"
    );
    assert_eq!(stage.evaluate("items").await, json!(["Enter"]));
    // Without a focus the body gets it.
    stage.evaluate("document.activeElement.blur()").await;
    let said = stage.press("PageDown", None).await;
    assert_eq!((&said["effect"], &said["observed"]["hit"]), (&json!("confirmed"), &json!("body")), "{said}");
    let said = stage.press("a", Some("#p")).await;
    assert_eq!(said["kind"], "not_editable", "{said}");
    stage.evaluate("frames[0].document.querySelector('input').focus()").await;
    let said = stage.press("q", None).await;
    assert_eq!(
        (&said["effect"], &said["observed"]["inFrame"]),
        (&json!("unverifiable"), &json!(true)),
        "{said}"
    );
    assert_eq!(stage.evaluate("frames[0].document.querySelector('input').value").await, "q");
    stage.stop().await;
}
