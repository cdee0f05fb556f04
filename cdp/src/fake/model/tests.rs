//! Whatever happens in whatever order: no command is answered twice, and once everything that
//! holds it up is over, each one whose session lives is answered.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::act::{Act, Dialog, DialogKind, Kind, Raw};
use super::super::rule::Entry;
use super::{Alarm, Frame, Model, Output};

/// Something that can happen; the numbers pick among what there is.
#[derive(Clone, Copy, Debug)]
enum Event {
    Link,
    PageLink(usize),
    Close(usize),
    Attach(usize, usize),
    AutoAttach(usize, bool),
    Command(usize, usize),
    CloseTarget(usize, usize),
    Popup(usize, usize),
    Crash(usize),
    Free(usize),
    Occupy(usize, usize),
    Dialog(usize),
    Navigate(usize, usize),
    Destroy(usize),
    Detach(usize),
    Alarms,
    Release,
}

const URLS: [&str; 4] = ["about:blank", "http://a.test/1", "http://a.test/2", "http://b.test/"];
const KINDS: [Kind; 3] = [Kind::Script, Kind::Native, Kind::Stopped];

fn event() -> impl Strategy<Value = Event> {
    let n = 0usize..12;
    prop_oneof![
        1 => Just(Event::Link),
        1 => n.clone().prop_map(Event::PageLink),
        1 => n.clone().prop_map(Event::Close),
        4 => (n.clone(), n.clone()).prop_map(|(a, b)| Event::Attach(a, b)),
        1 => (n.clone(), any::<bool>()).prop_map(|(a, b)| Event::AutoAttach(a, b)),
        20 => (n.clone(), 0usize..commands().len()).prop_map(|(a, b)| Event::Command(a, b)),
        1 => (n.clone(), n.clone()).prop_map(|(a, b)| Event::CloseTarget(a, b)),
        2 => (n.clone(), 0usize..4).prop_map(|(a, b)| Event::Popup(a, b)),
        1 => n.clone().prop_map(Event::Crash),
        2 => n.clone().prop_map(Event::Free),
        1 => (n.clone(), 0usize..3).prop_map(|(a, b)| Event::Occupy(a, b)),
        1 => n.clone().prop_map(Event::Dialog),
        2 => (n.clone(), 0usize..4).prop_map(|(a, b)| Event::Navigate(a, b)),
        1 => n.clone().prop_map(Event::Destroy),
        1 => n.prop_map(Event::Detach),
        1 => Just(Event::Alarms),
        1 => Just(Event::Release),
    ]
}

fn commands() -> Vec<(&'static str, Value)> {
    let evaluate = |script: &str| ("Runtime.evaluate", json!({"expression": script, "timeout": 50}));
    let mut commands = vec![
        evaluate("0"),
        evaluate("loop"),
        evaluate("native"),
        evaluate("pending"),
        evaluate("confirm"),
        evaluate("hold"),
        evaluate("busy"),
        ("Page.enable", json!({})),
        ("Runtime.enable", json!({})),
        ("Runtime.terminateExecution", json!({})),
        ("Runtime.runIfWaitingForDebugger", json!({})),
        ("Performance.getMetrics", json!({})),
        ("Page.getFrameTree", json!({})),
        ("Page.stopLoading", json!({})),
        ("Page.reload", json!({})),
        ("Page.crash", json!({})),
        ("Page.handleJavaScriptDialog", json!({"accept": true})),
        ("Inspector.enable", json!({})),
        ("Input.dispatchMouseEvent", json!({})),
    ];
    commands.extend(URLS.iter().map(|url| ("Page.navigate", json!({"url": url}))));
    commands.push(("Page.navigate", json!({"url": "http://a.test/slow"})));
    commands
}

/// The model and what came out of it.
struct Run {
    model: Model,
    answers: BTreeMap<u64, usize>,
    sent: BTreeMap<u64, (u64, Option<String>)>,
    alarms: Vec<Alarm>,
    sessions: Vec<(u64, String)>,
}

impl Run {
    fn new() -> Self {
        let mut model = Model::default();
        model.script.set_evaluator(Box::new(|call| match call.expression() {
            "loop" => Act::Occupy(Kind::Script),
            "native" => Act::Occupy(Kind::Native),
            "pending" => Act::Pending,
            "confirm" => Act::dialog(DialogKind::Confirm, "?"),
            "hold" => Act::hold("gate"),
            "busy" => Act::busy_for(Kind::Script, std::time::Duration::from_millis(30), json!(1)),
            _ => Act::Default,
        }));
        let mut slow = Entry::new("Page.navigate");
        slow.tests.push(Box::new(|call| call.text("url").ends_with("/slow")));
        slow.act = Act::Occupy(Kind::Loading);
        model.script.add(slow);
        model.open_page(URLS[1]);
        model.open_browser_link();
        Self {
            model,
            answers: BTreeMap::new(),
            sent: BTreeMap::new(),
            alarms: Vec::new(),
            sessions: Vec::new(),
        }
    }

    fn happen(&mut self, event: Event) {
        let targets = self.model.target_ids();
        let conns = self.model.conns();
        let target = |n: usize| pick(&targets, n);
        match event {
            Event::Link => {
                self.model.open_browser_link();
            }
            Event::PageLink(n) => {
                target(n).map(|id| self.model.open_page_link(&id));
            }
            Event::Close(n) => {
                pick(&conns, n).map(|conn| self.model.drop_link(conn));
            }
            Event::Attach(a, b) => {
                let params = target(b).map(|id| json!({"targetId": id, "flatten": true}));
                self.on_root(a, "Target.attachToTarget", params);
            }
            Event::AutoAttach(a, on) => {
                let params = json!({"autoAttach": on, "waitForDebuggerOnStart": true, "flatten": true});
                self.on_root(a, "Target.setAutoAttach", Some(params));
            }
            Event::CloseTarget(a, b) => {
                self.on_root(a, "Target.closeTarget", target(b).map(|id| json!({"targetId": id})));
            }
            Event::Command(a, b) => {
                let (method, params) = commands().swap_remove(b);
                if let Some((conn, session)) = pick(&self.sessions, a) {
                    self.command(conn, Some(session), method, &params);
                }
            }
            Event::Popup(n, url) => {
                target(n).map(|id| self.model.popup(&id, URLS[url], None));
            }
            Event::Crash(n) => {
                if let Some(id) = target(n) {
                    self.model.crash(&id);
                }
            }
            Event::Free(n) => {
                target(n).map(|id| self.model.free(&id));
            }
            Event::Occupy(n, kind) => {
                if let Some(id) = target(n) {
                    self.model.occupy_by_page(&id, KINDS[kind]);
                }
            }
            Event::Dialog(n) => {
                let dialog = Dialog::new(DialogKind::Alert, "!");
                if let Some(id) = target(n) {
                    self.model.open_dialog(&id, dialog.clone());
                }
            }
            Event::Navigate(n, url) => {
                if let Some(id) = target(n) {
                    self.model.navigate_by_page(&id, URLS[url]);
                }
            }
            Event::Destroy(n) => {
                if let Some(id) = target(n) {
                    self.model.destroy(&id);
                }
            }
            Event::Detach(n) => {
                let alive = targets.iter().flat_map(|id| self.model.sessions_of(id)).collect::<Vec<_>>();
                if let Some(session) = pick(&alive, n) {
                    self.model.detach_by_test(&session);
                }
            }
            Event::Alarms => self.ring(),
            Event::Release => {
                self.model.release("gate");
            }
        }
        self.hear();
    }

    fn on_root(&mut self, link: usize, method: &str, params: Option<Value>) {
        if let (Some(conn), Some(params)) = (pick(&self.model.conns(), link), params) {
            self.command(conn, None, method, &params);
        }
    }

    fn command(&mut self, conn: u64, session: Option<String>, method: &str, params: &Value) {
        let id = self.sent.len() as u64;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &session {
            message["sessionId"] = json!(session);
        }
        self.sent.insert(id, (conn, session));
        self.model.message(conn, &message.to_string());
    }

    fn ring(&mut self) {
        for alarm in std::mem::take(&mut self.alarms) {
            self.model.ring(alarm);
        }
    }

    fn hear(&mut self) {
        for output in self.model.take() {
            match output {
                Output::Alarm(_, alarm) => self.alarms.push(alarm),
                Output::Send(conn, Frame::Raw(Raw::Text(text))) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    if let Some(id) = message["id"].as_u64() {
                        assert!(self.sent.contains_key(&id), "an answer to nothing: {message}");
                        *self.answers.entry(id).or_default() += 1;
                        assert_eq!(self.answers[&id], 1, "answered twice: {message}");
                    } else if message["method"] == "Target.attachedToTarget" {
                        let session = message["params"]["sessionId"].as_str().unwrap();
                        self.sessions.push((conn, session.to_owned()));
                    }
                }
                _ => {}
            }
        }
    }

    /// Ends whatever holds anything up.
    fn settle(&mut self) {
        for round in 0..200 {
            self.hear();
            self.ring();
            self.model.release("gate");
            let busy = self.model.target_ids().iter().filter(|id| self.model.free(id)).count();
            self.hear();
            if busy == 0 && self.alarms.is_empty() {
                break;
            }
            assert!(round < 199, "it never comes to rest");
        }
        for id in self.model.target_ids() {
            // Promises and crashed renderers are settled by a navigation.
            self.model.navigate_by_page(&id, "http://rest.test/");
        }
        self.hear();
    }
}

fn pick<T: Clone>(among: &[T], n: usize) -> Option<T> {
    (!among.is_empty()).then(|| among[n % among.len()].clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn every_command_gets_one_answer(events in prop::collection::vec(event(), 1..60)) {
        let mut run = Run::new();
        for event in events {
            run.happen(event);
        }
        run.settle();
        let alive: BTreeSet<String> =
            run.model.target_ids().iter().flat_map(|id| run.model.sessions_of(id)).collect();
        for (id, (_, session)) in &run.sent {
            if session.as_ref().is_some_and(|session| alive.contains(session)) {
                prop_assert!(run.answers.contains_key(id), "{:?} was never answered",
                    run.model.record.iter().find(|call| call.id == *id));
            }
        }
        let counts = run.model.counts();
        prop_assert!(counts.pending.values().all(|&pending| pending == 0), "{counts:?}");
    }
}
