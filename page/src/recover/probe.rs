//! Whether a page is usable.

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use crate::isolated;

/// How long a page that was freed is watched, in milliseconds of its own timers: one that runs the same
/// loop again is back by then.
const BEAT_MS: u32 = 30;
/// How long that may take. The timers of a page in the background come once a second only.
const BEAT: Duration = Duration::from_millis(250);
/// How often a page is asked whether it has read its document.
const PARSED: Duration = Duration::from_millis(30);

/// Whether the page does what waits in its queue: a script was run and answered.
pub async fn answers(session: &Session, budget: &Budget) -> bool {
    let marker = json!({ "expression": "0", "returnByValue": true });
    session.call("Runtime.evaluate", marker, budget).await.is_ok()
}

/// Whether it answers, and still does once a timer of ours has run: those of the page that were due
/// before it have run by then, however late they came.
pub async fn stays_usable(session: &Session, main_frame: &str, budget: &Budget) -> bool {
    if !answers(session, budget).await {
        return false;
    }
    beat(session, main_frame, &budget.child(BEAT)).await;
    answers(session, budget).await
}

/// Until a timer has run in a world where the page has not put its own in the place of it.
async fn beat(session: &Session, main_frame: &str, budget: &Budget) {
    let Ok(world) = isolated::world(session, main_frame, budget).await else { return };
    let beat = json!({
        "expression": format!("new Promise(done => setTimeout(done, {BEAT_MS}))"),
        "contextId": world,
        "awaitPromise": true,
    });
    let _ = session.call("Runtime.evaluate", beat, budget).await;
}

/// How long a page that is loaded is watched, if its parser takes that long: one that answers all the
/// while is usable.
const PARSING: Duration = Duration::from_secs(1);

/// Whether a document that was just brought answers, and goes on answering until its own scripts have
/// run: between the commit and the first of them every page answers.
pub async fn survives_its_loading(session: &Session, budget: &Budget) -> bool {
    let state = json!({ "expression": "document.readyState", "returnByValue": true });
    let parsing = budget.child(PARSING);
    loop {
        let over = parsing.check().is_err();
        match session.call_as::<Value>("Runtime.evaluate", state.clone(), budget).await {
            Ok(answer) if over || answer["result"]["value"] != "loading" => return true,
            // Another document came in the place of this one.
            Err(CdpError::Protocol { .. }) if !over => {}
            Ok(_) => {}
            Err(_) => return false,
        }
        let _ = budget.child(PARSED).run(std::future::pending::<()>()).await;
    }
}

/// Whether the page serves interrupts: it does so while a script runs, and not where the end of
/// scripts is of no use (a dialog, native code, a stopped or dead renderer).
///
/// # Errors
/// The link or the session is gone; the session hears nothing of a dead renderer.
pub async fn serves_interrupts(session: &Session, budget: &Budget) -> Result<bool, CdpError> {
    match session.call("Performance.getMetrics", json!({}), budget).await {
        Ok(_) => Ok(true),
        Err(CdpError::Spent { .. } | CdpError::Crashed) => Ok(false),
        Err(other) => Err(other),
    }
}
