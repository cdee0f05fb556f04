//! Making an element ready to be acted on, before anything is sent.

use serde::{Deserialize, Serialize};
use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::frames::Owners;
use super::node::Node;
use super::page::ActPage;
use super::target::{Point, Target};

const READY: &str = include_str!("ready.js");

/// What an element has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Need {
    /// Not disabled, nor inert.
    pub enabled: bool,
    /// It has a box that can be seen, and is scrolled to where it is seen.
    pub visible: bool,
    /// It stands still and nothing covers it; implies `visible`.
    pub hit: bool,
}

impl Need {
    /// In its document, no more.
    pub const ATTACHED: Self = Self { enabled: false, visible: false, hit: false };
    /// Seen and scrolled to.
    pub const VISIBLE: Self = Self { enabled: false, visible: true, hit: false };
    /// For typing: enabled, seen, scrolled to.
    pub const USABLE: Self = Self { enabled: true, visible: true, hit: false };
    /// For the pointer: also still, and not covered.
    pub const POINTABLE: Self = Self { enabled: true, visible: true, hit: true };
}

/// An element that is as it was asked for.
#[derive(Debug)]
pub struct Ready {
    /// The element, for further questions.
    pub node: Node,
    /// What was found out about it.
    pub facts: Facts,
    /// The frame elements around it.
    pub(super) owners: Owners,
}

impl Ready {
    /// Its point in the viewport of the tab, if no frame around it is covered there.
    ///
    /// # Errors
    /// As [`make_ready`].
    pub(super) async fn point(&self, budget: &Budget) -> Result<Point, ActError> {
        let point = self.facts.point.ok_or_else(|| ActError::NotVisible(self.node.name()))?;
        self.owners.lift(point, budget).await
    }
}

/// What was found out about an element.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is found out by itself")]
pub struct Facts {
    /// The element in words.
    pub words: String,
    /// `aria-disabled`: the page may ignore what is done to it.
    pub softly_disabled: bool,
    /// A point of it that can be seen, in the viewport of its own frame.
    pub point: Option<Point>,
    /// It was not in view before.
    #[serde(default)]
    pub scrolled: bool,
    /// It is a link that saves what it leads to, or in one.
    #[serde(default)]
    pub saves: bool,
    /// The point is one of its label.
    #[serde(default)]
    pub by_label: bool,
}

#[derive(Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Verdict {
    Ready(Facts),
    Detached,
    Disabled { by: String },
    NotVisible,
    Moving,
    Covered { by: String },
}

/// Finds the element of `target` and makes it as `need` says: proves that it is the one, that it
/// is enabled and seen, scrolls to it, waits until it stands still, and tests what is hit at a
/// point of one of its lines. What fails is tried once more after 150 ms.
///
/// # Errors
/// Every [`ActError`] that says why not; nothing was sent then.
pub async fn make_ready(
    page: &ActPage,
    target: &Target,
    need: Need,
    budget: &Budget,
) -> Result<Ready, ActError> {
    let node = Node::find(page, target, budget).await?;
    let owners =
        if need.visible || need.hit { Owners::find(&node, budget).await? } else { Owners::default() };
    let facts = ask(&node, need, budget).await?;
    Ok(Ready { node, facts, owners })
}

/// Makes an element that was found ready.
///
/// # Errors
/// As [`make_ready`].
pub(super) async fn ask(node: &Node, need: Need, budget: &Budget) -> Result<Facts, ActError> {
    let asked = json!({
        "enabled": need.enabled, "visible": need.visible || need.hit, "hit": need.hit,
        "left": budget.left_ms(),
    });
    let function = format!("(it,asked)=>{{{READY}\nreturn makeReady(it,asked)}}");
    let name = node.name();
    match node.call(&function, asked, budget).await? {
        Verdict::Ready(facts) => Ok(facts),
        Verdict::Detached => Err(node.detached()),
        Verdict::Disabled { by } => Err(ActError::Disabled { name, by }),
        Verdict::NotVisible => Err(ActError::NotVisible(name)),
        Verdict::Moving => Err(ActError::Moving(name)),
        Verdict::Covered { by } => Err(ActError::Covered { name, by }),
    }
}
