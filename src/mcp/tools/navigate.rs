//! `browser_navigate`, `browser_back`, `browser_forward`, `browser_reload`: where a tab goes.

use serde_json::json;
use tabvisor_actors::{Arrived, StepKind};
use tabvisor_page::act::{Effect, Route};
use tabvisor_page::navigate::{Landed, Move, WaitUntil, check_url};

use crate::TabError;

use super::super::args::Args;
use super::super::call::{Call, short};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::failure;
use super::super::schema::{Arg, Kind, may, must};
use super::{Answer, files, tabs};

const UNTIL: Arg = may("wait_until", Kind::OneOf(&["commit", "domcontentloaded", "load"]), "");

pub(super) const TOOLS: &[Spec] = &[
    Spec {
        name: "browser_navigate",
        about: "Load a url in the tab; opens one if the session has none. Tells the final url and HTTP status. A failed load is a failure \
                with its net error; a download or 204 leaves the page and says so.",
        hints: Hints::Acts,
        on_tab: true,
        args: &[must("url", Kind::Text(8192), "http, https or about:blank"), UNTIL],
        budget: Within::Navigate,
        run: navigate,
        step: Some(read),
    },
    go(
        "browser_back",
        "Go back in the tab's history.",
        |call| moved(call, Move::Back),
        |args| Ok(step(args, Move::Back)),
    ),
    go(
        "browser_forward",
        "Go forward in the tab's history.",
        |call| moved(call, Move::Forward),
        |args| Ok(step(args, Move::Forward)),
    ),
    go(
        "browser_reload",
        "Load the page again.",
        |call| moved(call, Move::Reload),
        |args| Ok(step(args, Move::Reload)),
    ),
];

const fn go(name: &'static str, about: &'static str, run: fn(Call) -> Answer, step: super::Read) -> Spec {
    const ARGS: &[Arg] = &[UNTIL];
    Spec {
        name,
        about,
        hints: Hints::Acts,
        on_tab: true,
        args: ARGS,
        budget: Within::Navigate,
        run,
        step: Some(step),
    }
}

fn until(args: &Args) -> WaitUntil {
    match args.text("wait_until").as_deref() {
        Some("commit") => WaitUntil::Commit,
        Some("domcontentloaded") => WaitUntil::DomContentLoaded,
        _ => WaitUntil::Load,
    }
}

fn read(args: &Args) -> Result<StepKind, Box<Told>> {
    let url = args.text("url").unwrap_or_default();
    check_url(&url).map_err(|why| failure::before(&TabError::from(why)))?;
    Ok(StepKind::Navigate { url, until: until(args) })
}

fn step(args: &Args, to: Move) -> StepKind {
    StepKind::Go { to, until: until(args) }
}

fn navigate(call: Call) -> Answer {
    Box::pin(async move {
        read(&call.args)?;
        let (url, until) = (call.args.text("url").unwrap_or_default(), until(&call.args));
        let mut opened = None;
        if !call.args.has("tab_id") && call.current().is_none() {
            call.check_target()?;
            let told = tabs::opened(&call, "about:blank", WaitUntil::Commit).await?;
            if told.is_bad() {
                return Ok(told);
            }
            opened = told.observed.get("opened_tabs").cloned();
        }
        let before = call.tab()?;
        let arrived = call.supervisor().navigate_or_download(before.tab_id, &url, until, &call.budget).await;
        let told = arrived.map(|arrived| match arrived {
            Arrived::Document(landed) => told(&landed, until),
            Arrived::Download(download) => {
                let summary =
                    format!("a download: {}; the page is unchanged", short(&download.suggested_filename));
                let told = Told::new(Effect::Partial, Route::Browser, summary).with("navigation", "download");
                told.with("downloads", [files::row(&download)])
            }
        });
        let mut told = call.settle(&before, told);
        if let Ok(now) = call.supervisor().tab(before.tab_id) {
            told = told.with("title", short(&now.title));
        }
        Ok(match opened {
            Some(opened) => told.with("opened_tabs", opened),
            None => told,
        })
    })
}

fn moved(call: Call, to: Move) -> Answer {
    Box::pin(async move {
        let until = until(&call.args);
        let before = call.tab()?;
        let landed = call.supervisor().go(before.tab_id, to, until, &call.budget).await;
        Ok(call.settle(&before, landed.map(|landed| told(&landed, until))))
    })
}

/// Where a navigation led.
pub(super) fn told(landed: &Landed, until: WaitUntil) -> Told {
    let status = landed.http_status.map(|it| format!(" (HTTP {it})")).unwrap_or_default();
    let evidence = match until {
        WaitUntil::Commit => "its document is there",
        WaitUntil::DomContentLoaded => "its document is parsed",
        WaitUntil::Load => "its document is loaded",
    };
    let state = if landed.same_document { "same_document" } else { "committed" };
    let mut told = Told::seen(Route::Cdp, evidence, format!("at {}{status}", short(&landed.url)))
        .with("navigation", json!({ "state": state, "url": short(&landed.url) }));
    if let Some(status) = landed.http_status {
        told = told.with("http_status", status);
    }
    told
}
