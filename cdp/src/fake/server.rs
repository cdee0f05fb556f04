//! The server: one task for the port, its connections and the alarms, so that dropping it ends
//! all of them.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::http;
use super::shared::Shared;
use super::valve::Valve;

/// Serves until its task is dropped.
pub(super) async fn serve(shared: Arc<Shared>, tls: Option<TlsAcceptor>) {
    let mut connections = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            () = shared.alarm_due() => shared.ring(),
            () = shared.alarm_set.notified() => {}
            accepted = shared.accept() => {
                if let Ok(stream) = accepted {
                    connections.push(boxed(connection(Arc::clone(&shared), tls.clone(), stream)));
                }
            }
            () = shared.piped.notified() => {
                while let Some(pipe) = shared.next_pipe() {
                    connections.push(boxed(plain(Arc::clone(&shared), pipe)));
                }
            }
            Some(()) = connections.next(), if !connections.is_empty() => {}
        }
    }
}

fn boxed(connection: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
    Box::pin(connection)
}

async fn plain<S>(shared: Arc<Shared>, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    http::serve(&shared, Valve::new(stream, shared.stalled.flag())).await;
}

async fn connection(shared: Arc<Shared>, tls: Option<TlsAcceptor>, stream: TcpStream) {
    // Answers are small and many; a stream that is gone already fails at its first read.
    let _ = stream.set_nodelay(true);
    match tls {
        None => plain(shared, stream).await,
        Some(tls) => {
            let handshake = async {
                // A half-dead browser shakes no hands.
                shared.stalled.over().await;
                tls.accept(stream).await.ok()
            };
            let stream = tokio::select! {
                biased;
                () = shared.ended.cancelled() => return,
                stream = handshake => stream,
            };
            if let Some(stream) = stream {
                plain(shared, stream).await;
            }
        }
    }
}
