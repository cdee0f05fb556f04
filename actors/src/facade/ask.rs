//! The only place that waits for an actor's answer.

use std::time::Duration;

use ractor::rpc::CallResult;
use ractor::{ActorRef, Message, RpcReplyPort};
use tabvisor_cdp::budget::Budget;

/// Why an actor gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// It was gone already; nothing was sent.
    NotSent,
    /// It ended with the call in its hands.
    Dropped,
    /// It kept the call beyond budget and grace: a bug of ours.
    Late,
}

/// Longer than the grace after which the actors kill their own children, so this net is the last.
const GRACE: Duration = Duration::from_secs(2);

/// Sends the message that `build` makes and waits for the answer within the budget and a grace.
pub(super) async fn ask<M: Message, T: Send + 'static>(
    actor: &ActorRef<M>,
    budget: &Budget,
    build: impl FnOnce(RpcReplyPort<T>) -> M,
) -> Result<T, Unanswered> {
    #[expect(clippy::disallowed_methods, reason = "the facade is where calls come from")]
    let answer = actor.call(build, Some(budget.left() + GRACE)).await;
    match answer {
        Ok(CallResult::Success(value)) => Ok(value),
        Ok(CallResult::SenderError) => Err(Unanswered::Dropped),
        Ok(CallResult::Timeout) => {
            tracing::error!("an actor kept a call beyond its budget");
            Err(Unanswered::Late)
        }
        Err(_) => Err(Unanswered::NotSent),
    }
}
