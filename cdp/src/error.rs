//! Why a CDP call gave no result.

use std::time::Duration;

use crate::budget::Spent;

/// Why a call on a [`Session`](crate::link::Session) gave no result, or a link could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CdpError {
    /// The caller's budget ended first, or the caller went away.
    #[error("{method}: {spent}")]
    Spent {
        /// What was asked.
        method: String,
        /// Expired or cancelled, with the numbers.
        spent: Spent,
    },
    /// The WebSocket is gone; no call on it will be answered.
    #[error("the link to chromium closed: {0}")]
    LinkClosed(CloseCause),
    /// The session ended while its link lives: the target was closed or somebody detached it.
    #[error("the target detached from its session: {reason}")]
    Detached {
        /// Chromium's word for it, or ours.
        reason: String,
    },
    /// The renderer died while the call was pending; Chromium would never answer it.
    #[error("the renderer crashed")]
    Crashed,
    /// Chromium answered with a protocol error.
    #[error("{method} was refused by chromium: {message} ({code})")]
    Protocol {
        /// What was asked.
        method: String,
        /// JSON-RPC code, e.g. -32000.
        code: i64,
        /// Chromium's message.
        message: String,
    },
    /// Refused before sending: Chromium closes the socket on requests over 100 MiB.
    #[error("{method}: the request has {bytes} bytes, over the limit of {limit}")]
    RequestTooLarge {
        /// What was asked.
        method: String,
        /// Size of the encoded request.
        bytes: usize,
        /// The limit of this link.
        limit: usize,
    },
    /// The write queue of the link is full: Chromium does not take what is sent.
    #[error("{method}: chromium does not take more commands on this link")]
    Busy {
        /// What was asked.
        method: String,
    },
    /// Chromium answered, but not in the shape that the protocol promises.
    #[error("{method}: the answer could not be read: {why}")]
    BadReply {
        /// What was asked.
        method: String,
        /// What is wrong with it; never page content.
        why: String,
    },
    /// No connection could be made.
    #[error("could not connect to {address}: {why}")]
    Connect {
        /// Where to, without credentials or query.
        address: String,
        /// Refused, no such host, handshake answered with another status, ...
        why: String,
    },
}

/// Why a link is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseCause {
    /// We closed it.
    #[error("closed by tabvisor")]
    Ours,
    /// The other side closed it, properly or by ending its process.
    #[error("closed by the other side")]
    Remote,
    /// The socket failed.
    #[error("socket failed: {0}")]
    Io(String),
    /// A message was over the frame limit; the stream cannot be read on.
    #[error("a message was over the limit of {limit} bytes (limits.max_frame_bytes)")]
    TooLarge {
        /// The limit of this link.
        limit: usize,
    },
    /// Nothing came, not even a pong, for too long: the socket is half dead.
    #[error("no sign of life for {} ms", .silent.as_millis())]
    Silent {
        /// How long nothing came.
        silent: Duration,
    },
}

impl CdpError {
    /// Wraps a spent budget with what was being asked.
    pub fn spent(method: &str, spent: Spent) -> Self {
        Self::Spent { method: method.to_owned(), spent }
    }

    /// Whether the link itself is of no more use.
    pub fn ends_link(&self) -> bool {
        matches!(self, Self::LinkClosed(_))
    }
}
