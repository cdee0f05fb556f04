//! `browser_steps`: several tools in one call, one after the other, as long as nothing comes in between.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use tabvisor_actors::{Step, StepDone, StepKind, StepResult, Stepped, Steps, Stopped};
use tabvisor_page::act::{Effect, Route};
use tabvisor_page::navigate::WaitUntil;

use super::super::args::{Args, wrong};
use super::super::call::{Call, short};
use super::super::catalog::{self, Hints, Spec, Within};
use super::super::envelope::{Status, Told, members};
use super::super::failure;
use super::super::schema::{Arg, Kind, check, may, must};
use super::{Answer, acted, evaluate, navigate, wait};

/// How many steps a call may have.
const MOST: usize = 16;
/// How much of a value is told in a step.
const VALUE: usize = 1000;

const STEP: &[Arg] = &[must("tool", Kind::Text(64), ""), may("arguments", Kind::Arguments, "")];

pub(super) const TOOLS: &[Spec] = &[Spec {
    name: "browser_steps",
    about: "Up to 16 of browser_click, type, press_key, pointer, select, check, fill_form, wait, evaluate, navigate, back, forward, reload in \
            one call on one tab, checked before the first begins. Stops at an error, a dialog, or a navigation that a step did not ask \
            for, and tells what became of each.",
    hints: Hints::Acts,
    on_tab: true,
    args: &[must("steps", Kind::Objects(STEP, MOST), "[{tool, arguments}]")],
    budget: Within::Navigate,
    run: steps,
    step: None,
}];

fn steps(call: Call) -> Answer {
    Box::pin(async move {
        let mut names = Vec::new();
        let mut all = Vec::new();
        for (at, step) in call.args.objects("steps").into_iter().enumerate() {
            let (name, step) = read(&call, at, &step)?;
            names.push(name);
            all.push(step);
        }
        let before = call.tab()?;
        let stepped =
            call.supervisor().steps(before.tab_id, Steps { steps: all, go_on: false }, &call.budget).await;
        let told = stepped.map(|stepped| told(&call, &names, stepped));
        Ok(call.settle(&before, told))
    })
}

/// One step, checked as if it was a call of its own.
fn read(call: &Call, at: usize, step: &Map<String, Value>) -> Result<(&'static str, Step), Box<Told>> {
    let tool = step.get("tool").and_then(Value::as_str).unwrap_or_default().trim();
    let can =
        || catalog::all().filter(|it| it.step.is_some()).map(|it| it.name).collect::<Vec<_>>().join(", ");
    let found = catalog::find(tool).and_then(|spec| Some((spec, spec.step?)));
    let Some((spec, as_step)) = found else {
        let tool: String = tool.chars().take(60).collect();
        return Err(wrong("steps", format!("steps[{at}]: {tool:?} is no step; these are: {}", can())));
    };
    let given = step.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
    let checked = check(spec.name, &spec.args(), given)
        .map_err(|why| wrong("steps", format!("steps[{at}]: {}", why.message)))?;
    let args = Args::from(checked);
    if args.text("tab_id").is_some_and(|tab| call.args.text("tab_id").as_ref() != Some(&tab)) {
        return Err(wrong(
            "steps",
            format!("steps[{at}]: all steps are on one tab; give tab_id beside steps"),
        ));
    }
    let mut what = as_step(&args).map_err(|told| {
        let why = told.refusal.as_ref().map_or_else(|| told.summary.clone(), |it| it.message.clone());
        wrong("steps", format!("steps[{at}]: {why}"))
    })?;
    let runs_script = match &what {
        StepKind::Evaluate(_) => true,
        StepKind::Wait(wait) => wait.function.is_some(),
        _ => false,
    };
    if runs_script && !call.home.evaluate_enabled() {
        what = StepKind::Denied(wait::DISABLED);
    }
    Ok((spec.name, Step { what, within: args.timeout() }))
}

fn told(call: &Call, names: &[&str], Stepped { results, stopped }: Stepped) -> Told {
    let done = results.len();
    let mut lines = Vec::new();
    let mut all = Vec::new();
    let mut worst = Status::Ok;
    let mut effect = Effect::Confirmed;
    for (at, (name, StepResult { outcome, navigated })) in names.iter().zip(results).enumerate() {
        if let Ok(StepDone::Acted(acted)) = &outcome {
            for tab in &acted.opened_tabs {
                call.connection.opened(&call.session, *tab);
            }
        }
        let told = one(name, outcome);
        if told.is_bad() {
            worst = Status::Partial;
        }
        if told.effect != Effect::Confirmed {
            effect = Effect::Partial;
        }
        lines.push(format!("{}. {name}: {}", at + 1, told.words().replace('\n', "; ")));
        all.push(entry(name, &told, navigated));
    }
    let mut summary = format!("{done} of {} steps", names.len());
    if let Some(stopped) = &stopped {
        let reason = json!(stopped.reason);
        let _ = write!(
            summary,
            ", stopped by {} behind step {}",
            reason.as_str().unwrap_or_default(),
            stopped.after_action
        );
        worst = Status::Partial;
        effect = Effect::Partial;
    }
    let mut told = Told::new(effect, Route::TrustedInput, summary).with("steps", all);
    told.status = worst;
    told.evidence = (effect == Effect::Confirmed).then_some("every step was");
    if let Some(stopped) = stopped {
        told = told.with("stopped", stop(&stopped));
    }
    told.text = Some(lines.join("\n"));
    told
}

fn stop(stopped: &Stopped) -> Map<String, Value> {
    let mut told = members(stopped);
    if let Some(behind) = told.remove("after_action") {
        told.insert("after_step".into(), behind);
    }
    told
}

/// What one step tells by itself.
fn one(name: &str, outcome: Result<StepDone, crate::TabError>) -> Told {
    match outcome {
        Ok(StepDone::Acted(done)) => acted::told(name.trim_start_matches("browser_"), &done),
        Ok(StepDone::Waited(waited)) => wait::told(&waited),
        Ok(StepDone::Evaluated(evaluated)) => {
            let mut told = evaluate::told(&evaluated);
            told.text = told.text.map(|text| text.chars().take(VALUE).collect());
            told
        }
        Ok(StepDone::Landed(landed)) => navigate::told(&landed, WaitUntil::Load),
        Ok(StepDone::Closed | StepDone::Stepped(_)) => Told::new(Effect::Unverifiable, Route::Browser, name),
        Err(error) => failure::told(error, false),
    }
}

/// A step in the list of them.
fn entry(name: &str, told: &Told, navigated: Option<String>) -> Value {
    let mut entry = told.structured();
    if let Some(members) = entry.as_object_mut() {
        members.remove("budget");
        members.insert("tool".into(), json!(name));
        if let Some(url) = navigated {
            members.insert("navigated".into(), json!(short(&url)));
        }
    }
    entry
}
