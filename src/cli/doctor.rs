//! `doctor`: what a service needs on this machine, and then the real thing: a tab and an evaluate. They go
//! through the service if one answers, else through a browser that is started as `serve` starts it.

use std::process::ExitCode;

use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tabvisor::config::{Config, Loaded};
use tabvisor::{Error, Tabvisor};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::launch::{Facts, facts};
use tokio::net::TcpListener;

use super::browsers::text;
use super::client::{Client, evaluate_body};
use super::failure::Failure;
use super::flags::Common;
use super::output::{self, clean, table};
use super::verbs::read;

/// How long a service may take for what it knows already.
const KNOWN: std::time::Duration = std::time::Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Info,
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

    fn info(id: &'static str, says: impl Into<String>) -> Self {
        Self { id, status: Status::Info, says: says.into() }
    }

    fn warn(id: &'static str, says: impl Into<String>) -> Self {
        Self { id, status: Status::Warn, says: says.into() }
    }

    fn fail(id: &'static str, says: impl Into<String>) -> Self {
        Self { id, status: Status::Fail, says: says.into() }
    }
}

pub(super) async fn doctor(common: &Common, loaded: &Loaded) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    let mut checks = Vec::new();
    if config.browser.cdp_url.is_none() {
        let budget = Budget::new(config.budgets.start());
        let facts = facts(config.browser.chromium.as_deref(), config.state_folder()?, &budget).await;
        checks.extend(machine(&facts, loaded));
    }
    let client = Client::new(common, loaded)?;
    // With a failure above, its text is the better one; but it is for the real thing to tell.
    match client.get(&["healthz"], &[], KNOWN).await {
        Ok(_) => checks.extend(of_service(&client, config).await),
        Err(why) => {
            checks.push(Check::info("service", why.text()));
            checks.push(listening(config).await);
            checks.extend(work(config).await);
        }
    }

    let ok = checks.iter().all(|check| check.status != Status::Fail);
    if common.json {
        output::line(&serde_json::to_string(&Report { ok, checks: &checks }).unwrap_or_default());
    } else {
        let word = |status| match status {
            Status::Ok => "ok",
            Status::Info => "info",
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

/// What the service says of itself, and real work that it does.
async fn of_service(client: &Client, config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    let deep = [("deep", "true".to_owned())];
    match client.get(&["doctor"], &deep, config.budgets.action()).await.and_then(|text| read::<Value>(&text))
    {
        Ok(told) => checks.extend(told["checks"].as_array().into_iter().flatten().map(check_of_service)),
        Err(why) => checks.push(Check::fail("service", why.text())),
    }
    checks.push(match work_of_service(client, config).await {
        Ok(says) => Check::ok("evaluate", says),
        Err(why) => Check::fail("evaluate", why.text()),
    });
    checks
}

fn check_of_service(check: &Value) -> Check {
    let status = match check["status"].as_str() {
        Some("pass") => Status::Ok,
        Some("info") => Status::Info,
        Some("warn") => Status::Warn,
        _ => Status::Fail,
    };
    let hint = check["fixHint"].as_str().map_or_else(String::new, |hint| format!("; {hint}"));
    let says = format!("{}: {}{hint}", text(check, "label"), text(check, "summary"));
    Check { id: "service", status, says }
}

async fn work_of_service(client: &Client, config: &Config) -> Result<String, Failure> {
    let opening = client.call(
        Method::POST,
        &["tabs", "open"],
        Some(json!({ "url": "about:blank" })),
        config.limits.max_budget(),
    );
    let opened: Value = read(&opening.await?)?;
    let tab = text(&opened, "targetId");
    let budget = Budget::new(config.budgets.evaluate());
    let body = evaluate_body("1 + 1", None, Some(&tab), None);
    let evaluated = client.call(Method::POST, &["act"], Some(body), config.budgets.evaluate()).await;
    let took = budget.elapsed();
    client.call(Method::DELETE, &["tabs", &tab], None, config.budgets.action()).await?;
    let sum = text(&read(&evaluated?)?, "result");
    Ok(format!("through the service, 1 + 1 gave {sum} in {took:.1?}"))
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
