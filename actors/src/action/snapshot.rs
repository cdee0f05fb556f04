//! Reading the page: snapshots, and elements found by what a snapshot said of them.

use std::future::Future;
use std::sync::{Arc, MutexGuard, PoisonError};

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_page::refs::{Match, RefId, StaleReason, StaleRef};
use tabvisor_page::snapshot::{Memory, Request, Snapshot, SnapshotError, Taken, find_in};

use super::Stage;
use crate::error::TabError;
use crate::shared::TabShared;

/// Reads the page as `request` asks for it.
pub(super) async fn take(stage: &Stage, request: Request, budget: &Budget) -> Result<Snapshot, TabError> {
    let taken = read(stage, request, budget).await?;
    let tab = Arc::clone(&stage.tab);
    // A large page takes its time; other tabs' work must not wait for it.
    let rendered = tokio::task::spawn_blocking(move || memory(&tab).render(&taken)).await;
    let rendered = rendered.map_err(|why| TabError::Internal(why.to_string()))?;
    Ok(rendered?)
}

/// The DOM node of the only element with the role, name and place of a ref, in the ref's frame.
pub(super) async fn find(stage: &Stage, id: RefId, budget: &Budget) -> Result<i64, TabError> {
    let text = id.to_string();
    let wanted = memory(&stage.tab).resolve(&text).cloned()?;
    let taken = read(stage, Request::default(), budget).await?;
    let capture = taken.capture();
    let stale = |reason| Err(StaleRef::new(&text, reason).into());
    if capture.documents.main_document() != &wanted.main_document {
        return stale(StaleReason::DocumentChanged);
    }
    let frame =
        capture.frames.iter().find(|frame| frame.id == wanted.frame && frame.document == wanted.document);
    let Some(frame) = frame else { return stale(StaleReason::FrameChanged) };
    match find_in(frame, &wanted.role, &wanted.name, wanted.place) {
        // Where its node is known it has to be that one: a ref never names another element.
        Match::One(Some(node)) if wanted.backend_node_id.is_none_or(|known| known == node) => Ok(node),
        Match::One(_) | Match::Nothing => stale(StaleReason::NodeDetached),
        Match::Ambiguous { count } => Err(TabError::Ambiguous {
            r#ref: text,
            role: wanted.role.into(),
            name: wanted.name.into(),
            count,
        }),
    }
}

async fn read(stage: &Stage, request: Request, budget: &Budget) -> Result<Taken, TabError> {
    let Stage { tab, session, frames } = stage;
    let stuck = *tab.stuck.borrow();
    if let Some(stuck) = stuck {
        return Err(stuck.refusal(tab.id));
    }
    let plan = memory(tab).begin(request)?;
    let children = frames.all();
    unless_hindered(tab, plan.read(session, &children, budget)).await
}

/// Waits for the page, but not behind a dialog, for a dead renderer, or once the page is known to
/// be stuck.
async fn unless_hindered<T>(
    tab: &TabShared,
    work: impl Future<Output = Result<T, SnapshotError>>,
) -> Result<T, TabError> {
    let mut condition = tab.condition.subscribe();
    let mut stuck = tab.stuck.subscribe();
    tokio::select! {
        biased;
        now = condition.wait_for(|now| now.crashed || now.dialog.is_some()) => match now.map(|now| now.dialog.clone()) {
            Ok(Some(dialog)) => Err(TabError::Dialog(dialog)),
            _ => Err(CdpError::Crashed.into()),
        },
        now = stuck.wait_for(Option::is_some) => match now.ok().and_then(|now| *now) {
            Some(stuck) => Err(stuck.refusal(tab.id)),
            None => Err(TabError::TabClosed { tab: tab.id }),
        },
        done = work => Ok(done?),
    }
}

fn memory(tab: &TabShared) -> MutexGuard<'_, Memory> {
    tab.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
}
