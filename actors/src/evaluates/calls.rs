//! Calls: admitted, held for a moment, run, settled.

use std::sync::Arc;

use ractor::{ActorId, ActorRef};
use tabvisor_page::evaluate::{Answered, EvaluateError, Phase, WentOn};
use tokio::time::Instant;
use tracing::Instrument;

use super::{Call, EvaluatesMsg, KILL_GRACE, Run, State};
use crate::error::TabError;
use crate::evaluate;
use crate::later::later;
use crate::leaf::{self, End};

impl State {
    pub(super) async fn run(&mut self, myself: &ActorRef<EvaluatesMsg>, run: Run) {
        if run.reply.is_closed() {
            return;
        }
        if let Err(spent) = run.budget.check() {
            let _ = run.reply.send(Err(TabError::Budget { spent, doing: "waiting to start", sent: false }));
            return;
        }
        if self.probing.is_some() {
            self.hold(myself, run);
            return;
        }
        let Run { script, budget, asked, span, reply, permits } = run;
        // A page that is known not to answer says so at once, instead of using up another budget.
        let stuck = *self.tab.stuck.borrow();
        if let Some(stuck) = stuck.filter(|stuck| stuck.proven) {
            let _ = reply.send(Err(stuck.refusal(self.tab.id)));
            return;
        }
        budget.begin();
        metrics::histogram!("tabvisor_queue_wait_seconds", "kind" => "evaluate")
            .record(asked.elapsed().as_secs_f64());
        let work =
            evaluate::serve(Arc::clone(&self.tab), self.take_spare(), script, self.clock, budget.clone());
        let work = work.instrument(span);
        match leaf::spawn(myself.get_cell(), work).await {
            Ok(cell) => {
                let id = cell.get_id();
                let overdue = later(myself, budget.left() + KILL_GRACE, EvaluatesMsg::Overdue(id));
                let call = Call { cell, budget, reply, _permits: permits, _overdue: overdue };
                self.calls.insert(id, call);
            }
            Err(error) => {
                let _ = reply.send(Err(TabError::Internal(error.to_string())));
            }
        }
        self.keep_a_spare(myself).await;
    }

    /// Ending a script takes a few milliseconds, more on a busy machine: a page that is free in a
    /// moment is not called stuck. The probe ends the wait.
    fn hold(&mut self, myself: &ActorRef<EvaluatesMsg>, run: Run) {
        self.held.push(run);
        let soonest = self.held.iter().map(|run| run.budget.left()).min().unwrap_or_default();
        self.held_timer = Some(later(myself, soonest, EvaluatesMsg::HeldExpired));
    }

    /// Runs, refuses or goes on holding the calls that waited.
    pub(super) async fn run_held(&mut self, myself: &ActorRef<EvaluatesMsg>) {
        self.held_timer = None;
        for run in std::mem::take(&mut self.held) {
            self.run(myself, run).await;
        }
    }

    /// The one place where a call in flight is answered.
    pub(super) async fn settle(&mut self, myself: &ActorRef<EvaluatesMsg>, id: ActorId, end: End<Answered>) {
        let Some(call) = self.calls.remove(&id) else { return };
        let outcome = match end {
            End::Done(Answered { outcome, link, went_on }) => {
                if let Some(link) = link {
                    self.keep(link);
                }
                if let Some(script) = went_on {
                    self.look_after(myself, script, call.budget.is_cancelled()).await;
                }
                outcome.map_err(TabError::from)
            }
            End::Killed => match call.budget.check() {
                Err(spent) => Err(TabError::Budget { spent, doing: "running the script", sent: true }),
                Ok(()) => Err(TabError::Internal("the evaluate was killed".into())),
            },
            End::Panicked(why) => {
                metrics::counter!("tabvisor_crashes_total", "what" => "actor").increment(1);
                Err(TabError::Internal(why))
            }
        };
        let now = Instant::now();
        match &outcome {
            Err(TabError::Evaluate(EvaluateError::TimedOut(expiry) | EvaluateError::Aborted(expiry))) => {
                if matches!(expiry.phase, Phase::Running | Phase::Pending) {
                    self.watch.ours_ended(now);
                }
                let effects = self.watch.expired(expiry, now);
                self.execute(myself, effects);
            }
            Ok(_) | Err(TabError::Evaluate(_)) => self.watch.ours_ended(now),
            Err(_) => {}
        }
        // A caller that went away is no error; it was cancelled through its budget.
        let _ = call.reply.send(outcome);
        self.look(myself);
        self.keep_a_spare(myself).await;
    }

    /// A script that went on: an expired one may come to its end, which its caller was told; one
    /// that was cancelled is ended at its next statement.
    async fn look_after(&mut self, myself: &ActorRef<EvaluatesMsg>, script: WentOn, cancelled: bool) {
        let work = async move {
            if cancelled {
                return script.end().await;
            }
            script.over().await;
            false
        };
        if let Ok(cell) = leaf::spawn(myself.get_cell(), work).await {
            self.went_on.push_back(cell);
        }
        if self.went_on.len() > self.tab.browser.limits.evaluates_per_tab
            && let Some(oldest) = self.went_on.pop_front()
        {
            oldest.kill();
        }
    }
}
