//! Aiming the pointer: from a place to a point of the tab's viewport where nothing is in the way.

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::frames::{self, Owners};
use super::node::Node;
use super::page::ActPage;
use super::ready::{self, Facts, Need, Ready, make_ready};
use super::target::{Place, Point};

/// `aria-disabled` keeps nobody from clicking.
pub(super) const SOFTLY_DISABLED: &str = "the element says aria-disabled; the page may ignore this";
const BY_LABEL: &str = "the element itself cannot be hit; its label was used";

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
