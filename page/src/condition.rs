//! What makes every call on a tab answer at once.

use crate::dialog::Dialog;

/// The condition of a tab, published by its watcher. Every call races its reply against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The open JavaScript dialog. While one is open no script of the page runs, and most
    /// commands hang.
    pub dialog: Option<Dialog>,
    /// The renderer is dead; only a navigation brings it back.
    pub crashed: bool,
    /// A navigation of ours is under way; written by whoever navigates.
    pub navigating: bool,
}
