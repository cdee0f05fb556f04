//! The tools as a service of HTTP: `POST /mcp` of the router, behind its checks.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use tokio_util::sync::CancellationToken;

use super::home::Home;
use super::server::Server;

/// How long a session lives of which nothing is heard, and with it its tabs. A person may have gone for lunch.
const IDLE: Duration = Duration::from_hours(1);

/// The tools over streamable HTTP. Who may call is for the server to check that it is mounted in.
pub fn service(home: Home) -> StreamableHttpService<Server, LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let ended = CancellationToken::new();
    let (supervisor, end) = (home.supervisor().clone(), ended.clone());
    // Streams that are open would hold up the end of the server that this is mounted in.
    home.look_after(async move {
        supervisor.ended().await;
        end.cancel();
    });
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(ended)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(home.max_body_bytes());
    StreamableHttpService::new(move || Ok(Server::new(home.clone())), Arc::new(sessions), config)
}
