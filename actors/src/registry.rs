//! Who is where: tabs and browsers by name, without asking an actor.
//!
//! An evaluate finds its tab's `Evaluates` here, so it never passes through another mailbox. What
//! is gone stays known for a while, so that a late caller hears why.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dashmap::DashMap;
use ractor::ActorRef;
use tokio::sync::watch;

use crate::browser::BrowserMsg;
use crate::dialog_watcher::WatcherMsg;
use crate::error::TabError;
use crate::evaluates::EvaluatesMsg;
use crate::ids::{BrowserId, Epoch, TabId};
use crate::restart::RestartWindow;
use crate::row::{TabRow, TabState, row_among};
use crate::shared::{BrowserShared, Gone, TabShared};
use crate::tab::TabMsg;

/// The actors of a tab that calls go to. Replaced when one is restarted.
#[derive(Clone)]
pub(crate) struct TabHandle {
    pub(crate) shared: Arc<TabShared>,
    pub(crate) evaluates: ActorRef<EvaluatesMsg>,
    pub(crate) tab: ActorRef<TabMsg>,
    pub(crate) watcher: ActorRef<WatcherMsg>,
}

/// A browser and its actor. Replaced when it is restarted.
#[derive(Clone)]
pub(crate) struct BrowserHandle {
    pub(crate) shared: Arc<BrowserShared>,
    pub(crate) actor: ActorRef<BrowserMsg>,
    /// Its restarts; written by Root.
    pub(crate) window: Arc<Mutex<RestartWindow>>,
}

/// A tab whose browser was lost, as it was.
pub(crate) struct Returning {
    pub(crate) shared: Arc<TabShared>,
    /// Opened by a call of ours.
    pub(crate) ours: bool,
}

/// How many tabs that are gone stay known with their reason.
const GRAVES: usize = 4096;

pub(crate) struct Registry {
    tabs: DashMap<TabId, TabHandle>,
    browsers: DashMap<BrowserId, BrowserHandle>,
    graves: Mutex<VecDeque<(TabId, Gone)>>,
    /// Tabs of browsers that were lost, which come back with them.
    returning: DashMap<TabId, Returning>,
    last_tab: AtomicU64,
    last_browser: AtomicU64,
    /// Counts up whenever a browser is put or removed.
    browser_changes: watch::Sender<u64>,
    gave_up: Mutex<Option<String>>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            tabs: DashMap::new(),
            browsers: DashMap::new(),
            graves: Mutex::default(),
            returning: DashMap::new(),
            last_tab: AtomicU64::new(0),
            last_browser: AtomicU64::new(0),
            browser_changes: watch::Sender::new(0),
            gave_up: Mutex::default(),
        }
    }
}

impl Registry {
    /// A name that was never used.
    pub(crate) fn new_tab_id(&self) -> TabId {
        TabId(self.last_tab.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) fn new_browser_id(&self) -> BrowserId {
        BrowserId(self.last_browser.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Adds or replaces a tab, unless it is gone meanwhile.
    pub(crate) fn put_tab(&self, handle: TabHandle) {
        let shared = Arc::clone(&handle.shared);
        if shared.is_superseded() {
            return;
        }
        self.tabs.insert(shared.id, handle);
        if shared.gone.borrow().is_some() {
            self.take_out(&shared);
        }
    }

    /// Takes a tab out, but not its successor on another target.
    fn take_out(&self, tab: &TabShared) {
        self.tabs.remove_if(&tab.id, |_, handle| handle.shared.target == tab.target);
    }

    /// The rows of all tabs, by their number.
    pub(crate) fn rows(&self) -> Vec<TabRow> {
        let tabs = self.tabs();
        tabs.iter().map(|tab| row_among(tab, &tabs)).collect()
    }

    /// How many tabs are in each state, in the order of [`TabState::ALL`].
    pub(crate) fn count_states(&self) -> [u32; TabState::ALL.len()] {
        let mut counts = [0; TabState::ALL.len()];
        for entry in &self.tabs {
            let state = entry.shared.state();
            let place = TabState::ALL.iter().position(|it| *it == state);
            counts[place.unwrap_or_default()] += 1;
        }
        counts
    }

    /// The row of a tab.
    pub(crate) fn row(&self, id: TabId) -> Result<TabRow, TabError> {
        Ok(row_among(&self.tab(id)?.shared, &self.tabs()))
    }

    /// Takes a tab out and remembers why; the first reason stays.
    pub(crate) fn bury(&self, tab: &TabShared, why: Gone) {
        let first = tab.gone.send_if_modified(|gone| {
            let first = gone.is_none();
            if first {
                *gone = Some(why.clone());
            }
            first
        });
        self.take_out(tab);
        if first {
            self.dig(tab.id, why);
        }
    }

    fn dig(&self, id: TabId, why: Gone) {
        let mut graves = self.graves.lock().unwrap_or_else(PoisonError::into_inner);
        if graves.len() == GRAVES {
            graves.pop_front();
        }
        graves.push_back((id, why));
    }

    /// Takes out whatever tabs of a browser's epoch are left.
    pub(crate) fn bury_browser(&self, browser: BrowserId, epoch: Epoch, cause: &str) {
        let of_it = |tab: &TabShared| tab.browser.id == browser && tab.browser.epoch == epoch;
        for tab in self.tabs().iter().filter(|tab| of_it(tab)) {
            self.bury(tab, Gone::BrowserLost { epoch, cause: cause.to_owned() });
        }
    }

    /// A tab whose browser was lost comes back with it.
    pub(crate) fn expect_back(&self, tab: Returning) {
        self.returning.insert(tab.shared.id, tab);
    }

    /// Whatever was to come back with a browser.
    pub(crate) fn returning_with(&self, browser: BrowserId) -> Vec<Arc<TabShared>> {
        let of_it = self.returning.iter().filter(|entry| entry.shared.browser.id == browser);
        let mut tabs: Vec<_> = of_it.map(|entry| Arc::clone(&entry.shared)).collect();
        tabs.sort_by_key(|tab| tab.id);
        tabs
    }

    /// A tab that was to come back: it does now, or nobody wants it any more.
    pub(crate) fn no_more_expected(&self, id: TabId) -> Option<Returning> {
        self.returning.remove(&id).map(|(_, tab)| tab)
    }

    /// A browser does not come back, nor do its tabs.
    pub(crate) fn none_returns_with(&self, browser: BrowserId) {
        self.returning.retain(|_, tab| tab.shared.browser.id != browser);
    }

    /// A tab that was to come back is closed before it did; whether there was one.
    pub(crate) fn close_before_return(&self, id: TabId) -> bool {
        let expected = self.no_more_expected(id).is_some();
        if expected {
            self.dig(id, Gone::Closed);
        }
        expected
    }

    /// The tab, or why there is none.
    pub(crate) fn tab(&self, id: TabId) -> Result<TabHandle, TabError> {
        if let Some(handle) = self.tabs.get(&id) {
            return Ok(handle.clone());
        }
        let graves = self.graves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, why)) = graves.iter().rev().find(|(tab, _)| *tab == id) {
            return Err(why.error(id));
        }
        if (1..=self.last_tab.load(Ordering::Relaxed)).contains(&id.0) {
            return Err(TabError::TabClosed { tab: id });
        }
        Err(TabError::TabNotFound { tab: id.to_string() })
    }

    /// All tabs, by their number.
    pub(crate) fn tabs(&self) -> Vec<Arc<TabShared>> {
        let mut tabs: Vec<_> = self.tabs.iter().map(|entry| Arc::clone(&entry.shared)).collect();
        tabs.sort_by_key(|tab| tab.id);
        tabs
    }

    pub(crate) fn put_browser(&self, handle: BrowserHandle) {
        self.browsers.insert(handle.shared.id, handle);
        self.browser_changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn remove_browser(&self, id: BrowserId) {
        self.browsers.remove(&id);
        self.browser_changes.send_modify(|count| *count += 1);
    }

    /// Changes whenever a browser is put or removed.
    pub(crate) fn browser_changes(&self) -> watch::Receiver<u64> {
        self.browser_changes.subscribe()
    }

    /// Root gives up; the last word before it fails.
    pub(crate) fn give_up(&self, why: String) {
        *self.gave_up.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// Why Root gave up, if it did.
    pub(crate) fn gave_up(&self) -> Option<String> {
        self.gave_up.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All browsers, by their number.
    pub(crate) fn browsers(&self) -> Vec<BrowserHandle> {
        let mut browsers: Vec<_> = self.browsers.iter().map(|entry| entry.clone()).collect();
        browsers.sort_by_key(|browser| browser.shared.id);
        browsers
    }

    /// The handles of all tabs, by their number.
    pub(crate) fn handles(&self) -> Vec<TabHandle> {
        let mut tabs: Vec<_> = self.tabs.iter().map(|entry| entry.clone()).collect();
        tabs.sort_by_key(|tab| tab.shared.id);
        tabs
    }

    pub(crate) fn browser(&self, id: BrowserId) -> Option<BrowserHandle> {
        self.browsers.get(&id).map(|entry| entry.clone())
    }
}
