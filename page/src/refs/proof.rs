//! Asking the page whether an element is still in its document.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use crate::isolated::{self, unless_refused};

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
    struct Said {
        result: Value,
    }
    #[derive(Deserialize)]
    struct Value {
        value: bool,
    }
    let world = isolated::world(session, frame, budget).await;
    let Some(world) = unless_refused(world)? else { return Ok(false) };
    let node = isolated::resolve(session, backend_node_id, world, budget).await;
    let Some(object) = unless_refused(node)? else { return Ok(false) };
    // A form has its fields as properties, and they may have any name.
    let function = "function(){
        const own=key=>Object.getOwnPropertyDescriptor(Node.prototype,key).get.call(this);
        return own('isConnected')&&own('ownerDocument')===document}";
    let question = json!({
        "objectId": object,
        "functionDeclaration": function,
        "returnByValue": true,
    });
    let said = session.call_as::<Said>("Runtime.callFunctionOn", question, budget).await;
    session.cast("Runtime.releaseObject", json!({ "objectId": object }));
    Ok(unless_refused(said)?.is_some_and(|said| said.result.value))
}
