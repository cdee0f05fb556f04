//! The leaf: does what the ladder says.

use std::sync::Arc;
use std::time::Duration;

use ractor::ActorRef;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Session;
use tabvisor_page::recover;
use tokio::time::Instant;
use url::Url;

use super::ladder::{Effect, Event, Facts, Ladder};
use super::{Cause, Lost, Recovered, Rung};
use crate::browser::BrowserMsg;
use crate::error::TabError;
use crate::registry::Registry;
use crate::shared::TabShared;

/// Where it is done.
pub(crate) struct Ground {
    pub(crate) tab: Arc<TabShared>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) browser: ActorRef<BrowserMsg>,
    /// The process of the browser, if it is ours.
    pub(crate) process: Option<u32>,
    pub(crate) cause: Cause,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) first: Rung,
    pub(crate) last: Rung,
    /// The first rung was asked for.
    pub(crate) named: bool,
    /// What is loaded where something has to be.
    pub(crate) url: Url,
}

/// What a rung did.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// The page was proved to be usable.
    pub(super) freed: bool,
    /// The document was changed by it.
    pub(super) ours: bool,
    pub(super) lost: Vec<Lost>,
}

/// How long a page may take to serve an interrupt: within milliseconds it does on a quiet machine. Erring
/// costs the page its state, so this is generous.
const INTERRUPT: Duration = Duration::from_millis(400);
/// How long what is published of a page may lag behind what happened there.
const PUBLISHED: Duration = Duration::from_millis(250);

/// Brings a tab back.
pub(crate) async fn climb(mut ground: Ground, plan: Plan, budget: Budget) -> Result<Recovered, TabError> {
    let id = ground.tab.id;
    let mut ladder = Ladder::new(plan.first, plan.last, plan.named, budget.deadline());
    let mut lost: Vec<Lost> = Vec::new();
    let begin = ground.look(true, &budget).await;
    let mut effect = ladder.on(Event::Begin(begin), Instant::now());
    let rung = loop {
        match effect {
            Effect::Climb { rung, within } => {
                tracing::info!(tab = %id, rung = rung.name(), "bringing a tab back");
                let generation = ground.tab.page.borrow().state.generation;
                let step = ground.rung(rung, generation, &plan.url, &budget.child(within)).await?;
                lost.extend(step.lost.iter().filter(|it| !lost.contains(it)).copied().collect::<Vec<_>>());
                // Whether scripts can be ended matters only as long as that was not tried.
                let ask = !step.freed && rung < Rung::Terminate;
                let facts = ground.look(ask, &budget).await;
                let done = Event::Done { freed: step.freed, ours: step.ours, facts };
                effect = ladder.on(done, Instant::now());
            }
            Effect::Freed(rung) => break rung,
            Effect::GaveUp(why) => {
                let tried = ladder.tried().to_vec();
                return Err(TabError::NotRecovered { tab: id, why, tried });
            }
        }
    };
    // Who calls next must not be refused for what is over.
    let mut stuck = ground.tab.stuck.subscribe();
    let _ = budget.child(PUBLISHED).run(stuck.wait_for(Option::is_none)).await;
    let (url, generation) = {
        let page = ground.tab.page.borrow();
        (page.state.url.clone(), page.state.generation)
    };
    Ok(Recovered {
        tab_id: id,
        cause: ground.cause,
        rung,
        tried: ladder.tried().to_vec(),
        took_ms: u64::try_from(budget.elapsed().as_millis()).unwrap_or(u64::MAX),
        lost,
        url,
        generation,
    })
}

impl Ground {
    /// The control session: attached before the page got stuck.
    pub(super) fn control(&self) -> Option<Session> {
        self.tab.control.borrow().clone().filter(|session| !session.is_link_closed())
    }

    pub(super) fn is_loading(&self) -> bool {
        self.tab.condition.borrow().navigating || self.tab.page.borrow().state.loading
    }

    /// What is known of the page; `ask` it whether it serves interrupts.
    async fn look(&self, ask: bool, budget: &Budget) -> Facts {
        let condition = self.tab.condition.borrow().clone();
        let generation = self.tab.page.borrow().state.generation;
        let (dialog, crashed) = (condition.dialog.is_some(), condition.crashed);
        let interruptible = match self.control() {
            Some(control) if ask && !dialog && !crashed => {
                recover::serves_interrupts(&control, &budget.child(INTERRUPT)).await.unwrap_or(false)
            }
            _ => false,
        };
        Facts { dialog, interruptible, loading: self.is_loading(), crashed, generation }
    }

    /// Tries a rung; an error is the end of the tab.
    async fn rung(
        &mut self,
        rung: Rung,
        generation: u64,
        url: &Url,
        budget: &Budget,
    ) -> Result<Step, TabError> {
        if rung == Rung::Target {
            return Ok(self.target(url, budget).await);
        }
        let mut gone = self.tab.gone.subscribe();
        let tab = self.tab.id;
        let work = async {
            match rung {
                Rung::Dialog => self.dialog(budget).await,
                Rung::Terminate => self.terminate(budget).await,
                Rung::StopLoading => self.stop_loading(budget).await,
                Rung::Renderer | Rung::Target | Rung::Browser => self.renderer(generation, url, budget).await,
            }
        };
        tokio::select! {
            biased;
            why = gone.wait_for(Option::is_some) => {
                let why = why.ok().and_then(|why| why.clone());
                Err(why.map_or(TabError::TabClosed { tab }, |why| why.error(tab)))
            }
            step = work => Ok(step),
        }
    }
}
