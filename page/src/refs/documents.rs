//! Which document every frame of a tab shows now.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Chromium's id of a frame; it stays through navigations and process swaps.
pub type FrameId = Arc<str>;
/// Chromium's loader id: one loaded document of a frame. `pushState` and fragments keep it.
pub type DocumentId = Arc<str>;

/// The frames of a tab and their documents, as known at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents {
    main: FrameId,
    shown: HashMap<FrameId, DocumentId>,
    unheard: HashSet<FrameId>,
}

impl Documents {
    /// A tab whose main frame shows `document`.
    pub fn new(main: FrameId, document: DocumentId) -> Self {
        Self { shown: HashMap::from([(Arc::clone(&main), document)]), main, unheard: HashSet::new() }
    }

    /// A frame shows a document: a child frame came, or any frame committed another document.
    /// Another main document takes all child frames with it.
    pub fn show(&mut self, frame: FrameId, document: DocumentId) {
        if frame == self.main && self.main_document() != &document {
            self.shown.clear();
            self.unheard.clear();
        }
        self.unheard.remove(&frame);
        self.shown.insert(frame, document);
    }

    /// A child frame is gone.
    pub fn remove(&mut self, frame: &str) {
        if *frame != *self.main {
            self.shown.remove(frame);
            self.unheard.remove(frame);
        }
    }

    /// A child frame is there, but its process did not say which document it shows.
    pub fn unheard(&mut self, frame: FrameId) {
        if !self.shown.contains_key(&frame) {
            self.unheard.insert(frame);
        }
    }

    /// Whether `frame` shows `document`, as far as one can know.
    pub fn may_show(&self, frame: &str, document: &str) -> bool {
        self.of(frame).is_some_and(|it| **it == *document) || self.unheard.contains(frame)
    }

    /// The main frame.
    pub fn main(&self) -> &FrameId {
        &self.main
    }

    /// The document of the main frame.
    pub fn main_document(&self) -> &DocumentId {
        &self.shown[&self.main]
    }

    /// The document that `frame` shows, if there is such a frame.
    pub fn of(&self, frame: &str) -> Option<&DocumentId> {
        self.shown.get(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_main_document_takes_the_child_frames_with_it() {
        let mut documents = Documents::new("M".into(), "m1".into());
        documents.show("A".into(), "a1".into());
        documents.show("M".into(), "m1".into());
        assert_eq!(documents.of("A").map(|it| &**it), Some("a1"));
        documents.show("M".into(), "m2".into());
        assert_eq!((&**documents.main_document(), documents.of("A")), ("m2", None));
        documents.remove("M");
        assert_eq!(&**documents.main_document(), "m2", "a tab always has its main frame");
    }
}
