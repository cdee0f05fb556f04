//! A scripted Chrome for tests, in process.
//!
//! [`FakeChrome`] is an HTTP and WebSocket server on the loopback interface that models Chrome
//! just enough for a real client to work against it: targets, sessions, auto-attach, navigation,
//! dialogs, crashes, and a renderer whose main thread can be occupied. What it does was measured
//! on Chromium 156. A test scripts the exceptions:
//!
//! ```
//! # use tabvisor_cdp::fake::{Act, FakeChrome, Kind};
//! # run(async {
//! let fake = FakeChrome::start().await;
//! fake.on("Runtime.evaluate").when(|call| call.expression().contains("for(;;)")).act(Act::Occupy(Kind::Script));
//! # });
//! # fn run(test: impl Future<Output = ()>) {
//! #     tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
//! # }
//! ```
//!
//! Nothing in it sleeps, except where a test asks for time ([`Act::Delay`], [`Act::OccupyFor`],
//! an evaluate's own `timeout`; all of them on tokio's clock). Everything it decides is decided
//! under one lock, in the order in which things came. Dropping the handle ends it. Tests with a
//! paused clock connect through [`FakeChrome::pipe`].
//!
//! | file | holds |
//! |---|---|
//! | `act`, `call`, `rule` | the language of the scripts |
//! | `model/` | what Chrome would do, as a pure value |
//! | `shared` | the lock, and what waits to go out |
//! | `server`, `http`, `socket`, `valve` | the sockets |

mod act;
mod call;
mod http;
mod model;
mod rule;
mod server;
mod shared;
mod socket;
mod start;
mod valve;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::DuplexStream;

use crate::task::Task;
use model::Model;
use shared::Shared;

pub use act::{Act, Dialog, DialogKind, Kind, Raw};
pub use call::Call;
pub use model::Counts;
pub use rule::Rule;
pub use start::Builder;

/// A running fake; dropping it closes its port and its sockets.
///
/// Every method that names a target or session panics if there is no such thing: that is a
/// mistake of the test.
pub struct FakeChrome {
    shared: Arc<Shared>,
    addr: SocketAddr,
    _server: Task<()>,
}

/// Where it is.
impl FakeChrome {
    /// A fake with one page at `about:blank`, as Chrome starts.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// A fake with other properties.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Its address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What a user gives as the address of a DevTools port: `http://127.0.0.1:port`.
    pub fn http_url(&self) -> String {
        format!("http{}://{}", if self.shared.tls { "s" } else { "" }, self.addr)
    }

    /// A connection in memory, as if it came through the port (without TLS).
    ///
    /// It is for tests that pause tokio's clock: waiting for a socket counts as idle there, so
    /// the clock runs ahead of whatever is under way on sockets. Here it stands still.
    pub fn pipe(&self) -> DuplexStream {
        self.shared.pipe()
    }

    /// The WebSocket address of the browser.
    pub fn browser_url(&self) -> String {
        self.ws(&http::browser_path(&self.shared.guid))
    }

    /// The WebSocket address of a page.
    pub fn page_url(&self, target: &str) -> String {
        self.ws(&format!("/devtools/page/{target}"))
    }

    /// What Chrome writes into the file `DevToolsActivePort` of its profile folder.
    pub fn active_port_file(&self) -> String {
        format!("{}\n{}", self.addr.port(), http::browser_path(&self.shared.guid))
    }

    fn ws(&self, path: &str) -> String {
        format!("ws{}://{}{path}", if self.shared.tls { "s" } else { "" }, self.addr)
    }
}

/// Scripts.
impl FakeChrome {
    /// Begins a rule for commands of this method (`*`: of every method).
    pub fn on(&self, method: &str) -> Rule<'_> {
        Rule::new(&self.shared, method)
    }

    /// What an evaluate does without a rule: a bare JSON value is what the script returned. It
    /// runs inside the fake and must not call it. Without this an evaluate returns 0.
    pub fn evaluate_with<A: Into<Act>>(&self, evaluator: impl Fn(&Call) -> A + Send + 'static) {
        let evaluator = Box::new(move |call: &Call| evaluator(call).into());
        self.shared.tell(|model| model.script.set_evaluator(evaluator));
    }

    /// Forgets all rules and the evaluator.
    pub fn forget_rules(&self) {
        self.shared.tell(|model| model.script.forget());
    }

    /// Lets go the calls that wait at a gate ([`Act::Hold`]); how many that were.
    pub fn release(&self, gate: &str) -> usize {
        self.shared.tell(|model| model.release(gate))
    }

    /// What this path of the HTTP side answers from now on, a WebSocket's path included.
    pub fn answer_http(&self, path: &str, status: u16, body: impl Into<String>) {
        self.shared.set_page(path, status, body.into());
    }
}

/// What happens to pages.
impl FakeChrome {
    /// The pages, oldest first.
    pub fn targets(&self) -> Vec<String> {
        self.shared.ask(Model::target_ids)
    }

    /// A page that no command opened, as by a user; its target id.
    pub fn open(&self, url: &str) -> String {
        self.shared.tell(|model| model.open_page(url))
    }

    /// A window that a page opens; its target id. It shares the opener's renderer if its url is
    /// of the same site, or `about:blank`. It loads when all that auto-attached with
    /// `waitForDebuggerOnStart` let it run; if one of them goes away before, it never does.
    pub fn popup(&self, opener: &str, url: &str) -> String {
        self.shared.tell(|model| model.popup(opener, url, None))
    }

    /// A page goes, as when a user closes it.
    pub fn destroy(&self, target: &str) {
        self.shared.tell(|model| model.destroy(target));
    }

    /// The renderer of a page dies, and every page in it. Pending and later calls hang until a
    /// navigation, which answers them with "Target crashed".
    pub fn crash(&self, target: &str) {
        self.shared.tell(|model| model.crash(target));
    }

    /// A page navigates by itself.
    pub fn navigate(&self, target: &str, url: &str) {
        self.shared.tell(|model| model.navigate_by_page(target, url));
    }

    /// A page changes its title, of which Chrome tells nobody.
    pub fn set_title(&self, target: &str, title: &str) {
        self.shared.tell(|model| model.set_title(target, title));
    }

    /// A page opens a dialog by itself, once its renderer is idle.
    pub fn open_dialog(&self, target: &str, kind: DialogKind, message: &str) {
        self.shared.tell(|model| model.open_dialog(target, Dialog::new(kind, message)));
    }

    /// Somebody at the window closes the dialog; whether one was open.
    pub fn close_dialog(&self, target: &str, accept: bool) -> bool {
        self.shared.tell(|model| model.close_dialog(target, accept, ""))
    }

    /// Something that no call started occupies a page's renderer, once it is idle.
    pub fn occupy(&self, target: &str, kind: Kind) {
        self.shared.tell(|model| model.occupy_by_page(target, kind));
    }

    /// What occupies a page's renderer is over: its call is answered, a dialog is dismissed, a
    /// slow load commits. Whether anything occupied it.
    pub fn free(&self, target: &str) -> bool {
        self.shared.tell(|model| model.free(target))
    }
}

/// Events, and bytes.
impl FakeChrome {
    /// An event on one session, or on every session of a target, whatever they enabled; on how
    /// many.
    #[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
    pub fn event(&self, session_or_target: &str, method: &str, params: Value) -> usize {
        self.shared.tell(|model| model.event(session_or_target, method, &params))
    }

    /// An event on every browser socket.
    #[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
    pub fn browser_event(&self, method: &str, params: Value) {
        self.shared.tell(|model| model.browser_event(method, &params));
    }

    /// Anything at all on one socket.
    pub fn send_raw(&self, conn: u64, raw: impl Into<Raw>) {
        self.shared.tell(|model| model.send_raw(conn, raw.into()));
    }

    /// Ends a session from the browser's side.
    pub fn detach(&self, session: &str) {
        self.shared.tell(|model| model.detach_by_test(session));
    }
}

/// Sockets that die.
impl FakeChrome {
    /// The open sockets.
    pub fn connections(&self) -> Vec<u64> {
        self.shared.ask(Model::conns)
    }

    /// Cuts all sockets; how many that were. The port stays open.
    pub fn drop_links(&self) -> usize {
        self.shared.tell(|model| {
            let conns = model.conns();
            conns.iter().filter(|conn| model.drop_link(**conn)).count()
        })
    }

    /// Cuts one socket; whether it was open.
    pub fn drop_link(&self, conn: u64) -> bool {
        self.shared.tell(|model| model.drop_link(conn))
    }

    /// The browser dies: all sockets are cut, and the port is closed when this returns.
    pub fn die(&self) {
        self.shared.tell(|model| {
            for conn in model.conns() {
                model.drop_link(conn);
            }
            model.exit();
        });
    }

    /// Half dead: it goes on taking bytes (and records them), but nothing comes out any more, no
    /// pong and no handshake either.
    pub fn stall(&self) {
        self.shared.stall();
    }

    /// Alive again: everything that was held back comes now.
    pub fn unstall(&self) {
        self.shared.unstall();
    }
}

impl Drop for FakeChrome {
    fn drop(&mut self) {
        // A fake that panicked has a poisoned lock; a second panic would abort the test run.
        if !std::thread::panicking() {
            self.die();
        }
    }
}

impl std::fmt::Debug for FakeChrome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeChrome").field("addr", &self.addr).finish_non_exhaustive()
    }
}
