//! A request as the routes take it: what it says, for how long it is work, and the tab it means.
//!
//! ```text
//!   Look                    a question that is answered from what is known, also while the service stops
//!   Call --on_tab--> OnTab  work; it counts as running until its handler ends
//! ```
//!
//! What the query says wins over the body.

use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::Method;
use axum::http::request::Parts;
use tabvisor_actors::TabRow;
use tabvisor_actors::ids::TabId;
use tabvisor_cdp::budget::Budget;
use tracing::Instrument;

use super::act::ActedOn;
use super::body;
use super::error::ApiError;
use super::fields::Fields;
use super::in_profile::InProfile;
use super::service::{Service, Work, is_internal};

/// A question of which only the query matters.
pub(super) struct Look {
    pub(super) service: Service,
    pub(super) query: Fields,
}

impl FromRequestParts<Service> for Look {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        Ok(Self { service: service.clone(), query: Fields::of_query(parts.uri.query()) })
    }
}

impl Look {
    /// The profile that it means.
    pub(super) fn profile(&mut self) -> Result<InProfile, ApiError> {
        self.service.profile(&mut self.query, &mut Fields::default())
    }

    /// The budget that it asks for, beginning now.
    pub(super) fn budget(&self, default: Duration) -> Result<Budget, ApiError> {
        let max = self.service.max_budget();
        self.query.budget(default.min(max), max)
    }
}

/// A request that is work. A service that stops takes none.
pub(super) struct Call {
    pub(super) service: Service,
    pub(super) query: Fields,
    pub(super) body: Fields,
    _work: Work,
}

impl FromRequest<Service> for Call {
    type Rejection = ApiError;

    async fn from_request(request: Request, service: &Service) -> Result<Self, ApiError> {
        let work = service.work()?;
        let query = Fields::of_query(request.uri().query());
        let body = match *request.method() {
            // The body of these has no meaning.
            Method::GET | Method::HEAD => Fields::default(),
            _ => body::fields(request, service.max_body_bytes()).await?,
        };
        Ok(Self { service: service.clone(), query, body, _work: work })
    }
}

impl Call {
    /// The profile that it means.
    pub(super) fn profile(&mut self) -> Result<InProfile, ApiError> {
        self.service.profile(&mut self.query, &mut self.body)
    }

    /// The budget that it asks for, beginning now.
    pub(super) fn budget(&self, default: Duration) -> Result<Budget, ApiError> {
        let max = self.service.max_budget();
        self.budget_up_to(default.min(max), max)
    }

    /// The same with a largest one of its own.
    pub(super) fn budget_up_to(&self, default: Duration, max: Duration) -> Result<Budget, ApiError> {
        let asks = if self.query.has("timeoutMs") { &self.query } else { &self.body };
        asks.budget(default, max)
    }

    /// The name of the tab that it means.
    pub(super) fn target(&mut self) -> Result<Option<String>, ApiError> {
        match self.query.text("targetId")? {
            Some(target) => Ok(Some(target)),
            None => self.body.text("targetId"),
        }
    }

    /// The tab that it means, or the last used one, which it is from now on. `default` is how long it may
    /// take where it does not say.
    pub(super) async fn on_tab(&mut self, default: Duration) -> Result<OnTab, ApiError> {
        let budget = self.budget(default)?;
        self.on_tab_within(budget).await
    }

    /// The same within a budget that has begun.
    pub(super) async fn on_tab_within(&mut self, budget: Budget) -> Result<OnTab, ApiError> {
        let target = self.target()?;
        let profile = self.profile()?;
        let row = profile.named_or_last(target.as_deref(), &budget).await?;
        Ok(OnTab { service: self.service.clone(), profile, row, budget })
    }
}

/// Work on a tab.
pub(super) struct OnTab {
    pub(super) service: Service,
    pub(super) profile: InProfile,
    /// The tab as it was found.
    pub(super) row: TabRow,
    pub(super) budget: Budget,
}

impl OnTab {
    pub(super) fn tab(&self) -> TabId {
        self.row.tab_id
    }

    /// Does `work` as the action of this name.
    pub(super) async fn run<T>(&self, action: &'static str, work: impl Future<Output = T>) -> T {
        run(action, Some(self.tab()), &self.budget, work).await
    }

    /// The tab as it is after the action, or was before it where it is gone.
    pub(super) fn acted_on(&self) -> ActedOn {
        let now = self.service.supervisor().tab(self.tab());
        let (target_id, url) = match now {
            Ok(now) => (now.target_id, now.url),
            Err(_) => (self.row.target_id.clone(), self.row.url.clone()),
        };
        ActedOn { target_id, url: Some(url).filter(|url| !url.is_empty() && !is_internal(url)) }
    }
}

/// Does `work` in a span of its own, and tells by how much it was late.
pub(super) async fn run<T>(
    action: &'static str,
    tab: Option<TabId>,
    budget: &Budget,
    work: impl Future<Output = T>,
) -> T {
    let tab = tab.map(tracing::field::display);
    let span = tracing::info_span!("request", action, tab, budget_ms = budget.left_ms());
    let done = work.instrument(span.clone()).await;
    span.in_scope(|| tracing::debug!(left_ms = budget.left_ms(), "answered"));
    crate::metrics::overrun(budget, "http");
    done
}
