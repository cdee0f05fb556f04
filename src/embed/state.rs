//! What a tab's page says, holds and is made to believe.

use std::time::Duration;

use tabvisor_page::content::{Content, Held};
use tabvisor_page::cookies::{Cookie, NewCookie};
use tabvisor_page::emulation::Setting;
use tabvisor_page::observe::{ConsoleMessage, Heard, Level, Request, Response, Uncaught, UrlPattern};

use super::{Tab, Timed};
use crate::Error;

impl Tab {
    /// The messages of its console, of at least this level: those that are still kept, at most 500. Give
    /// [`Heard::next`] as `since` for what came after.
    ///
    /// # Errors
    /// [`TabError::TabClosed`](crate::TabError::TabClosed), and lost browsers.
    pub async fn console(&self, since: Option<u64>, at_least: Level) -> Result<Heard<ConsoleMessage>, Error> {
        Ok(self.tabvisor.supervisor.console(self.id, since, at_least, &*self.for_action()?).await?)
    }

    /// The errors that nobody caught, at most 200.
    ///
    /// # Errors
    /// As [`console`](Self::console).
    pub async fn page_errors(&self, since: Option<u64>) -> Result<Heard<Uncaught>, Error> {
        Ok(self.tabvisor.supervisor.page_errors(self.id, since, false, &*self.for_action()?).await?)
    }

    /// Its requests, at most 500, whose address or type contains `filter`.
    ///
    /// # Errors
    /// As [`console`](Self::console).
    pub async fn requests(&self, since: Option<u64>, filter: Option<&str>) -> Result<Heard<Request>, Error> {
        Ok(self.tabvisor.supervisor.requests(self.id, since, filter, false, &*self.for_action()?).await?)
    }

    /// Waits for the next response from an address that `pattern` means, and for its body, of which at
    /// most `max_chars` characters are given.
    ///
    /// # Errors
    /// [`TabError::Response`](crate::TabError::Response), and whatever ends a call.
    pub async fn response(
        &self,
        pattern: &UrlPattern,
        max_chars: usize,
        within: Duration,
    ) -> Result<Response, Error> {
        let budget = self.tabvisor.budget(within)?;
        Ok(self.tabvisor.supervisor.response(self.id, pattern, max_chars, &budget).await?)
    }

    /// Reads or writes its storage, or reads its text.
    ///
    /// # Errors
    /// [`TabError::Content`](crate::TabError::Content), and whatever ends a call.
    pub async fn content(&self, content: Content) -> Result<Held, Error> {
        Ok(self.tabvisor.supervisor.content(self.id, content, &*self.for_action()?).await?)
    }

    /// Sets something that its page is made to believe, until the tab is closed.
    ///
    /// # Errors
    /// [`TabError::BadInput`](crate::TabError::BadInput), and whatever ends a call.
    pub async fn emulate(&self, setting: Setting) -> Result<(), Error> {
        Ok(self.tabvisor.supervisor.emulate(self.id, setting, &*self.for_action()?).await?)
    }

    /// The cookies of its browser context, which other tabs share.
    ///
    /// # Errors
    /// Whatever ends a call.
    pub async fn cookies(&self) -> Result<Vec<Cookie>, Error> {
        Ok(self.tabvisor.supervisor.cookies(self.id, &*self.for_action()?).await?)
    }

    /// Sets cookies in its browser context; says how many are there afterwards.
    ///
    /// # Errors
    /// [`TabError::BadInput`](crate::TabError::BadInput), and whatever ends a call.
    pub async fn set_cookies(&self, cookies: &[NewCookie]) -> Result<usize, Error> {
        Ok(self.tabvisor.supervisor.set_cookies(self.id, cookies, &*self.for_action()?).await?)
    }

    /// Forgets all cookies of its browser context.
    ///
    /// # Errors
    /// Whatever ends a call.
    pub async fn clear_cookies(&self) -> Result<(), Error> {
        Ok(self.tabvisor.supervisor.clear_cookies(self.id, &*self.for_action()?).await?)
    }

    fn for_action(&self) -> Result<Timed, Error> {
        self.tabvisor.budget(self.tabvisor.budgets.action())
    }
}
