//! A stream whose writing side never waits, and can be shut.
//!
//! Whoever writes is never held up by a client that does not read, so the fake goes on reading
//! like Chrome does. While it is shut, everything (pongs too) stays inside: to the other side
//! the browser is half dead.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The stream and what is still to be written on it.
#[derive(Debug)]
pub(super) struct Valve<S> {
    stream: S,
    shut: Arc<AtomicBool>,
    mute: bool,
    held: Vec<u8>,
    /// How much of `held` is written.
    done: usize,
}

impl<S> Valve<S> {
    pub(super) fn new(stream: S, shut: Arc<AtomicBool>) -> Self {
        Self { stream, shut, mute: false, held: Vec::new(), done: 0 }
    }

    /// Puts bytes on the stream behind what was written, in no frame.
    pub(super) fn inject(&mut self, bytes: &[u8]) {
        if !self.mute {
            self.held.extend_from_slice(bytes);
        }
    }

    /// Nothing that is written from now on goes out.
    pub(super) fn mute(&mut self) {
        self.mute = true;
    }
}

impl<S: AsyncWrite + Unpin> Valve<S> {
    /// Writes what is there to write; ready when that is all.
    pub(super) fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.shut.load(Ordering::Relaxed) {
            // Whoever opens it again wakes the writers.
            return Poll::Pending;
        }
        while self.done < self.held.len() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.held[self.done..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.done += count;
        }
        self.held.clear();
        self.done = 0;
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Valve<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Valve<S> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.inject(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    /// Does nothing: [`poll_drain`](Valve::poll_drain) writes.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
