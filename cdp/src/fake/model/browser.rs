//! What Chrome does with the commands of its browser process.

use serde_json::{Value, json};

use super::{Ask, Key, Model};

/// What the fake says it is.
const PRODUCT: &str = "Chrome/156.0.8078.114";
const USER_AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
                          HeadlessChrome/156.0.0.0 Safari/537.36";

/// Chrome's words for a target that is not there.
const NO_TARGET: &str = "No target with given id found";

impl Model {
    /// Does what Chrome would do with a command.
    pub(super) fn by_default(&mut self, ask: &Ask) {
        // Its session or target may have gone while it waited.
        let Some(session) = self.sessions.get(&ask.from) else {
            return self.by_default_without_session(ask);
        };
        let on_page = session.target.is_some();
        match ask.call.method.as_str() {
            "Target.setDiscoverTargets" => self.set_discover(ask),
            "Target.setAutoAttach" if !on_page => self.auto_attach(ask),
            "Target.createTarget" => self.create_for(ask),
            "Target.closeTarget" => self.close_target(ask),
            "Target.attachToTarget" => self.attach_to_target(ask),
            "Target.attachToBrowserTarget" => {
                let session = self.attach(ask.from, None, false, false);
                self.reply(ask, json!({"sessionId": session}));
            }
            "Target.detachFromTarget" => self.detach_from_target(ask),
            "Target.getTargets" => {
                let infos: Vec<Value> = self.targets.keys().map(|id| self.target_info(id)).collect();
                self.reply(ask, json!({"targetInfos": infos}));
            }
            "Target.getTargetInfo" => self.get_target_info(ask),
            "Target.activateTarget" => {
                if self.known_target(ask).is_some() {
                    self.reply(ask, json!({}));
                }
            }
            "Target.createBrowserContext" => {
                self.default_context();
                let id = self.new_context();
                self.reply(ask, json!({"browserContextId": id}));
            }
            "Target.disposeBrowserContext" => self.dispose_context(ask),
            "Target.getBrowserContexts" => {
                self.default_context();
                let own = json!({"browserContextIds": &self.contexts[1..]});
                self.reply(ask, own);
            }
            "Browser.getVersion" => self.reply(ask, version()),
            "Browser.close" => {
                self.reply(ask, json!({}));
                self.exit();
            }
            "SystemInfo.getProcessInfo" => self.process_info(ask),
            method if on_page => self.page_by_default(ask, method),
            method if only_on_pages(method) => {
                self.fail(ask, -32601, &format!("'{method}' wasn't found"));
            }
            _ => self.reply(ask, json!({})),
        }
    }

    fn set_discover(&mut self, ask: &Ask) {
        let on = ask.call.param("discover").as_bool().unwrap_or_default();
        let was = std::mem::replace(&mut self.session_mut(ask.from).discover, on);
        if on && !was {
            let infos: Vec<Value> = self.targets.keys().map(|id| self.target_info(id)).collect();
            for info in infos {
                self.emit(ask.from, "Target.targetCreated", json!({"targetInfo": info}));
            }
        }
        self.reply(ask, json!({}));
    }

    fn auto_attach(&mut self, ask: &Ask) {
        let flag = |name| ask.call.param(name).as_bool().unwrap_or_default();
        let on = flag("autoAttach");
        if on && !flag("flatten") {
            let why = "Only flatten protocol is supported with browser level auto-attach";
            return self.fail(ask, -32602, why);
        }
        self.set_auto_attach(ask.from, on.then(|| flag("waitForDebuggerOnStart")));
        self.reply(ask, json!({}));
    }

    fn close_target(&mut self, ask: &Ask) {
        let Some(id) = self.known_target(ask) else { return };
        self.reply(ask, json!({"success": true}));
        self.destroy(&id);
    }

    fn attach_to_target(&mut self, ask: &Ask) {
        let Some(id) = self.known_target(ask) else { return };
        if ask.call.param("flatten").as_bool() != Some(true) {
            return self.fail(ask, -32602, "the fake knows flat sessions only: flatten must be true");
        }
        let session = self.attach(ask.from, Some(&id), false, false);
        self.reply(ask, json!({"sessionId": session}));
    }

    fn detach_from_target(&mut self, ask: &Ask) {
        let wire = ask.call.text("sessionId");
        let found: Option<Key> =
            self.key_of(ask.call.conn, wire).filter(|key| self.sessions[key].parent == Some(ask.from));
        let Some(key) = found else { return self.fail(ask, -32602, "No session with given id") };
        self.detach(key);
        self.reply(ask, json!({}));
    }

    fn get_target_info(&mut self, ask: &Ask) {
        let asked = ask.call.param("targetId").is_string();
        let info = match (&ask.call.target, asked) {
            (_, true) => {
                let Some(id) = self.known_target(ask) else { return };
                self.target_info(&id)
            }
            (Some(own), false) => self.target_info(own),
            (None, false) => self.browser_info(),
        };
        self.reply(ask, json!({"targetInfo": info}));
    }

    fn dispose_context(&mut self, ask: &Ask) {
        let context = ask.call.text("browserContextId").to_owned();
        let Some(at) = self.contexts.iter().skip(1).position(|known| *known == context) else {
            return self.fail(ask, -32000, &format!("Failed to find context with id {context}"));
        };
        self.contexts.remove(at + 1);
        let ids: Vec<String> = self
            .targets
            .iter()
            .filter(|(_, target)| target.context == context)
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            self.destroy(&id);
        }
        self.reply(ask, json!({}));
    }

    fn process_info(&mut self, ask: &Ask) {
        let browser = json!({"type": "browser", "id": 1_000_000, "cpuTime": 0.0});
        let renderers = self
            .renderers
            .keys()
            .map(|number| json!({"type": "renderer", "id": pid(*number), "cpuTime": 0.0}));
        let all: Vec<Value> = std::iter::once(browser).chain(renderers).collect();
        self.reply(ask, json!({"processInfo": all}));
    }

    /// The target that a command names; answers it if there is none.
    fn known_target(&mut self, ask: &Ask) -> Option<String> {
        let id = ask.call.text("targetId");
        if self.targets.contains_key(id) {
            return Some(id.to_owned());
        }
        self.fail(ask, -32602, NO_TARGET);
        None
    }
}

/// Made up, and beyond what Linux gives: nobody may signal it by mistake.
fn pid(renderer: u64) -> u64 {
    1_000_000_000 + renderer
}

/// What `/json/version` says besides the address.
pub(in crate::fake) fn version_page(socket: &str) -> Value {
    json!({
        "Browser": PRODUCT,
        "Protocol-Version": "1.3",
        "User-Agent": USER_AGENT,
        "V8-Version": "15.6.75.63",
        "WebKit-Version": "537.36 (@0000000000000000000000000000000000000000)",
        "webSocketDebuggerUrl": socket,
    })
}

fn version() -> Value {
    json!({
        "protocolVersion": "1.3",
        "product": PRODUCT,
        "revision": "@0000000000000000000000000000000000000000",
        "userAgent": USER_AGENT,
        "jsVersion": "15.6.75.63",
    })
}

/// Domains that exist on pages only.
fn only_on_pages(method: &str) -> bool {
    let domain = method.split('.').next().unwrap_or_default();
    matches!(
        domain,
        "Page"
            | "Runtime"
            | "DOM"
            | "Network"
            | "Input"
            | "Accessibility"
            | "Performance"
            | "Inspector"
            | "Emulation"
            | "Debugger"
            | "DOMSnapshot"
            | "Log"
    )
}
