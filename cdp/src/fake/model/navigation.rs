//! Navigation: what it answers, what it emits, and what it does to a renderer that is stuck.

use serde_json::{Value, json};

use super::super::act::{Act, Kind};
use super::state::{Busy, Entry, How, Job, Nav, Work};
use super::{Ask, Model};

/// Ends a call whose document went away.
const NAVIGATED: &str = "Inspected target navigated or closed";

impl Model {
    /// A page goes somewhere by itself.
    pub(in crate::fake) fn navigate_by_page(&mut self, id: &str, url: &str) {
        self.target(id);
        let nav = self.nav(id, None, url, How::Normal);
        self.navigate(id, nav);
    }

    pub(super) fn nav(&mut self, id: &str, ask: Option<Ask>, url: &str, how: How) -> Nav {
        let here = &self.targets[id].url;
        let fragment = how == How::Normal && url.contains('#') && split(url).0 == split(here).0;
        let how = if fragment { How::Fragment } else { how };
        Nav { ask, url: url.to_owned(), loader: self.new_id(0x10AD_0000), how, failed: None }
    }

    /// Begins a navigation.
    pub(super) fn navigate(&mut self, id: &str, nav: Nav) {
        let nav = self.set_out(id, nav);
        self.proceed(id, nav);
    }

    /// What the browser process does before the renderer has any part in it.
    fn set_out(&mut self, id: &str, mut nav: Nav) -> Nav {
        if self.renderers[&self.targets[id].renderer].crashed {
            self.revive(id);
            nav.how = if nav.how == How::Fragment { How::Normal } else { nav.how };
        }
        self.announce(id, &nav);
        nav
    }

    fn announce(&mut self, id: &str, nav: &Nav) {
        let kind = match nav.how {
            How::Initial | How::Normal => "differentDocument",
            How::Reload => "reload",
            How::History(_) => "historyDifferentDocument",
            How::Fragment => "sameDocument",
        };
        let params = json!({"frameId": id, "url": nav.url, "loaderId": nav.loader, "navigationType": kind});
        self.tell_target(id, "Page.frameStartedNavigating", |session| session.page_asked, &params);
        self.tell_target(
            id,
            "Page.frameStartedLoading",
            |session| session.page_asked,
            &json!({"frameId": id}),
        );
    }

    /// Goes on with a navigation, as far as the renderer's state lets it.
    pub(super) fn proceed(&mut self, id: &str, nav: Nav) {
        if self.renderers[&self.targets[id].renderer].crashed {
            // What waited behind a dialog that closed just now was a `Page.crash`.
            self.revive(id);
        }
        let stays = self.stays(id, &nav);
        let (renderer, dialog) = (self.targets[id].renderer, self.targets[id].dialog.is_some());
        let Some(busy) = &mut self.renderer(renderer).busy else { return self.commit(id, &nav) };
        if busy.target != id {
            // A neighbour in the same process holds the thread; a new process need not wait.
            if stays { self.enqueue(id, Work::Commit(nav)) } else { self.commit(id, &nav) }
        } else if busy.deaf.is_some() {
            self.give_up_stuck(id);
            self.target_mut(id).stuck = Some(nav);
        } else if busy.nav.is_some() {
            self.stop_loading(id);
            self.proceed(id, nav);
        } else if dialog {
            self.close_dialog(id, false, "");
            self.proceed(id, nav);
        } else if stays {
            // The worst thing to do to a stuck page: it answers, and nothing helps any more.
            busy.deaf = Some(nav.clone());
            let running = busy.ask.take();
            self.answer_nav(id, &nav);
            self.settle_all(running);
        } else {
            self.commit(id, &nav);
        }
    }

    /// `Page.stopLoading`: the pending navigation is aborted and the old document stays.
    pub(super) fn stop_loading(&mut self, id: &str) {
        let renderer = self.targets[id].renderer;
        let waits = |busy: &mut Busy| busy.target == id && busy.nav.is_some();
        let Some(busy) = self.renderer(renderer).busy.take_if(waits) else { return };
        if let Some(mut nav) = busy.nav {
            nav.failed = Some("net::ERR_ABORTED".to_owned());
            self.answer_nav(id, &nav);
        }
        self.tell_stopped(id);
        self.drain(renderer);
    }

    fn tell_stopped(&mut self, id: &str) {
        let params = json!({"frameId": id});
        self.tell_target(id, "Page.frameStoppedLoading", |session| session.page_asked, &params);
    }

    /// A newer navigation replaces one that could not commit.
    fn give_up_stuck(&mut self, id: &str) {
        if let Some(mut old) = self.target_mut(id).stuck.take() {
            old.failed = Some("net::ERR_ABORTED".to_owned());
            self.answer_nav(id, &old);
        }
    }

    /// The new document is there, and loads completely at once.
    pub(super) fn commit(&mut self, id: &str, nav: &Nav) {
        self.answer_nav(id, nav);
        if nav.how == How::Fragment {
            return self.commit_fragment(id, &nav.url);
        }
        let mut waiting = Vec::new();
        if !self.stays(id, nav) {
            let (running, jobs) = self.leave_renderer(id);
            self.target_mut(id).renderer = self.new_renderer();
            self.settle_all(running);
            waiting = self.settle_scripts(jobs);
        }
        let promised = std::mem::take(&mut self.target_mut(id).promised);
        self.settle_all(promised);
        self.show_document(id, nav);
        let renderer = self.targets[id].renderer;
        self.renderer(renderer).queue.extend(waiting);
        self.drain(renderer);
    }

    fn show_document(&mut self, id: &str, nav: &Nav) {
        let entry = self.number();
        let target = self.target_mut(id);
        nav.url.clone_into(&mut target.url);
        // Until a title is known it is the url without its scheme.
        let title = nav.url.split_once("://").map_or(nav.url.as_str(), |(_, rest)| rest);
        title.trim_end_matches('/').clone_into(&mut target.title);
        target.loader.clone_from(&nav.loader);
        target.unreachable = nav.failed.is_some();
        target.worlds += 1;
        let shown = Entry { id: entry, url: nav.url.clone(), title: target.title.clone() };
        match nav.how {
            How::History(at) => target.at = at,
            How::Normal => {
                target.history.truncate(target.at + 1);
                target.history.push(shown);
                target.at += 1;
            }
            How::Initial | How::Reload | How::Fragment => {}
        }
        self.tell_target(id, "Runtime.executionContextsCleared", |session| session.runtime, &json!({}));
        let params = json!({"frame": self.frame(id), "type": "Navigation"});
        self.tell_target(id, "Page.frameNavigated", |session| session.page, &params);
        self.tell_changed(id);
        let world = json!({"context": self.world(id)});
        self.tell_target(id, "Runtime.executionContextCreated", |session| session.runtime, &world);
        for event in ["Page.domContentEventFired", "Page.loadEventFired"] {
            let timestamp = json!({"timestamp": self.number()});
            self.tell_target(id, event, |session| session.page, &timestamp);
        }
        self.tell_stopped(id);
    }

    fn commit_fragment(&mut self, id: &str, url: &str) {
        let entry = Entry { id: self.number(), url: url.to_owned(), title: self.targets[id].title.clone() };
        let target = self.target_mut(id);
        url.clone_into(&mut target.url);
        target.history.truncate(target.at + 1);
        target.history.push(entry);
        target.at += 1;
        self.tell_changed(id);
        let params = json!({"frameId": id, "url": url, "navigationType": "fragment"});
        self.tell_target(id, "Page.navigatedWithinDocument", |session| session.page, &params);
        self.tell_stopped(id);
    }

    /// A crashed page gets a new renderer; what was asked of the old one is answered at last.
    fn revive(&mut self, id: &str) {
        let (_, jobs) = self.leave_renderer(id);
        self.target_mut(id).renderer = self.new_renderer();
        for ask in std::mem::take(&mut self.target_mut(id).lost) {
            self.settle(&ask, -32000, "Target crashed");
        }
        for job in jobs {
            match job.work {
                Work::Command(ask) | Work::Act(ask, _) => self.settle(&ask, -32000, "Target crashed"),
                Work::Commit(nav) => {
                    if let Some(ask) = nav.ask {
                        self.settle(&ask, -32000, "Target crashed");
                    }
                }
                Work::Attach(key) => self.enqueue(id, Work::Attach(key)),
                Work::Occupy(_) | Work::Dialog(_) => {}
            }
        }
        self.tell_target(id, "Inspector.targetReloadedAfterCrash", |_| true, &json!({}));
    }

    /// Takes a target out of its renderer: the call that it ran there, and what waited.
    pub(super) fn leave_renderer(&mut self, id: &str) -> (Option<Ask>, Vec<Job>) {
        let number = self.targets[id].renderer;
        let neighbour = self
            .targets
            .iter()
            .find(|(other, t)| *other != id && t.renderer == number)
            .map(|(id, _)| id.clone());
        self.target_mut(id).stuck = None;
        let renderer = self.renderer(number);
        let mut running = None;
        if let Some(mut busy) = renderer.busy.take_if(|busy| busy.target == id) {
            running = busy.ask.take();
            if let (Some(neighbour), Kind::Script | Kind::Native | Kind::Stopped) = (&neighbour, busy.kind) {
                // The old process goes on with it, at the cost of those who share it.
                busy.target.clone_from(neighbour);
                renderer.busy = Some(busy);
            }
        }
        let (ours, others) =
            std::mem::take(&mut renderer.queue).into_iter().partition(|job| job.target == id);
        renderer.queue = others;
        if neighbour.is_some() {
            self.drain(number);
        } else {
            self.renderers.remove(&number);
        }
        (running, ours.into_iter().collect())
    }

    /// What a new process gets of the old one's queue: not the scripts.
    fn settle_scripts(&mut self, jobs: Vec<Job>) -> Vec<Job> {
        let (scripts, rest): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(Job::is_script);
        for job in scripts {
            if let Work::Command(ask) | Work::Act(ask, _) = job.work {
                self.settle(&ask, -32000, NAVIGATED);
            }
        }
        rest
    }

    fn settle_all(&mut self, asks: impl IntoIterator<Item = Ask>) {
        for ask in asks {
            self.settle(&ask, -32000, NAVIGATED);
        }
    }

    fn answer_nav(&mut self, id: &str, nav: &Nav) {
        let Some(ask) = &nav.ask else { return };
        let mut result = json!({});
        if ask.call.method == "Page.navigate" {
            result = json!({"frameId": id, "isDownload": false});
            if nav.how != How::Fragment {
                result["loaderId"] = json!(nav.loader);
            }
            if let Some(error) = &nav.failed {
                result["errorText"] = json!(error);
            }
        }
        if !ask.answered() {
            self.reply(ask, result);
        }
    }

    /// Makes a navigation command wait for its server; the renderer and the token of the wait.
    pub(super) fn load_slowly(&mut self, id: &str, nav: Nav) -> Option<(u64, u64)> {
        let nav = self.set_out(id, nav);
        if !self.is_idle(id) {
            self.proceed(id, nav);
            return None;
        }
        let token = self.occupy(id, Kind::Loading, nav.ask.clone(), Act::Never);
        let renderer = self.targets[id].renderer;
        if let Some(busy) = &mut self.renderer(renderer).busy {
            busy.nav = Some(nav);
        }
        Some((renderer, token))
    }

    /// Whether a navigation keeps the renderer process.
    fn stays(&self, id: &str, nav: &Nav) -> bool {
        matches!(nav.how, How::Initial | How::Reload) || same_site(&self.targets[id].url, &nav.url)
    }

    /// The main frame, as `Page.getFrameTree` and `Page.frameNavigated` show it.
    pub(super) fn frame(&self, id: &str) -> Value {
        let target = &self.targets[id];
        let (url, fragment) = split(&target.url);
        let mut frame = json!({
            "id": id,
            "loaderId": target.loader,
            "url": url,
            "domainAndRegistry": "",
            "securityOrigin": origin(&target.url),
            "mimeType": "text/html",
        });
        if target.unreachable {
            frame["url"] = json!("chrome-error://chromewebdata/");
            frame["unreachableUrl"] = json!(target.url);
        } else if !fragment.is_empty() {
            frame["urlFragment"] = json!(fragment);
        }
        frame
    }

    /// The page's execution context.
    pub(super) fn world(&self, id: &str) -> Value {
        let target = &self.targets[id];
        json!({
            "id": target.worlds,
            "origin": origin(&target.url),
            "name": "",
            "uniqueId": format!("{id}.{}", target.worlds),
            "auxData": {"isDefault": true, "type": "default", "frameId": id},
        })
    }
}

impl Job {
    /// Whether Chrome answers it with an error when its document's process goes away.
    fn is_script(&self) -> bool {
        let (Work::Command(ask) | Work::Act(ask, _)) = &self.work else {
            return matches!(self.work, Work::Occupy(_) | Work::Dialog(_));
        };
        matches!(
            ask.call.method.as_str(),
            "Runtime.evaluate"
                | "Runtime.callFunctionOn"
                | "Runtime.awaitPromise"
                | "Runtime.terminateExecution"
        )
    }
}

/// Url and fragment (with its `#`).
fn split(url: &str) -> (&str, &str) {
    url.split_at(url.find('#').unwrap_or(url.len()))
}

fn origin(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(url) if url.has_host() => url.origin().ascii_serialization(),
        _ => "://".to_owned(),
    }
}

/// Whether two documents may share a process: same scheme and host; `about:blank` with none.
pub(super) fn same_site(a: &str, b: &str) -> bool {
    let site = |text: &str| {
        let url = url::Url::parse(text).ok()?;
        Some((url.scheme().to_owned(), url.host_str()?.to_owned()))
    };
    site(a).is_some_and(|a| Some(a) == site(b))
}
