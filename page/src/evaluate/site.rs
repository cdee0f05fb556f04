//! Where a script runs: in the page's main frame, or on an element in its own frame.

use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::call::expired;
use super::outcome::EvaluateError;
use super::phase::Phase;
use super::run::Surroundings;
use super::wait::bad_news;
use super::{Element, EvaluateLink};
use crate::isolated::Resolved;
use crate::refs::StaleReason;

/// Where a script runs.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) session: Session,
    /// The element, as an object of the page.
    pub(super) object: Option<String>,
}

impl Site {
    /// Finds the element, if there is one; a page that is busy answers that when it can.
    pub(super) async fn find(
        link: &mut EvaluateLink,
        element: Option<&Element>,
        around: &Surroundings,
        budget: &Budget,
    ) -> Result<Self, EvaluateError> {
        let Some(element) = element else {
            return Ok(Self { session: link.session.clone(), object: None });
        };
        let mut condition = around.condition.clone();
        tokio::select! {
            biased;
            found = resolve(link, element, budget) => found,
            error = bad_news(&mut condition) => Err(error),
        }
    }

    /// The page may forget the element.
    pub(super) fn release(&self) {
        if let Some(object) = &self.object {
            self.session.cast("Runtime.releaseObject", json!({ "objectId": object }));
        }
    }
}

async fn resolve(link: &mut EvaluateLink, element: &Element, budget: &Budget) -> Result<Site, EvaluateError> {
    let of_frame = element.frame_target.is_some();
    let resolved = async {
        let session = match &element.frame_target {
            Some(target) => link.frame_session(target, budget).await?,
            None => link.session.clone(),
        };
        let node = json!({ "backendNodeId": element.backend_node_id });
        let node: Resolved = session.call_as("DOM.resolveNode", node, budget).await?;
        Ok(Site { session, object: Some(node.into_object_id()) })
    };
    resolved.await.map_err(|error| match error {
        // What it names is gone.
        CdpError::Protocol { .. } | CdpError::Detached { .. } if of_frame => {
            EvaluateError::Stale(StaleReason::FrameChanged)
        }
        CdpError::Protocol { .. } => EvaluateError::Stale(StaleReason::NodeDetached),
        CdpError::Spent { .. } => expired(budget, Phase::Waiting, false),
        other => other.into(),
    })
}
