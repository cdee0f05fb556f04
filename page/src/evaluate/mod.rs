//! One script, one answer, inside its budget.
//!
//! [`run()`] sends a script on its own session between two markers and races its answer against the
//! budget, cancellation, a dialog and the loss of the renderer or link. It always gives exactly
//! one [`Answered`], which also says whether the link may serve again.

mod call;
mod checks;
mod counts;
mod ending;
mod outcome;
mod phase;
mod run;
mod site;
mod source;
mod value;
mod wait;
mod went_on;

use tokio::time::Instant;
use url::Url;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{DialOptions, Link, LinkOptions, Session};

use crate::clock::{self, PageClock, READ_CLOCK};
use crate::refs::FrameId;

pub use counts::ScriptCounts;
pub use ending::Ending;
pub use outcome::{BlockedBy, EvaluateError, Expiry};
pub use phase::Phase;
pub use run::{Answered, Surroundings, run};
pub use value::{Missing, Thrown, Value};
pub use went_on::WentOn;

/// What to evaluate.
#[derive(Clone, Debug)]
pub struct Script {
    /// A function, an expression, or the body of an async function.
    pub text: String,
    /// Largest result in bytes of JSON; a larger one is named, not sent.
    pub max_result_bytes: usize,
    /// What it gets as `el`; without one it runs in the main frame and gets nothing.
    pub element: Option<Element>,
}

/// An element to run a script on, in its own frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its DOM node.
    pub backend_node_id: i64,
    /// The target of its process, where its frame does not live in the page's own.
    pub frame_target: Option<FrameId>,
}

/// A link of its own for evaluates on one target.
///
/// A session that was attached before a page got stuck can end its scripts; one attached
/// afterwards cannot (measured). So links are attached in advance.
#[derive(Debug)]
pub struct EvaluateLink {
    link: Link,
    session: Session,
    /// The page answered on this session once, so it is known to the renderer.
    warm: bool,
    clock: Option<PageClock>,
    /// A session on a frame in a process of its own, once one was needed.
    frame: Option<(FrameId, Session)>,
}

impl EvaluateLink {
    /// Dials and attaches. Chromium answers this even for a page that is stuck.
    ///
    /// # Errors
    /// Whatever ends a call; [`CdpError::Connect`].
    pub async fn dial(
        browser: &Url,
        dial: &DialOptions,
        options: LinkOptions,
        target_id: &str,
        budget: &Budget,
    ) -> Result<Self, CdpError> {
        let link = Link::connect(browser, dial, options, budget).await?;
        let session = link.attach(target_id, budget).await?;
        Ok(Self::new(link, session))
    }

    /// A session on a page, over a link that is for nothing else.
    pub fn new(link: Link, session: Session) -> Self {
        Self { link, session, warm: false, clock: None, frame: None }
    }

    /// Waits until the page has answered on this session, and reads its clock. On a stuck page
    /// this ends with the budget.
    ///
    /// # Errors
    /// Whatever ends a call.
    pub async fn warm_up(&mut self, budget: &Budget) -> Result<(), CdpError> {
        let params = serde_json::json!({ "expression": READ_CLOCK, "returnByValue": true });
        let reply = self.session.call("Runtime.evaluate", params, budget).await?;
        self.clock = clock::read_answer(&reply, Instant::now());
        self.warm = true;
        Ok(())
    }

    /// The session on a frame that lives in a process of its own. One that is attached to a frame
    /// that is already stuck can neither end its script nor tell what holds it.
    async fn frame_session(&mut self, target: &FrameId, budget: &Budget) -> Result<Session, CdpError> {
        if let Some((_, session)) = self.frame.as_ref().filter(|(frame, _)| frame == target) {
            return Ok(session.clone());
        }
        let session = self.link.attach(target, budget).await?;
        if let Some((_, unused)) = self.frame.replace((FrameId::clone(target), session.clone())) {
            self.link.root().cast("Target.detachFromTarget", serde_json::json!({ "sessionId": unused.id() }));
        }
        Ok(session)
    }

    /// A marker was answered on this session: the renderer knows it, and the page's clock is this.
    fn is_answered(&mut self, clock: Option<PageClock>) {
        self.warm = true;
        self.clock = clock.or(self.clock);
    }

    /// The page's clock, once read.
    pub fn clock(&self) -> Option<PageClock> {
        self.clock
    }

    /// Whether the link is gone.
    pub fn is_closed(&self) -> bool {
        self.link.is_closed()
    }
}
