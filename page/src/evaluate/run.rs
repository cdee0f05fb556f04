//! Runs one script on its link: tries its forms, and says what became of script and link.

use std::sync::Arc;

use tokio::sync::watch;

use tabvisor_cdp::budget::Budget;

use super::call::{Call, Outcome, Remains};
use super::counts::ScriptCounts;
use super::outcome::EvaluateError;
use super::phase::Phase;
use super::site::Site;
use super::source::Form;
use super::value::Value;
use super::went_on::WentOn;
use super::{EvaluateLink, Script};
use crate::clock::PageClock;
use crate::condition::{Condition, Hindrance};

/// What an evaluate gave, and whether its link may serve again: never after an expiry, an abort,
/// a dialog or an error of the link.
#[derive(Debug)]
pub struct Answered {
    /// The value, or why there is none.
    pub outcome: Result<Value, EvaluateError>,
    /// The link, if it is clean.
    pub link: Option<EvaluateLink>,
    /// The script went on: a promise of its is outstanding.
    pub went_on: Option<WentOn>,
}

impl Answered {
    /// An answer that leaves nothing behind.
    pub fn new(outcome: Result<Value, EvaluateError>, link: Option<EvaluateLink>) -> Self {
        Self { outcome, link, went_on: None }
    }
}

/// What a script has to know of its tab.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Published by the tab's watcher.
    pub condition: watch::Receiver<Condition>,
    /// Where the link's own clock was never read: the tab's, or this machine's.
    pub clock: PageClock,
    /// The scripts of ours in the tab's renderer.
    pub scripts: Arc<ScriptCounts>,
}

/// How often the page's clock is read again before it is called wrong. On a machine that does not come
/// to reading replies, each reading makes it look as slow as that took.
const CLOCK_READS: usize = 5;

/// Runs `script` on `link`.
pub async fn run(mut link: EvaluateLink, script: &Script, around: Surroundings, budget: &Budget) -> Answered {
    if let Some(error) = refusal(&around) {
        return Answered::new(Err(error), Some(link));
    }
    let site = match Site::find(&mut link, script.element.as_ref(), &around, budget).await {
        Ok(site) => site,
        // The page answered that the element is gone: the link has seen nothing wrong.
        Err(error @ EvaluateError::Stale(_)) => return Answered::new(Err(error), Some(link)),
        Err(error) => return Answered::new(Err(error), None),
    };
    let mut form = Form::first(&script.text);
    let mut clock_reads = 0;
    loop {
        let mut call = match Call::send(&link, &site, script, form, &around, budget).await {
            Ok(call) => call,
            Err(error) => return Answered::new(Err(error), None),
        };
        let outcome = call.outcome().await;
        let Remains { turn, answer, sync_over, url, answered, clock } = call.remains();
        if answered {
            link.is_answered(clock);
        }
        let error = match outcome {
            Outcome::Value(value) => {
                site.release();
                return Answered::new(Ok(value), Some(link));
            }
            // It did not start, so it may be sent again.
            Outcome::WrongClock if clock.is_some() && clock_reads < CLOCK_READS => {
                clock_reads += 1;
                continue;
            }
            Outcome::WrongClock => EvaluateError::Unreadable("the page's clock does not go like ours"),
            Outcome::DoesNotCompile(why) => match form.next(&script.text) {
                Some(next) => {
                    form = next;
                    continue;
                }
                None => EvaluateError::DoesNotCompile(why),
            },
            Outcome::Failed(error) => error,
        };
        return match (&error, answer) {
            // The page's own doing; the link has seen nothing wrong.
            (EvaluateError::Threw(_) | EvaluateError::DoesNotCompile(_) | EvaluateError::Stale(_), _) => {
                site.release();
                Answered::new(Err(error), Some(link))
            }
            (EvaluateError::TimedOut(expiry) | EvaluateError::Aborted(expiry), Some(answer))
                if expiry.phase == Phase::Pending || (expiry.terminated && expiry.page_responsive) =>
            {
                let went_on = WentOn::new(link, site, answer, url);
                Answered { outcome: Err(error), link: None, went_on: Some(went_on) }
            }
            // It may still start, and nobody wants it: its turn has to be watched for.
            (EvaluateError::Aborted(expiry), Some(answer)) if expiry.phase == Phase::Waiting => {
                let went_on = WentOn::waiting(link, site, turn, answer, sync_over, url);
                Answered { outcome: Err(error), link: None, went_on: Some(went_on) }
            }
            _ => Answered::new(Err(error), None),
        };
    }
}

/// With a dialog open or the renderer dead, nothing is sent: it would hang.
fn refusal(around: &Surroundings) -> Option<EvaluateError> {
    Some(match around.condition.borrow().hindrance()? {
        Hindrance::Dialog(dialog) => EvaluateError::Dialog { dialog, phase: Phase::Queued },
        Hindrance::Crashed => EvaluateError::Crashed,
    })
}
