//! Ending the renderer through Chromium.

use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Delivery, Session};

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The renderer is dead.
    Dead,
    /// Chromium would not, in its words: a navigation is pending.
    Refused(String),
    /// Nothing happened in time: the process is stopped.
    Silent,
}

/// Ends the renderer of the page. Chromium never answers the command itself; the crash is the
/// answer.
///
/// # Errors
/// The link or the session is gone.
pub async fn crash(session: &Session, budget: &Budget) -> Result<Crash, CdpError> {
    let mut events = session.subscribe(&["Inspector.targetCrashed"], 8);
    let reply = session.send("Page.crash", json!({})).await?;
    let outcome = budget.run(async {
        tokio::select! {
            biased;
            delivery = events.next() => match delivery {
                Some(Delivery::Event(_) | Delivery::Lagged { .. }) => Ok(Crash::Dead),
                None => Err(CdpError::LinkClosed(session.link_closed().await)),
            },
            answer = reply => match answer {
                Ok(_) | Err(CdpError::Crashed) => Ok(Crash::Dead),
                Err(CdpError::Protocol { message, .. }) => Ok(Crash::Refused(message)),
                Err(other) => Err(other),
            },
        }
    });
    outcome.await.unwrap_or(Ok(Crash::Silent))
}
