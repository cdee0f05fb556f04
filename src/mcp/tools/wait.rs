//! `browser_wait`: until a page shows something.

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_actors::{StepKind, Wait};
use tabvisor_page::act::Route;

use crate::{LoadState, TabError};

use super::super::args::{Args, wrong};
use super::super::call::Call;
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::failure::{argument, refused};
use super::super::schema::{Kind, may};
use super::Answer;

pub(super) const DISABLED: &str = "scripts are disabled by the configuration (browser.evaluate_enabled)";

pub(super) const TOOLS: &[Spec] = &[Spec {
    name: "browser_wait",
    about: "Wait until everything given holds, in this order: time_ms, text shown, text_gone, an element (ref or CSS selector) \
            visible, url (part or glob), load_state, function true.",
    hints: Hints::Reads,
    on_tab: true,
    args: &[
        may("time_ms", Kind::Whole(0, 30_000), ""),
        may("text", Kind::Text(10_000), ""),
        may("text_gone", Kind::Text(10_000), ""),
        may("selector", Kind::Text(10_000), ""),
        may("ref", Kind::Text(64), ""),
        may("url", Kind::Text(8192), ""),
        may("load_state", Kind::OneOf(&["load", "domcontentloaded", "networkidle"]), ""),
        may("function", Kind::Text(1_000_000), ""),
    ],
    budget: Within::Wait,
    run: wait,
    step: Some(|args| read(args).map(StepKind::Wait)),
}];

fn read(args: &Args) -> Result<Wait, Box<Told>> {
    let load = match args.text("load_state").as_deref() {
        Some("load") => Some(LoadState::Load),
        Some("domcontentloaded") => Some(LoadState::DomContentLoaded),
        Some("networkidle") => Some(LoadState::NetworkIdle),
        _ => None,
    };
    let wait = Wait {
        time: args.whole("time_ms").map(Duration::from_millis),
        text: args.text("text"),
        text_gone: args.text("text_gone"),
        selector: args.text("selector"),
        r#ref: args.text("ref"),
        url: args.text("url"),
        load,
        function: args.text("function"),
    };
    match wait.check() {
        Err(TabError::BadInput { field: "wait", .. }) => Err(wrong(
            "text",
            "browser_wait needs one of time_ms, text, text_gone, selector, ref, url, load_state, function",
        )),
        Err(TabError::BadInput { field, why }) => {
            let field = argument(field);
            Err(wrong(field, format!("{field} {why}")))
        }
        _ => Ok(wait),
    }
}

fn wait(call: Call) -> Answer {
    Box::pin(async move {
        let wait = read(&call.args)?;
        if wait.function.is_some() && !call.home.evaluate_enabled() {
            return Err(refused("evaluate_disabled", DISABLED));
        }
        let before = call.tab()?;
        let waited = call.supervisor().wait(before.tab_id, wait, &call.budget).await;
        Ok(call.settle(&before, waited.map(|it| told(&it))))
    })
}

/// What a wait saw.
pub(super) fn told(waited: &tabvisor_actors::Waited) -> Told {
    let held: Vec<Value> = waited
        .held
        .iter()
        .map(|it| json!({ "condition": argument(it.condition), "elapsed_ms": it.elapsed_ms }))
        .collect();
    let names: Vec<&str> = waited.held.iter().map(|it| argument(it.condition)).collect();
    let summary = format!("{} after {} ms", names.join(", "), waited.elapsed_ms);
    let told = if names == ["time_ms"] {
        Told::seen(Route::Browser, "the time has passed", summary)
    } else {
        Told::seen(Route::Page, "the page was seen so", summary)
    };
    told.with("held", held).with("elapsed_ms", waited.elapsed_ms)
}
