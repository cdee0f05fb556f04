//! `tabvisor` as a process: the service and its command line, in a home of their own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::http::Http;
use super::{eventually, processes, secs};
use tabvisor_cdp::budget::Budget;

/// A home for services and callers. Whatever still runs there at its end is killed, also when
/// the test panics.
pub struct Home {
    folder: TempDir,
    /// Variables for every process.
    pub variables: Vec<(&'static str, String)>,
}

/// A command line that has run.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Home {
    pub fn new() -> Self {
        let mut variables = Vec::new();
        // Chromium has no sandbox for root.
        if rustix::process::geteuid().is_root() {
            variables.push(("TABVISOR_NO_SANDBOX", "1".to_owned()));
        }
        Self { folder: TempDir::new().unwrap(), variables }
    }

    pub fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.variables.push((variable, value.to_owned()));
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The state folder of its services.
    pub fn state(&self) -> PathBuf {
        self.path().join(".local/state/tabvisor")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabvisor"));
        command.args(arguments).env_clear().env("HOME", self.path()).stdin(Stdio::null()).kill_on_drop(true);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command line to its end, with a state folder on a disk of its own of that size. `None` where
    /// this user may not make one.
    pub async fn run_on_disk_of(&self, size: &str, arguments: &[&str]) -> Option<Ran> {
        let namespace = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
        let possible =
            Command::new("unshare").args([namespace, "mount", "-t", "tmpfs", "none", "/mnt"]).output();
        if !possible.await.is_ok_and(|it| it.status.success()) {
            return None;
        }
        let state = self.state();
        std::fs::create_dir_all(&state).unwrap();
        let script = "mount -t tmpfs -o size=$0 none \"$1\" && shift && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args([namespace, "sh", "-c", script, size]).arg(state);
        command
            .arg(env!("CARGO_BIN_EXE_tabvisor"))
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command.env("HOME", self.path()).env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Some(ran(within("it ends", command.output()).await.unwrap()))
    }

    /// Runs a command line to its end.
    pub async fn run(&self, arguments: &[&str]) -> Ran {
        ran(within("it ends", self.command(arguments).output()).await.unwrap())
    }

    /// Starts `serve` on a free port and waits until it can work.
    pub async fn serve(&self, arguments: &[&str]) -> Service {
        let ready_file = self.path().join("ready.json");
        let said = self.path().join("said");
        let log = self.path().join("log");
        let ready = ready_file.to_str().unwrap();
        let all = [&["serve", "--listen", "127.0.0.1:0", "--ready-file", ready], arguments].concat();
        let mut command = self.command(&all);
        // In the group of this test, so that whoever ends the test from outside ends it, too.
        command.stdout(File::create(&said).unwrap()).stderr(File::create(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let pid = child.id().unwrap();
        let ready = eventually("the service is ready", || {
            let text = std::fs::read_to_string(&ready_file).ok();
            let ready: Option<Value> = text.map(|text| serde_json::from_str(&text).unwrap());
            // One of an earlier service is removed by this one.
            let ready = ready.filter(|ready| ready["pid"] == pid);
            if let Some(status) = child.try_wait().unwrap() {
                panic!("{status}: {}", std::fs::read_to_string(&log).unwrap());
            }
            async move { ready }
        })
        .await;
        let url = ready["url"].as_str().unwrap();
        let mut http = Http::new(url.strip_prefix("http://").unwrap().parse().unwrap());
        if let Some(file) = ready["tokenFile"].as_str() {
            http.token = Some(std::fs::read_to_string(file).unwrap().trim().to_owned());
        }
        Service { url: url.to_owned(), http, ready, ready_file, pid, said, log, child }
    }

    /// Folders of temporary profiles.
    pub fn profiles(&self) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(self.state().join("profiles"));
        folder.map(|it| it.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
    }

    /// Nothing runs and nothing is left of any browser.
    pub fn assert_nothing_left(&self) {
        processes::assert_none_of(&self.state());
        let leases = std::fs::read_dir(self.state().join("leases")).map(|it| it.flatten().count());
        assert_eq!(leases.unwrap_or(0), 0, "leases are left");
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for pid in processes::naming(self.path()) {
            let _ = kill_process(raw(pid), Signal::KILL);
        }
    }
}

/// A running service; killed when dropped, and its browser with its [`Home`].
pub struct Service {
    pub url: String,
    pub http: Http,
    /// What its ready file says.
    pub ready: Value,
    pub ready_file: PathBuf,
    pub pid: u32,
    said: PathBuf,
    log: PathBuf,
    child: Child,
}

impl Service {
    /// What it printed on standard output.
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    /// What it printed on standard error.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(raw(self.pid), signal).unwrap();
    }

    /// Waits for its end and gives its exit code; `None` where a signal ended it.
    pub async fn ended(&mut self) -> Option<i32> {
        within("the service ends", self.child.wait()).await.unwrap().code()
    }

    /// Ends it as a service manager does.
    pub async fn terminate(&mut self) {
        self.signal(Signal::TERM);
        assert_eq!(self.ended().await, Some(0), "{}", self.log());
    }

    /// The Chromium that it runs now, if it runs one.
    pub fn chromium(&self) -> Option<u32> {
        let of_service = |pid: &u32| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let line = command_line(*pid);
            status.lines().any(|line| line == format!("PPid:\t{}", self.pid))
                && line.contains("--user-data-dir=")
                && !line.contains("--type=")
        };
        processes::naming(self.home()).into_iter().find(of_service)
    }

    fn home(&self) -> &Path {
        self.ready_file.parent().unwrap()
    }
}

fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Empty for a process that is gone.
pub fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn raw(pid: u32) -> Pid {
    Pid::from_raw(pid.try_into().unwrap()).unwrap()
}

/// How often a soak test goes round.
pub fn rounds(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

async fn within<F: Future>(what: &str, future: F) -> F::Output {
    let done = Budget::new(secs(60)).run(future).await;
    done.unwrap_or_else(|_| panic!("not within a minute: {what}"))
}
