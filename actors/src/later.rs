//! A message to an actor after a while.

use std::time::Duration;

use ractor::{ActorRef, Message};
use tabvisor_cdp::task::{self, Task};

/// Sends `message` to `actor` after `wait`, unless the task is dropped before.
pub(crate) fn later<M: Message>(actor: &ActorRef<M>, wait: Duration, message: M) -> Task<()> {
    let actor = actor.clone();
    task::spawn(async move {
        tokio::time::sleep(wait).await;
        let _ = actor.cast(message);
    })
}
