//! What one start of a browser leaves to the next: the cookies, which a Chromium that is killed cannot be
//! asked for any more. They are copied when a page has changed, so an idle browser is not asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Session;
use tokio::sync::Notify;

use crate::shared::TabShared;

/// It never tells what it holds: cookies are secrets.
#[derive(Default)]
pub(crate) struct Heritage {
    cookies: Mutex<Vec<Map<String, Json>>>,
    changed: Notify,
}

/// How long changes gather before cookies are copied: a page that loads sets several.
const GATHER: Duration = Duration::from_millis(500);
/// How long the browser process may take to answer.
const ASKED: Duration = Duration::from_secs(5);
/// What of a cookie can be set again.
const KEPT: &[&str] = &[
    "name",
    "value",
    "domain",
    "path",
    "secure",
    "httpOnly",
    "sameSite",
    "expires",
    "priority",
    "sourceScheme",
    "sourcePort",
    "partitionKey",
];

impl Heritage {
    /// Copies the cookies of the browser's own context.
    pub(super) async fn copy_cookies(&self, root: &Session, budget: &Budget) {
        #[derive(Deserialize)]
        struct Answer {
            cookies: Vec<Map<String, Json>>,
        }
        match root.call_as::<Answer>("Storage.getCookies", json!({}), budget).await {
            Ok(Answer { mut cookies }) => {
                for cookie in &mut cookies {
                    let ends_with_browser = cookie.get("session").and_then(Json::as_bool) == Some(true);
                    cookie.retain(|name, _| {
                        KEPT.contains(&name.as_str()) && !(ends_with_browser && name == "expires")
                    });
                }
                *self.cookies.lock().unwrap_or_else(PoisonError::into_inner) = cookies;
            }
            Err(why) => tracing::debug!(%why, "cookies could not be copied"),
        }
    }

    /// Gives the copied cookies to a browser that has just been started.
    pub(crate) async fn hand_down(&self, root: &Session, budget: &Budget) {
        let cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if cookies.is_empty() {
            return;
        }
        // One that is refused must not cost the others.
        if root.call("Storage.setCookies", json!({ "cookies": cookies }), budget).await.is_ok() {
            return;
        }
        for cookie in cookies {
            if let Err(why) = root.call("Storage.setCookies", json!({ "cookies": [cookie] }), budget).await {
                tracing::warn!(%why, "a cookie could not be set again");
            }
        }
    }

    /// Keeps the copy up to date; never ends by itself.
    pub(super) async fn keep(self: Arc<Self>, root: Session) {
        loop {
            self.changed.notified().await;
            tokio::time::sleep(GATHER).await;
            self.copy_cookies(&root, &Budget::new(ASKED)).await;
        }
    }

    /// Tells of every document of a tab; ends with it.
    pub(super) async fn watch(self: Arc<Self>, tab: Arc<TabShared>) {
        let (mut page, mut gone) = (tab.page.subscribe(), tab.gone.subscribe());
        let mut seen = (0, false);
        loop {
            tokio::select! {
                _ = gone.wait_for(Option::is_some) => return,
                changed = page.changed() => if changed.is_err() { return },
            }
            let now = {
                let known = page.borrow_and_update();
                (known.state.generation, known.state.loading)
            };
            if std::mem::replace(&mut seen, now) != now {
                self.changed.notify_one();
            }
        }
    }
}
