//! Which ref names what.

use std::collections::HashMap;
use std::sync::Arc;

use super::documents::{DocumentId, Documents, FrameId};
use super::matching::Place;
use super::spelling::RefId;
use super::stale::{StaleReason, StaleRef};

/// What makes a node the same node within its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// A DOM node. Chromium never gives its id to another one.
    Node(i64),
    /// A node of the accessibility tree that is no DOM node, by its place under one.
    Under {
        /// The nearest DOM node above it.
        node: i64,
        /// Its place among all that hang on that node.
        index: u32,
    },
}

impl Identity {
    /// The DOM node, if it is one.
    pub fn backend_node_id(self) -> Option<i64> {
        match self {
            Self::Node(id) => Some(id),
            Self::Under { .. } => None,
        }
    }
}

/// Which names a snapshot gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Series {
    /// `e12`, and `f1e12` in child frames.
    Element,
    /// `ax12`.
    Aria,
}

/// A node that a snapshot saw and wants a ref for.
#[derive(Clone, Debug)]
pub struct Sighting<'a> {
    /// Its frame.
    pub frame: &'a FrameId,
    /// The document of its frame.
    pub document: &'a DocumentId,
    /// What makes it itself.
    pub identity: Identity,
    /// In lower case.
    pub role: &'a str,
    /// Its accessible name.
    pub name: &'a str,
    /// Its place among those of the same role and name.
    pub place: Place,
}

/// What a ref names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ref {
    /// Its own name.
    pub id: RefId,
    /// Role in lower case, at the last snapshot that saw it.
    pub role: Box<str>,
    /// Name, at the last snapshot that saw it.
    pub name: Box<str>,
    /// Its place among those of the same role and name, at that snapshot.
    pub place: Place,
    /// Its DOM node; without one it can only be found by role, name and place.
    pub backend_node_id: Option<i64>,
    /// Its frame.
    pub frame: FrameId,
    /// The document of its frame.
    pub document: DocumentId,
    /// The document of the main frame at that time.
    pub main_document: DocumentId,
    detached: bool,
    seen: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    series: Series,
    frame: FrameId,
    document: DocumentId,
    identity: Identity,
}

/// The numbers of one frame.
#[derive(Clone, Debug)]
struct Numbers {
    ordinal: u32,
    document: DocumentId,
    last: u32,
    /// The last number given before `document` was shown.
    before: u32,
}

/// The refs of one tab.
#[derive(Clone, Debug)]
pub struct RefTable {
    refs: HashMap<RefId, Ref>,
    keys: HashMap<Key, RefId>,
    frames: HashMap<FrameId, Numbers>,
    last_ordinal: u32,
    aria_last: u32,
    aria_before: u32,
    main_document: Option<DocumentId>,
    snapshot: u64,
    most: usize,
}

impl Default for RefTable {
    fn default() -> Self {
        Self::new(Self::MOST)
    }
}

impl RefTable {
    /// How many refs are kept by default. Past it, those not seen for longest are forgotten.
    pub const MOST: usize = 50_000;

    /// An empty table that keeps about `most` refs (and always those of the last snapshot).
    pub fn new(most: usize) -> Self {
        Self {
            refs: HashMap::new(),
            keys: HashMap::new(),
            frames: HashMap::new(),
            last_ordinal: 0,
            aria_last: 0,
            aria_before: 0,
            main_document: None,
            snapshot: 0,
            most,
        }
    }

    /// A new snapshot of these documents begins: what belongs to others is forgotten, though not
    /// that its numbers were given.
    pub fn begin(&mut self, current: &Documents) {
        self.snapshot += 1;
        self.refs.retain(|_, it| current.may_show(&it.frame, &it.document));
        self.keys.retain(|key, _| current.may_show(&key.frame, &key.document));
        self.frames.retain(|frame, numbers| {
            current.of(frame).is_some() || current.may_show(frame, &numbers.document)
        });
        for (frame, numbers) in &mut self.frames {
            if let Some(document) = current.of(frame).filter(|it| **it != numbers.document) {
                numbers.document = Arc::clone(document);
                numbers.before = numbers.last;
            }
        }
        if self.main_document.as_ref() != Some(current.main_document()) {
            self.aria_before = self.aria_last;
            self.main_document = Some(Arc::clone(current.main_document()));
        }
        // Main is frame 0 whether or not anything of it gets a ref.
        self.frames.entry(Arc::clone(current.main())).or_insert_with(|| Numbers {
            ordinal: 0,
            document: Arc::clone(current.main_document()),
            last: 0,
            before: 0,
        });
        self.forget_the_oldest();
    }

    /// The ref of a node: the one it has, or the next number.
    pub fn name(&mut self, series: Series, seen: &Sighting<'_>) -> RefId {
        let key = Key {
            series,
            frame: Arc::clone(seen.frame),
            document: Arc::clone(seen.document),
            identity: seen.identity,
        };
        let known = self.keys.get(&key).copied().filter(|id| self.may_keep(*id, seen));
        let id = known.unwrap_or_else(|| self.next(series, seen));
        let main_document = self.main_document.clone().unwrap_or_else(|| Arc::clone(seen.document));
        let snapshot = self.snapshot;
        let entry = self.refs.entry(id).or_insert_with(|| Ref {
            id,
            role: seen.role.into(),
            name: seen.name.into(),
            place: seen.place,
            backend_node_id: seen.identity.backend_node_id(),
            frame: Arc::clone(seen.frame),
            document: Arc::clone(seen.document),
            main_document,
            detached: false,
            seen: snapshot,
        });
        if *entry.role != *seen.role {
            entry.role = seen.role.into();
        }
        if *entry.name != *seen.name {
            entry.name = seen.name.into();
        }
        (entry.place, entry.seen, entry.detached) = (seen.place, snapshot, false);
        self.keys.insert(key, id);
        id
    }

    /// What `text` names, given the documents that are shown now.
    ///
    /// # Errors
    /// [`StaleRef`] with the reason.
    pub fn resolve(&self, text: &str, current: &Documents) -> Result<&Ref, StaleRef> {
        let stale = |reason| Err(StaleRef::new(text, reason));
        let Some(id) = RefId::read(text) else { return stale(StaleReason::Unknown) };
        let Some(found) = self.refs.get(&id) else { return stale(self.why_missing(id, current)) };
        if found.main_document != *current.main_document() {
            return stale(StaleReason::DocumentChanged);
        }
        if !current.may_show(&found.frame, &found.document) {
            return stale(StaleReason::FrameChanged);
        }
        if found.detached { stale(StaleReason::NodeDetached) } else { Ok(found) }
    }

    /// The page said that this element is in its document no more. It stays stale unless a later
    /// snapshot sees the same node again.
    pub fn detached(&mut self, id: RefId) {
        if let Some(found) = self.refs.get_mut(&id) {
            found.detached = true;
        }
    }

    /// How many refs are known.
    pub fn len(&self) -> usize {
        self.refs.len()
    }

    /// Whether no ref is known.
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty()
    }

    /// A DOM node is itself whatever its name is now. Another node is only known by its looks.
    fn may_keep(&self, id: RefId, seen: &Sighting<'_>) -> bool {
        let same = |it: &Ref| *it.role == *seen.role && *it.name == *seen.name;
        seen.identity.backend_node_id().is_some() || self.refs.get(&id).is_some_and(same)
    }

    fn next(&mut self, series: Series, seen: &Sighting<'_>) -> RefId {
        if series == Series::Aria {
            self.aria_last += 1;
            return RefId::Aria { number: self.aria_last };
        }
        let last_ordinal = &mut self.last_ordinal;
        let numbers = self.frames.entry(Arc::clone(seen.frame)).or_insert_with(|| {
            *last_ordinal += 1;
            Numbers { ordinal: *last_ordinal, document: Arc::clone(seen.document), last: 0, before: 0 }
        });
        numbers.last += 1;
        RefId::Element { frame: numbers.ordinal, number: numbers.last }
    }

    /// A number that was given and is not in the table was forgotten: with its document, or for
    /// want of room.
    fn why_missing(&self, id: RefId, current: &Documents) -> StaleReason {
        let another = self.main_document.as_ref() != Some(current.main_document());
        let (given, before) = match id {
            RefId::Aria { number } => (number <= self.aria_last, number <= self.aria_before),
            RefId::Element { frame, number } => {
                match self.frames.values().find(|numbers| numbers.ordinal == frame) {
                    Some(numbers) => (number <= numbers.last, number <= numbers.before),
                    // The frame is gone, and with it how many numbers it had.
                    None => (frame > 0 && frame <= self.last_ordinal, true),
                }
            }
        };
        match id {
            _ if !given => StaleReason::Unknown,
            _ if another => StaleReason::DocumentChanged,
            RefId::Element { frame: 1.., .. } if before => StaleReason::FrameChanged,
            _ if before => StaleReason::DocumentChanged,
            RefId::Aria { .. } => StaleReason::FrameChanged,
            RefId::Element { .. } => StaleReason::Unknown,
        }
    }

    fn forget_the_oldest(&mut self) {
        if self.refs.len() <= self.most {
            return;
        }
        let mut ages: Vec<u64> = self.refs.values().map(|it| it.seen).collect();
        let surplus = ages.len() - self.most;
        let (_, oldest_kept, _) = ages.select_nth_unstable(surplus);
        // Those of the snapshot before this one stay, however many they are.
        let oldest_kept = (*oldest_kept).min(self.snapshot - 1);
        self.refs.retain(|_, it| it.seen >= oldest_kept);
        let refs = &self.refs;
        self.keys.retain(|_, id| refs.contains_key(id));
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
