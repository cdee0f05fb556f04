//! One call of a tool: what it works on, within which budget, and what is told in the end.

use std::sync::Arc;

use serde_json::json;
use tabvisor_actors::{Acted, Supervisor, TabRow, TabState};
use tabvisor_cdp::budget::Budget;
use tabvisor_page::act::Route;

use crate::{TabError, TabId};

use super::args::Args;
use super::connection::Connection;
use super::envelope::{Status, Told};
use super::failure::{self, refusal, refused};
use super::home::Home;

/// How much of a text that a page made is told in one member.
const SHOWN: usize = 300;

/// What a tool gives: told in any case.
pub(super) type Outcome = Result<Told, Box<Told>>;

/// One call of a tool.
pub(super) struct Call {
    pub(super) home: Home,
    pub(super) connection: Arc<Connection>,
    pub(super) session: String,
    pub(super) args: Args,
    pub(super) budget: Budget,
}

impl Call {
    pub(super) fn supervisor(&self) -> &Supervisor {
        self.home.supervisor()
    }

    /// The tab that the call means, as it is before. It is the last used one from now on.
    pub(super) fn tab(&self) -> Result<TabRow, Box<Told>> {
        let row = match self.args.text("tab_id") {
            Some(text) => self.named(&text)?,
            None => self.current().ok_or_else(|| self.nothing_used())?,
        };
        self.check_target()?;
        self.connection.used(&self.session, row.tab_id);
        Ok(row)
    }

    /// The tab of a call that names none, if it is there.
    pub(super) fn current(&self) -> Option<TabRow> {
        let tab = self.connection.last(&self.session)?;
        self.home.rows().into_iter().find(|row| row.tab_id == tab)
    }

    fn nothing_used(&self) -> Box<Told> {
        let why = match self.connection.last(&self.session) {
            Some(tab) => format!("{tab}, which was used last, is gone"),
            None => "no tab was used in this session".into(),
        };
        refused("tab_required", why)
    }

    fn named(&self, text: &str) -> Result<TabRow, Box<Told>> {
        let shown: String = text.chars().take(40).collect();
        let Ok(tab) = text.parse::<TabId>() else {
            let mut refusal =
                refusal("tab_not_found", format!("{shown:?} is no tab id; they look like \"t1\""));
            refusal.detail = json!({ "tab_id": shown });
            return Err(Box::new(Told::refused(refusal)));
        };
        let row = self.supervisor().tab(tab).map_err(|error| failure::before(&error))?;
        if self.home.rows().iter().any(|row| row.tab_id == tab) {
            return Ok(row);
        }
        Err(failure::before(&TabError::TabNotFound { tab: shown }))
    }

    /// A call may name its browser, and means no other.
    pub(super) fn check_target(&self) -> Result<(), Box<Told>> {
        let Some(given) = self.args.text("target_id") else { return Ok(()) };
        match self.home.started() {
            Some(browser) if browser.to_string() == given => Ok(()),
            _ => {
                let shown: String = given.chars().take(40).collect();
                Err(refused(
                    "tab_not_found",
                    format!("{shown:?} is not the browser of this server; leave target_id out"),
                ))
            }
        }
    }

    /// What a call on a tab gave, with what every tool tells beside.
    pub(super) fn settle(&self, before: &TabRow, outcome: Result<Told, TabError>) -> Told {
        let known_dead = before.state == TabState::Crashed;
        let told = outcome.unwrap_or_else(|error| failure::told(error, known_dead));
        self.beside(before, told)
    }

    /// The same, for what an action gave.
    pub(super) fn acted(
        &self,
        before: &TabRow,
        told: impl FnOnce(&Acted) -> Told,
        outcome: Result<Acted, TabError>,
    ) -> Told {
        if let Ok(acted) = &outcome {
            for tab in &acted.opened_tabs {
                self.connection.opened(&self.session, *tab);
            }
        }
        let mut told = self.settle(before, outcome.map(|acted| told(&acted)));
        if told.status == Status::Failed {
            let by_events = self.args.text("input_route").as_deref() == Some("dom_event");
            told.route = if by_events { Route::DomEvent } else { Route::TrustedInput };
        }
        told
    }

    /// Where the tab is now, its document, and the dialog that is open.
    pub(super) fn beside(&self, before: &TabRow, mut told: Told) -> Told {
        let Ok(now) = self.supervisor().tab(before.tab_id) else {
            return told.with("tab_id", before.tab_id).with("tab_gone", true);
        };
        let moved = now.generation != before.generation;
        if moved && !told.observed.contains_key("navigation") {
            told = told.with("navigation", json!({ "state": "committed", "url": short(&now.url) }));
        }
        told = told.with("tab_id", now.tab_id).with("url", short(&now.url)).with("document", now.generation);
        if let (None, Some(dialog)) = (&told.dialog, now.dialog) {
            told.open(dialog);
        }
        told
    }
}

/// A text that a page made, in one member.
pub(super) fn short(text: &str) -> String {
    if text.chars().nth(SHOWN).is_none() {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}
