//! Action: one ordered piece of work on the page session.
//!
//! Purpose: navigates, reads snapshots, clicks, types, ... while its tab takes
//! other messages.
//!
//! ```text
//!   spawned --> at work --> done: outcome in the exit event
//!                  |
//!                  +--budget spent, cancelled, dialog, crash: an honest answer, still by itself
//! ```
//!
//! Supervised by: [`Tab`](crate::tab); temporary, at most one alive per tab.
//!
//! It never: outlives its budget (it is killed a moment after), owns the page link.

mod act;
mod files;
mod navigate;
mod page;
mod screenshot;
mod snapshot;
mod wait;

use std::future::Future;
use std::sync::Arc;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;
use tabvisor_page::act::Files;
use tabvisor_page::condition::{Hindrance, hindered};
use tabvisor_page::content::{self, Content};
use tabvisor_page::emulation::Setting;
use tabvisor_page::frame_sessions::FrameSessions;
use tabvisor_page::navigate::{Landed, Move, WaitUntil};
use tabvisor_page::refs::RefId;
use tabvisor_page::screenshot::Labelled;
use tabvisor_page::snapshot::{Request, Snapshot};
use url::Url;

pub use self::act::{Act, Acted, At, Named, OpenedTab};
pub(crate) use self::files::Armed;
pub use self::files::UploadTo;
pub(crate) use self::navigate::shown;
pub use self::screenshot::{Screenshot, ScreenshotRequest, ShotOf};
pub(crate) use self::wait::elapsed_ms;
pub use self::wait::{Held, Wait, Waited};
use crate::error::TabError;
use crate::files::Download;
use crate::shared::TabShared;

/// What can be done in order.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Load an address.
    Navigate { url: Url, until: WaitUntil },
    /// Go back or forward, or load again.
    Go { to: Move, until: WaitUntil },
    /// Read the page.
    Snapshot(Request),
    /// Take a picture.
    Screenshot(ScreenshotRequest),
    /// Do something as a user would.
    Act(Box<Act>),
    /// Give files to the page.
    Upload(Box<(UploadTo, Files)>),
    /// Have the browser download the document, if it has this address.
    SaveDocument(String),
    /// Make a PDF.
    Pdf,
    /// Set something on the page.
    Emulate(Setting),
    /// Read or write what the page holds.
    Content(Content),
    /// Wait for what a page shows.
    Wait(Box<Wait>),
    /// Find the element of a ref by its role, name and place.
    Find(RefId),
}

/// What it gave.
#[derive(Debug)]
pub(crate) enum Done {
    Landed(Landed),
    /// The address gave no document but a download.
    Download(Box<Download>),
    /// A chooser is waited for; only its tab takes what waits.
    Armed(Option<Box<Armed>>),
    Pdf(Vec<u8>),
    /// With a picture, if labels were asked for.
    Snapshot(Box<(Snapshot, Option<Labelled>)>),
    Screenshot(Box<Screenshot>),
    Acted(Box<Acted>),
    Emulated,
    Held(content::Held),
    Waited(Vec<Held>),
    /// The element's DOM node.
    Found(i64),
    /// Nothing: its actor ended before its turn came.
    NotStarted,
}

impl Action {
    /// Its name, for logs and metrics.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Navigate { .. } => "navigate",
            Self::Go { to, .. } => to.name(),
            Self::Snapshot(_) => "snapshot",
            Self::Screenshot(_) => "screenshot",
            Self::Act(act) => act.name(),
            Self::Upload(_) => "upload",
            Self::SaveDocument(_) => "save_document",
            Self::Pdf => "pdf",
            Self::Emulate(_) => "emulate",
            Self::Content(content) => content.name(),
            Self::Wait(_) => "wait",
            Self::Find(_) => "find",
        }
    }

    /// It only looks. It begins in its turn, and then lets others pass: what it waits for may be
    /// what they bring about.
    pub(crate) fn lets_pass(&self) -> bool {
        matches!(self, Self::Wait(_))
    }
}

/// The page that is acted on.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) tab: Arc<TabShared>,
    pub(crate) session: Session,
    pub(crate) frames: FrameSessions,
}

impl Stage {
    /// Waits for the page, but not behind a dialog, for a dead renderer, or once the page is known
    /// to be stuck.
    async fn unless_hindered<T, E: Into<TabError>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, TabError> {
        let tab = &self.tab;
        let mut condition = tab.condition.subscribe();
        let mut stuck = tab.stuck.subscribe();
        tokio::select! {
            biased;
            hindrance = hindered(&mut condition) => Err(match hindrance {
                Hindrance::Dialog(dialog) => TabError::Dialog(dialog),
                Hindrance::Crashed => CdpError::Crashed.into(),
            }),
            now = stuck.wait_for(|now| now.is_some_and(|stuck| stuck.proven)) => match now.ok().and_then(|now| *now) {
                Some(stuck) => Err(stuck.refusal(tab.id)),
                None => Err(TabError::TabClosed { tab: tab.id }),
            },
            done = work => done.map_err(Into::into),
        }
    }
}

/// Does `action` on the page session.
pub(crate) async fn perform(stage: Stage, action: Action, budget: Budget) -> Result<Done, TabError> {
    match action {
        Action::Navigate { url, until } => navigate::navigate(&stage, &url, until, &budget).await,
        Action::Go { to, until } => navigate::go(&stage, to, until, &budget).await.map(Done::Landed),
        Action::Snapshot(request) => {
            let labels = request.labels;
            let snapshot = snapshot::take(&stage, request, &budget).await?;
            let picture = if labels {
                Some(Box::pin(screenshot::of_snapshot(&stage, &snapshot, &budget)).await?)
            } else {
                None
            };
            Ok(Done::Snapshot(Box::new((snapshot, picture))))
        }
        Action::Screenshot(request) => {
            let shot = Box::pin(screenshot::take(&stage, request, &budget)).await;
            shot.map(|it| Done::Screenshot(Box::new(it)))
        }
        Action::Act(what) => {
            // Large: it holds the way of every kind of action.
            let acted = Box::pin(act::act(&stage, *what, &budget)).await;
            acted.map(|it| Done::Acted(Box::new(it)))
        }
        Action::Upload(upload) => {
            let (to, given) = *upload;
            Box::pin(files::upload(&stage, to, &given, &budget)).await
        }
        Action::SaveDocument(expected) => {
            let acted = Box::pin(files::save_document(&stage, &expected, &budget)).await;
            acted.map(|it| Done::Acted(Box::new(it)))
        }
        Action::Pdf => files::print(&stage, &budget).await.map(Done::Pdf),
        Action::Emulate(setting) => page::emulate(&stage, setting, &budget).await.map(|()| Done::Emulated),
        Action::Content(content) => page::content(&stage, &content, &budget).await.map(Done::Held),
        Action::Wait(what) => Box::pin(wait::wait(&stage, *what, &budget)).await.map(Done::Waited),
        Action::Find(id) => snapshot::find(&stage, id, &budget).await.map(Done::Found),
    }
}
