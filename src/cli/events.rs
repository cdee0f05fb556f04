//! `events`: what happens, a line each.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::process::ExitCode;

use serde_json::Value;

use super::client::Client;
use super::failure::Failure;
use super::flags::Common;
use super::output::{self, clean};

/// Until the service ends the stream, or enough was seen.
pub(super) async fn events(
    common: &Common,
    client: &Client,
    count: Option<NonZeroU32>,
) -> Result<ExitCode, Failure> {
    let mut stream = client.stream(&["events"]).await?;
    let mut lines = Lines::default();
    let mut left = count.map(NonZeroU32::get);
    while let Some(bytes) = stream.next().await? {
        for data in lines.take(&bytes) {
            output::line(&if common.json { data } else { clean(&told(&data)) });
            left = left.map(|left| left - 1);
            if left == Some(0) {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The data of server-sent events; each is one line. Pure.
#[derive(Default)]
struct Lines {
    unfinished: Vec<u8>,
}

impl Lines {
    /// What is whole with these bytes.
    fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.unfinished.extend_from_slice(bytes);
        let Some(end) = self.unfinished.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let whole: Vec<u8> = self.unfinished.drain(..=end).collect();
        let text = String::from_utf8_lossy(&whole);
        text.lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|data| data.trim().to_owned())
            .collect()
    }
}

/// An event in words: its number, its name, then what it says.
fn told(data: &str) -> String {
    let Ok(Value::Object(mut members)) = serde_json::from_str(data) else { return data.to_owned() };
    if let Some(missed) = members.get("missed") {
        return format!("- {missed} events were missed");
    }
    let number = members.remove("seq").unwrap_or_default();
    let name = members.remove("event").unwrap_or_default();
    let mut line = format!("{number} {}", name.as_str().unwrap_or("?"));
    for (member, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = write!(line, " {member}={value}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_they_are_cut() {
        let all = b": still here\n\nid: 1\nevent: a\ndata: {\"seq\":1,\"event\":\"a\",\"tab\":\"t1\",\"x\":null}\n\nevent: \
            lagged\ndata: {\"missed\":3}\n\n";
        for step in 1..=all.len() {
            let mut lines = Lines::default();
            let read: Vec<_> = all.chunks(step).flat_map(|part| lines.take(part)).collect();
            let told: Vec<_> = read.iter().map(|data| told(data)).collect();
            assert_eq!(told, ["1 a tab=t1", "- 3 events were missed"], "{step}");
        }
    }
}
