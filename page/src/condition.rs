//! What makes every call on a tab answer at once.

use tokio::sync::watch;

use crate::dialog::Dialog;

/// The condition of a tab, published by its watcher. Every call races its reply against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The open JavaScript dialog. While one is open no script of the page runs, and most
    /// commands hang.
    pub dialog: Option<Dialog>,
    /// The renderer is dead; only a navigation brings it back.
    pub crashed: bool,
    /// It was dead when we came: given up by Chromium to save memory, or crashed before; the protocol
    /// does not tell which. Only with `crashed`.
    pub discarded: bool,
    /// A navigation of ours is under way; written by whoever navigates.
    pub navigating: bool,
}

/// What makes every call on a tab answer at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// A dialog is open.
    Dialog(Dialog),
    /// The renderer is dead.
    Crashed,
}

impl Condition {
    /// What hinders now; a dead renderer has no dialog.
    pub fn hindrance(&self) -> Option<Hindrance> {
        match &self.dialog {
            _ if self.crashed => Some(Hindrance::Crashed),
            Some(dialog) => Some(Hindrance::Dialog(dialog.clone())),
            None => None,
        }
    }
}

/// Completes when a dialog is open or the renderer is dead. Cancel-safe.
pub async fn hindered(condition: &mut watch::Receiver<Condition>) -> Hindrance {
    let now = condition.wait_for(|now| now.hindrance().is_some()).await.map(|now| now.hindrance());
    match now {
        Ok(Some(hindrance)) => hindrance,
        // Its publisher is gone, and with it the tab: the link will say so.
        Ok(None) | Err(_) => std::future::pending().await,
    }
}
