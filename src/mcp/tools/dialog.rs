//! `browser_dialog`: what is open, its answer, and who answers from now on.

use serde_json::{Value, json};
use tabvisor_actors::{DialogLog, TabRow};
use tabvisor_page::act::{Effect, Route};
use tabvisor_page::dialog::{Answer as Reply, DialogRecord, Policy};

use super::super::args::wrong;
use super::super::call::{Call, Outcome, short};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::{Told, members};
use super::super::schema::{Kind, may};
use super::Answer;

/// How many dialogs that were closed are told.
const RECENT: usize = 5;

pub(super) const TOOLS: &[Spec] = &[Spec {
    name: "browser_dialog",
    about: "See (inspect, the default), accept or dismiss the page's alert, confirm, prompt or beforeunload, by its dialog_id. \
            policy says who answers dialogs of this tab from now on: hold (you), accept, dismiss.",
    hints: Hints::Acts,
    on_tab: true,
    args: &[
        may("action", Kind::OneOf(&["inspect", "accept", "dismiss"]), ""),
        may("dialog_id", Kind::Text(64), ""),
        may("prompt_text", Kind::Verbatim(100_000), ""),
        may("policy", Kind::OneOf(&["hold", "accept", "dismiss"]), ""),
    ],
    budget: Within::Action,
    run: dialog,
    step: None,
}];

fn dialog(call: Call) -> Answer {
    Box::pin(async move {
        let args = &call.args;
        let action = args.text("action").unwrap_or_else(|| "inspect".into());
        let (id, text) = (args.text("dialog_id"), args.verbatim("prompt_text"));
        if action != "accept" && text.is_some() {
            return Err(wrong("prompt_text", "prompt_text is for action=accept"));
        }
        let before = call.tab()?;
        if let Some(policy) = args.text("policy") {
            let policy = match policy.as_str() {
                "accept" => Policy::Accept,
                "dismiss" => Policy::Dismiss,
                _ => Policy::Hold,
            };
            if let Err(error) = call.supervisor().set_dialog_policy(before.tab_id, policy) {
                return Ok(call.settle(&before, Err(error)));
            }
        }
        let log = match call.supervisor().dialogs(before.tab_id) {
            Ok(log) => log,
            Err(error) => return Ok(call.settle(&before, Err(error))),
        };
        if action == "inspect" {
            return Ok(inspected(&call, &before, &log));
        }
        let Some(id) = id else { return Err(needs_id(&action, &log)) };
        let reply = Reply { accept: action == "accept", prompt_text: text };
        answer(&call, &before, id, reply).await
    })
}

fn inspected(call: &Call, before: &TabRow, log: &DialogLog) -> Told {
    let open = log.pending.first();
    let summary =
        open.map_or_else(|| "no dialog is open".to_owned(), |it| format!("a {} is open", it.dialog.kind));
    let recent: Vec<_> = log.recent.iter().rev().take(RECENT).map(row).collect();
    let mut told = Told::seen(Route::Browser, "the browser told of its opening and its end", summary);
    told = told.with("recent", recent);
    if let Some(policy) = call.args.text("policy") {
        told = told.with("policy", policy);
    }
    if let Some(open) = open {
        told.open(open.dialog.clone());
    }
    call.beside(before, told)
}

fn needs_id(action: &str, log: &DialogLog) -> Box<Told> {
    let mut told = wrong("dialog_id", format!("{action} needs the dialog_id of the dialog that is open"));
    if let Some(refusal) = &mut told.refusal {
        refusal.next = match log.pending.first() {
            Some(open) => format!("call again with dialog_id={:?}", open.dialog.id),
            None => "no dialog is open; go on without".into(),
        };
    }
    told
}

async fn answer(call: &Call, before: &TabRow, id: String, reply: Reply) -> Outcome {
    let accept = reply.accept;
    let answered = call.supervisor().answer_dialog(before.tab_id, Some(id), reply, &call.budget).await;
    let told = answered.map(|record| {
        let word = if accept { "accepted" } else { "dismissed" };
        let mut told = Told::new(
            Effect::Confirmed,
            Route::Browser,
            format!("{word} the {} {}", record.dialog.kind, record.dialog.id),
        );
        told.evidence = Some("the browser told that it closed");
        told.with("answered", row(&record))
    });
    Ok(call.settle(before, told))
}

/// A dialog that is over.
fn row(record: &DialogRecord) -> Value {
    let mut row = members(record);
    let id = row.remove("id").unwrap_or_default();
    let kind = row.remove("type").unwrap_or_default();
    let message = short(&record.dialog.message);
    row.retain(|name, _| matches!(name.as_str(), "closed_by" | "accepted" | "repeated"));
    let mut all = json!({ "dialog_id": id, "kind": kind, "message": message });
    if let Some(members) = all.as_object_mut() {
        members.append(&mut row);
    }
    all
}
