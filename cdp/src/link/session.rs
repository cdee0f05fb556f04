//! Calls on one CDP session.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::events::Scope;
use super::pending::Outcome;
use super::{Events, Shared, wire};
use crate::budget::Budget;
use crate::error::{CdpError, CloseCause};

/// A CDP session on a link. Clones are the same session; it does not keep the link open.
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<Shared>,
    id: Option<Arc<str>>,
}

/// The answer to a call that was sent; dropping it takes the call out of the pending table.
#[derive(Debug)]
#[must_use = "the call is forgotten when its reply is dropped"]
pub struct Reply {
    id: u64,
    shared: Arc<Shared>,
    outcome: oneshot::Receiver<Outcome>,
}

impl Future for Reply {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.outcome).poll(context).map(|outcome| {
            // The table settles whatever it holds; a dropped sender would mean that it did not.
            outcome.unwrap_or(Err(CdpError::LinkClosed(CloseCause::Ours)))
        })
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.shared.table().pending.forget(self.id);
    }
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>, id: Option<Arc<str>>) -> Self {
        Self { shared, id }
    }

    /// The CDP session id; `None` for the root of the link.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// A handle on another session of the same link.
    #[must_use]
    pub fn sibling(&self, id: &str) -> Self {
        Self::new(Arc::clone(&self.shared), Some(Arc::from(id)))
    }

    /// Calls `method` and waits for its answer within `budget`.
    ///
    /// # Errors
    /// Every [`CdpError`]; the call is taken out of the pending table in any case.
    pub async fn call<P: Serialize>(
        &self,
        method: &'static str,
        params: P,
        budget: &Budget,
    ) -> Result<Box<RawValue>, CdpError> {
        let (text, reply) = self.prepare(method, params)?;
        let answer = async {
            self.enqueue(vec![text]).await?;
            reply.await
        };
        budget.run(answer).await.map_err(|spent| CdpError::spent(method, spent))?
    }

    /// Like [`call`](Self::call), with the answer read as `T`.
    ///
    /// # Errors
    /// Also [`CdpError::BadReply`] when the answer is no `T`.
    pub async fn call_as<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
        budget: &Budget,
    ) -> Result<T, CdpError> {
        let raw = self.call(method, params, budget).await?;
        serde_json::from_str(raw.get()).map_err(|why| bad_reply(method, &why))
    }

    /// Sends several commands in one write, in order, and gives their replies. Waits only for
    /// room in the write queue; race it against the budget.
    ///
    /// # Errors
    /// [`CdpError::RequestTooLarge`] before anything is sent, [`CdpError::LinkClosed`].
    pub async fn send_all<const N: usize>(
        &self,
        calls: [(&'static str, &RawValue); N],
    ) -> Result<[Reply; N], CdpError> {
        let mut texts = Vec::with_capacity(N);
        let mut replies = Vec::with_capacity(N);
        for (method, params) in calls {
            let (text, reply) = self.prepare(method, params)?;
            texts.push(text);
            replies.push(reply);
        }
        self.enqueue(texts).await?;
        replies.try_into().map_err(|_| CdpError::LinkClosed(CloseCause::Ours))
    }

    /// Sends a command and gives its reply without waiting for it.
    ///
    /// # Errors
    /// As [`send_all`](Self::send_all).
    pub async fn send<P: Serialize>(&self, method: &'static str, params: P) -> Result<Reply, CdpError> {
        let (text, reply) = self.prepare(method, params)?;
        self.enqueue(vec![text]).await?;
        Ok(reply)
    }

    /// Sends a command if the write queue has room now, for places that may not wait.
    ///
    /// # Errors
    /// As [`send_all`](Self::send_all), and [`CdpError::Busy`] when there is no room.
    pub fn try_send<P: Serialize>(&self, method: &'static str, params: P) -> Result<Reply, CdpError> {
        let (text, reply) = self.prepare(method, params)?;
        match self.shared.queue.try_send(vec![text]) {
            Ok(()) => Ok(reply),
            Err(mpsc::error::TrySendError::Full(_)) => Err(CdpError::Busy { method: method.to_owned() }),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(self.closed_error()),
        }
    }

    /// Like [`try_send`](Self::try_send), without caring for the answer.
    pub fn cast<P: Serialize>(&self, method: &'static str, params: P) {
        if let Err(error) = self.try_send(method, params) {
            tracing::debug!(method, %error, "not sent");
        }
    }

    /// Subscribes to events of this session, at most `capacity` of them waiting.
    pub fn subscribe(&self, methods: &'static [&'static str], capacity: usize) -> Events {
        self.shared.subscribe(Scope::Session(self.id.clone()), methods, capacity)
    }

    /// Subscribes to events of every session of its link.
    pub fn subscribe_link(&self, methods: &'static [&'static str], capacity: usize) -> Events {
        self.shared.subscribe(Scope::All, methods, capacity)
    }

    /// Completes when the link of this session is gone, and says why.
    pub async fn link_closed(&self) -> CloseCause {
        self.shared.closed().await
    }

    /// Whether the link of this session is gone.
    pub fn is_link_closed(&self) -> bool {
        self.shared.closed.borrow().is_some()
    }

    /// Registers a call and renders it.
    fn prepare<P: Serialize>(&self, method: &'static str, params: P) -> Result<(String, Reply), CdpError> {
        let id = self.shared.next_id();
        let text = wire::write(id, self.id(), method, params).map_err(|why| bad_reply(method, &why))?;
        let limit = self.shared.options.max_request_bytes;
        if text.len() > limit {
            let bytes = text.len();
            return Err(CdpError::RequestTooLarge { method: method.to_owned(), bytes, limit });
        }
        let mut table = self.shared.table();
        if let Some(cause) = self.shared.closed.borrow().clone() {
            return Err(CdpError::LinkClosed(cause));
        }
        let outcome = table.pending.add(id, self.id.clone(), method);
        drop(table);
        self.shared.busy.notify_one();
        Ok((text, Reply { id, shared: Arc::clone(&self.shared), outcome }))
    }

    async fn enqueue(&self, texts: Vec<String>) -> Result<(), CdpError> {
        self.shared.queue.send(texts).await.map_err(|_| self.closed_error())
    }

    fn closed_error(&self) -> CdpError {
        let cause = self.shared.closed.borrow().clone();
        CdpError::LinkClosed(cause.unwrap_or(CloseCause::Ours))
    }
}

fn bad_reply(method: &str, why: &serde_json::Error) -> CdpError {
    // Category and place only: serde's text may quote page content.
    let why = format!("{:?} error at column {}", why.classify(), why.column());
    CdpError::BadReply { method: method.to_owned(), why }
}
