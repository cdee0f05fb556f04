//! A script that went on after its answer: an expired or cancelled one with a promise outstanding.
//!
//! Nothing of it runs at the moment, so there is nothing to terminate; but its continuation may
//! run at any time. Its link is kept until its own late answer says that it is over. A *cancelled*
//! one is also ended: with a breakpoint on every statement of its text, the next statement that
//! runs is known to be its own, and only that is terminated. Known defect: a
//! termination also drops the microtasks queued in the page, a neighbour's answer among them. (Measured: 8 ms, and 78 ms on a page
//! with 2 MB of other scripts; the page's timers and neighbours' scripts go on.)

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Event, Events, Reply, Session};

use super::{EvaluateLink, source};

/// A script with a promise outstanding, on its own link.
#[derive(Debug)]
pub struct WentOn {
    link: EvaluateLink,
    answer: Reply,
    url: String,
    /// It was cancelled before its turn came.
    before_its_turn: Option<Markers>,
}

/// The replies that tell where a script is that had not started.
#[derive(Debug)]
struct Markers {
    turn: Option<Reply>,
    sync_over: Option<Reply>,
}

/// How long to wait for its next statement; a promise that never settles has none.
const NEXT_STATEMENT: Duration = Duration::from_secs(10);
/// A timer of its is ended each time it comes, but not for longer than this.
const LONGEST_WATCH: Duration = Duration::from_mins(1);
/// How long setting the breakpoints may take.
const SET_UP: Duration = Duration::from_secs(5);
/// A script that is over within this time needs no ending.
const SHORT_SCRIPT: Duration = Duration::from_millis(20);
/// More statements than this are not watched.
const MOST_BREAKPOINTS: usize = 500;

const EVENTS: &[&str] = &["Debugger.scriptParsed", "Debugger.paused"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScriptParsed {
    script_id: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    call_frames: Vec<CallFrame>,
}

#[derive(Deserialize)]
struct CallFrame {
    location: Location,
}

#[derive(Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    script_id: String,
    line_number: u64,
    column_number: Option<u64>,
}

#[derive(Deserialize)]
struct Locations {
    locations: Vec<Location>,
}

impl WentOn {
    pub(super) fn new(link: EvaluateLink, answer: Reply, url: String) -> Self {
        Self { link, answer, url, before_its_turn: None }
    }

    pub(super) fn waiting(
        link: EvaluateLink,
        turn: Option<Reply>,
        answer: Reply,
        sync_over: Option<Reply>,
        url: String,
    ) -> Self {
        Self { link, answer, url, before_its_turn: Some(Markers { turn, sync_over }) }
    }

    /// Completes when it is over: its late answer came (and is dropped), its document went away,
    /// or its link did.
    pub async fn over(self) {
        let _ = self.answer.await;
    }

    /// Ends it: at once when its turn comes, if that was still to come, and at its next statement
    /// from then on. Completes when it is over or ended, or when no statement of its ran for a
    /// while; says whether one was ended.
    pub async fn end(self) -> bool {
        let Self { link, mut answer, url, before_its_turn } = self;
        let session = &link.session;
        if let Some(markers) = before_its_turn {
            tokio::select! {
                biased;
                // It refused to start, its document or its link went away.
                _ = &mut answer => return false,
                () = end_in_its_turn(session, markers) => {}
            }
        }
        let ended = tokio::select! {
            _ = answer => false,
            ended = end_at_next_statement(session, &url) => ended.unwrap_or_else(|error| {
                tracing::debug!(%error, "a cancelled script could not be ended");
                false
            }),
        };
        // Only its answer shows that nothing of the page stays paused when the link is dropped.
        let _ = session.call("Debugger.disable", json!({}), &Budget::new(SET_UP)).await;
        ended
    }
}

/// Completes when the script's synchronous part is over: by itself, or because it was ended. While
/// the marker behind it is not answered, the script is what runs, so ending it is exact.
async fn end_in_its_turn(session: &Session, markers: Markers) {
    let Markers { turn, sync_over } = markers;
    if let Some(turn) = turn {
        let _ = turn.await;
    }
    let Some(mut sync_over) = sync_over else { return };
    let mut patience = SHORT_SCRIPT;
    while tokio::time::timeout(patience, &mut sync_over).await.is_err() {
        session.cast("Runtime.terminateExecution", json!({}));
        // What this cannot end, a second time soon after will not end either.
        patience *= 4;
    }
}

async fn end_at_next_statement(session: &Session, url: &str) -> Result<bool, CdpError> {
    let set_up = Budget::new(SET_UP);
    let mut events = session.subscribe(EVENTS, 1 << 14);
    session.call("Debugger.enable", json!({}), &set_up).await?;
    // Every script of the page was announced before that answer.
    let Some(script) = announced(&mut events, url) else { return Ok(false) };
    let from = json!({ "scriptId": script, "lineNumber": source::first_line_of_text(), "columnNumber": 0 });
    let found: Locations =
        session.call_as("Debugger.getPossibleBreakpoints", json!({ "start": from }), &set_up).await?;
    let mut replies = Vec::new();
    for location in found.locations.iter().take(MOST_BREAKPOINTS) {
        replies.push(session.send("Debugger.setBreakpoint", json!({ "location": location })).await?);
    }
    for reply in replies {
        set_up.run(reply).await.map_err(|spent| CdpError::spent("Debugger.setBreakpoint", spent))??;
    }
    let mut ended = false;
    let latest = Instant::now() + LONGEST_WATCH;
    let mut until = Instant::now() + NEXT_STATEMENT;
    // A timer of its comes again and again; each time it is ended, and the page is watched on.
    while let Ok(Some(delivery)) = tokio::time::timeout_at(until, events.next()).await {
        let Delivery::Event(event) = delivery else { continue };
        let Some(own) = paused_in(&event, &script) else { continue };
        if own {
            ended = true;
            until = latest.min(Instant::now() + NEXT_STATEMENT);
            // Not waited for: it is answered only once the page goes on.
            session.cast("Runtime.terminateExecution", json!({}));
        }
        // A `debugger` statement of the page must not hold it either.
        session.cast("Debugger.resume", json!({}));
    }
    Ok(ended)
}

/// The id of the script that is called `url`, among those announced so far.
fn announced(events: &mut Events, url: &str) -> Option<String> {
    while let Some(delivery) = events.try_next() {
        let Delivery::Event(event) = delivery else { continue };
        if event.method.as_ref() != "Debugger.scriptParsed" {
            continue;
        }
        match serde_json::from_str::<ScriptParsed>(event.params.get()) {
            Ok(script) if script.url == url => return Some(script.script_id),
            _ => {}
        }
    }
    None
}

/// For a pause: whether what runs was started by the script. The outermost frame tells: a page or
/// another script that calls a function of its is not to be ended.
fn paused_in(event: &Event, script: &str) -> Option<bool> {
    if event.method.as_ref() != "Debugger.paused" {
        return None;
    }
    let paused: Paused = serde_json::from_str(event.params.get()).ok()?;
    Some(paused.call_frames.last().is_some_and(|frame| frame.location.script_id == script))
}
