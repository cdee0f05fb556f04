//! Where many elements are, in the viewport of the main frame.
//!
//! Rounds of commands, whatever the number of elements: the layout of every process; if elements
//! are in frames, the boxes of the elements that hold these frames, and before that, who holds
//! frames of other processes. Offsets of frames are added here and nowhere else.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Reply, Session};

use super::geometry::Rect;
use super::layout::{Found, LAYOUT, Layout, STYLES};
use super::owners::{self, Hangings};
use super::request::Page;
use crate::refs::FrameId;

/// Where an element is to be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its frame.
    pub frame: FrameId,
    /// The topmost frame of that frame's process; none for the page's own.
    pub target: Option<FrameId>,
    /// The element.
    pub backend_node_id: i64,
}

/// Where an element was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Where {
    /// Its box, in CSS pixels of the main frame's viewport.
    pub rect: Rect,
    /// The part of that box that the frames and the scrolling elements around it let be seen.
    pub shown: Option<Rect>,
}

/// What is known of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    /// It is there.
    Box(Where),
    /// It is in its document and has no box.
    NoBox,
    /// It is not in its frame any more.
    Gone,
    /// Its process did not answer in time.
    Unheard,
}

/// Most frames in processes of their own that are asked.
const MOST_PROCESSES: usize = 100;
/// How long these may take, all together.
const PATIENCE: Duration = Duration::from_secs(2);
const FRAMES: &str = "Page.getFrameTree";

/// One process and its layout.
pub(super) struct Process<'a> {
    pub(super) session: &'a Session,
    pub(super) budget: Budget,
    /// Its topmost frame; none for the page's own process.
    pub(super) top: Option<&'a FrameId>,
    /// The frame around that.
    pub(super) parent: Option<FrameId>,
    pub(super) layout: Layout,
}

/// Where these elements are; one answer for each, in their order. A frame in a process of its own
/// that does not answer costs its own elements only.
///
/// # Errors
/// Those of the page itself, and a link that closed.
pub async fn boxes(page: Page<'_>, spots: &[Spot], budget: &Budget) -> Result<Vec<Measured>, CdpError> {
    let processes = read(page, spots, budget).await?;
    let place = |spot: &Spot| {
        let process = processes.iter().position(|it| it.top == spot.target.as_ref())?;
        let found = *processes[process].layout.found.get(&spot.backend_node_id)?;
        let own = processes[process].layout.documents[found.document].frame == spot.frame;
        own.then_some((process, found))
    };
    let used: HashSet<_> = spots.iter().filter_map(place).map(|(at, found)| (at, found.document)).collect();
    let hangings = owners::read(&processes, used).await?;
    let measure = |spot: &Spot| {
        let Some(process) = processes.iter().find(|it| it.top == spot.target.as_ref()) else {
            let known = page.children.iter().any(|(frame, _)| Some(frame) == spot.target.as_ref());
            return if known { Measured::Unheard } else { Measured::Gone };
        };
        let there = process.layout.there.contains(&spot.backend_node_id);
        match place(spot) {
            Some((process, found)) => locate(&hangings, process, found),
            None if there && !process.layout.found.contains_key(&spot.backend_node_id) => Measured::NoBox,
            None => Measured::Gone,
        }
    };
    Ok(spots.iter().map(measure).collect())
}

fn locate(hangings: &Hangings, process: usize, found: Found) -> Measured {
    match hangings.of(process, found.document) {
        Some((map, room)) => {
            let shown = found.shown.map(|it| map.rect(it));
            let shown = shown.and_then(|it| room.map_or(Some(it), |room| it.within(room)));
            Measured::Box(Where { rect: map.rect(found.rect), shown })
        }
        // Its frame has no box, so nothing in it has.
        None => Measured::NoBox,
    }
}

/// The layouts of the page's process and, if elements in others are wanted, of all.
async fn read<'a>(page: Page<'a>, spots: &[Spot], budget: &Budget) -> Result<Vec<Process<'a>>, CdpError> {
    let wanted: HashSet<i64> = spots.iter().map(|it| it.backend_node_id).collect();
    let patience = budget.child(PATIENCE.min(budget.left() / 2));
    let main = ask(page.session, budget).await?;
    let elsewhere = spots.iter().any(|it| it.target.is_some());
    let mut asked = Vec::new();
    for (frame, session) in page.children.iter().filter(|_| elsewhere).take(MOST_PROCESSES) {
        if let Ok(replies) = ask(session, &patience).await {
            asked.push((frame, session, replies));
        }
    }
    let (layout, parent) = hear(main, &wanted, budget).await?;
    let mut processes =
        vec![Process { session: page.session, budget: budget.clone(), top: None, parent, layout }];
    for (top, session, replies) in asked {
        match hear(replies, &wanted, &patience).await {
            Ok((layout, parent)) => {
                processes.push(Process { session, budget: patience.clone(), top: Some(top), parent, layout });
            }
            Err(error @ CdpError::LinkClosed(_)) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(processes)
}

/// Asks one process, in one write.
async fn ask(session: &Session, budget: &Budget) -> Result<[Reply; 2], CdpError> {
    let (layout, frames) = (params(&json!({ "computedStyles": STYLES }))?, params(&json!({}))?);
    let sent = session.send_all([(LAYOUT, &*layout), (FRAMES, &*frames)]);
    budget.run(sent).await.map_err(|spent| CdpError::spent(LAYOUT, spent))?
}

fn params(value: &serde_json::Value) -> Result<Box<RawValue>, CdpError> {
    to_raw_value(value).map_err(|why| bad(LAYOUT, &why))
}

async fn hear(
    [layout, frames]: [Reply; 2],
    wanted: &HashSet<i64>,
    budget: &Budget,
) -> Result<(Layout, Option<FrameId>), CdpError> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Frames {
        frame_tree: Tree,
    }
    #[derive(serde::Deserialize)]
    struct Tree {
        frame: Frame,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Frame {
        parent_id: Option<Box<str>>,
    }
    let layout = budget.run(layout).await.map_err(|spent| CdpError::spent(LAYOUT, spent))??;
    let layout = Layout::read(layout.get(), wanted).map_err(|why| bad(LAYOUT, &why))?;
    let frames = budget.run(frames).await.map_err(|spent| CdpError::spent(FRAMES, spent))??;
    let frames: Frames = serde_json::from_str(frames.get()).map_err(|why| bad(FRAMES, &why))?;
    Ok((layout, frames.frame_tree.frame.parent_id.map(Arc::from)))
}

/// Category and place only: the text may quote page content.
pub(super) fn bad(method: &str, why: &serde_json::Error) -> CdpError {
    let why = format!("{:?} error at column {}", why.classify(), why.column());
    CdpError::BadReply { method: method.to_owned(), why }
}
