//! Starting a fake.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::FakeChrome;
use super::model::Model;
use super::server;
use super::shared::Shared;
use crate::task;

/// How a fake shall be.
#[derive(Clone, Debug)]
#[must_use = "nothing runs before `start`"]
pub struct Builder {
    tls: Option<Arc<ServerConfig>>,
    advertised: Option<String>,
    pages: usize,
    port: u16,
}

impl Default for Builder {
    fn default() -> Self {
        Self { tls: None, advertised: None, pages: 1, port: 0 }
    }
}

impl Builder {
    /// Speaks TLS (`https` and `wss`).
    pub fn tls(mut self, config: Arc<ServerConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// The `host:port` in the WebSocket addresses that it gives out; without this, as in Chrome,
    /// what the request's Host header says.
    pub fn advertised_host(mut self, host: impl Into<String>) -> Self {
        self.advertised = Some(host.into());
        self
    }

    /// How many pages it starts with (one).
    pub fn pages(mut self, pages: usize) -> Self {
        self.pages = pages;
        self
    }

    /// A fixed port, e.g. that of a fake which died; without this, any free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts it.
    pub async fn start(self) -> FakeChrome {
        let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await {
            Ok(listener) => listener,
            Err(why) => panic!("the fake Chrome got no port: {why}"),
        };
        let addr = match listener.local_addr() {
            Ok(addr) => addr,
            Err(why) => panic!("the fake Chrome's port has no address: {why}"),
        };
        let mut model = Model::default();
        for _ in 0..self.pages {
            model.open_page("about:blank");
        }
        let tls = self.tls.map(TlsAcceptor::from);
        let shared = Arc::new(Shared::new(model, listener, new_guid(), self.advertised, tls.is_some()));
        let server = task::spawn(server::serve(Arc::clone(&shared), tls));
        FakeChrome { shared, addr, _server: server }
    }
}

/// A browser that starts anew has another address, also on the same port.
fn new_guid() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    format!("fa4e0000-0000-4000-8000-{:012x}", STARTED.fetch_add(1, Ordering::Relaxed) + 1)
}
