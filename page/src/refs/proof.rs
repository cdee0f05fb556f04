//! Asking the page whether an element is still in its document.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

/// Whether this DOM node is in the document that `frame` shows, or in a shadow tree of it.
///
/// Asked in a world of our own, where the page cannot have changed what the question means.
///
/// # Errors
/// Whatever ends a call. That there is no such frame or node is no error: it is not attached.
pub async fn is_attached(
    session: &Session,
    frame: &str,
    backend_node_id: i64,
    budget: &Budget,
) -> Result<bool, CdpError> {
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
    #[derive(Deserialize)]
    struct Said {
        result: Value,
    }
    #[derive(Deserialize)]
    struct Value {
        value: bool,
    }
    let world = json!({ "frameId": frame, "worldName": "tabvisor" });
    let world = session.call_as::<World>("Page.createIsolatedWorld", world, budget).await;
    let Some(world) = unless_refused(world)? else { return Ok(false) };
    let node = json!({ "backendNodeId": backend_node_id, "executionContextId": world.execution_context_id });
    let node = session.call_as::<Resolved>("DOM.resolveNode", node, budget).await;
    let Some(node) = unless_refused(node)? else { return Ok(false) };
    // A form has its fields as properties, and they may have any name.
    let function = "function(){
        const own=key=>Object.getOwnPropertyDescriptor(Node.prototype,key).get.call(this);
        return own('isConnected')&&own('ownerDocument')===document}";
    let question = json!({
        "objectId": node.object.object_id,
        "functionDeclaration": function,
        "returnByValue": true,
    });
    let said = session.call_as::<Said>("Runtime.callFunctionOn", question, budget).await;
    session.cast("Runtime.releaseObject", json!({ "objectId": node.object.object_id }));
    Ok(unless_refused(said)?.is_some_and(|said| said.result.value))
}

/// Chromium refuses what names a frame, a node or a world that is gone.
fn unless_refused<T>(answer: Result<T, CdpError>) -> Result<Option<T>, CdpError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(CdpError::Protocol { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}
