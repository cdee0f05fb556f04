//! The traps of ractor, each with a test that fails without its remedy.
//!
//! Two of them are guarded by the compiler: with ractor's `async-trait` or `cluster` feature on,
//! this crate would not build (its actors are native async, its messages not serialisable). The
//! bans of `clippy.toml` guard `call` between actors, bare spawns and unbounded channels.

use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use tabvisor_cdp::task;
use tokio::sync::{mpsc, oneshot};
use tracing::instrument::WithSubscriber;

use super::World;
use crate::error::TabError;
use crate::leaf::{self, End};

/// A parent that reports how its leaves end, and can be kept busy.
struct Parent;

enum ParentMsg {
    /// Spawn a leaf on this work; its cell goes back.
    Spawn(std::pin::Pin<Box<dyn Future<Output = i32> + Send>>, oneshot::Sender<ractor::ActorCell>),
    /// Be busy until told otherwise.
    Block(oneshot::Receiver<()>),
}

impl Actor for Parent {
    type Msg = ParentMsg;
    type State = mpsc::Sender<End<i32>>;
    type Arguments = mpsc::Sender<End<i32>>;

    async fn pre_start(
        &self,
        _: ActorRef<ParentMsg>,
        ends: mpsc::Sender<End<i32>>,
    ) -> Result<mpsc::Sender<End<i32>>, ActorProcessingErr> {
        Ok(ends)
    }

    async fn handle(
        &self,
        myself: ActorRef<ParentMsg>,
        message: ParentMsg,
        _: &mut mpsc::Sender<End<i32>>,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ParentMsg::Spawn(work, cell) => drop(cell.send(leaf::spawn(myself.get_cell(), work).await?)),
            ParentMsg::Block(until) => drop(until.await),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<ParentMsg>,
        event: SupervisionEvent,
        ends: &mut mpsc::Sender<End<i32>>,
    ) -> Result<(), ActorProcessingErr> {
        if let Some(end) = leaf::end::<i32>(event) {
            ends.send(end).await?;
        }
        Ok(())
    }
}

async fn parent() -> (ActorRef<ParentMsg>, mpsc::Receiver<End<i32>>) {
    let (sender, ends) = mpsc::channel(4096);
    let (parent, _) = Actor::spawn(None, Parent, sender).await.unwrap();
    (parent, ends)
}

async fn spawn(
    parent: &ActorRef<ParentMsg>,
    work: impl Future<Output = i32> + Send + 'static,
) -> ractor::ActorCell {
    let (sender, cell) = oneshot::channel();
    parent.cast(ParentMsg::Spawn(Box::pin(work), sender)).unwrap();
    cell.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exit_event_carries_the_result_and_none_is_overtaken() {
    let (parent, mut ends) = parent().await;
    for n in 0..2000 {
        spawn(&parent, async move { n }).await;
    }
    let mut seen = Vec::new();
    for _ in 0..2000 {
        let End::Done(n) = ends.recv().await.unwrap() else { panic!("an answer was lost") };
        seen.push(n);
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..2000).collect::<Vec<_>>());
    parent.stop(None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_leaf_drops_what_it_holds_at_once_even_if_its_parent_is_busy() {
    let (parent, mut ends) = parent().await;
    let (held, dropped) = oneshot::channel::<()>();
    let (started, running) = oneshot::channel();
    let cell = spawn(&parent, async move {
        let _held = held;
        started.send(()).unwrap();
        std::future::pending().await
    })
    .await;
    running.await.unwrap();
    let (unblock, blocked) = oneshot::channel();
    parent.cast(ParentMsg::Block(blocked)).unwrap();
    cell.kill();
    assert!(dropped.await.is_err(), "a socket in the state would live until the parent has read the event");
    unblock.send(()).unwrap();
    assert!(matches!(ends.recv().await, Some(End::Killed)));
    parent.stop(None);
}

#[tokio::test]
async fn a_panicking_leaf_is_an_event_and_its_parent_lives() {
    let (parent, mut ends) = parent().await;
    spawn(&parent, async { panic!("on purpose") }).await;
    let Some(End::Panicked(why)) = ends.recv().await else {
        panic!("no event, or the profile aborts on panic")
    };
    assert!(why.contains("on purpose"), "{why}");
    spawn(&parent, async { 7 }).await;
    assert!(matches!(ends.recv().await, Some(End::Done(7))));
    parent.stop(None);
}

#[tokio::test]
async fn the_actors_span_is_not_replaced_by_the_senders() {
    let (parent, mut ends) = parent().await;
    let (tell, name) = oneshot::channel();
    let subscriber = tracing_subscriber::registry();
    async {
        let sender = tracing::info_span!("request");
        let _entered = sender.enter();
        let work = async move {
            tell.send(tracing::Span::current().metadata().map(tracing::Metadata::name)).unwrap();
            1
        };
        let (cell, _) = oneshot::channel();
        parent.cast(ParentMsg::Spawn(Box::pin(work), cell)).unwrap();
    }
    .with_subscriber(subscriber)
    .await;
    assert_ne!(name.await.unwrap(), Some("request"), "ractor's message_span_propogation feature is on");
    assert!(matches!(ends.recv().await, Some(End::Done(1))));
    parent.stop(None);
}

#[tokio::test]
async fn an_actor_killed_with_calls_in_its_hands_is_a_typed_answer_and_is_replaced() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let call = task::spawn(world.run(tab, "PENDING", 20_000));
    world.fake.wait_for_call(|call| call.expression().contains("PENDING")).await;
    let killed = world.supervisor.handle(tab).unwrap().evaluates;
    killed.kill();
    let answer = call.join().await.unwrap().unwrap_err();
    assert!(matches!(&answer, TabError::Internal(why) if why.contains("restarted")), "{answer:?}");
    let replaced = async {
        while world.supervisor.handle(tab).unwrap().evaluates.get_id() == killed.get_id() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    super::budget(5000).run(replaced).await.expect("it is replaced");
    world.run(tab, "QUICK", 5000).await.unwrap();
    world.stop().await;
}

#[tokio::test]
async fn handlers_never_wait_for_chromium() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    // From now on nothing is answered and no new socket completes its handshake.
    world.fake.stall();
    let hanging: Vec<_> = (0..8).map(|_| task::spawn(world.run(tab, "QUICK", 20_000))).collect();
    let supervisor = world.supervisor.clone();
    let opening = task::spawn(async move {
        let until = tabvisor_page::navigate::WaitUntil::Load;
        supervisor.open(super::BrowserId(1), "about:blank", until, &super::budget(20_000)).await
    });
    // Every mailbox on the way still answers: a short call expires by its own budget.
    let short = world.run(tab, "QUICK", 50).await.unwrap_err();
    assert!(matches!(short.kind(), "timeout" | "budget_exceeded"), "{short:?}");
    drop((hanging, opening));
    world.fake.unstall();
    world.supervisor.stop().await;
}

#[tokio::test]
async fn no_actor_has_a_global_name_so_trees_live_side_by_side() {
    let (one, two) = (World::new().await, World::new().await);
    let (a, b) = (one.open_warm().await, two.open_warm().await);
    assert_eq!(a, b, "each tree counts its own tabs");
    assert!(ractor::registry::registered().is_empty(), "{:?}", ractor::registry::registered());
    one.stop().await;
    two.run(b, "QUICK", 5000).await.unwrap();
    two.stop().await;
}

#[tokio::test]
async fn a_stop_reaches_the_children_and_they_run_their_own() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    let shared = world.supervisor.handle(tab).unwrap().shared;
    assert!(shared.control.borrow().is_some());
    world.supervisor.stop().await;
    // The watcher takes its session back in `post_stop`; a killed one would not.
    assert!(shared.control.borrow().is_none());
}

#[tokio::test]
async fn events_of_a_replaced_child_do_not_count() {
    let world = World::new().await;
    let tab = world.open_warm().await;
    for _ in 0..2 {
        let handle = world.supervisor.handle(tab).unwrap();
        // Twice killed is once dead.
        handle.evaluates.kill();
        handle.evaluates.kill();
        let gone = handle.evaluates.get_id();
        let replaced = async {
            while world.supervisor.handle(tab).unwrap().evaluates.get_id() == gone {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        super::budget(5000).run(replaced).await.expect("it is replaced");
    }
    assert_eq!(world.supervisor.tab(tab).unwrap().restarts, 2);
    world.stop().await;
}
