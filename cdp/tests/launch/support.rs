//! A place of its own for every test, eyes on the process table, and a service to kill.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::{Chromium, LaunchError, LaunchOptions, Profile, launch};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_tungstenite::tungstenite::Message;

const MODE: &str = "LAUNCH_TEST_SERVICE";
const ROOT: &str = "LAUNCH_TEST_ROOT";

/// A state folder that nobody else uses, and room beside it.
pub(crate) struct Ground(tempfile::TempDir);

impl Ground {
    pub(crate) fn new() -> Self {
        Self(tempfile::Builder::new().prefix("launch-").tempdir().unwrap())
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.0.path().join("state")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn options(&self) -> LaunchOptions {
        options(&self.state())
    }

    pub(crate) fn on_folder(&self, folder: &Path) -> LaunchOptions {
        LaunchOptions { profile: Profile::Folder(folder.to_owned()), ..self.options() }
    }

    pub(crate) async fn launch(&self) -> Chromium {
        launch(&self.options(), &budget()).await.unwrap()
    }

    /// A shell script as the executable. A shell writes it: were it open for writing in this
    /// process, another test's fork could hold it open just when it is to be run.
    pub(crate) async fn fails_with(&self, script: &str, budget: &Budget) -> LaunchError {
        let program = self.beside("program");
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let args = ["-c", write, "sh", script, program.to_str().unwrap()];
        assert!(Command::new("/bin/sh").args(args).status().await.unwrap().success());
        let options = LaunchOptions { executable: Some(program), ..self.options() };
        launch(&options, budget).await.unwrap_err()
    }

    /// A service of its own, that holds a browser until it is killed.
    pub(crate) async fn service(&self, folder: Option<&Path>) -> Service {
        let ready = self.beside("ready.json");
        std::fs::remove_file(&ready).ok();
        let mut command = self.test_process("hold");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(folder) = folder {
            command.env("LAUNCH_TEST_FOLDER", folder);
        }
        let owner = command.spawn().unwrap();
        eventually("the service is ready", || ready.exists()).await;
        let said: Value = serde_json::from_slice(&std::fs::read(&ready).unwrap()).unwrap();
        let pid = u32::try_from(said["pid"].as_u64().unwrap()).unwrap();
        Service { owner, pid, profile: said["profile"].as_str().unwrap().into() }
    }

    /// This test program again, as a process of its own that does `mode`.
    pub(crate) fn test_process(&self, mode: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_process_of_its_own", "--ignored", "--nocapture"]);
        command.env(MODE, mode).env(ROOT, self.0.path()).kill_on_drop(true);
        command
    }

    /// Nothing of ours runs and nothing is left in the state folder.
    pub(crate) fn assert_empty(&self) {
        assert_eq!(running(&self.state(), None), Vec::<String>::new());
        for folder in ["leases", "profiles"] {
            assert_eq!(names(&self.state().join(folder)), Vec::<String>::new(), "{folder}");
        }
    }
}

/// A service in a process of its own, and its browser.
pub(crate) struct Service {
    owner: Child,
    pub(crate) pid: u32,
    pub(crate) profile: PathBuf,
}

impl Service {
    pub(crate) async fn kill(&mut self) {
        self.owner.kill().await.unwrap();
    }
}

pub(crate) fn options(state: &Path) -> LaunchOptions {
    let mut options = LaunchOptions::new(state);
    options.no_sandbox =
        rustix::process::geteuid().is_root() || std::env::var_os("TABVISOR_NO_SANDBOX").is_some();
    options.stop_grace = Duration::from_mins(1);
    options
}

pub(crate) fn budget() -> Budget {
    Budget::new(Duration::from_mins(1))
}

/// What this program does when it is started by [`Ground::test_process`].
pub(crate) fn mode() -> Option<(String, PathBuf)> {
    Some((std::env::var(MODE).ok()?, std::env::var_os(ROOT)?.into()))
}

/// How often a soak test goes round.
pub(crate) fn rounds(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

pub(crate) async fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let wait = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within(what, wait).await;
}

pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    let Ok(done) = tokio::time::timeout(Duration::from_mins(1), future).await else {
        panic!("never: {what}")
    };
    done
}

/// The processes, zombies apart, that name `state` on their command line or belong to `group`.
pub(crate) fn running(state: &Path, group: Option<u32>) -> Vec<String> {
    let state = state.to_str().unwrap();
    let table = process_table().into_iter().filter(|(_, zombie, in_group, command)| {
        !zombie && (command.contains(state) || Some(*in_group) == group)
    });
    table.map(|(pid, _, _, command)| format!("{pid} {command}")).collect()
}

/// Everything in this group, zombies too.
pub(crate) fn in_group(group: u32) -> Vec<u32> {
    process_table().into_iter().filter(|(_, _, its, _)| *its == group).map(|(pid, ..)| pid).collect()
}

fn process_table() -> Vec<(u32, bool, u32, String)> {
    let read = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some((pid, fields[0] == "Z", fields[2].parse().ok()?, String::from_utf8_lossy(&command).into_owned()))
    };
    names(Path::new("/proc")).iter().filter_map(|name| read(name.parse().ok()?)).collect()
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// One browser-level CDP call on a connection of its own.
pub(crate) async fn ask(chromium: &Chromium, method: &str, params: Value) -> Value {
    let address = chromium.address();
    let stream = TcpStream::connect(("127.0.0.1", address.port().unwrap())).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(address.as_str(), stream).await.unwrap();
    let call = json!({"id": 1, "method": method, "params": params}).to_string();
    socket.send(Message::text(call)).await.unwrap();
    loop {
        let message = within(method, socket.next()).await.unwrap().unwrap();
        let reply: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        if reply["id"] == 1 {
            return reply["result"].clone();
        }
    }
}

pub(crate) async fn set_cookie(chromium: &Chromium) {
    let year_2100 = 4_102_444_800_u64;
    let cookie =
        json!({"name": "kept", "value": "1", "domain": "example.org", "path": "/", "expires": year_2100});
    ask(chromium, "Storage.setCookies", json!({"cookies": [cookie]})).await;
}

pub(crate) async fn cookies(chromium: &Chromium) -> usize {
    ask(chromium, "Storage.getCookies", json!({})).await["cookies"].as_array().unwrap().len()
}

/// The folder outside of the profile in which Chromium keeps its socket.
pub(crate) fn socket_folder(profile: &Path) -> PathBuf {
    std::fs::read_link(profile.join("SingletonSocket")).unwrap().parent().unwrap().to_owned()
}
