//! What Chrome does with the commands of a page.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::act::{Act, Kind, by_value};
use super::state::{Alarm, How, Output, Work};
use super::{Ask, Model};

impl Model {
    /// A command whose session has gone: its script still runs, its answer goes nowhere.
    pub(super) fn by_default_without_session(&mut self, ask: &Ask) {
        let Some(id) = ask.call.target.clone().filter(|id| self.targets.contains_key(id)) else { return };
        match ask.call.method.as_str() {
            "Runtime.evaluate" => self.evaluate(ask),
            "Page.crash" => self.crash(&id),
            _ => ask.mark_answered(),
        }
    }

    /// A command on a page's session.
    pub(super) fn page_by_default(&mut self, ask: &Ask, method: &str) {
        let Some(id) = ask.call.target.clone() else { return };
        match method {
            "Page.enable" => {
                self.session_mut(ask.from).page = true;
                self.reply(ask, json!({}));
            }
            "Page.disable" => {
                let session = self.session_mut(ask.from);
                (session.page, session.page_asked) = (false, false);
                self.reply(ask, json!({}));
            }
            "Runtime.enable" => {
                if !std::mem::replace(&mut self.session_mut(ask.from).runtime, true) {
                    let world = json!({"context": self.world(&id)});
                    self.emit(ask.from, "Runtime.executionContextCreated", world);
                }
                self.reply(ask, json!({}));
            }
            "Runtime.disable" => {
                self.session_mut(ask.from).runtime = false;
                self.reply(ask, json!({}));
            }
            "Runtime.evaluate" => self.evaluate(ask),
            "Runtime.terminateExecution" => self.terminate_execution(ask, &id),
            "Runtime.runIfWaitingForDebugger" => {
                self.reply(ask, json!({}));
                if self.target_mut(&id).waiting.remove(&ask.from) {
                    self.load_if_free(&id);
                }
            }
            "Inspector.enable" => {
                // Who comes late hears of the crash here.
                if self.renderers[&self.targets[&id].renderer].crashed {
                    self.emit(ask.from, "Inspector.targetCrashed", json!({}));
                }
                self.reply(ask, json!({}));
            }
            "Performance.getMetrics" => self.reply(ask, json!({"metrics": []})),
            "Page.getFrameTree" => {
                let tree = json!({"frameTree": {"frame": self.frame(&id)}});
                self.reply(ask, tree);
            }
            "Page.getNavigationHistory" => self.history(ask, &id),
            "Page.navigate" | "Page.reload" | "Page.navigateToHistoryEntry" => self.go(ask, &id, None),
            "Page.stopLoading" => {
                self.stop_loading(&id);
                self.reply(ask, json!({}));
            }
            "Page.handleJavaScriptDialog" => self.answer_dialog(ask, &id),
            "Page.crash" => self.crash_by_command(ask, &id),
            "Page.close" => {
                self.reply(ask, json!({}));
                self.destroy(&id);
            }
            _ => self.reply(ask, json!({})),
        }
    }

    /// An evaluate without a rule: what the test's evaluator says, or the number 0.
    fn evaluate(&mut self, ask: &Ask) {
        if ask.evaluated {
            return self.reply(ask, by_value(&json!(0)));
        }
        let mut ask = ask.clone();
        ask.evaluated = true;
        let act = self.script.evaluate(&ask.call);
        self.perform(&ask, act);
    }

    fn terminate_execution(&mut self, ask: &Ask, id: &str) {
        self.reply(ask, json!({}));
        let renderer = self.targets[id].renderer;
        let script = |kind| kind == Kind::Script;
        if self.renderers[&renderer].busy.as_ref().is_some_and(|busy| script(busy.kind)) {
            self.terminate(renderer);
        }
    }

    fn crash_by_command(&mut self, ask: &Ask, id: &str) {
        if self.renderers[&self.targets[id].renderer].crashed {
            self.fail(ask, -32000, "The target has already crashed");
        } else if self.targets[id].stuck.is_some() {
            self.fail(ask, -32000, "Page has pending navigations, not killing");
        } else {
            self.target_mut(id).lost.push(ask.clone());
            self.crash(id);
        }
    }

    fn history(&mut self, ask: &Ask, id: &str) {
        let target = &self.targets[id];
        let entries: Vec<Value> = target
            .history
            .iter()
            .map(|entry| {
                json!({
                    "id": entry.id, "url": entry.url, "userTypedURL": entry.url, "title": entry.title,
                    "transitionType": "typed",
                })
            })
            .collect();
        let history = json!({"currentIndex": target.at, "entries": entries});
        self.reply(ask, history);
    }

    /// A navigation command; `failing` is the `errorText` of a load that shall fail.
    pub(super) fn go(&mut self, ask: &Ask, id: &str, failing: Option<String>) {
        let Some((url, how)) = self.destination(ask, id) else { return };
        let mut nav = self.nav(id, Some(ask.clone()), &url, how);
        nav.failed = failing;
        self.navigate(id, nav);
    }

    /// A navigation command whose server does not answer, or not before `time`.
    pub(super) fn go_slowly(&mut self, ask: &Ask, time: Option<Duration>) {
        let id = needs_target(ask, "Kind::Loading");
        let Some((url, how)) = self.destination(ask, &id) else { return };
        let nav = self.nav(&id, Some(ask.clone()), &url, how);
        if let (Some((renderer, token)), Some(time)) = (self.load_slowly(&id, nav), time) {
            self.outputs.push(Output::Alarm(time, Alarm::Over { renderer, token }));
        }
    }

    /// Where a navigation command leads; answers it if that is nowhere.
    fn destination(&mut self, ask: &Ask, id: &str) -> Option<(String, How)> {
        let target = &self.targets[id];
        match ask.call.method.as_str() {
            "Page.navigate" => {
                let url = ask.call.text("url");
                if url != "about:blank" && url::Url::parse(url).is_err() {
                    self.fail(ask, -32000, "Cannot navigate to invalid URL");
                    return None;
                }
                Some((url.to_owned(), How::Normal))
            }
            "Page.reload" => Some((target.url.clone(), How::Reload)),
            "Page.navigateToHistoryEntry" => {
                let wanted = ask.call.param("entryId").as_u64();
                let Some(at) = target.history.iter().position(|entry| Some(entry.id) == wanted) else {
                    self.fail(ask, -32602, "No entry with passed id");
                    return None;
                };
                Some((target.history[at].url.clone(), How::History(at)))
            }
            method => panic!("{method} is no navigation command"),
        }
    }

    /// [`Act::Popup`].
    pub(super) fn open_window(&mut self, ask: &Ask, url: &str) {
        let opener = needs_target(ask, "Act::Popup");
        self.popup(&opener, url, Some(ask.clone()));
    }

    /// [`Act::Pending`].
    pub(super) fn promise(&mut self, ask: &Ask) {
        let id = needs_target(ask, "Act::Pending");
        self.target_mut(&id).promised.push(ask.clone());
    }

    /// What the thread of a call's target is occupied with, now or when it is idle.
    pub(super) fn when_idle(&mut self, ask: &Ask, act: Act) -> Option<(String, Act)> {
        let id = needs_target(ask, "an occupying act");
        if !self.targets.contains_key(&id) {
            return None;
        }
        if self.is_idle(&id) {
            return Some((id, act));
        }
        self.enqueue(&id, Work::Act(ask.clone(), act));
        None
    }
}

/// The target of a call whose act makes no sense without one.
pub(super) fn needs_target(ask: &Ask, act: &str) -> String {
    let target = ask.call.target.clone();
    let Some(id) = target else {
        panic!("{act} needs a target, and {} came on the browser", ask.call.method)
    };
    id
}
