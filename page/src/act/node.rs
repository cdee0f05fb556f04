//! An element as an object in a world of our own, where the page cannot change what a question
//! means and does not see that it is asked.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Reply, Session};

use super::error::ActError;
use super::page::ActPage;
use super::target::{Element, Place, Point, Target};
use crate::isolated::{self, Resolved, unless_refused};
use crate::refs::{FrameId, StaleReason};
use crate::snapshot::frame_tree;

/// What every function of ours knows of elements.
const ELEMENT: &str = include_str!("element.js");

/// The element of a target, proved to be in the document that its frame shows.
#[derive(Debug)]
pub struct Node {
    pub(super) page: ActPage,
    /// The session of its process.
    pub(super) session: Session,
    /// Its frame.
    pub(super) frame: FrameId,
    /// What it is for.
    pub(super) place: Place,
    object: String,
}

/// What a function of ours gave.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Said {
    pub(super) result: Remote,
    exception_details: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remote {
    class_name: Option<String>,
    pub(super) object_id: Option<String>,
    value: Option<Value>,
}

impl Node {
    /// Finds the element of `target`: three messages there and back at most, with the first
    /// function that is called on it.
    ///
    /// # Errors
    /// [`ActError::Stale`], [`ActError::NoMatch`], [`ActError::Ambiguous`],
    /// [`ActError::BadSelector`], and whatever ends a wait.
    pub async fn find(page: &ActPage, target: &Target, budget: &Budget) -> Result<Self, ActError> {
        let place = Place::On(target.clone());
        page.during(budget, async {
            match target {
                Target::Element(element) => of_ref(page, place, element, budget).await,
                Target::Css(css) => of_css(page, place, css, budget).await,
            }
        })
        .await
    }

    /// A DOM node of a frame.
    pub(super) async fn resolve(
        page: &ActPage,
        (session, frame): (Session, FrameId),
        backend_node_id: i64,
        place: &Place,
        budget: &Budget,
    ) -> Result<Self, ActError> {
        let context = world(&session, &frame, place, budget).await?;
        let object = isolated::resolve(&session, backend_node_id, context, budget).await;
        let object = unless_refused(object)?.ok_or_else(|| place.gone(StaleReason::FrameChanged))?;
        Ok(Self { page: page.clone(), session, frame, place: place.clone(), object })
    }

    /// The innermost element at a point of a frame's viewport, open shadow trees included.
    pub(super) async fn at(
        page: &ActPage,
        (session, frame): (Session, FrameId),
        point: Point,
        place: &Place,
        budget: &Budget,
    ) -> Result<Option<Self>, ActError> {
        let context = world(&session, &frame, place, budget).await?;
        let question = json!({
            "executionContextId": context,
            "functionDeclaration": "function(x,y){
                let it=Document.prototype.elementFromPoint.call(document,x,y);
                for(let deeper;deeper=it?.shadowRoot?.elementFromPoint(x,y);it=deeper)if(deeper===it)break;
                return it}",
            "arguments": [{ "value": point.x }, { "value": point.y }],
        });
        let said = session.call_as("Runtime.callFunctionOn", question, budget).await;
        let said: Said = unless_refused(said)?.ok_or(ActError::Navigated { sent: false })?;
        let Some(object) = said.result.object_id.clone().filter(|_| said.exception_details.is_none()) else {
            return read::<Option<()>>(said).map(|_| None);
        };
        Ok(Some(Self { page: page.clone(), session, frame, place: place.clone(), object }))
    }

    /// The innermost element of the main frame that has the focus, open shadow trees included; the
    /// body if none has.
    pub(super) async fn focused(page: &ActPage, budget: &Budget) -> Result<Self, ActError> {
        let place = Place::On(Target::Css(":focus".to_owned()));
        page.during(budget, async {
            let (session, frame) = (page.session.clone(), page.main.clone());
            let context = world(&session, &frame, &place, budget).await?;
            let question = json!({
                "executionContextId": context,
                "functionDeclaration": "function(){
                    const active=(type,root)=>Object.getOwnPropertyDescriptor(type.prototype,'activeElement').get.call(root);
                    let it=active(Document,document);
                    for(let root;it&&(root=it.shadowRoot)instanceof ShadowRoot;){
                        const inner=active(ShadowRoot,root);
                        if(!inner)break;
                        it=inner}
                    return it||document.documentElement}",
            });
            let said = session.call_as("Runtime.callFunctionOn", question, budget).await;
            let said: Said = unless_refused(said)?.ok_or(ActError::Navigated { sent: false })?;
            let Some(object) = said.result.object_id.clone().filter(|_| said.exception_details.is_none()) else {
                return Err(ActError::NoMatch(place.name()));
            };
            Ok(Self { page: page.clone(), session, frame, place: place.clone(), object })
        })
        .await
    }

    /// The element as the caller named it.
    pub fn name(&self) -> String {
        self.place.name()
    }

    /// Its frame.
    pub fn frame(&self) -> &FrameId {
        &self.frame
    }

    /// The session of its process.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// It as an object of our world, for commands that take one.
    pub fn object_id(&self) -> &str {
        &self.object
    }

    /// Calls `function` (an arrow function of the element and `argument`, which may give a
    /// promise) in our world, with what `element.js` defines, and reads what it gives.
    ///
    /// # Errors
    /// The element is gone; [`ActError::Unreadable`]; whatever ends a wait.
    pub async fn call<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: Value,
        budget: &Budget,
    ) -> Result<T, ActError> {
        self.page.during(budget, self.call_unguarded(function, argument, budget)).await
    }

    /// The same, also while a dialog is open.
    pub(super) async fn call_unguarded<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: Value,
        budget: &Budget,
    ) -> Result<T, ActError> {
        let reply = self.send(function, argument).await?;
        self.read(budget.run(reply).await.map_err(|spent| ActError::spent(budget, spent))?)
    }

    /// Calls a function without waiting for what it gives.
    pub(super) async fn send(&self, function: &str, argument: Value) -> Result<Reply, ActError> {
        let question = json!({
            "objectId": self.object,
            "functionDeclaration": format!("function(asked){{{ELEMENT}\nreturn ({function})(this,asked)}}"),
            "arguments": [{ "value": argument }],
            "returnByValue": true,
            "awaitPromise": true,
        });
        Ok(self.session.send("Runtime.callFunctionOn", question).await?)
    }

    /// Reads the reply to what was sent.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        reply: Result<Box<RawValue>, CdpError>,
    ) -> Result<T, ActError> {
        let reply = unless_refused(reply)?.ok_or_else(|| self.gone())?;
        read(parse("Runtime.callFunctionOn", reply.get())?)
    }

    /// Its document is gone.
    pub(super) fn gone(&self) -> ActError {
        let main = self.frame == self.page.main;
        self.place.gone(if main { StaleReason::DocumentChanged } else { StaleReason::FrameChanged })
    }

    /// The frame that it holds is gone.
    pub(super) fn gone_frame(&self) -> ActError {
        self.place.gone(StaleReason::FrameChanged)
    }

    /// It left its document.
    pub(super) fn detached(&self) -> ActError {
        self.place.gone(StaleReason::NodeDetached)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.session.cast("Runtime.releaseObject", json!({ "objectId": self.object }));
    }
}

async fn of_ref(page: &ActPage, place: Place, element: &Element, budget: &Budget) -> Result<Node, ActError> {
    let Element { frame, document, backend_node_id, process, .. } = element;
    let frame_changed = || place.gone(StaleReason::FrameChanged);
    let session = page.session_of(process.as_ref()).ok_or_else(frame_changed)?;
    let context = world(&session, frame, &place, budget).await?;
    let node = json!({ "backendNodeId": backend_node_id, "executionContextId": context });
    let node = session.send("DOM.resolveNode", node).await?;
    // Asked last: a frame that changed its process meanwhile may have met another node by the
    // same numbers, and then it shows another document here.
    let tree = session.send("Page.getFrameTree", json!({})).await?;
    let (node, tree) = (node.await, unless_refused(tree.await)?.ok_or_else(frame_changed)?);
    let tree: frame_tree::Reply = parse("Page.getFrameTree", tree.get())?;
    let shown = tree.frames().into_iter().find(|it| it.id == *frame).map(|it| it.document);
    if shown.as_ref() != Some(document) {
        let main = *frame == page.main;
        return Err(place.gone(if main { StaleReason::DocumentChanged } else { StaleReason::FrameChanged }));
    }
    let node = unless_refused(node)?.ok_or_else(|| place.gone(StaleReason::NodeDetached))?;
    let object = parse::<Resolved>("DOM.resolveNode", node.get())?.into_object_id();
    Ok(Node { page: page.clone(), session, frame: frame.clone(), place, object })
}

async fn of_css(page: &ActPage, place: Place, css: &str, budget: &Budget) -> Result<Node, ActError> {
    let session = page.session.clone();
    let context = world(&session, &page.main, &place, budget).await?;
    let question = json!({
        "executionContextId": context,
        "functionDeclaration": "function(css){
            const all=Document.prototype.querySelectorAll.call(document,css);
            return all.length===1?all[0]:all.length}",
        "arguments": [{ "value": css }],
    });
    let said = session.call_as("Runtime.callFunctionOn", question, budget).await;
    let said: Said = unless_refused(said)?.ok_or(ActError::Navigated { sent: false })?;
    if said.exception_details.is_some() && said.result.class_name.as_deref() == Some("DOMException") {
        return Err(ActError::BadSelector(place.name()));
    }
    let Some(object) = said.result.object_id.clone().filter(|_| said.exception_details.is_none()) else {
        return Err(match read(said)? {
            0 => ActError::NoMatch(place.name()),
            count => ActError::Ambiguous { name: place.name(), count },
        });
    };
    Ok(Node { page: page.clone(), session, frame: page.main.clone(), place, object })
}

/// Our world in the document that `frame` shows now.
pub(super) async fn world(
    session: &Session,
    frame: &FrameId,
    place: &Place,
    budget: &Budget,
) -> Result<i64, ActError> {
    let world = isolated::world(session, frame, budget).await;
    unless_refused(world)?.ok_or_else(|| place.gone(StaleReason::FrameChanged))
}

/// Reads what a function of ours gave.
pub(super) fn read<T: DeserializeOwned>(said: Said) -> Result<T, ActError> {
    if let Some(thrown) = said.exception_details {
        let text = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
        return Err(ActError::Unreadable(text.unwrap_or("it threw").chars().take(200).collect()));
    }
    let value = said.result.value.unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|why| ActError::Unreadable(format!("{:?} error", why.classify())))
}

pub(super) fn parse<T: DeserializeOwned>(method: &str, text: &str) -> Result<T, ActError> {
    serde_json::from_str(text).map_err(|why| ActError::Unreadable(format!("{method}: {:?}", why.classify())))
}
