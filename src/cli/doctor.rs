//! `doctor`: what a service needs on this machine, and then the real thing: a browser started as
//! `serve` starts it, a tab, an evaluate.

use std::process::ExitCode;

use serde::Serialize;
use tabvisor::config::{Config, Loaded};
use tabvisor::{Error, Tabvisor};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::{Facts, facts};
use tokio::net::TcpListener;

use super::failure::Failure;
use super::output::{self, clean, table};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
struct Check {
    id: &'static str,
    status: Status,
    says: String,
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    checks: &'a [Check],
}

impl Check {
    fn ok(id: &'static str, says: impl Into<String>) -> Self {
        Self { id, status: Status::Ok, says: says.into() }
    }

    fn warn(id: &'static str, says: impl Into<String>) -> Self {
        Self { id, status: Status::Warn, says: says.into() }
    }

    fn fail(id: &'static str, says: impl Into<String>) -> Self {
        Self { id, status: Status::Fail, says: says.into() }
    }
}

pub(super) async fn doctor(loaded: &Loaded, json: bool) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    let mut checks = Vec::new();
    if config.browser.cdp_url.is_none() {
        let budget = Budget::new(config.budgets.start());
        let facts = facts(config.browser.chromium.as_deref(), config.state_folder()?, &budget).await;
        checks.extend(machine(&facts, loaded));
    }
    checks.push(listening(config).await);
    // With a failure above, its text is the better one; but it is for the real thing to tell.
    checks.extend(work(config).await);

    let ok = checks.iter().all(|check| check.status != Status::Fail);
    if json {
        output::line(&serde_json::to_string(&Report { ok, checks: &checks }).unwrap_or_default());
    } else {
        let word = |status| match status {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        };
        let rows: Vec<_> =
            checks.iter().map(|it| [word(it.status).into(), it.id.into(), clean(&it.says)]).collect();
        output::line(&table::<3>(&rows));
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn machine(facts: &Facts, loaded: &Loaded) -> Vec<Check> {
    let browser = &loaded.config.browser;
    let mut checks = vec![match (&facts.chromium, &facts.version) {
        (Some(path), Some(version)) => Check::ok("chromium", format!("{} ({version})", path.display())),
        (Some(path), None) => {
            Check::warn("chromium", format!("{} does not tell its version; is it a browser?", path.display()))
        }
        (None, _) => Check::fail("chromium", facts.chromium_problem.clone().unwrap_or_default()),
    }];
    checks.push(match (browser.no_sandbox, facts.root, facts.user_namespaces) {
        (true, ..) => Check::warn(
            "sandbox",
            format!(
                "off ({}): a page that breaks out of its renderer has this user's rights; run in a container or as a \
                 user of its own",
                loaded.source("browser.no_sandbox")
            ),
        ),
        (false, true, _) => Check::fail(
            "sandbox",
            "chromium has no sandbox as root: run as another user, or say --no-sandbox / TABVISOR_NO_SANDBOX=1",
        ),
        (false, false, Some(false)) => Check::warn(
            "sandbox",
            "unprivileged user namespaces are off, so it works only where chromium-sandbox is installed",
        ),
        (false, false, _) => Check::ok("sandbox", "on"),
    });
    if browser.headed {
        checks.push(if facts.display {
            Check::ok("display", "there is one")
        } else {
            Check::fail(
                "display",
                "none: set DISPLAY or WAYLAND_DISPLAY (xvfb-run gives one), or drop --headed",
            )
        });
    }
    checks.push(match facts.shm_free_bytes {
        _ if facts.shm_is_small => Check::warn(
            "shared memory",
            "little of it is free in /dev/shm, so chromium uses the temporary folder; docker run --shm-size=1g gives more",
        ),
        Some(bytes) => Check::ok("shared memory", format!("{} MiB free in /dev/shm", bytes >> 20)),
        None => Check::warn("shared memory", "there is no /dev/shm"),
    });
    let left = facts.stale_leases.len() + facts.stale_profiles.len();
    checks.push(if left == 0 {
        Check::ok("left-overs", "none")
    } else {
        Check::warn(
            "left-overs",
            format!("{left} of services that are gone; the next `tabvisor serve` clears them"),
        )
    });
    checks
}

async fn listening(config: &Config) -> Check {
    let address = config.server.listen;
    match TcpListener::bind(address).await {
        Ok(_) => Check::ok("port", format!("{address} is free")),
        Err(why) if why.kind() == std::io::ErrorKind::AddrInUse => Check::warn(
            "port",
            format!("{address} is taken; fine if that is the service, else choose another with --listen"),
        ),
        Err(why) => Check::fail("port", format!("{address} cannot be listened on: {why}")),
    }
}

/// The same path as real work.
async fn work(config: &Config) -> Vec<Check> {
    let started = Budget::new(config.budgets.start());
    let tabvisor = match Tabvisor::start(config.clone()).await {
        Ok(tabvisor) => tabvisor,
        Err(why) => return vec![Check::fail("browser", why.to_string())],
    };
    let facts = tabvisor.supervisor().browser(tabvisor.browser());
    let version = facts.map_or_else(String::new, |facts| facts.version.clone());
    let how = if config.browser.cdp_url.is_some() { "attached to" } else { "started" };
    let mut checks =
        vec![Check::ok("browser", format!("{how} {version} in {} ms", started.elapsed().as_millis()))];
    checks.push(match evaluate(&tabvisor).await {
        Ok(says) => Check::ok("evaluate", says),
        Err(why) => Check::fail("evaluate", why.to_string()),
    });
    tabvisor.stop().await;
    checks
}

async fn evaluate(tabvisor: &Tabvisor) -> Result<String, Error> {
    let tab = tabvisor.open("about:blank").await?;
    let budget = Budget::new(std::time::Duration::ZERO);
    let sum: i32 = tab.evaluate("1 + 1").await?.read()?;
    let took = budget.elapsed();
    tab.close().await?;
    Ok(format!("1 + 1 gave {sum} in {took:.1?}"))
}
