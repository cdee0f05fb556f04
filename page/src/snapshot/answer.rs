//! The answer to a request, as callers get it.

use serde::Serialize;

use super::aria_format::AriaNode;
use super::fit::{RefEntry, Stats, ref_map};
use super::frame::Capture;
use super::outline::Outline;

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// `ai` for text, `aria` for a list.
    pub format: &'static str,
    /// The address of the page.
    pub url: String,
    /// What was asked for.
    #[serde(flatten)]
    pub body: Body,
    /// Something is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Given as `after`, it goes on where this was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What was given before the cut is not as it was: lines may be here twice, or nowhere.
    #[serde(rename = "changedSince", skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Body {
    /// Text with refs.
    Text(Text),
    /// A list of nodes.
    List(List),
}

/// Text with refs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// The lines.
    pub snapshot: String,
    /// The elements with refs, in the order of their lines; a map for callers.
    #[serde(serialize_with = "map")]
    pub refs: Vec<RefEntry>,
    /// Counts.
    pub stats: Stats,
    /// How many elements are new since the last snapshot of this document with these options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_elements: Option<usize>,
}

/// A list of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct List {
    /// In reading order.
    pub nodes: Vec<AriaNode>,
}

/// What a snapshot left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// Lines of text, or nodes of a list, over the limit.
    pub lines: usize,
    /// Nodes that were not read, as far as they are known.
    pub nodes: usize,
    /// Elements clickable by style only, that could not be placed.
    pub clickable: usize,
    /// There are nodes deeper than a snapshot goes.
    pub too_deep: bool,
    /// Frames that are not there, and why.
    pub frames: Vec<MissingFrame>,
    /// Further frames that were not read.
    pub more_frames: usize,
}

/// A frame that is not in a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MissingFrame {
    /// The accessible name of its element.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: Box<str>,
    /// Its address, if it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The word that the text has for it.
    pub state: &'static str,
}

/// Most frames that are listed one by one.
const MOST_FRAMES: usize = 100;

#[expect(clippy::ptr_arg, reason = "serde gives the field")]
fn map<S: serde::Serializer>(refs: &Vec<RefEntry>, serializer: S) -> Result<S::Ok, S::Error> {
    ref_map(refs, serializer)
}

impl Missing {
    /// Nothing else than frames that are listed.
    pub(super) fn is_only_frames(&self) -> bool {
        *self == Self { frames: self.frames.clone(), ..Self::default() }
    }
}

/// What is missing from a snapshot of a capture that left out `lines`; none if nothing is.
pub(super) fn missing(capture: &Capture, lines: usize, too_deep: bool) -> Option<Missing> {
    let outline = Outline::new(capture);
    let mut frames = Vec::new();
    if let Some(scope) = &capture.scope {
        // The frame that was asked for hangs below nothing that is shown.
        let own = scope.frame.map(|at| &capture.frames[at]);
        let word = own.map_or(Some("not-read"), |frame| frame.state.word());
        let url = own.map_or_else(String::new, |frame| frame.url.clone());
        frames.extend(word.map(|state| MissingFrame { url, state, ..MissingFrame::default() }));
    }
    for spot in outline.walk() {
        let Some(state) = outline.frame_word(spot) else { continue };
        let url = outline.held(spot).map_or_else(String::new, |(_, frame)| frame.url.clone());
        frames.push(MissingFrame { name: outline.node(spot).name.clone(), url, state });
    }
    let counted = |frame: &&MissingFrame| !matches!(frame.state, "loading" | "not-loaded" | "failed");
    let more_frames = capture.not_read.frames.saturating_sub(frames.iter().filter(counted).count())
        + frames.len().saturating_sub(MOST_FRAMES);
    frames.truncate(MOST_FRAMES);
    let (nodes, clickable) = (capture.not_read.nodes, capture.not_read.clickable);
    let missing = Missing { lines, nodes, clickable, too_deep, frames, more_frames };
    (missing != Missing::default()).then_some(missing)
}
