//! An action, and what the page saw of it.

use serde_json::{Map, Value, json};
use tabvisor_actors::{Act, Acted};
use tabvisor_page::act::{Effect, InputSeen, Observed};

use super::super::args::Args;
use super::super::call::{Call, Outcome, short};
use super::super::codes;
use super::super::envelope::{Told, members};
use super::Answer;

/// How many tabs and downloads are told.
const MOST: usize = 10;

/// A tool that does what a user does.
pub(super) fn acts(call: Call, read: fn(&Args) -> Result<Act, Box<Told>>) -> Answer {
    Box::pin(async move {
        let act = read(&call.args)?;
        act_on(&call, act).await
    })
}

/// Does it on the tab of a call.
pub(super) async fn act_on(call: &Call, act: Act) -> Outcome {
    let before = call.tab()?;
    let name = act.name();
    let outcome = call.supervisor().act_on(before.tab_id, act, &call.budget).await;
    Ok(call.acted(&before, |acted| told(name, acted), outcome))
}

/// What an action that was sent tells.
pub(super) fn told(name: &str, acted: &Acted) -> Told {
    let outcome = &acted.outcome;
    let observed = &outcome.observed;
    let mut told = Told::new(outcome.effect, outcome.route, summary(name, observed));
    told.evidence = (outcome.effect == Effect::Confirmed).then(|| evidence(name));
    told.observed = seen(observed);
    if !acted.opened.is_empty() {
        let row = |it: &tabvisor_actors::OpenedTab| json!({ "tab_id": it.tab, "url": short(&it.url), "opener": it.opener });
        told = told.with("opened_tabs", acted.opened.iter().take(MOST).map(row).collect::<Vec<_>>());
    }
    if !acted.downloads.is_empty() {
        let all: Vec<_> = acted.downloads.iter().take(MOST).map(super::files::row).collect();
        told = told.with("downloads", all);
    }
    if outcome.effect == Effect::Partial && matches!(observed.input, Some(InputSeen::Text(_))) {
        told.code = Some(codes::of("input_incomplete").code);
    }
    if let Some(dialog) = observed.dialog.clone() {
        told.open(dialog);
    }
    told
}

/// What the page saw, without what stands elsewhere in an answer.
fn seen(observed: &Observed) -> Map<String, Value> {
    let mut seen = members(observed);
    seen.remove("dialog");
    for name in ["value", "target", "hit"] {
        if let Some(Value::String(text)) = seen.get_mut(name) {
            *text = short(text);
        }
    }
    seen
}

fn summary(name: &str, observed: &Observed) -> String {
    let target = observed.target.as_deref().map(|it| format!(" on {}", short(it))).unwrap_or_default();
    let mut words = vec![format!("{}{target}", name.replace('_', " "))];
    if let Some(pointer) = &observed.pointer {
        match (pointer.received, &pointer.hit) {
            (Some(false), Some(hit)) => words.push(format!("but {} got it", short(hit))),
            (None, None) => words.push("what got it was not seen".into()),
            _ => {}
        }
        if pointer.default_prevented == Some(true) {
            words.push("the page prevented the default".into());
        }
        if let Some(by) = pointer.scrolled {
            words.push(format!("scrolled by {}, {}", by.x, by.y));
        }
        words.extend(pointer.dropped_on.as_deref().map(|it| format!("dropped on {}", short(it))));
    }
    match &observed.input {
        Some(InputSeen::Text(text)) => {
            words.push(format!("{} of {} characters", text.delivered_chars, text.requested_chars));
            if text.differs_from_requested {
                words.push("the field holds something else".into());
            }
            match text.enter_pressed {
                Some(true) => words.push("Enter pressed".into()),
                Some(false) => words.push("Enter was NOT pressed".into()),
                None => {}
            }
        }
        Some(InputSeen::Key(key)) => {
            words.push(format!("{} {}", key.chord, if key.seen { "was seen" } else { "was not seen" }));
        }
        Some(InputSeen::Choice(choice)) => {
            let now = if choice.reverted { "the page undid it; selected are" } else { "selected are" };
            words.push(format!("{now} {:?}", choice.labels));
        }
        Some(InputSeen::Fields { fields }) => {
            let done = fields.iter().filter(|it| it.effect == Effect::Confirmed).count();
            words.push(format!("{done} of {} fields read back as asked", fields.len()));
        }
        Some(InputSeen::Files { files }) => words.push(format!("{} files", files.len())),
        None => {}
    }
    if let Some(checked) = observed.state.as_ref().and_then(|it| it.checked.as_deref()) {
        words.push(format!("checked: {checked}"));
    }
    if let Some(navigation) = &observed.navigation {
        words.push(format!("navigation to {}", short(&navigation.url)));
    }
    words.extend(observed.warnings.iter().map(|it| (*it).to_owned()));
    words.join("; ")
}

fn evidence(name: &str) -> &'static str {
    match name {
        "click" => "the element got the click",
        "type" | "insert_text" => "the field was read back",
        "press" | "press_key" => "the page saw the key go down",
        "select" => "the selection was read back",
        "check" => "the state was read back",
        "fill" | "fill_form" => "every field was read back",
        "scroll" | "scroll_into_view" => "the place was measured afterwards",
        "set_input_files" | "upload" => "the files were read back from the input",
        _ => "the element got the event",
    }
}
