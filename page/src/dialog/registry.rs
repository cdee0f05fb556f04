//! Which dialog is open and which were; gives no answers.

use std::collections::VecDeque;

use super::{Dialog, DialogKind, Resolution, shortened};

/// How many closed dialogs are remembered.
const RECENT: usize = 20;

/// The dialogs of one tab.
#[derive(Debug, Default)]
pub struct DialogRegistry {
    opened: u64,
    open: Option<Dialog>,
    recent: VecDeque<(Dialog, Resolution)>,
    answering: bool,
}

impl DialogRegistry {
    /// A registry that continues after `opened` dialogs, so that no id comes twice.
    pub fn after(opened: u64) -> Self {
        Self { opened, ..Self::default() }
    }

    /// `Page.javascriptDialogOpening`. A second one without a close in between replaces the
    /// first: Chromium shows one at a time.
    pub fn opened(&mut self, kind: DialogKind, message: &str, default_value: Option<String>) -> &Dialog {
        self.end(Resolution::Lost);
        self.opened += 1;
        let dialog = Dialog {
            id: format!("d{}", self.opened),
            kind,
            message: shortened(message),
            default_value: default_value.filter(|_| kind == DialogKind::Prompt),
        };
        self.answering = false;
        self.open.insert(dialog)
    }

    /// `Page.javascriptDialogClosed`: the only event that clears the state, whoever answered.
    pub fn closed(&mut self) -> Option<Resolution> {
        let how = if self.answering { Resolution::Agent } else { Resolution::Remote };
        self.end(how)
    }

    /// The document, the renderer or the watcher's link went away with the dialog.
    pub fn lost(&mut self) -> Option<Resolution> {
        self.end(Resolution::Lost)
    }

    /// We are about to answer the open dialog.
    pub fn answering(&mut self) {
        self.answering = self.open.is_some();
    }

    /// The open dialog.
    pub fn open(&self) -> Option<&Dialog> {
        self.open.as_ref()
    }

    /// Closed ones, oldest first.
    pub fn recent(&self) -> impl Iterator<Item = &(Dialog, Resolution)> {
        self.recent.iter()
    }

    fn end(&mut self, how: Resolution) -> Option<Resolution> {
        let dialog = self.open.take()?;
        self.answering = false;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((dialog, how));
        Some(how)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_names_one_opening() {
        let mut dialogs = DialogRegistry::default();
        assert_eq!(dialogs.opened(DialogKind::Confirm, "sure?", None).id, "d1");
        assert_eq!(dialogs.closed(), Some(Resolution::Remote));
        assert_eq!(dialogs.opened(DialogKind::Prompt, "name", Some("Ada".into())).id, "d2");
        dialogs.answering();
        assert_eq!(dialogs.closed(), Some(Resolution::Agent));
        assert_eq!(dialogs.closed(), None, "a second close is not another dialog");
    }

    proptest! {
        #[test]
        fn at_most_one_is_open_and_no_id_comes_twice(steps in prop::collection::vec(0u8..4, 0..80)) {
            let mut dialogs = DialogRegistry::default();
            let mut seen = std::collections::HashSet::new();
            for step in steps {
                match step {
                    0 => prop_assert!(seen.insert(dialogs.opened(DialogKind::Alert, "m", None).id.clone())),
                    1 => { dialogs.closed(); prop_assert!(dialogs.open().is_none()); }
                    2 => { dialogs.lost(); prop_assert!(dialogs.open().is_none()); }
                    _ => dialogs.answering(),
                }
                prop_assert!(dialogs.recent().count() <= RECENT);
            }
        }
    }
}
