//! One WebSocket to Chromium and the CDP sessions on it.
//!
//! ```text
//!   Session::call --> [queue, bounded] --> pump --> socket --> Chromium
//!        ^                                   |
//!        +------- pending table <------------+--> bounded subscribers
//! ```
//!
//! Who holds the [`Link`] owns the socket: dropping it closes the socket and settles every pending
//! call. [`Session`]s are cheap handles that others may hold. A call is answered exactly once:
//! with its result, with Chromium's refusal, or with the reason why neither can come any more
//! (link closed, session detached, renderer crashed, budget spent). Dropping the future of a call
//! takes it out of the pending table.

pub mod dial;
mod events;
mod pending;
mod pump;
mod session;
mod wire;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc, watch};
use tokio_tungstenite::WebSocketStream;
use url::Url;

use crate::budget::Budget;
use crate::error::{CdpError, CloseCause};
use crate::task::{self, Task};

pub use dial::DialOptions;
pub use events::{Delivery, Event, Events};
pub use session::{Reply, Session};

/// What a link is for; the label `purpose` of its metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The browser link: targets and the process.
    Browser,
    /// The control link of a tab: dialogs, probes, termination.
    Control,
    /// The page session of a tab.
    Page,
    /// The observing link of a tab: console, errors, requests.
    Observe,
    /// A throwaway link for one evaluate.
    Evaluate,
    /// A throwaway link that hears of a page's requests while somebody waits for quiet.
    Network,
}

impl Purpose {
    fn label(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Control => "control",
            Self::Page => "page",
            Self::Observe => "observe",
            Self::Evaluate => "evaluate",
            Self::Network => "network",
        }
    }
}

/// How a half-dead socket is noticed: it still takes bytes, but nothing comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// With nothing heard for this long, a ping is sent.
    pub every: Duration,
    /// With nothing heard for this long after a ping, the link is closed.
    pub patience: Duration,
    /// Ping also while no call is pending. Off, an idle link costs nothing.
    pub while_idle: bool,
}

impl Default for KeepAlive {
    fn default() -> Self {
        // The patience is also what one large message may take to arrive: it counts when whole.
        Self { every: Duration::from_secs(5), patience: Duration::from_secs(20), while_idle: false }
    }
}

/// Limits of one link.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// For metrics.
    pub purpose: Purpose,
    /// Largest request in bytes; over it a call is refused before it is sent. Chromium closes the
    /// socket at 100 MiB.
    pub max_request_bytes: usize,
    /// Largest message from Chromium in bytes; a larger one ends this link (and no other).
    pub max_frame_bytes: usize,
    /// Noticing half-dead sockets.
    pub keep_alive: KeepAlive,
}

impl LinkOptions {
    /// The defaults: 64 MiB either way.
    pub fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            max_request_bytes: 64 << 20,
            max_frame_bytes: 64 << 20,
            keep_alive: KeepAlive::default(),
        }
    }
}

/// Writes waiting for the socket; a full queue makes callers wait inside their budgets.
const WRITE_QUEUE: usize = 256;

/// A WebSocket to Chromium. Its holder owns the socket.
#[derive(Debug)]
pub struct Link {
    shared: Arc<Shared>,
    _pump: Task<()>,
}

/// Counts of one link since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Calls waiting for their answer now.
    pub pending: usize,
    /// Messages that were no CDP message.
    pub malformed: u64,
    /// Answers to calls that nobody waits for any more.
    pub late: u64,
    /// Answers to calls that were never made.
    pub unknown: u64,
    /// Deliveries dropped because a subscriber was slow.
    pub lagged: u64,
}

struct Shared {
    options: LinkOptions,
    next_id: AtomicU64,
    table: Mutex<Table>,
    queue: mpsc::Sender<Vec<String>>,
    closed: watch::Sender<Option<CloseCause>>,
    /// Wakes the keep-alive when there is something to wait for.
    busy: Notify,
    meters: Meters,
}

#[derive(Default)]
struct Table {
    pending: pending::Pending,
    subscribers: events::Subscribers,
    counts: LinkCounts,
}

struct Meters {
    links: metrics::Gauge,
    sent: metrics::Counter,
    received: metrics::Counter,
    sent_bytes: metrics::Counter,
    received_bytes: metrics::Counter,
}

impl Meters {
    fn new(purpose: Purpose) -> Self {
        let purpose = purpose.label();
        metrics::counter!("tabvisor_cdp_link_dials_total", "purpose" => purpose).increment(1);
        let links = metrics::gauge!("tabvisor_cdp_links", "purpose" => purpose);
        links.increment(1.0);
        let messages = |direction: &'static str| metrics::counter!("tabvisor_cdp_messages_total", "purpose" => purpose, "direction" => direction);
        let bytes = |direction: &'static str| metrics::counter!("tabvisor_cdp_bytes_total", "purpose" => purpose, "direction" => direction);
        Self {
            links,
            sent: messages("out"),
            received: messages("in"),
            sent_bytes: bytes("out"),
            received_bytes: bytes("in"),
        }
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        self.links.decrement(1.0);
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("purpose", &self.options.purpose).finish_non_exhaustive()
    }
}

impl Link {
    /// Dials `address` (a browser or page endpoint) and starts the link.
    ///
    /// # Errors
    /// [`CdpError::Connect`] or, when the budget ended first, [`CdpError::Spent`].
    pub async fn connect(
        address: &Url,
        dial: &DialOptions,
        options: LinkOptions,
        budget: &Budget,
    ) -> Result<Self, CdpError> {
        let dial = DialOptions { max_frame_bytes: options.max_frame_bytes, ..dial.clone() };
        let socket = budget
            .run(dial::dial(address, &dial))
            .await
            .map_err(|spent| CdpError::spent("connect", spent))??;
        Ok(Self::over(socket, options))
    }

    /// Starts a link over an open WebSocket.
    pub fn over<S>(socket: WebSocketStream<S>, options: LinkOptions) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (queue, writes) = mpsc::channel(WRITE_QUEUE);
        let meters = Meters::new(options.purpose);
        let shared = Arc::new(Shared {
            options,
            next_id: AtomicU64::new(1),
            table: Mutex::default(),
            queue,
            closed: watch::Sender::new(None),
            busy: Notify::new(),
            meters,
        });
        let pump = task::spawn(pump::run(socket, writes, Arc::clone(&shared)));
        Self { shared, _pump: pump }
    }

    /// The session of the endpoint itself: the browser's, or the page's for a page endpoint.
    pub fn root(&self) -> Session {
        Session::new(Arc::clone(&self.shared), None)
    }

    /// Attaches to a target: a flattened session on this link.
    ///
    /// # Errors
    /// [`CdpError::Protocol`] for an unknown target, and whatever ends a call.
    pub async fn attach(&self, target_id: &str, budget: &Budget) -> Result<Session, CdpError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Attached {
            session_id: Box<str>,
        }
        let params = json!({ "targetId": target_id, "flatten": true });
        let attached: Attached = self.root().call_as("Target.attachToTarget", params, budget).await?;
        Ok(self.session(&attached.session_id))
    }

    /// A handle on a session of this link whose id is known.
    pub fn session(&self, id: &str) -> Session {
        Session::new(Arc::clone(&self.shared), Some(Arc::from(id)))
    }

    /// Subscribes to events of every session of this link.
    pub fn subscribe_link(&self, methods: &'static [&'static str], capacity: usize) -> Events {
        self.shared.subscribe(events::Scope::All, methods, capacity)
    }

    /// Completes when the link is gone, and says why.
    pub async fn closed(&self) -> CloseCause {
        self.shared.closed().await
    }

    /// Whether the link is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.borrow().is_some()
    }

    /// What happened on this link so far.
    pub fn counts(&self) -> LinkCounts {
        let table = self.shared.table();
        LinkCounts { pending: table.pending.len(), ..table.counts }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The pump task is aborted by its own handle; callers need not wait for that.
        self.shared.close(CloseCause::Ours);
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing panics while holding it; if something did, the table is still a table.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn subscribe(&self, scope: events::Scope, methods: &'static [&'static str], capacity: usize) -> Events {
        let mut table = self.table();
        let events = table.subscribers.add(scope, methods, capacity);
        if self.closed.borrow().is_some() {
            table.subscribers.clear();
        }
        events
    }

    async fn closed(&self) -> CloseCause {
        let mut closed = self.closed.subscribe();
        // The sender lives in `self`, so waiting cannot fail while we are borrowed.
        let cause = closed.wait_for(Option::is_some).await.ok().and_then(|cause| cause.clone());
        cause.unwrap_or(CloseCause::Ours)
    }

    /// The first cause stays; every pending call is settled with it and every subscription ends.
    fn close(&self, cause: CloseCause) {
        let mut table = self.table();
        let first = self.closed.send_if_modified(|slot| {
            let first = slot.is_none();
            if first {
                *slot = Some(cause.clone());
            }
            first
        });
        if first {
            table.pending.settle_all(&CdpError::LinkClosed(cause));
            table.subscribers.clear();
        }
    }
}
