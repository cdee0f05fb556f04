//! What listeners of ours heard of an action: in a world of our own, ahead of the page's own
//! listeners, so that it is told also when those open a dialog or leave the page.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::node::Node;
use super::outcome::{PointerSeen, StateAfter};
use super::target::Point;

const LISTEN: &str = include_str!("listen.js");

/// Which events are listened for, and what they are kept under.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listen {
    pub(super) key: &'static str,
    pub(super) types: &'static [&'static str],
    /// The event with which the action has arrived.
    pub(super) last: &'static str,
}

/// What was heard.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Heard {
    pub(super) events: Vec<String>,
    /// The last event of the action was among them.
    pub(super) complete: bool,
    pub(super) hit: Option<String>,
    pub(super) received: Option<bool>,
    pub(super) is_trusted: Option<bool>,
    default_prevented: Option<bool>,
    /// The types of those whose default was prevented.
    prevented: Vec<String>,
}

/// What was heard, and how the element is now.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ReadBack {
    pub(super) heard: Heard,
    pub(super) state: StateAfter,
}

impl Listen {
    /// Begins to listen, in the element's frame.
    pub(super) async fn begin(self, node: &Node, budget: &Budget) -> Result<(), ActError> {
        let asked =
            json!({ "key": self.key, "types": self.types, "last": self.last, "left": budget.left_ms() });
        let function = format!("(it,asked)=>{{{LISTEN}\nlisten(it,asked)}}");
        node.call::<Option<()>>(&function, asked, budget).await.map(drop)
    }

    /// Waits for the last event, also while a dialog is open: it is heard before one can open.
    pub(super) async fn report(self, node: &Node, budget: &Budget) -> Result<Heard, ActError> {
        let function = format!("(it,asked)=>{{{LISTEN}\nreturn report(it,asked)}}");
        node.call_unguarded(&function, json!({ "key": self.key }), budget).await
    }

    /// What was heard so far; listening goes on.
    pub(super) async fn so_far(self, node: &Node, budget: &Budget) -> Result<Heard, ActError> {
        let function = format!("(it,asked)=>{{{LISTEN}\nreturn soFar(it,asked)}}");
        node.call(&function, json!({ "key": self.key }), budget).await
    }

    /// What was heard so far and how the element is now; listening ends.
    pub(super) async fn read_back(self, node: &Node, budget: &Budget) -> Result<ReadBack, ActError> {
        let function = format!("(it,asked)=>{{{LISTEN}\nreturn readBack(it,asked)}}");
        node.call(&function, json!({ "key": self.key }), budget).await
    }
}

impl Heard {
    /// The element that was meant got the whole of it.
    pub(super) fn arrived(&self) -> bool {
        self.complete && self.received == Some(true)
    }

    /// The page kept an event of this type from its default.
    pub(super) fn prevented(&self, event: &str) -> bool {
        self.prevented.iter().any(|it| it == event)
    }

    pub(super) fn seen(self, point: Point) -> PointerSeen {
        PointerSeen {
            point,
            hit: self.hit,
            received: self.received,
            is_trusted: self.is_trusted,
            default_prevented: self.default_prevented,
            events: self.events,
            ..PointerSeen::default()
        }
    }
}
