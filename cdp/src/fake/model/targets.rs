//! Pages: how they come, what is known of them, how they go.

use serde_json::{Value, json};

use super::state::{Entry, How, Nav, Renderer, Session, Target};
use super::{Ask, Key, Model};

impl Model {
    /// Makes a page. It has its url at once, or (a window that a page opened) once it loads.
    fn create(&mut self, url: &str, opener: Option<&str>, context: String) -> String {
        let id = self.new_id(0x7A96_0000);
        let renderer = match opener {
            // Chrome keeps windows that can script each other in one process.
            Some(opener) if shares_process(&self.targets[opener].url, url) => self.targets[opener].renderer,
            _ => self.new_renderer(),
        };
        let (loader, first) = (self.new_id(0x10AD_0000), self.number());
        let shown = if opener.is_some() { "" } else { url };
        let target = Target {
            opener: opener.map(str::to_owned),
            context,
            url: shown.to_owned(),
            title: String::new(),
            loader,
            unreachable: false,
            renderer,
            awaiting: Some(url.to_owned()),
            waiting: std::collections::BTreeSet::new(),
            history: vec![Entry { id: first, url: url.to_owned(), title: String::new() }],
            at: 0,
            worlds: 1,
            dialog: None,
            promised: Vec::new(),
            lost: Vec::new(),
            stuck: None,
            opened_by: None,
        };
        self.targets.insert(id.clone(), target);
        let info = json!({"targetInfo": self.target_info(&id)});
        self.discovered("Target.targetCreated", &info);
        let watching = |session: &Session| session.auto_attach;
        let keys: Vec<(Key, bool)> =
            self.sessions.iter().filter_map(|(&key, s)| watching(s).map(|wait| (key, wait))).collect();
        for (key, wait) in keys {
            self.attach(key, Some(&id), true, wait);
        }
        id
    }

    /// Loads a new page's url, unless it waits for somebody.
    pub(super) fn load_if_free(&mut self, id: &str) {
        let target = self.target_mut(id);
        if !target.waiting.is_empty() {
            return;
        }
        let (Some(url), opened_by) = (target.awaiting.take(), target.opened_by.take()) else { return };
        if let Some(ask) = opened_by {
            self.by_default(&ask);
        }
        let loader = self.new_id(0x10AD_0000);
        self.navigate(id, Nav { ask: None, url, loader, how: How::Initial, failed: None });
    }

    /// `Target.createTarget`: the answer goes out before the page loads.
    pub(super) fn create_for(&mut self, ask: &Ask) {
        let call = &ask.call;
        let context = match call.text("browserContextId") {
            "" => self.default_context(),
            id if self.contexts.iter().any(|known| known == id) => id.to_owned(),
            id => return self.fail(ask, -32000, &format!("Failed to find browser context with id {id}")),
        };
        let url = if call.text("url").is_empty() { "about:blank" } else { call.text("url") };
        let id = self.create(url, None, context);
        self.reply(ask, json!({"targetId": id}));
        self.load_if_free(&id);
    }

    /// A page that nobody's command opened.
    pub(in crate::fake) fn open_page(&mut self, url: &str) -> String {
        let context = self.default_context();
        let id = self.create(url, None, context);
        self.load_if_free(&id);
        id
    }

    /// A window that a page opens; `ask` is the call whose script did it.
    pub(in crate::fake) fn popup(&mut self, opener: &str, url: &str, ask: Option<Ask>) -> String {
        let context = self.target(opener).context.clone();
        let url = if url.is_empty() { "about:blank" } else { url };
        let asked = |session: &Session| session.page;
        let params = json!({"url": url, "windowName": "_blank", "windowFeatures": [], "userGesture": true});
        self.tell_target(opener, "Page.windowOpen", asked, &params);
        let id = self.create(url, Some(opener), context);
        self.target_mut(&id).opened_by = ask;
        self.load_if_free(&id);
        id
    }

    /// A page goes: its sessions are told and end, what it was asked is never answered.
    pub(in crate::fake) fn destroy(&mut self, id: &str) {
        self.target(id);
        self.forget_dialog(id);
        self.tell_target(id, "Inspector.detached", |_| true, &json!({"reason": "Render process gone."}));
        let on_target = |session: &Session| session.target.as_deref() == Some(id);
        let keys: Vec<Key> =
            self.sessions.iter().filter(|(_, s)| on_target(s)).map(|(&key, _)| key).collect();
        for key in keys {
            let root = self.sessions.get(&key).is_some_and(|session| session.wire.is_none());
            if root {
                self.emit(key, "Inspector.detached", json!({"reason": "target_closed"}));
                let conn = self.sessions[&key].conn;
                self.end_link(conn);
            } else {
                self.detach(key);
            }
        }
        self.discovered("Target.targetDestroyed", &json!({"targetId": id}));
        self.leave_renderer(id);
        self.targets.remove(id);
    }

    /// `Browser.close`, or the end of everything.
    pub(in crate::fake) fn exit(&mut self) {
        let ids: Vec<String> = self.targets.keys().cloned().collect();
        for id in ids {
            self.discovered("Target.targetDestroyed", &json!({"targetId": id}));
        }
        for conn in self.conns() {
            self.end_link(conn);
        }
        self.outputs.push(super::Output::Exit);
    }

    pub(super) fn target_info(&self, id: &str) -> Value {
        let target = &self.targets[id];
        let mut info = json!({
            "targetId": id,
            "type": "page",
            "title": target.title,
            "url": target.url,
            "attached": self.is_attached(id),
            "canAccessOpener": target.opener.is_some(),
            "browserContextId": target.context,
        });
        if let Some(opener) = &target.opener {
            info["openerId"] = json!(opener);
            info["openerFrameId"] = json!(opener);
        }
        info
    }

    pub(super) fn browser_info(&self) -> Value {
        json!({
            "targetId": "fa4e0000-0000-4000-8000-000000000000",
            "type": "browser",
            "title": "",
            "url": "",
            "attached": !self.links.is_empty(),
            "canAccessOpener": false,
        })
    }

    /// The ids of all pages, oldest first.
    pub(in crate::fake) fn target_ids(&self) -> Vec<String> {
        self.targets.keys().cloned().collect()
    }

    /// Title and url of a page.
    pub(in crate::fake) fn about(&self, id: &str) -> (&str, &str) {
        let target = self.target(id);
        (&target.title, &target.url)
    }

    /// Changes a title as a script does: Chrome sends no event for it.
    pub(in crate::fake) fn set_title(&mut self, id: &str, title: &str) {
        title.clone_into(&mut self.target_mut(id).title);
    }

    pub(in crate::fake) fn has_target(&self, id: &str) -> bool {
        self.targets.contains_key(id)
    }

    pub(super) fn default_context(&mut self) -> String {
        if self.contexts.is_empty() {
            self.new_context();
        }
        self.contexts[0].clone()
    }

    pub(super) fn new_context(&mut self) -> String {
        let id = self.new_id(0xC077_0000);
        self.contexts.push(id.clone());
        id
    }

    pub(super) fn new_renderer(&mut self) -> u64 {
        let number = self.number();
        self.renderers.insert(number, Renderer::default());
        number
    }

    pub(super) fn renderer(&mut self, number: u64) -> &mut Renderer {
        self.renderers.entry(number).or_default()
    }

    pub(super) fn target(&self, id: &str) -> &Target {
        let Some(target) = self.targets.get(id) else { panic!("there is no target {id}") };
        target
    }

    pub(super) fn target_mut(&mut self, id: &str) -> &mut Target {
        let Some(target) = self.targets.get_mut(id) else { panic!("there is no target {id}") };
        target
    }
}

/// Whether a window opened by a page at `opener` shares its process.
fn shares_process(opener: &str, url: &str) -> bool {
    url == "about:blank" || super::navigation::same_site(opener, url)
}
