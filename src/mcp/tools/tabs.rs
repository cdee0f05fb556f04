//! `browser_tabs`: which tabs there are, and what can be done with a whole one.

use serde_json::{Value, json};
use tabvisor_actors::recovery::{Recovered, RestartRequest, Rung};
use tabvisor_actors::{TabRow, TabState};
use tabvisor_page::act::Route;
use tabvisor_page::navigate::WaitUntil;

use crate::TabError;

use super::super::args::wrong;
use super::super::call::{Call, Outcome, short};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::{Told, members};
use super::super::failure;
use super::super::schema::{Kind, may};
use super::Answer;

/// How many rows are told.
const ROWS: usize = 60;

pub(super) const TOOLS: &[Spec] = &[Spec {
    name: "browser_tabs",
    about: "list (default) the tabs with url, title, state (ready, busy, dialog, stuck, crashed); open one at url; close; select (bring to \
            front and use); restart a stuck or crashed one, which brings it back to its page; terminate its scripts. keep: the tab \
            outlives this connection.",
    hints: Hints::Acts,
    on_tab: true,
    args: &[
        may("action", Kind::OneOf(&["list", "open", "close", "select", "restart", "terminate"]), ""),
        may("url", Kind::Text(8192), ""),
        may("keep", Kind::Flag, ""),
        may(
            "rung",
            Kind::OneOf(&["dialog", "terminate", "stop_loading", "renderer", "target"]),
            "restart from here",
        ),
    ],
    budget: Within::Navigate,
    run: tabs,
    step: None,
}];

fn tabs(call: Call) -> Answer {
    Box::pin(async move {
        let action = call.args.text("action").unwrap_or_else(|| "list".into());
        let belongs = |name: &str, to: &[&str]| {
            if call.args.has(name) && !to.contains(&action.as_str()) {
                return Err(wrong(name, format!("{name} is for action={}", to.join(" or "))));
            }
            Ok(())
        };
        belongs("url", &["open", "restart"])?;
        belongs("keep", &["open", "select"])?;
        belongs("rung", &["restart"])?;
        match action.as_str() {
            "open" => open(&call).await,
            "close" => close(&call).await,
            "select" => select(&call).await,
            "restart" => restart(&call).await,
            "terminate" => {
                let before = call.tab()?;
                let ended = call.supervisor().terminate(before.tab_id, &call.budget).await;
                Ok(call.settle(&before, ended.map(|it| recovered(&it))))
            }
            _ => {
                call.check_target()?;
                Ok(listed(&call))
            }
        }
    })
}

fn listed(call: &Call) -> Told {
    let rows = call.home.rows();
    let current = call.current().map(|row| row.tab_id);
    let shown: Vec<&TabRow> = rows.iter().rev().take(ROWS).rev().collect();
    let lines: Vec<String> = shown
        .iter()
        .map(|row| {
            let mark = if Some(row.tab_id) == current { "*" } else { " " };
            let state = json!(row.state);
            format!(
                "{mark} {} {} {:?} {}",
                row.tab_id,
                state.as_str().unwrap_or_default(),
                short(&row.title),
                short(&row.url)
            )
        })
        .collect();
    let all: Vec<Value> = shown.iter().map(|it| row(call, it, &rows)).collect();
    let mut told = Told::seen(
        Route::Browser,
        "from what is already known; no page was asked",
        format!("{} tabs", rows.len()),
    );
    told = told.with("tabs", all).with("current", current);
    if rows.len() > shown.len() {
        told = told.with("left_out", rows.len() - shown.len());
    }
    told.text = (!lines.is_empty()).then(|| lines.join("\n"));
    told
}

/// A tab as agents see it: no id of Chromium's.
fn row(call: &Call, row: &TabRow, all: &[TabRow]) -> Value {
    let mut told = json!({
        "tab_id": row.tab_id, "url": short(&row.url), "title": short(&row.title), "state": row.state, "document": row.generation,
        "mine": call.connection.owns(row.tab_id, all),
    });
    let mut put = |name: &str, value: Value| {
        if !value.is_null() && value != json!(false) && value != json!([]) && value != json!(0) {
            told[name] = value;
        }
    };
    put("loading", json!(row.loading));
    put("favicon", json!(row.favicon.as_deref().map(short)));
    put("error", json!(row.error));
    put("can_go_back", json!(row.can_go_back));
    put("can_go_forward", json!(row.can_go_forward));
    put("stuck_for_ms", json!(row.stuck_for_ms));
    put("stuck_by", json!(row.stuck_by));
    put(
        "dialog",
        row.dialog.as_ref().map_or(
            Value::Null,
            |it| json!({ "kind": it.kind, "dialog_id": it.id, "message": short(&it.message) }),
        ),
    );
    put("opener", json!(row.opener));
    put("restarts", json!(row.restarts));
    put("shared_renderer", json!(row.shared_renderer));
    if row.state == TabState::Busy {
        put("queue", json!(row.queue));
    }
    told
}

async fn open(call: &Call) -> Outcome {
    let url = call.args.text("url").unwrap_or_else(|| "about:blank".into());
    tabvisor_page::navigate::check_url(&url).map_err(|why| failure::before(&TabError::from(why)))?;
    call.check_target()?;
    opened(call, &url, WaitUntil::Load).await
}

/// Opens a tab of the call's session.
pub(super) async fn opened(call: &Call, url: &str, until: WaitUntil) -> Outcome {
    let browser = call.home.browser(&call.budget).await.map_err(|error| failure::before(&error))?;
    let row = match call.supervisor().open(browser, url, until, &call.budget).await {
        Ok(row) => row,
        Err(error) => {
            let mut told = failure::told(error, false);
            told.text = Some("no tab was opened".into());
            return Ok(told);
        }
    };
    call.connection.opened(&call.session, row.tab_id);
    call.connection.used(&call.session, row.tab_id);
    if call.args.flag("keep") == Some(true) {
        call.connection.keep(&call.session, row.tab_id);
    }
    let summary = format!("{} at {}", row.tab_id, short(&row.url));
    let told = Told::seen(Route::Browser, "its document is there", summary).with("title", short(&row.title));
    let told = told.with("opened_tabs", [json!({ "tab_id": row.tab_id, "url": short(&row.url) })]);
    Ok(call.beside(&row, told))
}

async fn close(call: &Call) -> Outcome {
    let before = call.tab()?;
    let closed = call.supervisor().close(before.tab_id, &call.budget).await;
    let told = closed.map(|()| {
        call.connection.forget(before.tab_id);
        Told::seen(Route::Browser, "the browser told that it is gone", format!("closed {}", before.tab_id))
    });
    Ok(match told {
        Ok(told) => told.with("tab_id", before.tab_id),
        Err(error) => call.settle(&before, Err(error)),
    })
}

async fn select(call: &Call) -> Outcome {
    let before = call.tab()?;
    let focused = call.supervisor().focus(before.tab_id, &call.budget).await;
    if focused.is_ok() && call.args.flag("keep") == Some(true) {
        call.connection.keep(&call.session, before.tab_id);
    }
    let told = focused.map(|()| {
        let words = format!("{} is in front, and used from now on", before.tab_id);
        Told::seen(Route::Browser, "the browser confirmed it", words)
    });
    Ok(call.settle(&before, told))
}

async fn restart(call: &Call) -> Outcome {
    let url = call.args.text("url");
    if let Some(url) = &url {
        tabvisor_page::navigate::check_url(url).map_err(|why| failure::before(&TabError::from(why)))?;
    }
    let rung = call.args.text("rung").and_then(|name| Rung::named(&name));
    let before = call.tab()?;
    let back = call.supervisor().restart(before.tab_id, RestartRequest { rung, url }, &call.budget).await;
    Ok(call.settle(&before, back.map(|it| recovered(&it))))
}

fn recovered(back: &Recovered) -> Told {
    let lost: Vec<_> = back.lost.iter().filter_map(|it| json!(it).as_str().map(str::to_owned)).collect();
    let cost = if lost.is_empty() { "nothing".to_owned() } else { lost.join(", ") };
    let summary = format!("{} answers again, by {}; lost: {cost}", back.tab_id, back.rung.name());
    let mut told = Told::seen(Route::Browser, "a script of ours was answered afterwards", summary);
    told.observed = members(back);
    told.observed.remove("tab");
    told.observed.remove("generation");
    told
}
