//! Reading the page: snapshots, and elements found by what a snapshot said of them.

use std::sync::Arc;

use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::ActError;
use tabvisor_page::refs::{Match, RefId, StaleReason, StaleRef};
use tabvisor_page::snapshot::{Request, Snapshot, Taken, find_in};
use tokio::time::Instant;

use super::Stage;
use crate::error::TabError;

/// Reads the page as `request` asks for it.
pub(super) async fn take(stage: &Stage, request: Request, budget: &Budget) -> Result<Snapshot, TabError> {
    let begun = Instant::now();
    let taken = read(stage, request, budget).await?;
    let nodes: usize = taken.capture().frames.iter().map(|frame| frame.tree.nodes.len()).sum();
    let tab = Arc::clone(&stage.tab);
    // A large page takes its time; other tabs' work must not wait for it.
    let rendered = tokio::task::spawn_blocking(move || tab.memory().render(&taken)).await;
    let rendered = rendered.map_err(|why| TabError::Internal(why.to_string()))?;
    let snapshot = rendered?;
    metrics::histogram!("tabvisor_snapshot_duration_seconds").record(begun.elapsed().as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "a page has no 2^52 nodes")]
    metrics::histogram!("tabvisor_snapshot_nodes").record(nodes as f64);
    Ok(snapshot)
}

/// The DOM node of the only element with the role, name and place of a ref, in the ref's frame.
pub(super) async fn find(stage: &Stage, id: RefId, budget: &Budget) -> Result<i64, TabError> {
    let text = id.to_string();
    let wanted = stage.tab.memory().resolve(&text).cloned()?;
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

/// The DOM node of the first element in the main frame that matches.
pub(super) async fn first_match(stage: &Stage, selector: &str, budget: &Budget) -> Result<i64, TabError> {
    let request = Request { selector: Some(selector.to_owned()), ..Request::default() };
    let taken = read(stage, request, budget).await?;
    let capture = taken.capture();
    let scope = capture.scope.as_ref().and_then(|scope| Some((scope.frame?, *scope.roots.first()?)));
    let node = scope.and_then(|(frame, root)| capture.frames[frame].tree.nodes[root].backend_node_id);
    node.ok_or_else(|| ActError::NoMatch(selector.chars().take(80).collect()).into())
}

async fn read(stage: &Stage, request: Request, budget: &Budget) -> Result<Taken, TabError> {
    let plan = stage.tab.memory().begin(request)?;
    let children = stage.frames.all();
    stage.unless_hindered(plan.read(&stage.session, &children, budget)).await
}
