//! One WebSocket.

use std::future::poll_fn;
use std::task::Poll;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

use super::act::Raw;
use super::http::written;
use super::model::Frame;
use super::shared::{Next, Shared};
use super::valve::Valve;

/// Chrome closes the socket on a longer request.
const MAX_REQUEST: usize = 100 << 20;

/// How a socket ends.
enum End {
    Now,
    /// After everything is written.
    Written,
}

/// Serves a WebSocket whose handshake is done, until it is closed by either side.
pub(super) async fn serve<S>(shared: &Shared, conn: u64, wake: &Notify, stream: Valve<S>, read: Vec<u8>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .max_message_size(Some(MAX_REQUEST))
        .max_frame_size(Some(MAX_REQUEST));
    let mut socket = WebSocketStream::from_partially_read(stream, read, Role::Server, Some(config)).await;
    if let End::Written = talk(shared, conn, wake, &mut socket).await {
        // The client may be gone before it has read everything, or never read.
        let stream = socket.get_mut();
        tokio::select! {
            biased;
            _ = written(shared, stream) => {}
            () = shared.ended.cancelled() => {}
        }
    }
    shared.gone(conn);
}

async fn talk<S>(shared: &Shared, conn: u64, wake: &Notify, socket: &mut WebSocketStream<Valve<S>>) -> End
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match shared.next(conn) {
            Next::Cut => return End::Now,
            Next::Write(Frame::Close) => return End::Written,
            Next::Write(Frame::Mute) => socket.get_mut().mute(),
            Next::Write(Frame::Raw(raw)) => {
                // The valve takes everything at once, so this never waits.
                let sent = match raw {
                    Raw::Text(text) => socket.send(Message::text(text)).await,
                    Raw::Binary(bytes) => socket.send(Message::binary(bytes)).await,
                    Raw::Bytes(bytes) => {
                        socket.get_mut().inject(&bytes);
                        Ok(())
                    }
                };
                if sent.is_err() {
                    return End::Now;
                }
            }
            Next::Wait => {
                let came = tokio::select! {
                    biased;
                    () = wake.notified() => continue,
                    came = next_message(socket) => came,
                };
                match came {
                    Some(Message::Text(text)) => shared.tell(|model| model.message(conn, text.as_str())),
                    Some(Message::Close(_)) => {
                        shared.tell(|model| model.close_link(conn));
                        // The next read puts our close frame into the valve.
                        next_message(socket).await;
                        return End::Written;
                    }
                    None => return End::Now,
                    Some(_) => {}
                }
            }
        }
    }
}

/// The next message; none when the client is gone. Writes what is to be written meanwhile.
async fn next_message<S>(socket: &mut WebSocketStream<Valve<S>>) -> Option<Message>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|cx| {
        if let Poll::Ready(came) = socket.poll_next_unpin(cx) {
            return Poll::Ready(came.and_then(Result::ok));
        }
        match socket.get_mut().poll_drain(cx) {
            Poll::Ready(Err(_)) => Poll::Ready(None),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Pending,
        }
    })
    .await
}
