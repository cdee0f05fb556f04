//! A tab, and what tests of screenshots ask of it.

use serde_json::{Value, json};
use tabvisor_cdp::link::Session;
use tabvisor_page::refs::FrameId;
use tabvisor_page::screenshot::{Options, Page, Shot, ShotError, Spot, What, capture};

use super::support::{Stage, budget};

pub(crate) struct Room {
    pub(crate) stage: Stage,
    pub(crate) children: Vec<(FrameId, Session)>,
}

pub(crate) fn options(what: What) -> Options {
    Options { what, ..Options::default() }
}

impl Room {
    /// Opens a page and waits until all of it is there.
    pub(crate) async fn open(path: &str) -> Self {
        let mut stage = Stage::start().await;
        let mut loaded = stage.session.subscribe(&["Page.loadEventFired"], 16);
        // The empty page may have been loaded just now.
        while loaded.try_next().is_some() {}
        stage.open(path).await;
        budget().run(loaded.next()).await.unwrap();
        let children = stage.children().to_vec();
        // A frame in a process of its own may have run its script before it had a size, and stand at its
        // top since.
        for (_, session) in children.iter().filter(|_| path == "/shot") {
            loop {
                let scrolled = json!({ "expression": "scrollTo(0, 300), scrollY", "returnByValue": true });
                if ask(session, "Runtime.evaluate", scrolled).await["result"]["value"] == 300 {
                    break;
                }
            }
        }
        Self { stage, children }
    }

    pub(crate) async fn try_take(&mut self, options: &Options) -> Result<Shot, ShotError> {
        let session = self.stage.session.clone();
        capture(Page { session: &session, children: &self.children }, options, &budget()).await
    }

    pub(crate) async fn take(&mut self, options: &Options) -> Shot {
        let shot = self.try_take(options).await.unwrap();
        let (image, pixels) = (image::load_from_memory(&shot.bytes).unwrap(), (shot.width, shot.height));
        assert_eq!((image.width(), image.height()), pixels);
        shot
    }

    /// Opens one more tab in front of this one, and gives its session.
    pub(crate) async fn cover(&self) -> Session {
        let root = self.stage.link.root();
        let made = ask(&root, "Target.createTarget", json!({ "url": "about:blank" })).await;
        let target = made["targetId"].as_str().unwrap();
        let other = self.stage.link.attach(target, &budget()).await.unwrap();
        ask(&other, "Page.bringToFront", json!({})).await;
        other
    }

    /// An element of the main frame.
    pub(crate) async fn spot(&self, css: &str) -> Spot {
        self.find(&format!("document.querySelector('{css}')")).await
    }

    /// An element of the frame of the same process.
    pub(crate) async fn spot_in_same(&self, css: &str) -> Spot {
        let inner = "document.querySelector('#same').contentDocument";
        let spot = self.find(&format!("{inner}.querySelector('{css}')")).await;
        let tree = self.stage.call("Page.getFrameTree", json!({})).await;
        let frame = tree["frameTree"]["childFrames"][0]["frame"]["id"].as_str().unwrap();
        Spot { frame: frame.into(), ..spot }
    }

    /// An element of the frame in another process.
    pub(crate) async fn spot_in_other(&self, css: &str) -> Spot {
        let (frame, session) = self.children.first().expect("a frame in a process of its own");
        let backend_node_id = node(session, &format!("document.querySelector('{css}')")).await;
        Spot { frame: frame.clone(), target: Some(frame.clone()), backend_node_id }
    }

    async fn find(&self, expression: &str) -> Spot {
        let tree = self.stage.call("Page.getFrameTree", json!({})).await;
        let frame = tree["frameTree"]["frame"]["id"].as_str().unwrap().into();
        let backend_node_id = node(&self.stage.session, expression).await;
        Spot { frame, target: None, backend_node_id }
    }
}

async fn node(session: &Session, expression: &str) -> i64 {
    let found = ask(session, "Runtime.evaluate", json!({ "expression": expression })).await;
    let object = &found["result"]["objectId"];
    let node = ask(session, "DOM.describeNode", json!({ "objectId": object })).await;
    node["node"]["backendNodeId"].as_i64().unwrap()
}

pub(crate) async fn ask(session: &Session, method: &'static str, params: Value) -> Value {
    serde_json::from_str(session.call(method, params, &budget()).await.unwrap().get()).unwrap()
}

/// What a shot shows at a place of the viewport.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
pub(crate) fn pixel(shot: &Shot, x: f64, y: f64) -> [u8; 3] {
    let image = image::load_from_memory(&shot.bytes).unwrap().into_rgb8();
    let (x, y) = ((x - shot.clip.x) * shot.scale, (y - shot.clip.y) * shot.scale);
    image.get_pixel(x as u32, y as u32).0
}
