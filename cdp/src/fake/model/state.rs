//! What the model knows: sessions, targets, renderers.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::act::{Act, Dialog, Kind, Raw};
use super::super::call::Call;

/// Names a session inside the model; never reused.
pub(in crate::fake) type Key = u64;

/// A session, or the root of a socket: the browser's, or a page's at its own address.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "a client switches each of them by itself")]
pub(super) struct Session {
    pub(super) conn: u64,
    /// The `sessionId`; a socket's root has none.
    pub(super) wire: Option<String>,
    /// The session that attached it.
    pub(super) parent: Option<Key>,
    /// None for a session on the browser.
    pub(super) target: Option<String>,
    /// Whether the renderer has seen it. An attach waits for a busy renderer like any command,
    /// and until then the session's commands cannot interrupt anything.
    pub(super) ready: bool,
    /// `Page.enable` came: the browser process sends its share of the events from then on.
    pub(super) page_asked: bool,
    /// `Page.enable` was served by the renderer.
    pub(super) page: bool,
    pub(super) runtime: bool,
    pub(super) discover: bool,
    /// Auto-attaching; whether new targets shall wait.
    pub(super) auto_attach: Option<bool>,
    /// Was attached by its parent's auto-attach.
    pub(super) by_auto: bool,
}

impl Session {
    pub(super) fn root(conn: u64, target: Option<String>) -> Self {
        Self {
            conn,
            wire: None,
            parent: None,
            target,
            ready: false,
            page_asked: false,
            page: false,
            runtime: false,
            discover: false,
            auto_attach: None,
            by_auto: false,
        }
    }
}

/// A page.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) opener: Option<String>,
    pub(super) context: String,
    pub(super) url: String,
    pub(super) title: String,
    pub(super) loader: String,
    /// Its document is the error page for its url.
    pub(super) unreachable: bool,
    pub(super) renderer: u64,
    /// What it will load once nobody makes it wait any more.
    pub(super) awaiting: Option<String>,
    /// The auto-attached sessions it waits for. If one goes away without letting it run, it
    /// never will: that is what Chrome does.
    pub(super) waiting: BTreeSet<Key>,
    pub(super) history: Vec<Entry>,
    pub(super) at: usize,
    pub(super) worlds: u64,
    pub(super) dialog: Option<OpenDialog>,
    /// Calls whose promise is pending.
    pub(super) promised: Vec<Ask>,
    /// Calls that were pending at a crash, and the `Page.crash` itself.
    pub(super) lost: Vec<Ask>,
    /// A navigation that a stuck renderer will never let commit.
    pub(super) stuck: Option<Nav>,
    /// The call that opened this window, while it waits.
    pub(super) opened_by: Option<Ask>,
}

/// One entry of a target's history.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: u64,
    pub(super) url: String,
    pub(super) title: String,
}

/// A dialog that is open.
#[derive(Debug)]
pub(super) struct OpenDialog {
    pub(super) dialog: Dialog,
    /// Who heard of it, and so may answer it.
    pub(super) told: BTreeSet<Key>,
}

/// A renderer process: one main thread, shared by the pages in it.
#[derive(Debug, Default)]
pub(super) struct Renderer {
    pub(super) queue: VecDeque<Job>,
    pub(super) busy: Option<Busy>,
    pub(super) crashed: bool,
}

/// What a renderer's main thread is busy with.
#[derive(Debug)]
pub(super) struct Busy {
    pub(super) kind: Kind,
    pub(super) target: String,
    /// The call whose script it is; none for the page's own.
    pub(super) ask: Option<Ask>,
    /// What the call does when it is over.
    pub(super) then: Act,
    /// A navigation to the page's own site, which waits for the thread. Nothing interrupts what
    /// runs any more, so it waits for ever unless that ends by itself.
    pub(super) deaf: Option<Nav>,
    /// Tells its alarms from those of earlier occupations.
    pub(super) token: u64,
    /// The navigation that [`Kind::Loading`] waits for.
    pub(super) nav: Option<Nav>,
}

/// Something that waits for a renderer's main thread.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) target: String,
    pub(super) work: Work,
}

/// What a job is.
#[derive(Debug)]
pub(super) enum Work {
    Attach(Key),
    Command(Ask),
    Act(Ask, Act),
    Occupy(Kind),
    Dialog(Dialog),
    Commit(Nav),
}

/// A navigation under way.
#[derive(Clone, Debug)]
pub(super) struct Nav {
    pub(super) ask: Option<Ask>,
    pub(super) url: String,
    pub(super) loader: String,
    pub(super) how: How,
    /// The `errorText` of a load that fails.
    pub(super) failed: Option<String>,
}

/// Kinds of navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The first of a target; never changes its renderer.
    Initial,
    Normal,
    Reload,
    History(usize),
    /// Within the document: only the fragment differs.
    Fragment,
}

/// A command and where its answer goes.
#[derive(Clone, Debug)]
pub(in crate::fake) struct Ask {
    pub(super) call: Arc<Call>,
    pub(super) from: Key,
    /// The test's evaluator was asked already; what it leaves to the default is really that.
    pub(super) evaluated: bool,
    answered: Arc<AtomicBool>,
}

impl Ask {
    pub(super) fn new(call: Arc<Call>, from: Key) -> Self {
        Self { call, from, evaluated: false, answered: Arc::default() }
    }

    pub(super) fn answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    pub(super) fn mark_answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

/// What the server shall do.
#[derive(Debug)]
pub(in crate::fake) enum Output {
    /// Put this on that socket, in order.
    Send(u64, Frame),
    /// Cut that socket now, whatever is still to be written on it.
    Cut(u64),
    /// Call [`Model::ring`](super::Model::ring) after that time.
    Alarm(Duration, Alarm),
    /// Cut everything and close the port.
    Exit,
}

/// What goes on a socket.
#[derive(Debug)]
pub(in crate::fake) enum Frame {
    Raw(Raw),
    /// Nothing is written after this, and the socket stays open.
    Mute,
    /// The socket closes once everything before this is written.
    Close,
}

/// What happens after some time.
#[derive(Debug)]
pub(in crate::fake) enum Alarm {
    /// A script ran into its own `timeout`.
    Timeout { renderer: u64, token: u64 },
    /// An occupation is over.
    Over { renderer: u64, token: u64 },
    /// A delayed act.
    Act(Ask, Act),
}

/// The text of an event.
pub(super) fn event_text(session: Option<&str>, method: &str, params: Value) -> String {
    let mut message = json!({"method": method});
    message["params"] = params;
    if let Some(session) = session {
        message["sessionId"] = json!(session);
    }
    message.to_string()
}
