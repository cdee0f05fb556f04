//! The last lines that a browser wrote, bounded.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::task::{self, Task};

/// Lines kept.
const LINES: usize = 12;
/// Bytes kept of one line.
const WIDTH: usize = 300;

/// Reads what a process writes for as long as it writes (an unread pipe would block it), and keeps the end.
#[derive(Debug)]
pub(super) struct LastWords {
    kept: Arc<Mutex<Tail>>,
    reading: Task<()>,
}

impl LastWords {
    /// Starts reading.
    pub(super) fn of(mut output: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Tail::default()));
        let shared = Arc::clone(&kept);
        let reading = task::spawn(async move {
            let mut chunk = vec![0; 4096];
            while let Ok(read @ 1..) = output.read(&mut chunk).await {
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..read]);
            }
        });
        Self { kept, reading }
    }

    /// The lines so far, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).lines()
    }

    /// Whether everything was read.
    pub(super) fn complete(&self) -> bool {
        self.reading.is_finished()
    }
}

/// The end of a stream of lines.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    open: Vec<u8>,
}

impl Tail {
    fn push(&mut self, chunk: &[u8]) {
        for byte in chunk {
            if *byte == b'\n' {
                self.close();
            } else if self.open.len() < WIDTH {
                self.open.push(*byte);
            }
        }
    }

    fn close(&mut self) {
        let line = String::from_utf8_lossy(&self.open).trim().to_owned();
        self.open.clear();
        if tells(&line) {
            if self.lines.len() == LINES {
                self.lines.pop_front();
            }
            self.lines.push_back(line);
        }
    }

    fn lines(&self) -> Vec<String> {
        let open = String::from_utf8_lossy(&self.open).trim().to_owned();
        let open = tells(&open).then_some(open);
        self.lines.iter().cloned().chain(open).collect()
    }
}

/// Without a desktop Chromium complains about the message bus a dozen times; it never matters here.
fn tells(line: &str) -> bool {
    !line.is_empty() && !line.contains("ERROR:dbus/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = Tail::default();
        for number in 0..100 {
            tail.push(format!("line {number}\n[1:2:ERROR:dbus/bus.cc:405] no bus\n\n").as_bytes());
        }
        tail.push(b"open");
        let lines = tail.lines();
        assert_eq!(lines.len(), LINES + 1);
        assert_eq!((lines[0].as_str(), lines[LINES].as_str()), ("line 88", "open"));
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut tail = Tail::default();
        tail.push(&[b'x'; 10_000]);
        tail.push("\u{fffd}\n".as_bytes());
        assert_eq!(tail.lines(), ["x".repeat(WIDTH)]);
    }

    #[tokio::test]
    async fn it_reads_to_the_end() {
        let words = LastWords::of(&b"one\ntwo"[..]);
        while !words.complete() {
            tokio::task::yield_now().await;
        }
        assert_eq!(words.lines(), ["one", "two"]);
    }
}
