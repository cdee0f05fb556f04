//! One sending of a script between its markers: executes the effects of [`phase`](super::phase).

use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::Instant;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Reply;

use super::counts::Counted;
use super::ending::Ending;
use super::outcome::{BlockedBy, EvaluateError, Expiry};
use super::phase::{Effect, Input, Machine, Phase};
use super::run::Surroundings;
use super::site::Site;
use super::source::{self, Form, Limits};
use super::value::{self, Answer, Value};
use super::wait::{Slot, bad_news, cancelled, moment};
use super::{EvaluateLink, Script};
use crate::clock::{self, PageClock};
use crate::condition::Condition;
use crate::refs::StaleReason;

/// How long the page gets to answer the marker behind a script that was ended or asked to end:
/// what it answers is the difference between a tab that is usable and one that is stuck.
const SETTLE_GRACE: Duration = Duration::from_millis(20);
/// The script's own timeout is told in whole milliseconds, so it may come this much before the
/// moment at which we expect it.
const TIMEOUT_SLACK: Duration = Duration::from_millis(5);

/// How one sending ended.
pub(super) enum Outcome {
    Value(Value),
    DoesNotCompile(String),
    /// It refused to start although its time has not come: its deadline was told in a clock that
    /// the page does not have. Nothing ran.
    WrongClock,
    Failed(EvaluateError),
}

/// What is left of a sending once it was answered.
pub(super) struct Remains {
    /// The reply to the marker before the script, if it is still outstanding.
    pub(super) turn: Option<Reply>,
    /// The script's own reply, if it is still outstanding.
    pub(super) answer: Option<Reply>,
    /// The reply to the marker behind the script, if it is still outstanding.
    pub(super) sync_over: Option<Reply>,
    /// The name of the script in the page, if it can be ended under it.
    pub(super) url: Option<String>,
    /// The script's turn came, so the renderer knows the session.
    pub(super) answered: bool,
    /// The page's clock at that moment.
    pub(super) clock: Option<PageClock>,
}

/// One sending of the script between its markers.
pub(super) struct Call<'a> {
    warm: bool,
    site: &'a Site,
    budget: &'a Budget,
    around: &'a Surroundings,
    limit: usize,
    /// The name of the script in the page, if it can be ended under it.
    url: Option<String>,
    machine: Machine,
    started: Slot,
    answer: Slot,
    sync_over: Slot,
    probe: Slot,
    interrupt: Slot,
    /// The script's own timeout, if it has one; it counts from the script's start.
    timeout: Option<Duration>,
    started_at: Option<Instant>,
    ended_by_timeout_from: Instant,
    work_ends: Option<Instant>,
    to_terminate: Option<Instant>,
    budget_ends: Option<Instant>,
    grace_ends: Option<Instant>,
    cancelled: bool,
    counted: Counted,
    ending: Option<Ending>,
    clock: Option<PageClock>,
}

enum Happened {
    Reply(Input, Result<Box<RawValue>, CdpError>),
    Answered(Result<Box<RawValue>, CdpError>),
    Moment(Input),
    Condition(EvaluateError),
}

impl<'a> Call<'a> {
    pub(super) async fn send(
        link: &'a EvaluateLink,
        site: &'a Site,
        script: &Script,
        form: Form,
        around: &'a Surroundings,
        budget: &'a Budget,
    ) -> Result<Self, EvaluateError> {
        let reserve = budget.cleanup_reserve();
        let work = budget.reserving(reserve);
        let queued = |_| expired(budget, Phase::Queued, true);
        budget.check().map_err(queued)?;
        let limits = Limits {
            deadline_ms: link.clock.unwrap_or(around.clock).deadline_ms(work.deadline()),
            timeout_ms: work.left_ms().max(1),
            max_result_bytes: script.max_result_bytes,
        };
        let marker = source::marker();
        let url = source::script_url();
        let sent = source::script(&script.text, form, limits, &url, site.object.as_deref());
        let clock = source::clock_marker();
        let commands =
            [("Runtime.evaluate", &*clock), (sent.method, &*sent.params), ("Runtime.evaluate", &*marker)];
        let replies = budget.run(site.session.send_all(commands)).await.map_err(queued)??;
        let [started, answer, sync_over] = replies.map(Slot::new);
        Ok(Self {
            warm: link.warm,
            site,
            budget,
            around,
            limit: script.max_result_bytes,
            url: sent.has_checks.then_some(url),
            machine: Machine::sent(),
            started,
            answer,
            sync_over,
            probe: Slot::empty(),
            interrupt: Slot::empty(),
            timeout: site.object.is_none().then(|| Duration::from_millis(limits.timeout_ms)),
            started_at: None,
            ended_by_timeout_from: work.deadline() - TIMEOUT_SLACK,
            work_ends: Some(work.deadline()),
            // One without a timeout of its own has to be ended where that would have ended it.
            to_terminate: Some(if site.object.is_some() {
                work.deadline()
            } else {
                budget.deadline() - reserve / 3
            }),
            budget_ends: Some(budget.deadline()),
            grace_ends: None,
            cancelled: false,
            counted: Counted::new(&around.scripts),
            ending: None,
            clock: None,
        })
    }

    pub(super) fn remains(mut self) -> Remains {
        if let Some(ending) = &mut self.ending {
            if self.machine.terminated {
                ending.terminated();
            } else if self.site.session.is_link_closed() {
                ending.failed();
            }
        }
        Remains {
            turn: self.started.into_outstanding(),
            answer: self.answer.into_outstanding(),
            sync_over: self.sync_over.into_outstanding(),
            url: self.url,
            answered: self.started_at.is_some(),
            clock: self.clock,
        }
    }

    pub(super) async fn outcome(&mut self) -> Outcome {
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
                Happened::Reply(Input::Started, Ok(reply)) => {
                    self.read_clock(&reply);
                    Input::Started
                }
                Happened::Reply(input, Ok(_)) | Happened::Moment(input) => input,
            };
            let effect = self.machine.on(input);
            self.counted.now(self.machine.phase);
            match effect {
                Effect::Wait => {}
                Effect::Probe => self.probe(),
                Effect::Terminate => self.terminate(),
                Effect::TerminateAndSettle => {
                    self.terminate();
                    self.settle();
                }
                Effect::Settle => self.settle(),
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
            Answer::Detached => Outcome::Failed(EvaluateError::Stale(StaleReason::NodeDetached)),
            Answer::Unreadable(why) => Outcome::Failed(EvaluateError::Unreadable(why)),
            Answer::Late if Instant::now() < self.ended_by_timeout_from => Outcome::WrongClock,
            Answer::Late => {
                self.machine.phase = Phase::Waiting;
                self.machine.page_answers = true;
                Outcome::Failed(EvaluateError::TimedOut(self.expiry()))
            }
        })
    }

    /// The first marker reads the page's clock, at the moment at which the script's turn comes.
    fn read_clock(&mut self, reply: &RawValue) {
        let now = Instant::now();
        self.started_at = Some(now);
        self.clock = clock::read_answer(reply, now);
    }

    /// Gives the page a moment, once, and never beyond a moment after the budget.
    fn settle(&mut self) {
        let latest = self.budget.deadline() + SETTLE_GRACE;
        self.grace_ends = Some(latest.min(Instant::now() + SETTLE_GRACE));
    }

    fn timeout_has_struck(&self) -> bool {
        let (Some(timeout), Some(started)) = (self.timeout, self.started_at) else { return false };
        started.elapsed() + TIMEOUT_SLACK.min(timeout / 20) >= timeout
    }

    fn probe(&mut self) {
        self.probe.refill(self.site.session.try_send("Runtime.evaluate", source::marker()));
        if self.warm {
            self.interrupt.refill(self.site.session.try_send("Performance.getMetrics", json!({})));
        }
    }

    fn terminate(&mut self) {
        // Asked beside it: whether what runs services interrupts at all.
        self.interrupt.refill(self.site.session.try_send("Performance.getMetrics", json!({})));
        self.site.session.cast("Runtime.terminateExecution", json!({}));
        let cause = if self.cancelled { "abort" } else { "timeout" };
        self.ending.get_or_insert_with(|| Ending::sent(cause));
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
        // Silence alone says nothing on a busy machine; a longer probe tells native from script.
        let blocked_by = (!page_answers).then_some(if self.around.condition.borrow().navigating {
            BlockedBy::Navigation
        } else if self.counted.others_running() {
            BlockedBy::Evaluate
        } else if interruptible {
            BlockedBy::Script
        } else {
            BlockedBy::Unknown
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

/// It expired, or was cancelled, before anything of it could run.
pub(super) fn expired(budget: &Budget, phase: Phase, page_responsive: bool) -> EvaluateError {
    let expiry = Expiry {
        budget: budget.total(),
        elapsed: budget.elapsed(),
        phase,
        terminated: false,
        page_responsive,
        still_running: false,
        may_start_within_ms: None,
        blocked_by: (!page_responsive).then_some(BlockedBy::Unknown),
    };
    if budget.is_cancelled() { EvaluateError::Aborted(expiry) } else { EvaluateError::TimedOut(expiry) }
}
