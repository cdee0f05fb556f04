//! The server: what a client is told of the tools, and the way from a request to a call and back.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, ConstString, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::TabError;

use super::args::Args;
use super::call::Call;
use super::catalog::{self, Spec};
use super::connection::Connection;
use super::envelope::{Refusal, Time, Told};
use super::failure;
use super::home::Home;
use super::{args, codes, progress, schema};

/// What a model is told before it sees the tools.
const INSTRUCTIONS: &str = "Drives browser tabs. Begin with browser_navigate (it opens a tab) or browser_tabs; read the page \
    with get_browser_state and act on its refs (e12). tab_id may be left out: then it is the tab used last. Every answer \
    says what the page was seen to do: `effect` confirmed was read back, unverifiable was sent but not seen. A refusal sent \
    nothing and says in `next` what to do. timeout_ms bounds the whole call. Tabs that you open are closed with the \
    connection unless kept. Leave target_id and session out unless you were given them.";

/// The tools, for one connection. Its tabs are closed when it is dropped, unless they are kept.
#[derive(Debug)]
pub struct Server {
    home: Home,
    connection: Arc<Connection>,
    /// The client is gone: what runs for it ends.
    gone: CancellationToken,
}

impl Server {
    /// The tools for a new connection.
    pub fn new(home: Home) -> Self {
        Self { home, connection: Arc::default(), gone: CancellationToken::new() }
    }

    /// What ends the calls under way when it is cancelled.
    pub(super) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    pub(super) fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.connection)
    }

    /// The connection that a request belongs to. Newer protocols have none over HTTP.
    fn connection_of(&self, context: &RequestContext<RoleServer>) -> Arc<Connection> {
        let has_none = context
            .extensions
            .get::<axum::http::request::Parts>()
            .is_some_and(|parts| !parts.headers.contains_key("mcp-session-id"));
        if has_none { Arc::clone(self.home.without_connection()) } else { self.connection() }
    }

    /// One call, from what came to what is told.
    async fn told(&self, spec: &'static Spec, call: Result<Call, Box<Told>>) -> Told {
        let call = match call {
            Ok(call) => call,
            Err(told) => {
                told.count();
                return *told;
            }
        };
        let _work = match self.home.work() {
            Ok(work) => work,
            Err(error) => return *failure::before(&error),
        };
        let budget = call.budget.clone();
        let told = (spec.run)(call).await;
        let mut told = told.unwrap_or_else(|told| *told);
        told.time = Some(Time::from(&budget));
        told.count();
        crate::metrics::overrun(&budget, "mcp");
        told
    }

    fn call(
        &self,
        spec: &'static Spec,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Call, Box<Told>> {
        let given = params.arguments.unwrap_or_default();
        let checked = schema::check(spec.name, &spec.args(), given).map_err(|wrong| {
            let next = format!("call {} again with what the message names corrected", spec.name);
            let code = codes::of("invalid_argument").code;
            Box::new(Told::refused(Refusal { code, message: wrong.message, detail: wrong.detail, next }))
        })?;
        let args = Args::from(checked);
        let default = spec.budget.of(self.home.budgets()).min(self.home.max_budget());
        let total = args.timeout().unwrap_or(default);
        let budget = Budget::checked("timeout_ms", total, self.home.max_budget());
        let budget = budget.map_err(|why| failure::before(&TabError::from(why)))?;
        let session = args.text("session").unwrap_or_default();
        Ok(Call { home: self.home.clone(), connection: self.connection_of(context), session, args, budget })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("tabvisor", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        catalog::find(name).map(Spec::tool)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalog::all().map(Spec::tool).collect()))
    }

    /// A call whose arguments are no object does not even look like one to the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let name = request.params.as_ref().and_then(|params| params.get("name")?.as_str());
        match name.and_then(catalog::find).filter(|_| request.method == CallToolRequestMethod::VALUE) {
            Some(spec) => {
                let wrong =
                    args::wrong("arguments", format!("the arguments of {} must be an object", spec.name));
                wrong.count();
                let result = serde_json::to_value(wrong.into_result());
                result.map(CustomResult::new).map_err(|why| ErrorData::internal_error(why.to_string(), None))
            }
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(spec) = catalog::find(&params.name) else {
            let near = schema::nearest(&params.name, catalog::all().map(|it| it.name));
            let hint = near.map(|it| format!("; the nearest is {it}")).unwrap_or_default();
            let name: String = params.name.chars().take(60).collect();
            return Err(ErrorData::invalid_params(format!("there is no tool {name:?}{hint}"), None));
        };
        let call = self.call(spec, params, &context);
        let news = context.meta.get_progress_token().zip(call.as_ref().ok()).map(|(token, call)| {
            task::spawn(progress::tell(context.peer.clone(), token, spec.name, call.budget.clone()))
        });
        let left = call.as_ref().map_or(0, |call| call.budget.left_ms());
        let span = tracing::info_span!("request", action = spec.name, budget_ms = left);
        let told = tokio::select! {
            biased;
            // What is dropped here is cancelled in the page.
            () = context.ct.cancelled() => None,
            () = self.gone.cancelled() => None,
            told = self.told(spec, call).instrument(span) => Some(told),
        };
        drop(news);
        // Nobody hears the answer to a call that was cancelled.
        let told = told.unwrap_or_else(|| *failure::refused("aborted", "the call was cancelled"));
        Ok(told.into_result().into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.gone.cancel();
        let (connection, supervisor) = (self.connection(), self.home.supervisor().clone());
        if connection.is_empty() {
            return;
        }
        // Without a runtime there is nothing left that could be closed.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.home.look_after(async move { connection.close(&supervisor).await });
        }
    }
}
