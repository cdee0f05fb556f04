//! `browser_console`, `browser_requests`: what a page said, and what it asked for.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tabvisor_page::act::Route;
use tabvisor_page::observe::{ConsoleMessage, Heard, Level, Request, Uncaught};

use crate::TabError;

use super::super::call::{Call, short};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::schema::{Arg, Kind, may};
use super::Answer;

/// How many rows are told, the newest, unless a call says otherwise.
const ROWS: usize = 50;

const SINCE: Arg = may("since", Kind::Whole(0, u64::MAX), "");
const LIMIT: Arg = may("limit", Kind::Whole(1, 200), "");

pub(super) const TOOLS: &[Spec] = &[
    Spec {
        name: "browser_console",
        about: "The page's console messages and uncaught errors, newest last, from level up (error, warn, info; default all). since: \
                the `next` of an earlier answer. Tells how many are missing.",
        hints: Hints::Reads,
        on_tab: true,
        args: &[
            may("level", Kind::OneOf(&["error", "warn", "info"]), ""),
            may("filter", Kind::Text(1000), "part of the text"),
            SINCE,
            LIMIT,
        ],
        budget: Within::Action,
        run: console,
        step: None,
    },
    Spec {
        name: "browser_requests",
        about: "The page's requests, newest last, with status or failure. filter: part of the address, or a type (fetch, document). since: \
                the `next` of an earlier answer.",
        hints: Hints::Reads,
        on_tab: true,
        args: &[may("filter", Kind::Text(1000), ""), SINCE, LIMIT],
        budget: Within::Action,
        run: requests,
        step: None,
    },
];

fn console(call: Call) -> Answer {
    Box::pin(async move {
        let args = &call.args;
        let level = match args.text("level").as_deref() {
            Some("error") => Level::Error,
            Some("warn") => Level::Warn,
            Some("info") => Level::Info,
            _ => Level::Debug,
        };
        let before = call.tab()?;
        let (tab, since) = (before.tab_id, args.whole("since"));
        let heard = async {
            let messages = call.supervisor().console(tab, since, level, &call.budget).await?;
            let errors = call.supervisor().page_errors(tab, None, false, &call.budget).await?;
            Ok::<_, TabError>((messages, errors))
        };
        let told = heard.await.map(|(messages, errors)| said(&call, messages, &errors));
        Ok(call.settle(&before, told))
    })
}

fn said(call: &Call, mut messages: Heard<ConsoleMessage>, errors: &Heard<Uncaught>) -> Told {
    if let Some(filter) = call.args.text("filter") {
        messages.rows.retain(|it| it.text.contains(&filter));
    }
    let row = |it: &ConsoleMessage| {
        let at = format!("{}:{}", short(&it.location.url), it.location.line_number + 1);
        json!({ "type": it.r#type, "text": short(&it.text), "at": at })
    };
    let line = |it: &ConsoleMessage| format!("[{}] {}", it.r#type, short(&it.text));
    let uncaught: Vec<Value> = last(&errors.rows, 10).iter().map(|it| json!(short(&it.message))).collect();
    let mut told = listed(call, "messages", &messages, row, line);
    if !uncaught.is_empty() {
        let lines: Vec<_> =
            uncaught.iter().filter_map(Value::as_str).map(|it| format!("[uncaught] {it}")).collect();
        let text = [told.text.take().unwrap_or_default(), lines.join("\n")];
        told.text = Some(text.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n"));
        told = told.with("uncaught_errors", uncaught);
    }
    told
}

fn requests(call: Call) -> Answer {
    Box::pin(async move {
        let args = &call.args;
        let (filter, since) = (args.text("filter"), args.whole("since"));
        let before = call.tab()?;
        let heard =
            call.supervisor().requests(before.tab_id, since, filter.as_deref(), false, &call.budget).await;
        let told = heard.map(|heard| {
            let row = |it: &Request| {
                let mut row = json!({ "id": it.id, "method": it.method, "url": short(&it.url), "type": it.resource_type });
                if let Some(status) = it.status {
                    row["status"] = json!(status);
                }
                if let Some(failure) = &it.failure_text {
                    row["failure"] = json!(short(failure));
                }
                row
            };
            let line = |it: &Request| {
                let end = it.status.map(|it| it.to_string()).or_else(|| it.failure_text.clone());
                format!("{} {} {} -> {}", it.id, it.method, short(&it.url), end.as_deref().unwrap_or("no answer yet"))
            };
            listed(&call, "requests", &heard, row, line)
        });
        Ok(call.settle(&before, told))
    })
}

/// Rows, the newest of them, and what is missing.
fn listed<T>(
    call: &Call,
    name: &str,
    heard: &Heard<T>,
    row: impl Fn(&T) -> Value,
    line: impl Fn(&T) -> String,
) -> Told {
    let most = call.args.whole("limit").and_then(|it| usize::try_from(it).ok()).unwrap_or(ROWS);
    let rows = last(&heard.rows, most);
    let left = heard.rows.len() - rows.len();
    let mut summary = format!("{} {name}", rows.len());
    if left > 0 {
        let _ = write!(summary, ", {left} older ones left out (limit)");
    }
    let mut told = Told::seen(Route::Cdp, "heard from the page as it happened", summary)
        .with(name, rows.iter().map(row).collect::<Vec<_>>())
        .with("next", heard.next);
    for (name, count) in
        [("left_out", left as u64), ("dropped", heard.dropped), ("lost", heard.lost), ("gaps", heard.gaps)]
    {
        if count > 0 {
            told = told.with(name, count);
        }
    }
    let lines: Vec<String> = rows.iter().map(line).collect();
    told.text = (!lines.is_empty()).then(|| lines.join("\n"));
    told
}

fn last<T>(rows: &[T], most: usize) -> &[T] {
    &rows[rows.len().saturating_sub(most)..]
}
