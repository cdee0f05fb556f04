//! Which process renders a page.

use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Session};

/// A trace that has just begun names the frames of its page; nothing else is wanted of it.
const CATEGORY: &str = "disabled-by-default-devtools.timeline";

#[derive(Deserialize)]
struct Collected {
    value: Vec<Entry>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    args: Args,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    data: Data,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    frames: Vec<FrameEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameEntry {
    frame: String,
    process_id: Option<u32>,
}

/// The process id of the page's renderer as the browser knows it, by a trace on a session of the page,
/// which may be a new one and the page stuck. `None` where the trace does not tell.
///
/// Chromium has one trace at a time: who calls sees to it that there is no other.
///
/// # Errors
/// Every [`CdpError`]; another client's trace is a refusal.
pub async fn process_of(
    session: &Session,
    main_frame: &str,
    budget: &Budget,
) -> Result<Option<u32>, CdpError> {
    let mut events = session.subscribe(&["Tracing.dataCollected", "Tracing.tracingComplete"], 1024);
    let config = json!({
        "traceConfig": { "includedCategories": [CATEGORY] },
        "transferMode": "ReportEvents",
    });
    session.call("Tracing.start", config, budget).await?;
    // It ends with this future, too.
    let ending = Ending(session);
    session.call("Tracing.end", json!({}), budget).await?;
    std::mem::forget(ending);
    let look = async {
        while let Some(delivery) = events.next().await {
            let Delivery::Event(event) = delivery else { continue };
            if &*event.method == "Tracing.tracingComplete" {
                break;
            }
            let Ok(collected) = serde_json::from_str::<Collected>(event.params.get()) else { continue };
            let frames = collected.value.into_iter().flat_map(|entry| entry.args.data.frames);
            if let Some(pid) = frames.filter(|it| it.frame == main_frame).find_map(|it| it.process_id) {
                return Some(pid);
            }
        }
        None
    };
    budget.run(look).await.map_err(|spent| CdpError::spent("Tracing.end", spent))
}

/// Ends the trace when dropped.
struct Ending<'a>(&'a Session);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.cast("Tracing.end", json!({}));
    }
}
