//! The pure core: what Chrome would do, without sockets, tasks or clocks.
//!
//! Everything that happens to the fake is a method here, and what the server shall do about it
//! is a list of [`Output`]s that [`Model::take`] gives. So the order of everything is decided in
//! one place, under one lock.

mod acts;
mod browser;
mod counts;
mod dialogs;
mod navigation;
mod page;
mod renderer;
mod sessions;
mod state;
mod targets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::act::{Act, Raw};
use super::call::Call;
use super::rule::Script;

pub(super) use browser::version_page;
pub use counts::Counts;
pub(super) use state::{Alarm, Ask, Frame, Key, Output};
use state::{Renderer, Session, Target, event_text};

/// The whole browser.
#[derive(Default)]
pub(super) struct Model {
    pub(super) script: Script,
    /// Every command, as it came.
    pub(super) record: Vec<Arc<Call>>,
    /// Every command that was served, in that order.
    pub(super) ran: Vec<Arc<Call>>,
    sessions: BTreeMap<Key, Session>,
    targets: BTreeMap<String, Target>,
    renderers: BTreeMap<u64, Renderer>,
    contexts: Vec<String>,
    /// The root of each open socket.
    links: BTreeMap<u64, Key>,
    /// Acts that wait for a gate: its name, who asked, what then.
    held: Vec<(String, Ask, Act)>,
    /// Acts that wait for a later command of that method.
    after: Vec<(String, Ask, Act)>,
    made: u64,
    conns: u64,
    outputs: Vec<Output>,
}

impl Model {
    /// What the server shall do since the last time.
    pub(super) fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// A message came on a socket.
    pub(super) fn message(&mut self, conn: u64, text: &str) {
        let Some(&root) = self.links.get(&conn) else { return };
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return self.refuse(conn, None, -32700, "JSON: invalid token at position 0");
        };
        let Some(id) = message.get("id").and_then(Value::as_u64) else {
            return self.refuse(conn, None, -32600, "Message must have integer 'id' property");
        };
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            return self.refuse(conn, Some(id), -32600, "Message must have string 'method' property");
        };
        let session = message.get("sessionId").and_then(Value::as_str);
        let from = match session {
            None => Some(root),
            Some(wire) => self.key_of(conn, wire),
        };
        let call = Arc::new(Call {
            conn,
            session: session.map(str::to_owned),
            target: from.and_then(|key| self.sessions[&key].target.clone()),
            method: method.to_owned(),
            params: message.get("params").cloned().unwrap_or_else(|| json!({})),
            id,
        });
        self.record.push(Arc::clone(&call));
        let Some(from) = from else {
            return self.refuse(conn, Some(id), -32001, "Session with given id not found.");
        };
        let waited = take_named(&mut self.after, method);
        self.route(Ask::new(call, from));
        for (ask, act) in waited {
            self.perform(&ask, act);
        }
    }

    /// An alarm that [`Output::Alarm`] asked for.
    pub(super) fn ring(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Act(ask, act) => self.perform(&ask, act),
            Alarm::Timeout { renderer, token } => {
                if self.busy_with(renderer, token) {
                    self.terminate(renderer);
                }
            }
            Alarm::Over { renderer, token } => {
                if self.busy_with(renderer, token) {
                    self.finish(renderer);
                }
            }
        }
    }

    /// Lets go what waits at a gate; how many that were.
    pub(super) fn release(&mut self, gate: &str) -> usize {
        let waited = take_named(&mut self.held, gate);
        let count = waited.len();
        for (ask, act) in waited {
            self.perform(&ask, act);
        }
        count
    }

    /// An id that Chrome could have made, the same in every run.
    fn new_id(&mut self, prefix: u32) -> String {
        format!("{prefix:08X}{:024X}", self.number())
    }

    fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn reply(&mut self, ask: &Ask, result: Value) {
        let mut message = json!({"id": ask.call.id});
        message["result"] = result;
        self.answer(ask, message);
    }

    fn fail(&mut self, ask: &Ask, code: i64, message: &str) {
        self.answer(ask, json!({"id": ask.call.id, "error": {"code": code, "message": message}}));
    }

    /// As [`fail`](Self::fail), unless it was answered already.
    fn settle(&mut self, ask: &Ask, code: i64, message: &str) {
        if !ask.answered() {
            self.fail(ask, code, message);
        }
    }

    /// An answer; it goes nowhere once its session is gone.
    fn answer(&mut self, ask: &Ask, mut message: Value) {
        ask.mark_answered();
        let Some(session) = self.sessions.get(&ask.from) else { return };
        if let Some(wire) = &session.wire {
            message["sessionId"] = json!(wire);
        }
        let conn = session.conn;
        self.send(conn, message.to_string());
    }

    /// An error that belongs to no session.
    fn refuse(&mut self, conn: u64, id: Option<u64>, code: i64, text: &str) {
        let mut message = json!({"error": {"code": code, "message": text}});
        if let Some(id) = id {
            message["id"] = json!(id);
        }
        self.send(conn, message.to_string());
    }

    /// An event on one session.
    fn emit(&mut self, key: Key, method: &str, params: Value) {
        let Some(session) = self.sessions.get(&key) else { return };
        let text = event_text(session.wire.as_deref(), method, params);
        let conn = session.conn;
        self.send(conn, text);
    }

    /// An event on every session for which `to` holds, in the order of their birth.
    fn emit_to(&mut self, method: &str, params: &Value, to: impl Fn(&Session) -> bool) {
        let keys: Vec<Key> = self.sessions.iter().filter(|(_, s)| to(s)).map(|(&key, _)| key).collect();
        for key in keys {
            self.emit(key, method, params.clone());
        }
    }

    fn send(&mut self, conn: u64, text: String) {
        self.outputs.push(Output::Send(conn, Frame::Raw(Raw::Text(text))));
    }
}

/// Takes out of `parked` what waits under that name.
fn take_named(parked: &mut Vec<(String, Ask, Act)>, name: &str) -> Vec<(Ask, Act)> {
    parked.extract_if(.., |(waits_for, ..)| waits_for == name).map(|(_, ask, act)| (ask, act)).collect()
}
