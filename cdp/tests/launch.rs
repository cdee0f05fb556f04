//! Launching the real Chromium, and leaving nothing of it, on every way out.

#![expect(clippy::unwrap_used, reason = "a test may")]

#[path = "launch/support.rs"]
mod support;

use std::os::unix::fs::symlink;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::json;
use support::{
    Ground, ask, budget, cookies, eventually, in_group, mode, names, options, rounds, running, set_cookie,
    socket_folder, within,
};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::{
    Exit, LaunchError, LaunchOptions, Profile, Reaped, adopt_orphans, facts, launch, reap,
};

fn raw(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

#[tokio::test]
async fn launched_and_stopped_again_and_again_nothing_is_left() {
    let ground = Ground::new();
    for round in 0..rounds("TABVISOR_SOAK_LAUNCHES", 10) {
        let chromium = ground.launch().await;
        let (pid, sockets) = (chromium.pid(), socket_folder(chromium.profile()));
        assert!(chromium.profile().starts_with(ground.state()));
        if round % 2 == 0 {
            ask(&chromium, "Target.createTarget", json!({"url": "about:blank"})).await;
        }
        let stopped = chromium.stop().await;
        assert_eq!((stopped.exit, stopped.forced), (Exit::Code(0), false));
        assert_eq!(running(&ground.state(), Some(pid)), Vec::<String>::new(), "round {round}");
        assert!(!sockets.exists());
        ground.assert_empty();
        // The browser's children are process 1's by now, to collect when it likes.
        eventually("no zombies", || in_group(pid).is_empty()).await;
    }
}

#[tokio::test]
async fn a_dropped_browser_is_gone_at_once() {
    let ground = Ground::new();
    let chromium = ground.launch().await;
    let (pid, sockets) = (chromium.pid(), socket_folder(chromium.profile()));
    ask(&chromium, "Target.createTarget", json!({"url": "about:blank"})).await;
    drop(chromium);
    assert_eq!(running(&ground.state(), Some(pid)), Vec::<String>::new());
    assert!(!sockets.exists());
    ground.assert_empty();
}

#[test]
fn a_browser_that_outlives_its_runtime_is_gone_when_dropped() {
    let ground = Ground::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let chromium = runtime.block_on(ground.launch());
    drop(runtime);
    let pid = chromium.pid();
    drop(chromium);
    assert_eq!(running(&ground.state(), Some(pid)), Vec::<String>::new());
    ground.assert_empty();
}

#[tokio::test]
async fn a_launch_that_nobody_waits_for_any_more_leaves_nothing() {
    let ground = Ground::new();
    let (options, budget) = (ground.options(), budget());
    let mut launching = Box::pin(launch(&options, &budget));
    tokio::select! {
        launched = &mut launching => drop(launched.unwrap()),
        () = eventually("it has started", || !running(&ground.state(), None).is_empty()) => drop(launching),
    }
    ground.assert_empty();
    let cancelled = Budget::new(Duration::from_mins(1));
    cancelled.cancel();
    assert_eq!(launch(&options, &cancelled).await.unwrap_err().kind(), "cancelled");
    ground.assert_empty();
}

#[tokio::test]
async fn a_killed_browser_is_noticed_by_everybody_who_waits() {
    let ground = Ground::new();
    let chromium = ground.launch().await;
    let (one, other) = (chromium.exited(), chromium.exited());
    kill_process(raw(chromium.pid()), Signal::KILL).unwrap();
    let both = within("the end is noticed", async { tokio::join!(one, other) }).await;
    assert_eq!(both, (Exit::Signal(9), Exit::Signal(9)));
    assert_eq!(chromium.exited().await, Exit::Signal(9));
    assert_eq!(chromium.stop().await.exit, Exit::Signal(9));
    ground.assert_empty();
}

#[tokio::test]
async fn a_browser_that_will_not_stop_is_killed() {
    let ground = Ground::new();
    let chromium = ground.launch().await;
    kill_process_group(raw(chromium.pid()), Signal::STOP).unwrap();
    let stopped = chromium.stop_within(Duration::from_millis(50)).await;
    assert_eq!((stopped.exit, stopped.forced), (Exit::Signal(9), true));
    ground.assert_empty();
}

#[tokio::test]
async fn what_a_killed_service_left_is_ended_by_the_next() {
    let ground = Ground::new();
    let beside = ground.launch().await;
    for round in 0..rounds("TABVISOR_SOAK_KILLS", 3) {
        let mut service = ground.service(None).await;
        let sockets = socket_folder(&service.profile);
        let stuck = round % 2 == 0;
        if stuck {
            kill_process_group(raw(service.pid), Signal::STOP).unwrap();
        }
        service.kill().await;
        if !stuck {
            let gone = || running(&service.profile, Some(service.pid)).is_empty();
            eventually("the browser sees its pipe close and ends", gone).await;
        }
        let reaped = reap(&ground.state()).await;
        assert_eq!(reaped.ended.contains(&service.pid), stuck, "{reaped:?}");
        assert_eq!(reaped.removed, [service.profile.as_path()]);
        assert_eq!(running(&service.profile, Some(service.pid)), Vec::<String>::new());
        assert!(!service.profile.exists() && !sockets.exists());
        assert_eq!(
            reap(&ground.state()).await,
            Reaped::default(),
            "nothing is left, and the living is left alone"
        );
    }
    ask(&beside, "Browser.getVersion", json!({})).await;
    beside.stop().await;
    ground.assert_empty();
}

#[tokio::test]
async fn a_given_folder_survives_the_killing_of_its_service() {
    let ground = Ground::new();
    let folder = ground.beside("given");
    let mut service = ground.service(Some(&folder)).await;
    kill_process_group(raw(service.pid), Signal::STOP).unwrap();
    service.kill().await;
    let reaped = reap(&ground.state()).await;
    assert!(reaped.ended.contains(&service.pid) && reaped.removed.is_empty(), "{reaped:?}");
    assert!(folder.join("Default").exists());
    launch(&ground.on_folder(&folder), &budget()).await.unwrap().stop().await;
    ground.assert_empty();
}

#[tokio::test]
async fn services_side_by_side_do_not_harm_each_other() {
    let ground = Ground::new();
    let launch_and_reap = || async {
        let state = ground.state();
        let (chromium, reaped) = tokio::join!(ground.launch(), reap(&state));
        assert_eq!(reaped, Reaped::default());
        chromium
    };
    let all = tokio::join!(launch_and_reap(), launch_and_reap(), launch_and_reap());
    assert_eq!(reap(&ground.state()).await, Reaped::default());
    for chromium in [all.0, all.1, all.2] {
        ask(&chromium, "Browser.getVersion", json!({})).await;
        chromium.stop().await;
    }
    ground.assert_empty();
}

#[tokio::test]
async fn a_given_folder_keeps_its_data_and_has_one_browser_at_a_time() {
    let ground = Ground::new();
    let folder = ground.beside("a folder with blanks");
    std::fs::create_dir(&folder).unwrap();
    let stale = "1\n/devtools/browser/00000000-0000-0000-0000-000000000000";
    std::fs::write(folder.join("DevToolsActivePort"), stale).unwrap();
    let first = launch(&ground.on_folder(&folder), &budget()).await.unwrap();
    set_cookie(&first).await;
    let second = LaunchOptions { state_dir: ground.beside("other state"), ..ground.on_folder(&folder) };
    let why = launch(&second, &budget()).await.unwrap_err();
    assert_eq!(why, LaunchError::ProfileInUse { folder: folder.clone(), pid: Some(first.pid()) });
    assert_eq!(cookies(&first).await, 1, "the first is unharmed");
    assert!(!first.stop().await.forced);
    let again = launch(&second, &budget()).await.unwrap();
    assert_eq!(cookies(&again).await, 1, "a stopped browser has saved its data");
    drop(again);
    assert!(folder.join("Default").exists());
    assert!(names(&folder).iter().all(|name| !name.starts_with("Singleton") && name != "DevToolsActivePort"));
    ground.assert_empty();
}

#[tokio::test]
async fn a_browser_that_somebody_else_started_keeps_its_folder() {
    let ground = Ground::new();
    let folder = ground.beside("theirs");
    let data = format!("--user-data-dir={}", folder.display());
    let program = tabvisor_cdp::launch::find_chromium(None).unwrap();
    let mut theirs = tokio::process::Command::new(program)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-crash-reporter",
            "--remote-debugging-port=0",
            &data,
        ])
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    eventually("it has its lock", || folder.join("DevToolsActivePort").exists()).await;
    let why = launch(&ground.on_folder(&folder), &budget()).await.unwrap_err();
    assert_eq!(why, LaunchError::ProfileInUse { folder: folder.clone(), pid: theirs.id() });
    assert!(folder.join("SingletonLock").is_symlink() && folder.join("DevToolsActivePort").exists());
    let sockets = socket_folder(&folder);
    theirs.kill().await.unwrap();
    assert!(folder.join("SingletonLock").is_symlink(), "the lock of the dead");
    launch(&ground.on_folder(&folder), &budget()).await.unwrap().stop().await;
    assert!(!sockets.exists());
    ground.assert_empty();
}

#[tokio::test]
async fn a_stale_lock_is_removed_and_a_foreign_one_is_not() {
    let ground = Ground::new();
    let folder = ground.beside("locked");
    std::fs::create_dir(&folder).unwrap();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let mut dead = tokio::process::Command::new("true").spawn().unwrap();
    let dead_pid = dead.id().unwrap();
    dead.wait().await.unwrap();
    // A process that is gone, and one that lives but is no browser.
    for pid in [dead_pid, std::process::id()] {
        symlink(format!("{}-{pid}", host.trim()), folder.join("SingletonLock")).unwrap();
        launch(&ground.on_folder(&folder), &budget()).await.unwrap().stop().await;
    }
    symlink("some-other-host-1", folder.join("SingletonLock")).unwrap();
    let why = launch(&ground.on_folder(&folder), &budget()).await.unwrap_err();
    assert_eq!(why.kind(), "profile_on_other_host");
    assert!(why.to_string().contains("host \"some-other-host\": stop it there"), "{why}");
    assert!(folder.join("SingletonLock").is_symlink());
    ground.assert_empty();
}

#[tokio::test]
async fn a_wrong_executable_is_named() {
    let ground = Ground::new();
    let missing = ground.beside("missing");
    let options = LaunchOptions { executable: Some(missing.clone()), ..ground.options() };
    let why = launch(&options, &budget()).await.unwrap_err().to_string();
    assert_eq!(why, format!("{} (from --chromium) cannot be run: no such file", missing.display()));
    let why = ground.fails_with("", &budget()).await;
    assert_eq!(why.kind(), "exited_early");
    let no_program = ground.beside("no program");
    let write = "printf '#!/no/such/interpreter' > \"$1\" && chmod 755 \"$1\"";
    let args = ["-c", write, "sh", no_program.to_str().unwrap()];
    assert!(tokio::process::Command::new("/bin/sh").args(args).status().await.unwrap().success());
    let options = LaunchOptions { executable: Some(no_program), ..ground.options() };
    assert_eq!(launch(&options, &budget()).await.unwrap_err().kind(), "spawn_failed");
    ground.assert_empty();
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_quoted() {
    let ground = Ground::new();
    let why = ground.fails_with("echo boom >&2; echo bang >&2; sleep 1000 & exit 3", &budget()).await;
    assert_eq!(
        why.to_string(),
        "chromium ended before it opened its DevTools port (exit status 3); it said: boom | bang"
    );
    let why = ground.fails_with("echo 'x] No usable sandbox! If this' >&2; exit 1", &budget()).await;
    assert_eq!(why, LaunchError::NoUsableSandbox);
    ground.assert_empty();
}

#[tokio::test]
async fn a_program_that_never_opens_a_port_spends_the_budget_and_no_more() {
    let ground = Ground::new();
    let script = "trap '' TERM; echo still starting >&2; sleep 1000 & echo $$ > \"${0%/*}/pid\"; sleep 1000";
    let why = ground.fails_with(script, &Budget::new(Duration::from_secs(2))).await;
    assert_eq!(why.kind(), "budget_exceeded");
    let text = why.to_string();
    assert!(text.starts_with("chromium opened no DevTools port: budget of 2000 ms spent"), "{text}");
    assert!(text.ends_with("it said: still starting"), "{text}");
    let group = std::fs::read_to_string(ground.beside("pid")).unwrap().trim().parse().unwrap();
    assert_eq!(running(&ground.state(), Some(group)), Vec::<String>::new());
    ground.assert_empty();
}

#[tokio::test]
async fn root_without_a_word_about_the_sandbox_is_told_at_once() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let ground = Ground::new();
    let options = LaunchOptions { no_sandbox: false, ..ground.options() };
    assert_eq!(launch(&options, &budget()).await.unwrap_err(), LaunchError::RootNeedsNoSandbox);
    assert!(!ground.state().exists(), "nothing was touched");
}

#[tokio::test]
async fn the_facts_name_the_browser_and_what_was_left() {
    let ground = Ground::new();
    let mut service = ground.service(None).await;
    let living = facts(None, &ground.state(), &budget()).await;
    assert!(living.version.unwrap().contains('.') && living.chromium_problem.is_none());
    assert!(living.stale_leases.is_empty() && living.stale_profiles.is_empty());
    service.kill().await;
    let dead = facts(Some(&ground.beside("missing")), &ground.state(), &budget()).await;
    assert_eq!(dead.stale_leases, [service.profile.as_path()]);
    assert!(dead.version.is_none() && dead.chromium_problem.unwrap().contains("no such file"));
    assert!(service.profile.exists(), "looking changes nothing");
    reap(&ground.state()).await;
    ground.assert_empty();
}

#[tokio::test]
async fn a_service_that_adopts_orphans_leaves_not_even_zombies_and_heeds_no_proxy() {
    let ground = Ground::new();
    let mut service = ground.test_process("adopt");
    for variable in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        service.env(variable, "http://127.0.0.1:9");
    }
    let done = within("the service is done", service.output()).await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    ground.assert_empty();
}

/// Not a test: what the tests above start as a process of its own.
#[tokio::test]
#[ignore = "started by other tests"]
async fn a_process_of_its_own() {
    let Some((mode, root)) = mode() else { return };
    let mut options = options(&root.join("state"));
    if let Some(folder) = std::env::var_os("LAUNCH_TEST_FOLDER") {
        options.profile = Profile::Folder(folder.into());
    }
    if mode == "adopt" {
        adopt_orphans().unwrap();
    }
    let chromium = launch(&options, &budget()).await.unwrap();
    let pid = chromium.pid();
    ask(&chromium, "Target.createTarget", json!({"url": "about:blank"})).await;
    if mode == "adopt" {
        chromium.stop().await;
        assert_eq!(in_group(pid), [0; 0]);
        let chromium = launch(&options, &budget()).await.unwrap();
        let pid = chromium.pid();
        drop(chromium);
        assert_eq!(in_group(pid), [0; 0]);
        return;
    }
    let ready = json!({"pid": pid, "profile": chromium.profile()}).to_string();
    std::fs::write(root.join("ready.new"), ready).unwrap();
    std::fs::rename(root.join("ready.new"), root.join("ready.json")).unwrap();
    std::future::pending::<()>().await;
}
