//! A page as text, from Chromium's accessibility tree.
//!
//! A [`Request`] says what is wanted, a tab's [`Memory`] takes it to a [`Snapshot`]. Below that,
//! [`capture`](capture()) reads the trees of all frames and proves that they are of one document;
//! [`render_role`], [`render_ai`] and [`list_aria`] turn what was read into text, giving refs from
//! a tab's [`RefTable`](crate::refs::RefTable). Everything but the reading is plain values.
//!
//! | file | holds |
//! |---|---|
//! | `request`, `answer`, `error` | what a caller asks for and gets |
//! | `memory`, `next` | what a tab remembers; going on where a snapshot was cut |
//! | `scope`, `query` | the part of a page that is asked for, and finding it by CSS |
//! | `capture`, `process`, `pieces` | reading: the rounds of commands, those to one process, and to one that is too large |
//! | `frame`, `frame_tree` | a page as it was read; its frames as Chromium lists them |
//! | `ax`, `roles` | the accessibility tree of a frame; what roles mean |
//! | `dom`, `clickable`, `graft` | what is clickable by its style only, and its place in the tree |
//! | `outline`, `naming` | all frames as one tree; who gets a ref |
//! | `role_format`, `ai_format`, `ai_tree`, `aria_format` | the three formats |
//! | `text_options`, `fit`, `delta`, `links` | options, limits and counts, what is new, the list of links |
//! | `yaml`, `surrogates` | quoting, broken strings |

mod ai_format;
mod ai_tree;
mod answer;
mod aria_format;
mod ax;
mod capture;
mod clickable;
mod delta;
mod dom;
mod error;
mod fit;
mod frame;
pub(crate) mod frame_tree;
mod graft;
mod links;
mod memory;
mod naming;
mod next;
mod outline;
mod pieces;
mod process;
mod query;
mod request;
mod role_format;
mod roles;
mod scope;
mod surrogates;
#[cfg(test)]
mod tests_page;
mod text_options;
mod yaml;

pub use ai_format::render_ai;
pub use answer::{Body, List, Missing, MissingFrame, Snapshot, Text};
pub use aria_format::{AriaList, AriaNode, DEFAULT_NODES, MOST_NODES, list_aria};
pub use ax::{AxNode, AxTree, States, Tristate};
pub use capture::{Limits, capture};
pub use clickable::{Clickable, Looks};
pub use delta::{Identities, Seen};
pub use error::SnapshotError;
pub use fit::{CHANGED, Cut, RefEntry, Rendered, Stats, TOO_DEEP, TOO_LARGE, ref_map};
pub use frame::{Capture, Frame, FrameState, NotRead, Owner, Scope};
pub use memory::{Memory, Plan, Taken, take};
pub use naming::find_in;
pub use request::{Format, Producer, Request};
pub use role_format::{MAX_DEPTH, render_role};
pub use roles::{RoleKind, kind};
pub use scope::{FrameElement, Part};
pub use text_options::TextOptions;
