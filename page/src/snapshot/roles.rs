//! The role sets that decide what a snapshot keeps and what gets a ref.

/// What a role means to a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleKind {
    /// Something to act on: always gets a ref.
    Interactive,
    /// Something to read: gets a ref when it has a name.
    Content,
    /// Only structure: dropped from compact snapshots when it has neither name nor ref.
    Structural,
    /// A frame: always gets a ref, and its document hangs below it.
    Frame,
    /// Everything else, such as text.
    Other,
}

/// The kind of a role, however Chromium spells it.
pub fn kind(role: &str) -> RoleKind {
    match &*role.to_ascii_lowercase() {
        "button" | "checkbox" | "combobox" | "link" | "listbox" | "menuitem" | "menuitemcheckbox"
        | "menuitemradio" | "option" | "radio" | "searchbox" | "slider" | "spinbutton" | "switch" | "tab"
        | "textbox" | "treeitem" => RoleKind::Interactive,
        "article" | "cell" | "columnheader" | "gridcell" | "heading" | "listitem" | "main" | "navigation"
        | "region" | "rowheader" => RoleKind::Content,
        "application" | "directory" | "document" | "generic" | "grid" | "group" | "ignored" | "list"
        | "menu" | "menubar" | "none" | "presentation" | "row" | "rowgroup" | "table" | "tablist"
        | "toolbar" | "tree" | "treegrid" => RoleKind::Structural,
        "iframe" | "iframepresentational" => RoleKind::Frame,
        _ => RoleKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(kind("Iframe"), RoleKind::Frame);
        assert_eq!(kind("MenuItemCheckBox"), RoleKind::Interactive);
        assert_eq!([kind("none"), kind("RootWebArea")], [RoleKind::Structural, RoleKind::Other]);
        assert_eq!(kind("heading"), RoleKind::Content);
    }
}
