//! Files: into pages, and out of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ractor::ActorRef;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::{Click, Files};
use tabvisor_page::navigate::{self, Landed, WaitUntil};

use super::Supervisor;
use super::admission::{check_budget, permit};
use super::tabs::unexpected;
use crate::action::{Act, Acted, Action, At, Done, Named, UploadTo};
use crate::browser::BrowserMsg;
use crate::error::{StartError, TabError};
use crate::files::{Download, DownloadState, FileError, rename};
use crate::ids::TabId;
use crate::shared::{BrowserFacts, Gone, TabShared};

/// Which files a page is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// Of the uploads folder, by their paths in it or their whole paths.
    Paths(Vec<String>),
    /// Of the machine that the browser runs on, by their paths there. They are taken as they are, and
    /// what they should be is not known.
    Remote(Vec<String>),
}

/// Files for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Which.
    pub files: Given,
    /// Where they go.
    pub to: UploadTo,
}

/// Where a navigation led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// To a document.
    Document(Landed),
    /// To a download; the page is unchanged.
    Download(Box<Download>),
}

impl Supervisor {
    /// Gives files to a page. `None` where a chooser is waited for that has still to open.
    ///
    /// # Errors
    /// [`TabError::File`] before anything is sent, [`TabError::Act`], limits, and whatever ends a call.
    pub async fn upload(
        &self,
        tab: TabId,
        upload: Upload,
        budget: &Budget,
    ) -> Result<Option<Acted>, TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        check_budget(budget, shared.browser.limits.max_budget())?;
        let Upload { files, to } = upload;
        let files = match files {
            Given::Paths(paths) => {
                let sees = facts(&shared)?.sees();
                let given = shared.browser.files.uploads(&paths, sees);
                let spent = |spent| TabError::Budget { spent, doing: "looking at the files", sent: false };
                budget.run(given).await.map_err(spent)??
            }
            Given::Remote(paths) => Files::Remote(paths),
        };
        match self.act(tab, Action::Upload(Box::new((to, files))), budget).await? {
            Done::Acted(acted) => Ok(Some(*acted)),
            Done::Armed(_) => Ok(None),
            other => Err(unexpected(&other)),
        }
    }

    /// Loads `url` in a tab. If that turns into a download, it is waited for as long as the budget
    /// lasts; it goes on if it is not over by then.
    ///
    /// # Errors
    /// As [`navigate`](Self::navigate).
    pub async fn navigate_or_download(
        &self,
        tab: TabId,
        url: &str,
        until: WaitUntil,
        budget: &Budget,
    ) -> Result<Arrived, TabError> {
        let url = navigate::check_url(url)?;
        let begun = match self.act(tab, Action::Navigate { url, until }, budget).await? {
            Done::Landed(landed) => return Ok(Arrived::Document(landed)),
            Done::Download(begun) => begun,
            other => return Err(unexpected(&other)),
        };
        let shared = self.inner.registry.tab(tab)?.shared;
        let work = budget.reserving(budget.cleanup_reserve());
        let _ = work.run(over(&shared, &begun.guid)).await;
        let downloads = &shared.browser.downloads;
        let now = downloads.borrow().get(&begun.guid).cloned().unwrap_or(*begun);
        downloads.send_modify(|all| all.told(std::slice::from_ref(&now)));
        Ok(Arrived::Download(Box::new(now)))
    }

    /// Clicks an element and waits for the download that this begins; it is put at `path` in the
    /// downloads folder, in the place of what is there. If the budget ends first it is cancelled.
    ///
    /// # Errors
    /// [`TabError::File`], those of a click, and whatever ends a call.
    pub async fn download(
        &self,
        tab: TabId,
        on: Named,
        path: Option<&str>,
        budget: &Budget,
    ) -> Result<Download, TabError> {
        let click = Act::Click { at: At::On(on), click: Click::default(), by_events: false };
        self.download_by(tab, Action::Act(Box::new(click)), path, budget).await
    }

    /// The same for the document that the tab shows, if that has the address `expected`.
    ///
    /// # Errors
    /// As [`download`](Self::download).
    pub async fn download_document(
        &self,
        tab: TabId,
        expected: &str,
        path: Option<&str>,
        budget: &Budget,
    ) -> Result<Download, TabError> {
        self.download_by(tab, Action::SaveDocument(expected.to_owned()), path, budget).await
    }

    async fn download_by(
        &self,
        tab: TabId,
        action: Action,
        path: Option<&str>,
        budget: &Budget,
    ) -> Result<Download, TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        let to = place(&shared, path).await?;
        let acted = match self.act(tab, action, budget).await? {
            Done::Acted(acted) => acted,
            other => return Err(unexpected(&other)),
        };
        if let Some(dialog) = acted.outcome.observed.dialog {
            return Err(TabError::Dialog(dialog));
        }
        let which = Which { from: acted.downloads_from, earlier: false, ours: true };
        self.finish(&shared, which, to, budget).await
    }

    /// Waits for a download of a tab: one that began already and that nobody was told the end of, or the
    /// next one. It is not one of the tab's ordered actions, so what begins it can be done meanwhile.
    /// If the budget ends first it goes on, and can be waited for again.
    ///
    /// # Errors
    /// [`TabError::File`], [`TabError::Dialog`] where none began and a dialog is open, limits, and whatever ends a call.
    pub async fn wait_for_download(
        &self,
        tab: TabId,
        path: Option<&str>,
        budget: &Budget,
    ) -> Result<Download, TabError> {
        let shared = self.inner.registry.tab(tab)?.shared;
        let limits = &shared.browser.limits;
        check_budget(budget, limits.max_budget())?;
        let _place = permit(&shared.actions, "limits.actions_per_tab", limits.actions_per_tab)?;
        let to = place(&shared, path).await?;
        let from = shared.browser.downloads.borrow().next();
        self.finish(&shared, Which { from, earlier: true, ours: false }, to, budget).await
    }

    /// Makes a PDF of a tab's page.
    ///
    /// # Errors
    /// [`TabError::Pdf`], [`TabError::Dialog`], [`TabError::Stuck`], limits, and whatever ends a call.
    pub async fn pdf(&self, tab: TabId, budget: &Budget) -> Result<Vec<u8>, TabError> {
        match self.act(tab, Action::Pdf, budget).await? {
            Done::Pdf(document) => Ok(document),
            other => Err(unexpected(&other)),
        }
    }

    async fn finish(
        &self,
        tab: &Arc<TabShared>,
        which: Which,
        to: Option<PathBuf>,
        budget: &Budget,
    ) -> Result<Download, TabError> {
        // What is left at the end is for the answer.
        let work = budget.reserving(budget.cleanup_reserve());
        let mut taken = match work.run(begun(tab, &which)).await {
            Ok(guid) => Taken { tab, guid: guid?, ours: None },
            Err(_) if budget.is_cancelled() => return Err(aborted(budget)),
            Err(_) => return Err(FileError::NoneBegan { waited_ms: ms(budget.elapsed()) }.into()),
        };
        if which.ours {
            taken.ours = self.inner.registry.browser(tab.browser.id).map(|browser| browser.actor);
        }
        let ended = work.run(over(tab, &taken.guid)).await;
        let Some(download) = tab.browser.downloads.borrow().get(&taken.guid).cloned() else {
            return Err(TabError::Internal("a download was forgotten".into()));
        };
        let url: String = download.url.chars().take(200).collect();
        match ended {
            Ok(ended) => ended?,
            Err(_) if budget.is_cancelled() => return Err(aborted(budget)),
            Err(_) => {
                let (received_bytes, waited_ms) = (download.bytes, ms(budget.elapsed()));
                let cancelled = which.ours;
                return Err(FileError::Unfinished { url, received_bytes, waited_ms, cancelled }.into());
            }
        }
        let guid = taken.keep();
        match (download.state, download.path.clone(), to) {
            (DownloadState::Completed, Some(from), Some(to)) => {
                let moved = rename(from, to.clone()).await;
                moved.map_err(|why| FileError::Failed { url, why })?;
                tab.browser.downloads.send_modify(|all| all.saved(&guid, Ok(to.clone())));
                let mut download = download;
                download.path = Some(to);
                Ok(download)
            }
            (DownloadState::Completed, Some(_), None) => Ok(download),
            _ => {
                let why = download.error.unwrap_or_else(|| "it was cancelled".into());
                Err(FileError::Failed { url, why }.into())
            }
        }
    }
}

/// Which download is waited for.
struct Which {
    /// One that begins with this number or a higher one.
    from: u64,
    /// Or an earlier one whose end nobody was told of.
    earlier: bool,
    /// It was begun for this wait, and ends with it.
    ours: bool,
}

/// A download that a call waits for. Dropped before its end, it is there for another call, or ends
/// if it is this call's own.
struct Taken<'a> {
    tab: &'a TabShared,
    guid: String,
    ours: Option<ActorRef<BrowserMsg>>,
}

impl Taken<'_> {
    fn keep(mut self) -> String {
        self.ours = None;
        std::mem::take(&mut self.guid)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.guid.is_empty() {
            return;
        }
        let guid = std::mem::take(&mut self.guid);
        match self.ours.take() {
            Some(browser) => drop(browser.cast(BrowserMsg::CancelDownload(guid))),
            None => self.tab.browser.downloads.send_modify(|all| all.give_back(&guid)),
        }
    }
}

fn facts(tab: &TabShared) -> Result<Arc<BrowserFacts>, TabError> {
    let starting = || StartError::Internal("it does not work now".into()).into();
    tab.browser.ready().ok_or_else(starting)
}

/// Where a download is to be put; checked before anything is done.
async fn place(tab: &TabShared, path: Option<&str>) -> Result<Option<PathBuf>, TabError> {
    if let Some(why) = &facts(tab)?.no_downloads {
        return Err(FileError::Unsupported(why.clone()).into());
    }
    match path {
        Some(path) => Ok(Some(tab.browser.files.download(path).await?)),
        None => Ok(None),
    }
}

/// Takes the download that is waited for, once it has begun. None begins behind a dialog that is open
/// already; one that opens meanwhile may be what leads to it.
async fn begun(tab: &TabShared, which: &Which) -> Result<String, TabError> {
    let downloads = &tab.browser.downloads;
    let (mut changes, mut gone) = (downloads.subscribe(), tab.gone.subscribe());
    let mut open = tab.condition.borrow().dialog.clone();
    loop {
        changes.mark_unchanged();
        let mut taken = None;
        downloads.send_if_modified(|all| {
            taken = all.take(tab.id, which.from, which.earlier);
            false
        });
        if let Some(guid) = taken {
            return Ok(guid);
        }
        if let Some(dialog) = open.take() {
            return Err(TabError::Dialog(dialog));
        }
        tokio::select! {
            _ = changes.changed() => {}
            why = gone.wait_for(Option::is_some) => return Err(why_gone(tab, why.ok().and_then(|why| why.clone()))),
        }
    }
}

/// Waits until it is over. That its tab is closed does not end it; the end of its browser does.
async fn over(tab: &TabShared, guid: &str) -> Result<(), TabError> {
    let (mut changes, mut gone) = (tab.browser.downloads.subscribe(), tab.gone.subscribe());
    let ends = |why: &Option<Gone>| matches!(why, Some(Gone::BrowserLost { .. } | Gone::Stopping));
    tokio::select! {
        biased;
        _ = changes.wait_for(|all| all.get(guid).is_none_or(Download::is_over)) => Ok(()),
        why = gone.wait_for(ends) => match why {
            Ok(why) => Err(why_gone(tab, why.clone())),
            Err(_) => Err(TabError::Stopping),
        },
    }
}

fn why_gone(tab: &TabShared, why: Option<Gone>) -> TabError {
    why.map_or(TabError::TabClosed { tab: tab.id }, |why| why.error(tab.id))
}

fn aborted(budget: &Budget) -> TabError {
    let spent = tabvisor_cdp::budget::Spent::Cancelled { elapsed: budget.elapsed() };
    TabError::Budget { spent, doing: "waiting for a download", sent: true }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
