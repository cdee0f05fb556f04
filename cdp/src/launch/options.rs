//! What a caller may choose about a launch.

use std::path::PathBuf;
use std::time::Duration;

/// How to launch Chromium.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// The program. Without it, [`find_chromium`](super::find_chromium) looks for one.
    pub executable: Option<PathBuf>,
    /// No window. Without it a display is needed.
    pub headless: bool,
    /// Where the browser keeps its data.
    pub profile: Profile,
    /// Run Chromium without its sandbox. As root it runs in no other way, so it must be said.
    pub no_sandbox: bool,
    /// Further flags for Chromium. Those that tabvisor must own are refused by name.
    pub extra_args: Vec<String>,
    /// Where leases and temporary profiles live. Services may share one.
    pub state_dir: PathBuf,
    /// Outer size of a new window: width and height in CSS pixels.
    pub window_size: (u32, u32),
    /// Chromium's own limit of renderers. Past it tabs of one site share a renderer, and its fate.
    pub renderer_process_limit: u32,
    /// How long a stopped browser may take to save its data before it is killed.
    pub stop_grace: Duration,
}

/// Where the browser keeps its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A fresh folder below the state folder, removed when the browser is gone.
    Temporary,
    /// This folder, made if it is missing and never removed. One browser at a time.
    Folder(PathBuf),
}

impl LaunchOptions {
    /// A quiet headless browser with a temporary profile, its traces kept in `state_dir`.
    pub fn new(state_dir: impl Into<PathBuf>) -> Self {
        Self {
            executable: None,
            headless: true,
            profile: Profile::Temporary,
            no_sandbox: false,
            extra_args: Vec::new(),
            state_dir: state_dir.into(),
            window_size: (1280, 720),
            renderer_process_limit: 200,
            stop_grace: Duration::from_secs(5),
        }
    }
}
