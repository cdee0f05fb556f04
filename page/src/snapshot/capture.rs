//! Reading a page: every frame's accessibility tree, and one look at styles per process.
//!
//! Two rounds of commands per process: its frames with their styles, then their trees and the
//! frames again. All processes are asked before any is waited for. Only of a frame that shows the
//! same document before and after is what was read the tree of one document.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

use super::ax::AxTree;
use super::clickable::{self, Looks};
use super::dom::DomDocument;
use super::error::SnapshotError;
use super::frame::{Capture, Frame, FrameState, NotRead, Owner, Scope};
use super::frame_tree::KnownFrame;
use super::graft::graft;
use super::pieces;
use super::process::{self, Process};
use super::scope::{self, Part};
use crate::refs::{Documents, FrameId};

/// How much of a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes of all trees together.
    pub nodes: usize,
    /// Frames.
    pub frames: usize,
    /// How long frames in processes of their own may take, all together.
    pub frame_patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 50_000, frames: 100, frame_patience: Duration::from_secs(2) }
    }
}

/// Reads a part of the page of `session`. `children` are sessions on its frames that live in processes of
/// their own, with the ids of these frames; one that does not answer costs its own frames only.
///
/// # Errors
/// [`SnapshotError`].
pub async fn capture(
    session: &Session,
    children: &[(FrameId, Session)],
    part: &Part,
    limits: &Limits,
    budget: &Budget,
) -> Result<Capture, SnapshotError> {
    for read_again in [false, true] {
        if let Some(capture) = attempt(session, children, part, limits, budget).await? {
            return Ok(Capture { read_again, ..capture });
        }
    }
    Err(SnapshotError::DocumentChanged)
}

/// Reads the page once; `None` if its document changed meanwhile.
async fn attempt(
    session: &Session,
    children: &[(FrameId, Session)],
    part: &Part,
    limits: &Limits,
    budget: &Budget,
) -> Result<Option<Capture>, SnapshotError> {
    let (processes, silent) = ask_processes(session, children, limits, budget).await?;
    // The frame that is asked for may be any of them.
    let mut page = Page::known(&processes, if part.is_all() { limits.frames } else { usize::MAX });
    page.place(&processes).await?;
    let place = match page.narrow(&processes, part).await {
        // The selector may have been tried on the next document.
        Err(SnapshotError::NoFrame(_) | SnapshotError::NotAFrame(_)) if page.is_gone(&processes).await? => {
            return Ok(None);
        }
        found => found?,
    };
    let shown = page.read(&processes, place.as_ref(), limits).await?;
    let scope = place.map(|place| page.scope(&processes, &place));
    let Page { mut frames, mut not_read, .. } = page;
    let main = &frames[0];
    if shown.get(&main.id) != Some(&main.document) {
        return Ok(None);
    }
    let mut documents = Documents::new(Arc::clone(&main.id), Arc::clone(&main.document));
    for known in processes.iter().flat_map(|it| &it.frames) {
        documents.show(Arc::clone(&known.id), Arc::clone(&known.document));
    }
    for id in silent {
        documents.unheard(Arc::clone(&id));
        not_read.frames += usize::from(part.is_all());
        let element = processes[0].ask_owner(&id).await.ok();
        let owner = element.map(|backend_node_id| Owner { frame: 0, backend_node_id });
        frames.push(Frame { owner, ..unread(id, FrameState::Busy) });
    }
    Ok(Some(Capture { frames, documents, not_read, read_again: false, scope }))
}

/// The first round. The page itself has the whole budget; of the others, those that do not answer
/// within their patience are silent.
async fn ask_processes<'a>(
    session: &'a Session,
    children: &'a [(FrameId, Session)],
    limits: &Limits,
    budget: &Budget,
) -> Result<(Vec<Process<'a>>, Vec<FrameId>), CdpError> {
    let patience = budget.child(limits.frame_patience.min(budget.left() / 2));
    let main = process::ask(session, budget.clone()).await?;
    let mut asked = Vec::new();
    let mut silent = Vec::new();
    for (at, (frame, session)) in children.iter().enumerate() {
        match process::ask(session, patience.clone()).await {
            Ok(asking) if at < limits.frames => asked.push((frame, asking)),
            _ => silent.push(Arc::clone(frame)),
        }
    }
    let mut processes = vec![main.hear().await?];
    for (frame, asking) in asked {
        match asking.hear().await {
            Ok(process) => processes.push(process),
            // Its process ended: the frame is somewhere else or gone.
            Err(CdpError::Detached { .. } | CdpError::Protocol { .. }) => {}
            Err(error @ CdpError::LinkClosed(_)) => return Err(error),
            Err(_) => silent.push(Arc::clone(frame)),
        }
    }
    Ok((processes, silent))
}

/// The frames of a page, being read.
struct Page {
    frames: Vec<Frame>,
    /// For every frame the index of its process, and of its parent frame.
    homes: Vec<(usize, Option<usize>)>,
    not_read: NotRead,
}

impl Page {
    /// All frames, parents before their children, at most `most` of them.
    fn known(processes: &[Process<'_>], most: usize) -> Self {
        let mut page = Self { frames: Vec::new(), homes: Vec::new(), not_read: NotRead::default() };
        let mut index: HashMap<FrameId, usize> = HashMap::new();
        let mut waiting: Vec<(usize, &KnownFrame)> = processes
            .iter()
            .enumerate()
            .flat_map(|(at, it)| it.frames.iter().map(move |frame| (at, frame)))
            .collect();
        loop {
            let before = page.frames.len();
            waiting.retain(|(process, known)| {
                let parent = known.parent.as_ref().and_then(|it| index.get(it)).copied();
                let is_main = page.frames.is_empty();
                if index.contains_key(&known.id)
                    || (parent.is_none() && !is_main)
                    || page.frames.len() >= most.max(1)
                {
                    return !index.contains_key(&known.id);
                }
                index.insert(Arc::clone(&known.id), page.frames.len());
                let state = if known.failed { FrameState::Failed } else { FrameState::Read };
                let document = Arc::clone(&known.document);
                let target = (*process > 0).then(|| Arc::clone(&processes[*process].frames[0].id));
                page.frames.push(Frame {
                    target,
                    document,
                    url: known.url.clone(),
                    ..unread(Arc::clone(&known.id), state)
                });
                page.homes.push((*process, parent));
                false
            });
            if page.frames.len() == before {
                break;
            }
        }
        page.not_read.frames = waiting.iter().map(|(_, known)| &known.id).collect::<HashSet<_>>().len();
        page
    }

    /// Finds the elements that hold the frames, and what they say about frames without a document.
    async fn place(&mut self, processes: &[Process<'_>]) -> Result<(), CdpError> {
        for at in 1..self.frames.len() {
            let (_, Some(parent)) = self.homes[at] else { continue };
            let home = &processes[self.homes[parent].0];
            let frame = &self.frames[at];
            let element = match home.owner(&self.frames[parent].id, &frame.id) {
                Some(element) => Some(element),
                None => match home.ask_owner(&frame.id).await {
                    Ok(element) => Some(element),
                    Err(error @ CdpError::LinkClosed(_)) => return Err(error),
                    Err(_) => None,
                },
            };
            let document = home.document(&self.frames[parent].id);
            let holder =
                document.and_then(|it| it.nodes.iter().find(|node| Some(node.backend_node_id) == element));
            let frame = &mut self.frames[at];
            frame.owner = element.map(|backend_node_id| Owner { frame: parent, backend_node_id });
            let Some(holder) = holder.filter(|_| frame.state == FrameState::Read) else { continue };
            let wants = holder.attribute("src").is_some_and(|it| !it.is_empty())
                || holder.attribute("srcdoc").is_some();
            if !holder.has_box {
                frame.state = FrameState::Hidden;
            } else if frame.url.is_empty() && wants {
                let lazy = holder.attribute("loading").is_some_and(|it| it.eq_ignore_ascii_case("lazy"));
                frame.state = if lazy { FrameState::NotLoaded } else { FrameState::Loading };
            }
        }
        Ok(())
    }

    /// Finds the part that is asked for, and leaves out the frames that have no share in it.
    async fn narrow(
        &mut self,
        processes: &[Process<'_>],
        part: &Part,
    ) -> Result<Option<scope::Place>, SnapshotError> {
        if part.is_all() {
            return Ok(None);
        }
        let place = scope::find(part, &self.frames, |at| &processes[self.homes[at].0]).await?;
        let document = place.frame.and_then(|at| self.document(processes, at));
        let wanted = place.frames(&self.frames, document);
        for (frame, wanted) in self.frames.iter_mut().zip(wanted) {
            if !wanted {
                frame.state = FrameState::Outside;
            }
        }
        Ok(Some(place))
    }

    /// Whether the tab shows another document by now.
    async fn is_gone(&self, processes: &[Process<'_>]) -> Result<bool, CdpError> {
        let asked = processes[0].ask_frames().await?;
        let now = processes[0].hear_frames(asked).await?;
        Ok(now.first().is_none_or(|main| main.document != self.frames[0].document))
    }

    fn scope(&self, processes: &[Process<'_>], place: &scope::Place) -> Scope {
        let document = place.frame.and_then(|at| self.document(processes, at));
        place.scope(place.frame.map(|at| &self.frames[at].tree), document)
    }

    fn document<'a>(&self, processes: &'a [Process<'_>], at: usize) -> Option<&'a DomDocument> {
        processes[self.homes[at].0].document(&self.frames[at].id)
    }

    /// The second round: the trees of the frames that are to be read, as far as the limits let.
    /// Gives which documents are shown after it.
    async fn read(
        &mut self,
        processes: &[Process<'_>],
        place: Option<&scope::Place>,
        limits: &Limits,
    ) -> Result<HashMap<FrameId, crate::refs::DocumentId>, CdpError> {
        let mut room = limits.nodes;
        let (mut asked, mut too_large) = (Vec::new(), Vec::new());
        let wanted = self.frames.iter_mut().enumerate().filter(|(_, frame)| frame.state == FrameState::Read);
        for (count, (at, frame)) in wanted.enumerate() {
            let process = &processes[self.homes[at].0];
            let document = process.document(&frame.id);
            let size = document.map_or(0, |it| it.nodes.len());
            if count > 0 && (room == 0 || count >= limits.frames) {
                leave(frame, FrameState::LeftOut, &mut self.not_read);
            } else if document.is_some_and(|it| pieces::is_too_much(it, room)) {
                too_large.push((at, room));
            } else {
                // It has nodes that the DOM has not, such as lines of text.
                asked.push((at, room.max(1).saturating_mul(2), process.ask_tree(&frame.id).await));
            }
            room = room.saturating_sub(size);
        }
        let mut trees = Vec::with_capacity(asked.len() + too_large.len());
        for (at, room) in too_large {
            let Some(document) = self.document(processes, at) else { continue };
            let element = place.filter(|it| it.frame == Some(at)).and_then(scope::Place::node);
            let (nodes, all) = pieces::first(document, element, room.max(1));
            let tree = pieces::read(&processes[self.homes[at].0], &nodes).await;
            self.not_read.nodes += all.saturating_sub(tree.as_ref().map_or(0, |it| it.nodes.len()));
            trees.push((at, true, tree));
        }
        let mut after = Vec::with_capacity(processes.len());
        for process in processes {
            after.push(process.ask_frames().await);
        }
        for (at, most, reply) in asked {
            let tree = match reply {
                Ok(reply) => processes[self.homes[at].0].hear_tree(reply, most).await,
                Err(error) => Err(error),
            };
            trees.push((at, false, tree));
        }
        let mut shown = HashMap::new();
        for (at, (process, reply)) in processes.iter().zip(after).enumerate() {
            let frames = match reply {
                Ok(reply) => process.hear_frames(reply).await,
                Err(error) => Err(error),
            };
            match frames {
                Ok(frames) => shown.extend(frames.into_iter().map(|it| (it.id, it.document))),
                Err(error) if at == 0 => return Err(error),
                Err(_) => {}
            }
        }
        for (at, cut, tree) in trees {
            let process = &processes[self.homes[at].0];
            let frame = &mut self.frames[at];
            match tree {
                Ok(tree) if shown.get(&frame.id) == Some(&frame.document) => {
                    if !cut {
                        self.not_read.nodes += tree.not_read;
                    }
                    self.not_read.clickable += fill(frame, tree, process, cut);
                }
                // Of the main frame, only that its document changed is no failure.
                Err(error @ CdpError::LinkClosed(_)) => return Err(error),
                Err(CdpError::Crashed) if self.homes[at].0 == 0 => return Err(CdpError::Crashed),
                Err(error) if at == 0 && !matches!(error, CdpError::Protocol { .. }) => return Err(error),
                Err(error) if at == 0 && shown.get(&frame.id) == Some(&frame.document) => return Err(error),
                Err(CdpError::Spent { .. } | CdpError::Crashed) => {
                    leave(frame, FrameState::Busy, &mut self.not_read);
                }
                Ok(_) | Err(_) => leave(frame, FrameState::Changed, &mut self.not_read),
            }
        }
        Ok(shown)
    }
}

/// Puts its tree and looks into a frame; gives how many clickable elements had no place. A tree
/// that was cut gets no further nodes: they are among those that were not read.
fn fill(frame: &mut Frame, mut tree: AxTree, process: &Process<'_>, cut: bool) -> usize {
    let mut missed = 0;
    if let Some(document) = process.document(&frame.id) {
        frame.looks = clickable::look(document);
        if !cut {
            missed = graft(&mut tree, document, &frame.looks);
        }
    }
    frame.tree = tree;
    missed
}

fn leave(frame: &mut Frame, state: FrameState, not_read: &mut NotRead) {
    frame.state = state;
    not_read.frames += 1;
}

fn unread(id: FrameId, state: FrameState) -> Frame {
    Frame {
        id,
        document: "".into(),
        url: String::new(),
        owner: None,
        target: None,
        state,
        tree: AxTree::default(),
        looks: Looks::default(),
    }
}
