//! Evaluate: one script on a link of its own.
//!
//! Purpose: holds the link as a local of its future, so that ending this actor closes the socket.
//!
//! ```text
//!   (spare link) ----------------+
//!                                v
//!   no spare --> dialling --> running --> answered: outcome and, if clean, the link
//! ```
//!
//! Supervised by: [`Evaluates`](crate::evaluates); temporary, one per call, killed a moment after
//! its budget if it should not have answered by itself.
//!
//! It never: shares its link with another call in flight, ends a script that is not its own.

use std::sync::Arc;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Purpose;
use tabvisor_page::clock::PageClock;
use tabvisor_page::evaluate::{self, Answered, EvaluateLink, Script, Surroundings};

use crate::dial;
use crate::shared::TabShared;

/// Runs `script` on `link`, or on a new one.
pub(crate) async fn serve(
    tab: Arc<TabShared>,
    link: Option<EvaluateLink>,
    script: Script,
    clock: Option<PageClock>,
    budget: Budget,
) -> Answered {
    // A script may open a dialog, and one that nobody listens for can be answered by nobody.
    let mut control = tab.control.subscribe();
    match budget.run(control.wait_for(Option::is_some)).await {
        Ok(Ok(_)) => {}
        Ok(Err(_)) => {
            let gone = CdpError::Detached { reason: "the tab is gone".into() };
            return Answered::new(Err(gone.into()), link);
        }
        Err(spent) => return Answered::new(Err(CdpError::spent("connect", spent).into()), link),
    }
    let link = match link {
        Some(link) => link,
        None => match dial_answered(&tab, &budget).await {
            Ok(link) => link,
            Err(error) => return Answered::new(Err(error.into()), None),
        },
    };
    let around = Surroundings {
        condition: tab.condition.subscribe(),
        clock: clock.unwrap_or_else(PageClock::same_machine),
        scripts: Arc::clone(&tab.scripts),
    };
    evaluate::run(link, &script, around, &budget).await
}

/// Dials a link for evaluates on `tab` and attaches it; waits for a place among the dials.
pub(crate) async fn dial(tab: &TabShared, budget: &Budget) -> Result<EvaluateLink, CdpError> {
    let options = dial::options(tab, Purpose::Evaluate);
    let (link, session) = dial::attach(tab, options, budget).await?;
    Ok(EvaluateLink::new(link, session))
}

/// How long a page counts as just brought back.
const JUST: Duration = Duration::from_secs(1);
/// How long a link of such a page may take to be answered.
const ANSWER: Duration = Duration::from_millis(200);
/// How many links are tried.
const TRIES: usize = 3;

/// The same, but not with a link that is never answered: the renderer of a page that was just brought
/// back may not know a session that was attached at that moment (seen; not at will).
pub(crate) async fn dial_answered(tab: &TabShared, budget: &Budget) -> Result<EvaluateLink, CdpError> {
    for _ in 1..TRIES {
        let mut link = dial(tab, budget).await?;
        if !tab.was_revived_within(JUST) || link.warm_up(&budget.child(ANSWER)).await.is_ok() {
            return Ok(link);
        }
        tracing::debug!(tab = %tab.id, "a link of a page that was just brought back is not answered");
    }
    // It may only be busy.
    dial(tab, budget).await
}
