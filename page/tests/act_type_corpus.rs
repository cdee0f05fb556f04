//! Fields that other tools were reported to fail on.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;
#[path = "act/typing.rs"]
mod typing;

use serde_json::json;
use tabvisor_page::act::{Target, TypeMode, TypeText};

use support::Stage;
use typing::{MODES, told, typing};

#[tokio::test]
async fn readonly_and_disabled_fields_keep_their_values() {
    let stage = Stage::start().await;
    stage
        .write_on(
            "<input id=r value=A readonly><input id=d value=B disabled><fieldset disabled><input id=f value=C></fieldset>
            <div inert><input id=i value=D></div><textarea id=t readonly>E</textarea><p id=p>F</p>",
        )
        .await;
    for id in ["r", "d", "f", "i", "t", "p"] {
        for mode in MODES {
            let said = stage.replace_in(&format!("#{id}"), "new", mode).await;
            assert_eq!(
                (&said["kind"], &said["sent"]),
                (&json!("not_editable"), &json!(false)),
                "{id} {said}"
            );
        }
    }
    assert_eq!(
        stage.evaluate("['r','d','f','i','t','p'].map(id=>$(id).value??$(id).innerText)").await,
        json!(["A", "B", "C", "D", "E", "F"])
    );
    assert_eq!(stage.evaluate("[keys.length,inputs.length]").await, json!([0, 0]));
    stage.stop().await;
}

#[tokio::test]
async fn what_is_no_text_field_is_refused_with_what_to_use() {
    let stage = Stage::start().await;
    stage
        .write_on("<select id=s><option>one<option>two</select><input id=c type=checkbox><input id=f type=file><input id=b type=submit><input id=h type=hidden>")
        .await;
    for (id, hint) in [("s", "use select"), ("c", "use check"), ("f", "use upload"), ("b", "use click")] {
        for mode in MODES {
            let said = stage.type_in(&format!("#{id}"), "two", mode).await;
            assert_eq!(said["kind"], "not_editable", "{said}");
            assert!(said["error"].as_str().unwrap().contains(hint), "{said}");
        }
    }
    assert_eq!(stage.evaluate("[$('s').value,keys.length,inputs.length]").await, json!(["one", 0, 0]));
    stage.stop().await;
}

#[tokio::test]
async fn no_character_is_lost_on_any_path() {
    let stage = Stage::start().await;
    let text = "👹é🇯🇵𠮷\nあ👨‍👩‍👧\ne\u{301}ａ";
    let chars = text.chars().count();
    stage.write_on("<textarea id=area></textarea><div id=rich contenteditable></div><div id=plain contenteditable=plaintext-only></div>").await;
    for mode in MODES {
        for id in ["area", "rich", "plain"] {
            let said = stage.replace_in(&format!("#{id}"), text, mode).await;
            let value = stage.evaluate(&format!("$('{id}').value??$('{id}').innerText")).await;
            assert_eq!(value.as_str().unwrap().trim_end_matches('\n'), text, "{id} {mode:?} {said}");
            let seen = &said["observed"];
            assert_eq!(
                (&said["effect"], &seen["value"]),
                (&json!("confirmed"), &json!(text)),
                "{id} {mode:?}"
            );
            assert_eq!(
                (&seen["requestedChars"], &seen["deliveredChars"]),
                (&json!(chars), &json!(chars)),
                "{id}"
            );
        }
    }
    // Three lines in, three lines read back.
    for mode in MODES {
        let said = stage.replace_in("#rich", "one\ntwo\nthree", mode).await;
        assert_eq!(said["observed"]["value"], "one\ntwo\nthree", "{mode:?} {said}");
    }
    stage.stop().await;
}

#[tokio::test]
async fn a_rich_editor_that_moves_its_caret_on_focus_is_replaced() {
    let stage = Stage::start().await;
    for handler in ["end()", "requestAnimationFrame(end)", "setTimeout(end)", "Promise.resolve().then(end)"] {
        stage
            .write_on(&format!(
                "<script>const end=()=>{{const s=getSelection();s.selectAllChildren($('e'));s.collapseToEnd()}}</script>
                <div id=e contenteditable onfocus=\"{handler}\">old</div><input id=other>"
            ))
            .await;
        for text in ["first", "second"] {
            let said = stage.replace_in("#e", text, TypeMode::InsertText).await;
            assert_eq!(
                (&said["effect"], &said["observed"]["value"]),
                (&json!("confirmed"), &json!(text)),
                "{handler} {said}"
            );
            assert_eq!(stage.evaluate("$('e').innerText").await, text, "{handler}");
            stage.evaluate("$('other').focus()").await;
        }
    }
    stage.stop().await;
}

#[tokio::test]
async fn a_value_tracker_notices_the_change_once() {
    let stage = Stage::start().await;
    // As React does it: a property of the element's own that remembers what was set through it.
    let tracker = "<input id=a value=old><script>
        const own=Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value');let last='old';
        Object.defineProperty($('a'),'value',{configurable:true,get(){return own.get.call(this)},set(v){last=''+v;own.set.call(this,v)}});
        $('a').addEventListener('input',()=>{const now=own.get.call($('a'));if(now!==last){last=now;items.push(now)}});
    </script>";
    for (mode, wanted) in [
        (TypeMode::InsertText, json!(["new"])),
        (TypeMode::SetValue, json!(["new"])),
        (TypeMode::Keystrokes, json!(["n", "ne", "new"])),
    ] {
        stage.write_on(tracker).await;
        let said = stage.replace_in("#a", "new", mode).await;
        assert_eq!(stage.evaluate("items").await, wanted, "{mode:?} {said}");
    }
    stage.stop().await;
}

#[tokio::test]
async fn dates_and_masks_are_told_as_they_are() {
    let stage = Stage::start().await;
    stage
        .write_on(
            "<input id=date type=date><input id=time type=time><input id=color type=color><input id=range type=range max=10>
            <input id=mask oninput=\"const d=value.replace(/[^0-9]/g,'').slice(0,8);
            value=[d.slice(0,2),d.slice(2,4),d.slice(4)].filter(Boolean).join('/');setSelectionRange(99,99)\">",
        )
        .await;
    for mode in [TypeMode::InsertText, TypeMode::SetValue] {
        for (id, value) in [("date", "2026-01-31"), ("time", "13:45"), ("color", "#ff0000"), ("range", "7")] {
            let said = stage.replace_in(&format!("#{id}"), value, mode).await;
            assert_eq!(
                (&said["effect"], &said["observed"]["value"]),
                (&json!("confirmed"), &json!(value)),
                "{said}"
            );
            assert_eq!(said["route"], "page");
            assert_eq!(stage.evaluate(&format!("$('{id}').value")).await, value);
        }
    }
    let said = stage.replace_in("#date", "31.01.2026", TypeMode::InsertText).await;
    assert_eq!((&said["kind"], &said["sent"]), (&json!("invalid_argument"), &json!(false)), "{said}");
    assert_eq!(stage.evaluate("$('date').value").await, "2026-01-31");
    let said = stage.type_in("#mask", "31012026", TypeMode::Keystrokes).await;
    let seen = &said["observed"];
    assert_eq!(
        (&seen["value"], &seen["differsFromRequested"], &seen["deliveredChars"]),
        (&json!("31/01/2026"), &json!(true), &json!(8)),
        "{said}"
    );
    stage.stop().await;
}

#[tokio::test]
async fn who_really_gets_the_text_is_noticed() {
    let stage = Stage::start().await;
    for later in ["$('b').focus()", "setTimeout(()=>$('b').focus())"] {
        stage.write_on(&format!("<input id=a onfocus=\"{later}\"><input id=b>")).await;
        for mode in MODES {
            let said = stage.type_in("#a", "x", mode).await;
            assert_eq!(said["kind"], "not_editable", "{later} {said}");
            assert!(said["error"].as_str().unwrap().contains("input#b"), "{said}");
        }
        assert_eq!(stage.evaluate("[$('a').value,$('b').value]").await, json!(["", ""]));
    }
    // A copy that the page makes is no other receiver.
    stage.write_on("<input id=a oninput='b.value=value;b.dispatchEvent(new Event(`input`,{bubbles:true}))'><input id=b>").await;
    let said = stage.type_in("#a", "12", TypeMode::Keystrokes).await;
    assert_eq!((&said["effect"], said["observed"].get("elsewhere")), (&json!("confirmed"), None), "{said}");
    // A code in single digits: every input passes the focus on.
    stage.write_on("<input id=a maxlength=1 oninput='nextElementSibling.focus()'><input id=b>").await;
    let said = stage.type_in("#a", "12", TypeMode::Keystrokes).await;
    assert_eq!(stage.evaluate("[$('a').value,$('b').value]").await, json!(["1", "2"]));
    assert_eq!(
        (&said["effect"], &said["observed"]["elsewhere"]),
        (&json!("partial"), &json!("input#b")),
        "{said}"
    );
    assert_eq!(said["observed"]["deliveredChars"], 1);
    stage.stop().await;
}

#[tokio::test]
async fn names_that_a_page_gives_its_elements_confuse_nothing() {
    let stage = Stage::start().await;
    stage
        .write_on(
            "<img name=execCommand><img name=createElement><img name=activeElement><input id=typing><input id=getSelection>
            <form contenteditable id=e>old<input name=innerText><input name=isContentEditable></form>
            <form><input id=a name=value value=old><input name=select></form><div id=e2 contenteditable>old</div>",
        )
        .await;
    for mode in MODES {
        for id in ["a", "e2", "typing"] {
            let said = stage.replace_in(&format!("#{id}"), "new", mode).await;
            assert_eq!(
                (&said["effect"], &said["observed"]["value"]),
                (&json!("confirmed"), &json!("new")),
                "{said}"
            );
        }
    }
    let said = stage.type_in("#e", "new ", TypeMode::InsertText).await;
    assert_eq!(said["effect"], "confirmed", "{said}");
    stage.stop().await;
}

#[tokio::test]
async fn a_tab_in_the_background_is_typed_into() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a onfocus='items.push(`focus`)'><div id=e contenteditable></div>").await;
    let front = serde_json::json!({ "url": stage.url("/front") });
    stage.link.root().call("Target.createTarget", front, &support::budget()).await.unwrap();
    for mode in MODES {
        for id in ["a", "e"] {
            let said = stage.replace_in(&format!("#{id}"), "Buy milk\n", mode).await;
            assert_eq!(said["effect"], "confirmed", "{id} {mode:?} {said}");
        }
    }
    assert_eq!(stage.evaluate("items[0]").await, "focus");
    stage.stop().await;
}

#[tokio::test]
async fn fields_in_shadow_trees_and_frames_are_typed_into() {
    let stage = Stage::start().await;
    stage.serve("/inner", "<input id=in><script>window.enters=0;document.getElementById('in').onkeydown=e=>enters+=e.keyCode===13</script>");
    stage
        .write_on("<div id=host></div><script>$('host').attachShadow({mode:'closed'}).innerHTML='<input>';</script><iframe src=/inner></iframe><iframe src=HOST/inner></iframe>")
        .await;
    let apart = stage.frame().await;
    let same = "frames[0].document.getElementById('in')";
    let own = "document.getElementById('in')";
    for mode in MODES {
        for (session, expression) in [(&stage.page.session, same), (&apart, own)] {
            let element = stage.element_in(session, expression).await;
            let target = Target::Element(element);
            let request = TypeText { target, mode, replace: true, ..typing("", "Buy milk\n") };
            let said = told(stage.try_type(&request).await);
            let value = support::evaluate(session, &format!("{expression}.value")).await;
            assert_eq!(
                (&said["effect"], &value),
                (&json!("confirmed"), &json!("Buy milk")),
                "{mode:?} {expression} {said}"
            );
            assert_eq!(said["observed"]["enterPressed"], true, "{mode:?} {said}");
        }
    }
    assert_eq!(support::evaluate(&apart, "enters").await, 3);
    assert_eq!(stage.evaluate("frames[0].enters").await, 3);
    stage.stop().await;
}
