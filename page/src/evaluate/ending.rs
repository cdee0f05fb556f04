//! A script that was asked to end: counted, with what came of it.

/// A `Runtime.terminateExecution` that was sent, counted once when it is dropped.
#[derive(Debug)]
pub struct Ending {
    cause: &'static str,
    result: &'static str,
}

impl Ending {
    /// One that was just sent. Unless something else is heard, nothing came of it.
    pub fn sent(cause: &'static str) -> Self {
        Self { cause, result: "unanswered" }
    }

    /// The script ended.
    pub fn terminated(&mut self) {
        self.result = "terminated";
    }

    /// It could not be sent, or its link went away.
    pub fn failed(&mut self) {
        self.result = "failed";
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Self { cause, result } = *self;
        metrics::counter!("tabvisor_terminate_execution_total", "cause" => cause, "result" => result)
            .increment(1);
    }
}
