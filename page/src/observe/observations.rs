//! What a tab's page has said, as far as it is kept. Pure.

use tokio::sync::watch;

use super::challenge::{Stopped, challenged};
use super::console::{ConsoleMessage, Level, Uncaught};
use super::requests::{Request, Requests};
use super::ring::{Heard, Ring};

/// The last console messages, uncaught errors and requests of a tab.
#[derive(Debug)]
pub struct Observations {
    console: Ring<ConsoleMessage>,
    errors: Ring<Uncaught>,
    requests: Requests,
    gaps: u64,
    /// The last document that was asked for and not loaded, where the reason is known.
    stopped: watch::Sender<Option<Stopped>>,
}

/// Rows that are kept.
const MESSAGES: usize = 500;
const ERRORS: usize = 200;

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Console,
    Errors,
    Requests,
}

impl Default for Observations {
    fn default() -> Self {
        Self {
            console: Ring::new(MESSAGES),
            errors: Ring::new(ERRORS),
            requests: Requests::default(),
            gaps: 0,
            stopped: watch::Sender::new(None),
        }
    }
}

impl Observations {
    /// Takes an event; says whether Chromium keeps objects for it.
    pub(super) fn on(&mut self, method: &str, params: &str) -> bool {
        match method {
            "Runtime.consoleAPICalled" => match ConsoleMessage::called(params) {
                Some((message, kept)) => {
                    self.console.push(|_| message);
                    kept
                }
                None => false,
            },
            "Log.entryAdded" => {
                if let Some(message) = ConsoleMessage::entry(params) {
                    self.console.push(|_| message);
                }
                false
            }
            "Runtime.exceptionThrown" => {
                if let Some(error) = Uncaught::thrown(params) {
                    self.errors.push(|_| error);
                }
                true
            }
            _ => {
                if method == "Network.responseReceived"
                    && let Some(stopped) = challenged(params)
                {
                    self.stop(stopped);
                }
                self.requests.on(method, params);
                false
            }
        }
    }

    /// Events that were not taken.
    pub(super) fn lost(&mut self, kind: Kind, many: u64) {
        match kind {
            Kind::Console => self.console.lost(many),
            Kind::Errors => self.errors.lost(many),
            Kind::Requests => self.requests.lost(many),
        }
    }

    /// From here on nothing was heard for a while.
    pub fn interrupted(&mut self) {
        self.gaps += 1;
        self.requests.interrupted();
    }

    /// The last document that was asked for and not loaded, where the reason is known.
    pub fn stopped(&self) -> watch::Receiver<Option<Stopped>> {
        self.stopped.subscribe()
    }

    pub(super) fn stop(&mut self, stopped: Stopped) {
        self.stopped.send_replace(Some(stopped));
    }

    /// Console messages of at least this level.
    pub fn console(&self, since: Option<u64>, at_least: Level) -> Heard<ConsoleMessage> {
        self.console.after(since, self.gaps, |message| message.level() >= at_least)
    }

    /// Uncaught errors.
    pub fn errors(&self, since: Option<u64>) -> Heard<Uncaught> {
        self.errors.after(since, self.gaps, |_| true)
    }

    /// Requests whose address or type contains `filter`.
    pub fn requests(&self, since: Option<u64>, filter: Option<&str>) -> Heard<Request> {
        self.requests.after(since, self.gaps, filter)
    }

    /// Forgets the errors.
    pub fn clear_errors(&mut self) {
        self.errors.clear();
    }

    /// Forgets the requests; the ones under way are not heard of again.
    pub fn clear_requests(&mut self) {
        self.requests.clear();
    }
}
