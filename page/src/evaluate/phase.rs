//! Where a script is, and what its expiry may do. Pure.
//!
//! Three commands leave in one write: a marker, the script, a second marker. The renderer works
//! them off in order, so their answers tell the phase:
//!
//! ```text
//!            first marker            second marker
//!   Waiting -------------> Running ----------------> Pending
//!      |  behind a busy       |  its synchronous        |  a promise, or what
//!      |  renderer            |  part                   |  follows an await
//!      v                      v                         v
//!   at the end: nothing.   at the end: terminate.    at the end: nothing to end;
//!   It will not start.     Exact: it is what runs.   it may go on.
//! ```
//!
//! Only in `Running` is `Runtime.terminateExecution` this script's own end; in any other phase it
//! would hit whatever else runs there, so it is never an effect of them.

use serde::Serialize;

/// How far a script came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing was sent yet: queueing or connecting.
    Queued,
    /// Sent, behind a busy renderer; it has not started.
    Waiting,
    /// Its synchronous part runs.
    Running,
    /// Its synchronous part is over; a promise or a continuation is outstanding.
    Pending,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The first marker was answered.
    Started,
    /// The second marker was answered.
    SyncOver,
    /// The second marker was answered, after the script's own `timeout` must have struck. One
    /// that strikes in a microtask ends the script and leaves its call unanswered (measured).
    SyncOverLate,
    /// The script's own `timeout` should have ended it by now.
    WorkEnds,
    /// The last moment at which ending it still fits the budget.
    LastCall,
    /// The budget is spent.
    BudgetEnds,
    /// The caller went away or cancelled.
    Cancelled,
    /// The moment that an ended script's page gets to answer is over.
    GraceEnds,
    /// Chromium said that the script was terminated.
    Terminated,
    /// The probe behind the script was answered: the page answers.
    ProbeAnswered,
    /// The renderer services interrupts: if it does not answer, JavaScript holds it.
    InterruptAnswered,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Wait,
    /// `Runtime.terminateExecution` on the script's own session.
    Terminate,
    /// Ask the renderer for a sign of life, and whether it services interrupts.
    Probe,
    /// Both: `Terminate`, then `Settle`.
    TerminateAndSettle,
    /// It was ended, or asked to end: give the page a moment to answer the marker behind it.
    Settle,
    /// The answer: it expired.
    Expire,
    /// The answer: it was cancelled.
    Abort,
    /// The answer: somebody else ended it.
    Interrupted,
}

/// What is known of one script.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state in disguise")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) phase: Phase,
    pub(super) terminated: bool,
    pub(super) page_answers: bool,
    pub(super) interruptible: bool,
    late: bool,
    cancelled: bool,
    asked_to_terminate: bool,
}

impl Machine {
    /// As it is just after the three commands were sent.
    pub(super) fn sent() -> Self {
        Self {
            phase: Phase::Waiting,
            terminated: false,
            page_answers: false,
            interruptible: false,
            late: false,
            cancelled: false,
            asked_to_terminate: false,
        }
    }

    /// Takes what happened and says what to do.
    pub(super) fn on(&mut self, input: Input) -> Effect {
        match input {
            Input::Started => {
                if self.phase == Phase::Waiting {
                    self.phase = Phase::Running;
                }
                Effect::Wait
            }
            Input::SyncOver | Input::SyncOverLate => {
                // Answered behind the script, so the page answers. Without the script's own answer
                // by now, what was asked to end it did so inside a microtask.
                self.page_answers = true;
                self.terminated |= self.asked_to_terminate || input == Input::SyncOverLate;
                self.late |= input == Input::SyncOverLate;
                if self.terminated {
                    return self.settled();
                }
                self.phase = Phase::Pending;
                Effect::Wait
            }
            Input::WorkEnds => {
                self.late = true;
                match self.phase {
                    Phase::Running | Phase::Queued => Effect::Wait,
                    Phase::Waiting | Phase::Pending => {
                        self.page_answers = false;
                        Effect::Probe
                    }
                }
            }
            Input::LastCall
                if self.phase == Phase::Running && !self.terminated && !self.asked_to_terminate =>
            {
                self.asked_to_terminate = true;
                Effect::Terminate
            }
            Input::LastCall => Effect::Wait,
            // Asked to end: whether it did is worth a moment.
            Input::BudgetEnds if self.phase == Phase::Running && !self.terminated => {
                let asked = std::mem::replace(&mut self.asked_to_terminate, true);
                if asked { Effect::Settle } else { Effect::TerminateAndSettle }
            }
            Input::BudgetEnds => Effect::Expire,
            Input::Cancelled => {
                self.cancelled = true;
                if self.phase == Phase::Running && !self.terminated {
                    self.asked_to_terminate = true;
                    Effect::TerminateAndSettle
                } else {
                    Effect::Abort
                }
            }
            Input::GraceEnds => self.settled(),
            Input::Terminated => {
                self.terminated = true;
                self.phase = Phase::Running;
                if self.page_answers { self.settled() } else { Effect::Settle }
            }
            Input::ProbeAnswered => {
                self.page_answers = true;
                Effect::Wait
            }
            Input::InterruptAnswered => {
                self.interruptible = true;
                Effect::Wait
            }
        }
    }

    /// It was ended, or could not be, and there is nothing more to wait for.
    fn settled(self) -> Effect {
        match (self.cancelled, self.late || self.asked_to_terminate) {
            (true, _) => Effect::Abort,
            (false, true) => Effect::Expire,
            (false, false) => Effect::Interrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(inputs: &[Input]) -> (Machine, Effect) {
        let mut machine = Machine::sent();
        let mut last = Effect::Wait;
        for input in inputs {
            last = machine.on(*input);
        }
        (machine, last)
    }

    #[test]
    fn a_running_script_is_ended_and_the_answer_waits_for_the_page() {
        use Input::{LastCall, Started, SyncOver, Terminated, WorkEnds};
        assert_eq!(after(&[Started, WorkEnds, LastCall]).1, Effect::Terminate);
        let (machine, effect) = after(&[Started, WorkEnds, LastCall, Terminated]);
        assert_eq!(effect, Effect::Settle);
        assert!(machine.terminated && !machine.page_answers);
        let (machine, effect) = after(&[Started, WorkEnds, Terminated, SyncOver]);
        assert_eq!(effect, Effect::Expire);
        assert!(machine.page_answers);
    }

    #[test]
    fn a_waiting_script_is_only_probed_for() {
        use Input::{BudgetEnds, InterruptAnswered, LastCall, WorkEnds};
        assert_eq!(after(&[WorkEnds]).1, Effect::Probe);
        let (machine, effect) = after(&[WorkEnds, InterruptAnswered, LastCall, BudgetEnds]);
        assert_eq!((machine.phase, effect), (Phase::Waiting, Effect::Expire));
        assert!(machine.interruptible && !machine.page_answers);
    }

    #[test]
    fn being_ended_before_the_deadline_is_somebody_elses_doing() {
        use Input::{Started, SyncOver, Terminated};
        assert_eq!(after(&[Started, Terminated, SyncOver]).1, Effect::Interrupted);
    }

    #[test]
    fn a_loop_in_a_microtask_is_known_to_be_ended_without_an_answer() {
        use Input::{Cancelled, LastCall, Started, SyncOver, SyncOverLate, WorkEnds};
        let (machine, effect) = after(&[Started, WorkEnds, SyncOverLate]);
        assert!(machine.terminated && machine.page_answers);
        assert_eq!(effect, Effect::Expire);
        assert_eq!(after(&[Started, WorkEnds, LastCall, SyncOver]).1, Effect::Expire);
        assert_eq!(after(&[Started, Cancelled, SyncOver]).1, Effect::Abort);
    }

    #[test]
    fn a_cancelled_loop_is_ended_a_cancelled_promise_is_not() {
        use Input::{Cancelled, Started, SyncOver, Terminated};
        assert_eq!(after(&[Started, Cancelled]).1, Effect::TerminateAndSettle);
        assert_eq!(after(&[Started, Cancelled, Terminated, SyncOver]).1, Effect::Abort);
        assert_eq!(after(&[Started, SyncOver, Cancelled]).1, Effect::Abort);
        assert_eq!(after(&[Cancelled]).1, Effect::Abort);
    }

    fn input() -> impl Strategy<Value = Input> {
        prop::sample::select(vec![
            Input::Started,
            Input::SyncOver,
            Input::SyncOverLate,
            Input::WorkEnds,
            Input::LastCall,
            Input::Cancelled,
            Input::GraceEnds,
            Input::Terminated,
            Input::ProbeAnswered,
            Input::InterruptAnswered,
            Input::BudgetEnds,
        ])
    }

    proptest! {
        /// The rule that keeps neighbours alive.
        #[test]
        fn only_a_running_script_is_ever_terminated(inputs in prop::collection::vec(input(), 0..30)) {
            let mut machine = Machine::sent();
            let mut running = false;
            for input in inputs {
                let effect = machine.on(input);
                match input {
                    Input::Started | Input::Terminated if machine.phase == Phase::Running => running = true,
                    Input::SyncOver | Input::SyncOverLate if !machine.terminated => running = false,
                    _ => {}
                }
                if matches!(effect, Effect::Terminate | Effect::TerminateAndSettle) {
                    prop_assert!(running && machine.phase == Phase::Running && !machine.terminated);
                }
            }
        }

        #[test]
        fn a_spent_budget_is_always_an_answer(inputs in prop::collection::vec(input(), 0..30)) {
            let (mut machine, _) = after(&inputs);
            let effect = machine.on(Input::BudgetEnds);
            if matches!(effect, Effect::Settle | Effect::TerminateAndSettle) {
                prop_assert!(matches!(machine.on(Input::GraceEnds), Effect::Expire | Effect::Abort));
            } else {
                prop_assert_eq!(effect, Effect::Expire);
            }
        }
    }
}
