//! File choosers: what a page opens to be given files.
//!
//! While choosers are caught, Chromium opens none and tells of the input instead; the page waits for
//! nothing. They are let go again when the [`Chooser`] is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Event, Events, Session};

use super::click::{Click, click};
use super::error::ActError;
use super::files::Files;
use super::node::Node;
use super::outcome::{Observed, Outcome};
use super::page::ActPage;
use super::target::{Place, Target};
use super::upload::give;

const OPENED: &[&str] = &["Page.fileChooserOpened"];
const SWITCH: &str = "Page.setInterceptFileChooserDialog";

/// Whose turn it is to catch the choosers of a page: the one who came last. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Turns(Arc<AtomicU64>);

/// Catches the file choosers of a page for as long as it lives.
#[derive(Debug)]
pub struct Chooser {
    page: ActPage,
    sessions: Vec<Session>,
    events: Events,
    turns: Turns,
    turn: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    frame_id: String,
    mode: String,
    backend_node_id: Option<i64>,
}

impl Chooser {
    /// From now on the page's choosers are caught, and nobody else catches them.
    ///
    /// # Errors
    /// Whatever ends a wait.
    pub async fn catch(page: &ActPage, turns: &Turns, budget: &Budget) -> Result<Self, ActError> {
        // What may not be done takes nobody's turn, and has nothing to take back.
        page.during(budget, std::future::ready(Ok(()))).await?;
        let children = page.frames.all().into_iter().map(|(_, session)| session);
        let sessions: Vec<_> = std::iter::once(page.session.clone()).chain(children).collect();
        let events = page.session.subscribe_link(OPENED, 16);
        let turn = turns.0.fetch_add(1, Ordering::Relaxed) + 1;
        let caught = Self { page: page.clone(), sessions, events, turns: turns.clone(), turn };
        page.during(budget, async {
            caught.page.session.call(SWITCH, json!({ "enabled": true }), budget).await?;
            for child in &caught.sessions[1..] {
                // A frame that is stuck does not answer it.
                drop(child.send(SWITCH, json!({ "enabled": true })).await?);
            }
            Ok(())
        })
        .await?;
        Ok(caught)
    }

    /// Waits for the next chooser and gives it `files`.
    ///
    /// # Errors
    /// Every [`ActError`]; [`ActError::TimedOut`] where none opens.
    pub async fn fill(&mut self, files: &Files, budget: &Budget) -> Result<Outcome, ActError> {
        let page = self.page.clone();
        let event = page.during(budget, self.next()).await?;
        self.give(&event, files, budget).await
    }

    async fn next(&mut self) -> Result<Event, ActError> {
        loop {
            match self.events.next().await {
                Some(Delivery::Event(event)) => return Ok(event),
                Some(Delivery::Lagged { .. }) => {}
                None => {
                    let closed = self.page.session.link_closed().await;
                    return Err(CdpError::LinkClosed(closed).into());
                }
            }
        }
    }

    async fn give(&self, event: &Event, files: &Files, budget: &Budget) -> Result<Outcome, ActError> {
        let opened: Opened = serde_json::from_str(event.params.get())
            .map_err(|why| ActError::Unreadable(format!("{}: {:?}", event.method, why.classify())))?;
        let Some(node) = opened.backend_node_id else {
            let why =
                "it was opened by no input (a file system access of the page), which cannot be given files";
            return Err(ActError::NotEditable { name: "file chooser".into(), why: why.into() });
        };
        files.check_count(opened.mode == "selectMultiple")?;
        let session = event
            .session
            .as_deref()
            .map_or_else(|| self.page.session.clone(), |id| self.page.session.sibling(id));
        let place = Place::On(Target::Css("file chooser".into()));
        let at = (session, opened.frame_id.into());
        let find = Node::resolve(&self.page, at, node, &place, budget);
        let node = self.page.during(budget, find).await?;
        give(&node, files, Observed::default(), budget).await
    }
}

impl Drop for Chooser {
    fn drop(&mut self) {
        if self.turns.0.load(Ordering::Relaxed) != self.turn {
            return;
        }
        for session in &self.sessions {
            session.cast(SWITCH, json!({ "enabled": false }));
        }
    }
}

/// Clicks on `place`, and gives `files` to the chooser that this opens.
///
/// # Errors
/// Every [`ActError`]. [`ActError::NoChooser`] where the click was seen to arrive and no chooser
/// opened.
pub async fn upload_by_click(
    page: &ActPage,
    place: &Place,
    files: &Files,
    turns: &Turns,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    // What is left at the end is for the answer that none opened.
    let work = budget.reserving(budget.cleanup_reserve());
    let mut chooser = Chooser::catch(page, turns, &work).await?;
    let clicked = click(page, place, &Click::default(), &work).await?;
    if clicked.observed.dialog.is_some() {
        return Ok(clicked);
    }
    match chooser.fill(files, &work).await {
        Ok(outcome) => {
            let Outcome { effect, route, observed } = outcome;
            let observed = Observed {
                input: observed.input,
                dialog: observed.dialog,
                ..merged(clicked.observed, observed.warnings)
            };
            Ok(Outcome { effect, route, observed })
        }
        Err(ActError::TimedOut { sent: false, elapsed, .. }) => {
            Err(ActError::NoChooser { name: place.name(), waited: elapsed })
        }
        Err(error) => Err(error.after_sending()),
    }
}

fn merged(mut clicked: Observed, warnings: Vec<&'static str>) -> Observed {
    clicked.warnings.extend(warnings);
    clicked
}
