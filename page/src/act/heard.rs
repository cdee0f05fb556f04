//! What listeners of ours heard of an action: in a world of our own, ahead of the page's own
//! listeners, so that it is told also when those open a dialog or leave the page.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Reply;

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
    pub(super) default_prevented: Option<bool>,
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
    /// Begins to listen, in the element's frame. The reply comes with the last event: it is heard
    /// before the page hears it, and so before a dialog can open or the document go.
    pub(super) async fn begin(self, node: &Node, budget: &Budget) -> Result<Reply, ActError> {
        let asked =
            json!({ "key": self.key, "types": self.types, "last": self.last, "left": budget.left_ms() });
        let function = format!("(it,asked)=>{{{LISTEN}\nreturn listen(it,asked)}}");
        let begin = async {
            let report = node.send(&function, asked).await?;
            // Answered once listening has begun; input comes to the page on another way.
            node.call_unguarded::<i32>("()=>0", json!(null), budget).await?;
            Ok(report)
        };
        node.page.during(budget, begin).await
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
