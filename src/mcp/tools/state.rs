//! `get_browser_state`: the page as text with refs, and what is known of its tab.

use serde_json::json;
use tabvisor_actors::{Screenshot, ScreenshotRequest, TabRow};
use tabvisor_page::act::{Effect, Route};
use tabvisor_page::screenshot::Format;
use tabvisor_page::snapshot::{Body, Request, Snapshot};

use crate::TabError;

use super::super::args::Args;
use super::super::call::{Call, short};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::{Told, members};
use super::super::failure::refused;
use super::super::outline;
use super::super::schema::{Kind, may};
use super::{Answer, pictures};

/// Characters of text, unless a call says otherwise.
const CHARS: usize = 12_000;
const MOST_CHARS: u64 = 200_000;
const QUALITY: u8 = 70;

pub(super) const TOOLS: &[Spec] = &[Spec {
    name: "get_browser_state",
    about: "Read the page: an outline of roles and names with refs like [ref=e12] to act on, what was left out, and the tab's url, title and \
            dialog. query keeps lines with these words, scope_ref an element and what is in it, selector or frame a part. interactive \
            and compact shorten it. since continues a cut outline: its `next`.",
    hints: Hints::Reads,
    on_tab: true,
    args: &[
        may("query", Kind::Text(1000), ""),
        may("scope_ref", Kind::Text(64), ""),
        may("interactive", Kind::Flag, ""),
        may("compact", Kind::Flag, ""),
        may("depth", Kind::Whole(0, 100), ""),
        may("selector", Kind::Text(10_000), ""),
        may("frame", Kind::Text(10_000), ""),
        may("urls", Kind::Flag, ""),
        may("max_chars", Kind::Whole(1, MOST_CHARS), ""),
        may("since", Kind::Text(1000), ""),
        may("include_screenshot", Kind::Flag, ""),
    ],
    budget: Within::Snapshot,
    run: state,
    step: None,
}];

fn state(call: Call) -> Answer {
    Box::pin(async move {
        let before = call.tab()?;
        let parts = call.args.has("query") || call.args.has("scope_ref");
        let request = request(&call.args, parts);
        let taken = call.supervisor().snapshot(before.tab_id, request, &call.budget).await;
        let told = match taken {
            Ok(snapshot) => Ok(outlined(&call, &snapshot)?),
            // What is known without the page is worth something while it waits for an answer.
            Err(TabError::Dialog(_)) => Ok(Told::new(
                Effect::Partial,
                Route::Browser,
                "a dialog is open: no outline until it is answered",
            )),
            Err(error) => Err(error),
        };
        let hindered = told.as_ref().map_or(true, |it| it.effect != Effect::Confirmed);
        let mut told = call.settle(&before, told);
        if !hindered && call.args.flag("include_screenshot") == Some(true) {
            told = pictured(&call, &before, told).await;
        }
        Ok(known(&call, &before, told))
    })
}

fn request(args: &Args, parts: bool) -> Request {
    let most = args.whole("max_chars").and_then(|it| usize::try_from(it).ok()).unwrap_or(CHARS);
    Request {
        interactive: args.flag("interactive"),
        compact: args.flag("compact"),
        depth: args.whole("depth").and_then(|it| u32::try_from(it).ok()),
        selector: args.text("selector"),
        frame: args.text("frame"),
        urls: args.flag("urls").unwrap_or(false),
        // Parts are found in the whole of it, and cut afterwards.
        max_chars: Some(if parts { 0 } else { most }),
        after: args.text("since"),
        ..Request::default()
    }
}

fn outlined(call: &Call, snapshot: &Snapshot) -> Result<Told, Box<Told>> {
    let Body::Text(body) = &snapshot.body else { return Err(refused("internal", "no text")) };
    let mut text = body.snapshot.clone();
    let mut told = Told::seen(Route::Cdp, "read from the page", "");
    if let Some(element) = call.args.text("scope_ref") {
        text = outline::below(&text, &element)
            .ok_or_else(|| refused("stale_ref", format!("{element:?} is not in the page as it is now")))?;
    }
    if let Some(words) = call.args.text("query") {
        let (found, count) = outline::around(&text, &words);
        text = found;
        told = told.with("matches", count);
    }
    let most = call.args.whole("max_chars").and_then(|it| usize::try_from(it).ok()).unwrap_or(CHARS);
    let (text, left) = outline::cut(text, most.max(1));
    told.summary = format!("{} lines", text.lines().count());
    if snapshot.truncated || left > 0 {
        told.summary.push_str("; something is left out");
        let mut missing = snapshot.missing.as_ref().map(members).unwrap_or_default();
        if left > 0 {
            missing.insert("lines".into(), json!(left));
        }
        told = told.with("truncated", true).with("missing", missing);
    }
    if let Some(next) = snapshot.next.as_ref().filter(|_| left == 0) {
        told = told.with("next", next);
    }
    if let Some(new) = body.new_elements {
        told = told.with("new_elements", new);
    }
    told = told.with("outline", &text);
    told.text = Some(text);
    Ok(told)
}

/// The same with a picture; without one it says why.
async fn pictured(call: &Call, before: &TabRow, mut told: Told) -> Told {
    let request = ScreenshotRequest { format: Format::Jpeg(QUALITY), ..ScreenshotRequest::default() };
    match call.supervisor().screenshot(before.tab_id, request, &call.budget).await {
        Ok(Screenshot::Plain(shot)) => told.images.push(pictures::image(shot)),
        Ok(Screenshot::Labelled(labelled)) => told.images.push(pictures::image(labelled.shot)),
        Err(why) => told = told.with("screenshot", format!("there is none: {why}")),
    }
    told
}

/// What is known of a tab without asking its page.
fn known(call: &Call, before: &TabRow, mut told: Told) -> Told {
    let Ok(row) = call.supervisor().tab(before.tab_id) else { return told };
    let page = format!("{} ({})", short(&row.title), short(&row.url));
    told.summary = if told.summary.is_empty() { page } else { format!("{}; {page}", told.summary) };
    told = told.with("title", short(&row.title)).with("state", row.state);
    for (name, is) in
        [("loading", row.loading), ("can_go_back", row.can_go_back), ("can_go_forward", row.can_go_forward)]
    {
        if is {
            told = told.with(name, true);
        }
    }
    if let Some(error) = row.error {
        told = told.with("error", members(error));
    }
    told
}
