//! The page that an action is on, and what ends every wait on it.

use std::future::Future;

use tokio::sync::watch;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Session;

use super::error::ActError;
use crate::condition::{Condition, Hindrance, hindered};
use crate::frame_sessions::FrameSessions;
use crate::refs::FrameId;

/// The page that an action is on.
#[derive(Clone, Debug)]
pub struct ActPage {
    /// Its session, with the Page domain enabled.
    pub session: Session,
    /// Its main frame.
    pub main: FrameId,
    /// The sessions of its frames in processes of their own.
    pub frames: FrameSessions,
    /// Published by the tab's watcher.
    pub condition: watch::Receiver<Condition>,
}

impl ActPage {
    /// The session of the process whose topmost frame is `process`; none: the page's own.
    pub(super) fn session_of(&self, process: Option<&FrameId>) -> Option<Session> {
        match process {
            None => Some(self.session.clone()),
            Some(process) => {
                self.frames.all().into_iter().find(|(frame, _)| frame == process).map(|(_, session)| session)
            }
        }
    }

    /// Runs `work` unless a dialog is open or the renderer is dead, and until one of the two
    /// happens or the budget is spent. Nothing of `work` begins if it may not.
    ///
    /// # Errors
    /// Those of `work`; [`ActError::Dialog`], [`ActError::Crashed`], [`ActError::TimedOut`],
    /// [`ActError::Aborted`].
    pub async fn during<T>(
        &self,
        budget: &Budget,
        work: impl Future<Output = Result<T, ActError>>,
    ) -> Result<T, ActError> {
        budget.check().map_err(|spent| ActError::spent(budget, spent))?;
        let mut condition = self.condition.clone();
        tokio::select! {
            biased;
            error = bad_news(&mut condition) => Err(error),
            done = work => done,
            spent = budget.spent() => Err(ActError::spent(budget, spent)),
        }
    }
}

/// Completes when a dialog is open or the renderer is dead.
pub(super) async fn bad_news(condition: &mut watch::Receiver<Condition>) -> ActError {
    match hindered(condition).await {
        Hindrance::Dialog(dialog) => ActError::Dialog(dialog),
        Hindrance::Crashed => ActError::Crashed { sent: false },
    }
}
