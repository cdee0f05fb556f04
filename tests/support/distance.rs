//! A proxy between tabvisor and Chromium that is far away: every message takes its time, and the
//! commands are counted.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use tabvisor_cdp::task::{self, Task};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{accept_hdr_async_with_config, client_async_with_config};

/// Forwards WebSocket connections to one address. It ends when dropped.
pub struct Distance {
    pub address: SocketAddr,
    commands: Arc<AtomicUsize>,
    _server: Task<()>,
}

impl Distance {
    /// Each message is under way for `latency`; that many may be at a time.
    pub async fn to(target: SocketAddr, latency: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let commands = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&commands);
        let server = task::spawn(async move {
            let mut running = Vec::new();
            while let Ok((client, _)) = listener.accept().await {
                running.push(task::spawn(connection(client, target, latency, Arc::clone(&count))));
            }
        });
        Self { address, commands, _server: server }
    }

    /// How many commands went to Chromium so far.
    pub fn commands(&self) -> usize {
        self.commands.load(Ordering::SeqCst)
    }
}

async fn connection(client: TcpStream, target: SocketAddr, latency: Duration, commands: Arc<AtomicUsize>) {
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    let mut path = String::new();
    #[expect(clippy::result_large_err, reason = "the callback's type is not ours")]
    let asked = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        request.uri().path().clone_into(&mut path);
        Ok(response)
    };
    let Ok(client) = accept_hdr_async_with_config(client, asked, Some(config)).await else { return };
    let Ok(server) = TcpStream::connect(target).await else { return };
    let address = format!("ws://{target}{path}");
    let Ok((server, _)) = client_async_with_config(address, server, Some(config)).await else { return };
    let ((to_client, from_client), (to_server, from_server)) = (client.split(), server.split());
    tokio::select! {
        () = carry(from_client, to_server, latency, Some(&commands)) => {}
        () = carry(from_server, to_client, latency, None) => {}
    }
}

async fn carry(
    mut from: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut to: impl Sink<Message> + Unpin,
    latency: Duration,
    count: Option<&AtomicUsize>,
) {
    let (under_way, mut arriving) = mpsc::channel(4096);
    let departing = async {
        while let Some(Ok(message)) = from.next().await {
            if let Some(count) = count.filter(|_| message.is_text()) {
                count.fetch_add(1, Ordering::SeqCst);
            }
            if under_way.send((Instant::now() + latency, message)).await.is_err() {
                return;
            }
        }
    };
    let arriving = async {
        while let Some((due, message)) = arriving.recv().await {
            tokio::time::sleep_until(due).await;
            if to.send(message).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = departing => {}
        () = arriving => {}
    }
}
