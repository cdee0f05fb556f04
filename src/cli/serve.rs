//! `serve`: the service, from its first moment to its last.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tabvisor::config::{Config, Loaded};
use tabvisor::http::{self, Access, Service};
use tabvisor::{BrowserId, Supervisor};
use tabvisor_actors::Ended;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch;
use tabvisor_cdp::task::{self, Task};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::telemetry::{self, Metrics};

use super::failure::Failure;
use super::manager;
use super::output;
use super::token::{self, Token};

/// How long answers that are on their way get once everything has stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Runs until a signal or a failure of the supervision tree.
pub(super) async fn serve(loaded: Loaded) -> Result<ExitCode, Failure> {
    let config = loaded.config;
    let mut signals = Signals::listen()?;
    // First what needs no browser, so that a wrong setting fails at once.
    let spec = config.browser_spec()?;
    let state_dir = config.state_folder()?;
    let token = token::for_service(&config)?;
    open_as_many_files_as_allowed();
    let listener =
        TcpListener::bind(config.server.listen).await.map_err(|why| cannot_listen(&config, &why))?;
    let address = listener.local_addr().map_err(|why| cannot_listen(&config, &why))?;
    if let Some(path) = &config.server.ready_file {
        // One of an earlier run would tell of a service that is gone.
        let _ = std::fs::remove_file(path);
    }
    let metrics = Metrics::install().map_err(|why| Failure::failed(why.to_string()))?;
    if let Err(why) = launch::adopt_orphans() {
        tracing::debug!(%why, "orphans of chromium go to process 1");
    }
    launch::reap(state_dir).await;

    let supervisor =
        Supervisor::start(config.limits.event_lag).await.map_err(|why| Failure::failed(why.to_string()))?;
    let budget = Budget::new(config.budgets.start());
    let started = tokio::select! {
        started = supervisor.add_browser(spec, &budget) => started,
        () = signals.next() => {
            supervisor.stop().await;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let browser = match started {
        Ok(browser) => browser,
        Err(why) => {
            supervisor.stop().await;
            return Err(Failure::failed(why.to_string()));
        }
    };

    let mut access =
        token.as_ref().map_or_else(Access::for_everybody, |it| Access::with_secret(it.secret.clone()));
    access = access.listening_on(address).named(&config.server.hosts);
    let service =
        Service::new(supervisor.clone(), Some(browser), access, &config).with_metrics(metrics.renderer());
    let server = Server::start(listener, service.clone());
    if let Err(failure) = announce(&config, address, &supervisor, browser, token.as_ref()) {
        supervisor.stop().await;
        return Err(failure);
    }
    manager::ready();
    let watch = manager::watch(address, token.as_ref().map(|token| &token.secret));

    let ended = tokio::select! {
        () = signals.next() => None,
        ended = supervisor.ended() => Some(ended),
    };
    // A stop takes as long as it is allowed to: nothing else ends us meanwhile.
    drop(watch);
    manager::stopping();
    if ended.is_none() {
        drain(&service, &mut signals, config.server.drain()).await;
        supervisor.stop().await;
    }
    server.stop().await;
    if let Some(path) = &config.server.ready_file {
        let _ = std::fs::remove_file(path);
    }
    match ended {
        Some(Ended::Failed(why)) => Err(Failure::failed(format!("the supervision tree failed: {why}"))),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Every tab has several links and every caller a connection; what is allowed without asking is often little.
fn open_as_many_files_as_allowed() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(why) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::debug!(%why, "the limit of open files stays as it is");
    }
}

fn cannot_listen(config: &Config, why: &std::io::Error) -> Failure {
    Failure::failed(format!(
        "cannot listen on {}: {why}; choose another address with --listen (port 0 takes a free one)",
        config.server.listen
    ))
}

/// Running work gets its budget, up to a limit; a second signal ends the wait.
async fn drain(service: &Service, signals: &mut Signals, most: Duration) {
    tracing::info!(most_ms = most.as_millis(), "stopping: new work is refused, running work may end");
    service.refuse_work();
    tokio::select! {
        () = service.idle() => {}
        () = tokio::time::sleep(most) => tracing::warn!("work was still running and is ended"),
        () = signals.next() => tracing::warn!("a second signal: running work is ended"),
    }
}

/// Tells that the service can work: on standard output, in the ready file, as a metric.
fn announce(
    config: &Config,
    address: SocketAddr,
    supervisor: &Supervisor,
    browser: BrowserId,
    token: Option<&Token>,
) -> Result<(), Failure> {
    let url = format!("http://{address}");
    let facts = supervisor.browser(browser);
    let version = facts.as_ref().map(|facts| facts.version.as_str()).unwrap_or_default();
    telemetry::build_info(version);
    let file = token.and_then(|token| token.file.as_deref());
    if let Some(path) = &config.server.ready_file {
        let ready = json!({
            "url": url,
            "pid": std::process::id(),
            "tokenFile": file,
            "chromium": { "pid": facts.as_ref().and_then(|facts| facts.pid), "version": version },
        });
        write_whole(path, &ready.to_string())
            .map_err(|why| Failure::failed(format!("server.ready_file: {}: {why}", path.display())))?;
    }
    output::line(&format!("listening on {url}"));
    let there = if address.port() == 9377 { String::new() } else { format!(" --url {url}") };
    output::line(&format!("try: tabvisor{there} open https://example.org/"));
    output::line(&format!("     tabvisor{there} evaluate --fn 'document.title'"));
    output::line(&format!("     {url}/ui in a browser: all tabs, and what keeps them"));
    output::line(&match (token, file) {
        (None, _) => "     (no token is asked for: whoever reaches this address may call)".into(),
        (Some(_), Some(file)) => format!("     the token of other callers is in {}", file.display()),
        (Some(_), None) => "     callers need the configured token".to_owned(),
    });
    Ok(())
}

/// A reader sees the whole file or none.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    std::fs::write(&draft, format!("{text}\n"))?;
    std::fs::rename(&draft, path)
}

/// The HTTP server, in a task of its own.
struct Server {
    stop: oneshot::Sender<()>,
    task: Task<()>,
}

impl Server {
    fn start(listener: TcpListener, service: Service) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let task = task::spawn(http::serve(listener, service, async move {
            let _ = stopped.await;
        }));
        Self { stop, task }
    }

    /// Takes no further connection and lets answers out that are on their way.
    async fn stop(self) {
        let _ = self.stop.send(());
        let _ = Budget::new(LAST_ANSWERS).run(self.task.join()).await;
    }
}

/// SIGTERM and SIGINT.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|why| Failure::failed(format!("signals: {why}")));
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
