//! `browser_click`, `browser_pointer`: what is done with the pointer.

use tabvisor_actors::{Act, At, Named, StepKind};
use tabvisor_page::act::{Button, Click, Scroll};

use super::super::args::{Args, unavailable, wrong};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::Told;
use super::super::schema::{Arg, Kind, may, must};
use super::acted::acts;

const ROUTES: Kind = Kind::OneOf(&["trusted", "dom_event"]);
const MODIFIERS: Arg = may("modifiers", Kind::Texts(5), "Alt, Control, Meta, Shift, ControlOrMeta");

pub(super) const TOOLS: &[Spec] = &[
    Spec {
        name: "browser_click",
        about: "Click an element by ref, or a point (x, y in CSS pixels). Tells which element got it, navigation, opened tabs, \
                and the dialog if one opened. dom_event makes script events instead of input.",
        hints: Hints::Acts,
        on_tab: true,
        args: &[
            may("ref", Kind::Text(64), ""),
            may("x", Kind::Number, ""),
            may("y", Kind::Number, ""),
            may("input_route", ROUTES, ""),
            may("button", Kind::OneOf(&["left", "middle", "right"]), ""),
            may("count", Kind::Whole(1, 3), ""),
            MODIFIERS,
        ],
        budget: Within::Action,
        run: |call| acts(call, click),
        step: Some(|args| click(args).map(StepKind::Act)),
    },
    Spec {
        name: "browser_pointer",
        about: "Other pointer actions on a ref or x, y: hover, right_click, double_click, scroll (delta_x, delta_y; the page \
                without a place), scroll_into_view, drag (to destination_ref or to_x, to_y).",
        hints: Hints::Acts,
        on_tab: true,
        args: &[
            must(
                "action",
                Kind::OneOf(&["hover", "right_click", "double_click", "scroll", "scroll_into_view", "drag"]),
                "",
            ),
            may("ref", Kind::Text(64), ""),
            may("x", Kind::Number, ""),
            may("y", Kind::Number, ""),
            may("destination_ref", Kind::Text(64), ""),
            may("to_x", Kind::Number, ""),
            may("to_y", Kind::Number, ""),
            may("delta_x", Kind::Number, ""),
            may("delta_y", Kind::Number, ""),
            may("input_route", ROUTES, ""),
            MODIFIERS,
        ],
        budget: Within::Action,
        run: |call| acts(call, pointer),
        step: Some(|args| pointer(args).map(StepKind::Act)),
    },
];

fn click(args: &Args) -> Result<Act, Box<Told>> {
    let button = match args.text("button").as_deref() {
        Some("middle") => Button::Middle,
        Some("right") => Button::Right,
        _ => Button::Left,
    };
    let count = args.whole("count").and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
    clicked(args, button, count)
}

fn clicked(args: &Args, button: Button, count: u8) -> Result<Act, Box<Told>> {
    let at = needed(args)?;
    let by_events = args.text("input_route").as_deref() == Some("dom_event");
    if by_events && matches!(at, At::Point(_)) {
        return Err(wrong("input_route", "dom_event needs the ref of an element"));
    }
    let click = Click { button, count, modifiers: args.modifiers()?, ..Click::default() };
    Ok(Act::Click { at, click, by_events })
}

fn needed(args: &Args) -> Result<At, Box<Told>> {
    args.place()?.ok_or_else(|| wrong("ref", "ref is needed, or x and y"))
}

fn pointer(args: &Args) -> Result<Act, Box<Told>> {
    let action = args.text("action").unwrap_or_default();
    let alone = |names: &[&str], of: &str| match names.iter().find(|name| args.has(name)) {
        Some(name) if action != of => Err(wrong(name, format!("{name} is for action={of}"))),
        _ => Ok(()),
    };
    alone(&["delta_x", "delta_y"], "scroll")?;
    alone(&["destination_ref", "to_x", "to_y"], "drag")?;
    let by_events = args.text("input_route").as_deref() == Some("dom_event");
    match action.as_str() {
        "right_click" => return clicked(args, Button::Right, 1),
        "double_click" => return clicked(args, Button::Left, 2),
        _ if by_events => {
            let next = "call it again without input_route";
            return Err(unavailable(format!("{action} has no dom_event route"), next));
        }
        _ => {}
    }
    Ok(match action.as_str() {
        "hover" => Act::Hover { at: needed(args)?, modifiers: args.modifiers()? },
        "scroll" => {
            let by = Scroll {
                dx: args.number("delta_x").unwrap_or_default(),
                dy: args.number("delta_y").unwrap_or_default(),
            };
            if by == Scroll::default() {
                return Err(wrong("delta_y", "scroll needs delta_x or delta_y"));
            }
            Act::Scroll { at: args.place()?, by }
        }
        "scroll_into_view" => match args.named() {
            Some(on) => Act::ScrollIntoView { on },
            None => return Err(wrong("ref", "scroll_into_view needs ref")),
        },
        _ => Act::Drag { from: needed(args)?, to: destination(args)? },
    })
}

fn destination(args: &Args) -> Result<At, Box<Told>> {
    match (args.text("destination_ref"), args.point("to_x", "to_y")?) {
        (Some(element), None) => Ok(At::On(Named::Ref(element))),
        (None, Some(point)) => Ok(At::Point(point)),
        _ => Err(wrong("destination_ref", "drag needs one destination: destination_ref, or to_x and to_y")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(read: fn(&Args) -> Result<Act, Box<Told>>, given: Value) -> Result<Act, String> {
        let Value::Object(given) = given else { panic!("no object") };
        read(&Args::from(given)).map_err(|told| told.words())
    }

    #[test]
    fn places_are_said_in_one_way() {
        assert!(matches!(read(click, json!({ "ref": "e1" })), Ok(Act::Click { by_events: false, .. })));
        for (given, why) in [
            (json!({}), "ref is needed"),
            (json!({ "ref": "e1", "x": 1, "y": 2 }), "two places"),
            (json!({ "x": 1 }), "y is needed with x"),
            (json!({ "x": -1, "y": 2 }), "0 or more"),
            (json!({ "x": 1, "y": 2, "input_route": "dom_event" }), "needs the ref"),
            (json!({ "ref": "e1", "modifiers": ["Hyper"] }), "Hyper"),
        ] {
            let said = read(click, given.clone()).unwrap_err();
            assert!(said.contains(why), "{given}: {said}");
        }
    }

    #[test]
    fn what_belongs_to_another_action_is_refused() {
        for (given, why) in [
            (json!({ "action": "hover", "ref": "e1", "delta_y": 5 }), "delta_y is for action=scroll"),
            (json!({ "action": "hover", "ref": "e1", "to_x": 5 }), "to_x is for action=drag"),
            (json!({ "action": "scroll" }), "needs delta_x or delta_y"),
            (json!({ "action": "drag", "ref": "e1" }), "one destination"),
            (json!({ "action": "hover", "ref": "e1", "input_route": "dom_event" }), "no dom_event route"),
        ] {
            let said = read(pointer, given.clone()).unwrap_err();
            assert!(said.contains(why), "{given}: {said}");
        }
    }
}
