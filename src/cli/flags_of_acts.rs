//! What can be said on the command line to do something on a page.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::Value;

use super::failure::Failure;
use super::flags::positive;

/// Which tab, and for how long.
#[derive(Debug, Args)]
pub(super) struct OnTab {
    /// The tab: its id (t1), label or target id; without it the last used one
    #[arg(long, visible_alias = "target-id", value_name = "TAB")]
    pub(super) tab: Option<String>,
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

/// Where the fields of a form are written.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct FieldsOf {
    /// JSON: `[{"ref": "e1", "value": "Ada"}, ...]`
    #[arg(long, value_name = "JSON")]
    fields: Option<String>,
    /// The same in a file; `-` for standard input
    #[arg(long, value_name = "PATH")]
    fields_file: Option<PathBuf>,
}

/// Where the actions of a batch are written.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Actions {
    /// JSON: `[{"kind": "click", "ref": "e1"}, ...]`
    #[arg(long, value_name = "JSON")]
    actions: Option<String>,
    /// The same in a file; `-` for standard input
    #[arg(long, value_name = "PATH")]
    actions_file: Option<PathBuf>,
}

impl FieldsOf {
    pub(super) fn read(self) -> Result<Value, Failure> {
        json_of("--fields", self.fields, self.fields_file)
    }
}

impl Actions {
    pub(super) fn read(self) -> Result<Value, Failure> {
        json_of("--actions", self.actions, self.actions_file)
    }
}

fn json_of(flag: &str, text: Option<String>, file: Option<PathBuf>) -> Result<Value, Failure> {
    let text = match (text, file) {
        (Some(text), _) => text,
        (None, Some(file)) if file == Path::new("-") => {
            let unread = |why| Failure::usage(format!("standard input could not be read: {why}"));
            std::io::read_to_string(std::io::stdin()).map_err(unread)?
        }
        (None, Some(file)) => std::fs::read_to_string(&file)
            .map_err(|why| Failure::usage(format!("{} could not be read: {why}", file.display())))?,
        (None, None) => String::new(),
    };
    serde_json::from_str(&text).map_err(|why| Failure::usage(format!("{flag} is no JSON: {why}")))
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
    /// Show which element is meant, at a window or on pictures
    Highlight {
        /// Its ref
        #[arg(value_name = "REF", required_unless_present = "clear")]
        element: Option<String>,
        /// Show none any more
        #[arg(long, conflicts_with = "element")]
        clear: bool,
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
        #[command(flatten)]
        fields: FieldsOf,
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
    /// Wait until a page shows something, has an address, or is loaded
    Wait {
        /// A CSS selector; any element that it matches can be seen
        selector: Option<String>,
        /// So many milliseconds, at most 30000
        #[arg(long, value_name = "MS")]
        time: Option<u64>,
        /// The page shows this text
        #[arg(long)]
        text: Option<String>,
        /// The page does not show this text
        #[arg(long, value_name = "TEXT")]
        text_gone: Option<String>,
        /// The element of this ref can be seen
        #[arg(long = "ref", value_name = "REF")]
        element: Option<String>,
        // Not `url`: that is the service's.
        /// The page has such an address: a part of it, or a glob such as **/done*
        #[arg(long, value_name = "URL")]
        address: Option<String>,
        /// How far it is loaded
        #[arg(long, value_parser = ["load", "domcontentloaded", "networkidle"])]
        load: Option<String>,
        /// This gives something true
        #[arg(long = "fn", value_name = "CODE", allow_hyphen_values = true)]
        function: Option<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Do several actions, one after the other
    Batch {
        #[command(flatten)]
        actions: Actions,
        /// Go on after one that failed
        #[arg(long = "continue")]
        go_on: bool,
        #[command(flatten)]
        on: OnTab,
    },
    /// Give a page a viewport of this size, in CSS pixels
    Resize {
        #[arg(value_parser = clap::value_parser!(u32).range(1..=8192))]
        width: u32,
        #[arg(value_parser = clap::value_parser!(u32).range(1..=8192))]
        height: u32,
        #[command(flatten)]
        on: OnTab,
    },
    /// Take a picture; it is a file where the service runs
    Screenshot {
        /// The tab; without it the last used one
        #[arg(conflicts_with = "tab")]
        target: Option<String>,
        /// All of the page
        #[arg(long)]
        full_page: bool,
        /// The element of this ref
        #[arg(long = "ref", value_name = "REF", conflicts_with_all = ["full_page", "css"])]
        element: Option<String>,
        /// The element that this CSS selector matches
        #[arg(long = "element", id = "css", value_name = "CSS", conflicts_with = "full_page")]
        css: Option<String>,
        /// With the refs drawn onto it
        #[arg(long)]
        labels: bool,
        /// What kind of file
        #[arg(long = "type", value_name = "TYPE", value_parser = ["png", "jpeg"])]
        format: Option<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Bring a tab to the front
    Focus {
        /// The tab: its id (t1), label or target id
        target: String,
        /// Milliseconds until the answer
        #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
        timeout_ms: Option<u64>,
    },
    /// Go back in the history of a tab
    Back(OnTab),
    /// Go forward in the history of a tab
    Forward(OnTab),
    /// Load the page of a tab again
    Reload(OnTab),
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
    /// Where a tab is named in another place.
    pub(super) fn or(tab: Option<String>, on: Self) -> Self {
        Self { tab: tab.or(on.tab), ..on }
    }

    pub(super) fn tab(&self) -> Option<&str> {
        self.tab.as_deref()
    }
}
