//! The way from a frame up to the page: offsets, scrolling, and what lies over a frame.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Session;

use super::error::ActError;
use super::node::{Node, parse};
use super::page::ActPage;
use super::target::{Place, Point};
use crate::isolated::unless_refused;
use crate::refs::{FrameId, StaleReason};
use crate::snapshot::frame_tree::{self, KnownFrame};

const HOP: &str = include_str!("hop.js");

/// The frame elements around an element, the innermost first.
#[derive(Debug, Default)]
pub(super) struct Owners(Vec<Node>);

#[derive(Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Verdict {
    Ready(Point),
    Detached,
    NotVisible,
    Moving,
    Covered { by: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: i64,
}

impl Owners {
    /// Finds them. None, and nothing is asked, for an element of the main frame.
    pub(super) async fn find(node: &Node, budget: &Budget) -> Result<Self, ActError> {
        let page = &node.page;
        if node.frame == page.main {
            return Ok(Self::default());
        }
        page.during(budget, Self::climb(page, node, budget)).await
    }

    async fn climb(page: &ActPage, node: &Node, budget: &Budget) -> Result<Self, ActError> {
        let gone = || node.place.gone(StaleReason::FrameChanged);
        let mut known = Known::new(page, &node.session);
        let mut owners = Vec::new();
        let mut frame = node.frame.clone();
        while frame != page.main {
            let (child, _) = known.find(&frame, budget).await?.ok_or_else(gone)?;
            let parent = child.parent.ok_or_else(gone)?;
            let (_, session) = known.find(&parent, budget).await?.ok_or_else(gone)?;
            let owner = session.call_as::<Owner>("DOM.getFrameOwner", json!({ "frameId": *frame }), budget);
            let id = unless_refused(owner.await)?.ok_or_else(gone)?.backend_node_id;
            owners.push(Node::resolve(page, (session, parent.clone()), id, &node.place, budget).await?);
            frame = parent;
        }
        let show = format!("it=>{{{HOP}\nshow(it)}}");
        for owner in owners.iter().rev() {
            owner.call_unguarded::<Option<()>>(&show, json!(null), budget).await?;
        }
        Ok(Self(owners))
    }

    /// The element is in the main frame.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The innermost first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.0.iter()
    }

    /// A point of the element's frame in the viewport of the tab, if nothing lies over it.
    pub(super) async fn lift(&self, mut point: Point, budget: &Budget) -> Result<Point, ActError> {
        for owner in &self.0 {
            let asked = json!({ "x": point.x, "y": point.y, "left": budget.left_ms() });
            let function = format!("(it,asked)=>{{{HOP}\nreturn hop(it,asked)}}");
            let name = owner.name();
            point = match owner.call(&function, asked, budget).await? {
                Verdict::Ready(point) => point,
                Verdict::Detached => return Err(owner.gone_frame()),
                Verdict::NotVisible => return Err(ActError::NotVisible(name)),
                Verdict::Moving => return Err(ActError::Moving(name)),
                Verdict::Covered { by } => return Err(ActError::Covered { name, by }),
            };
        }
        Ok(point)
    }
}

/// The innermost element at a point of the tab's viewport, through all frames, and those around it.
pub(super) async fn element_at(
    page: &ActPage,
    point: Point,
    budget: &Budget,
) -> Result<(Node, Owners), ActError> {
    page.during(budget, descend(page, point, budget)).await
}

async fn descend(page: &ActPage, point: Point, budget: &Budget) -> Result<(Node, Owners), ActError> {
    #[derive(Deserialize)]
    struct Described {
        node: Holder,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Holder {
        frame_id: Option<String>,
    }
    let place = Place::At(point);
    let (mut session, mut frame, mut at) = (page.session.clone(), page.main.clone(), point);
    let mut owners = Vec::new();
    loop {
        let Some(node) = Node::at(page, (session.clone(), frame.clone()), at, &place, budget).await? else {
            let why = format!("{} is outside of the viewport, or nothing is there", place.name());
            return Err(ActError::Invalid { field: "x, y", why });
        };
        let asked = json!({ "objectId": node.object_id() });
        let described = session.call_as::<Described>("DOM.describeNode", asked, budget).await;
        let held = unless_refused(described)?.and_then(|it| it.node.frame_id);
        let Some(held) = held.map(FrameId::from).filter(|held| *held != frame) else {
            owners.reverse();
            return Ok((node, Owners(owners)));
        };
        let function = format!("(it,asked)=>{{{HOP}\nreturn inside(it,asked)}}");
        at = node.call_unguarded(&function, json!({ "x": at.x, "y": at.y }), budget).await?;
        session = page.session_of(Some(&held)).unwrap_or(session);
        frame = held;
        owners.push(node);
    }
}

/// The frames of the page, process by process: one that does not answer is not asked unless what
/// is looked for can be nowhere else.
struct Known {
    frames: Vec<(KnownFrame, Session)>,
    /// Those that were not asked, the likeliest last.
    sessions: Vec<Session>,
}

impl Known {
    fn new(page: &ActPage, first: &Session) -> Self {
        let mut sessions: Vec<Session> = page.frames.all().into_iter().map(|(_, session)| session).collect();
        sessions.push(page.session.clone());
        sessions.retain(|it| it.id() != first.id());
        sessions.push(first.clone());
        Self { frames: Vec::new(), sessions }
    }

    async fn find(
        &mut self,
        id: &FrameId,
        budget: &Budget,
    ) -> Result<Option<(KnownFrame, Session)>, ActError> {
        const TREE: &str = "Page.getFrameTree";
        loop {
            if let Some(found) = self.frames.iter().find(|(it, _)| it.id == *id) {
                return Ok(Some(found.clone()));
            }
            let Some(session) = self.sessions.pop() else { return Ok(None) };
            let patience = budget.child(budget.left() / 4);
            let Ok(reply) = session.call(TREE, json!({}), &patience).await else { continue };
            let frames = parse::<frame_tree::Reply>(TREE, reply.get())?.frames();
            self.frames.extend(frames.into_iter().map(|it| (it, session.clone())));
        }
    }
}
