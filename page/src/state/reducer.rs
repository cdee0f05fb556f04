//! From events to what a tab shows. Pure.

use url::Url;

use super::event::{History, Mark, StateEvent};
use super::model::{Known, LastGood, PageError, TITLE_LIMIT, URL_LIMIT, cut, is_web};
use super::net_error;
use super::observer::Report;
use crate::navigate::Frame;

/// What to do after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a thing to do")]
pub struct Effects {
    /// Something of what is [known](Reducer::known) changed.
    pub changed: bool,
    /// Ask for the history and the title in it.
    pub read_history: bool,
    /// Enter the isolated world of the document: with the observer, or, on an error page, to read
    /// the name of the error.
    pub enter_world: bool,
    /// Ask for the frame tree.
    pub read_tree: bool,
}

impl Effects {
    const NONE: Self = Self { changed: false, read_history: false, enter_world: false, read_tree: false };
    const HISTORY: Self = Self { read_history: true, ..Self::NONE };
    const DOCUMENT: Self = Self { enter_world: true, ..Self::HISTORY };
    const EVERYTHING: Self = Self { read_tree: true, ..Self::DOCUMENT };
    const TREE: Self = Self { read_tree: true, ..Self::NONE };
}

/// Keeps what a tab shows.
///
/// What is *not* an event here: the failure of a request. A load that ends without a commit (no
/// content, a download, stopped, superseded, one of Chromium's own retries) changes nothing but
/// `loading`, and a load that fails commits an error page.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is known or not, by itself")]
pub struct Reducer {
    known: Known,
    main_frame: String,
    moves: u64,
    /// The document has loaded, so that an icon that is missing will hardly come any more.
    loaded: bool,
    /// The document's observer has spoken; it knows better than the history.
    reported: bool,
    /// Whether something is loading was not seen, only guessed.
    unsure: bool,
    /// The document is that of this session, not only one that was known before.
    confirmed: bool,
    /// Bytes of addresses over the limit that were seen.
    long_urls: usize,
}

/// The history has 50 entries with addresses of up to 2 MiB each: a page can make the answer as large as to end
/// the link (measured: 50 entries of 52 kB are 2.6 MB). After so much of it the history is not read any more.
const MOST_LONG_URLS: usize = 16 << 20;

impl Reducer {
    /// One that goes on from what was known before. The main frame of a page has its target's id.
    /// Whether it is dead the session tells afresh.
    pub fn new(main_frame: &str, mut known: Known) -> Self {
        known.state.crashed = false;
        let main_frame = main_frame.to_owned();
        Self {
            known,
            main_frame,
            moves: 0,
            loaded: false,
            reported: false,
            unsure: true,
            confirmed: false,
            long_urls: 0,
        }
    }

    /// What is known.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The main frame's id.
    pub fn main_frame(&self) -> &str {
        &self.main_frame
    }

    /// Now, for questions to come.
    pub fn mark(&self) -> Mark {
        Mark { generation: self.known.state.generation, moves: self.moves }
    }

    /// Takes what happened and says what to do.
    pub fn on(&mut self, event: StateEvent) -> Effects {
        if self.is_elsewhere(&event) {
            return Effects::NONE;
        }
        let before = self.known.clone();
        let mut effects = self.apply(event);
        self.guess_favicon();
        self.keep_good();
        effects.changed = self.known != before;
        effects.read_history &= self.long_urls < MOST_LONG_URLS;
        effects
    }

    /// It is about a frame inside the page, or about a document that is gone.
    fn is_elsewhere(&self, event: &StateEvent) -> bool {
        match event {
            StateEvent::Committed { frame, .. } => frame.parent_id.is_some(),
            StateEvent::Started { frame, .. }
            | StateEvent::Within { frame, .. }
            | StateEvent::Stopped { frame } => *frame != self.main_frame,
            StateEvent::Reported { at, .. }
            | StateEvent::History { at, .. }
            | StateEvent::Tree { at, .. }
            | StateEvent::Named { at, .. } => at.generation != self.known.state.generation,
            StateEvent::Parsed | StateEvent::Loaded | StateEvent::Crashed | StateEvent::Lagged => false,
        }
    }

    fn apply(&mut self, event: StateEvent) -> Effects {
        let state = &mut self.known.state;
        match event {
            StateEvent::Started { same_document: true, .. } => Effects::NONE,
            StateEvent::Started { .. } => {
                state.loading = true;
                self.unsure = false;
                Effects::NONE
            }
            StateEvent::Committed { frame, restored } => {
                self.commit(frame);
                self.loaded = restored;
                self.after_commit()
            }
            StateEvent::Within { url, .. } => {
                self.long_urls += if url.len() > URL_LIMIT { url.len() } else { 0 };
                state.url = cut(url, URL_LIMIT);
                self.moves += 1;
                Effects::HISTORY
            }
            StateEvent::Stopped { .. } => {
                state.loading = false;
                self.unsure = false;
                // Of a load without a commit this is said of the document before, which is loaded
                // or was stopped, too.
                self.loaded = true;
                Effects::NONE
            }
            StateEvent::Parsed => Effects::DOCUMENT,
            StateEvent::Loaded => {
                self.loaded = true;
                Effects::HISTORY
            }
            StateEvent::Crashed => {
                state.crashed = true;
                state.loading = false;
                self.unsure = false;
                Effects::NONE
            }
            StateEvent::Lagged => {
                self.unsure = true;
                Effects::EVERYTHING
            }
            StateEvent::Reported { report, .. } => self.report(report),
            StateEvent::History { history, .. } => self.history(history),
            StateEvent::Tree { at, frame } => self.tree(at, frame),
            StateEvent::Named { shown, .. } => {
                if let (Some(error), Some(name)) = (&mut state.error, net_error::shown(&shown)) {
                    error.code = net_error::code(&name);
                    error.description = name;
                }
                Effects::NONE
            }
        }
    }

    fn commit(&mut self, frame: Frame) {
        let state = &mut self.known.state;
        let url = frame.address();
        self.long_urls += if url.len() > URL_LIMIT { url.len() } else { 0 };
        state.url = cut(url, URL_LIMIT);
        state.error = frame.unreachable_url.is_some().then(|| PageError {
            code: net_error::FAILED,
            description: net_error::FAILED_NAME.to_owned(),
            url: state.url.clone(),
        });
        state.title = String::new();
        state.favicon = None;
        state.prints = 0;
        state.document = Some(frame.loader_id);
        state.generation += 1;
        state.crashed = false;
        self.main_frame = frame.id;
        self.loaded = false;
        self.reported = false;
        self.confirmed = true;
    }

    /// The world of an error page is entered when there is something in it.
    fn after_commit(&self) -> Effects {
        if self.known.state.error.is_some() { Effects::HISTORY } else { Effects::DOCUMENT }
    }

    fn report(&mut self, report: Report) -> Effects {
        let state = &mut self.known.state;
        if state.error.is_some() {
            return Effects::NONE;
        }
        state.title = cut(report.title, TITLE_LIMIT);
        state.prints = report.prints;
        // Never cleared here: only another document takes the icon away.
        let icon = report.icon.filter(|icon| icon.len() <= URL_LIMIT);
        state.favicon = icon.or(state.favicon.take());
        if self.unsure {
            state.loading = !report.loaded;
            self.unsure = false;
        }
        self.loaded |= report.loaded;
        self.reported = true;
        Effects::NONE
    }

    fn history(&mut self, history: History) -> Effects {
        let state = &mut self.known.state;
        state.can_go_back = history.back;
        state.can_go_forward = history.forward;
        if self.confirmed {
            if !self.reported && state.error.is_none() {
                state.title = cut(history.title, TITLE_LIMIT);
            }
            return Effects::NONE;
        }
        // All that is known of a page that does not answer. What was known before is of it only when
        // the address is the same.
        let url = cut(history.url, URL_LIMIT);
        if state.url != url {
            state.url = url;
            state.title = cut(history.title, TITLE_LIMIT);
            state.favicon = None;
            state.error = None;
        }
        Effects::NONE
    }

    fn tree(&mut self, at: Mark, frame: Frame) -> Effects {
        if at.moves != self.moves {
            // The url in it may be an old one.
            return Effects::TREE;
        }
        let state = &mut self.known.state;
        let same = state.document.as_ref() == Some(&frame.loader_id)
            && state.error.is_some() == frame.unreachable_url.is_some();
        if same {
            state.url = cut(frame.address(), URL_LIMIT);
            state.crashed = false;
            self.main_frame = frame.id;
            self.confirmed = true;
        } else {
            self.commit(frame);
        }
        if self.unsure && self.known.state.error.is_some() {
            self.known.state.loading = false;
        }
        Effects::DOCUMENT
    }

    /// A page that names no icon may have one at the usual place; Chromium looks there, too.
    fn guess_favicon(&mut self) {
        let state = &mut self.known.state;
        if !(self.loaded && self.reported) || state.favicon.is_some() || state.error.is_some() {
            return;
        }
        if is_web(&state.url)
            && let Ok(url) = Url::parse(&state.url)
        {
            state.favicon = Some(format!("{}/favicon.ico", url.origin().ascii_serialization()));
        }
    }

    fn keep_good(&mut self) {
        let state = &self.known.state;
        // Cutting ends before a whole character, which has up to four bytes.
        let whole = state.url.len() + 4 <= URL_LIMIT;
        if self.confirmed && state.error.is_none() && !state.crashed && whole && is_web(&state.url) {
            let (url, title) = (state.url.clone(), state.title.clone());
            self.known.last_good = Some(LastGood { url, title, favicon: state.favicon.clone() });
        }
    }
}

#[cfg(test)]
#[path = "reducer_tests.rs"]
mod tests;
