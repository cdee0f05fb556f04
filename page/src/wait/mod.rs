//! Waiting until a page shows something, has an address, or is loaded and quiet.
//!
//! [`wait_for`] waits for one condition; who waits for several asks for one after the other with
//! one budget. Nothing is polled over the link: a watcher in our own world of the page's document
//! tells when the condition holds ([`Wanted::Text`] and the like), and address and loading come from
//! what is published of the page anyway. A document that goes away takes its watcher along; the
//! next one gets another.
//!
//! | file | holds |
//! |---|---|
//! | `watcher.js`, `in_page` | conditions that only the page can tell |
//! | `pattern` | which addresses are meant |
//! | `requests` | which requests are open, from events: a plain value |
//! | `traffic` | the same, on a session of its own |
//! | `error` | a wait that ended without its condition |

mod error;
mod in_page;
mod pattern;
mod requests;
mod traffic;

use std::pin::pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};

use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::CdpError;

use crate::act::{ActError, ActPage, Target};
use crate::condition::{Hindrance, hindered};
use crate::state::Known;

pub use error::{Late, WaitError};
pub use pattern::UrlPattern;
pub use requests::OpenRequest;
pub use traffic::Traffic;

/// How far a page has to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadState {
    /// It and what it includes are loaded.
    Load,
    /// It is parsed.
    DomContentLoaded,
    /// It is loaded, and no request was open for half a second. One that began before the wait and
    /// after the page was idle once is known only if something of it is heard, or if it is that of
    /// an open `EventSource`.
    NetworkIdle,
}

/// A condition to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This time has passed.
    Time(Duration),
    /// The page shows this text: in its main frame or a frame of the same origin, in open shadow
    /// trees too, in any case and with any white space between its words.
    Text(String),
    /// The page does not show this text.
    TextGone(String),
    /// An element can be seen: the one of a ref, or any that a selector matches in the main frame.
    Visible(Target),
    /// The main frame has such an address.
    Url(UrlPattern),
    /// The page is loaded so far.
    Load(LoadState),
}

impl Wanted {
    /// Its name in requests and answers.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Time(_) => "timeMs",
            Self::Text(_) => "text",
            Self::TextGone(_) => "textGone",
            Self::Visible(Target::Element(_)) => "ref",
            Self::Visible(Target::Css(_)) => "selector",
            Self::Url(_) => "url",
            Self::Load(_) => "loadState",
        }
    }

    /// It in words, behind "waiting for".
    pub fn words(&self) -> String {
        let short = |text: &str| text.chars().take(80).collect::<String>();
        match self {
            Self::Time(time) => format!("{} ms to pass", time.as_millis()),
            Self::Text(text) => format!("text {:?}", short(text)),
            Self::TextGone(text) => format!("text {:?} to go away", short(text)),
            Self::Visible(target) => format!("{:?} to be visible", target.name()),
            Self::Url(pattern) => format!("url {:?}", short(pattern.text())),
            Self::Load(LoadState::Load) => "the page to be loaded".into(),
            Self::Load(LoadState::DomContentLoaded) => "the page to be parsed".into(),
            Self::Load(LoadState::NetworkIdle) => "the network to be quiet".into(),
        }
    }
}

/// The page that is waited for.
#[derive(Clone, Debug)]
pub struct WaitPage {
    /// Its sessions and condition.
    pub page: ActPage,
    /// What is published of it.
    pub known: watch::Receiver<Known>,
}

/// Waits until `wanted` holds. `traffic` is needed for [`LoadState::NetworkIdle`] and has to be
/// followed already.
///
/// # Errors
/// [`WaitError::TimedOut`] with what was missing; a dialog and a dead renderer at once.
pub async fn wait_for(
    page: &WaitPage,
    wanted: &Wanted,
    traffic: Option<&mut Traffic>,
    budget: &Budget,
) -> Result<(), WaitError> {
    budget.check().map_err(|spent| late(wanted.name(), wanted.words(), spent))?;
    let work = budget.reserving(budget.cleanup_reserve());
    let mut condition = page.page.condition.clone();
    let mut following = traffic;
    // Whether the page answers at all is asked a little before the end.
    let ask_at = work.deadline() - ASKED_BEFORE.min(work.left() / 5);
    let patience = Budget::new(budget.left() + PROBE_GRACE);
    let mut probe = pin!(async {
        sleep_until(ask_at).await;
        let probe = page.page.session.call("Runtime.evaluate", json!({ "expression": "0" }), &patience).await;
        // A refusal is an answer, too.
        matches!(probe, Ok(_) | Err(CdpError::Protocol { .. }))
    });
    let mut page_responsive = None;
    let ended = {
        let mut holds = pin!(holds(page, wanted, following.as_deref_mut(), budget));
        loop {
            tokio::select! {
                biased;
                hindrance = hindered(&mut condition) => return Err(hindrance.into()),
                held = &mut holds => break held,
                answers = &mut probe, if page_responsive.is_none() => page_responsive = Some(answers),
                spent = work.spent() => break Err(late(wanted.name(), wanted.words(), spent)),
            }
        }
    };
    let error = match ended {
        Err(WaitError::TimedOut(late)) => *late,
        Err(WaitError::Act(ActError::TimedOut { budget, elapsed, .. })) => {
            Late::new(wanted.name(), wanted.words(), budget, elapsed)
        }
        other => return other,
    };
    if page_responsive.is_none() {
        page_responsive = Some(probe.await);
    }
    let open_requests = following.map(|traffic| traffic.open());
    let (budget, elapsed) = (budget.total(), budget.elapsed());
    Err(WaitError::TimedOut(Box::new(Late { budget, elapsed, page_responsive, open_requests, ..error })))
}

/// How long before the end of a wait the page is asked whether it answers, at most.
const ASKED_BEFORE: Duration = Duration::from_millis(250);
/// How far beyond the budget the page may take to say that it answers.
const PROBE_GRACE: Duration = Duration::from_millis(15);

async fn holds(
    page: &WaitPage,
    wanted: &Wanted,
    traffic: Option<&mut Traffic>,
    budget: &Budget,
) -> Result<(), WaitError> {
    match wanted {
        Wanted::Time(time) => sleep(*time).await,
        Wanted::Url(pattern) => published(page, |known| pattern.matches(&known.state.url)).await,
        Wanted::Load(LoadState::Load) => published(page, |known| !known.state.loading).await,
        Wanted::Load(LoadState::NetworkIdle) => match traffic {
            Some(traffic) => loop {
                traffic.quiet().await?;
                if !page.known.borrow().state.loading {
                    break;
                }
                published(page, |known| !known.state.loading).await;
            },
            None => return Err(ActError::Unreadable("nobody listens to its requests".into()).into()),
        },
        in_page => in_page::holds(&page.page, in_page, budget).await?,
    }
    Ok(())
}

/// Waits for what is published of a page; once its publisher is gone, another race ends the wait.
async fn published(page: &WaitPage, holds: impl Fn(&Known) -> bool) {
    let mut known = page.known.clone();
    if known.wait_for(|known| holds(known)).await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn late(condition: &'static str, words: String, spent: Spent) -> WaitError {
    match spent {
        Spent::Expired { total, elapsed } => {
            WaitError::TimedOut(Box::new(Late::new(condition, words, total, elapsed)))
        }
        Spent::Cancelled { elapsed } => ActError::Aborted { elapsed, sent: false }.into(),
    }
}

impl From<Hindrance> for WaitError {
    fn from(hindrance: Hindrance) -> Self {
        match hindrance {
            Hindrance::Dialog(dialog) => ActError::Dialog(dialog),
            Hindrance::Crashed => ActError::Crashed { sent: false },
        }
        .into()
    }
}
