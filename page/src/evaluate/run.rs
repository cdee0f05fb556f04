//! Drives one script over its link: executes the effects of [`phase`](super::phase).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Reply;

use super::outcome::{BlockedBy, EvaluateError, Expiry};
use super::phase::{Effect, Input, Machine, Phase};
use super::source::{self, Form, Limits};
use super::value::{self, Answer, Value};
use super::went_on::WentOn;
use super::{EvaluateLink, Script};
use crate::clock::PageClock;
use crate::condition::Condition;

/// What an evaluate gave, and whether its link may serve again: never after an expiry, an abort,
/// a dialog or an error of the link.
#[derive(Debug)]
pub struct Answered {
    /// The value, or why there is none.
    pub outcome: Result<Value, EvaluateError>,
    /// The link, if it is clean.
    pub link: Option<EvaluateLink>,
    /// The script went on: a promise of its is outstanding.
    pub went_on: Option<WentOn>,
}

impl Answered {
    /// An answer that leaves nothing behind.
    pub fn new(outcome: Result<Value, EvaluateError>, link: Option<EvaluateLink>) -> Self {
        Self { outcome, link, went_on: None }
    }
}

/// What a script has to know of its tab.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Published by the tab's watcher.
    pub condition: watch::Receiver<Condition>,
    /// Where the link's own clock was never read: the tab's, or this machine's.
    pub clock: PageClock,
    /// How many scripts of ours have started on this tab and not ended.
    pub started: Arc<AtomicUsize>,
}

/// How long the page gets to answer the marker behind a script that was ended or asked to end:
/// what it answers is the difference between a tab that is usable and one that is stuck.
const SETTLE_GRACE: Duration = Duration::from_millis(20);
/// The script's own timeout is told in whole milliseconds, so it may come this much before the
/// moment at which we expect it.
const TIMEOUT_SLACK: Duration = Duration::from_millis(5);

/// Runs `script` on `link`.
pub async fn run(link: EvaluateLink, script: &Script, around: Surroundings, budget: &Budget) -> Answered {
    if let Some(error) = refusal(&around) {
        return Answered::new(Err(error), Some(link));
    }
    let mut form = Form::Expression;
    loop {
        let mut call = match Call::send(&link, script, form, &around, budget).await {
            Ok(call) => call,
            Err(error) => return Answered::new(Err(error), None),
        };
        let outcome = call.outcome().await;
        let (answer, url) = call.take_apart();
        let error = match outcome {
            Outcome::Value(value) => return Answered::new(Ok(value), Some(link)),
            Outcome::DoesNotCompile(why) => match form.next(&script.text) {
                Some(next) => {
                    form = next;
                    continue;
                }
                None => EvaluateError::DoesNotCompile(why),
            },
            Outcome::Failed(error) => error,
        };
        return match (&error, answer) {
            // The page's own doing; the link has seen nothing wrong.
            (EvaluateError::Threw(_) | EvaluateError::DoesNotCompile(_), _) => {
                Answered::new(Err(error), Some(link))
            }
            (EvaluateError::TimedOut(expiry) | EvaluateError::Aborted(expiry), Some(answer))
                if expiry.phase == Phase::Pending =>
            {
                Answered { outcome: Err(error), link: None, went_on: Some(WentOn::new(link, answer, url)) }
            }
            _ => Answered::new(Err(error), None),
        };
    }
}

/// With a dialog open or the renderer dead, nothing is sent: it would hang.
fn refusal(around: &Surroundings) -> Option<EvaluateError> {
    let condition = around.condition.borrow();
    if condition.crashed {
        return Some(EvaluateError::Crashed);
    }
    let dialog = condition.dialog.clone()?;
    Some(EvaluateError::Dialog { dialog, phase: Phase::Queued })
}

enum Outcome {
    Value(Value),
    DoesNotCompile(String),
    Failed(EvaluateError),
}

/// One sending of the script between its markers.
struct Call<'a> {
    link: &'a EvaluateLink,
    budget: &'a Budget,
    around: &'a Surroundings,
    limit: usize,
    /// The name of the script in the page.
    url: String,
    machine: Machine,
    started: Slot,
    answer: Slot,
    sync_over: Slot,
    probe: Slot,
    interrupt: Slot,
    /// The script's own timeout; it counts from the script's start.
    timeout: Duration,
    started_at: Option<Instant>,
    ended_by_timeout_from: Instant,
    work_ends: Option<Instant>,
    to_terminate: Option<Instant>,
    budget_ends: Option<Instant>,
    grace_ends: Option<Instant>,
    cancelled: bool,
    counted: Option<Started>,
}

/// Counts a script among those that have started, for as long as it lives.
struct Started(Arc<AtomicUsize>);

impl Started {
    fn new(started: &Arc<AtomicUsize>) -> Self {
        started.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(started))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

enum Happened {
    Reply(Input, Result<Box<RawValue>, CdpError>),
    Answered(Result<Box<RawValue>, CdpError>),
    Moment(Input),
    Condition(EvaluateError),
}

impl<'a> Call<'a> {
    async fn send(
        link: &'a EvaluateLink,
        script: &Script,
        form: Form,
        around: &'a Surroundings,
        budget: &'a Budget,
    ) -> Result<Self, EvaluateError> {
        let reserve = budget.cleanup_reserve();
        let work = budget.reserving(reserve);
        let queued = |_| expired_while_queued(budget);
        budget.check().map_err(queued)?;
        let limits = Limits {
            deadline_ms: link.clock.unwrap_or(around.clock).deadline_ms(work.deadline()),
            timeout_ms: work.left_ms().max(1),
            max_result_bytes: script.max_result_bytes,
        };
        let marker = source::marker();
        let url = source::script_url();
        let sent = source::script(&script.text, form, limits, &url);
        let commands =
            [("Runtime.evaluate", &*marker), ("Runtime.evaluate", &*sent), ("Runtime.evaluate", &*marker)];
        let replies = budget.run(link.session.send_all(commands)).await.map_err(queued)??;
        let [started, answer, sync_over] = replies.map(Slot::new);
        Ok(Self {
            link,
            budget,
            around,
            limit: script.max_result_bytes,
            url,
            machine: Machine::sent(),
            started,
            answer,
            sync_over,
            probe: Slot::empty(),
            interrupt: Slot::empty(),
            timeout: Duration::from_millis(limits.timeout_ms),
            started_at: None,
            ended_by_timeout_from: work.deadline() - TIMEOUT_SLACK,
            work_ends: Some(work.deadline()),
            to_terminate: Some(budget.deadline() - reserve / 3),
            budget_ends: Some(budget.deadline()),
            grace_ends: None,
            cancelled: false,
            counted: None,
        })
    }

    /// What is left once it was answered: the script's own reply, if it is still outstanding.
    fn take_apart(self) -> (Option<Reply>, String) {
        (self.answer.0, self.url)
    }

    async fn outcome(&mut self) -> Outcome {
        let mut condition = self.around.condition.clone();
        loop {
            let input = match self.next(&mut condition).await {
                Happened::Condition(error) => return Outcome::Failed(self.with_phase(error)),
                Happened::Answered(reply) => match self.answered(reply) {
                    Ok(outcome) => return outcome,
                    Err(input) => input,
                },
                Happened::Reply(_, Err(CdpError::Protocol { .. })) => continue,
                Happened::Reply(_, Err(error)) => return Outcome::Failed(error.into()),
                Happened::Reply(Input::SyncOver, Ok(_)) if self.timeout_has_struck() => Input::SyncOverLate,
                Happened::Reply(input, Ok(_)) | Happened::Moment(input) => input,
            };
            let effect = self.machine.on(input);
            if input == Input::Started {
                self.started_at = Some(Instant::now());
                self.counted = Some(Started::new(&self.around.started));
            }
            match effect {
                Effect::Wait => {}
                Effect::Probe => self.probe(),
                Effect::Terminate => self.terminate(),
                Effect::TerminateAndSettle => {
                    self.terminate();
                    self.grace_ends = Some(Instant::now() + SETTLE_GRACE);
                }
                Effect::Settle => self.grace_ends = Some(Instant::now() + SETTLE_GRACE),
                Effect::Expire => return Outcome::Failed(EvaluateError::TimedOut(self.expiry())),
                Effect::Abort => return Outcome::Failed(EvaluateError::Aborted(self.expiry())),
                Effect::Interrupted => return Outcome::Failed(EvaluateError::Interrupted),
            }
        }
    }

    /// The next thing that happens. What Chromium said comes before what the clock says, and the
    /// answers in the order in which the renderer gave them.
    async fn next(&mut self, condition: &mut watch::Receiver<Condition>) -> Happened {
        tokio::select! {
            biased;
            reply = &mut self.started => Happened::Reply(Input::Started, reply),
            reply = &mut self.answer => Happened::Answered(reply),
            reply = &mut self.sync_over => Happened::Reply(Input::SyncOver, reply),
            reply = &mut self.probe => Happened::Reply(Input::ProbeAnswered, reply),
            reply = &mut self.interrupt => Happened::Reply(Input::InterruptAnswered, reply),
            error = bad_news(condition) => Happened::Condition(error),
            () = moment(&mut self.grace_ends) => Happened::Moment(Input::GraceEnds),
            () = cancelled(self.budget, &mut self.cancelled) => Happened::Moment(Input::Cancelled),
            () = moment(&mut self.work_ends) => Happened::Moment(Input::WorkEnds),
            () = moment(&mut self.to_terminate) => Happened::Moment(Input::LastCall),
            () = moment(&mut self.budget_ends) => Happened::Moment(Input::BudgetEnds),
        }
    }

    /// Reads the script's answer; an `Err` is one that says only that it was ended.
    fn answered(&mut self, reply: Result<Box<RawValue>, CdpError>) -> Result<Outcome, Input> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(CdpError::Protocol { code, ref message, .. }) if is_termination(code, message) => {
                if Instant::now() >= self.ended_by_timeout_from {
                    self.machine.on(Input::WorkEnds);
                }
                return Err(Input::Terminated);
            }
            Err(error) => return Ok(Outcome::Failed(error.into())),
        };
        Ok(match value::read(&reply, self.limit) {
            Answer::Value(value) => Outcome::Value(value),
            Answer::Threw(thrown) => Outcome::Failed(EvaluateError::Threw(thrown)),
            Answer::DoesNotCompile(why) => Outcome::DoesNotCompile(why),
            Answer::Unreadable(why) => Outcome::Failed(EvaluateError::Unreadable(why)),
            Answer::Late => {
                self.machine.phase = Phase::Waiting;
                self.machine.page_answers = true;
                Outcome::Failed(EvaluateError::TimedOut(self.expiry()))
            }
        })
    }

    fn timeout_has_struck(&self) -> bool {
        let slack = TIMEOUT_SLACK.min(self.timeout / 20);
        self.started_at.is_some_and(|at| at.elapsed() + slack >= self.timeout)
    }

    fn probe(&mut self) {
        self.probe.refill(self.link.session.try_send("Runtime.evaluate", source::marker()));
        if self.link.warm {
            self.interrupt.refill(self.link.session.try_send("Performance.getMetrics", json!({})));
        }
    }

    fn terminate(&self) {
        self.link.session.cast("Runtime.terminateExecution", json!({}));
    }

    fn with_phase(&self, error: EvaluateError) -> EvaluateError {
        match error {
            EvaluateError::Dialog { dialog, .. } => {
                EvaluateError::Dialog { dialog, phase: self.machine.phase }
            }
            other => other,
        }
    }

    fn expiry(&self) -> Expiry {
        let Machine { phase, terminated, page_answers, interruptible, .. } = self.machine;
        let mine = usize::from(self.counted.is_some());
        let others = self.around.started.load(Ordering::Relaxed) > mine;
        let blocked_by = (!page_answers).then_some(match phase {
            Phase::Running if !terminated => BlockedBy::Native,
            _ if others => BlockedBy::Evaluate,
            _ if interruptible => BlockedBy::Script,
            _ if self.link.warm => BlockedBy::Native,
            _ => BlockedBy::Unknown,
        });
        Expiry {
            budget: self.budget.total(),
            elapsed: self.budget.elapsed(),
            phase,
            terminated,
            page_responsive: page_answers,
            still_running: !terminated && matches!(phase, Phase::Running | Phase::Pending),
            may_start_within_ms: Some(self.budget.left_ms())
                .filter(|left| *left > 0 && self.cancelled && phase == Phase::Waiting),
            blocked_by,
        }
    }
}

/// How Chromium says that a script was ended by its timeout or by a termination: "Internal error"
/// where a promise was awaited, "Execution was terminated" elsewhere (measured).
fn is_termination(code: i64, message: &str) -> bool {
    message.contains("was terminated") || (code == -32603 && message == "Internal error")
}

fn expired_while_queued(budget: &Budget) -> EvaluateError {
    let expiry = Expiry {
        budget: budget.total(),
        elapsed: budget.elapsed(),
        phase: Phase::Queued,
        terminated: false,
        page_responsive: true,
        still_running: false,
        may_start_within_ms: None,
        blocked_by: None,
    };
    if budget.is_cancelled() { EvaluateError::Aborted(expiry) } else { EvaluateError::TimedOut(expiry) }
}

async fn bad_news(condition: &mut watch::Receiver<Condition>) -> EvaluateError {
    let news = condition.wait_for(|now| now.crashed || now.dialog.is_some()).await.map(|now| now.clone());
    match news {
        Ok(Condition { dialog: Some(dialog), crashed: false }) => {
            EvaluateError::Dialog { dialog, phase: Phase::Queued }
        }
        Ok(_) => EvaluateError::Crashed,
        // Its publisher is gone, and with it the tab: the link will say so.
        Err(_) => std::future::pending().await,
    }
}

async fn moment(at: &mut Option<Instant>) {
    match *at {
        Some(when) => {
            sleep_until(when).await;
            *at = None;
        }
        None => std::future::pending().await,
    }
}

async fn cancelled(budget: &Budget, seen: &mut bool) {
    if *seen {
        return std::future::pending().await;
    }
    budget.cancelled().await;
    *seen = true;
}

/// A reply that is waited for once; empty, it never completes.
struct Slot(Option<Reply>);

impl Slot {
    fn new(reply: Reply) -> Self {
        Self(Some(reply))
    }

    fn empty() -> Self {
        Self(None)
    }

    fn refill(&mut self, reply: Result<Reply, CdpError>) {
        self.0 = reply.ok();
    }
}

impl Future for Slot {
    type Output = Result<Box<RawValue>, CdpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(reply) = &mut self.0 else { return Poll::Pending };
        let outcome = std::task::ready!(Pin::new(reply).poll(context));
        self.0 = None;
        Poll::Ready(outcome)
    }
}
