//! A script that went on after its answer: an expired or cancelled one with a promise outstanding.
//!
//! Nothing of it runs at the moment, so there is nothing to terminate; but its continuation may
//! run at any time. Its link is kept until its own late answer says that it is over. A *cancelled*
//! one is also ended, at its next [check](super::checks).

use std::time::Duration;

use serde_json::json;

use tabvisor_cdp::link::{Reply, Session};

use super::ending::Ending;
use super::site::Site;
use super::{EvaluateLink, source};

/// A script with a promise outstanding, on its own link.
#[derive(Debug)]
pub struct WentOn {
    _link: EvaluateLink,
    site: Site,
    answer: Reply,
    /// Its name in the page, if its text has checks.
    url: Option<String>,
    /// It was cancelled before its turn came.
    before_its_turn: Option<Markers>,
}

/// The replies that tell where a script is that had not started.
#[derive(Debug)]
struct Markers {
    turn: Option<Reply>,
    sync_over: Option<Reply>,
}

/// A script that is over within this time needs no ending.
const SHORT_SCRIPT: Duration = Duration::from_millis(20);

impl WentOn {
    pub(super) fn new(link: EvaluateLink, site: Site, answer: Reply, url: Option<String>) -> Self {
        Self { _link: link, site, answer, url, before_its_turn: None }
    }

    pub(super) fn waiting(
        link: EvaluateLink,
        site: Site,
        turn: Option<Reply>,
        answer: Reply,
        sync_over: Option<Reply>,
        url: Option<String>,
    ) -> Self {
        Self { _link: link, site, answer, url, before_its_turn: Some(Markers { turn, sync_over }) }
    }

    /// Completes when it is over: its late answer came (and is dropped), its document went away,
    /// or its link did.
    pub async fn over(self) {
        let _ = self.answer.await;
    }

    /// Ends it: its synchronous part when its turn comes, if that was still to come, and what
    /// follows at its next check. Completes when it is over or ended; says whether it was ended.
    pub async fn end(self) -> bool {
        let Self { _link, site, mut answer, url, before_its_turn } = self;
        let session = &site.session;
        // Read behind its synchronous part, if that is still to come.
        let noted = url.and_then(|url| {
            let (method, params) = source::end(&url, site.object.as_deref());
            session.try_send(method, params).ok()
        });
        let ending = async {
            if let Some(markers) = before_its_turn {
                end_in_its_turn(session, markers).await;
            }
            match noted {
                Some(noted) => noted.await.is_ok(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            // It came to its end, refused to start, or its document or link went away.
            _ = &mut answer => false,
            ended = ending => ended,
        }
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
    let (mut patience, mut ending) = (SHORT_SCRIPT, None);
    let over = loop {
        if let Ok(over) = tokio::time::timeout(patience, &mut sync_over).await {
            break over;
        }
        session.cast("Runtime.terminateExecution", json!({}));
        ending.get_or_insert_with(|| Ending::sent("abort"));
        // What this cannot end, a second time soon after will not end either.
        patience *= 4;
    };
    if let Some(ending) = &mut ending {
        if over.is_ok() { ending.terminated() } else { ending.failed() }
    }
}
