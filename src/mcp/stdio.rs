//! One client over standard input and output, or any pair of streams. It ends with its input.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::home::Home;
use super::server::Server;

/// Serves one client until its input ends. What ran for it then is cancelled in its page, and the tabs that it
/// opened are closed unless they are kept.
///
/// # Errors
/// A client that does not begin as the protocol has it.
pub async fn serve<R, W>(home: &Home, read: R, write: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = Server::new(home.clone());
    let (gone, connection) = (server.gone(), server.connection());
    let input = Input { read, ended: gone };
    let ended = match server.serve((input, write)).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(why) => Err(io::Error::other(format!("the client does not speak MCP: {why}"))),
    };
    connection.close(home.supervisor()).await;
    ended
}

/// What comes from a client. Its end is told at once: answers to a client that is gone are worth no wait.
struct Input<R> {
    read: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = ready!(Pin::new(&mut self.read).poll_read(cx, into));
        if read.is_err() || into.filled().len() == before {
            self.ended.cancel();
        }
        Poll::Ready(read)
    }
}
