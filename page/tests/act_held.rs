//! On the fake Chrome: what real ones cannot be made to do, and what is not sent.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::fake::{Act, FakeChrome};
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Purpose};
use tabvisor_page::act::{
    ActError, ActPage, Chord, Effect, Files, FillField, OptionName, Outcome, Press, Select, Target, TypeMode,
    TypeText, check, fill, insert_text, press, select, type_text, upload,
};
use tabvisor_page::condition::Condition;
use tabvisor_page::dialog::{Dialog, DialogKind};
use tabvisor_page::frame_sessions::FrameSessions;
use tokio::sync::watch;

fn budget() -> Budget {
    Budget::new(Duration::from_mins(1))
}

async fn page(fake: &FakeChrome) -> (Link, watch::Sender<Condition>, ActPage) {
    let options = LinkOptions::new(Purpose::Page);
    let url = fake.browser_url().parse().unwrap();
    let link = Link::connect(&url, &DialOptions::default(), options, &budget()).await.unwrap();
    let target = fake.targets().remove(0);
    let session = link.attach(&target, &budget()).await.unwrap();
    let (condition, watched) = watch::channel(Condition::default());
    let main = (*target).into();
    (link, condition, ActPage { session, main, frames: FrameSessions::default(), condition: watched })
}

fn request(text: &str) -> TypeText {
    TypeText {
        target: Target::Css("#a".into()),
        text: text.into(),
        mode: TypeMode::InsertText,
        replace: false,
        submit: false,
        delay: Duration::ZERO,
    }
}

/// Everything that this crate can do to a field.
async fn all(page: &ActPage, budget: &Budget) -> Vec<Result<Outcome, ActError>> {
    let target = Target::Css("#a".into());
    let press_it =
        |on| Press { chord: Chord::read("key", "Enter", false).unwrap(), on, hold_for: Duration::ZERO };
    let chosen = Select { target: target.clone(), options: vec!["x".into()], by: OptionName::Either };
    let fields = [FillField { target: target.clone(), value: json!("x") }];
    let this = PathBuf::from("/proc/self/exe");
    vec![
        type_text(page, &request("x\n"), budget).await,
        press(page, &press_it(None), budget).await,
        press(page, &press_it(Some(target.clone())), budget).await,
        insert_text(page, "x", budget).await,
        select(page, &chosen, budget).await,
        check(page, &target, true, budget).await,
        fill(page, &fields, budget).await,
        upload(page, &target, &Files::by_path(&[this]).await.unwrap(), budget).await,
    ]
}

#[tokio::test]
async fn with_a_dialog_open_or_the_budget_spent_nothing_is_sent() {
    let fake = FakeChrome::start().await;
    let (_link, condition, page) = page(&fake).await;
    let before = fake.record().len();
    let dialog =
        Dialog { id: "d1".into(), kind: DialogKind::Alert, message: "m".into(), default_value: None };
    condition.send_modify(|now| now.dialog = Some(dialog));
    for done in all(&page, &budget()).await {
        assert!(matches!(&done, Err(ActError::Dialog(dialog)) if dialog.id == "d1"), "{done:?}");
    }
    condition.send_modify(|now| now.dialog = None);
    let spent = budget();
    spent.cancel();
    for done in all(&page, &spent).await {
        assert_eq!(done.as_ref().unwrap_err().kind(), "aborted", "{done:?}");
    }
    assert_eq!(fake.record().len(), before);
}

#[tokio::test]
async fn bad_input_is_refused_by_its_name_before_anything_is_sent() {
    let fake = FakeChrome::start().await;
    let (_link, _condition, page) = page(&fake).await;
    let before = fake.record().len();
    let slow = TypeText { delay: Duration::from_secs(6), ..request("x") };
    let held =
        Press { chord: Chord::read("key", "a", false).unwrap(), on: None, hold_for: Duration::from_secs(6) };
    let target = Target::Css("#a".into());
    let nested = [FillField { target: target.clone(), value: json!({}) }];
    let missing = Files::by_path(&[PathBuf::from("/no/such/file")]).await;
    for (done, field) in [
        (type_text(&page, &slow, &budget()).await, "delayMs"),
        (press(&page, &held, &budget()).await, "delayMs"),
        (fill(&page, &nested, &budget()).await, "fields"),
        (missing.map(|_| unreachable!()), "paths"),
    ] {
        let error = done.unwrap_err();
        assert!(matches!(&error, ActError::Invalid { field: named, .. } if *named == field), "{error}");
        assert!(error.to_string().starts_with(field));
    }
    assert_eq!(fake.record().len(), before);
}

#[tokio::test]
async fn a_field_that_cannot_be_examined_gets_its_text_as_it_is() {
    let fake = FakeChrome::start().await;
    let (_link, _condition, page) = page(&fake).await;
    fake.on("Page.createIsolatedWorld").act(Act::Reply(json!({ "executionContextId": 7 })));
    fake.on("DOM.focus").act(Act::Reply(json!({})));
    fake.on("Input.insertText").act(Act::Reply(json!({})));
    let thrown = json!({ "result": { "type": "object" }, "exceptionDetails": { "text": "no" } });
    fake.on("Runtime.callFunctionOn").act(Act::Reply(thrown));
    let found = json!({ "result": { "type": "object", "objectId": "o1" } });
    fake.on("Runtime.callFunctionOn").times(1).act(Act::Reply(found));
    let done = type_text(&page, &request("Buy milk\n"), &budget()).await.unwrap();
    assert_eq!(done.effect, Effect::Unverifiable);
    let told = serde_json::to_value(&done).unwrap();
    assert!(told["observed"]["warnings"][0].as_str().unwrap().contains("could not be examined"), "{told}");
    assert!(told["observed"].get("value").is_none());
    let texts: Vec<Value> =
        fake.calls("Input.insertText").iter().map(|it| it.param("text").clone()).collect();
    assert_eq!(texts, ["Buy milk\n"]);
    assert!(fake.calls("Input.dispatchKeyEvent").is_empty());
}
