//! Typing on real Chromium, judged by what the page's own listeners recorded.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;
#[path = "act/typing.rs"]
mod typing;

use serde_json::json;
use tabvisor_page::act::{TypeMode, TypeText, insert_text};

use support::{Stage, budget};
use typing::{MODES, told, typing};

#[tokio::test]
async fn the_page_saw_what_is_told_of_a_newline_in_all_fields_and_modes() {
    let stage = Stage::start().await;
    for mode in MODES {
        for (field, handler) in [
            ("key", "<input id=key onkeydown=\"if(event.key==='Enter'){items.push(value);value=''}\">"),
            ("code", "<input id=code onkeydown=\"if(event.keyCode===13){items.push(value);value=''}\">"),
            ("area", "<textarea id=area></textarea>"),
        ] {
            stage.write_on(handler).await;
            let said = stage.type_in(&format!("#{field}"), "Buy milk\n", mode).await;
            let enters = stage.evaluate("downs().filter(it=>it==='Enter').length").await;
            let value = stage.evaluate(&format!("$('{field}').value")).await;
            let seen = &said["observed"];
            let case = format!("{field} {mode:?}: {said}");
            assert_eq!(said["effect"], "confirmed", "{case}");
            assert_eq!(seen["differsFromRequested"], false, "{case}");
            if field == "area" {
                assert_eq!(value, "Buy milk\n", "{case}");
                assert_eq!(seen["value"], "Buy milk\n", "{case}");
                assert_eq!(
                    (&seen["requestedChars"], &seen["deliveredChars"]),
                    (&json!(9), &json!(9)),
                    "{case}"
                );
                assert!(seen.get("enterPressed").is_none(), "{case}");
                assert_eq!(enters, i32::from(mode == TypeMode::Keystrokes), "{case}");
                continue;
            }
            assert_eq!(stage.evaluate("items").await, json!(["Buy milk"]), "{case}");
            assert_eq!(value, "", "{case}");
            assert_eq!(seen["value"], "Buy milk", "what it held before Enter; {case}");
            assert_eq!((&seen["requestedChars"], &seen["deliveredChars"]), (&json!(8), &json!(8)), "{case}");
            assert_eq!((&seen["enterPressed"], &enters), (&json!(true), &json!(1)), "{case}");
            assert_eq!(seen["fieldAfterEnter"], "cleared", "{case}");
            assert_eq!(
                stage.evaluate("keys.filter(it=>it[1]==='Enter').map(it=>it.slice(0,4).concat(it[6]))").await,
                json!([
                    ["keydown", "Enter", "Enter", 13, true],
                    ["keypress", "Enter", "Enter", 13, true],
                    ["keyup", "Enter", "Enter", 13, true],
                ]),
                "{case}"
            );
        }
    }
    stage.stop().await;
}

#[tokio::test]
async fn keystrokes_are_keys_and_what_has_no_key_is_text() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a>").await;
    let said = stage.type_in("#a", "aB !é👹", TypeMode::Keystrokes).await;
    assert_eq!((&said["effect"], &said["observed"]["deliveredChars"]), (&json!("confirmed"), &json!(6)));
    assert_eq!(
        stage.evaluate("keys.filter(it=>it[0]==='keydown').map(it=>it.slice(1,5))").await,
        json!([
            ["a", "KeyA", 65, false],
            ["B", "KeyB", 66, true],
            [" ", "Space", 32, false],
            ["!", "Digit1", 49, true]
        ])
    );
    assert_eq!(
        stage.evaluate("keys.filter(it=>it[0]==='keyup').map(it=>it[1])").await,
        json!(["a", "B", " ", "!"])
    );
    stage.write_on("<input id=a>").await;
    stage.type_in("#a", "aB", TypeMode::InsertText).await;
    assert_eq!(stage.evaluate("[keys.length,inputs]").await, json!([0, ["input a"]]), "one input, no keys");
    stage.stop().await;
}

#[tokio::test]
async fn a_newline_inside_of_a_line_is_refused_and_a_tab_ends_keystrokes() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a value=kept><input id=b>").await;
    for mode in MODES {
        let said = stage.type_in("#a", "one\ntwo", mode).await;
        assert_eq!((&said["kind"], &said["sent"]), (&json!("invalid_argument"), &json!(false)), "{said}");
    }
    assert_eq!(stage.evaluate("[$('a').value,keys.length,inputs.length]").await, json!(["kept", 0, 0]));
    let said = stage.type_in("#a", "xy\tz", TypeMode::Keystrokes).await;
    assert_eq!(
        stage.evaluate("[$('a').value,$('b').value,document.activeElement.id]").await,
        json!(["keptxy", "", "b"])
    );
    assert_eq!(
        (&said["effect"], &said["observed"]["requestedChars"], &said["observed"]["deliveredChars"]),
        (&json!("partial"), &json!(4), &json!(3)),
        "{said}"
    );
    // A page that takes the tab as content goes on.
    stage
        .write_on("<textarea id=a onkeydown=\"if(event.key==='Tab'){event.preventDefault();setRangeText('\t',selectionEnd,selectionEnd,'end')}\"></textarea>")
        .await;
    let said = stage.type_in("#a", "x\ty", TypeMode::Keystrokes).await;
    assert_eq!((&said["effect"], stage.evaluate("$('a').value").await), (&json!("confirmed"), json!("x\ty")));
    stage.stop().await;
}

#[tokio::test]
async fn submit_presses_enter_and_tells_what_became_of_the_field() {
    let stage = Stage::start().await;
    stage.write_on("<form onsubmit='event.preventDefault();items.push(a.value)'><input id=a></form>").await;
    let said = told(stage.try_type(&TypeText { submit: true, ..typing("#a", "milk") }).await);
    assert_eq!(stage.evaluate("items").await, json!(["milk"]));
    assert_eq!(
        (&said["observed"]["enterPressed"], &said["observed"]["fieldAfterEnter"]),
        (&json!(true), &json!("unchanged"))
    );
    // The form leaves the page.
    stage.write_on("<form action=/next><input id=a name=q></form>").await;
    let said = stage.type_in("#a", "milk\n", TypeMode::InsertText).await;
    assert_eq!(
        (&said["effect"], &said["observed"]["enterPressed"]),
        (&json!("confirmed"), &json!(true)),
        "{said}"
    );
    assert_eq!(said["observed"]["fieldAfterEnter"], "replaced", "{said}");
    assert_eq!(said["observed"]["navigation"]["url"], stage.url("/next?q=milk"), "{said}");
    // The handler opens a dialog.
    stage.write_on("<input id=a onkeydown=\"if(event.key==='Enter')alert(value)\">").await;
    let said = stage.type_in("#a", "milk\n", TypeMode::InsertText).await;
    assert_eq!(said["observed"]["dialog"]["message"], "milk", "{said}");
    assert_eq!(
        (&said["observed"]["value"], &said["observed"]["enterPressed"]),
        (&json!("milk"), &json!(true))
    );
    let refused = stage.type_in("#a", "x", TypeMode::InsertText).await;
    assert_eq!((&refused["kind"], &refused["sent"]), (&json!("dialog_open"), &json!(false)));
    stage.answer(true).await;
    // A dialog in the middle of the keys.
    stage.write_on("<input id=a oninput=\"if(value==='mi')alert(1)\">").await;
    let said = stage.type_in("#a", "milk", TypeMode::Keystrokes).await;
    assert_eq!(
        (&said["effect"], &said["observed"]["dialog"]["type"]),
        (&json!("partial"), &json!("alert")),
        "{said}"
    );
    assert_eq!(said["observed"]["deliveredChars"], 1, "the second key is under way; {said}");
    stage.answer(true).await;
    for mode in MODES {
        stage.write_on("<input id=a oninput='alert(value)'>").await;
        let said = stage.type_in("#a", "m", mode).await;
        let seen = &said["observed"];
        assert_eq!(
            (&said["effect"], &seen["dialog"]["message"]),
            (&json!("unverifiable"), &json!("m")),
            "{said}"
        );
        stage.answer(true).await;
    }
    stage.write_on("<input id=a onfocus='if(!window.once){once=1;alert(1)}'>").await;
    let said = stage.type_in("#a", "m", TypeMode::InsertText).await;
    assert_eq!((&said["kind"], &said["sent"]), (&json!("dialog_open"), &json!(false)), "{said}");
    stage.answer(true).await;
    stage.stop().await;
}

#[tokio::test]
async fn enter_that_is_not_seen_is_told_and_so_is_text_that_does_not_stay() {
    let stage = Stage::start().await;
    // The focus leaves between the text and Enter.
    stage.write_on("<input id=a oninput='setTimeout(()=>$(`b`).focus())'><input id=b>").await;
    let said = stage.type_in("#a", "milk\n", TypeMode::InsertText).await;
    let seen = &said["observed"];
    assert_eq!(
        (&said["effect"], &seen["enterPressed"], &seen["value"]),
        (&json!("partial"), &json!(false), &json!("milk"))
    );
    assert_eq!((&seen["requestedChars"], &seen["deliveredChars"]), (&json!(4), &json!(4)), "{said}");
    // The page takes it back.
    stage.write_on("<input id=a value=old oninput='Promise.resolve().then(()=>value=`old`)'>").await;
    for mode in MODES {
        let said = stage.replace_in("#a", "new\n", mode).await;
        let seen = &said["observed"];
        assert_eq!(
            (&said["effect"], &seen["value"], &seen["enterPressed"]),
            (&json!("suspected_noop"), &json!("old"), &json!(false)),
            "{said}"
        );
        assert_eq!(seen["deliveredChars"], 0, "{said}");
    }
    assert_eq!(stage.evaluate("downs().includes('Enter')").await, false);
    // A framework that takes its time.
    stage.write_on("<input id=a oninput='const v=value;value=``;setTimeout(()=>value=v,200)'>").await;
    let said = stage.type_in("#a", "new", TypeMode::InsertText).await;
    assert_eq!((&said["effect"], &said["observed"]["value"]), (&json!("confirmed"), &json!("new")), "{said}");
    stage.stop().await;
}

#[tokio::test]
async fn what_a_field_makes_of_text_is_told() {
    let stage = Stage::start().await;
    stage.write_on("<input id=short maxlength=4><input id=up oninput='value=value.toUpperCase()'><input id=pw type=password>").await;
    for mode in [TypeMode::InsertText, TypeMode::Keystrokes] {
        let said = stage.replace_in("#short", "abcdef", mode).await;
        let seen = &said["observed"];
        assert_eq!(
            (&said["effect"], &seen["value"], &seen["deliveredChars"]),
            (&json!("partial"), &json!("abcd"), &json!(4)),
            "{said}"
        );
        assert_eq!(seen["differsFromRequested"], true);
        let said = stage.replace_in("#up", "abc", mode).await;
        let seen = &said["observed"];
        assert_eq!((&seen["value"], &seen["differsFromRequested"]), (&json!("ABC"), &json!(true)), "{said}");
        let said = stage.replace_in("#pw", "s3cret", mode).await;
        assert!(!said.to_string().contains("s3cret"), "{said}");
        assert_eq!((&said["effect"], &said["observed"]["deliveredChars"]), (&json!("confirmed"), &json!(6)));
        assert_eq!(stage.evaluate("$('pw').value").await, "s3cret");
    }
    stage.stop().await;
}

#[tokio::test]
async fn replace_replaces_and_without_it_text_is_added_in_every_kind_of_field() {
    let stage = Stage::start().await;
    stage
        .write_on(
            "<input id=text value=o1><input id=email type=email value=o1><input id=number type=number value=17>
            <input id=search type=search value=o1><input id=tel type=tel value=o1><input id=url type=url value=o1>
            <textarea id=area>o1</textarea><div id=rich contenteditable>o1</div>
            <input id=deaf value=o1 onkeydown='if(event.ctrlKey)event.preventDefault()'>",
        )
        .await;
    let value = |id: &str| format!("$('{id}').value??$('{id}').innerText");
    for id in ["text", "email", "number", "search", "tel", "url", "area", "rich", "deaf"] {
        for mode in MODES {
            let said = stage.replace_in(&format!("#{id}"), "42", mode).await;
            assert_eq!(stage.evaluate(&value(id)).await, "42", "{id} {mode:?} {said}");
            assert_eq!(
                (&said["effect"], &said["observed"]["value"]),
                (&json!("confirmed"), &json!("42")),
                "{id} {said}"
            );
        }
        stage.evaluate("document.activeElement.blur()").await;
        for (mode, wanted) in [(TypeMode::InsertText, "423"), (TypeMode::Keystrokes, "4233")] {
            let said = stage.type_in(&format!("#{id}"), "3", mode).await;
            assert_eq!(stage.evaluate(&value(id)).await, wanted, "{id} {mode:?} {said}");
            assert_eq!(said["effect"], "confirmed", "{id} {mode:?} {said}");
        }
        for mode in MODES {
            stage.replace_in(&format!("#{id}"), "7", mode).await;
            let said = stage.replace_in(&format!("#{id}"), "", mode).await;
            assert_eq!(stage.evaluate(&value(id)).await.as_str().unwrap().trim(), "", "{id} {mode:?} {said}");
            assert_eq!(said["effect"], "confirmed", "{id} {mode:?} {said}");
        }
    }
    stage.stop().await;
}

#[tokio::test]
async fn very_many_lines_do_not_hold_up_the_page() {
    let stage = Stage::start().await;
    stage.write_on("<textarea id=a>old\n</textarea>").await;
    let text = "lorem ipsum\n".repeat(100_000);
    let said = stage.type_in("#a", &text, TypeMode::InsertText).await;
    let seen = &said["observed"];
    assert_eq!((&said["effect"], &said["route"]), (&json!("confirmed"), &json!("page")));
    assert_eq!((&seen["requestedChars"], &seen["valueChars"]), (&json!(1_200_000), &json!(1_200_004)));
    assert!(
        seen["value"].as_str().unwrap().starts_with("old\nlorem")
            && seen["value"].as_str().unwrap().len() < 3_000
    );
    assert_eq!(
        stage.evaluate("[$('a').value.length,inputs]").await,
        json!([1_200_004, ["input a", "change a"]])
    );
    stage.stop().await;
}

#[tokio::test]
async fn text_goes_to_the_caret_of_what_has_the_focus() {
    let stage = Stage::start().await;
    stage.write_on("<input id=a value=ad><p id=p>text").await;
    let said = told(insert_text(&stage.page, "x", &budget()).await);
    assert_eq!(said["kind"], "not_editable", "{said}");
    // As terminals in pages do it.
    stage
        .write_on("<textarea id=t style='position:absolute;left:-9999em'></textarea><input id=a value=ad>")
        .await;
    let said = stage.type_in("#t", "ls", TypeMode::Keystrokes).await;
    assert_eq!((&said["kind"], &said["sent"]), (&json!("not_visible"), &json!(false)), "{said}");
    stage.evaluate("$('t').focus()").await;
    let said = told(insert_text(&stage.page, "ls\n", &budget()).await);
    assert_eq!(
        (&said["effect"], stage.evaluate("$('t').value").await),
        (&json!("confirmed"), json!("ls\n")),
        "{said}"
    );
    stage.evaluate("$('a').focus(),$('a').setSelectionRange(1,1)").await;
    let said = told(insert_text(&stage.page, "bc", &budget()).await);
    assert_eq!(
        (&said["effect"], stage.evaluate("$('a').value").await),
        (&json!("confirmed"), json!("abcd")),
        "{said}"
    );
    stage.stop().await;
}
