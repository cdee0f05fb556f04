//! Tasks that end with their handle.
//!
//! A task spawned bare outlives a killed actor and keeps its socket open. So this is the only
//! place that spawns, and what it returns aborts the task when dropped.

use std::future::Future;

use tokio::task::JoinHandle;

/// A running task; dropping it aborts the task at its next await.
#[derive(Debug)]
#[must_use = "dropping the handle ends the task"]
pub struct Task<T>(JoinHandle<T>);

/// Spawns `future` on the current runtime.
pub fn spawn<F>(future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[expect(clippy::disallowed_methods, reason = "the one place that may: the handle aborts on drop")]
    Task(tokio::spawn(future))
}

impl<T> Task<T> {
    /// Whether the task has ended, by itself, by a panic or by an abort.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for the task and gives its value; `None` if it panicked.
    pub async fn join(mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn dropping_the_handle_drops_what_the_task_holds() {
        let (held, dropped) = oneshot::channel::<()>();
        let (started_tx, started) = oneshot::channel();
        let task = spawn(async move {
            let _held = held;
            started_tx.send(()).unwrap();
            std::future::pending::<()>().await;
        });
        started.await.unwrap();
        drop(task);
        assert!(dropped.await.is_err(), "the task's locals are gone once the sender is dropped");
    }

    #[tokio::test]
    async fn a_joined_task_gives_its_value_and_a_panic_gives_none() {
        assert_eq!(spawn(async { 7 }).join().await, Some(7));
        assert_eq!(spawn(async { panic!("on purpose") }).join().await, None);
    }
}
