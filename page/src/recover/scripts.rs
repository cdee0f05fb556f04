//! Ending what runs in a page.

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use crate::isolated;

/// Ends whatever script runs in the page, also one that nobody of us started.
///
/// # Errors
/// Every [`CdpError`]; without an answer in time it has no effect, and never may have one.
pub async fn terminate(session: &Session, budget: &Budget) -> Result<(), CdpError> {
    match session.call("Runtime.terminateExecution", json!({}), budget).await {
        Ok(_) => Ok(()),
        // One is under way already.
        Err(CdpError::Protocol { message, .. }) if message.contains("termination request") => Ok(()),
        Err(other) => Err(other),
    }
}

/// How many of the last timers are taken away: a page that made more since the one that holds it is
/// not helped by this.
const MOST: u32 = 200_000;

/// Ends what runs, and takes the page's timers and frame callbacks away so that they cannot run it
/// again. No script of the page runs meanwhile.
///
/// # Errors
/// Every [`CdpError`]. Scripts are allowed again in any case.
pub async fn end_timers(session: &Session, main_frame: &str, budget: &Budget) -> Result<(), CdpError> {
    let disabled = Disabled(session);
    // Answered once the page serves it, which it does after what runs was ended.
    let disabling = session.send("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
    terminate(session, budget).await?;
    budget
        .run(disabling)
        .await
        .map_err(|spent| spent_on("Emulation.setScriptExecutionDisabled", spent))??;
    // The page may have its own idea of what clears a timer.
    let world = isolated::world(session, main_frame, budget).await?;
    let clear = json!({ "expression": clear(), "contextId": world, "returnByValue": true });
    session.call("Runtime.evaluate", clear, budget).await?;
    drop(disabled);
    Ok(())
}

fn spent_on(method: &str, spent: tabvisor_cdp::budget::Spent) -> CdpError {
    CdpError::spent(method, spent)
}

fn clear() -> String {
    format!(
        "(() => {{
            const last = setTimeout(() => {{}}, 0);
            for (let id = last; id > 0 && id > last - {MOST}; id--) {{ clearTimeout(id); clearInterval(id); }}
            const frame = requestAnimationFrame(() => {{}});
            for (let id = frame; id > 0 && id > frame - {MOST}; id--) cancelAnimationFrame(id);
            return last;
        }})()"
    )
}

/// Scripts are disabled until this is dropped, however that comes about.
struct Disabled<'a>(&'a Session);

impl Drop for Disabled<'_> {
    fn drop(&mut self) {
        self.0.cast("Emulation.setScriptExecutionDisabled", json!({ "value": false }));
    }
}
