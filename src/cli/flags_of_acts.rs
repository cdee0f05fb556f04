//! What can be said on the command line to do something on a page.

use clap::{Args, Subcommand};

use super::flags::positive;

/// Which tab, and for how long.
#[derive(Debug, Args)]
pub(super) struct OnTab {
    /// The tab: its id (t1), label or target id; without it the last used one
    #[arg(long, visible_alias = "target-id", value_name = "TAB")]
    tab: Option<String>,
    /// Milliseconds until the answer, whatever the page does
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub(super) timeout_ms: Option<u64>,
}

/// One of the two.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Answer {
    /// OK
    #[arg(long)]
    pub(super) accept: bool,
    /// Cancel
    #[arg(long)]
    dismiss: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Click an element
    Click {
        /// Its ref
        #[arg(value_name = "REF")]
        element: String,
        /// Twice
        #[arg(long)]
        double: bool,
        /// With which button
        #[arg(long, value_parser = ["left", "right", "middle"])]
        button: Option<String>,
        /// With these keys held: Alt, Control, Meta, Shift
        #[arg(long, value_delimiter = ',')]
        modifiers: Vec<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Click at a point of the viewport, in CSS pixels
    ClickCoords {
        x: f64,
        y: f64,
        /// Twice
        #[arg(long)]
        double: bool,
        /// With which button
        #[arg(long, value_parser = ["left", "right", "middle"])]
        button: Option<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Put text into a field, in the place of what is in it
    Type {
        /// Its ref
        #[arg(value_name = "REF")]
        element: String,
        /// May be empty
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// Press Enter afterwards
        #[arg(long)]
        submit: bool,
        /// Key by key, behind what is in it
        #[arg(long)]
        slowly: bool,
        #[command(flatten)]
        on: OnTab,
    },
    /// Press a key, such as Enter or Control+Shift+T
    Press {
        key: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Move the pointer to an element
    Hover {
        /// Its ref
        #[arg(value_name = "REF")]
        element: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Bring an element into view
    #[command(name = "scrollintoview")]
    ScrollIntoView {
        /// Its ref
        #[arg(value_name = "REF")]
        element: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Drag an element to another
    Drag {
        /// The ref to drag
        from: String,
        /// The ref to drop on
        to: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Choose options
    Select {
        /// The ref of the select
        #[arg(value_name = "REF")]
        element: String,
        /// Values or labels
        #[arg(required = true)]
        values: Vec<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Fill several fields
    Fill {
        /// JSON: `[{"ref": "e1", "value": "Ada"}, ...]`
        #[arg(long, value_name = "JSON")]
        fields: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Give files of the uploads folder to a page: to a file input, or to the chooser that a click opens
    Upload {
        /// Their paths in that folder, or whole ones
        #[arg(required = true)]
        paths: Vec<String>,
        /// Click this element, and give them to the chooser that opens
        #[arg(long = "ref", value_name = "REF", conflicts_with_all = ["input_ref", "element"])]
        chooser: Option<String>,
        /// Give them to this file input
        #[arg(long, value_name = "REF", conflicts_with = "element")]
        input_ref: Option<String>,
        /// Give them to the file input that this CSS selector matches
        #[arg(long, value_name = "CSS")]
        element: Option<String>,
        /// The paths are of the machine that the browser runs on
        #[arg(long)]
        remote: bool,
        #[command(flatten)]
        on: OnTab,
    },
    /// Click an element and wait for the file that it downloads
    Download {
        /// Its ref
        #[arg(value_name = "REF")]
        element: String,
        /// Where the file is put, in the downloads folder
        path: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Wait for a download that something else begins, or began
    #[command(name = "waitfordownload")]
    WaitForDownload {
        /// Where the file is put, in the downloads folder
        path: Option<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Make a PDF of a page
    Pdf {
        #[command(flatten)]
        on: OnTab,
    },
    /// Load an address in a tab
    Navigate {
        /// http, https or about:blank
        #[arg(value_name = "URL")]
        address: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Answer the open dialog, or the next one
    Dialog {
        #[command(flatten)]
        answer: Answer,
        /// What to enter in a prompt
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        prompt: Option<String>,
        /// The dialog; it has to be open
        #[arg(long, value_name = "ID")]
        dialog_id: Option<String>,
        #[command(flatten)]
        on: OnTab,
    },
}

impl OnTab {
    pub(super) fn tab(&self) -> Option<&str> {
        self.tab.as_deref()
    }
}
