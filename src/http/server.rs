//! The server of the routes: at most so many connections, none of which may dawdle.
//!
//! ```text
//!   accept --room--> connection --head read--> handler --answer sent--> connection ...
//!     |                  |
//!     |                  +-- no head within server.head_timeout_ms: closed
//!     +-- no room: the connection that has waited longest for its caller makes room; if all of them are at
//!         work, the new one is told so
//! ```
//!
//! So callers who open connections and say nothing take the room of nobody who speaks.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tabvisor_cdp::budget::Budget;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;

use super::router;
use super::service::Service;

/// How long one is told that there is no room, and how many at a time.
const REFUSAL: Duration = Duration::from_millis(500);
const REFUSALS: usize = 32;
/// How long nothing is accepted after the system had nothing left to accept with.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// Serves `service` on `listener` until `stop` completes and all answers are out that are on their way.
/// Dropping it ends them.
pub async fn serve(listener: TcpListener, service: Service, stop: impl Future<Output = ()>) {
    let server = service.config().server.clone();
    let app = TowerToHyperService::new(router(service));
    let rooms = Rooms::new(server.connections);
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let (stopping, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let socket = match accepted {
            Ok((socket, _)) => socket,
            Err(why) => {
                pause_after(&why).await;
                continue;
            }
        };
        // Answers are small and leave in one write; waiting for more would only delay them.
        let _ = socket.set_nodelay(true);
        if let Some(room) = rooms.enter().await {
            let serving = connection(socket, app.clone(), room, server.head_timeout(), stopping.subscribe());
            connections.spawn(serving);
            continue;
        }
        metrics::counter!("tabvisor_rejected_total", "reason" => "overloaded").increment(1);
        if let Ok(permit) = Arc::clone(&refusals).try_acquire_owned() {
            connections.spawn(async move {
                let _permit = permit;
                refuse(socket, server.connections).await;
            });
        }
    }
    drop(listener);
    stopping.send_replace(true);
    while connections.join_next().await.is_some() {}
}

/// One that its caller gave up is no trouble; with nothing left, the next would fail just so.
async fn pause_after(why: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(why.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::warn!(%why, "no connection could be accepted");
    tokio::time::sleep(EXHAUSTED).await;
}

async fn connection(
    socket: TcpStream,
    app: TowerToHyperService<axum::Router>,
    room: Room,
    head: Duration,
    mut stopping: watch::Receiver<bool>,
) {
    let seat = Arc::clone(&room.seat);
    let answering = service_fn(|request: Request<Incoming>| {
        let at_work = AtWork::new(&seat);
        let answer = app.call(request);
        async move {
            let answer: Response<Body> = answer.await?;
            Ok::<_, Infallible>(answer.map(|body| Sent { body, _at_work: at_work }))
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(head);
    let mut serving = pin!(server.serve_connection(TokioIo::new(socket), answering));
    let mut done = tokio::select! {
        done = &mut serving => Some(done),
        () = room.seat.leave.notified() => return,
        // What it borrows must not live on while the rest is awaited.
        () = async { drop(stopping.wait_for(|stopping| *stopping).await) } => None,
    };
    if done.is_none() {
        serving.as_mut().graceful_shutdown();
        done = Some(serving.await);
    }
    if let Some(Err(why)) = done {
        tracing::debug!(%why, "a connection ended");
    }
}

/// Tells that there is no room, and takes in what is still being sent: a caller that is cut off in the middle of
/// it sees a broken connection instead.
async fn refuse(mut socket: TcpStream, most: usize) {
    let body = format!(
        r#"{{"error":"overloaded: {most} connections are open, which is the limit (server.connections)","reason":"overloaded","details":{{"limit":"server.connections","max":{most}}}}}"#
    );
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: \
         {}\r\nretry-after: 1\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let telling = async {
        socket.write_all(answer.as_bytes()).await?;
        socket.shutdown().await?;
        let mut rest = [0; 4096];
        while socket.read(&mut rest).await? > 0 {}
        Ok::<_, io::Error>(())
    };
    let _ = Budget::new(REFUSAL).run(telling).await;
}

/// Room for connections.
struct Rooms {
    free: Arc<Semaphore>,
    seats: Arc<Mutex<Seats>>,
}

#[derive(Default)]
struct Seats {
    next: u64,
    /// The oldest first.
    taken: BTreeMap<u64, Arc<Seat>>,
}

/// What is known of a connection.
#[derive(Default)]
struct Seat {
    /// Requests that are answered, or whose answer is being sent.
    at_work: AtomicUsize,
    leave: Notify,
}

impl Rooms {
    fn new(most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), seats: Arc::default() }
    }

    /// Room for one more; `None` if all that are there are at work.
    async fn enter(&self) -> Option<Room> {
        let free = Arc::clone(&self.free).try_acquire_owned();
        let permit = if let Ok(permit) = free {
            permit
        } else {
            self.send_away_the_oldest()?;
            // It goes at its next step, which is now.
            Arc::clone(&self.free).acquire_owned().await.ok()?
        };
        let seat = Arc::new(Seat::default());
        let mut seats = self.lock();
        let number = seats.next;
        seats.next += 1;
        seats.taken.insert(number, Arc::clone(&seat));
        drop(seats);
        Some(Room { seat, number, seats: Arc::clone(&self.seats), _permit: permit })
    }

    fn send_away_the_oldest(&self) -> Option<()> {
        let mut seats = self.lock();
        let oldest = seats.taken.iter().find(|(_, seat)| seat.at_work.load(Ordering::Acquire) == 0);
        let number = *oldest?.0;
        seats.taken.remove(&number)?.leave.notify_one();
        Some(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is free again once this is dropped.
struct Room {
    seat: Arc<Seat>,
    number: u64,
    seats: Arc<Mutex<Seats>>,
    _permit: tokio::sync::OwnedSemaphorePermit,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner).taken.remove(&self.number);
    }
}

/// Held while a request is answered.
struct AtWork(Arc<Seat>);

impl AtWork {
    fn new(seat: &Arc<Seat>) -> Self {
        seat.at_work.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(seat))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A body that counts as work until it is sent.
struct Sent {
    body: Body,
    _at_work: AtWork,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_longest_makes_room_and_whoever_works_does_not() {
        let rooms = Rooms::new(2);
        let (first, second) = (rooms.enter().await.unwrap(), rooms.enter().await.unwrap());
        let at_work = AtWork::new(&first.seat);
        let leaving = async {
            second.seat.leave.notified().await;
            drop(second);
        };
        let (third, ()) = tokio::join!(rooms.enter(), leaving);
        let third = third.unwrap();
        let also = AtWork::new(&third.seat);
        assert!(rooms.enter().await.is_none());
        drop(at_work);
        drop(first);
        assert!(rooms.enter().await.is_some());
        drop(also);
    }
}
