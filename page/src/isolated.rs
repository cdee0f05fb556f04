//! A world of our own in a frame, where the page cannot change what a question means and does not
//! see that it is asked; and DOM nodes as objects in a world.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

/// The answer to `DOM.resolveNode`.
#[derive(Deserialize)]
pub(crate) struct Resolved {
    object: Object,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    object_id: String,
}

impl Resolved {
    /// The node's object.
    pub(crate) fn into_object_id(self) -> String {
        self.object.object_id
    }
}

/// Our world in the document that `frame` shows now, as the id of its execution context.
pub(crate) async fn world(session: &Session, frame: &str, budget: &Budget) -> Result<i64, CdpError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct World {
        execution_context_id: i64,
    }
    let asked = json!({ "frameId": frame, "worldName": "tabvisor" });
    let world: World = session.call_as("Page.createIsolatedWorld", asked, budget).await?;
    Ok(world.execution_context_id)
}

/// A DOM node as an object in a world, by the object's id.
pub(crate) async fn resolve(
    session: &Session,
    backend_node_id: i64,
    world: i64,
    budget: &Budget,
) -> Result<String, CdpError> {
    let node = json!({ "backendNodeId": backend_node_id, "executionContextId": world });
    session.call_as("DOM.resolveNode", node, budget).await.map(Resolved::into_object_id)
}

/// Chromium refuses what names a frame, a node or a world that is gone.
pub(crate) fn unless_refused<T>(answer: Result<T, CdpError>) -> Result<Option<T>, CdpError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(CdpError::Protocol { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}
