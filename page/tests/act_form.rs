//! Forms on real Chromium: options, checkboxes, files, several fields.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;
#[path = "act/typing.rs"]
mod typing;

use std::path::PathBuf;

use serde_json::{Value, json};
use tabvisor_page::act::{Files, FillField, OptionName, Select, Target, check, fill, select, upload};
use tempfile::TempDir;

use support::{Stage, budget};
use typing::told;

impl Stage {
    async fn select(&self, css: &str, options: &[&str], by: OptionName) -> Value {
        let options = options.iter().map(|it| (*it).to_owned()).collect();
        told(select(&self.page, &Select { target: Target::Css(css.into()), options, by }, &budget()).await)
    }

    async fn check(&self, css: &str, checked: bool) -> Value {
        told(check(&self.page, &Target::Css(css.into()), checked, &budget()).await)
    }

    async fn fill(&self, fields: Value) -> Value {
        let fields = fields.as_object().unwrap().iter();
        let fields: Vec<_> = fields
            .map(|(css, value)| FillField { target: Target::Css(css.clone()), value: value.clone() })
            .collect();
        told(fill(&self.page, &fields, &budget()).await)
    }

    async fn upload(&self, css: &str, paths: &[PathBuf]) -> Value {
        told(match Files::by_path(paths).await {
            Ok(files) => upload(&self.page, &Target::Css(css.into()), &files, &budget()).await,
            Err(error) => Err(error),
        })
    }
}

#[tokio::test]
async fn a_value_beats_a_label_and_what_is_ambiguous_is_an_error() {
    let stage = Stage::start().await;
    stage
        .write_on(
            "<select id=s><option value=a>Alpha<option value=Alpha>Other<option value=z disabled>Off
            <option value=1>Twin<option value=2>Twin<option value=3>  Two   words </select>
            <select id=m multiple><option>x<option>y<option selected>z</select><select id=d disabled><option>x</select><p id=p>no",
        )
        .await;
    for (options, by, value) in [
        (&["Alpha"], OptionName::Either, "Alpha"),
        (&["Alpha"], OptionName::Label, "a"),
        (&["Other"], OptionName::Either, "Alpha"),
        (&["a"], OptionName::Value, "a"),
        (&["Two words"], OptionName::Either, "3"),
    ] {
        let said = stage.select("#s", options, by).await;
        assert_eq!(stage.evaluate("$('s').value").await, value, "{options:?} {by:?} {said}");
        assert_eq!((&said["effect"], &said["observed"]["selected"]), (&json!("confirmed"), &json!([value])));
    }
    assert_eq!(stage.evaluate("inputs.slice(0,2)").await, json!(["input s", "change s"]));
    for (css, options, kind, words) in [
        ("#s", &["Twin"][..], "invalid_argument", "several options"),
        ("#s", &["nope"], "invalid_argument", "there are \"a\" (Alpha)"),
        ("#s", &["z"], "invalid_argument", "disabled"),
        ("#s", &["a", "1"], "invalid_argument", "takes one option"),
        ("#s", &[], "invalid_argument", "takes one option"),
        ("#d", &["x"], "not_editable", "disabled"),
        ("#p", &["x"], "not_editable", "no select"),
    ] {
        let said = stage.select(css, options, OptionName::Either).await;
        assert_eq!(said["kind"], kind, "{said}");
        assert!(said["error"].as_str().unwrap().contains(words), "{said}");
    }
    assert_eq!(stage.evaluate("$('s').value").await, "3");
    let said = stage.select("#m", &["x", "y"], OptionName::Either).await;
    assert_eq!(said["observed"]["selected"], json!(["x", "y"]));
    assert_eq!(stage.evaluate("[...$('m').selectedOptions].map(it=>it.value)").await, json!(["x", "y"]));
    let said = stage.select("#m", &[], OptionName::Either).await;
    assert_eq!((&said["effect"], &said["observed"]["selected"]), (&json!("confirmed"), &json!([])));
    stage
        .write_on("<select id=s onchange='Promise.resolve().then(()=>value=1)'><option>1<option>2</select>")
        .await;
    let said = stage.select("#s", &["2"], OptionName::Either).await;
    assert_eq!(
        (&said["effect"], &said["observed"]["reverted"]),
        (&json!("suspected_noop"), &json!(true)),
        "{said}"
    );
    stage.write_on("<select id=s onchange='alert(value)'><option>1<option>2</select>").await;
    let said = stage.select("#s", &["2"], OptionName::Either).await;
    assert_eq!(said["observed"]["dialog"]["message"], "2", "{said}");
    stage.answer(true).await;
    stage.stop().await;
}

#[tokio::test]
async fn what_is_said_to_be_checked_is() {
    let stage = Stage::start().await;
    stage
        .write_on(
            "<input id=c type=checkbox onclick='items.push(checked)'><input id=r1 type=radio name=r checked><input id=r2 type=radio name=r>
            <label id=l>Yes<input id=h type=checkbox style='opacity:0;width:0;height:0;position:absolute'></label>
            <div id=a role=checkbox aria-checked=false tabindex=0 onclick=\"this.setAttribute('aria-checked',this.getAttribute('aria-checked')!=='true')\">A</div>
            <input id=no type=checkbox onclick='event.preventDefault()'><input id=d type=checkbox disabled><div id=p>no</div>
            <input id=m type=checkbox><script>$('m').indeterminate=true</script>",
        )
        .await;
    for (css, checked, state) in [
        ("#c", true, "$('c').checked"),
        ("#r2", true, "$('r2').checked&&!$('r1').checked"),
        ("#h", true, "$('h').checked"),
        ("#l", false, "!$('h').checked"),
        ("#a", true, "$('a').getAttribute('aria-checked')==='true'"),
        ("#a", false, "$('a').getAttribute('aria-checked')==='false'"),
        ("#m", false, "!$('m').checked&&!$('m').indeterminate"),
        ("#c", false, "!$('c').checked"),
    ] {
        for _ in 0..2 {
            let said = stage.check(css, checked).await;
            assert_eq!(said["effect"], "confirmed", "{css} {said}");
            assert_eq!(said["observed"]["checked"], checked.to_string(), "{css} {said}");
            assert_eq!(stage.evaluate(state).await, true, "{css}");
        }
    }
    assert_eq!(stage.evaluate("items").await, json!([true, false]), "a second time nothing is sent");
    for (css, checked, words) in
        [("#r2", false, "another of its group"), ("#p", true, "neither a checkbox"), ("#d", true, "disabled")]
    {
        let said = stage.check(css, checked).await;
        assert_eq!((&said["kind"], &said["sent"]), (&json!("not_editable"), &json!(false)), "{said}");
        assert!(said["error"].as_str().unwrap().contains(words), "{said}");
    }
    let said = stage.check("#no", true).await;
    assert_eq!(
        (&said["effect"], &said["observed"]["checked"]),
        (&json!("suspected_noop"), &json!("false")),
        "{said}"
    );
    stage.stop().await;
}

#[tokio::test]
async fn files_that_are_there_arrive_whole() {
    let stage = Stage::start().await;
    let folder = TempDir::new().unwrap();
    let file = |name: &str, size: u64| {
        let path = folder.path().join(name);
        std::fs::File::create(&path).unwrap().set_len(size).unwrap();
        path
    };
    let (one, two) = (file("one.txt", 5), file("zwei ü.bin", 3_000_000));
    stage
        .write_on(
            "<input id=f type=file onchange='items.push(files[0].size)'><input id=m type=file multiple style='display:none'>
            <input id=d type=file disabled><input id=t><input id=gone type=file onchange='value=``'><input id=a type=file onchange='alert(1)'>",
        )
        .await;
    let said = stage.upload("#f", std::slice::from_ref(&one)).await;
    assert_eq!(said["effect"], "confirmed", "{said}");
    assert_eq!(said["observed"]["files"], json!([{ "name": "one.txt", "size": 5 }]));
    assert_eq!(stage.evaluate("items").await, json!([5]));
    let said = stage.upload("#m", &[one.clone(), two.clone()]).await;
    assert_eq!(said["observed"]["files"][1], json!({ "name": "zwei ü.bin", "size": 3_000_000 }), "{said}");
    let missing = folder.path().join("missing");
    for (css, paths, kind, words) in [
        ("#f", vec![missing.clone()], "invalid_argument", "is not there"),
        ("#m", vec![one.clone(), missing], "invalid_argument", "is not there"),
        ("#f", vec![PathBuf::from("one.txt")], "invalid_argument", "absolute"),
        ("#f", vec![folder.path().to_owned()], "invalid_argument", "is no file"),
        ("#f", vec![one.clone(), two], "invalid_argument", "takes one file"),
        ("#d", vec![one.clone()], "not_editable", "disabled"),
        ("#t", vec![one.clone()], "not_editable", "no file input"),
    ] {
        let said = stage.upload(css, &paths).await;
        assert_eq!((&said["kind"], &said["sent"]), (&json!(kind), &json!(false)), "{said}");
        assert!(said["error"].as_str().unwrap().contains(words), "{said}");
    }
    assert_eq!(stage.evaluate("[items,$('m').files.length,$('d').files.length]").await, json!([[5], 2, 0]));
    let said = stage.upload("#gone", std::slice::from_ref(&one)).await;
    assert_eq!((&said["effect"], &said["observed"]["files"]), (&json!("unverifiable"), &json!([])), "{said}");
    let said = stage.upload("#a", &[one]).await;
    assert_eq!(said["observed"]["dialog"]["type"], "alert", "{said}");
    stage.answer(true).await;
    stage.stop().await;
}

#[tokio::test]
async fn several_fields_are_filled_each_by_what_it_is() {
    let stage = Stage::start().await;
    let page = "<input id=a value=old><textarea id=b>old</textarea><input id=c type=checkbox><input id=d type=date>
        <input id=e type=radio><select id=f><option value=1>One<option value=2>Two</select><input id=g type=number>
        <select id=h multiple><option>x<option>y</select><input id=i readonly><div id=j contenteditable>old</div>";
    let state =
        "[$('a').value,$('b').value,$('c').checked,$('d').value,$('e').checked,$('f').value,$('g').value,
        [...$('h').selectedOptions].length,$('j').innerText]";
    stage.write_on(page).await;
    let said = stage
        .fill(
            json!({ "#a": "new", "#b": null, "#c": "1", "#d": "2026-01-31", "#e": true, "#f": "Two", "#g": 12,
            "#h": ["x", "y"], "#j": "new" }),
        )
        .await;
    assert_eq!(said["effect"], "confirmed", "{said}");
    assert_eq!(
        stage.evaluate(state).await,
        json!(["new", "", true, "2026-01-31", true, "2", "12", 2, "new"])
    );
    let fields = said["observed"]["fields"].as_array().unwrap();
    assert_eq!(fields.len(), 9);
    assert!(fields.iter().all(|it| it["effect"] == "confirmed"));
    assert_eq!((&fields[0]["field"], &fields[0]["observed"]["value"]), (&json!("#a"), &json!("new")));
    stage.write_on(page).await;
    let said = stage.fill(json!({ "#a": "new", "#i": "no", "#j": "not reached" })).await;
    assert_eq!(said["effect"], "partial", "{said}");
    let fields = said["observed"]["fields"].as_array().unwrap();
    assert_eq!((fields.len(), &fields[1]["reason"]), (2, &json!("not_editable")));
    assert_eq!(stage.evaluate("[$('a').value,$('j').innerText]").await, json!(["new", "old"]));
    let said = stage.fill(json!({ "#c": "maybe" })).await;
    assert_eq!((&said["kind"], &said["sent"]), (&json!("invalid_argument"), &json!(false)), "{said}");
    let said = stage.fill(json!({ "#a": "again", "#c": {} })).await;
    assert_eq!(
        (&said["kind"], stage.evaluate("$('a').value").await),
        (&json!("invalid_argument"), json!("new"))
    );
    stage.stop().await;
}
