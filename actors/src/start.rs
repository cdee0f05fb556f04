//! Starting a browser: launching or finding it, and the browser link. Runs as a leaf of
//! [`Browser`](crate::browser).

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::discovery::{self, Given};
use tabvisor_cdp::launch::{self, Chromium, LaunchOptions, Profile};
use tabvisor_cdp::link::{DialOptions, Events, KeepAlive, Link, LinkOptions, Purpose, Session};

use crate::browser::TargetInfo;
use crate::error::StartError;
use crate::files::Arriving;
use crate::restart::Intensity;
use crate::shared::{BrowserFacts, BrowserShared};

/// Where a browser comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A Chromium of our own, ended with us.
    Launch(LaunchOptions),
    /// One that runs already; we only attach, and leave it running.
    Attach(Given),
}

impl Source {
    /// How long a browser from there may take to end by itself.
    pub(crate) fn stop_grace(&self) -> Duration {
        match self {
            Self::Launch(options) => options.stop_grace,
            Self::Attach(_) => Duration::ZERO,
        }
    }

    /// A browser that is started again has nothing of what the one before it had stored.
    pub(crate) fn forgets(&self) -> bool {
        match self {
            Self::Launch(options) => matches!(options.profile, Profile::Temporary),
            Self::Attach(_) => false,
        }
    }

    /// How often a browser from there may be restarted.
    pub fn restarts(&self) -> Intensity {
        match self {
            Self::Launch(_) => Intensity::BROWSER,
            Self::Attach(_) => Intensity::ENDPOINT,
        }
    }
}

/// A browser that works.
pub(crate) struct Started {
    pub(crate) chromium: Option<Chromium>,
    pub(crate) link: Link,
    pub(crate) root: Session,
    pub(crate) events: Events,
    /// The pages that were there before us.
    pub(crate) there: Vec<TargetInfo>,
    pub(crate) facts: BrowserFacts,
    /// Where its downloads arrive, if they are available.
    pub(crate) arriving: Option<Arriving>,
    /// How to dial it from now on (a remote one may need its own Host header).
    pub(crate) dial: DialOptions,
}

/// Events of the browser link that Browser reads.
const EVENTS: &[&str] = &[
    "Target.attachedToTarget",
    "Target.targetCreated",
    "Target.targetInfoChanged",
    "Target.targetDestroyed",
    // In one stream with the targets: a popup that turns into a download is gone at once.
    "Browser.downloadWillBegin",
    "Browser.downloadProgress",
];

/// How many of them may wait: hundreds of tabs are announced at once.
const EVENT_LAG: usize = 4096;

/// A browser process that hangs is noticed after this much silence, twice.
const KEEP_ALIVE: KeepAlive =
    KeepAlive { every: Duration::from_secs(5), patience: Duration::from_secs(5), while_idle: true };

/// Starts or finds the browser and makes the browser link.
pub(crate) async fn start(
    source: Source,
    shared: Arc<BrowserShared>,
    budget: Budget,
) -> Result<Started, StartError> {
    let dial = shared.dial.get();
    let (chromium, address, dial) = match source {
        Source::Launch(options) => {
            let chromium =
                launch::launch(&options, &budget).await.map_err(|why| StartError::Launch(Arc::new(why)))?;
            let address = chromium.address().clone();
            (Some(chromium), address, dial)
        }
        Source::Attach(given) => {
            let endpoint = discovery::resolve(&given, &dial, &budget)
                .await
                .map_err(|why| StartError::Discovery(Arc::new(why)))?;
            let dial = endpoint.dial_options(&dial);
            (None, endpoint.ws_url, dial)
        }
    };
    let mut options = LinkOptions::new(Purpose::Browser);
    options.keep_alive = KEEP_ALIVE;
    let link = Link::connect(&address, &dial, options, &budget).await?;
    let root = link.root();
    let events = root.subscribe(EVENTS, EVENT_LAG);
    let version: Version = root.call_as("Browser.getVersion", json!({}), &budget).await?;
    root.call("Target.setDiscoverTargets", json!({ "discover": true, "filter": PAGES }), &budget).await?;
    // New pages wait at their birth until their watcher listens. Only pages: a worker that nobody
    // releases would wait for ever (measured).
    let auto_attach = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": true,
        "flatten": true,
        "filter": PAGES,
    });
    root.call("Target.setAutoAttach", auto_attach, &budget).await?;
    // Those that are there already are attached to one by one (measured: long after the answer).
    let there: Targets = root.call_as("Target.getTargets", json!({ "filter": PAGES }), &budget).await?;
    let arriving = match &chromium {
        Some(_) => catch_downloads(&root, &shared, &budget).await,
        None => Err("it is not ours, so what becomes of its downloads is left to others".into()),
    };
    let (arriving, no_downloads) = match arriving {
        Ok(arriving) => (Some(arriving), None),
        Err(why) => (None, Some(why)),
    };
    let facts = BrowserFacts {
        no_downloads,
        ws_url: address,
        version: version.product,
        pid: chromium.as_ref().map(Chromium::pid),
        launched: chromium.is_some(),
    };
    Ok(Started { chromium, link, root, events, there: there.target_infos, facts, arriving, dial })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Targets {
    target_infos: Vec<TargetInfo>,
}

/// Has downloads arrive in a folder of ours, and be told of, before there is any tab. A browser without
/// them works all the same.
async fn catch_downloads(
    root: &Session,
    shared: &BrowserShared,
    budget: &Budget,
) -> Result<Arriving, String> {
    let downloads = &shared.files.downloads;
    if downloads.as_os_str().is_empty() {
        return Err("no folder is configured (files.downloads)".into());
    }
    let arriving = Arriving::make(downloads, shared.id, shared.epoch).map_err(|why| {
        let why = format!("the folder {} cannot be written: {why} (files.downloads)", downloads.display());
        tracing::warn!(why, "downloads are not available");
        why
    })?;
    let asked = json!({
        "behavior": "allowAndName", "downloadPath": arriving.folder(), "eventsEnabled": true,
    });
    match root.call("Browser.setDownloadBehavior", asked, budget).await {
        Ok(_) => Ok(arriving),
        Err(why) => {
            tracing::warn!(%why, "downloads are not available");
            Err(why.to_string())
        }
    }
}

/// CDP target filter: pages and nothing else.
const PAGES: [Filter; 2] =
    [Filter { r#type: Some("page"), exclude: false }, Filter { r#type: None, exclude: true }];

#[derive(serde::Serialize)]
struct Filter {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    exclude: bool,
}

#[derive(Deserialize)]
struct Version {
    product: String,
}
