//! Aiming the pointer: from a place to a point of the tab's viewport where nothing is in the way.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::frames::{self, Owners};
use super::modifiers::Modifiers;
use super::mouse::{Button, Mouse, Step};
use super::node::Node;
use super::page::ActPage;
use super::ready::{self, Facts, Need, Ready, make_ready};
use super::target::{Place, Point};

/// `aria-disabled` keeps nobody from clicking.
pub(super) const SOFTLY_DISABLED: &str = "the element says aria-disabled; the page may ignore this";
const BY_LABEL: &str = "the element itself cannot be hit; its label was used";

/// A pointer over a label is over its field, too.
const UNDER: &str = "async it=>{
    const all=()=>[...Document.prototype.querySelectorAll.call(document,':hover')];
    const under=()=>matches(it,':hover')||all().some(hit=>takes(it,hit));
    if(!under())await frameOver();
    const hit=all().at(-1);
    return{under:under(),by:hit?words(hit):'something outside of its frame'}}";
/// How often the pointer is moved until it is over an element.
const TRIES: u32 = 10;

/// Where the pointer goes.
#[derive(Debug)]
pub(super) struct Aim {
    /// What is meant, or what is at the point that was given.
    pub(super) node: Node,
    pub(super) owners: Owners,
    /// In the viewport of the tab.
    pub(super) point: Point,
    pub(super) facts: Option<Facts>,
    pub(super) need: Need,
}

impl Aim {
    pub(super) async fn at(
        page: &ActPage,
        place: &Place,
        need: Need,
        budget: &Budget,
    ) -> Result<Self, ActError> {
        match place {
            Place::On(target) => {
                let Ready { node, facts, owners } = make_ready(page, target, need, budget).await?;
                let mut aim = Self { node, owners, point: Point::default(), facts: Some(facts), need };
                aim.point = aim.lift(budget).await?;
                Ok(aim)
            }
            Place::At(point) => {
                let (node, owners) = frames::element_at(page, *point, budget).await?;
                Ok(Self { node, owners, point: *point, facts: None, need })
            }
        }
    }

    /// The same element once more, in case that it moved meanwhile.
    pub(super) async fn again(&mut self, budget: &Budget) -> Result<(), ActError> {
        if self.facts.is_some() {
            self.facts = Some(ready::ask(&self.node, self.need, budget).await?);
            self.point = self.lift(budget).await?;
        }
        Ok(())
    }

    /// Moves the pointer there and makes sure that it is over the element.
    ///
    /// Only for frames: which process gets an input, and where, is decided by what was drawn last,
    /// and that may be older than the page's own answers.
    pub(super) async fn approach(&mut self, page: &ActPage, budget: &Budget) -> Result<(), ActError> {
        #[derive(Deserialize)]
        struct Under {
            under: bool,
            by: String,
        }
        if self.owners.is_empty() || self.facts.is_none() {
            return Ok(());
        }
        let mut mouse = Mouse::new(&page.session, Button::Left, Modifiers::NONE);
        let mut tries = 0;
        loop {
            let to = [Step::Move(self.point)];
            page.during(budget, async { Ok(mouse.play(&to).await?) }).await?;
            let Under { under, by } = self.node.call(UNDER, json!(null), budget).await?;
            tries += 1;
            if under {
                return Ok(());
            }
            if tries == TRIES {
                return Err(ActError::Covered { name: self.node.name(), by });
            }
            self.again(budget).await?;
        }
    }

    /// The element in words, if one was meant.
    pub(super) fn words(&self) -> Option<String> {
        self.facts.as_ref().map(|it| it.words.clone())
    }

    pub(super) fn warnings(&self) -> Vec<&'static str> {
        let Some(facts) = &self.facts else { return Vec::new() };
        let mut warnings = Vec::new();
        warnings.extend(facts.softly_disabled.then_some(SOFTLY_DISABLED));
        warnings.extend(facts.by_label.then_some(BY_LABEL));
        warnings
    }

    async fn lift(&self, budget: &Budget) -> Result<Point, ActError> {
        let point = self.facts.as_ref().and_then(|it| it.point);
        let point = point.ok_or_else(|| ActError::NotVisible(self.node.name()))?;
        self.owners.lift(point, budget).await
    }
}
