//! `browser_select`, `browser_check`, `browser_fill_form`: fields that are not typed into, and several at once.

use serde_json::Value;
use tabvisor_actors::{Act, Named, StepKind};
use tabvisor_page::act::OptionName;

use super::super::args::{Args, wrong};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::schema::{Arg, Kind, may, must};
use super::acted::acts;

const FIELD: &[Arg] = &[must("ref", Kind::Text(64), ""), must("value", Kind::Value, "")];

pub(super) const TOOLS: &[Spec] = &[
    Spec {
        name: "browser_select",
        about: "Choose options of a <select> by label or value (one or a list); they become all that is chosen. Read back; \
                reverted tells that the page undid it.",
        hints: Hints::Sets,
        on_tab: true,
        args: &[
            must("ref", Kind::Text(64), ""),
            may("label", Kind::Value, "text or list"),
            may("value", Kind::Value, "text or list"),
        ],
        budget: Within::Action,
        run: |call| acts(call, select),
        step: Some(|args| select(args).map(StepKind::Act)),
    },
    Spec {
        name: "browser_check",
        about: "Check a checkbox or radio button, or uncheck it with checked=false. Read back.",
        hints: Hints::Sets,
        on_tab: true,
        args: &[must("ref", Kind::Text(64), ""), may("checked", Kind::Flag, "")],
        budget: Within::Action,
        run: |call| acts(call, |args| Ok(check(args))),
        step: Some(|args| Ok(StepKind::Act(check(args)))),
    },
    Spec {
        name: "browser_fill_form",
        about: "Fill several fields in order, each by what it is: text replaces, true or false checks, a label or value chooses. \
                Stops at the first that fails; tells each. Presses no Enter.",
        hints: Hints::Sets,
        on_tab: true,
        args: &[must("fields", Kind::Objects(FIELD, 50), "")],
        budget: Within::Action,
        run: |call| acts(call, |args| Ok(fill(args))),
        step: Some(|args| Ok(StepKind::Act(fill(args)))),
    },
];

fn select(args: &Args) -> Result<Act, Box<Told>> {
    let (by, options) = match (args.options("label")?, args.options("value")?) {
        (Some(labels), None) => (OptionName::Label, labels),
        (None, Some(values)) => (OptionName::Value, values),
        _ => return Err(wrong("label", "label or value is needed; give one of them")),
    };
    Ok(Act::Select { on: args.element(), options, by })
}

fn check(args: &Args) -> Act {
    Act::Check { on: args.element(), checked: args.flag("checked").unwrap_or(true) }
}

fn fill(args: &Args) -> Act {
    let field = |mut field: serde_json::Map<String, Value>| {
        let element = field.get("ref").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        (Named::Ref(element), field.remove("value").unwrap_or_default())
    };
    Act::Fill { fields: args.objects("fields").into_iter().map(field).collect() }
}
