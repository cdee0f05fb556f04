//! A proxy between tabvisor and Chromium that knows messages: it delays, loses, repeats, floods,
//! stalls, half-closes and cuts.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tabvisor_cdp::task::{self, Task};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};

/// What happens to one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The next message of Chromium comes that much later, and all behind it.
    Delay(Duration),
    /// The next message of Chromium is lost.
    LoseAnswer,
    /// The next message to Chromium is lost.
    LoseCommand,
    /// The next message of Chromium comes twice.
    Repeat,
    /// So many messages that nobody asked for.
    Flood(usize),
    /// Nothing passes for that long, in either direction.
    Stall(Duration),
    /// Chromium's direction ends, the other one does not.
    HalfClose,
    /// The connection ends.
    Cut,
}

impl Fault {
    pub fn name(self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::LoseAnswer => "lose an answer",
            Self::LoseCommand => "lose a command",
            Self::Repeat => "repeat",
            Self::Flood(_) => "flood",
            Self::Stall(_) => "stall",
            Self::HalfClose => "half-close",
            Self::Cut => "cut",
        }
    }
}

/// Forwards WebSocket connections to one address. It ends when dropped.
pub struct Weather {
    pub address: SocketAddr,
    open: Arc<Mutex<Vec<Open>>>,
    _server: Task<()>,
}

struct Open {
    number: usize,
    faults: mpsc::Sender<Fault>,
}

impl Weather {
    pub async fn over(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let open: Arc<Mutex<Vec<Open>>> = Arc::default();
        let all = Arc::clone(&open);
        let server = task::spawn(async move {
            let mut running = Vec::new();
            for number in 0.. {
                let Ok((client, _)) = listener.accept().await else { return };
                let (faults, told) = mpsc::channel(8);
                all.lock().unwrap().push(Open { number, faults });
                let all = Arc::clone(&all);
                running.retain(|it: &Task<()>| !it.is_finished());
                running.push(task::spawn(async move {
                    connection(client, target, told).await;
                    all.lock().unwrap().retain(|it| it.number != number);
                }));
            }
        });
        Self { address, open, _server: server }
    }

    /// Does something to one of the open connections; `choose` gets how many there are, the oldest
    /// first. Says whether there was one.
    pub fn on_one(&self, fault: Fault, choose: impl FnOnce(usize) -> usize) -> bool {
        let open = self.open.lock().unwrap();
        let chosen = (!open.is_empty()).then(|| choose(open.len()).min(open.len() - 1));
        chosen.is_some_and(|at| open[at].faults.try_send(fault).is_ok())
    }
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(None).max_frame_size(None)
}

async fn connection(client: TcpStream, target: SocketAddr, faults: mpsc::Receiver<Fault>) {
    let mut path = String::new();
    #[expect(clippy::result_large_err, reason = "the callback's type is not ours")]
    let asked = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        request.uri().path().clone_into(&mut path);
        Ok(response)
    };
    let Ok(client) = accept_hdr_async_with_config(client, asked, Some(config())).await else { return };
    let Ok(server) = TcpStream::connect(target).await else { return };
    let address = format!("ws://{target}{path}");
    let Ok((server, _)) = client_async_with_config(address, server, Some(config())).await else { return };
    forward(client, server, faults).await;
}

async fn forward(
    client: WebSocketStream<TcpStream>,
    server: WebSocketStream<TcpStream>,
    mut faults: mpsc::Receiver<Fault>,
) {
    let ((mut to_client, mut from_client), (mut to_server, mut from_server)) =
        (client.split(), server.split());
    let (mut lose_answer, mut lose_command, mut repeat, mut deaf) = (false, false, false, false);
    loop {
        tokio::select! {
            biased;
            Some(fault) = faults.recv() => match fault {
                // All of a connection is one task: what waits here holds both directions, as a network does.
                Fault::Delay(time) | Fault::Stall(time) => tokio::time::sleep(time).await,
                Fault::LoseAnswer => lose_answer = true,
                Fault::LoseCommand => lose_command = true,
                Fault::Repeat => repeat = true,
                Fault::Flood(messages) => {
                    for at in 0..messages {
                        let odd = match at % 3 {
                            0 => format!(r#"{{"id":{},"result":{{}}}}"#, 1_000_000_000 + at),
                            1 => r#"{"method":"Weather.storm","params":{"wind":12}}"#.to_owned(),
                            _ => r#"{"method":"Page.unheardOf","params":{},"sessionId":"none"}"#.to_owned(),
                        };
                        if to_client.feed(Message::text(odd)).await.is_err() {
                            return;
                        }
                    }
                    let _ = to_client.flush().await;
                }
                Fault::HalfClose => {
                    deaf = true;
                    let Ok(socket) = to_client.reunite(from_client) else { return };
                    let mut socket = socket;
                    let _ = socket.get_mut().shutdown().await;
                    (to_client, from_client) = socket.split();
                }
                Fault::Cut => return,
            },
            Some(message) = from_client.next() => {
                let Ok(message) = message else { return };
                let lost = message.is_text() && std::mem::take(&mut lose_command);
                if !lost && to_server.send(message).await.is_err() {
                    return;
                }
            }
            Some(message) = from_server.next() => {
                let Ok(message) = message else { return };
                let lost = deaf || message.is_text() && std::mem::take(&mut lose_answer);
                let times = if message.is_text() && std::mem::take(&mut repeat) { 2 } else { usize::from(!lost) };
                for _ in 0..times {
                    if to_client.send(message.clone()).await.is_err() {
                        return;
                    }
                }
            }
            else => return,
        }
    }
}
