//! What is known of a browser's downloads. Pure.
//!
//! ```text
//!   begun --> in progress --all bytes are there--> saving --put into its place--> completed
//!                 |                                  |
//!                 +--ended by us--> cancelled        +--could not be put there--> failed
//!                 +--ended otherwise--> failed
//! ```
//!
//! It is filled from the moment at which the browser is there, so that a download is known also if
//! it was over before anybody waited for it. Every download is given to one waiting call at most.

use std::collections::VecDeque;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::ids::TabId;

/// How many that have ended are remembered.
const REMEMBERED: usize = 200;

/// How far a download is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DownloadState {
    /// Bytes arrive.
    InProgress,
    /// All have arrived; it is being put into its place.
    Saving,
    /// It is a file.
    Completed,
    /// We ended it.
    Cancelled,
    /// It ended without a file.
    Failed,
}

/// A download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Download {
    /// Chromium's name for it.
    pub guid: String,
    /// Where it comes from.
    pub url: String,
    /// What the server or the page would call it; made harmless.
    pub suggested_filename: String,
    /// How far it is.
    pub state: DownloadState,
    /// How many bytes have arrived.
    pub bytes: u64,
    /// How many there will be, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// The file, once it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Counts the downloads of the browser.
    #[serde(skip)]
    pub number: u64,
    #[serde(skip)]
    of: [Option<TabId>; 2],
    #[serde(skip)]
    taken: bool,
    #[serde(skip)]
    told: bool,
    #[serde(skip)]
    cancelling: bool,
}

/// Parameters of `Browser.downloadProgress`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Progress {
    pub(crate) guid: String,
    total_bytes: f64,
    received_bytes: f64,
    state: Reported,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Reported {
    InProgress,
    Completed,
    Canceled,
    #[serde(other)]
    Other,
}

/// The downloads of a browser.
#[derive(Clone, Debug, Default)]
pub(crate) struct Downloads {
    all: VecDeque<Download>,
    /// The number of the next one.
    next: u64,
}

impl Download {
    /// Whether nothing will change any more.
    pub fn is_over(&self) -> bool {
        !matches!(self.state, DownloadState::InProgress | DownloadState::Saving)
    }

    fn is_of(&self, tab: TabId) -> bool {
        self.of.contains(&Some(tab))
    }
}

impl Downloads {
    /// The number of the next download: those from it on began later than now.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// A download began in a tab, or in one that this tab opened.
    pub(crate) fn begun(&mut self, guid: String, url: String, name: &str, of: [Option<TabId>; 2]) {
        let over = self.all.iter().filter(|it| it.is_over()).count();
        if over >= REMEMBERED
            && let Some(oldest) = self.all.iter().position(Download::is_over)
        {
            self.all.remove(oldest);
        }
        self.all.push_back(Download {
            guid,
            url,
            suggested_filename: harmless(name),
            state: DownloadState::InProgress,
            bytes: 0,
            total_bytes: None,
            path: None,
            error: None,
            number: self.next,
            of,
            taken: false,
            told: false,
            cancelling: false,
        });
        self.next += 1;
    }

    /// Chromium says how far one is; gives the name that it is to be saved by, once it is there.
    pub(crate) fn progress(&mut self, progress: &Progress) -> Option<String> {
        let it = self.get_mut(&progress.guid).filter(|it| it.state == DownloadState::InProgress)?;
        it.bytes = whole(progress.received_bytes);
        it.total_bytes = Some(whole(progress.total_bytes)).filter(|total| *total > 0);
        match progress.state {
            Reported::Completed => {
                it.state = DownloadState::Saving;
                return Some(it.suggested_filename.clone());
            }
            Reported::Canceled if it.cancelling => it.state = DownloadState::Cancelled,
            Reported::Canceled => {
                it.state = DownloadState::Failed;
                it.error = Some("it broke off, or was cancelled in the browser".into());
            }
            Reported::InProgress | Reported::Other => {}
        }
        None
    }

    /// It was put into its place, or could not be.
    pub(crate) fn saved(&mut self, guid: &str, outcome: Result<PathBuf, String>) {
        let Some(it) = self.get_mut(guid) else { return };
        match outcome {
            Ok(path) => (it.state, it.path) = (DownloadState::Completed, Some(path)),
            Err(why) => (it.state, it.error) = (DownloadState::Failed, Some(why)),
        }
    }

    /// It is about to be ended by us.
    pub(crate) fn cancelling(&mut self, guid: &str) {
        if let Some(it) = self.get_mut(guid) {
            it.cancelling = true;
        }
    }

    /// Gives the first download of a tab that no call has taken: one that began at `from` or later, or
    /// an earlier one that nobody was told the end of.
    pub(crate) fn take(&mut self, tab: TabId, from: u64, earlier: bool) -> Option<String> {
        let fits =
            |it: &&mut Download| it.is_of(tab) && !it.taken && (it.number >= from || (earlier && !it.told));
        let it = self.all.iter_mut().find(fits)?;
        it.taken = true;
        Some(it.guid.clone())
    }

    /// The call that took it has given it up.
    pub(crate) fn give_back(&mut self, guid: &str) {
        if let Some(it) = self.get_mut(guid) {
            it.taken = false;
        }
    }

    /// The downloads of a tab that began at `from` or later.
    pub(crate) fn since(&self, tab: TabId, from: u64) -> Vec<Download> {
        self.all.iter().filter(|it| it.number >= from && it.is_of(tab)).cloned().collect()
    }

    /// A caller was told of these.
    pub(crate) fn told(&mut self, downloads: &[Download]) {
        for told in downloads.iter().filter(|it| it.is_over()) {
            if let Some(it) = self.get_mut(&told.guid) {
                it.told = true;
            }
        }
    }

    /// One of them.
    pub(crate) fn get(&self, guid: &str) -> Option<&Download> {
        self.all.iter().find(|it| it.guid == guid)
    }

    fn get_mut(&mut self, guid: &str) -> Option<&mut Download> {
        self.all.iter_mut().find(|it| it.guid == guid)
    }
}

/// A file name that is one on every machine and shows what it is.
fn harmless(name: &str) -> String {
    const LONGEST: usize = 150;
    let bad = |it: char| {
        it.is_control()
            || matches!(it, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
            // They turn the direction of writing, so that an ending looks like another one.
            || matches!(it, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let name: String = name.chars().map(|it| if bad(it) { '_' } else { it }).collect();
    let name = name.trim().trim_start_matches('.').trim_end_matches(['.', ' ']);
    if name.is_empty() {
        return "download".into();
    }
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    // The ending says what it is.
    let (stem, ending) = name.rsplit_once('.').filter(|(_, it)| it.len() <= 16).unwrap_or((name, ""));
    let stem: String = stem.chars().take(LONGEST - 17).collect();
    if ending.is_empty() { stem } else { format!("{stem}.{ending}") }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
fn whole(bytes: f64) -> u64 {
    bytes.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAB: TabId = TabId(1);

    fn progress(guid: &str, bytes: u32, state: &str) -> Progress {
        let text = format!(r#"{{"guid":"{guid}","totalBytes":9,"receivedBytes":{bytes},"state":"{state}"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    fn with(guids: &[&str]) -> Downloads {
        let mut downloads = Downloads::default();
        for guid in guids {
            downloads.begun((*guid).into(), "http://a/".into(), "a.txt", [Some(TAB), None]);
        }
        downloads
    }

    #[test]
    fn it_is_a_file_only_once_it_was_put_into_its_place() {
        let mut downloads = with(&["g"]);
        assert_eq!(downloads.progress(&progress("g", 4, "inProgress")), None);
        assert_eq!(downloads.get("g").unwrap().bytes, 4);
        assert_eq!(downloads.progress(&progress("g", 9, "completed")).as_deref(), Some("a.txt"));
        // It may be told again.
        assert_eq!(downloads.progress(&progress("g", 9, "completed")), None);
        assert!(!downloads.get("g").unwrap().is_over());
        downloads.saved("g", Ok("/d/a.txt".into()));
        let it = downloads.get("g").unwrap();
        assert_eq!((it.state, it.is_over()), (DownloadState::Completed, true));
    }

    #[test]
    fn what_we_ended_is_cancelled_and_what_ended_otherwise_failed() {
        let mut downloads = with(&["g", "h"]);
        downloads.cancelling("g");
        for guid in ["g", "h"] {
            assert_eq!(downloads.progress(&progress(guid, 1, "canceled")), None);
        }
        assert_eq!(downloads.get("g").unwrap().state, DownloadState::Cancelled);
        let other = downloads.get("h").unwrap();
        assert!(other.state == DownloadState::Failed && other.error.is_some());
    }

    #[test]
    fn each_is_given_to_one_call_and_again_if_that_gives_it_up() {
        let mut downloads = with(&["g", "h"]);
        assert_eq!(downloads.take(TAB, 0, false).as_deref(), Some("g"));
        assert_eq!(downloads.take(TAB, 0, false).as_deref(), Some("h"));
        assert_eq!(downloads.take(TAB, 0, true), None);
        downloads.give_back("g");
        assert_eq!(downloads.take(TAB, 1, false), None);
        assert_eq!(downloads.take(TAB, 1, true).as_deref(), Some("g"));
        assert_eq!(downloads.take(TabId(2), 0, true), None);
    }

    #[test]
    fn an_earlier_one_counts_unless_its_end_was_told() {
        let mut downloads = with(&["g"]);
        downloads.told(&downloads.since(TAB, 0));
        assert_eq!(downloads.take(TAB, 5, true).as_deref(), Some("g"), "only that it began was told");
        downloads.give_back("g");
        downloads.progress(&progress("g", 9, "completed"));
        downloads.saved("g", Ok("/d/a.txt".into()));
        downloads.told(&downloads.since(TAB, 0));
        assert_eq!(downloads.take(TAB, 5, true), None);
    }

    #[test]
    fn one_of_a_popup_is_its_openers_too_and_the_memory_is_bounded() {
        let mut downloads = Downloads::default();
        for number in 0..REMEMBERED + 50 {
            let of = [Some(TabId(7)), Some(TAB)];
            downloads.begun(number.to_string(), String::new(), "a", of);
            downloads.progress(&progress(&number.to_string(), 1, "canceled"));
        }
        assert_eq!(downloads.since(TAB, 0).len(), REMEMBERED);
        assert_eq!(downloads.since(TAB, downloads.next() - 1).len(), 1);
        assert_eq!(downloads.get("0"), None);
    }

    #[test]
    fn names_are_harmless() {
        for (given, name) in [
            ("report.txt", "report.txt"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("..", "download"),
            ("", "download"),
            (".bashrc", "bashrc"),
            ("a\u{202e}txt.exe", "a_txt.exe"),
            ("C:\\x\n.txt", "C__x_.txt"),
            ("übung 日本.pdf", "übung 日本.pdf"),
            ("a. ", "a"),
        ] {
            assert_eq!(harmless(given), name);
        }
        let long = harmless(&format!("{}.tar", "x".repeat(300)));
        assert!(long.rsplit_once('.').is_some_and(|(_, it)| it == "tar") && long.len() <= 150, "{long}");
    }

    proptest! {
        #[test]
        fn no_name_leaves_its_folder(name in ".{0,300}") {
            let name = harmless(&name);
            let path = std::path::Path::new("/d").join(&name);
            prop_assert!(!name.is_empty() && path.parent() == Some(std::path::Path::new("/d")), "{:?}", name);
            prop_assert!(path.file_name().is_some_and(|it| it.to_str() == Some(&*name)));
        }
    }
}
