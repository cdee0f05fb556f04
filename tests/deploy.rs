//! What a service manager is told, and the files in `deploy/`, as far as they can be checked without a cluster.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use crate::support;

use std::os::unix::net::UnixDatagram as Plain;
use std::path::{Path, PathBuf};

use rustix::process::{Signal, kill_process};
use support::eventually;
use support::service::{Home, raw};
use support::{ms, secs};
use tabvisor_cdp::budget::Budget;
use tokio::net::UnixDatagram;
use yaml_rust2::{Yaml, YamlLoader};

/// How long the manager would wait, and more than the time between two proofs.
const ALLOWED_US: u64 = 3_000_000;
const SILENCE: std::time::Duration = secs(4);

/// A service manager that listens.
struct Manager(UnixDatagram);

impl Manager {
    async fn next(&self, within: std::time::Duration) -> Option<String> {
        let mut text = [0; 1024];
        let read = Budget::new(within).run(self.0.recv(&mut text)).await.ok()?.unwrap();
        Some(String::from_utf8(text[..read].to_vec()).unwrap())
    }

    async fn until(&self, wanted: &str) {
        loop {
            let said = self.next(secs(60)).await.unwrap_or_else(|| panic!("never {wanted}"));
            if said.lines().any(|line| line == wanted) {
                return;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_manager_is_told_that_it_works_only_while_it_does() {
    let home = Home::new();
    let path = home.path().join("notify");
    let socket = Plain::bind(&path).unwrap();
    socket.set_nonblocking(true).unwrap();
    let manager = Manager(UnixDatagram::from_std(socket).unwrap());
    let home =
        home.with("NOTIFY_SOCKET", path.to_str().unwrap()).with("WATCHDOG_USEC", &ALLOWED_US.to_string());
    let mut service = home.serve(&[]).await;
    assert_eq!(manager.next(secs(60)).await.as_deref().map(str::trim), Some("READY=1"));
    manager.until("WATCHDOG=1").await;
    manager.until("WATCHDOG=1").await;

    // A browser that hangs is what a caller would wait for in vain.
    let chromium = raw(service.chromium().unwrap());
    kill_process(chromium, Signal::STOP).unwrap();
    eventually("nothing is told while the browser keeps silent", || async {
        manager.next(SILENCE).await.is_none().then_some(())
    })
    .await;
    assert_eq!(service.http.get("/readyz?timeoutMs=500").await["ready"], false);
    kill_process(chromium, Signal::CONT).unwrap();
    manager.until("WATCHDOG=1").await;

    // Stopped because somebody wanted it so: that is no failure.
    assert_eq!(service.http.send("POST /stop", "{}").await["stopped"], true);
    while manager.next(ms(1)).await.is_some() {}
    manager.until("WATCHDOG=1").await;
    service.signal(Signal::TERM);
    manager.until("STOPPING=1").await;
    assert_eq!(service.ended().await, Some(0), "{}", service.log());
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

fn documents(name: &str) -> Vec<Yaml> {
    YamlLoader::load_from_str(&std::fs::read_to_string(file(name)).unwrap()).unwrap()
}

#[test]
fn the_manifests_fit_together() {
    let documents = [documents("kubernetes/tabvisor.yaml"), documents("kubernetes/podmonitor.yaml")].concat();
    let of_kind = |kind: &str| documents.iter().find(|it| it["kind"].as_str() == Some(kind)).unwrap();
    let (deployment, service, monitor) = (of_kind("Deployment"), of_kind("Service"), of_kind("PodMonitor"));
    let template = &deployment["spec"]["template"];
    let labels = &template["metadata"]["labels"];
    assert!(labels.as_hash().is_some_and(|it| !it.is_empty()));
    assert_eq!(labels, &deployment["spec"]["selector"]["matchLabels"]);
    assert_eq!(labels, &service["spec"]["selector"]);
    assert_eq!(labels, &monitor["spec"]["selector"]["matchLabels"]);

    let container = &template["spec"]["containers"][0];
    let port = &container["ports"][0];
    assert_eq!(port["name"].as_str(), Some("http"));
    assert_eq!(service["spec"]["ports"][0]["targetPort"], port["name"]);
    assert_eq!(monitor["spec"]["podMetricsEndpoints"][0]["port"], port["name"]);
    assert_eq!(monitor["spec"]["podMetricsEndpoints"][0]["path"].as_str(), Some("/metrics"));
    for (probe, path) in
        [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]
    {
        let script = container[probe]["exec"]["command"][2].as_str().unwrap();
        let address = format!("http://127.0.0.1:{}{path}", port["containerPort"].as_i64().unwrap());
        assert!(script.contains(&address), "{probe}: {script}");
        assert!(container[probe]["timeoutSeconds"].as_i64().is_some(), "{probe}");
    }
    assert!(container["resources"]["limits"]["memory"].as_str().is_some());
    assert_eq!(container["securityContext"]["allowPrivilegeEscalation"].as_bool(), Some(false));
    assert_eq!(template["spec"]["securityContext"]["runAsNonRoot"].as_bool(), Some(true));

    let volumes = template["spec"]["volumes"].as_vec().unwrap();
    for mount in container["volumeMounts"].as_vec().unwrap() {
        assert!(volumes.iter().any(|it| it["name"] == mount["name"]), "{mount:?}");
    }
    let shared = container["volumeMounts"].as_vec().unwrap();
    let shared = shared.iter().find(|it| it["mountPath"].as_str() == Some("/dev/shm")).unwrap();
    let shared = volumes.iter().find(|it| it["name"] == shared["name"]).unwrap();
    assert_eq!(shared["emptyDir"]["medium"].as_str(), Some("Memory"));
}

/// The settings in the files are those of the program: `config` refuses what it does not know.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_settings_in_the_files_are_known() {
    let mut home = Home::new();
    let documents = documents("kubernetes/tabvisor.yaml");
    for variable in documents[0]["spec"]["template"]["spec"]["containers"][0]["env"].as_vec().unwrap() {
        let name: &'static str = variable["name"].as_str().unwrap().to_owned().leak();
        home = home.with(name, variable["value"].as_str().unwrap_or("a-token"));
    }
    let image = std::fs::read_to_string(file("Dockerfile")).unwrap();
    let unit = std::fs::read_to_string(file("tabvisor.service")).unwrap();
    let words = image.split_whitespace().chain(unit.split_whitespace());
    for word in words.map(|word| word.trim_start_matches("Environment=")) {
        let Some((name, value)) = word.split_once('=') else { continue };
        if name.starts_with("TABVISOR_") && !word.contains("...") {
            home = home.with(name.to_owned().leak(), value);
        }
    }
    let config = home.run(&["config", "--json"]).await;
    assert_eq!(config.code, 0, "{config:?}");
    assert!(config.out.contains("0.0.0.0:9377") && config.out.contains("/var/lib/tabvisor"), "{config:?}");
    assert!(image.contains("\nUSER 10001:10001\n") && image.contains("chromium-sandbox"), "{image}");
    for line in ["Type=notify", "NoNewPrivileges=yes", "ProtectSystem=strict", "DynamicUser=yes"] {
        assert!(unit.lines().any(|it| it == line), "{line}");
    }
}

/// By systemd itself, where it is installed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn systemd_takes_the_unit() {
    let folder = tempfile::TempDir::new().unwrap();
    let unit = std::fs::read_to_string(file("tabvisor.service")).unwrap();
    let lines: Vec<_> = unit.lines().filter(|line| !line.starts_with("Documentation=")).collect();
    let unit = lines.join("\n").replace("/usr/local/bin/tabvisor", env!("CARGO_BIN_EXE_tabvisor"));
    let path = folder.path().join("tabvisor.service");
    std::fs::write(&path, unit).unwrap();
    let verify =
        |path: PathBuf| tokio::process::Command::new("systemd-analyze").arg("verify").arg(path).output();
    let Ok(verified) = verify(path.clone()).await else { return };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.success() && !said.contains("tabvisor.service"), "{said}");
    // It says so where something is wrong.
    std::fs::write(&path, "[Service]\nExecStart=/bin/true\nProtectSytem=strict\n").unwrap();
    let verified = verify(path).await.unwrap();
    assert!(String::from_utf8_lossy(&verified.stderr).contains("ProtectSytem"), "{verified:?}");
}
