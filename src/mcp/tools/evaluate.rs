//! `browser_evaluate`: a script in a page, bounded, and its value with its type.

use serde_json::{Map, Value, json};
use tabvisor_actors::{Engine, EvaluateRequest, Evaluated, On, StepKind};
use tabvisor_page::act::{Effect, Route};

use super::super::args::Args;
use super::super::call::Call;
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::failure::refused;
use super::super::schema::{Kind, may, must};
use super::Answer;
use super::wait::DISABLED;

/// Largest value, unless a call says otherwise.
const BYTES: usize = 32_768;
const MOST_BYTES: u64 = 1_048_576;

pub(super) const TOOLS: &[Spec] = &[Spec {
    name: "browser_evaluate",
    about: "Run a function, expression or statements in the page, with the element of ref as `el`. Promises are awaited. Tells the \
            value with its type (undefined, NaN, bigint, node and cycles too); one over max_bytes is not sent. A script that \
            runs into timeout_ms is ended.",
    hints: Hints::Acts,
    on_tab: true,
    args: &[
        must("function", Kind::Text(16_000_000), "() => document.title, or (el) => el.value"),
        may("ref", Kind::Text(64), ""),
        may("engine", Kind::OneOf(&["auto", "cdp", "page"]), ""),
        may("max_bytes", Kind::Whole(1, MOST_BYTES), ""),
    ],
    budget: Within::Evaluate,
    run: evaluate,
    step: Some(|args| Ok(StepKind::Evaluate(request(args)))),
}];

fn request(args: &Args) -> EvaluateRequest {
    let engine = match args.text("engine").as_deref() {
        Some("cdp") => Engine::Cdp,
        Some("page") => Engine::Page,
        _ => Engine::Auto,
    };
    let most = args.whole("max_bytes").and_then(|it| usize::try_from(it).ok()).unwrap_or(BYTES);
    let function = args.verbatim("function").unwrap_or_default();
    let on = args.text("ref").map(On::Ref);
    EvaluateRequest { on, engine, max_result_bytes: Some(most), ..EvaluateRequest::new(function) }
}

fn evaluate(call: Call) -> Answer {
    Box::pin(async move {
        let request = request(&call.args);
        if !call.home.evaluate_enabled() {
            return Err(refused("evaluate_disabled", DISABLED));
        }
        let before = call.tab()?;
        let evaluated = call.supervisor().evaluate(before.tab_id, request, &call.budget).await;
        Ok(call.settle(&before, evaluated.map(|it| told(&it))))
    })
}

/// What a script gave.
pub(super) fn told(evaluated: &Evaluated) -> Told {
    let value = &evaluated.value;
    let raw = value.result.as_ref().map(|it| it.get());
    let mut observed = Map::new();
    observed.insert("type".into(), json!(value.kind));
    if let Some(raw) = raw {
        // A lone surrogate is JSON that not every reader takes.
        match serde_json::from_str::<Value>(raw) {
            Ok(parsed) => observed.insert("value".into(), parsed),
            Err(_) => observed.insert("value_json".into(), json!(raw)),
        };
    }
    if let Some(text) = &value.unserializable {
        observed.insert("unserializable".into(), json!(text));
    }
    if !value.inside.is_empty() {
        observed.insert("unserializable_at".into(), json!(value.inside));
    }
    if let Some(Value::Object(missing)) = value.missing.and_then(|it| serde_json::to_value(it).ok()) {
        observed.extend(missing);
    }
    if let Some(engine) = evaluated.engine {
        observed.insert("engine".into(), json!(engine));
    }
    if let Some(reason) = evaluated.fallback_reason {
        observed.insert("fallback_reason".into(), json!(reason));
    }
    let is_whole = value.missing.is_none();
    let summary = match (raw, &value.unserializable, is_whole) {
        (_, _, false) => format!("a value of type {} that could not be told whole", value.kind),
        (_, Some(text), _) => format!("{} {text}", value.kind),
        (Some(_), None, _) => format!("a value of type {}", value.kind),
        (None, None, _) => value.kind.clone(),
    };
    let mut told = if is_whole {
        Told::seen(Route::Page, "the value came from the page", summary)
    } else {
        Told::new(Effect::Partial, Route::Page, summary)
    };
    told.text = raw.map(str::to_owned);
    told.observed = observed;
    told
}
