//! A page as text, from Chromium's accessibility tree.
//!
//! [`capture`](capture()) reads the trees of all frames and proves that they are of one document;
//! [`render_role`], [`render_ai`] and [`list_aria`] turn what was read into text, giving refs from
//! a tab's [`RefTable`](crate::refs::RefTable). Everything but the reading is plain values.
//!
//! | file | holds |
//! |---|---|
//! | `capture`, `process` | reading: the rounds of commands, and those to one process |
//! | `frame`, `frame_tree` | a page as it was read; its frames as Chromium lists them |
//! | `ax`, `roles` | the accessibility tree of a frame; what roles mean |
//! | `dom`, `clickable`, `graft` | what is clickable by its style only, and its place in the tree |
//! | `outline`, `naming` | all frames as one tree; who gets a ref |
//! | `role_format`, `ai_format`, `ai_tree`, `aria_format` | the three formats |
//! | `fit`, `delta`, `yaml`, `surrogates` | limits and counts, what is new, quoting, broken strings |

mod ai_format;
mod ai_tree;
mod aria_format;
mod ax;
mod capture;
mod clickable;
mod delta;
mod dom;
mod fit;
mod frame;
mod frame_tree;
mod graft;
mod naming;
mod outline;
mod process;
mod role_format;
mod roles;
mod surrogates;
#[cfg(test)]
mod tests_page;
mod yaml;

pub use ai_format::{AiOptions, render_ai};
pub use aria_format::{AriaList, AriaNode, DEFAULT_NODES, MOST_NODES, list_aria};
pub use ax::{AxNode, AxTree, States, Tristate};
pub use capture::{Limits, SnapshotError, capture};
pub use clickable::{Clickable, Looks};
pub use delta::{Identities, Seen};
pub use fit::{RefEntry, Rendered, Stats, TOO_DEEP, TOO_LARGE, ref_map};
pub use frame::{Capture, Frame, FrameState, NotRead, Owner};
pub use naming::find_in;
pub use role_format::{MAX_DEPTH, RoleOptions, render_role};
pub use roles::{RoleKind, kind};
