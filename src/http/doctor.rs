//! `GET /doctor`: what is wrong with a browser, and what to do about it.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use tabvisor_actors::TabState;
use tabvisor_cdp::launch::find_chromium;

use super::call::{Call, run};
use super::error::ApiError;
use super::in_profile::InProfile;
use super::json;
use super::lifecycle::TRANSPORT;

/// How long the browser may take to answer.
const PROBE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Info,
    Pass,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: &'static str,
    label: &'static str,
    status: Verdict,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix_hint: Option<&'static str>,
}

impl Check {
    fn new(id: &'static str, label: &'static str, status: Verdict, summary: impl Into<String>) -> Self {
        Self { id, label, status, summary: summary.into(), fix_hint: None }
    }

    fn hint(mut self, hint: &'static str) -> Self {
        self.fix_hint = Some(hint);
        self
    }
}

/// Looks at a browser; with `deep` (or `live`) it is asked as well. It is never started.
pub(super) async fn doctor(mut call: Call) -> Result<Response, ApiError> {
    let deep = call.query.truth("deep").or_else(|| call.query.truth("live")).unwrap_or_default();
    let budget = call.budget(PROBE)?;
    let it = call.profile()?;
    let mut checks = vec![program(&it), runs(&it)];
    if let (true, Some(browser)) = (deep, it.profile.running()) {
        checks.push(match run("doctor", None, &budget, it.supervisor().probe(browser, &budget)).await {
            Ok(()) => Check::new("live", "Live answer", Verdict::Pass, "a new link was answered"),
            Err(why) => Check::new("live", "Live answer", Verdict::Fail, why.to_string())
                .hint("stop and start the browser"),
        });
    }
    checks.push(tabs(&it));
    let status = checks.iter().map(|check| check.status).max().unwrap_or(Verdict::Pass).max(Verdict::Pass);
    let answer = json!({
        "ok": status != Verdict::Fail,
        "profile": it.name(),
        "transport": TRANSPORT,
        "checks": checks,
        "status": status,
    });
    Ok(json(StatusCode::OK, &answer))
}

fn program(it: &InProfile) -> Check {
    const ID: &str = "program";
    const LABEL: &str = "Browser program";
    if let Some(address) = &it.profile.address {
        return Check::new(ID, LABEL, Verdict::Info, format!("attached to at {address}; none is launched"));
    }
    match find_chromium(it.profile.chromium.as_deref()) {
        Ok(path) => Check::new(ID, LABEL, Verdict::Pass, path.display().to_string()),
        Err(why) => Check::new(ID, LABEL, Verdict::Fail, why.to_string())
            .hint("install Chromium, or name it by --chromium or browser.chromium"),
    }
}

fn runs(it: &InProfile) -> Check {
    const ID: &str = "running";
    const LABEL: &str = "Browser";
    if let Some(facts) = it.browser() {
        return Check::new(ID, LABEL, Verdict::Pass, format!("{} runs", facts.version));
    }
    if it.profile.running().is_some() {
        return Check::new(ID, LABEL, Verdict::Warn, "it was lost and is being restarted");
    }
    match it.profile.trouble() {
        Some(why) => {
            let check = Check::new(ID, LABEL, Verdict::Fail, why.text(it.name()));
            if why.pause().is_some() {
                check.hint("mend the cause, then wait for the end of the pause")
            } else {
                check
            }
        }
        None => {
            Check::new(ID, LABEL, Verdict::Info, "it does not run; POST /start or opening a tab starts it")
        }
    }
}

fn tabs(it: &InProfile) -> Check {
    const ID: &str = "tabs";
    const LABEL: &str = "Tabs";
    let rows = it.tabs();
    let ill: Vec<String> =
        rows.iter().filter_map(|row| Some(format!("{} ({})", row.tab_id, trouble(row.state)?))).collect();
    if ill.is_empty() {
        return Check::new(ID, LABEL, Verdict::Pass, format!("{} open", rows.len()));
    }
    Check::new(ID, LABEL, Verdict::Warn, format!("{} open; not usable: {}", rows.len(), ill.join(", ")))
        .hint("answer its dialog, or POST /tabs/{tab}/restart")
}

/// Why a tab in this state is not usable.
fn trouble(state: TabState) -> Option<&'static str> {
    match state {
        TabState::Stuck => Some("stuck"),
        TabState::Crashed => Some("crashed"),
        TabState::Dialog => Some("a dialog is open"),
        TabState::Discarded => Some("discarded"),
        TabState::Ready | TabState::Busy | TabState::Restarting => None,
    }
}
