//! Scripted acts.

use std::time::Duration;

use serde_json::json;

use super::super::act::{Act, Kind, Raw, by_value};
use super::page::needs_target;
use super::state::{Alarm, Frame, Output};
use super::{Ask, Model};

/// From here on Chrome's answers never come.
const TOO_HUGE: usize = 256 << 20;

impl Model {
    /// Does with a command what the test wants.
    pub(super) fn perform(&mut self, ask: &Ask, act: Act) {
        if ask.call.target.as_ref().is_some_and(|id| !self.targets.contains_key(id)) {
            // Its page went away while it waited.
            return;
        }
        match act {
            Act::Default => self.by_default(ask),
            Act::Reply(result) => self.reply(ask, result),
            Act::Value(value) => self.reply(ask, by_value(&value)),
            Act::Error { code, message } => self.fail(ask, code, &message),
            Act::Never => {}
            Act::Pending => self.promise(ask),
            Act::Event { method, params } => self.emit(ask.from, &method, params),
            Act::BrowserEvent { method, params } => self.browser_event(&method, &params),
            Act::Seq(acts) => {
                for act in acts {
                    self.perform(ask, act);
                }
            }
            Act::AfterCommand(method, act) => self.after.push((method, ask.clone(), *act)),
            Act::Hold(gate, act) => self.held.push((gate, ask.clone(), *act)),
            Act::Delay(time, act) => self.outputs.push(Output::Alarm(time, Alarm::Act(ask.clone(), *act))),
            Act::Occupy(Kind::Loading) => self.go_slowly(ask, None),
            Act::OccupyFor(Kind::Loading, time, _) => self.go_slowly(ask, Some(time)),
            Act::Occupy(_) | Act::OccupyFor(..) | Act::OpenDialog(_) => self.perform_on_thread(ask, act),
            Act::Popup(url) => self.open_window(ask, &url),
            Act::FailLoad(error) => {
                let id = needs_target(ask, "Act::FailLoad");
                self.go(ask, &id, Some(error));
            }
            Act::Crash => {
                let id = needs_target(ask, "Act::Crash");
                self.target_mut(&id).lost.push(ask.clone());
                self.crash(&id);
            }
            Act::HalfFrame { close } => self.half_frame(ask, close),
            Act::Garbage(raw) => self.outputs.push(Output::Send(ask.call.conn, Frame::Raw(raw))),
            Act::Huge(bytes) => self.reply_huge(ask, bytes),
            Act::Close => self.end_link(ask.call.conn),
        }
    }

    /// Something that is no answer, on any open socket.
    pub(in crate::fake) fn send_raw(&mut self, conn: u64, raw: Raw) {
        assert!(self.links.contains_key(&conn), "socket {conn} is not open");
        self.outputs.push(Output::Send(conn, Frame::Raw(raw)));
    }

    /// Acts that need the renderer's main thread for themselves.
    fn perform_on_thread(&mut self, ask: &Ask, act: Act) {
        let Some((id, act)) = self.when_idle(ask, act) else { return };
        match act {
            Act::OpenDialog(dialog) => self.show_dialog(&id, dialog, Some(ask.clone())),
            Act::OccupyFor(kind, time, then) => self.occupy_for(&id, ask, kind, time, *then),
            Act::Occupy(kind) => {
                self.occupy(&id, kind, Some(ask.clone()), Act::Default);
            }
            _ => {}
        }
    }

    fn occupy_for(&mut self, id: &str, ask: &Ask, kind: Kind, time: Duration, then: Act) {
        let renderer = self.targets[id].renderer;
        let token = self.occupy(id, kind, Some(ask.clone()), then);
        self.outputs.push(Output::Alarm(time, Alarm::Over { renderer, token }));
    }

    fn half_frame(&mut self, ask: &Ask, close: bool) {
        let conn = ask.call.conn;
        let payload = format!("{{\"id\":{},\"result\":{{\"resu", ask.call.id);
        // A final text frame that promises 500 bytes.
        let mut bytes = vec![0x81, 126, 0x01, 0xf4];
        bytes.extend_from_slice(payload.as_bytes());
        self.outputs.push(Output::Send(conn, Frame::Raw(Raw::Bytes(bytes))));
        if close {
            self.end_link(conn);
        } else {
            self.outputs.push(Output::Send(conn, Frame::Mute));
        }
    }

    fn reply_huge(&mut self, ask: &Ask, bytes: usize) {
        ask.mark_answered();
        let Some(session) = self.sessions.get(&ask.from).filter(|_| bytes < TOO_HUGE) else { return };
        let session_id = session.wire.as_ref().map(|wire| format!(",\"sessionId\":{}", json!(wire)));
        // By hand: as a JSON value it would be copied several times.
        let text = format!(
            "{{\"id\":{},\"result\":{{\"result\":{{\"type\":\"string\",\"value\":\"{}\"}}}}{}}}",
            ask.call.id,
            "a".repeat(bytes),
            session_id.unwrap_or_default(),
        );
        let conn = session.conn;
        self.send(conn, text);
    }
}
