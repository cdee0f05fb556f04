//! Sockets and sessions: who is attached to what, and who hears of it.

use serde_json::{Value, json};

use super::state::{Frame, Output, Session, Work};
use super::{Key, Model};

impl Model {
    /// A WebSocket at the browser's address opened; its number.
    pub(in crate::fake) fn open_browser_link(&mut self) -> u64 {
        self.open_link(None).0
    }

    /// A WebSocket at a page's own address opened; none if there is no such page.
    pub(in crate::fake) fn open_page_link(&mut self, target: &str) -> Option<u64> {
        let was_attached = self.is_attached(self.targets.get_key_value(target)?.0);
        let (conn, key) = self.open_link(Some(target.to_owned()));
        if !was_attached {
            self.tell_changed(target);
        }
        self.enqueue(target, Work::Attach(key));
        Some(conn)
    }

    fn open_link(&mut self, target: Option<String>) -> (u64, Key) {
        self.conns += 1;
        let key = self.number();
        self.sessions.insert(key, Session::root(self.conns, target));
        self.links.insert(self.conns, key);
        (self.conns, key)
    }

    /// A socket is gone, and its sessions with it. What they asked may still run.
    pub(in crate::fake) fn close_link(&mut self, conn: u64) {
        if self.links.remove(&conn).is_none() {
            return;
        }
        let mut left = Vec::new();
        self.sessions.retain(|_, session| {
            if session.conn == conn {
                left.extend(session.target.clone());
            }
            session.conn != conn
        });
        left.sort();
        left.dedup();
        for target in left {
            self.tell_if_left(&target);
        }
    }

    /// Cuts a socket; whether it was open.
    pub(in crate::fake) fn drop_link(&mut self, conn: u64) -> bool {
        let open = self.links.contains_key(&conn);
        self.close_link(conn);
        self.outputs.push(Output::Cut(conn));
        open
    }

    /// Closes a socket after what was already sent on it.
    pub(super) fn end_link(&mut self, conn: u64) {
        self.outputs.push(Output::Send(conn, Frame::Close));
        self.close_link(conn);
    }

    /// The numbers of the open sockets.
    pub(in crate::fake) fn conns(&self) -> Vec<u64> {
        self.links.keys().copied().collect()
    }

    /// The `sessionId`s attached to a target, oldest first.
    pub(in crate::fake) fn sessions_of(&self, target: &str) -> Vec<String> {
        let on_target = |session: &&Session| session.target.as_deref() == Some(target);
        self.sessions.values().filter(on_target).filter_map(|session| session.wire.clone()).collect()
    }

    pub(super) fn key_of(&self, conn: u64, wire: &str) -> Option<Key> {
        let found = |session: &Session| session.conn == conn && session.wire.as_deref() == Some(wire);
        self.sessions.iter().find(|(_, session)| found(session)).map(|(&key, _)| key)
    }

    /// Attaches a session below `parent`, to a target or (none) to the browser; its `sessionId`.
    pub(super) fn attach(&mut self, parent: Key, target: Option<&str>, by_auto: bool, wait: bool) -> String {
        let conn = self.sessions[&parent].conn;
        let was_attached = target.is_none_or(|target| self.is_attached(target));
        let wire = self.new_id(0x5E55_0000);
        let key = self.number();
        let mut session = Session::root(conn, target.map(str::to_owned));
        session.wire = Some(wire.clone());
        session.parent = Some(parent);
        session.by_auto = by_auto;
        self.sessions.insert(key, session);
        let info = match target {
            Some(target) => {
                if !was_attached {
                    self.tell_changed(target);
                }
                if wait {
                    self.target_mut(target).waiting.insert(key);
                }
                self.target_info(target)
            }
            None => self.browser_info(),
        };
        let params = json!({"sessionId": wire, "targetInfo": info, "waitingForDebugger": wait});
        self.emit(parent, "Target.attachedToTarget", params);
        if let Some(target) = target {
            self.enqueue(target, Work::Attach(key));
        }
        wire
    }

    /// Ends a session and those below it, and tells its parent.
    pub(super) fn detach(&mut self, key: Key) {
        let below: Vec<Key> =
            self.sessions.iter().filter(|(_, s)| s.parent == Some(key)).map(|(&key, _)| key).collect();
        for child in below {
            self.detach(child);
        }
        let Some(session) = self.sessions.remove(&key) else { return };
        if let Some(parent) = session.parent {
            let mut params = json!({"sessionId": session.wire});
            if let Some(target) = &session.target {
                params["targetId"] = json!(target);
            }
            self.emit(parent, "Target.detachedFromTarget", params);
        }
        if let Some(target) = session.target {
            self.tell_if_left(&target);
        }
    }

    /// Detaches a session from outside, as when another client or the browser does it.
    pub(in crate::fake) fn detach_by_test(&mut self, wire: &str) {
        let found = self.sessions.iter().find(|(_, session)| session.wire.as_deref() == Some(wire));
        let Some(key) = found.map(|(&key, _)| key) else { panic!("there is no session {wire}") };
        self.detach(key);
    }

    /// Turns a session's auto-attach on or off.
    pub(super) fn set_auto_attach(&mut self, key: Key, auto: Option<bool>) {
        let session = self.session_mut(key);
        let was = std::mem::replace(&mut session.auto_attach, auto);
        match (was, auto) {
            (None, Some(_)) => {
                let ids: Vec<String> = self.targets.keys().cloned().collect();
                for id in ids {
                    self.attach(key, Some(&id), true, false);
                }
            }
            (Some(_), None) => {
                let auto_attached = |s: &Session| s.parent == Some(key) && s.by_auto;
                let keys: Vec<Key> =
                    self.sessions.iter().filter(|(_, s)| auto_attached(s)).map(|(&key, _)| key).collect();
                for key in keys {
                    self.detach(key);
                }
            }
            _ => {}
        }
    }

    /// Events that a test makes: on one session, or on all sessions of a target; how many.
    pub(in crate::fake) fn event(&mut self, id: &str, method: &str, params: &Value) -> usize {
        let meant = |s: &Session| s.wire.as_deref() == Some(id) || s.target.as_deref() == Some(id);
        let count = self.sessions.values().filter(|session| meant(session)).count();
        assert!(
            count > 0 || self.targets.contains_key(id),
            "{id} is neither a session nor a target of this fake"
        );
        self.emit_to(method, params, meant);
        count
    }

    /// An event on every browser socket.
    pub(in crate::fake) fn browser_event(&mut self, method: &str, params: &Value) {
        self.emit_to(method, params, |session| session.wire.is_none() && session.target.is_none());
    }

    /// An event on those sessions of a target for which `to` holds.
    pub(super) fn tell_target(
        &mut self,
        id: &str,
        method: &str,
        to: impl Fn(&Session) -> bool,
        params: &Value,
    ) {
        self.emit_to(method, params, |session| session.target.as_deref() == Some(id) && to(session));
    }

    /// An event for whoever discovers targets.
    pub(super) fn discovered(&mut self, method: &str, params: &Value) {
        self.emit_to(method, params, |session| session.discover);
    }

    pub(super) fn tell_changed(&mut self, id: &str) {
        let info = json!({"targetInfo": self.target_info(id)});
        self.discovered("Target.targetInfoChanged", &info);
    }

    fn tell_if_left(&mut self, id: &str) {
        if self.targets.contains_key(id) && !self.is_attached(id) {
            self.tell_changed(id);
        }
    }

    pub(super) fn is_attached(&self, id: &str) -> bool {
        self.sessions.values().any(|session| session.target.as_deref() == Some(id))
    }

    pub(super) fn session_mut(&mut self, key: Key) -> &mut Session {
        let Some(session) = self.sessions.get_mut(&key) else { panic!("session {key} is gone") };
        session
    }
}
