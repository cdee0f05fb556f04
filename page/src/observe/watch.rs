//! The session that brings what a page says, and those of its frames.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Event, Events, Link, Session};
use tabvisor_cdp::task::{self, Task};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::address;
use super::challenge::{Obstacle, Stopped};
use super::observations::{Kind, Observations};
use crate::emulation::{Emulation, Setting};
use crate::navigate::{BadUrl, NavigationPolicy};

const CONSOLE: &[&str] = &["Runtime.consoleAPICalled", "Log.entryAdded"];
const ERRORS: &[&str] = &["Runtime.exceptionThrown"];
const REQUESTS: &[&str] = &[
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.loadingFinished",
    "Network.loadingFailed",
    "Network.webSocketCreated",
    "Network.webSocketHandshakeResponseReceived",
    "Network.webSocketFrameError",
    "Network.webSocketClosed",
];
const CONTROL: &[&str] = &[
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Fetch.requestPaused",
    "Fetch.authRequired",
    "Inspector.targetReloadedAfterCrash",
    "Inspector.detached",
];

/// Events that may wait. What is over it is counted as lost.
const WAITING: usize = 256;
/// Of those that somebody waits for in the page.
const WAITING_CONTROL: usize = 2048;
/// Console messages at once, and per second: a page that logs in a loop must not cost more.
const BURST: f64 = 1000.0;
const PER_SECOND: f64 = 1000.0;
/// How long objects of the console are kept in the page.
const KEPT_FOR: Duration = Duration::from_secs(1);
/// Bodies that the renderer keeps for [`response`](super::response): all together, and each.
const BODIES: u32 = 16 << 20;
const BODY: u32 = 8 << 20;
/// Requests whose credentials were given, so that wrong ones are not given again.
const ASKED: usize = 256;
/// Addresses that were looked at and wait to be dealt with.
const LOOKED: usize = 64;

/// A page that is observed. Clones are the same.
#[derive(Clone, Debug)]
pub struct Observing {
    page: Session,
    frames: Arc<Mutex<Vec<Session>>>,
    settle: mpsc::Sender<oneshot::Sender<()>>,
}

impl Observing {
    /// Waits until what the page has said so far is among the observations, or the budget is spent.
    pub async fn catch_up(&self, budget: &Budget) {
        // Answered in its turn, and also while a script runs (measured).
        if self.page.call("Performance.getMetrics", json!({}), budget).await.is_err() {
            return;
        }
        let (told, taken) = oneshot::channel();
        if self.settle.try_send(told).is_ok() {
            let _ = budget.run(taken).await;
        }
    }

    /// Changes the page and its frames for `setting`, which `emulation` has already.
    ///
    /// # Errors
    /// Every [`CdpError`] of the page; a frame may have gone.
    pub async fn change(
        &self,
        emulation: &Emulation,
        setting: &Setting,
        budget: &Budget,
    ) -> Result<(), CdpError> {
        emulation.change(setting, &self.page, budget).await?;
        for frame in self.frames().clone() {
            // Not waited for: a frame of another process may be stuck.
            for (method, params) in emulation.commands(setting) {
                frame.cast(method, params);
            }
        }
        Ok(())
    }

    /// The page's session.
    pub(super) fn page(&self) -> &Session {
        &self.page
    }

    fn frames(&self) -> MutexGuard<'_, Vec<Session>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work of observing a page, to be run.
#[derive(Debug)]
pub struct Watching {
    observing: Observing,
    settles: mpsc::Receiver<oneshot::Sender<()>>,
    console: Events,
    errors: Events,
    requests: Events,
    control: Events,
    pace: Pace,
    /// When to let go of the objects of the console.
    release: Option<Instant>,
    asked: VecDeque<String>,
    seen: Arc<Mutex<Observations>>,
    emulation: Arc<Mutex<Emulation>>,
    policy: Arc<NavigationPolicy>,
    /// Documents whose addresses are looked at, and what came of it.
    looking: HashMap<String, Task<()>>,
    looked: (mpsc::Sender<Checked>, mpsc::Receiver<Checked>),
}

/// A document whose address was looked at.
struct Checked {
    session: Session,
    request_id: String,
    frame: String,
    may: Result<(), BadUrl>,
}

enum Input {
    Checked(Checked),
    Control(Option<Delivery>),
    Row(Kind, Option<Delivery>),
    Release,
    Settle(oneshot::Sender<()>),
    Again,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
    target_info: Option<TargetInfo>,
}

#[derive(Deserialize)]
struct TargetInfo {
    r#type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    #[serde(default)]
    frame_id: String,
    #[serde(default)]
    resource_type: String,
    request: Option<PausedRequest>,
    auth_challenge: Option<Challenge>,
}

#[derive(Deserialize)]
struct PausedRequest {
    url: String,
}

#[derive(Deserialize)]
struct Challenge {
    source: Option<String>,
}

impl Watching {
    /// Begins to observe the page of `session`. With `again`, what the page said before is not told
    /// again: it may be what broke the last link. Otherwise the last 1000 messages are (measured).
    ///
    /// `patience` is how long the page may take to confirm: without that, events may be missing after
    /// its next navigation (measured). A page that is stuck confirms nothing, and is observed when it
    /// comes free.
    ///
    /// # Errors
    /// [`CdpError::LinkClosed`].
    pub async fn set_up(
        link: &Link,
        session: Session,
        again: bool,
        seen: Arc<Mutex<Observations>>,
        emulation: Arc<Mutex<Emulation>>,
        policy: Arc<NavigationPolicy>,
        patience: &Budget,
    ) -> Result<Self, CdpError> {
        let (settle, settles) = mpsc::channel(64);
        let watching = Self {
            console: link.subscribe_link(CONSOLE, WAITING),
            errors: link.subscribe_link(ERRORS, WAITING),
            requests: link.subscribe_link(REQUESTS, 2 * WAITING),
            control: link.subscribe_link(CONTROL, WAITING_CONTROL),
            observing: Observing { page: session, frames: Arc::default(), settle },
            settles,
            pace: Pace::new(Instant::now()),
            release: None,
            asked: VecDeque::new(),
            seen,
            emulation,
            policy,
            looking: HashMap::new(),
            looked: mpsc::channel(LOOKED),
        };
        let page = watching.observing.page.clone();
        tell(&page, "Inspector.enable", json!({})).await?;
        if again {
            tell(&page, "Runtime.discardConsoleEntries", json!({})).await?;
        }
        watching.begin(&page).await?;
        let last = page.send("Performance.getMetrics", json!({})).await?;
        match patience.run(last).await {
            Ok(Err(why @ CdpError::LinkClosed(_))) => Err(why),
            _ => Ok(watching),
        }
    }

    /// A handle on it.
    pub fn observing(&self) -> Observing {
        self.observing.clone()
    }

    /// Observes until the link or the session ends, and says why.
    pub async fn run(mut self) -> CdpError {
        loop {
            let input = self.next().await;
            if let ControlFlow::Break(why) = self.take(input).await {
                return why;
            }
        }
    }

    /// What somebody in the page waits for comes first.
    async fn next(&mut self) -> Input {
        let pause = self.pace.pause(Instant::now());
        let release = self.release;
        tokio::select! {
            biased;
            it = self.control.next() => Input::Control(it),
            Some(checked) = self.looked.1.recv() => Input::Checked(checked),
            it = self.errors.next() => Input::Row(Kind::Errors, it),
            it = self.requests.next() => Input::Row(Kind::Requests, it),
            it = self.console.next(), if pause.is_none() => Input::Row(Kind::Console, it),
            () = at(pause) => Input::Again,
            () = at(release) => Input::Release,
            Some(told) = self.settles.recv(), if pause.is_none() => Input::Settle(told),
        }
    }

    async fn take(&mut self, input: Input) -> ControlFlow<CdpError> {
        let done = match input {
            Input::Control(None) | Input::Row(_, None) => {
                Err(CdpError::LinkClosed(self.observing.page.link_closed().await))
            }
            Input::Control(Some(Delivery::Event(event))) => self.control(&event).await,
            Input::Control(Some(Delivery::Lagged { .. })) => self.recover().await,
            Input::Checked(checked) => self.checked(checked).await,
            Input::Row(kind, Some(Delivery::Lagged { missed })) => {
                tracing::debug!(missed, "events of a page were not taken");
                self.seen().lost(kind, missed);
                Ok(())
            }
            Input::Row(kind, Some(Delivery::Event(event))) => {
                if kind == Kind::Console {
                    self.pace.take();
                }
                let kept = self.seen().on(&event.method, event.params.get());
                if kept && self.release.is_none() {
                    self.release = Some(Instant::now() + KEPT_FOR);
                }
                Ok(())
            }
            Input::Release => {
                self.release = None;
                let group = json!({ "objectGroup": "console" });
                self.everywhere("Runtime.releaseObjectGroup", &group).await
            }
            Input::Settle(told) => {
                let _ = told.send(());
                Ok(())
            }
            Input::Again => Ok(()),
        };
        match done {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => ControlFlow::Break(why),
        }
    }

    async fn control(&mut self, event: &Event) -> Result<(), CdpError> {
        let params = event.params.get();
        let session = match &event.session {
            Some(id) => self.observing.page.sibling(id),
            None => return Ok(()),
        };
        match &*event.method {
            "Target.attachedToTarget" => {
                let Ok(attached) = serde_json::from_str::<Attached>(params) else { return Ok(()) };
                let frame = self.observing.page.sibling(&attached.session_id);
                if attached.target_info.is_some_and(|info| info.r#type == "iframe") {
                    self.observing.frames().push(frame.clone());
                    self.begin(&frame).await?;
                }
                // It waited at its birth.
                tell(&frame, "Runtime.runIfWaitingForDebugger", json!({})).await?;
            }
            "Target.detachedFromTarget" => {
                if let Ok(gone) = serde_json::from_str::<Attached>(params) {
                    self.observing.frames().retain(|frame| frame.id() != Some(&gone.session_id));
                }
            }
            "Fetch.requestPaused" => {
                let Ok(paused) = serde_json::from_str::<Paused>(params) else { return Ok(()) };
                match paused.request {
                    Some(request) if paused.resource_type == "Document" && !self.policy.is_open() => {
                        let (request_id, frame) = (paused.request_id, paused.frame_id);
                        let (policy, looked) = (Arc::clone(&self.policy), self.looked.0.clone());
                        let id = request_id.clone();
                        let look = task::spawn(async move {
                            let may = address::check(&policy, &request.url).await;
                            let _ = looked.send(Checked { session, request_id, frame, may }).await;
                        });
                        self.looking.insert(id, look);
                    }
                    _ => {
                        let request = json!({ "requestId": paused.request_id });
                        tell(&session, "Fetch.continueRequest", request).await?;
                    }
                }
            }
            "Fetch.authRequired" => {
                let Ok(paused) = serde_json::from_str::<Paused>(params) else { return Ok(()) };
                let answer = self.answer(&paused);
                let params = json!({ "requestId": paused.request_id, "authChallengeResponse": answer });
                tell(&session, "Fetch.continueWithAuth", params).await?;
            }
            // What a dead renderer was asked for, the new one may not have heard of.
            "Inspector.targetReloadedAfterCrash" => self.begin(&session).await?,
            "Inspector.detached" if session.id() == self.observing.page.id() => {
                return Err(CdpError::Detached { reason: "the target is gone".into() });
            }
            _ => {}
        }
        Ok(())
    }

    async fn checked(&mut self, checked: Checked) -> Result<(), CdpError> {
        let Checked { session, request_id, frame, may } = checked;
        self.looking.remove(&request_id);
        let Err(why) = may else {
            return tell(&session, "Fetch.continueRequest", json!({ "requestId": request_id })).await;
        };
        tracing::info!(%why, "a document was not loaded");
        self.seen().stop(Stopped { frame, by: Obstacle::Policy(why) });
        let params = json!({ "requestId": request_id, "errorReason": "BlockedByClient" });
        tell(&session, "Fetch.failRequest", params).await
    }

    /// What a server that asks is told. Wrong credentials are given once.
    fn answer(&mut self, paused: &Paused) -> Value {
        let emulation = self.emulation.lock().unwrap_or_else(PoisonError::into_inner);
        let of_server = paused.auth_challenge.as_ref().is_none_or(|it| it.source.as_deref() != Some("Proxy"));
        match emulation.credentials() {
            Some(known) if of_server && !self.asked.contains(&paused.request_id) => {
                if self.asked.len() == ASKED {
                    self.asked.pop_front();
                }
                self.asked.push_back(paused.request_id.clone());
                json!({ "response": "ProvideCredentials", "username": known.username, "password": known.password })
            }
            Some(_) if of_server => json!({ "response": "CancelAuth" }),
            _ => json!({ "response": "Default" }),
        }
    }

    /// Turns everything on in a session that is new, or whose renderer is.
    async fn begin(&self, session: &Session) -> Result<(), CdpError> {
        let network = json!({ "maxTotalBufferSize": BODIES, "maxResourceBufferSize": BODY });
        let mut commands = vec![
            ("Network.enable", network),
            ("Runtime.enable", json!({})),
            ("Log.enable", json!({})),
            ("Target.setAutoAttach", auto_attach(true)),
        ];
        commands.extend(self.emulation.lock().unwrap_or_else(PoisonError::into_inner).of_network());
        for (method, params) in commands {
            tell(session, method, params).await?;
        }
        Ok(())
    }

    /// Frames may wait at their birth, and requests for an answer, that were not heard of.
    async fn recover(&self) -> Result<(), CdpError> {
        let page = &self.observing.page;
        let credentials = {
            let emulation = self.emulation.lock().unwrap_or_else(PoisonError::into_inner);
            emulation.credentials().cloned()
        };
        if credentials.is_some() {
            self.everywhere("Fetch.disable", &json!({})).await?;
        }
        self.observing.frames().clear();
        tell(page, "Target.setAutoAttach", auto_attach(false)).await?;
        self.begin(page).await
    }

    async fn everywhere(&self, method: &'static str, params: &Value) -> Result<(), CdpError> {
        let frames = self.observing.frames().clone();
        for session in frames.iter().chain([&self.observing.page]) {
            tell(session, method, params).await?;
        }
        Ok(())
    }

    fn seen(&self) -> MutexGuard<'_, Observations> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a command whose answer nobody waits for.
async fn tell(session: &Session, method: &'static str, params: impl Serialize) -> Result<(), CdpError> {
    session.send(method, params).await.map(drop)
}

fn auto_attach(on: bool) -> Value {
    json!({
        "autoAttach": on, "waitForDebuggerOnStart": on, "flatten": true,
        "filter": [{ "type": "iframe" }, { "exclude": true }],
    })
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// How many messages may be taken: so many at once, and so many a second. Pure.
#[derive(Debug)]
struct Pace {
    left: f64,
    at: Instant,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { left: BURST, at: now }
    }

    fn take(&mut self) {
        self.left -= 1.0;
    }

    /// Until when nothing may be taken.
    fn pause(&mut self, now: Instant) -> Option<Instant> {
        self.left = (self.left + now.duration_since(self.at).as_secs_f64() * PER_SECOND).min(BURST);
        self.at = now;
        // Not for one message at a time.
        (self.left < 1.0).then(|| now + Duration::from_millis(100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_whole_and_a_flood_is_not() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let mut taken = 0;
        for ms in 0..2000 {
            let now = start + Duration::from_millis(ms);
            while taken < 1_000_000 && pace.pause(now).is_none() {
                pace.take();
                taken += 1;
            }
        }
        assert!((2900..=3001).contains(&taken), "{taken}");
    }
}
