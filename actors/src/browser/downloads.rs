//! Downloads: told by Chromium, kept in what is published, put into their places by a task.

use std::sync::Arc;

use ractor::ActorRef;
use serde::Deserialize;
use serde_json::json;
use tabvisor_cdp::link::Event as CdpEvent;
use tabvisor_cdp::task;

use super::{BrowserMsg, State};
use crate::files::{Progress, save};
use crate::ids::TabId;

/// The part of CDP's `Browser.downloadWillBegin` that is needed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WillBegin {
    frame_id: String,
    guid: String,
    url: String,
    #[serde(default)]
    suggested_filename: String,
}

impl State {
    pub(super) fn on_download(&mut self, myself: &ActorRef<BrowserMsg>, event: &CdpEvent) {
        let params = event.params.get();
        if &*event.method == "Browser.downloadWillBegin" {
            let Ok(begun) = serde_json::from_str::<WillBegin>(params) else { return };
            let of = self.tab_of_frame(&begun.frame_id);
            let opener = of.and_then(|tab| self.tabs.get(&tab)).and_then(|tab| tab.shared.opener);
            let WillBegin { guid, url, suggested_filename, .. } = begun;
            tracing::debug!(guid, tab = of.map(tracing::field::display), "a download began");
            self.shared.downloads.send_modify(|all| all.begun(guid, url, &suggested_filename, [of, opener]));
            return;
        }
        let Ok(progress) = serde_json::from_str::<Progress>(params) else { return };
        let mut name = None;
        self.shared.downloads.send_modify(|all| name = all.progress(&progress));
        let arriving = self.works.as_ref().and_then(|works| works.arriving.as_ref());
        let (Some(name), Some(arriving)) = (name, arriving) else { return };
        let arrived = arriving.folder().join(&progress.guid);
        let guid = progress.guid;
        let (shared, myself, put) = (Arc::clone(&self.shared), myself.clone(), guid.clone());
        let saving = task::spawn(async move {
            let saved = save(arrived, shared.files.downloads.clone(), name).await;
            metrics::counter!("tabvisor_downloads_total", "outcome" => if saved.is_ok() { "completed" } else { "failed" })
                .increment(1);
            shared.downloads.send_modify(|all| all.saved(&put, saved));
            let _ = myself.cast(BrowserMsg::Saved(put));
        });
        self.saving.insert(guid, saving);
    }

    pub(super) fn cancel_download(&self, guid: &str) {
        self.shared.downloads.send_modify(|all| all.cancelling(guid));
        if let Some(works) = &self.works {
            works.root.cast("Browser.cancelDownload", json!({ "guid": guid }));
        }
    }

    /// The tab whose page has this frame.
    fn tab_of_frame(&self, frame: &str) -> Option<TabId> {
        let inside = || {
            let has = self.tabs.iter().find(|(_, tab)| tab.shared.memory().has_frame(frame));
            has.map(|(id, _)| *id)
        };
        self.by_target.get(frame).copied().or_else(inside)
    }
}
