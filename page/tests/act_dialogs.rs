//! Dialogs of real pages, answered by what `Dialogs` decides.

#![expect(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the support of all tests of actions")]

#[path = "act/support.rs"]
mod support;

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::link::{Delivery, Events};
use tabvisor_page::dialog::{Answer, ClosedBy, Dialogs, Effect, Event, Handle, Now, Policy};

use support::{Stage, budget};

/// Executes the effects, as a tab's watcher does.
struct Desk {
    stage: Stage,
    events: Events,
    dialogs: Dialogs,
}

impl Desk {
    async fn open() -> Self {
        let stage = Stage::start().await;
        let events = stage
            .page
            .session
            .subscribe(&["Page.javascriptDialogOpening", "Page.javascriptDialogClosed"], 4096);
        stage.show("<script>window.say=it=>setTimeout(()=>window.got=it())</script>").await;
        Self { stage, events, dialogs: Dialogs::default() }
    }

    /// Lets a dialog open, from a timer: nothing of ours waits for it.
    async fn say(&self, call: &str) {
        self.stage.evaluate(&format!("window.got='nothing';say(()=>{call});0")).await;
    }

    fn handle(&self, Handle { accept, prompt_text, .. }: Handle) {
        let answer = match prompt_text {
            Some(text) => json!({ "accept": accept, "promptText": text }),
            None => json!({ "accept": accept }),
        };
        self.stage.page.session.cast("Page.handleJavaScriptDialog", answer);
    }

    /// Takes the next event; gives what is left to do for others.
    async fn next(&mut self) -> Vec<Effect> {
        let Some(Delivery::Event(event)) = budget().run(self.events.next()).await.unwrap() else {
            panic!("no event")
        };
        let params: Value = serde_json::from_str(event.params.get()).unwrap();
        let happened = match &*event.method {
            "Page.javascriptDialogOpening" => Event::Opened {
                kind: serde_json::from_value(params["type"].clone()).unwrap(),
                message: params["message"].as_str().unwrap().to_owned(),
                default_value: params["defaultPrompt"].as_str().map(Into::into),
            },
            _ => Event::Closed { accepted: params["result"] == true },
        };
        let mut left = Vec::new();
        for effect in self.dialogs.on(happened, Now::read()) {
            match effect {
                Effect::Handle(handle) => self.handle(handle),
                other => left.push(other),
            }
        }
        left
    }

    async fn got(&self) -> Value {
        self.stage.until("got!=='nothing'").await;
        self.stage.evaluate("got").await
    }
}

fn yes(text: Option<&str>) -> Answer {
    Answer { accept: true, prompt_text: text.map(Into::into) }
}

#[tokio::test]
async fn pages_get_the_answers_that_were_decided() {
    let mut desk = Desk::open().await;
    // By an agent: OK keeps what a prompt was preset with.
    for (call, answer, got) in [
        ("confirm('q')", yes(None), json!(true)),
        ("confirm('q')", Answer { accept: false, prompt_text: None }, json!(false)),
        ("prompt('q','preset')", yes(None), json!("preset")),
        ("prompt('q','preset')", yes(Some("")), json!("")),
        ("prompt('q','preset')", yes(Some("Ada")), json!("Ada")),
        ("prompt('q','preset')", Answer { accept: false, prompt_text: Some("Ada".into()) }, Value::Null),
    ] {
        desk.say(call).await;
        let shown = desk.next().await;
        assert!(matches!(&shown[..], [Effect::Show(_)]), "{shown:?}");
        let handle = desk.dialogs.answer(None, &answer).unwrap();
        desk.handle(handle);
        let closed = desk.next().await;
        let [Effect::Closed(record)] = &closed[..] else { panic!("{closed:?}") };
        assert_eq!((record.closed_by, record.accepted), (Some(ClosedBy::Agent), Some(answer.accept)));
        assert_eq!(desk.got().await, got, "{call} {answer:?}");
    }
    // Armed before it opens.
    desk.dialogs.arm(yes(Some("Eve")), Now::read().instant + Duration::from_mins(1));
    desk.say("prompt('q')").await;
    assert_eq!(desk.next().await, []);
    let closed = desk.next().await;
    assert!(
        matches!(&closed[..], [Effect::Closed(it)] if it.closed_by == Some(ClosedBy::Armed)),
        "{closed:?}"
    );
    assert_eq!(desk.got().await, "Eve");
    // Another client.
    desk.say("confirm('q')").await;
    desk.next().await;
    desk.stage.answer(true).await;
    let closed = desk.next().await;
    assert!(
        matches!(&closed[..], [Effect::Closed(it)] if it.closed_by == Some(ClosedBy::Remote)),
        "{closed:?}"
    );
    // A storm, by the policy.
    desk.dialogs.set_policy(Policy::Accept);
    desk.say("{for(let i=0;i<200;i++)alert('again');return 'done'}").await;
    let mut told = 0;
    for _ in 0..400 {
        told += desk.next().await.len();
    }
    assert_eq!(desk.got().await, "done");
    assert_eq!((told, desk.dialogs.recent().last().unwrap().repeated), (1, 199));
    // Whether the page may be left.
    desk.dialogs.set_policy(Policy::Hold);
    desk.stage.show("<button id=b onclick='onbeforeunload=e=>e.preventDefault()'>B</button>").await;
    desk.stage.click("#b").await.unwrap();
    desk.stage.page.session.cast("Page.navigate", json!({ "url": desk.stage.url("/next") }));
    let shown = desk.next().await;
    assert!(matches!(&shown[..], [Effect::Show(dialog)] if dialog.kind.to_string() == "beforeunload"));
    let mut navigated = desk.stage.page.session.subscribe(&["Page.frameNavigated"], 16);
    let handle = desk.dialogs.closing().unwrap();
    desk.handle(handle);
    let closed = desk.next().await;
    assert!(matches!(&closed[..], [Effect::Closed(it)] if it.accepted == Some(true)), "{closed:?}");
    let Some(Delivery::Event(event)) = budget().run(navigated.next()).await.unwrap() else {
        panic!("no event")
    };
    assert!(event.params.get().contains("/next\""), "{}", event.params.get());
    desk.stage.stop().await;
}
