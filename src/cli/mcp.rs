//! `mcp`: the tools over standard input and output, with a browser of their own or in front of a service.

use std::process::ExitCode;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StdioReader, StdioWriter, StreamableHttpClientTransport, Transport, stdio_pipes};
use tabvisor::Supervisor;
use tabvisor::config::Loaded;
use tabvisor::mcp::{Home, serve};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch;
use tokio::task::JoinSet;

use super::client::Client;
use super::failure::Failure;
use super::flags::Common;
use super::serve::Signals;

/// How long the browser may take to save its data once the client is gone. A client waits a second for the
/// end of what it started before it kills it.
const BROWSER_ENDS_WITHIN: Duration = Duration::from_millis(500);
/// How long the service may take to hear that the client is gone.
const TELLS_WITHIN: Duration = Duration::from_millis(700);

/// Runs until the input ends, or a signal comes.
pub(super) async fn mcp(common: &Common, loaded: Loaded) -> Result<ExitCode, Failure> {
    match common.url {
        Some(_) => before_a_service(&Client::new(common, &loaded)?).await,
        None => alone(loaded).await,
    }
}

/// With a browser of its own, which is started when it is first needed.
async fn alone(loaded: Loaded) -> Result<ExitCode, Failure> {
    let mut config = loaded.config;
    let most = u64::try_from(BROWSER_ENDS_WITHIN.as_millis()).unwrap_or(u64::MAX);
    config.browser.stop_grace_ms = config.browser.stop_grace_ms.min(most);
    let mut signals = Signals::listen()?;
    let state_dir = config.state_folder()?.to_owned();
    if let Err(why) = launch::adopt_orphans() {
        tracing::debug!(%why, "orphans of chromium go to process 1");
    }
    let supervisor =
        Supervisor::start(config.limits.event_lag).await.map_err(|why| Failure::failed(why.to_string()))?;
    let home = Home::lazy(supervisor.clone(), &config)?;
    // What an earlier run left is no reason to let a client wait.
    let reaping = tabvisor_cdp::task::spawn(async move { launch::reap(&state_dir).await });
    let (read, write) = stdio_pipes();
    let served = tokio::select! {
        served = serve(&home, read, write) => served,
        () = signals.next() => Ok(()),
        ended = supervisor.ended() => Err(std::io::Error::other(format!("the supervision tree has ended: {ended:?}"))),
    };
    supervisor.stop().await;
    drop(reaping);
    served.map_err(|why| Failure::failed(why.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// Takes messages from the client to a service and back.
async fn before_a_service(client: &Client) -> Result<ExitCode, Failure> {
    let mut signals = Signals::listen()?;
    let (http, url, token) = client.endpoint("mcp");
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    config.auth_header = token.map(|token| token.expose().to_owned());
    let mut service = StreamableHttpClientTransport::with_client(http, config);
    let (read, write) = stdio_pipes();
    let mut here = AsyncRwTransport::new_server(read, write);
    let mut bridge = Bridge::default();
    let ended = tokio::select! {
        ended = bridge.run(&mut here, &mut service) => ended,
        () = signals.next() => Ok(()),
    };
    // Its session ends there, and with it the tabs.
    let _ = Budget::new(TELLS_WITHIN).run(service.close()).await;
    ended.map_err(|why| {
        Failure::unreachable(format!(
            "{url}: {why}; start a service with `tabvisor serve`, or leave --url out"
        ))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What is on its way to the service: of a request, whose answer somebody waits for, its id.
#[derive(Default)]
struct Bridge {
    sending: JoinSet<Result<(), (Option<RequestId>, String)>>,
    /// Something was answered, so there is a service.
    answered: bool,
}

impl Bridge {
    async fn run(
        &mut self,
        here: &mut AsyncRwTransport<rmcp::RoleServer, StdioReader, StdioWriter>,
        service: &mut StreamableHttpClientTransport<reqwest::Client>,
    ) -> Result<(), String> {
        loop {
            tokio::select! {
                message = here.receive() => {
                    let Some(message) = message else { return Ok(()) };
                    let id = id_of(&message);
                    let send = service.send(message);
                    self.sending.spawn(async move { send.await.map_err(|why| (id, why.to_string())) });
                }
                message = service.receive() => {
                    let Some(message) = message else { return self.lost().await };
                    self.answered = true;
                    tell(here, message).await?;
                }
                Some(sent) = self.sending.join_next() => {
                    let Ok(Err((id, why))) = sent else { continue };
                    if !self.answered {
                        return Err(why);
                    }
                    let Some(id) = id else { continue };
                    let error = ErrorData::internal_error(format!("the service could not be asked: {why}"), None);
                    tell(here, JsonRpcMessage::error(error, Some(id))).await?;
                }
            }
        }
    }

    /// The way to the service has ended; what was being sent may say why.
    async fn lost(&mut self) -> Result<(), String> {
        while let Some(sent) = self.sending.join_next().await {
            if let Ok(Err((_, why))) = sent {
                return Err(why);
            }
        }
        Err("the connection to the service ended".into())
    }
}

async fn tell(
    here: &mut AsyncRwTransport<rmcp::RoleServer, StdioReader, StdioWriter>,
    message: ServerJsonRpcMessage,
) -> Result<(), String> {
    here.send(message).await.map_err(|why| why.to_string())
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}
