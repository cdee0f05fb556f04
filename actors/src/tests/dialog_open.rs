//! With a dialog open every call answers at once and names it, and nothing is sent that would hang.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::fake::DialogKind;
use tabvisor_page::act::{Chord, Click, Modifiers, OptionName, Point, Scroll, TypeMode, Viewport};
use tabvisor_page::content::{Content, StorageKind};
use tabvisor_page::dialog::{Answer, Dialog};
use tabvisor_page::emulation::Setting;
use tabvisor_page::evaluate::EvaluateError;
use tabvisor_page::navigate::{Move, NavigateError, WaitUntil};
use tabvisor_page::observe::{Level, UrlPattern};
use tabvisor_page::snapshot::Request;
use tabvisor_page::wait::LoadState;

use super::{World, budget};
use crate::error::TabError;
use crate::ids::TabId;
use crate::{
    Act, At, Engine, EvaluateRequest, Given, Named, On, ScreenshotRequest, ShotOf, Step, StepKind, Steps,
    StopReason, Supervisor, Upload, UploadTo, Wait,
};

/// Far more than any call here may take, so that none can end with it.
fn long() -> Budget {
    budget(60_000)
}

fn css() -> Named {
    Named::Css("#b".into())
}

/// Every kind of act, one after the other: the compiler asks for a new one to be put into the chain.
fn after(act: &Act) -> Vec<Act> {
    let at = || At::On(css());
    let point = || At::Point(Point { x: 1.0, y: 1.0 });
    let text = || "a".to_owned();
    match act {
        Act::Click { .. } => vec![
            Act::Hover { at: at(), modifiers: Modifiers::NONE },
            Act::Hover { at: point(), modifiers: Modifiers::NONE },
        ],
        Act::Hover { .. } => {
            vec![Act::Drag { from: at(), to: point() }, Act::Drag { from: point(), to: at() }]
        }
        Act::Drag { .. } => {
            let by = Scroll { dx: 0.0, dy: 5.0 };
            vec![Act::Scroll { at: Some(at()), by }, Act::Scroll { at: None, by }]
        }
        Act::Scroll { .. } => vec![Act::ScrollIntoView { on: css() }],
        Act::ScrollIntoView { .. } => [None, Some(css())].map(|on| Act::Highlight { on }).into(),
        Act::Highlight { .. } => [TypeMode::InsertText, TypeMode::Keystrokes, TypeMode::SetValue]
            .map(|mode| Act::Type {
                on: css(),
                text: text(),
                mode,
                replace: true,
                submit: true,
                delay: Duration::ZERO,
            })
            .into(),
        Act::Type { .. } => vec![Act::InsertText { text: text() }],
        Act::InsertText { .. } => [None, Some(css())]
            .map(|on| {
                let chord = Chord::read("key", "Enter", false).unwrap();
                Act::Press { chord, on, hold_for: Duration::ZERO }
            })
            .into(),
        Act::Press { .. } => {
            vec![Act::Select { on: css(), options: vec![text()], by: OptionName::Either }]
        }
        Act::Select { .. } => vec![Act::Check { on: css(), checked: true }],
        Act::Check { .. } => vec![Act::Resize(Viewport { width: 500, height: 400 })],
        Act::Resize(_) => vec![Act::Fill { fields: vec![(css(), json!("a"))] }],
        Act::Fill { .. } => Vec::new(),
    }
}

fn acts() -> Vec<Act> {
    let click = |at, by_events| Act::Click { at, click: Click::default(), by_events };
    let point = At::Point(Point { x: 1.0, y: 1.0 });
    let mut all = vec![click(At::On(css()), false), click(At::On(css()), true), click(point, false)];
    loop {
        let next = after(&all[all.len() - 1]);
        if next.is_empty() {
            return all;
        }
        all.extend(next);
    }
}

fn waits() -> Vec<Wait> {
    let text = || Some("a".to_owned());
    vec![
        Wait { time: Some(Duration::from_secs(20)), ..Wait::default() },
        Wait { text: text(), ..Wait::default() },
        Wait { text_gone: text(), ..Wait::default() },
        Wait { selector: text(), ..Wait::default() },
        Wait { url: text(), ..Wait::default() },
        Wait { load: Some(LoadState::Load), ..Wait::default() },
        Wait { load: Some(LoadState::NetworkIdle), ..Wait::default() },
        Wait { function: text(), ..Wait::default() },
    ]
}

fn evaluates() -> Vec<EvaluateRequest> {
    let of = |on| EvaluateRequest { on, engine: Engine::Auto, ..EvaluateRequest::new("QUICK") };
    vec![of(None), of(Some(On::Node(3)))]
}

type Call<'a> = (String, Pin<Box<dyn Future<Output = Result<(), TabError>> + 'a>>);

fn call<'a, T>(name: impl std::fmt::Debug, call: impl Future<Output = Result<T, TabError>> + 'a) -> Call<'a> {
    (format!("{name:?}"), Box::pin(async { call.await.map(drop) }))
}

/// Everything that needs the page.
fn of_the_page<'a>(supervisor: &'a Supervisor, tab: TabId, time: &'a Budget) -> Vec<Call<'a>> {
    let mut all = Vec::new();
    for act in acts() {
        all.push(call(&act, supervisor.act_on(tab, act.clone(), time)));
    }
    for wait in waits() {
        all.push(call(&wait, supervisor.wait(tab, wait.clone(), time)));
    }
    for request in evaluates() {
        all.push(call(&request, supervisor.evaluate(tab, request.clone(), time)));
    }
    for of in [ShotOf::View, ShotOf::FullPage, ShotOf::Element(css())] {
        for labels in [false, true] {
            let request = ScreenshotRequest { of: of.clone(), labels, ..ScreenshotRequest::default() };
            all.push(call(&request, supervisor.screenshot(tab, request.clone(), time)));
        }
    }
    for labels in [false, true] {
        let request = Request { labels, ..Request::default() };
        all.push(call(&request, supervisor.snapshot_with_picture(tab, request.clone(), time)));
    }
    for to in [Move::Back, Move::Forward, Move::Reload] {
        all.push(call(to, supervisor.go(tab, to, WaitUntil::Load, time)));
    }
    let next = UploadTo::NextChooser { within: Duration::from_secs(20) };
    for to in [UploadTo::Input(css()), UploadTo::ChooserOf(css()), next] {
        let upload = Upload { files: Given::Remote(vec!["/f".into()]), to };
        all.push(call(&upload, supervisor.upload(tab, upload.clone(), time)));
    }
    let url = "http://fake.test/";
    all.extend([
        call("navigate", supervisor.navigate(tab, url, WaitUntil::Load, time)),
        call("pdf", supervisor.pdf(tab, time)),
    ]);
    let pattern = Box::leak(Box::new(UrlPattern::new("*").unwrap()));
    all.push(call("response", supervisor.response(tab, pattern, 100, time)));
    for content in [
        Content::Read(StorageKind::Local, None),
        Content::Write(StorageKind::Session, "k".into(), "v".into()),
        Content::Clear(StorageKind::Local),
        Content::Text(None, 100),
    ] {
        all.push(call(&content, supervisor.content(tab, content.clone(), time)));
    }
    for setting in [Setting::Offline(true), Setting::Credentials(None), Setting::Locale(Some("de-DE".into()))]
    {
        all.push(call(&setting, supervisor.emulate(tab, setting.clone(), time)));
    }
    all
}

/// The dialog that an error names, and whether its words tell of it, too.
fn named(error: &TabError) -> Option<&Dialog> {
    match error {
        TabError::Dialog(dialog)
        | TabError::Evaluate(EvaluateError::Dialog { dialog, .. })
        | TabError::Navigate(NavigateError::Dialog { dialog, .. }) => Some(dialog),
        _ => None,
    }
}

/// Commands that came since, and those of them that still wait for the renderer.
struct Since {
    recorded: usize,
    served: usize,
}

impl Since {
    fn now(world: &World) -> Self {
        Self { recorded: world.fake.record().len(), served: world.fake.ran().len() }
    }

    #[track_caller]
    fn nothing_hangs(&self, world: &World, what: &str) {
        let sent = world.fake.record().split_off(self.recorded);
        let served = world.fake.ran().split_off(self.served);
        for call in &sent {
            assert!(served.contains(call), "{what}: {call:?} hangs behind the dialog");
            assert!(!call.method.starts_with("Input."), "{what}: {call:?} is dropped by the dialog");
        }
    }
}

async fn with_dialog(world: &World) -> (TabId, Dialog) {
    let tab = world.open_warm().await;
    world.fake.open_dialog(&world.target(tab), DialogKind::Confirm, "sure?");
    let mut condition = world.supervisor.handle(tab).unwrap().shared.condition.subscribe();
    let open = condition.wait_for(|now| now.dialog.is_some()).await.unwrap();
    let dialog = open.dialog.clone().unwrap();
    drop(open);
    (tab, dialog)
}

#[tokio::test]
async fn every_call_that_needs_the_page_names_it_and_sends_nothing_that_hangs() {
    let world = World::new().await;
    let (tab, dialog) = with_dialog(&world).await;
    let time = long();
    for (name, call) in of_the_page(&world.supervisor, tab, &time) {
        let since = Since::now(&world);
        let error = call.await.expect_err(&name);
        assert_eq!(named(&error), Some(&dialog), "{name}: {error:?}");
        assert_eq!(error.kind(), "dialog_open", "{name}");
        assert!(error.to_string().contains("confirm dialog"), "{name}: {error}");
        since.nothing_hangs(&world, &name);
    }
    assert!(time.left() > Duration::from_secs(30), "not at once");
    world.stop().await;
}

#[tokio::test]
async fn a_step_of_any_kind_ends_its_steps_and_names_it() {
    let world = World::new().await;
    let (tab, dialog) = with_dialog(&world).await;
    let time = long();
    let url = "http://fake.test/".to_owned();
    let mut kinds: Vec<StepKind> = acts().into_iter().map(StepKind::Act).collect();
    kinds.extend(waits().into_iter().map(StepKind::Wait));
    kinds.extend(evaluates().into_iter().map(StepKind::Evaluate));
    kinds.push(StepKind::Navigate { url, until: WaitUntil::Load });
    kinds.push(StepKind::Go { to: Move::Reload, until: WaitUntil::Load });
    for kind in kinds {
        let name = format!("{kind:?}");
        let inside = Steps { steps: vec![Step::new(kind.clone()); 2], go_on: true };
        for steps in [inside.clone(), Steps { steps: vec![Step::new(StepKind::Steps(inside))], go_on: true }]
        {
            let since = Since::now(&world);
            let done = world.supervisor.steps(tab, steps, &time).await.unwrap();
            let stopped = done.stopped.expect(&name);
            assert_eq!(stopped.reason, StopReason::Dialog, "{name}");
            let mut results = &done.results;
            if let Ok(crate::StepDone::Stepped(inner)) = &results[0].outcome {
                results = &inner.results;
            }
            assert_eq!(results.len(), 1, "{name}");
            assert_eq!(results[0].outcome.as_ref().err().and_then(named), Some(&dialog), "{name}");
            since.nothing_hangs(&world, &name);
        }
    }
    assert!(time.left() > Duration::from_secs(30), "not at once");
    world.stop().await;
}

#[tokio::test]
async fn what_needs_no_page_answers_as_ever() {
    let world = World::new().await;
    let (tab, dialog) = with_dialog(&world).await;
    world.fake.on("Storage.getCookies").act(tabvisor_cdp::fake::Act::Reply(json!({ "cookies": [] })));
    let (supervisor, time) = (&world.supervisor, long());
    let since = Since::now(&world);
    let calls = [
        call("console", supervisor.console(tab, None, Level::Debug, &time)),
        call("errors", supervisor.page_errors(tab, None, true, &time)),
        call("requests", supervisor.requests(tab, None, None, true, &time)),
        call("cookies", supervisor.cookies(tab, &time)),
        call("focus", supervisor.focus(tab, &time)),
    ];
    for (name, call) in calls {
        call.await.expect(&name);
    }
    since.nothing_hangs(&world, "reads of the browser");
    assert_eq!(supervisor.tab(tab).unwrap().dialog, Some(dialog));
    supervisor.answer_dialog(tab, None, Answer { accept: true, prompt_text: None }, &time).await.unwrap();
    world.run(tab, "QUICK", 20_000).await.unwrap();
    world.fake.open_dialog(&world.target(tab), DialogKind::Confirm, "again?");
    supervisor.close(tab, &time).await.unwrap();
    assert!(time.left() > Duration::from_secs(30), "not at once");
    world.stop().await;
}
