//! The tree on a fake Chrome: faults that a real one cannot be made to show at will.

mod dialog_open;
mod faults;
mod interleavings;
mod lifecycle;
mod recovery;
mod traps;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::fake::{Act, Call, DialogKind, FakeChrome, Kind};
use tabvisor_cdp::link::DialOptions;
use tabvisor_page::evaluate::Value;
use tabvisor_page::navigate::WaitUntil;

use crate::error::TabError;
use crate::ids::{BrowserId, TabId};
use crate::limits::{Care, Limits};
use crate::{BrowserSpec, EvaluateRequest, Source, Supervisor};

pub(super) fn budget(ms: u64) -> Budget {
    Budget::new(Duration::from_millis(ms))
}

/// A tree attached to a fake Chrome whose pages "run" scripts by the word in them.
pub(super) struct World {
    pub(super) fake: FakeChrome,
    pub(super) supervisor: Supervisor,
    pub(super) browser: BrowserId,
}

impl World {
    pub(super) async fn new() -> Self {
        Self::with(Limits::default(), Care::default()).await
    }

    pub(super) async fn with(limits: Limits, care: Care) -> Self {
        Self::on(FakeChrome::builder().pages(0).start().await, limits, care).await
    }

    /// A tree attached to a fake Chrome as it is.
    pub(super) async fn on(fake: FakeChrome, limits: Limits, care: Care) -> Self {
        fake.evaluate_with(page);
        let supervisor = Supervisor::start(1024).await.unwrap();
        let spec = BrowserSpec {
            source: Source::Attach(fake.browser_url().parse().unwrap()),
            limits: Arc::new(limits),
            care,
            policy: Arc::default(),
            files: Arc::default(),
            dial: DialOptions::default(),
            restarts: crate::restart::Intensity::BROWSER,
        };
        let browser = supervisor.add_browser(spec, &budget(10_000)).await.unwrap();
        Self { fake, supervisor, browser }
    }

    pub(super) async fn open(&self) -> TabId {
        let opened =
            self.supervisor.open(self.browser, "about:blank", WaitUntil::Load, &budget(10_000)).await;
        opened.unwrap().tab_id
    }

    /// A tab with a link attached and warm.
    pub(super) async fn open_warm(&self) -> TabId {
        let tab = self.open().await;
        self.run(tab, "QUICK", 10_000).await.unwrap();
        tab
    }

    pub(super) fn run(
        &self,
        tab: TabId,
        word: &str,
        ms: u64,
    ) -> impl Future<Output = Result<Value, TabError>> + Send + 'static {
        let (supervisor, request) = (self.supervisor.clone(), EvaluateRequest::new(word));
        async move { supervisor.evaluate(tab, request, &budget(ms)).await.map(|it| it.value) }
    }

    pub(super) fn target(&self, tab: TabId) -> String {
        self.supervisor.tab(tab).unwrap().target_id
    }

    /// Stops the tree and waits until the fake has seen every socket close.
    pub(super) async fn stop(self) {
        self.supervisor.stop().await;
        self.fake.wait_until(|counts| counts.connections == 0).await;
    }
}

/// What a page does with a script: markers, the clock, and words in the caller's text.
fn page(call: &Call) -> Act {
    let script = call.expression();
    if script == "0" {
        return json!(0).into();
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1e3;
    let Some((_, tail)) = script.rsplit_once("})(") else { return json!(now).into() };
    // The prelude's arguments begin with the deadline.
    let deadline: f64 = tail.split(',').next().unwrap().parse().unwrap();
    if now > deadline {
        return json!({ "t": "late" }).into();
    }
    let word = ["LOOP", "NATIVE", "PENDING", "NEVER", "THROW", "DIALOG", "CLOSE", "CRASH", "GARBAGE", "HELD"]
        .into_iter()
        .find(|word| tail.contains(word));
    match word {
        Some("LOOP") => Act::Occupy(Kind::Script),
        Some("NATIVE") => Act::Occupy(Kind::Native),
        Some("PENDING") => Act::Pending,
        Some("NEVER") => Act::Never,
        Some("THROW") => json!({ "t": "threw", "name": "Error", "message": "m" }).into(),
        Some("DIALOG") => Act::dialog(DialogKind::Confirm, "sure?"),
        Some("CLOSE") => Act::Close,
        Some("CRASH") => Act::Crash,
        Some("GARBAGE") => Act::seq([Act::garbage("{"), Act::from(number(1))]),
        Some("HELD") => Act::hold_then("held", number(1)),
        _ => number(1).into(),
    }
}

fn number(n: i64) -> Json {
    json!({ "t": "number", "v": n })
}
