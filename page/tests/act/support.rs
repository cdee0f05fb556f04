//! A Chromium, pages that keep a record of what they see, and a watcher of dialogs and crashes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::{Chromium, LaunchOptions, launch};
use tabvisor_cdp::link::{Delivery, DialOptions, Link, LinkOptions, Purpose, Session};
use tabvisor_cdp::task::{self, Task};
use tabvisor_page::act::{ActError, ActPage, Click, Element, Outcome, Place, Target, click};
use tabvisor_page::condition::Condition;
use tabvisor_page::dialog::{self, Dialogs, Now};
use tabvisor_page::frame_sessions::FrameSessions;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Every page records what its own listeners see, ahead of all others.
const RECORD: &str = "<!doctype html><meta charset=utf-8><style>body{margin:8px}</style><script>
window.seen = [];
for (const type of ['mousedown','mouseup','click','dblclick','auxclick','contextmenu','mouseover','wheel',
    'dragstart','dragover','drop','dragend'])
  addEventListener(type, event => {
    const it = event.composedPath()[0];
    seen.push(type + ' ' + (it.id || it.localName || 'document') + (event.isTrusted ? '' : ' untrusted'));
  }, { capture: true, passive: true });
window.clicks = () => seen.filter(it => it.startsWith('click ')).map(it => it.slice(6));
</script>";

type Pages = Arc<Mutex<HashMap<String, String>>>;

/// One tab of a Chromium of its own.
pub(crate) struct Stage {
    chromium: Chromium,
    pub(crate) link: Link,
    control: Session,
    pub(crate) page: ActPage,
    condition: Arc<watch::Sender<Condition>>,
    pages: Pages,
    port: u16,
    _control_link: Link,
    _work: [Task<()>; 3],
    _state: TempDir,
}

/// Long enough for whatever answers at all, on a busy machine too.
pub(crate) fn budget() -> Budget {
    Budget::new(Duration::from_mins(1))
}

impl Stage {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages = Pages::default();
        let server = task::spawn(serve(listener, Arc::clone(&pages)));
        let state = TempDir::new().unwrap();
        let mut options = LaunchOptions::new(state.path());
        // Chromium has no sandbox for root.
        options.no_sandbox = rustix::process::geteuid().is_root();
        let chromium = launch(&options, &budget()).await.expect("a chromium is installed and starts");
        let dial = || async {
            let options = LinkOptions::new(Purpose::Page);
            Link::connect(chromium.address(), &DialOptions::default(), options, &budget()).await.unwrap()
        };
        let (link, control_link) = (dial().await, dial().await);
        let asked = json!({ "url": "about:blank" });
        let made = link.root().call("Target.createTarget", asked, &budget()).await.unwrap();
        let made: Value = serde_json::from_str(made.get()).unwrap();
        let target = made["targetId"].as_str().unwrap();
        let session = link.attach(target, &budget()).await.unwrap();
        let control = control_link.attach(target, &budget()).await.unwrap();
        let (condition, watched) = watch::channel(Condition::default());
        let condition = Arc::new(condition);
        let watcher = task::spawn(watch_tab(control.clone(), Arc::clone(&condition)));
        control.call("Page.enable", json!({}), &budget()).await.unwrap();
        session.call("Page.enable", json!({}), &budget()).await.unwrap();
        let (frames, work) = FrameSessions::watch(&link, &session, |_| {});
        let page = ActPage { session, main: target.into(), frames, condition: watched };
        Self {
            chromium,
            link,
            control,
            page,
            condition,
            pages,
            port,
            _control_link: control_link,
            _work: [server, watcher, task::spawn(work)],
            _state: state,
        }
    }

    pub(crate) async fn stop(self) {
        drop(self.link);
        self.chromium.stop().await;
    }

    /// `HOST` in a page stands for another site on this server.
    pub(crate) fn serve(&self, path: &str, body: &str) {
        let body = body.replace("HOST", &format!("http://localhost:{}", self.port));
        self.pages.lock().unwrap().insert(path.to_owned(), body);
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Serves a page and loads it with all that it includes.
    pub(crate) async fn show(&self, body: &str) {
        self.serve("/page", body);
        self.goto("/page").await;
    }

    pub(crate) async fn goto(&self, path: &str) {
        let mut loaded = self.page.session.subscribe(&["Page.loadEventFired"], 16);
        self.call("Page.navigate", json!({ "url": self.url(path) })).await;
        budget().run(loaded.next()).await.unwrap();
    }

    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Value {
        call(&self.page.session, method, params).await
    }

    pub(crate) async fn evaluate(&self, expression: &str) -> Value {
        evaluate(&self.page.session, expression).await
    }

    /// What the page's own listeners saw of clicks.
    pub(crate) async fn clicks(&self) -> Value {
        self.evaluate("clicks()").await
    }

    /// Waits for what takes its time and tells nobody.
    pub(crate) async fn until(&self, expression: &str) {
        for _ in 0..300 {
            let params = json!({ "expression": expression, "returnByValue": true });
            // The page may go to another document meanwhile.
            if let Ok(answer) = self.page.session.call("Runtime.evaluate", params, &budget()).await {
                let answer: Value = serde_json::from_str(answer.get()).unwrap();
                if answer["result"]["value"] == true {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("never: {expression}");
    }

    /// The only session on a frame in a process of its own, once the frame is loaded.
    pub(crate) async fn frame(&self) -> Session {
        for _ in 0..300 {
            if let Some((_, session)) = self.page.frames.all().first()
                && evaluate(session, "document.readyState==='complete'&&!!window.seen").await == true
            {
                return session.clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no frame in a process of its own");
    }

    /// What a ref for the element that `expression` gives would hold.
    pub(crate) async fn element(&self, expression: &str) -> Element {
        self.element_in(&self.page.session, expression).await
    }

    pub(crate) async fn element_in(&self, session: &Session, expression: &str) -> Element {
        let found = call(session, "Runtime.evaluate", json!({ "expression": expression })).await;
        let object = found["result"]["objectId"].as_str().unwrap_or_else(|| panic!("{expression}: {found}"));
        let node = call(session, "DOM.describeNode", json!({ "objectId": object })).await;
        let asked = json!({
            "objectId": object, "returnByValue": true,
            "functionDeclaration": "function(){
                const path=[];
                for(let at=this.ownerDocument.defaultView;at!==at.parent;at=at.parent){
                    let index=0;
                    while(index<at.parent.length&&at.parent[index]!==at)index++;
                    // The document of a parent on another site is none of its business.
                    try{at.parent.document}catch{break}
                    path.unshift(index);
                }
                return path}",
        });
        // Through as many frames of the same site.
        let path = call(session, "Runtime.callFunctionOn", asked).await;
        let mut tree = call(session, "Page.getFrameTree", json!({})).await["frameTree"].take();
        let own = session.id() != self.page.session.id();
        for at in path["result"]["value"].as_array().unwrap() {
            tree = tree["childFrames"][usize::try_from(at.as_u64().unwrap()).unwrap()].take();
        }
        let process = self.page.frames.all().into_iter().find(|(_, it)| it.id() == session.id());
        Element {
            name: "e1".into(),
            backend_node_id: node["node"]["backendNodeId"].as_i64().unwrap(),
            frame: tree["frame"]["id"].as_str().unwrap().into(),
            document: tree["frame"]["loaderId"].as_str().unwrap().into(),
            process: process.filter(|_| own).map(|(frame, _)| frame),
        }
    }

    pub(crate) async fn click(&self, css: &str) -> Result<Outcome, ActError> {
        self.click_on(&css_place(css), &Click::default()).await
    }

    pub(crate) async fn click_on(&self, place: &Place, how: &Click) -> Result<Outcome, ActError> {
        click(&self.page, place, how, &budget()).await
    }

    /// Answers the open dialog and waits until it is gone.
    pub(crate) async fn answer(&self, accept: bool) {
        call(&self.control, "Page.handleJavaScriptDialog", json!({ "accept": accept })).await;
        let mut condition = self.condition.subscribe();
        budget().run(condition.wait_for(|now| now.dialog.is_none())).await.unwrap().unwrap();
    }
}

pub(crate) fn css_place(css: &str) -> Place {
    Place::On(Target::Css(css.to_owned()))
}

pub(crate) fn on(element: Element) -> Place {
    Place::On(Target::Element(element))
}

pub(crate) async fn call(session: &Session, method: &'static str, params: Value) -> Value {
    let answer = session.call(method, params, &budget()).await.unwrap();
    serde_json::from_str(answer.get()).unwrap()
}

pub(crate) async fn evaluate(session: &Session, expression: &str) -> Value {
    let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
    let answer = call(session, "Runtime.evaluate", params).await;
    assert!(answer.get("exceptionDetails").is_none(), "{answer}");
    answer["result"]["value"].clone()
}

/// What a tab's watcher publishes.
async fn watch_tab(control: Session, condition: Arc<watch::Sender<Condition>>) {
    let mut events = control.subscribe(
        &["Page.javascriptDialogOpening", "Page.javascriptDialogClosed", "Inspector.targetCrashed"],
        64,
    );
    let mut dialogs = Dialogs::default();
    while let Some(Delivery::Event(event)) = events.next().await {
        let params: Value = serde_json::from_str(event.params.get()).unwrap();
        match &*event.method {
            "Page.javascriptDialogOpening" => {
                let kind = serde_json::from_value(params["type"].clone()).unwrap();
                let message = params["message"].as_str().unwrap().to_owned();
                dialogs.on(dialog::Event::Opened { kind, message, default_value: None }, Now::read());
            }
            "Page.javascriptDialogClosed" => {
                let accepted = params["result"] == true;
                dialogs.on(dialog::Event::Closed { accepted }, Now::read());
            }
            _ => {
                condition.send_modify(|now| now.crashed = true);
            }
        }
        condition.send_modify(|now| now.dialog = dialogs.pending().map(|it| it.dialog.clone()));
    }
}

async fn serve(listener: TcpListener, pages: Pages) {
    let mut open = Vec::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        open.push(task::spawn(respond(socket, Arc::clone(&pages))));
    }
}

async fn respond(mut socket: TcpStream, pages: Pages) {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if socket.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let target = request.split_whitespace().nth(1).unwrap_or("/");
    let path = target.split('?').next().unwrap_or("/");
    let body = pages.lock().unwrap().get(path).cloned().unwrap_or_else(|| "<title>Ok</title>ok".into());
    let page = format!("{RECORD}{body}");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{page}", page.len());
    socket.write_all(answer.as_bytes()).await.ok();
    socket.shutdown().await.ok();
}
