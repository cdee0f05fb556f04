//! What a tab remembers of its snapshots, and the way from a request to a snapshot.
//!
//! [`Memory::begin`] looks at the request, [`Plan::read`] waits for the page and holds nothing,
//! [`Memory::render`] makes the answer. A plan or a reading that is dropped leaves nothing behind.
//!
//! Nothing that was read is kept for a second request: Chromium has no sign of "nothing changed"
//! that holds. With `DOM` and `Accessibility` both enabled and every node asked for, a check box
//! that a script unchecks, a new style rule and a new listener send no event at all, and each of
//! them changes a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Session;

use super::ai_format::render_ai;
use super::answer::{Body, List, Snapshot, Text, missing};
use super::aria_format;
use super::capture::{self, Limits};
use super::delta::Seen;
use super::error::SnapshotError;
use super::fit::{Cut, Rendered};
use super::frame::{Capture, Frame};
use super::next::{Next, hash};
use super::request::{Producer, Request};
use super::role_format::render_role;
use super::scope::{FrameElement, Part};
use super::text_options::TextOptions;
use crate::refs::{DocumentId, Documents, FrameId, Ref, RefId, RefTable, StaleReason, StaleRef};

/// What one tab remembers of its snapshots: a plain value.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    table: RefTable,
    documents: Option<Documents>,
    seen: Seen,
    /// Frames in processes of their own, with the topmost frame there.
    targets: HashMap<FrameId, FrameId>,
    /// Counts what [`show`](Self::show) and [`remove`](Self::remove) told.
    told: u64,
    /// When a frame was told of last.
    told_of: HashMap<FrameId, u64>,
}

/// A request that was looked at and is to be read.
#[derive(Clone, Debug)]
pub struct Plan {
    request: Request,
    part: Part,
    after: Option<Next>,
    limits: Limits,
    begun: u64,
}

/// A page that was read for a request.
#[derive(Clone, Debug)]
pub struct Taken {
    plan: Plan,
    capture: Capture,
}

/// Most frames whose changes are remembered one by one.
const MOST_TOLD: usize = 1_000;

impl Memory {
    /// Looks at a request, before anything is sent.
    ///
    /// # Errors
    /// Those of [`SnapshotError`] that are about the request.
    pub fn begin(&self, request: Request) -> Result<Plan, SnapshotError> {
        request.check()?;
        let after = request.after.as_deref().map(Next::read).transpose()?;
        if after.is_some_and(|next| next.content != hash(request.content())) {
            return Err(SnapshotError::OtherOptions);
        }
        let frame = request.frame.as_deref().map(|text| self.frame_element(text)).transpose()?;
        let part = Part { frame, selector: request.selector.clone() };
        Ok(Plan { request, part, after, limits: Limits::default(), begun: self.told })
    }

    /// A ref, or else a selector.
    fn frame_element(&self, text: &str) -> Result<FrameElement, SnapshotError> {
        if RefId::read(text).is_none() {
            return Ok(FrameElement::Css(text.to_owned()));
        }
        let found = self.resolve(text).map_err(SnapshotError::StaleFrame)?;
        let Some(backend_node_id) = found.backend_node_id else {
            return Err(SnapshotError::NotAFrame(SnapshotError::shown(text)));
        };
        Ok(FrameElement::Node {
            frame: Arc::clone(&found.frame),
            document: Arc::clone(&found.document),
            backend_node_id,
            text: found.id.to_string(),
        })
    }

    /// Makes the answer of what was read.
    ///
    /// # Errors
    /// The document changed, or is not the one that `after` belongs to.
    pub fn render(&mut self, taken: &Taken) -> Result<Snapshot, SnapshotError> {
        let Taken { plan: Plan { request, after, begun, .. }, capture } = taken;
        let documents = self.documents_after(capture, *begun);
        if documents.main_document() != capture.documents.main_document() {
            return Err(SnapshotError::DocumentChanged);
        }
        let read = capture.scope.as_ref().and_then(|it| it.frame).unwrap_or(0);
        let document = hash((&capture.main().document, &capture.frames[read].document));
        if after.is_some_and(|next| next.document != document) {
            return Err(SnapshotError::OtherDocument);
        }
        self.documents = Some(documents);
        let of_own_process = |it: &Frame| Some((Arc::clone(&it.id), it.target.clone()?));
        self.targets = capture.frames.iter().filter_map(of_own_process).collect();
        let content = request.content();
        let next = |cut: Option<Cut>| cut.map(|cut| Next { cut, document, content: hash(&content) }.write());
        let after = after.map(|next| next.cut);
        if request.producer() == Producer::List {
            let list = aria_format::list_aria(capture, &mut self.table, after, request.most_nodes());
            let missing = missing(capture, list.left_out, false);
            return Ok(Snapshot {
                format: "aria",
                url: capture.main().url.clone(),
                truncated: missing.as_ref().is_some_and(|it| !it.is_only_frames()),
                missing,
                next: next(list.cut),
                changed: list.changed,
                body: Body::List(List { nodes: list.nodes }),
            });
        }
        let rendered = self.text(capture, request, after, &content);
        Ok(Snapshot {
            format: "ai",
            url: capture.main().url.clone(),
            truncated: rendered.truncated,
            missing: missing(capture, rendered.lines_left_out, rendered.too_deep),
            next: next(rendered.cut),
            changed: rendered.changed,
            body: Body::Text(Text {
                snapshot: rendered.text,
                refs: rendered.refs,
                stats: rendered.stats,
                new_elements: rendered.new_elements,
            }),
        })
    }

    fn text(&mut self, capture: &Capture, request: &Request, after: Option<Cut>, content: &str) -> Rendered {
        let document = &capture.main().document;
        let before = self.seen.before(document, content);
        let options = TextOptions { after, ..request.text_options() };
        let render = if request.producer() == Producer::Ai { render_ai } else { render_role };
        let mut rendered = render(capture, &mut self.table, &options, before);
        self.seen.keep(document, content, std::mem::take(&mut rendered.identities));
        rendered
    }

    /// What is shown, by what was read and by what was told since the reading began.
    fn documents_after(&self, capture: &Capture, begun: u64) -> Documents {
        let mut documents = capture.documents.clone();
        let Some(known) = &self.documents else { return documents };
        for frame in self.told_of.iter().filter(|(_, told)| **told > begun).map(|(frame, _)| frame) {
            match known.of(frame) {
                Some(document) => documents.show(Arc::clone(frame), Arc::clone(document)),
                None => documents.remove(frame),
            }
        }
        documents
    }

    /// A frame shows another document, or a frame came.
    pub fn show(&mut self, frame: FrameId, document: DocumentId) {
        self.tell(&frame);
        if let Some(documents) = &mut self.documents {
            documents.show(frame, document);
        }
    }

    /// A child frame is gone.
    pub fn remove(&mut self, frame: &FrameId) {
        self.tell(frame);
        if let Some(documents) = &mut self.documents {
            documents.remove(frame);
        }
    }

    fn tell(&mut self, frame: &FrameId) {
        self.told += 1;
        self.told_of.insert(Arc::clone(frame), self.told);
        if self.told_of.len() > MOST_TOLD {
            let recent = self.told - MOST_TOLD as u64 / 2;
            self.told_of.retain(|_, told| *told > recent);
        }
    }

    /// Whether a frame is of this page, as far as was told lately.
    pub fn has_frame(&self, frame: &str) -> bool {
        self.told_of.contains_key(frame)
    }

    /// What a ref names, in any of its spellings.
    ///
    /// # Errors
    /// [`StaleRef`] with the reason.
    pub fn resolve(&self, text: &str) -> Result<&Ref, StaleRef> {
        match &self.documents {
            Some(documents) => self.table.resolve(text, documents),
            None => Err(StaleRef::new(text, StaleReason::Unknown)),
        }
    }

    /// The topmost frame of the process that a frame lives in; none for the page's own process.
    pub fn target_of(&self, frame: &str) -> Option<&FrameId> {
        self.targets.get(frame)
    }

    /// The page said that this element is in its document no more.
    pub fn detached(&mut self, id: RefId) {
        self.table.detached(id);
    }

    /// The documents of the last snapshot, with what was told since.
    pub fn documents(&self) -> Option<&Documents> {
        self.documents.as_ref()
    }

    /// How many refs are known.
    pub fn refs(&self) -> usize {
        self.table.len()
    }
}

impl Plan {
    /// The same plan, with other limits to how much is read.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Reads the page of `session`. `children` are sessions on its frames that live in processes
    /// of their own, with the ids of these frames.
    ///
    /// # Errors
    /// [`SnapshotError`].
    pub async fn read(
        self,
        session: &Session,
        children: &[(FrameId, Session)],
        budget: &Budget,
    ) -> Result<Taken, SnapshotError> {
        let capture = capture::capture(session, children, &self.part, &self.limits, budget).await?;
        Ok(Taken { plan: self, capture })
    }
}

impl Taken {
    /// What was read.
    pub fn capture(&self) -> &Capture {
        &self.capture
    }
}

/// A request from beginning to end, where nobody else needs the memory meanwhile.
///
/// # Errors
/// [`SnapshotError`].
pub async fn take(
    session: &Session,
    children: &[(FrameId, Session)],
    request: Request,
    memory: &mut Memory,
    budget: &Budget,
) -> Result<Snapshot, SnapshotError> {
    let taken = memory.begin(request)?.read(session, children, budget).await?;
    memory.render(&taken)
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
