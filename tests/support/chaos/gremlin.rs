//! What happens to pages without anybody asking: their renderers die, dialogs open, scripts loop.

use std::time::Duration;

use serde_json::json;
use tabvisor::Tabvisor;
use tokio::time::Instant;
use url::Url;

use super::super::{ms, raw};

const MISCHIEF: [&str; 4] = [
    "setTimeout(() => alert('by the page'), 0)",
    "setTimeout(() => { const end = performance.now() + 700; while (performance.now() < end); }, 0)",
    "setTimeout(() => { location.reload() }, 0)",
    "setTimeout(() => { while (true); }, 0)",
];

/// Haunts one tab after the other until `end`.
pub async fn haunt(tabvisor: Tabvisor, address: Url, mut rng: fastrand::Rng, end: Instant) {
    let link = raw::connect(&address).await;
    while Instant::now() < end {
        tokio::time::sleep(ms(rng.u64(150..600))).await;
        let rows = tabvisor.tabs();
        if rows.is_empty() {
            continue;
        }
        let target = rows[rng.usize(..rows.len())].target_id.clone();
        let Ok(session) = link.attach(&target, &raw::budget()).await else { continue };
        // Of a page that is stuck or dead already there is no answer to wait for.
        let brief = tabvisor::Budget::new(Duration::from_millis(200));
        if rng.u8(..5) == 0 {
            let sent = session.call("Page.crash", json!({}), &brief).await;
            tracing::debug!(?sent, "crash");
        } else {
            let script = raw::script(rng.choice(MISCHIEF).unwrap());
            let _ = session.call("Runtime.evaluate", script, &brief).await;
        }
        let _ =
            link.root().call("Target.detachFromTarget", json!({ "sessionId": session.id() }), &brief).await;
    }
}
