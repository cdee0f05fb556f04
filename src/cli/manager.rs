//! What a service manager is told, where one has started us (`NOTIFY_SOCKET`): that we can work, that we still do,
//! and that we stop.
//!
//! "Still" is proved as a caller would see it: by a request to our own address, which goes through the server, the
//! access checks and a new link to the browser. A browser that was stopped or is being restarted is no failure of ours;
//! one that keeps silent is, and a manager that hears nothing for long enough starts us anew.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sd_notify::NotifyState;
use serde_json::Value;
use tabvisor::config::Secret;
use tabvisor_cdp::task::{self, Task};

/// Within the time that the manager allows there is room for so many proofs.
const PROOFS: u32 = 3;
/// Reasons of `/readyz` that nobody but a new start may help.
const NO_WORK: [&str; 2] = ["browser_silent", "browser_unavailable"];

/// We can work.
pub(super) fn ready() {
    tell(NotifyState::Ready);
}

/// We stop.
pub(super) fn stopping() {
    tell(NotifyState::Stopping);
}

fn tell(state: NotifyState<'_>) {
    // Without a manager there is nobody to tell, which is no error.
    if let Err(why) = sd_notify::notify(&[state]) {
        tracing::warn!(%why, "the service manager was not told");
    }
}

/// Tells that we work for as long as we do; nothing where no manager waits for it.
pub(super) fn watch(listening: SocketAddr, secret: Option<&Secret>) -> Option<Task<()>> {
    let allowed = sd_notify::watchdog_enabled()?;
    let every = allowed / PROOFS;
    let client = reqwest::Client::builder().no_proxy().timeout(every).build();
    let client = client.inspect_err(|why| tracing::error!(%why, "no watchdog")).ok()?;
    let url = format!("http://{}/readyz?timeoutMs={}", reached_at(listening), (every / 2).as_millis().max(1));
    let secret = secret.cloned();
    Some(task::spawn(async move {
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if works(&client, &url, secret.as_ref()).await {
                tell(NotifyState::Watchdog);
            }
        }
    }))
}

async fn works(client: &reqwest::Client, url: &str, secret: Option<&Secret>) -> bool {
    let mut request = client.get(url);
    if let Some(secret) = secret {
        request = request.bearer_auth(secret.expose());
    }
    let answer = match request.send().await {
        Ok(answer) => answer.bytes().await,
        Err(why) => Err(why),
    };
    let reason = match &answer {
        // One that has no room for more says so, and works.
        Ok(body) => {
            serde_json::from_slice::<Value>(body).ok().and_then(|it| Some(it["reason"].as_str()?.to_owned()))
        }
        Err(_) => Some("no answer".to_owned()),
    };
    let fails = answer.is_err() || reason.as_deref().is_some_and(|reason| NO_WORK.contains(&reason));
    if fails {
        tracing::warn!(reason, "the service manager is not told that we work");
    }
    !fails
}

/// An address by which it is reached from this machine.
fn reached_at(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_reached_where_it_listens() {
        for (listening, reached) in [
            ("0.0.0.0:9377", "127.0.0.1:9377"),
            ("[::]:1", "[::1]:1"),
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            assert_eq!(reached_at(listening.parse().unwrap()), reached.parse().unwrap());
        }
    }
}
