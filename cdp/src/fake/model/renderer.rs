//! A renderer's main thread: what runs, what waits, what interrupts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::act::{Act, DialogKind, Kind};
use super::state::{Alarm, Busy, Job, Output, Work};
use super::{Ask, Model};

/// Served by the browser process, however stuck the renderer is.
const BY_BROWSER: [&str; 10] = [
    "Page.navigate",
    "Page.reload",
    "Page.navigateToHistoryEntry",
    "Page.getNavigationHistory",
    "Page.stopLoading",
    "Page.bringToFront",
    "Page.close",
    "Page.handleJavaScriptDialog",
    "Inspector.enable",
    "Inspector.disable",
];

/// Served between two steps of a running script.
const INTERRUPTS: [&str; 3] =
    ["Runtime.terminateExecution", "Performance.getMetrics", "Emulation.setScriptExecutionDisabled"];

/// Whether a command is served now or waits for the main thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Now,
    Later,
}

impl Model {
    /// A command came: serves it or lets it wait.
    pub(super) fn route(&mut self, ask: Ask) {
        if ask.call.method == "Page.enable"
            && let Some(session) = self.sessions.get_mut(&ask.from)
        {
            session.page_asked = true;
        }
        match (self.turn(&ask), &ask.call.target) {
            (Turn::Later, Some(target)) => {
                let target = target.clone();
                self.enqueue(&target, Work::Command(ask));
            }
            _ => self.serve(&ask),
        }
    }

    /// Serves a command by the test's rule for it, or as Chrome would.
    pub(super) fn serve(&mut self, ask: &Ask) {
        self.ran.push(Arc::clone(&ask.call));
        match self.script.matching(&ask.call) {
            Some(act) => self.perform(ask, act),
            None => self.by_default(ask),
        }
    }

    fn turn(&self, ask: &Ask) -> Turn {
        let method = ask.call.method.as_str();
        let Some(target) = ask.call.target.as_ref().and_then(|id| self.targets.get(id)) else {
            return Turn::Now;
        };
        if by_browser(method) {
            let leaving =
                target.dialog.as_ref().is_some_and(|open| open.dialog.kind == DialogKind::BeforeUnload);
            let navigates = matches!(method, "Page.navigate" | "Page.navigateToHistoryEntry");
            return if leaving && navigates { Turn::Later } else { Turn::Now };
        }
        let renderer = &self.renderers[&target.renderer];
        let now = match &renderer.busy {
            // Chrome refuses to kill twice, and to kill before a navigation is through.
            _ if method == "Page.crash" && (renderer.crashed || target.stuck.is_some()) => true,
            _ if renderer.crashed => false,
            None => true,
            Some(busy) if busy.kind == Kind::Dialog && swallowed_by_dialog(method) => true,
            Some(busy) if busy.deaf.is_some() || !self.sessions[&ask.from].ready => false,
            Some(busy) if method == "Page.crash" => busy.kind != Kind::Stopped,
            Some(busy) => matches!(busy.kind, Kind::Script | Kind::Loading) && INTERRUPTS.contains(&method),
        };
        if now { Turn::Now } else { Turn::Later }
    }

    /// Puts work behind what its renderer has to do, or does it at once if that is nothing.
    pub(super) fn enqueue(&mut self, target: &str, work: Work) {
        let Some(renderer) = self.targets.get(target).map(|target| target.renderer) else { return };
        let job = Job { target: target.to_owned(), work };
        self.renderer(renderer).queue.push_back(job);
        self.drain(renderer);
    }

    /// Runs what waits, until something occupies the thread again.
    pub(super) fn drain(&mut self, renderer: u64) {
        while let Some(thread) = self.renderers.get_mut(&renderer) {
            if thread.busy.is_some() || thread.crashed {
                return;
            }
            let Some(Job { target, work }) = thread.queue.pop_front() else { return };
            match work {
                Work::Attach(key) => {
                    if let Some(session) = self.sessions.get_mut(&key) {
                        session.ready = true;
                    }
                }
                Work::Command(ask) => self.serve(&ask),
                Work::Act(ask, act) => self.perform(&ask, act),
                Work::Occupy(kind) => {
                    self.occupy(&target, kind, None, Act::Never);
                }
                Work::Dialog(dialog) => self.show_dialog(&target, dialog, None),
                Work::Commit(nav) => self.proceed(&target, nav),
            }
        }
    }

    /// Occupies the idle main thread of a target; the token of the occupation.
    pub(super) fn occupy(&mut self, target: &str, kind: Kind, ask: Option<Ask>, then: Act) -> u64 {
        let token = self.number();
        let renderer = self.targets[target].renderer;
        let timeout = ask.as_ref().map(|ask| ask.call.param("timeout")).and_then(Value::as_f64);
        let busy = Busy { kind, target: target.to_owned(), ask, then, deaf: None, token, nav: None };
        self.renderer(renderer).busy = Some(busy);
        if let (Kind::Script, Some(ms)) = (kind, timeout) {
            // As in Chrome it counts from the script's start, not from when it was sent.
            let after = Duration::from_secs_f64(ms.max(0.0) / 1000.0);
            self.outputs.push(Output::Alarm(after, Alarm::Timeout { renderer, token }));
        }
        token
    }

    pub(super) fn is_idle(&self, target: &str) -> bool {
        let renderer = &self.renderers[&self.targets[target].renderer];
        renderer.busy.is_none() && !renderer.crashed
    }

    pub(super) fn busy_with(&self, renderer: u64, token: u64) -> bool {
        let busy = self.renderers.get(&renderer).and_then(|renderer| renderer.busy.as_ref());
        busy.is_some_and(|busy| busy.token == token)
    }

    /// Ends the running script with an error.
    pub(super) fn terminate(&mut self, renderer: u64) {
        self.end(renderer, |model, ask, _| model.settle(ask, -32000, "Execution was terminated"));
    }

    /// Ends what runs as if it were done.
    pub(super) fn finish(&mut self, renderer: u64) {
        self.end(renderer, |model, ask, then| {
            if !ask.answered() {
                model.perform(ask, then);
            }
        });
    }

    fn end(&mut self, renderer: u64, answer: impl FnOnce(&mut Self, &Ask, Act)) {
        let Some(busy) = self.renderer(renderer).busy.take() else { return };
        let stuck = self.targets.get_mut(&busy.target).and_then(|target| target.stuck.take());
        if let Some(nav) = stuck.or(busy.deaf).or(busy.nav) {
            self.commit(&busy.target, &nav);
        } else if let Some(ask) = busy.ask {
            answer(self, &ask, busy.then);
        }
        self.drain(renderer);
    }

    /// Ends what occupies a target's renderer, as when a stopped process goes on; whether
    /// anything did.
    pub(in crate::fake) fn free(&mut self, target: &str) -> bool {
        let renderer = self.target(target).renderer;
        let Some(busy) = &self.renderers[&renderer].busy else { return false };
        if self.targets.get(&busy.target).is_some_and(|target| target.dialog.is_some()) {
            let holder = busy.target.clone();
            self.close_dialog(&holder, false, "");
        } else {
            self.finish(renderer);
        }
        true
    }

    /// The page's own script (or what else) occupies its renderer once that is idle.
    pub(in crate::fake) fn occupy_by_page(&mut self, target: &str, kind: Kind) {
        assert!(kind != Kind::Loading, "Kind::Loading is for navigation commands");
        self.target(target);
        self.enqueue(target, Work::Occupy(kind));
    }

    /// The renderer of a target dies, and all pages in it with it.
    pub(in crate::fake) fn crash(&mut self, target: &str) {
        let number = self.target(target).renderer;
        if self.renderers[&number].crashed {
            return;
        }
        let ids: Vec<String> =
            self.targets.iter().filter(|(_, t)| t.renderer == number).map(|(id, _)| id.clone()).collect();
        for id in &ids {
            self.forget_dialog(id);
        }
        let renderer = self.renderer(number);
        renderer.crashed = true;
        let busy = renderer.busy.take();
        for id in ids {
            let target = self.target_mut(&id);
            if let Some(busy) = &busy
                && busy.target == id
            {
                target.lost.extend(busy.ask.clone());
            }
            let stuck = target.stuck.take().and_then(|nav| nav.ask);
            let promised = std::mem::take(&mut target.promised);
            target.lost.extend(promised.into_iter().chain(stuck));
            self.tell_target(&id, "Inspector.targetCrashed", |_| true, &json!({}));
            self.discovered(
                "Target.targetCrashed",
                &json!({"targetId": id, "status": "crashed", "errorCode": 5}),
            );
        }
    }
}

/// Whether the browser process serves a page session's command by itself.
fn by_browser(method: &str) -> bool {
    let domain = method.split('.').next().unwrap_or_default();
    // An auto-attach on a page asks its renderer for frames and workers.
    BY_BROWSER.contains(&method)
        || (matches!(domain, "Target" | "Browser" | "SystemInfo" | "Tracing" | "Storage" | "IO")
            && method != "Target.setAutoAttach")
}

/// While a dialog is open Chrome takes keys and mouse events, and drops them.
fn swallowed_by_dialog(method: &str) -> bool {
    matches!(method, "Input.dispatchKeyEvent" | "Input.dispatchMouseEvent")
}
