//! The one task of a link: reads, writes and keeps alive, side by side.
//!
//! Nobody else touches the socket, so a caller that is killed in the middle of a call can never
//! leave half a frame behind.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::wire::{self, Incoming};
use super::{KeepAlive, Shared};
use crate::error::{CdpError, CloseCause};

/// Runs the link until its socket ends; then every pending call is settled.
pub(super) async fn run<S>(
    socket: WebSocketStream<S>,
    writes: mpsc::Receiver<Vec<String>>,
    shared: Arc<Shared>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (sink, stream) = socket.split();
    let (heard, last_heard) = watch::channel(Instant::now());
    let ping = Notify::new();
    let cause = tokio::select! {
        cause = read(stream, &shared, &heard) => cause,
        cause = write(sink, writes, &shared, &ping) => cause,
        cause = keep_alive(shared.options.keep_alive, &shared, last_heard, &ping) => cause,
    };
    tracing::debug!(purpose = shared.options.purpose.label(), %cause, "link closed");
    shared.close(cause);
}

async fn read<S>(
    mut stream: SplitStream<WebSocketStream<S>>,
    shared: &Shared,
    heard: &watch::Sender<Instant>,
) -> CloseCause
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = stream.next().await {
        heard.send_replace(Instant::now());
        match message {
            Ok(Message::Text(text)) => {
                shared.meters.received.increment(1);
                shared.meters.received_bytes.increment(text.len() as u64);
                take(&text, shared);
            }
            Ok(Message::Ping(_) | Message::Pong(_)) => {}
            Ok(Message::Close(_)) => return CloseCause::Remote,
            Ok(Message::Binary(_) | Message::Frame(_)) => shared.table().counts.malformed += 1,
            Err(error) => return cause_of(error, shared),
        }
    }
    CloseCause::Remote
}

/// Routes one message. What cannot be read is counted and survived.
fn take(text: &str, shared: &Shared) {
    let mut table = shared.table();
    let table = &mut *table;
    match wire::read(text) {
        None => {
            table.counts.malformed += 1;
            tracing::debug!(bytes = text.len(), "not a cdp message");
        }
        Some(Incoming::Reply { id, outcome }) => {
            let settled = table.pending.settle(id, |method| match outcome {
                Ok(raw) => Ok(raw.into_owned()),
                Err(error) => Err(refusal(method, error)),
            });
            if settled {
            } else if id < shared.next_id.load(Ordering::Relaxed) {
                table.counts.late += 1;
            } else {
                table.counts.unknown += 1;
            }
        }
        Some(Incoming::Event { session, method, params }) => {
            let session = session.as_deref();
            // Subscribers first: who waits for both hears of the cause before its consequence.
            table.counts.lagged += table.subscribers.publish(session, &method, &params);
            settle_what_will_not_be_answered(table, session, &method, params.get());
        }
    }
}

/// Chromium never answers calls that are pending when a renderer dies or a session goes away
/// (measured); these events are their only end.
fn settle_what_will_not_be_answered(
    table: &mut super::Table,
    session: Option<&str>,
    method: &str,
    params: &str,
) {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        session_id: Option<String>,
        reason: Option<String>,
    }
    match method {
        "Inspector.targetCrashed" => {
            table.pending.settle_session(session, &CdpError::Crashed);
        }
        "Inspector.detached" | "Target.detachedFromTarget" => {
            let Ok(params) = serde_json::from_str::<Params>(params) else { return };
            let reason = params.reason.unwrap_or_else(|| "the target is gone".into());
            let whose = if method == "Inspector.detached" { session } else { params.session_id.as_deref() };
            // Without a session id it would settle the calls of the root, which goes on living.
            if method == "Inspector.detached" || whose.is_some() {
                table.pending.settle_session(whose, &CdpError::Detached { reason });
            }
        }
        _ => {}
    }
}

/// JSON-RPC code of a session that Chromium does not know (any more).
const SESSION_NOT_FOUND: i64 = -32001;

fn refusal(method: &str, error: wire::ProtocolError) -> CdpError {
    if error.code == SESSION_NOT_FOUND {
        return CdpError::Detached { reason: error.message };
    }
    if error.message == "Target crashed" {
        // What Chromium says to calls that were pending at a crash, once a navigation mends it.
        return CdpError::Crashed;
    }
    CdpError::Protocol { method: method.to_owned(), code: error.code, message: error.message }
}

async fn write<S>(
    mut sink: SplitSink<WebSocketStream<S>, Message>,
    mut writes: mpsc::Receiver<Vec<String>>,
    shared: &Shared,
    ping: &Notify,
) -> CloseCause
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let batch = tokio::select! {
            batch = writes.recv() => match batch {
                Some(batch) => batch,
                None => return CloseCause::Ours,
            },
            () = ping.notified() => {
                if let Err(error) = sink.send(Message::Ping(Vec::new().into())).await {
                    return cause_of(error, shared);
                }
                continue;
            }
        };
        for text in batch {
            shared.meters.sent.increment(1);
            shared.meters.sent_bytes.increment(text.len() as u64);
            if let Err(error) = sink.feed(Message::text(text)).await {
                return cause_of(error, shared);
            }
        }
        if let Err(error) = sink.flush().await {
            return cause_of(error, shared);
        }
    }
}

/// Asks for a sign of life when nothing was heard for a while, and gives up without one.
async fn keep_alive(
    rule: KeepAlive,
    shared: &Shared,
    last_heard: watch::Receiver<Instant>,
    ping: &Notify,
) -> CloseCause {
    let mut waiting_since = Instant::now();
    loop {
        if !rule.while_idle && shared.table().pending.len() == 0 {
            shared.busy.notified().await;
            waiting_since = Instant::now();
            continue;
        }
        // Silence counts from when there was something to wait for.
        let quiet_since = waiting_since.max(*last_heard.borrow());
        if quiet_since.elapsed() < rule.every {
            tokio::time::sleep_until(quiet_since + rule.every).await;
            continue;
        }
        let asked = Instant::now();
        ping.notify_one();
        tokio::time::sleep(rule.patience).await;
        if *last_heard.borrow() < asked {
            return CloseCause::Silent { silent: quiet_since.elapsed() };
        }
    }
}

fn cause_of(error: Error, shared: &Shared) -> CloseCause {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed | Error::Protocol(_) => CloseCause::Remote,
        Error::Capacity(_) => CloseCause::TooLarge { limit: shared.options.max_frame_bytes },
        Error::Io(error) => match error.kind() {
            std::io::ErrorKind::ConnectionReset
            | std::io::ErrorKind::BrokenPipe
            | std::io::ErrorKind::UnexpectedEof
            | std::io::ErrorKind::ConnectionAborted => CloseCause::Remote,
            kind => CloseCause::Io(kind.to_string()),
        },
        other => CloseCause::Io(other.to_string()),
    }
}
