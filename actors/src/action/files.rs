//! Files that go into a page, and what it shows that comes out as one.

use std::sync::Arc;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::{self, ActPage, Chooser, Files, Place};
use tabvisor_page::pdf::{self, PdfError};

use super::act::{Acted, Begun, Named, free_page, resolve};
use super::{Done, Stage};
use crate::error::TabError;
use crate::events::Event;
use crate::files::FileError;
use crate::shared::TabShared;

/// Where files go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadTo {
    /// Into this file input.
    Input(Named),
    /// Into the chooser that a click on this element opens.
    ChooserOf(Named),
    /// Into the next chooser that opens within this time, whatever opens it.
    NextChooser {
        /// How long it is waited for.
        within: Duration,
    },
}

/// A chooser that is waited for.
#[derive(Debug)]
pub(crate) struct Armed {
    tab: Arc<TabShared>,
    chooser: Chooser,
    files: Files,
    budget: Budget,
}

impl Armed {
    /// Waits for it, once.
    pub(crate) async fn serve(mut self) {
        let filled = self.chooser.fill(&self.files, &self.budget).await;
        let error = match filled {
            Ok(_) => None,
            // None opened.
            Err(error) if !error.was_sent() && self.budget.check().is_err() => return,
            Err(error) => Some(error.to_string()),
        };
        self.tab.browser.events.publish(Event::FilesGiven { tab: self.tab.id, error });
    }
}

/// Gives files to a page.
pub(super) async fn upload(
    stage: &Stage,
    to: UploadTo,
    files: &Files,
    budget: &Budget,
) -> Result<Done, TabError> {
    let page = free_page(stage)?;
    let begun = Begun::watch(stage);
    let turns = &stage.tab.choosers;
    let outcome = match to {
        UploadTo::Input(named) => {
            act::upload(&page, &resolve(stage, named, budget).await?, files, budget).await?
        }
        UploadTo::ChooserOf(named) => {
            let place = Place::On(resolve(stage, named, budget).await?);
            act::upload_by_click(&page, &place, files, turns, budget).await?
        }
        UploadTo::NextChooser { within } => {
            let chooser = Chooser::catch(&page, turns, budget).await?;
            let (tab, files) = (Arc::clone(&stage.tab), files.clone());
            return Ok(Done::Armed(Some(Box::new(Armed {
                tab,
                chooser,
                files,
                budget: Budget::new(within),
            }))));
        }
    };
    Ok(Done::Acted(Box::new(begun.told(outcome, budget).await)))
}

/// Has the browser download the document that is shown, if it is the expected one.
pub(super) async fn save_document(stage: &Stage, expected: &str, budget: &Budget) -> Result<Acted, TabError> {
    let page: ActPage = free_page(stage)?;
    let begun = Begun::watch(stage);
    match act::save_document(&page, expected, budget).await? {
        Ok(outcome) => Ok(begun.told(outcome, budget).await),
        Err(found) => Err(FileError::OtherDocument { found }.into()),
    }
}

/// The page as a PDF.
pub(super) async fn print(stage: &Stage, budget: &Budget) -> Result<Vec<u8>, TabError> {
    stage.unless_hindered(pdf::print(&stage.session, budget)).await
}

impl From<PdfError> for TabError {
    fn from(error: PdfError) -> Self {
        match error {
            PdfError::Link(error) => error.into(),
            other => Self::Pdf(other),
        }
    }
}
