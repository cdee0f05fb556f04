//! A leaf of the tree: an actor that waits for Chromium once.
//!
//! Purpose: everything that may hang (an evaluate, an action, an opener, a closer) is such a leaf,
//! so that its parent never waits and can always kill it.
//!
//! ```text
//!   spawned --Run(future)--> running --done--> stopped, outcome in the state
//!                               |
//!                               +--killed--> the future and the link it holds are dropped at once
//! ```
//!
//! Supervised by: whoever spawned it; temporary, never restarted.
//!
//! The exit event carries the result: the leaf writes its outcome into its state and stops, and
//! the parent takes it out of `ActorTerminated`. One event per child is exactly one answer. A
//! `Done` message could be overtaken by that event and the answer lost.
//!
//! It never: keeps a socket in its state (a killed actor's state lives until its parent has read
//! the event; a local of the handler's future is dropped at once), dials in `pre_start`.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SpawnErr, SupervisionEvent};

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

struct Leaf<T>(PhantomData<fn() -> T>);

/// The one message: what to do.
struct Run<T>(Work<T>);

struct Outcome<T>(Option<T>);

impl<T: Send + 'static> Actor for Leaf<T> {
    type Msg = Run<T>;
    type State = Outcome<T>;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Run<T>>, (): ()) -> Result<Outcome<T>, ActorProcessingErr> {
        Ok(Outcome(None))
    }

    async fn handle(
        &self,
        myself: ActorRef<Run<T>>,
        Run(work): Run<T>,
        outcome: &mut Outcome<T>,
    ) -> Result<(), ActorProcessingErr> {
        outcome.0 = Some(work.await);
        myself.stop(None);
        Ok(())
    }
}

/// How a leaf ended.
#[derive(Debug)]
pub(crate) enum End<T> {
    /// With its outcome.
    Done(T),
    /// Killed before it had one.
    Killed,
    /// It panicked: a bug of ours, with the panic's message.
    Panicked(String),
}

/// Spawns a leaf under `parent` that works on `work`.
///
/// # Errors
/// Only when the parent is already stopping.
pub(crate) async fn spawn<T, F>(parent: ActorCell, work: F) -> Result<ActorCell, SpawnErr>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let (leaf, _) = Actor::spawn_linked(None, Leaf(PhantomData), (), parent).await?;
    // A send to an actor that was just spawned fails only if it is being killed; then its exit
    // event tells.
    let _ = leaf.cast(Run(Box::pin(work)));
    Ok(leaf.get_cell())
}

/// Reads the end of a leaf whose outcome is a `T` out of its exit event.
pub(crate) fn end<T: Send + 'static>(event: SupervisionEvent) -> Option<End<T>> {
    match event {
        SupervisionEvent::ActorTerminated(_, Some(mut state), _) => {
            let Ok(Outcome(outcome)) = state.take::<Outcome<T>>() else { return Some(End::Killed) };
            Some(outcome.map_or(End::Killed, End::Done))
        }
        SupervisionEvent::ActorTerminated(_, None, _) => Some(End::Killed),
        SupervisionEvent::ActorFailed(_, why) => Some(End::Panicked(why.to_string())),
        _ => None,
    }
}
