//! `browser_type`, `browser_press_key`: text and keys.

use std::time::Duration;

use tabvisor_actors::{Act, StepKind};
use tabvisor_page::act::{Chord, TypeMode};

use super::super::args::{Args, wrong};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::schema::{Kind, may, must};
use super::acted::acts;

/// Longest text, in bytes.
const TEXT: usize = 1_000_000;

pub(super) const TOOLS: &[Spec] = &[
    Spec {
        name: "browser_type",
        about: "Enter text into a field and read it back. A newline at the end presses Enter in a single-line input \
                (enter_pressed tells); in a textarea or rich editor it is content. replace clears the field first. mode \
                keystrokes types key by key, set_value sets the value with its events.",
        hints: Hints::Acts,
        on_tab: true,
        args: &[
            must("ref", Kind::Text(64), ""),
            must("text", Kind::Verbatim(TEXT), ""),
            may("mode", Kind::OneOf(&["insert_text", "keystrokes", "set_value"]), ""),
            may("replace", Kind::Flag, ""),
        ],
        budget: Within::Action,
        run: |call| acts(call, |args| Ok(type_text(args))),
        step: Some(|args| Ok(StepKind::Act(type_text(args)))),
    },
    Spec {
        name: "browser_press_key",
        about: "Press a key, with modifiers: Enter, Escape, ArrowDown, Control+a. On the focused element, or on ref.",
        hints: Hints::Acts,
        on_tab: true,
        args: &[must("key", Kind::Verbatim(64), ""), may("ref", Kind::Text(64), "")],
        budget: Within::Action,
        run: |call| acts(call, press),
        step: Some(|args| press(args).map(StepKind::Act)),
    },
];

fn type_text(args: &Args) -> Act {
    let mode = match args.text("mode").as_deref() {
        Some("keystrokes") => TypeMode::Keystrokes,
        Some("set_value") => TypeMode::SetValue,
        _ => TypeMode::InsertText,
    };
    Act::Type {
        on: args.element(),
        text: args.verbatim("text").unwrap_or_default(),
        mode,
        replace: args.flag("replace").unwrap_or(false),
        submit: false,
        delay: Duration::ZERO,
    }
}

fn press(args: &Args) -> Result<Act, Box<Told>> {
    let key =
        args.verbatim("key").filter(|key| !key.is_empty()).ok_or_else(|| wrong("key", "key is empty"))?;
    let chord = Chord::read("key", &key, false).map_err(|why| wrong("key", why))?;
    Ok(Act::Press { chord, on: args.named(), hold_for: Duration::ZERO })
}
