//! What actors publish about a browser or tab, for readers outside their mailboxes.
//!
//! Each field has one writer, named beside it. Readers never wait for an actor: `GET /tabs`, the
//! admission of a call and the race of a call against a dialog read from here.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tabvisor_cdp::error::{CdpError, CloseCause};
use tabvisor_cdp::link::{DialOptions, Session};
use tabvisor_page::act::{Turns, Viewport};
use tabvisor_page::condition::Condition;
use tabvisor_page::dialog::{DialogRecord, Policy};
use tabvisor_page::emulation::Emulation;
use tabvisor_page::evaluate::{BlockedBy, ScriptCounts};
use tabvisor_page::navigate::NavigationPolicy;
use tabvisor_page::observe::{Observations, Observing};
use tabvisor_page::refs::{FrameId, Ref, StaleReason, StaleRef};
use tabvisor_page::snapshot::Memory;
use tabvisor_page::state::Known;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use url::{Host, Url};

use crate::error::{StartError, TabError};
use crate::events::EventBus;
use crate::files::{Downloads, Folders, Sees};
use crate::ids::{BrowserId, Epoch, TabId};
use crate::limits::{Care, Limits, Recovery};
use crate::recovery::LastRecovery;
use crate::restart::{Intensity, RestartWindow};

/// One start of a browser.
#[derive(Debug)]
pub(crate) struct BrowserShared {
    pub(crate) id: BrowserId,
    pub(crate) epoch: Epoch,
    pub(crate) limits: Arc<Limits>,
    pub(crate) care: Care,
    /// Where files of callers may be.
    pub(crate) files: Arc<Folders>,
    /// Where its pages may be.
    pub(crate) policy: Arc<NavigationPolicy>,
    /// Written by Browser; calls take from it what they have waited for.
    pub(crate) downloads: watch::Sender<Downloads>,
    pub(crate) events: EventBus,
    /// How to dial it; written by Browser once it is found.
    pub(crate) dial: DialCell,
    /// Written by Browser; by Root once Browser is gone.
    pub(crate) status: watch::Sender<BrowserStatus>,
    /// Evaluates in flight.
    pub(crate) evaluates: Arc<Semaphore>,
    /// Links being dialled.
    pub(crate) dials: Arc<Semaphore>,
    /// Chromium has one trace at a time.
    pub(crate) traces: Semaphore,
}

/// How to dial a browser.
#[derive(Debug)]
pub(crate) struct DialCell(Mutex<DialOptions>);

impl DialCell {
    pub(crate) fn get(&self) -> DialOptions {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, dial: DialOptions) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = dial;
    }
}

/// How a browser is.
#[derive(Clone, Debug)]
pub(crate) enum BrowserStatus {
    Starting,
    Ready(Arc<BrowserFacts>),
    /// It was ready and is gone; Root starts another one.
    Lost {
        cause: String,
    },
    /// It is gone and stays so.
    Failed(StartError),
}

/// What is known of a running browser.
#[derive(Clone, Debug, Serialize)]
pub struct BrowserFacts {
    /// Its WebSocket address. Not for callers of a service: whoever has it has the browser.
    #[serde(skip)]
    pub ws_url: Url,
    /// For example `Chrome/156.0.8078.114`.
    pub version: String,
    /// Process id, where we launched it.
    pub pid: Option<u32>,
    /// It was launched by us and ends with us.
    pub launched: bool,
    /// Why its downloads are not available here; nothing where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_downloads: Option<String>,
}

impl BrowserFacts {
    /// Where it finds the files of this machine. One that we attached to by a loopback address may
    /// be in a container, behind a forwarded port.
    pub(crate) fn sees(&self) -> Sees {
        match self.ws_url.host() {
            _ if self.launched => Sees::Paths,
            Some(Host::Domain("localhost")) => Sees::MaybePaths,
            Some(Host::Ipv4(address)) if address.is_loopback() => Sees::MaybePaths,
            Some(Host::Ipv6(address)) if address.is_loopback() => Sees::MaybePaths,
            _ => Sees::Nothing,
        }
    }
}

impl BrowserShared {
    #[expect(clippy::too_many_arguments, reason = "each is a thing of its own, and there is one caller")]
    pub(crate) fn new(
        id: BrowserId,
        epoch: Epoch,
        limits: Arc<Limits>,
        care: Care,
        files: Arc<Folders>,
        policy: Arc<NavigationPolicy>,
        events: EventBus,
        dial: DialOptions,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            epoch,
            evaluates: Arc::new(Semaphore::new(limits.evaluates_per_browser)),
            dials: Arc::new(Semaphore::new(limits.dials.max(1))),
            traces: Semaphore::new(1),
            limits,
            care,
            files,
            policy,
            downloads: watch::Sender::default(),
            events,
            dial: DialCell(Mutex::new(dial)),
            status: watch::Sender::new(BrowserStatus::Starting),
        })
    }

    /// Where to dial, while the browser works.
    pub(crate) fn address(&self) -> Result<Url, CdpError> {
        match self.ready() {
            Some(facts) => Ok(facts.ws_url.clone()),
            None => Err(CdpError::LinkClosed(CloseCause::Remote)),
        }
    }

    /// The facts of a browser that works now.
    pub(crate) fn ready(&self) -> Option<Arc<BrowserFacts>> {
        match &*self.status.borrow() {
            BrowserStatus::Ready(facts) => Some(Arc::clone(facts)),
            _ => None,
        }
    }
}

/// One tab on one target. What outlives a change of target is shared with its
/// [successor](Self::successor).
#[derive(Debug)]
pub(crate) struct TabShared {
    pub(crate) id: TabId,
    pub(crate) target: String,
    pub(crate) opener: Option<TabId>,
    /// Its page confirms commands also while it waits at its birth; otherwise it may do so only
    /// later, and is not waited for beyond a moment.
    pub(crate) confirms: bool,
    pub(crate) browser: Arc<BrowserShared>,
    /// Written by DialogWatcher; `navigating` by the action that navigates.
    pub(crate) condition: watch::Sender<Condition>,
    /// The control session, once its watcher listens; written by DialogWatcher.
    pub(crate) control: watch::Sender<Option<Session>>,
    /// Written by Evaluates.
    pub(crate) stuck: watch::Sender<Option<Stuck>>,
    /// Written by Browser, before it ends the tab's actors.
    pub(crate) gone: watch::Sender<Option<Gone>>,
    /// Scripts of ours in its renderer; counted by the evaluates themselves. A popup that shares its
    /// opener's renderer shares its counts.
    pub(crate) scripts: Arc<ScriptCounts>,
    /// The page has confirmed the control session; written with it.
    pub(crate) confirmed: AtomicBool,
    /// Its watcher has listened once; written by DialogWatcher.
    pub(crate) listened: AtomicBool,
    /// Its dialogs; written by DialogWatcher.
    pub(crate) dialog_log: watch::Sender<DialogLog>,
    /// What happens to dialogs that nobody was asked about; written by the facade, read by
    /// DialogWatcher when it starts.
    pub(crate) dialog_policy: Arc<Mutex<Policy>>,
    /// How many dialogs its page has opened; written by DialogWatcher.
    pub(crate) dialogs: Arc<AtomicU64>,
    /// The handle on its observed page; written by Observer.
    pub(crate) observing: watch::Sender<Option<Observing>>,
    /// What its page said; written by Observer's link.
    pub(crate) observed: Arc<Mutex<Observations>>,
    /// What is set on it, so that a new session can be told; written by its actions.
    pub(crate) emulation: Arc<Mutex<Emulation>>,
    /// Counts up whenever its actors are put into the registry; written by TabSupervisor.
    pub(crate) wiring: watch::Sender<u64>,
    /// Evaluates in flight.
    pub(crate) evaluates: Arc<Semaphore>,
    /// Actions queued or running.
    pub(crate) actions: Arc<Semaphore>,
    /// What the page shows. Written by Tab; before its first word by Browser (target info).
    pub(crate) page: Arc<watch::Sender<Known>>,
    /// Whose turn it is to catch its file choosers; used by actions.
    pub(crate) choosers: Turns,
    /// Tabs of its page that were closed since there were too many; written by Browser.
    pub(crate) popups_closed: Arc<AtomicU64>,
    /// Its refs and what snapshots showed; used by actions and evaluates, never across an await.
    snapshots: Arc<Mutex<Memory>>,
    /// What was asked for that a page session forgets when it ends; written by actions.
    kept: Arc<Mutex<Kept>>,
    /// Of its actors, by TabSupervisor, and of its page, by Browser.
    pub(crate) restarts: Arc<AtomicU64>,
    /// Why an actor of its was restarted last; written by TabSupervisor.
    pub(crate) last_failure: Mutex<String>,
    /// The restarts of its actors; written by TabSupervisor.
    pub(crate) window: Mutex<RestartWindow>,
    /// What may be done to it without anybody asking; written by the facade.
    pub(crate) recovery: Arc<Mutex<Recovery>>,
    /// A recovery is under way; written by Browser.
    pub(crate) recovering: Arc<watch::Sender<bool>>,
    /// Written by Browser.
    pub(crate) last_recovery: Arc<Mutex<Option<LastRecovery>>>,
    /// When its dead page was brought back last; written by DialogWatcher.
    pub(crate) revived: Mutex<Option<Instant>>,
}

/// What a caller asked for once and expects to last, and Chromium forgets with the page session: it
/// is given to every new one, after a restart of the actor or of the tab on another target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The size of the viewport; the window's where nobody asked for one.
    pub(crate) viewport: Option<Viewport>,
}

/// Since when a page does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) since: Instant,
    pub(crate) reason: BlockedBy,
    /// A call has found it out at the cost of its budget, and another one would only do so again. Else
    /// work waits, and may still be done inside its own.
    pub(crate) proven: bool,
}

impl Stuck {
    /// The answer to a call that would only find the same out again.
    pub(crate) fn refusal(self, tab: TabId) -> TabError {
        let way_out = match self.reason {
            BlockedBy::Script | BlockedBy::Evaluate => {
                "its script has to end, terminate it or restart the tab"
            }
            BlockedBy::Navigation => "it ends with its budget",
            BlockedBy::Native | BlockedBy::Stopped | BlockedBy::Unknown => "restart the tab",
        };
        TabError::Stuck { tab, reason: self.reason, since: self.since.elapsed(), way_out }
    }
}

/// Why a tab is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    Closed,
    Lost {
        cause: String,
    },
    /// It goes on under its name with another target.
    Restarted,
    BrowserLost {
        epoch: Epoch,
        cause: String,
    },
    Stopping,
}

impl Gone {
    pub(crate) fn error(&self, tab: TabId) -> TabError {
        match self.clone() {
            Self::Closed => TabError::TabClosed { tab },
            Self::Lost { cause } => TabError::TabLost { tab, cause },
            Self::Restarted => TabError::TabRestarting { tab, sent: true },
            Self::BrowserLost { epoch, cause } => TabError::BrowserLost { epoch, cause },
            Self::Stopping => TabError::Stopping,
        }
    }
}

/// The dialogs of a tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DialogLog {
    /// The open one, if there is one.
    pub pending: Vec<DialogRecord>,
    /// Closed ones, oldest first, at most 20.
    pub recent: Vec<DialogRecord>,
}

impl TabShared {
    pub(crate) fn new(
        id: TabId,
        target: String,
        opener: Option<TabId>,
        confirms: bool,
        scripts: Arc<ScriptCounts>,
        browser: Arc<BrowserShared>,
    ) -> Self {
        Self {
            id,
            target,
            opener,
            confirms,
            condition: watch::Sender::new(Condition::default()),
            control: watch::Sender::new(None),
            stuck: watch::Sender::new(None),
            gone: watch::Sender::new(None),
            scripts,
            confirmed: AtomicBool::new(false),
            listened: AtomicBool::new(false),
            dialog_log: watch::Sender::default(),
            dialog_policy: Arc::new(Mutex::new(browser.care.dialogs)),
            dialogs: Arc::default(),
            observing: watch::Sender::new(None),
            observed: Arc::default(),
            emulation: Arc::new(Mutex::new(Emulation::checking(!browser.policy.is_open()))),
            wiring: watch::Sender::new(0),
            evaluates: Arc::new(Semaphore::new(browser.limits.evaluates_per_tab)),
            actions: Arc::new(Semaphore::new(browser.limits.actions_per_tab)),
            page: Arc::new(watch::Sender::new(Known::default())),
            choosers: Turns::default(),
            popups_closed: Arc::default(),
            snapshots: Arc::default(),
            kept: Arc::default(),
            restarts: Arc::default(),
            last_failure: Mutex::default(),
            window: Mutex::new(RestartWindow::new(Intensity::TAB)),
            recovery: Arc::new(Mutex::new(browser.care.recovery)),
            recovering: Arc::new(watch::Sender::new(false)),
            last_recovery: Arc::default(),
            revived: Mutex::default(),
            browser,
        }
    }

    /// The same tab on another target: its name, what is known of its page, its refs, its policies
    /// and its counts go on.
    pub(crate) fn successor(&self, target: String, browser: Arc<BrowserShared>) -> Arc<Self> {
        let fresh = Self::new(self.id, target, self.opener, true, Arc::default(), browser);
        Arc::new(Self {
            dialog_policy: Arc::clone(&self.dialog_policy),
            dialogs: Arc::clone(&self.dialogs),
            observed: Arc::clone(&self.observed),
            emulation: Arc::clone(&self.emulation),
            page: Arc::clone(&self.page),
            popups_closed: Arc::clone(&self.popups_closed),
            snapshots: Arc::clone(&self.snapshots),
            kept: Arc::clone(&self.kept),
            restarts: Arc::clone(&self.restarts),
            recovery: Arc::clone(&self.recovery),
            recovering: Arc::clone(&self.recovering),
            last_recovery: Arc::clone(&self.last_recovery),
            ..fresh
        })
    }

    /// A page of this tab's predecessor may not speak for it any more.
    pub(crate) fn is_superseded(&self) -> bool {
        *self.gone.borrow() == Some(Gone::Restarted)
    }

    /// What may be done to it without anybody asking.
    pub(crate) fn recovery_policy(&self) -> Recovery {
        *self.recovery.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The renderer lives again.
    pub(crate) fn revived(&self) {
        self.condition.send_if_modified(|now| {
            let revived = std::mem::replace(&mut now.crashed, false);
            now.discarded = false;
            if revived {
                *self.revived.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            }
            revived
        });
    }

    /// Likewise, where it was discarded: Chromium does not tell of that (measured).
    pub(crate) fn woken(&self) {
        if self.condition.borrow().discarded {
            self.revived();
        }
    }

    /// Whether its dead page was brought back so short a time ago.
    pub(crate) fn was_revived_within(&self, time: Duration) -> bool {
        let revived = *self.revived.lock().unwrap_or_else(PoisonError::into_inner);
        revived.is_some_and(|at| at.elapsed() < time)
    }

    /// An action waits or is at work.
    pub(crate) fn acts(&self) -> bool {
        self.actions.available_permits() < self.browser.limits.actions_per_tab
    }

    /// Refuses what would come between a recovery and its page.
    pub(crate) fn unless_recovering(&self) -> Result<(), TabError> {
        if *self.recovering.borrow() {
            return Err(TabError::TabRestarting { tab: self.id, sent: false });
        }
        Ok(())
    }

    /// What a new page session has to be given again.
    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its refs and what snapshots showed.
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What its page said.
    pub(crate) fn observed(&self) -> MutexGuard<'_, Observations> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is set on it.
    pub(crate) fn emulation(&self) -> MutexGuard<'_, Emulation> {
        self.emulation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a ref names, and the target of its frame's process where that is not the page's own.
    pub(crate) fn named(&self, text: &str) -> Result<(Ref, Option<FrameId>), StaleRef> {
        let shown = self.page.borrow().state.document.clone();
        let memory = self.memory();
        let named = memory.resolve(text)?.clone();
        // The snapshot that gave it may be of an earlier document; what is shown now is published.
        if shown.is_some_and(|shown| *shown != *named.main_document) {
            return Err(StaleRef::new(text, StaleReason::DocumentChanged));
        }
        let target = memory.target_of(&named.frame).cloned();
        Ok((named, target))
    }

    /// What Browser hears of a page that nobody watches yet.
    pub(crate) fn announced(&self, url: &str, title: &str) {
        self.page.send_if_modified(|known| {
            let unwatched = known.state.generation == 0;
            if unwatched {
                (known.state.url, known.state.title) = (url.to_owned(), title.to_owned());
            }
            unwatched
        });
    }
}
