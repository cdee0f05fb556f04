//! Looking at processes, as an operator would.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::link::{Delivery, DialOptions, Link, LinkOptions, Purpose};
use url::Url;

/// Ids of living processes (zombies do not count) whose command line names `path`.
pub fn naming(path: &Path) -> Vec<u32> {
    let needle = path.to_str().unwrap().as_bytes().to_vec();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.windows(needle.len()).any(|part| part == needle)
        })
        .filter(|pid| *pid != std::process::id())
        .collect()
}

pub fn assert_none_of(state: &Path) {
    assert_eq!(naming(state), Vec::<u32>::new(), "processes of this browser are left");
    let profiles = state.join("profiles");
    let left: Vec<_> =
        std::fs::read_dir(&profiles).map(|it| it.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    assert!(left.is_empty(), "temporary profiles are left: {left:?}");
}

pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The renderer of a page target: a trace started on its session names the process of each frame.
pub async fn renderer_of(browser: &Url, target: &str) -> u32 {
    let budget = Budget::new(Duration::from_secs(20));
    let dial = DialOptions::default();
    let link = Link::connect(browser, &dial, LinkOptions::new(Purpose::Page), &budget).await.unwrap();
    let session = link.attach(target, &budget).await.unwrap();
    let mut events = session.subscribe(&["Tracing.dataCollected", "Tracing.tracingComplete"], 1024);
    let config = json!({ "traceConfig": { "includedCategories": ["disabled-by-default-devtools.timeline"] }, "transferMode": "ReportEvents" });
    session.call("Tracing.start", config, &budget).await.unwrap();
    session.call("Tracing.end", json!({}), &budget).await.unwrap();
    while let Some(Delivery::Event(event)) = events.next().await {
        let params: Value = serde_json::from_str(event.params.get()).unwrap();
        let found = params["value"].as_array().into_iter().flatten().find_map(|entry| {
            let frames = entry["args"]["data"]["frames"].as_array()?;
            frames.iter().find(|frame| frame["frame"] == target)?["processId"].as_u64()
        });
        if let Some(pid) = found {
            return pid.try_into().unwrap();
        }
    }
    panic!("the trace named no process for {target}");
}

/// How many files a process has open.
pub fn open_files(pid: u32) -> u64 {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count().try_into().unwrap()
}

/// The number that the next file of a process gets. The limit is one of numbers.
pub fn next_file(pid: u32) -> u64 {
    let open: Vec<u64> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    let most = u64::try_from(open.len()).unwrap();
    (0..=most).find(|number| !open.contains(number)).unwrap()
}

/// Up to which number a process may have files open from now on; gives what it was before.
pub fn limit_open_files(pid: u32, current: Option<u64>) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, prlimit};
    let process = rustix::process::Pid::from_raw(pid.try_into().unwrap());
    let mut limit = Rlimit { current, maximum: None };
    // Its hard limit stays what it is.
    limit.maximum = rustix::process::getrlimit(Resource::Nofile).maximum;
    prlimit(process, Resource::Nofile, limit).unwrap().current
}
