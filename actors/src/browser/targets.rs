//! Page targets: announced by Chromium, given a tab, released from their birth.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::Event as CdpEvent;
use tabvisor_cdp::task;

use super::{BrowserMsg, Job, State, Tab};
use crate::error::TabError;
use crate::events::Event;
use crate::ids::TabId;
use crate::recovery;
use crate::restart::{Intensity, RestartWindow};
use crate::shared::{Gone, TabShared};
use crate::tab_supervisor::{TabSupervisor, TabSupervisorArgs};

/// How long a page that waits at its birth gets to say that it runs.
const RELEASE: Duration = Duration::from_secs(10);

/// How a tab sits in the table, besides what it shares.
pub(super) struct Seat {
    /// The tab at the top of those that opened each other.
    pub(super) family: TabId,
    /// Opened by a call of ours.
    pub(super) ours: bool,
    /// The browser context of its target, where that is known.
    pub(super) context: Option<String>,
    /// The session on which its page waits at its birth.
    pub(super) paused: Option<String>,
}

impl State {
    /// Gives a page target its tab and supervisor; the same one if it has them already, since a
    /// target of ours is announced both by event and by reply.
    pub(super) async fn adopt(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        target: String,
        info: Option<&TargetInfo>,
        paused: Option<String>,
    ) -> Result<TabId, TabError> {
        if let Some(id) = self.by_target.get(&target).copied() {
            if let (Some(tab), Some(info)) = (self.tabs.get_mut(&id), info) {
                tab.context.clone_from(&info.browser_context_id);
            }
            if let (Some(tab), Some(session)) = (self.tabs.get_mut(&id), paused) {
                tab.paused = Some(session);
                if tab.listening {
                    self.release(myself, id);
                }
            }
            return Ok(id);
        }
        let id = self.registry.new_tab_id();
        let opener =
            info.and_then(|info| info.opener_id.as_ref()).and_then(|it| self.by_target.get(it)).copied();
        let family = opener.and_then(|opener| self.tabs.get(&opener)).map_or(id, |tab| tab.family);
        // Measured: a new empty page answers while it waits, and so does a popup that its opener
        // can reach; one with an address of its own and no opener does not.
        let confirms = info.is_none_or(|info| info.url == "about:blank" || info.can_access_opener);
        // A popup that its opener can reach shares its renderer.
        let sharing = opener.filter(|_| info.is_some_and(|info| info.can_access_opener));
        let scripts =
            sharing.and_then(|opener| self.tabs.get(&opener)).map(|tab| Arc::clone(&tab.shared.scripts));
        let scripts = scripts.unwrap_or_default();
        let browser = Arc::clone(&self.shared);
        let shared = Arc::new(TabShared::new(id, target.clone(), opener, confirms, scripts, browser));
        if let Some(info) = info {
            shared.announced(&info.url, &info.title);
        }
        let context = info.and_then(|info| info.browser_context_id.clone());
        self.seat(myself, shared, Seat { family, ours: false, context, paused }).await?;
        let (browser, epoch) = (self.shared.id, self.shared.epoch);
        self.shared.events.publish(Event::TabOpened { tab: id, browser, epoch, opener });
        Ok(id)
    }

    /// Gives a tab its supervisor and its place in the table.
    pub(super) async fn seat(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        shared: Arc<TabShared>,
        seat: Seat,
    ) -> Result<(), TabError> {
        let args = TabSupervisorArgs {
            tab: Arc::clone(&shared),
            registry: Arc::clone(&self.registry),
            browser: myself.clone(),
        };
        let spawned = Actor::spawn_linked(None, TabSupervisor, args, myself.get_cell()).await;
        let (supervisor, _) = spawned.map_err(|error| TabError::Internal(error.to_string()))?;
        self.by_target.insert(shared.target.clone(), shared.id);
        let watching = task::spawn(recovery::watch(Arc::clone(&shared), myself.clone()));
        let Seat { family, ours, context, paused } = seat;
        let tab = Tab {
            shared: Arc::clone(&shared),
            supervisor,
            paused,
            releasing: None,
            ours,
            family,
            listening: false,
            context,
            recoveries: RestartWindow::new(Intensity::RECOVERY),
            pause: None,
            _watching: watching,
        };
        self.tabs.insert(shared.id, tab);
        Ok(())
    }

    /// A tab's watcher listens: lets its page run, if it waits at its birth, and hands it over.
    pub(super) fn release(&mut self, myself: &ActorRef<BrowserMsg>, id: TabId) {
        let (Some(tab), Some(works)) = (self.tabs.get_mut(&id), &self.works) else { return };
        // It may be the watcher of a target that the tab has left.
        if !tab.shared.listened.load(Ordering::Relaxed) {
            return;
        }
        tab.listening = true;
        let Some(session) = tab.paused.take() else { return self.hand_over(myself, id) };
        // The session is kept: a page whose session is detached while its first navigation is
        // under way may never load (measured).
        let (paused, myself) = (works.link.session(&session), myself.clone());
        tab.releasing = Some(task::spawn(async move {
            let budget = Budget::new(RELEASE);
            let ran = paused.call("Runtime.runIfWaitingForDebugger", json!({}), &budget).await;
            if let Err(error) = ran {
                tracing::debug!(%error, "a page that waited at its birth was not released");
            }
            let _ = myself.cast(BrowserMsg::Released(id));
        }));
    }

    pub(super) async fn on_event(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        event: &CdpEvent,
    ) -> Result<(), ActorProcessingErr> {
        let Ok(params) = serde_json::from_str::<TargetEvent>(event.params.get()) else {
            tracing::warn!(method = %event.method, "a target event could not be read");
            return Ok(());
        };
        let TargetEvent { target_info, target_id, session_id } = params;
        match (event.method.as_ref(), target_info) {
            ("Target.attachedToTarget", Some(info)) => self.attached(myself, info, session_id).await,
            ("Target.targetInfoChanged", Some(info)) => {
                if let Some(tab) = self.by_target.get(&info.target_id).and_then(|id| self.tabs.get(id)) {
                    tab.shared.announced(&info.url, &info.title);
                }
            }
            ("Target.targetDestroyed", _) => {
                let Some(target) = target_id else { return Ok(()) };
                self.unwanted.remove(&target);
                if let Some(tab) = self.by_target.get(&target).copied() {
                    self.gone(tab, Gone::Closed);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A page is there: one of ours, one that a page opened, or one that was there before us.
    pub(super) async fn attached(
        &mut self,
        myself: &ActorRef<BrowserMsg>,
        info: TargetInfo,
        session: Option<String>,
    ) {
        let known = self.by_target.contains_key(&info.target_id);
        if self.unwanted.contains(&info.target_id) {
            return;
        }
        if !known && self.jobs.values().any(|job| matches!(job, Job::Replace(..))) {
            self.held_back.push((info, session));
            return;
        }
        let target = info.target_id.clone();
        if !known && (info.kind != "page" || is_internal(&info.url)) {
            return;
        }
        if !known
            && info.opener_id.is_some()
            && let Some(limit) = self.one_popup_too_many(info.opener_id.as_deref())
        {
            if let Some(works) = &self.works {
                // Closed while it waits at its birth, it would leave its opener's scripts waiting for
                // ever where they share a renderer (measured).
                if let Some(session) = &session {
                    works.link.session(session).cast("Runtime.runIfWaitingForDebugger", json!({}));
                }
                works.root.cast("Target.closeTarget", json!({ "targetId": target }));
            }
            self.tell_of_closed_popup(info.opener_id.as_deref(), limit);
            return;
        }
        if let Err(error) = self.adopt(myself, target, Some(&info), session).await {
            tracing::error!(%error, "a page got no tab");
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetEvent {
    target_info: Option<TargetInfo>,
    target_id: Option<String>,
    session_id: Option<String>,
}

/// The part of CDP's `Target.TargetInfo` that is needed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetInfo {
    pub(super) target_id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    opener_id: Option<String>,
    browser_context_id: Option<String>,
    #[serde(default)]
    can_access_opener: bool,
}

/// Pages of the browser itself are nobody's tabs.
fn is_internal(url: &str) -> bool {
    ["chrome://", "devtools://", "chrome-extension://", "edge://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}
