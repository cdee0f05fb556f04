//! Waiting for what a page shows. It begins in its turn and then lets others pass.

use std::time::Duration;

use serde::Serialize;
use tabvisor_cdp::budget::{Budget, Spent};
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Link, Purpose};
use tabvisor_page::act::{ActError, ActPage, Target};
use tabvisor_page::condition::hindered;
use tabvisor_page::wait::{Late, LoadState, Traffic, UrlPattern, WaitError, WaitPage, Wanted, wait_for};

use super::act::{Named, resolve};
use super::{Stage, act};
use crate::dial;
use crate::error::TabError;
use crate::shared::TabShared;

/// What to wait for: everything that is given, one after the other in this order, all of it within
/// the one budget of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// This time passes; at most [`MAX_TIME`](Self::MAX_TIME).
    pub time: Option<Duration>,
    /// The page shows this text.
    pub text: Option<String>,
    /// The page does not show this text.
    pub text_gone: Option<String>,
    /// An element that this CSS selector matches in the main frame can be seen.
    pub selector: Option<String>,
    /// The element of this ref can be seen.
    pub r#ref: Option<String>,
    /// The main frame has such an address: a part of it, or a glob with `*`.
    pub url: Option<String>,
    /// The page is loaded so far.
    pub load: Option<LoadState>,
    /// This function, expression or body gives something true. It is run again and again, each
    /// time as an evaluate of its own; what it throws ends the wait.
    pub function: Option<String>,
}

/// What a wait saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waited {
    /// The conditions that held, in their order.
    pub held: Vec<Held>,
    /// Time from the start of the budget to the answer.
    pub elapsed_ms: u64,
}

/// A condition that held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// Its name: `timeMs`, `text`, `textGone`, `selector`, `ref`, `url`, `loadState`, `fn`.
    pub condition: &'static str,
    /// Time from the start of the budget until it held.
    pub elapsed_ms: u64,
}

impl Held {
    pub(crate) fn now(condition: &'static str, budget: &Budget) -> Self {
        Self { condition, elapsed_ms: elapsed_ms(budget) }
    }
}

pub(crate) fn elapsed_ms(budget: &Budget) -> u64 {
    u64::try_from(budget.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A condition whose element is found when its turn has come.
enum Step {
    Wanted(Wanted),
    Ref(String),
}

impl Wait {
    /// Longest time to wait for nothing else.
    pub const MAX_TIME: Duration = Duration::from_secs(30);

    /// Checks it; nothing is sent.
    ///
    /// # Errors
    /// [`TabError::BadInput`] naming the field.
    pub fn check(&self) -> Result<(), TabError> {
        self.steps().map(|_| ())
    }

    fn steps(&self) -> Result<Vec<Step>, TabError> {
        let bad = |field, why: String| TabError::BadInput { field, why };
        if *self == Self::default() {
            let why =
                "wait requires at least one of: timeMs, text, textGone, selector, ref, url, loadState, fn";
            return Err(bad("wait", why.into()));
        }
        if self.time.is_some_and(|time| time > Self::MAX_TIME) {
            return Err(bad("timeMs", format!("is over the maximum of {}", Self::MAX_TIME.as_millis())));
        }
        let given = |field, text: &Option<String>| match text {
            Some(text) if text.trim().is_empty() => Err(bad(field, "is empty".into())),
            text => Ok(text.clone()),
        };
        let url = match given("url", &self.url)? {
            Some(url) => Some(UrlPattern::read(&url).map_err(|why| bad("url", why))?),
            None => None,
        };
        let wanted = [
            self.time.map(Wanted::Time),
            given("text", &self.text)?.map(Wanted::Text),
            given("textGone", &self.text_gone)?.map(Wanted::TextGone),
            given("selector", &self.selector)?.map(|css| Wanted::Visible(Target::Css(css))),
        ];
        let steps = wanted.into_iter().flatten().map(Step::Wanted);
        let steps = steps.chain(given("ref", &self.r#ref)?.map(Step::Ref));
        let behind = [url.map(Wanted::Url), self.load.map(Wanted::Load)];
        Ok(steps.chain(behind.into_iter().flatten().map(Step::Wanted)).collect())
    }
}

/// Waits for everything but the function, which is evaluated on another link.
pub(super) async fn wait(stage: &Stage, wait: Wait, budget: &Budget) -> Result<Vec<Held>, TabError> {
    let tab = &stage.tab;
    let page = WaitPage { page: act::page(stage), known: tab.page.subscribe() };
    let mut traffic = None;
    if wait.load == Some(LoadState::NetworkIdle) {
        traffic = Some(listen(tab, &page.page, budget).await?);
    }
    let mut held = Vec::new();
    for step in wait.steps()? {
        let wanted = match step {
            Step::Wanted(wanted) => wanted,
            Step::Ref(text) => Wanted::Visible(resolve(stage, Named::Ref(text), budget).await?),
        };
        if wanted == Wanted::Load(LoadState::NetworkIdle) {
            quiet(tab, &page, traffic.take(), budget).await?;
        } else if let Some((_, listening)) = &mut traffic {
            let waited = tokio::select! {
                biased;
                waited = wait_for(&page, &wanted, None, budget) => Some(waited),
                _ = listening.follow() => None,
            };
            if let Some(waited) = waited {
                waited?;
            } else {
                traffic = None;
                wait_for(&page, &wanted, None, budget).await?;
            }
        } else {
            wait_for(&page, &wanted, None, budget).await?;
        }
        held.push(Held::now(wanted.name(), budget));
    }
    Ok(held)
}

/// Waits until the network is quiet. A request that is larger than a message may be closes the
/// link on which it is heard of; then another one listens from there on.
async fn quiet(
    tab: &TabShared,
    page: &WaitPage,
    mut traffic: Option<(Link, Traffic)>,
    budget: &Budget,
) -> Result<(), TabError> {
    let wanted = Wanted::Load(LoadState::NetworkIdle);
    loop {
        let (link, mut listening) = match traffic.take() {
            Some(traffic) => traffic,
            None => listen(tab, &page.page, budget).await?,
        };
        match wait_for(page, &wanted, Some(&mut listening), budget).await {
            Err(WaitError::Act(ActError::Link { .. }))
                if link.is_closed() && !page.page.session.is_link_closed() => {}
            waited => return Ok(waited?),
        }
    }
}

/// Hears of the page's requests, on a link that is for nothing else.
async fn listen(tab: &TabShared, page: &ActPage, budget: &Budget) -> Result<(Link, Traffic), TabError> {
    let mut condition = tab.condition.subscribe();
    let listening = async {
        let options = dial::options(tab, Purpose::Network);
        let (link, session) = dial::attach(tab, options, budget).await?;
        let traffic = Traffic::listen(session, &page.main, budget).await?;
        Ok((link, traffic))
    };
    let listening = tokio::select! {
        biased;
        hindrance = hindered(&mut condition) => return Err(WaitError::from(hindrance).into()),
        listening = listening => listening,
    };
    listening.map_err(|error| match error {
        CdpError::Spent { spent: Spent::Expired { total, elapsed }, .. } => {
            let wanted = Wanted::Load(LoadState::NetworkIdle);
            let late = Late::new(wanted.name(), wanted.words(), total, elapsed);
            TabError::Wait(Box::new(Late { page_responsive: Some(false), ..late }))
        }
        error => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(wait: &Wait) -> String {
        wait.check().unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_waited_for_is_named() {
        assert!(refused(&Wait::default()).contains("at least one of: timeMs, text, textGone"));
        let time = Some(Duration::from_millis(30_001));
        assert_eq!(refused(&Wait { time, ..Wait::default() }), "timeMs: is over the maximum of 30000");
        assert_eq!(refused(&Wait { text: Some(" ".into()), ..Wait::default() }), "text: is empty");
        let url = Some("*{".into());
        assert_eq!(refused(&Wait { url, ..Wait::default() }), "url: has a { without its }");
        let function = Some("1".into());
        assert!(Wait { function, ..Wait::default() }.check().is_ok());
    }

    #[test]
    fn conditions_keep_the_order_of_the_contract() {
        let some = |text: &str| Some(text.to_owned());
        let wait = Wait {
            function: some("1"),
            load: Some(LoadState::Load),
            url: some("u"),
            r#ref: some("e1"),
            selector: some("s"),
            text_gone: some("g"),
            text: some("t"),
            time: Some(Duration::ZERO),
        };
        let names = wait.steps().unwrap().into_iter().map(|step| match step {
            Step::Wanted(wanted) => wanted.name(),
            Step::Ref(_) => "ref",
        });
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["timeMs", "text", "textGone", "selector", "ref", "url", "loadState"]
        );
    }
}
