//! Dialogs are answered: by a caller, by an answer that was armed, by the policy of the tab.

use ractor::ActorRef;
use serde_json::json;
use tabvisor_cdp::budget::Spent;
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::task;
use tabvisor_page::dialog::{self, ClosedBy, Effect, Handle, NotPending, Now, Policy, Resolution};
use tokio::time::Instant;

use super::{AnswerDialog, Answering, State, WatcherMsg};
use crate::error::TabError;
use crate::events::Event;
use crate::shared::DialogLog;

impl State {
    pub(super) fn happened(&mut self, myself: &ActorRef<WatcherMsg>, event: dialog::Event) {
        for effect in self.dialogs.on(event, Now::read()) {
            match effect {
                Effect::Show(dialog) => {
                    // Whoever is stopped by it finds it in the log.
                    self.publish();
                    let tab = &self.args.tab;
                    tab.condition.send_modify(|now| now.dialog = Some(dialog.clone()));
                    tab.browser.events.publish(Event::DialogOpened { tab: tab.id, dialog });
                }
                Effect::Handle(handle) => self.handle_dialog(myself, handle),
                Effect::Closed(record) => self.closed(record),
            }
        }
        self.publish();
    }

    /// The link or the renderer is gone, and with it whatever was open.
    pub(super) fn lose(&mut self) {
        for effect in self.dialogs.on(dialog::Event::Lost, Now::read()) {
            if let Effect::Closed(record) = effect {
                self.closed(record);
            }
        }
        let tab = &self.args.tab;
        let mut left = None;
        tab.condition.send_if_modified(|now| {
            left = now.dialog.take();
            left.is_some()
        });
        // One of a watcher that was killed.
        if let Some(dialog) = left {
            metrics::counter!("tabvisor_dialogs_total", "kind" => dialog.kind.name(), "resolution" => "lost")
                .increment(1);
            tab.browser.events.publish(Event::DialogClosed {
                tab: tab.id,
                id: dialog.id,
                by: Resolution::Lost,
            });
        }
        self.publish();
    }

    pub(super) fn answer(&mut self, myself: &ActorRef<WatcherMsg>, call: AnswerDialog) {
        match self.dialogs.answer(call.id.as_deref(), &call.answer) {
            Ok(handle) => self.begin(myself, handle, call),
            Err(why) => {
                let _ = call.reply.send(Err(TabError::NoDialog(why)));
            }
        }
    }

    pub(super) fn answer_or_arm(
        &mut self,
        myself: &ActorRef<WatcherMsg>,
        call: AnswerDialog,
        until: Instant,
    ) {
        match self.dialogs.answer(call.id.as_deref(), &call.answer) {
            Ok(handle) => self.begin(myself, handle, call),
            Err(NotPending::Any) => {
                self.dialogs.arm(call.answer, until);
                let _ = call.reply.send(Ok(None));
            }
            Err(why) => {
                let _ = call.reply.send(Err(TabError::NoDialog(why)));
            }
        }
    }

    pub(super) fn set_policy(&mut self, myself: &ActorRef<WatcherMsg>, policy: Policy) {
        if let Some(handle) = self.dialogs.set_policy(policy) {
            self.handle_dialog(myself, handle);
        }
    }

    fn begin(&mut self, myself: &ActorRef<WatcherMsg>, handle: Handle, call: AnswerDialog) {
        let AnswerDialog { budget, reply, .. } = call;
        let (id, watcher) = (handle.id.clone(), myself.clone());
        let of = id.clone();
        let spent = task::spawn(async move {
            let spent = budget.spent().await;
            let _ = watcher.cast(WatcherMsg::AnswerSpent(of, spent));
        });
        self.answering = Some(Answering { id, reply, _spent: spent });
        self.handle_dialog(myself, handle);
    }

    /// Sends the answer; the dialog is gone when Chromium says so, not before.
    fn handle_dialog(&mut self, myself: &ActorRef<WatcherMsg>, handle: Handle) {
        let Handle { id, accept, prompt_text } = handle;
        let mut params = json!({ "accept": accept });
        if let Some(text) = prompt_text {
            params["promptText"] = text.into();
        }
        let session = self.args.tab.control.borrow().clone();
        let sent = session
            .ok_or(CdpError::LinkClosed(CloseCause::Ours))
            .and_then(|session| session.try_send("Page.handleJavaScriptDialog", params));
        let watcher = myself.clone();
        // Ends with its link, or with the dialog: Chromium answers this also on a stuck page.
        self.handling = Some(task::spawn(async move {
            let outcome = match sent {
                Ok(reply) => reply.await.map(|_| ()),
                Err(error) => Err(error),
            };
            let _ = watcher.cast(WatcherMsg::Handled(id, outcome));
        }));
    }

    pub(super) fn handled(
        &mut self,
        myself: &ActorRef<WatcherMsg>,
        id: String,
        outcome: Result<(), CdpError>,
    ) {
        let Err(error) = outcome else { return };
        if let Some(answering) = self.answering.take_if(|answering| answering.id == id) {
            let _ = answering.reply.send(Err(error.into()));
        }
        self.happened(myself, dialog::Event::AnswerFailed { id });
    }

    pub(super) fn answer_spent(&mut self, id: &str, spent: Spent) {
        if let Some(answering) = self.answering.take_if(|answering| answering.id == id) {
            let doing = "waiting for the dialog to go away";
            let _ = answering.reply.send(Err(TabError::Budget { spent, doing, sent: true }));
        }
    }

    fn closed(&mut self, record: dialog::DialogRecord) {
        let tab = &self.args.tab;
        let shown = tab
            .condition
            .send_if_modified(|now| now.dialog.take_if(|it| it.id == record.dialog.id).is_some());
        let resolution = match record.closed_by {
            Some(ClosedBy::Armed | ClosedBy::Policy) => "policy",
            Some(ClosedBy::Remote) => "elsewhere",
            Some(ClosedBy::Lost) | None => "lost",
            Some(ClosedBy::Agent) if record.accepted == Some(false) => "dismissed",
            Some(ClosedBy::Agent) => "accepted",
        };
        let kind = record.dialog.kind.name();
        metrics::counter!("tabvisor_dialogs_total", "kind" => kind, "resolution" => resolution).increment(1);
        if shown {
            let by = match record.closed_by {
                Some(ClosedBy::Remote) => Resolution::Remote,
                Some(ClosedBy::Lost) | None => Resolution::Lost,
                Some(_) => Resolution::Agent,
            };
            tab.browser.events.publish(Event::DialogClosed { tab: tab.id, id: record.dialog.id.clone(), by });
        }
        if let Some(answering) = self.answering.take_if(|answering| answering.id == record.dialog.id) {
            let _ = answering.reply.send(Ok(Some(record)));
        }
    }

    fn publish(&self) {
        let log = DialogLog {
            pending: self.dialogs.pending().cloned().into_iter().collect(),
            recent: self.dialogs.recent().cloned().collect(),
        };
        self.args.tab.dialog_log.send_if_modified(|before| {
            let changed = *before != log;
            *before = log;
            changed
        });
    }
}
