//! JavaScript dialogs: they hold the main thread until somebody who heard of them answers.

use serde_json::json;

use super::super::act::{Act, Dialog, DialogKind, Kind};
use super::state::{OpenDialog, Session, Work};
use super::{Ask, Key, Model};

impl Model {
    /// A page opens a dialog once its renderer is idle.
    pub(in crate::fake) fn open_dialog(&mut self, target: &str, dialog: Dialog) {
        self.target(target);
        self.enqueue(target, Work::Dialog(dialog));
    }

    /// Opens a dialog on an idle renderer. It opens even if nobody is told; then nobody can
    /// answer it either.
    pub(super) fn show_dialog(&mut self, id: &str, dialog: Dialog, ask: Option<Ask>) {
        self.occupy(id, Kind::Dialog, ask, Act::Never);
        let hears = |session: &Session| session.target.as_deref() == Some(id) && session.page_asked;
        let told = self.sessions.iter().filter(|(_, s)| hears(s)).map(|(&key, _)| key).collect();
        let params = json!({
            "url": self.targets[id].url,
            "frameId": id,
            "message": dialog.message,
            "type": dialog.kind.name(),
            "hasBrowserHandler": dialog.kind != DialogKind::BeforeUnload,
            "defaultPrompt": dialog.default_prompt,
        });
        self.emit_to("Page.javascriptDialogOpening", &params, hears);
        self.target_mut(id).dialog = Some(OpenDialog { dialog, told });
    }

    /// `Page.handleJavaScriptDialog`.
    pub(super) fn answer_dialog(&mut self, ask: &Ask, id: &str) {
        let told = |open: &OpenDialog, key: Key| open.told.contains(&key);
        let Some(open) = self.targets[id].dialog.as_ref().filter(|open| told(open, ask.from)) else {
            return self.fail(ask, -32602, "No dialog is showing");
        };
        let accept = ask.call.param("accept").as_bool().unwrap_or_default();
        let text = ask.call.param("promptText").as_str().unwrap_or(&open.dialog.default_prompt);
        let text =
            if accept && open.dialog.kind == DialogKind::Prompt { text.to_owned() } else { String::new() };
        self.tell_closed(id, accept, &text);
        self.reply(ask, json!({}));
        self.end_dialog(id, accept, &text);
    }

    /// Closes a dialog without a command, as a user at the window does; whether one was open.
    pub(in crate::fake) fn close_dialog(&mut self, id: &str, accept: bool, text: &str) -> bool {
        if self.target(id).dialog.is_none() {
            return false;
        }
        self.tell_closed(id, accept, text);
        self.end_dialog(id, accept, text);
        true
    }

    /// The dialog goes with its page or renderer; its script never goes on.
    pub(super) fn forget_dialog(&mut self, id: &str) {
        if self.target_mut(id).dialog.take().is_some() {
            self.tell_closed(id, false, "");
        }
    }

    /// Whoever asked for page events hears of it, also who came too late to hear it open.
    fn tell_closed(&mut self, id: &str, accept: bool, text: &str) {
        let params = json!({"frameId": id, "result": accept, "userInput": text});
        self.tell_target(id, "Page.javascriptDialogClosed", |session| session.page_asked, &params);
    }

    fn end_dialog(&mut self, id: &str, accept: bool, text: &str) {
        let target = self.target_mut(id);
        let renderer = target.renderer;
        let Some(open) = target.dialog.take() else { return };
        let busy = self.renderer(renderer).busy.take();
        if let Some(ask) = busy.and_then(|busy| busy.ask)
            && !ask.answered()
        {
            if ask.call.method.starts_with("Runtime.") {
                self.reply(&ask, open.dialog.outcome(accept, text));
            } else if open.dialog.kind == DialogKind::BeforeUnload && !accept {
                self.reply(&ask, json!({"frameId": id, "errorText": "net::ERR_ABORTED"}));
            } else {
                self.by_default(&ask);
            }
        }
        self.drain(renderer);
    }
}
