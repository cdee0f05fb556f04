//! A tab with the memory that an actor would keep for it.

use std::time::Duration;

use serde_json::Value;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::snapshot::{Body, Memory, Request, Snapshot, SnapshotError, take};

use super::support::Stage;

/// A stage and its memory.
pub(crate) struct Room {
    pub(crate) stage: Stage,
    pub(crate) memory: Memory,
    /// The budget of every snapshot.
    pub(crate) patience: Duration,
}

impl Room {
    pub(crate) async fn open(path: &str) -> Self {
        let stage = Stage::start().await;
        stage.open(path).await;
        Self { stage, memory: Memory::default(), patience: Duration::from_mins(1) }
    }

    pub(crate) async fn ask(&mut self, request: &Request) -> Result<Snapshot, SnapshotError> {
        let session = self.stage.session.clone();
        take(&session, self.stage.children(), request.clone(), &mut self.memory, &Budget::new(self.patience))
            .await
    }

    pub(crate) async fn take(&mut self, request: &Request) -> Snapshot {
        self.ask(request).await.unwrap()
    }

    /// The text of a snapshot.
    pub(crate) async fn text(&mut self, request: &Request) -> String {
        text(&self.take(request).await).to_owned()
    }

    /// Snapshots until the text holds; for what takes its time and tells nobody.
    pub(crate) async fn until(&mut self, request: &Request, holds: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        for _ in 0..300 {
            last = self.text(request).await;
            if holds(&last) {
                return last;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("never, last:\n{last}");
    }

    /// The stamp of the element that a ref names.
    pub(crate) async fn stamp(&self, text: &str) -> Value {
        let node = self.memory.resolve(text).unwrap().backend_node_id.unwrap();
        self.stage.stamp(node).await
    }
}

pub(crate) fn text(snapshot: &Snapshot) -> &str {
    match &snapshot.body {
        Body::Text(text) => &text.snapshot,
        Body::List(_) => panic!("a list"),
    }
}

/// The ref on the line that has these words.
pub(crate) fn ref_on<'a>(text: &'a str, words: &str) -> &'a str {
    let line =
        text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no {words} in\n{text}"));
    line.split_once("[ref=").and_then(|(_, rest)| rest.split_once(']')).unwrap().0
}
