//! The one lock: the model, and what waits to go out.

use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use tokio::io::DuplexStream;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::model::{Alarm, Frame, Model, Output};

/// Chrome drops a client that does not read, too; it counts bytes.
const MAX_UNREAD: usize = 1_000_000;

/// What a connection in memory holds before its reader takes it.
const PIPE: usize = 64 << 10;

/// What the handle and the server share.
pub(super) struct Shared {
    core: Mutex<Core>,
    /// Something happened: whoever waits looks again.
    pub(super) changed: Notify,
    /// There is an earlier alarm than the server knows of.
    pub(super) alarm_set: Notify,
    /// There is a new connection in memory.
    pub(super) piped: Notify,
    /// The port is closed; what is no WebSocket ends now.
    pub(super) ended: CancellationToken,
    pub(super) stalled: Stall,
    /// What the server is called in the addresses that it gives out.
    pub(super) advertised: Option<String>,
    pub(super) guid: String,
    pub(super) tls: bool,
}

struct Core {
    model: Model,
    outboxes: BTreeMap<u64, Outbox>,
    alarms: BinaryHeap<Set>,
    set: u64,
    listener: Option<TcpListener>,
    /// Connections in memory that the server has not taken yet.
    pipes: VecDeque<DuplexStream>,
    pages: BTreeMap<String, (u16, String)>,
}

/// What waits to go out on one socket.
#[derive(Default)]
struct Outbox {
    frames: VecDeque<Frame>,
    cut: bool,
    wake: Arc<Notify>,
}

/// The next thing for a socket to do.
pub(super) enum Next {
    Write(Frame),
    Cut,
    Wait,
}

/// Whether the browser is half dead. The flag is apart from the lock because every write looks
/// at it.
#[derive(Default)]
pub(super) struct Stall {
    on: Arc<AtomicBool>,
    over: Notify,
}

impl Shared {
    pub(super) fn new(
        model: Model,
        listener: TcpListener,
        guid: String,
        advertised: Option<String>,
        tls: bool,
    ) -> Self {
        let core = Core {
            model,
            outboxes: BTreeMap::new(),
            alarms: BinaryHeap::new(),
            set: 0,
            listener: Some(listener),
            pipes: VecDeque::new(),
            pages: BTreeMap::new(),
        };
        Self {
            core: Mutex::new(core),
            changed: Notify::new(),
            alarm_set: Notify::new(),
            piped: Notify::new(),
            ended: CancellationToken::new(),
            stalled: Stall::default(),
            advertised,
            guid,
            tls,
        }
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        #[expect(clippy::expect_used, reason = "a test must fail where its fake has")]
        self.core.lock().expect("the fake Chrome panicked before; its message is above")
    }

    /// Lets something happen to the model, and passes on what follows from it.
    pub(super) fn tell<T>(&self, happen: impl FnOnce(&mut Model) -> T) -> T {
        let mut core = self.core();
        let value = happen(&mut core.model);
        self.pass_on(&mut core);
        drop(core);
        self.changed.notify_waiters();
        value
    }

    /// Looks at the model.
    pub(super) fn ask<T>(&self, look: impl FnOnce(&Model) -> T) -> T {
        look(&self.core().model)
    }

    /// Opens a WebSocket in the model; its number and what wakes its writer.
    pub(super) fn open(&self, target: Option<&str>) -> Option<(u64, Arc<Notify>)> {
        let mut core = self.core();
        if self.ended.is_cancelled() {
            return None;
        }
        let conn = match target {
            None => core.model.open_browser_link(),
            Some(target) => core.model.open_page_link(target)?,
        };
        let outbox = Outbox::default();
        let wake = Arc::clone(&outbox.wake);
        core.outboxes.insert(conn, outbox);
        self.pass_on(&mut core);
        drop(core);
        self.changed.notify_waiters();
        Some((conn, wake))
    }

    /// The socket is really gone.
    pub(super) fn gone(&self, conn: u64) {
        self.tell(|model| model.close_link(conn));
        self.core().outboxes.remove(&conn);
    }

    /// What a socket's writer does next.
    pub(super) fn next(&self, conn: u64) -> Next {
        let mut core = self.core();
        let Some(outbox) = core.outboxes.get_mut(&conn) else { return Next::Cut };
        if outbox.cut {
            return Next::Cut;
        }
        outbox.frames.pop_front().map_or(Next::Wait, Next::Write)
    }

    fn pass_on(&self, core: &mut Core) {
        for output in core.model.take() {
            match output {
                Output::Send(conn, frame) => {
                    if let Some(outbox) = core.outboxes.get_mut(&conn) {
                        outbox.frames.push_back(frame);
                        outbox.cut |= outbox.frames.len() > MAX_UNREAD;
                        outbox.wake.notify_one();
                    }
                }
                Output::Cut(conn) => {
                    if let Some(outbox) = core.outboxes.get_mut(&conn) {
                        outbox.cut = true;
                        outbox.wake.notify_one();
                    }
                }
                Output::Alarm(after, alarm) => {
                    core.set += 1;
                    core.alarms.push(Set { at: Instant::now() + after, order: core.set, alarm });
                    self.alarm_set.notify_one();
                }
                Output::Exit => {
                    core.listener = None;
                    core.pipes.clear();
                    self.ended.cancel();
                }
            }
        }
    }

    /// Waits for a connection; for ever once the port is closed.
    pub(super) async fn accept(&self) -> std::io::Result<TcpStream> {
        std::future::poll_fn(|cx| match &self.core().listener {
            Some(listener) => listener.poll_accept(cx).map_ok(|(stream, _)| stream),
            None => Poll::Pending,
        })
        .await
    }

    /// A connection in memory; its other end, or nothing behind it once the port is closed.
    pub(super) fn pipe(&self) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let mut core = self.core();
        if core.listener.is_some() {
            core.pipes.push_back(ours);
            self.piped.notify_one();
        }
        theirs
    }

    /// Takes a connection that [`pipe`](Self::pipe) made.
    pub(super) fn next_pipe(&self) -> Option<DuplexStream> {
        self.core().pipes.pop_front()
    }

    /// Waits until the next alarm is due; for ever if there is none.
    pub(super) async fn alarm_due(&self) {
        let at = self.core().alarms.peek().map(|set| set.at);
        match at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// Rings what is due.
    pub(super) fn ring(&self) {
        let now = Instant::now();
        loop {
            let mut core = self.core();
            if core.alarms.peek().is_none_or(|set| set.at > now) {
                return;
            }
            let Some(set) = core.alarms.pop() else { return };
            drop(core);
            self.tell(|model| model.ring(set.alarm));
        }
    }

    pub(super) fn set_page(&self, path: &str, status: u16, body: String) {
        self.core().pages.insert(path.to_owned(), (status, body));
    }

    pub(super) fn page(&self, path: &str) -> Option<(u16, String)> {
        self.core().pages.get(path).cloned()
    }

    pub(super) fn stall(&self) {
        self.stalled.on.store(true, Ordering::Relaxed);
    }

    pub(super) fn unstall(&self) {
        self.stalled.on.store(false, Ordering::Relaxed);
        self.stalled.over.notify_waiters();
        for outbox in self.core().outboxes.values() {
            outbox.wake.notify_one();
        }
    }
}

impl Stall {
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.on)
    }

    pub(super) async fn over(&self) {
        loop {
            let over = self.over.notified();
            tokio::pin!(over);
            over.as_mut().enable();
            if !self.on.load(Ordering::Relaxed) {
                return;
            }
            over.await;
        }
    }
}

/// An alarm that is set; the earliest one first, and in the order of setting.
struct Set {
    at: Instant,
    order: u64,
    alarm: Alarm,
}

impl Ord for Set {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Set {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Set {}
