//! A session, its events and a reducer.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Event, Events, Reply, Session};

use super::event::{History, Mark, READ, StateEvent};
use super::model::Known;
use super::observer;
use super::reducer::{Effects, Reducer};
use crate::navigate::Frame;

const BINDING_CALLED: &str = "Runtime.bindingCalled";
const DETACHED: &str = "Inspector.detached";

const EVENTS: &[&str] = &{
    let mut all = [BINDING_CALLED; READ.len() + 2];
    let mut at = 0;
    while at < READ.len() {
        all[at] = READ[at];
        at += 1;
    }
    all[at] = DETACHED;
    all
};

/// Events that may wait; a page with many busy frames makes many at once. What is lost is read afresh.
const WAITING: usize = 512;

type Answer = Result<Box<RawValue>, CdpError>;

/// Watches what the page of one session shows.
#[derive(Debug)]
pub struct Watching {
    session: Session,
    events: Events,
    reducer: Reducer,
    changed: bool,
    enable: Asked,
    tree: Asked,
    history: Asked,
    world: Asked,
    error_name: Asked,
    /// The isolated world of the document, and when it was asked for.
    context: Option<(i64, Mark)>,
}

/// A question that nobody waits for: its answer comes in between events, and on a stuck page never.
#[derive(Debug, Default)]
struct Asked {
    reply: Option<Reply>,
    at: Mark,
    /// Something happened since that it may not know of: ask once more.
    again: bool,
}

impl Asked {
    fn now(reply: Reply, at: Mark) -> Self {
        Self { reply: Some(reply), at, again: false }
    }

    /// Cancel-safe; never completes while nothing is asked.
    async fn answer(&mut self) -> Answer {
        let Some(reply) = &mut self.reply else { return std::future::pending().await };
        let answer = reply.await;
        self.reply = None;
        answer
    }
}

enum Input {
    Delivery(Option<Delivery>),
    Enabled(Answer),
    Tree(Answer),
    History(Answer),
    World(Answer),
    ErrorName(Answer),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame_tree: Root,
}

#[derive(Deserialize)]
struct Root {
    frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

/// Begins to watch the page of `session`: subscribes, enables the Page domain and reads what the page
/// shows. `from` is what an earlier watcher of the tab knew.
///
/// A dead page is known to be dead at once. One that does not answer is waited for as long as `patience`
/// lasts: what the browser itself knows of it is known then, and the rest comes while
/// [running](Watching::run), when the page answers again.
///
/// # Errors
/// Every [`CdpError`] when not even the browser answered within the budget.
pub async fn set_up(
    session: &Session,
    from: Known,
    patience: &Budget,
    budget: &Budget,
) -> Result<Watching, CdpError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        target_info: Info,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Info {
        target_id: String,
    }
    let spent = |spent| CdpError::spent("Page.enable", spent);
    let events = session.subscribe(EVENTS, WAITING);
    let none = RawValue::from_string("{}".into()).unwrap_or_default();
    let calls = [
        ("Target.getTargetInfo", &*none),
        // Tells of a crash that came before.
        ("Inspector.enable", &*none),
        ("Page.getNavigationHistory", &*none),
        ("Page.enable", &*none),
        ("Page.getFrameTree", &*none),
    ];
    let [target, _, history, enable, tree] = budget.run(session.send_all(calls)).await.map_err(spent)??;
    let target = budget.run(target).await.map_err(spent)??;
    let target: Answer = serde_json::from_str(target.get()).map_err(|why| {
        let why = format!("{:?} error", why.classify());
        CdpError::BadReply { method: "Target.getTargetInfo".into(), why }
    })?;
    let reducer = Reducer::new(&target.target_info.target_id, from);
    let at = reducer.mark();
    let mut watching = Watching {
        session: session.clone(),
        events,
        reducer,
        changed: true,
        enable: Asked::now(enable, at),
        tree: Asked::now(tree, at),
        history: Asked::now(history, at),
        world: Asked::default(),
        error_name: Asked::default(),
        context: None,
    };
    let browser_has_answered = |watching: &Watching| watching.history.reply.is_none();
    loop {
        let heard = watching.is_set_up() || watching.known().state.crashed;
        if heard && browser_has_answered(&watching) {
            return Ok(watching);
        }
        // Only the page may keep its answer to itself.
        let lasting = if browser_has_answered(&watching) { patience } else { budget };
        let input = match lasting.run(watching.next()).await {
            Ok(input) => input,
            Err(_) if browser_has_answered(&watching) => return Ok(watching),
            Err(why) => return Err(spent(why)),
        };
        if let ControlFlow::Break(why) = watching.take(input).await {
            return Err(why);
        }
    }
}

impl Watching {
    /// What is known now.
    pub fn known(&self) -> &Known {
        self.reducer.known()
    }

    /// The page has answered: its events are heard.
    pub fn is_set_up(&self) -> bool {
        self.enable.reply.is_none() && self.tree.reply.is_none()
    }

    /// Publishes what is known, at once and whenever something of it changes. Ends with the link or the
    /// session, and says why.
    pub async fn run(mut self, mut publish: impl FnMut(&Known)) -> CdpError {
        loop {
            if std::mem::take(&mut self.changed) {
                publish(self.known());
            }
            let input = self.next().await;
            if let ControlFlow::Break(why) = self.take(input).await {
                return why;
            }
        }
    }

    /// Cancel-safe. Events come first: an answer is judged by what has happened since its question.
    async fn next(&mut self) -> Input {
        tokio::select! {
            biased;
            delivery = self.events.next() => Input::Delivery(delivery),
            answer = self.enable.answer() => Input::Enabled(answer),
            answer = self.tree.answer() => Input::Tree(answer),
            answer = self.history.answer() => Input::History(answer),
            answer = self.world.answer() => Input::World(answer),
            answer = self.error_name.answer() => Input::ErrorName(answer),
        }
    }

    async fn take(&mut self, input: Input) -> ControlFlow<CdpError> {
        let done = match input {
            Input::Delivery(None) => Err(CdpError::LinkClosed(self.session.link_closed().await)),
            Input::Delivery(Some(Delivery::Lagged { missed })) => {
                tracing::debug!(missed, "page events were lost");
                self.happened(StateEvent::Lagged).await
            }
            Input::Delivery(Some(Delivery::Event(event))) => self.event(&event).await,
            Input::Enabled(answer) => self.enabled(answer).await,
            Input::Tree(answer) => self.tree(answer).await,
            Input::History(answer) => self.history(answer).await,
            Input::World(answer) => self.world(answer).await,
            Input::ErrorName(answer) => self.error_name(answer).await,
        };
        match done {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => ControlFlow::Break(why),
        }
    }

    async fn event(&mut self, event: &Event) -> Result<(), CdpError> {
        match event.method.as_ref() {
            BINDING_CALLED => match (observer::read_report(&event.params), self.context) {
                (Some((context, report)), Some((ours, at))) if context == ours => {
                    self.happened(StateEvent::Reported { at, report }).await
                }
                _ => Ok(()),
            },
            DETACHED => Err(CdpError::Detached { reason: "the target is gone".into() }),
            _ => match StateEvent::read(event) {
                Some(event) => self.happened(event).await,
                None => Ok(()),
            },
        }
    }

    async fn happened(&mut self, event: StateEvent) -> Result<(), CdpError> {
        let Effects { changed, read_history, enter_world, read_tree } = self.reducer.on(event);
        self.changed |= changed;
        if read_tree {
            self.ask_tree().await?;
        }
        if read_history {
            self.ask_history().await?;
        }
        if enter_world {
            self.ask_world().await?;
        }
        Ok(())
    }

    async fn ask_tree(&mut self) -> Result<(), CdpError> {
        let at = self.reducer.mark();
        self.tree = Asked::now(self.session.send("Page.getFrameTree", json!({})).await?, at);
        Ok(())
    }

    /// A page may change its url faster than the browser answers; so one question at a time, and the
    /// last one never lost.
    async fn ask_history(&mut self) -> Result<(), CdpError> {
        if self.history.reply.is_some() {
            self.history.again = true;
            return Ok(());
        }
        let at = self.reducer.mark();
        self.history = Asked::now(self.session.send("Page.getNavigationHistory", json!({})).await?, at);
        Ok(())
    }

    /// Likewise, for a page that opens its document over and over; but what was asked of a document
    /// that is gone need not be waited for.
    async fn ask_world(&mut self) -> Result<(), CdpError> {
        let at = self.reducer.mark();
        if self.world.reply.is_some() && self.world.at.generation == at.generation {
            self.world.again = true;
            return Ok(());
        }
        let params = json!({ "frameId": self.reducer.main_frame(), "worldName": observer::WORLD });
        self.world = Asked::now(self.session.send("Page.createIsolatedWorld", params).await?, at);
        Ok(())
    }

    async fn enabled(&mut self, answer: Answer) -> Result<(), CdpError> {
        match answer {
            Ok(_) => Ok(()),
            // Said by a renderer that died before, and only when a navigation brings another one.
            Err(CdpError::Crashed) => {
                let at = self.reducer.mark();
                self.enable = Asked::now(self.session.send("Page.enable", json!({})).await?, at);
                self.happened(StateEvent::Lagged).await
            }
            Err(why) => Err(why),
        }
    }

    async fn tree(&mut self, answer: Answer) -> Result<(), CdpError> {
        let at = self.tree.at;
        match read::<Tree>(answer)? {
            Some(tree) => self.happened(StateEvent::Tree { at, frame: tree.frame_tree.frame }).await,
            None => Ok(()),
        }
    }

    async fn history(&mut self, answer: Answer) -> Result<(), CdpError> {
        let (at, again) = (self.history.at, self.history.again);
        if let Some(history) = unless_over(answer)?.and_then(|raw| History::read(raw.get())) {
            self.happened(StateEvent::History { at, history }).await?;
        }
        if again { self.ask_history().await } else { Ok(()) }
    }

    async fn world(&mut self, answer: Answer) -> Result<(), CdpError> {
        let (at, again) = (self.world.at, self.world.again);
        if let Some(world) = read::<World>(answer)? {
            self.enter(world.execution_context_id, at).await?;
        }
        if again { self.ask_world().await } else { Ok(()) }
    }

    async fn enter(&mut self, context: i64, at: Mark) -> Result<(), CdpError> {
        if self.known().state.error.is_some() {
            let reply = self.session.send("Runtime.evaluate", observer::read_error(context)).await?;
            self.error_name = Asked::now(reply, at);
            return Ok(());
        }
        self.context = Some((context, at));
        let binding = json!({ "name": observer::BINDING, "executionContextName": observer::WORLD });
        let (binding, install) = (raw(&binding)?, raw(&observer::install(context))?);
        let calls = [("Runtime.addBinding", &*binding), ("Runtime.evaluate", &*install)];
        // What it reports is the answer.
        let _ = self.session.send_all(calls).await?;
        Ok(())
    }

    async fn error_name(&mut self, answer: Answer) -> Result<(), CdpError> {
        let at = self.error_name.at;
        let shown = read::<Value>(answer)?;
        match shown.as_ref().and_then(|it| it["result"]["value"].as_str()) {
            Some(shown) => self.happened(StateEvent::Named { at, shown: shown.to_owned() }).await,
            None => Ok(()),
        }
    }
}

/// An answer that is a refusal is none: the page went on meanwhile, or is gone, and events tell.
fn unless_over(answer: Answer) -> Result<Option<Box<RawValue>>, CdpError> {
    match answer {
        Ok(raw) => Ok(Some(raw)),
        Err(why @ (CdpError::LinkClosed(_) | CdpError::Detached { .. })) => Err(why),
        Err(_) => Ok(None),
    }
}

fn read<T: serde::de::DeserializeOwned>(answer: Answer) -> Result<Option<T>, CdpError> {
    Ok(unless_over(answer)?.and_then(|raw| serde_json::from_str(raw.get()).ok()))
}

fn raw(params: &Value) -> Result<Box<RawValue>, CdpError> {
    serde_json::value::to_raw_value(params).map_err(|why| CdpError::BadReply {
        method: "Runtime.evaluate".into(),
        why: format!("{:?} error", why.classify()),
    })
}
