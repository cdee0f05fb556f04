//! An element as an object in a world of our own, where the page cannot change what a question
//! means and does not see that it is asked.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::error::ActError;
use super::page::ActPage;
use super::target::{Element, Target};
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
    /// Our world in its document.
    pub(super) context: i64,
    object: String,
    target: Target,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

#[derive(Deserialize)]
struct Resolved {
    object: Object,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    object_id: String,
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
        page.during(budget, async {
            match target {
                Target::Element(element) => of_ref(page, target, element, budget).await,
                Target::Css(css) => of_css(page, target, css, budget).await,
            }
        })
        .await
    }

    /// The element of a frame that holds another one.
    pub(super) async fn of_frame_owner(
        page: &ActPage,
        (session, frame): (Session, FrameId),
        backend_node_id: i64,
        target: &Target,
        budget: &Budget,
    ) -> Result<Self, ActError> {
        let context = world(&session, &frame, target, budget).await?;
        let node = json!({ "backendNodeId": backend_node_id, "executionContextId": context });
        let found = session.call_as::<Resolved>("DOM.resolveNode", node, budget).await;
        let object = unless_refused(found)?.ok_or_else(|| target.gone(StaleReason::FrameChanged))?;
        let (page, target, object) = (page.clone(), target.clone(), object.object.object_id);
        Ok(Self { page, session, frame, context, object, target })
    }

    /// The element as the caller named it.
    pub fn name(&self) -> String {
        self.target.name()
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
        let question = json!({
            "objectId": self.object,
            "functionDeclaration": format!("function(asked){{{ELEMENT}\nreturn ({function})(this,asked)}}"),
            "arguments": [{ "value": argument }],
            "returnByValue": true,
            "awaitPromise": true,
        });
        let said = self.session.call_as("Runtime.callFunctionOn", question, budget).await;
        let said: Said = unless_refused(said)?.ok_or_else(|| self.gone())?;
        read(said)
    }

    /// Its document is gone.
    pub(super) fn gone(&self) -> ActError {
        let main = self.frame == self.page.main;
        self.target.gone(if main { StaleReason::DocumentChanged } else { StaleReason::FrameChanged })
    }

    /// It left its document.
    pub(super) fn detached(&self) -> ActError {
        self.target.gone(StaleReason::NodeDetached)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.session.cast("Runtime.releaseObject", json!({ "objectId": self.object }));
    }
}

async fn of_ref(
    page: &ActPage,
    target: &Target,
    element: &Element,
    budget: &Budget,
) -> Result<Node, ActError> {
    let Element { frame, document, backend_node_id, process, .. } = element;
    let frame_changed = || target.gone(StaleReason::FrameChanged);
    let session = page.session_of(process.as_ref()).ok_or_else(frame_changed)?;
    let context = world(&session, frame, target, budget).await?;
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
        return Err(target.gone(if main { StaleReason::DocumentChanged } else { StaleReason::FrameChanged }));
    }
    let node = unless_refused(node)?.ok_or_else(|| target.gone(StaleReason::NodeDetached))?;
    let object = parse::<Resolved>("DOM.resolveNode", node.get())?.object.object_id;
    Ok(Node { page: page.clone(), session, frame: frame.clone(), context, object, target: target.clone() })
}

async fn of_css(page: &ActPage, target: &Target, css: &str, budget: &Budget) -> Result<Node, ActError> {
    let session = page.session.clone();
    let context = world(&session, &page.main, target, budget).await?;
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
        return Err(ActError::BadSelector(target.name()));
    }
    let Some(object) = said.result.object_id.clone().filter(|_| said.exception_details.is_none()) else {
        return Err(match read(said)? {
            0 => ActError::NoMatch(target.name()),
            count => ActError::Ambiguous { name: target.name(), count },
        });
    };
    let (page, frame, target) = (page.clone(), page.main.clone(), target.clone());
    Ok(Node { page, session, frame, context, object, target })
}

/// Our world in the document that `frame` shows now.
pub(super) async fn world(
    session: &Session,
    frame: &FrameId,
    target: &Target,
    budget: &Budget,
) -> Result<i64, ActError> {
    let asked = json!({ "frameId": **frame, "worldName": "tabvisor" });
    let world = session.call_as::<World>("Page.createIsolatedWorld", asked, budget).await;
    let world = unless_refused(world)?.ok_or_else(|| target.gone(StaleReason::FrameChanged))?;
    Ok(world.execution_context_id)
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

fn parse<T: DeserializeOwned>(method: &str, text: &str) -> Result<T, ActError> {
    serde_json::from_str(text).map_err(|why| ActError::Unreadable(format!("{method}: {:?}", why.classify())))
}

/// Chromium refuses what names a frame, a node or a world that is gone.
pub(super) fn unless_refused<T>(answer: Result<T, CdpError>) -> Result<Option<T>, ActError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(CdpError::Protocol { .. }) => Ok(None),
        Err(other) => Err(other.into()),
    }
}
