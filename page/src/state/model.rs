//! What is known of a tab's page, and what is worth keeping of it.

use serde::{Deserialize, Serialize};

/// Longest title in bytes.
pub const TITLE_LIMIT: usize = 4 << 10;

/// Longest address in bytes; a longer one (a `data:` URL, mostly) is cut and never kept, and a
/// longer icon is none.
pub const URL_LIMIT: usize = 64 << 10;

/// What a tab shows: its main frame, never a frame inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the shape of what is shown")]
pub struct PageState {
    /// What an address bar would show; for a failed load what could not be loaded.
    pub url: String,
    /// Empty until the document has one.
    pub title: String,
    /// Its first icon, or a guess for a page that names none.
    pub favicon: Option<String>,
    /// Another document is being loaded, or this one still is.
    pub loading: bool,
    /// What is shown is Chromium's error page. Stays until another document commits, also while
    /// Chromium tries again by itself.
    pub error: Option<PageError>,
    /// There is something to go back to.
    pub can_go_back: bool,
    /// There is something to go forward to.
    pub can_go_forward: bool,
    /// The document's loader id. One that comes back from the back-forward cache has the id that
    /// it had before.
    pub document: Option<String>,
    /// Counts main-frame documents; each makes what was known of the one before stale.
    pub generation: u64,
    /// How often this document has asked to be printed.
    #[serde(default)]
    pub prints: u32,
    /// The renderer is dead; a navigation brings it back.
    pub crashed: bool,
}

/// Why a page could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageError {
    /// Chromium's number, e.g. -102.
    pub code: i32,
    /// Chromium's name, e.g. `net::ERR_CONNECTION_REFUSED`.
    pub description: String,
    /// What could not be loaded.
    pub url: String,
}

/// The last http(s) document that was no error page: where a tab that was lost comes back to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastGood {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its icon.
    pub favicon: Option<String>,
}

/// Everything that is published of a tab's page, and what a watcher may start from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    /// What it shows.
    pub state: PageState,
    /// What is kept of it.
    pub last_good: Option<LastGood>,
}

/// At most `limit` bytes of `text`, in whole characters.
pub(super) fn cut(mut text: String, limit: usize) -> String {
    text.truncate(text.floor_char_boundary(limit));
    text
}

/// Whether an address is one of the web.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}
