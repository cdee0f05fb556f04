//! A TCP proxy between tabvisor and Chromium that can cut and stall.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Forwards every connection to one address until told otherwise.
pub struct Proxy {
    pub address: SocketAddr,
    mode: watch::Sender<Mode>,
    connections: Arc<AtomicUsize>,
    target: watch::Sender<SocketAddr>,
    _server: Task<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Forward,
    /// Takes bytes and forwards none, in neither direction.
    Stall,
    /// Cuts what is connected with a number from `from` on.
    Cut {
        from: usize,
    },
}

impl Proxy {
    pub async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = watch::Sender::new(Mode::Forward);
        let connections = Arc::new(AtomicUsize::new(0));
        let (modes, count) = (mode.clone(), Arc::clone(&connections));
        let target = watch::Sender::new(target);
        let targets = target.subscribe();
        let server = task::spawn(async move {
            let mut running = Vec::new();
            while let Ok((client, _)) = listener.accept().await {
                let to = *targets.borrow();
                let number = count.fetch_add(1, Ordering::SeqCst);
                running.push(task::spawn(forward(client, to, number, modes.subscribe())));
            }
        });
        Self { address, mode, connections, target, _server: server }
    }

    /// How many connections there were so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Cuts the connections numbered `from` and later, and those still to come.
    pub fn cut_from(&self, from: usize) {
        self.mode.send_replace(Mode::Cut { from });
    }

    pub fn cut(&self) {
        self.cut_from(0);
    }

    pub fn stall(&self) {
        self.mode.send_replace(Mode::Stall);
    }

    /// Where connections go that come from now on.
    pub fn forward_to(&self, target: SocketAddr) {
        self.target.send_replace(target);
    }

    pub fn heal(&self) {
        self.mode.send_replace(Mode::Forward);
    }
}

async fn forward(client: TcpStream, target: SocketAddr, number: usize, mut mode: watch::Receiver<Mode>) {
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let (up, down) = (mode.clone(), mode.clone());
    let upwards = pipe(&mut from_client, &mut to_server, up);
    let downwards = pipe(&mut from_server, &mut to_client, down);
    tokio::select! {
        () = upwards => {}
        () = downwards => {}
        _ = mode.wait_for(|mode| matches!(mode, Mode::Cut { from } if number >= *from)) => {}
    }
}

async fn pipe(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    mut mode: watch::Receiver<Mode>,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(n @ 1..) = from.read(&mut buffer).await {
        if mode.wait_for(|mode| *mode != Mode::Stall).await.is_err()
            || to.write_all(&buffer[..n]).await.is_err()
        {
            return;
        }
    }
}
