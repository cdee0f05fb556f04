//! Typing on a stage, and what the page's own listeners recorded of it.

use std::time::Duration;

use serde_json::{Value, json};
use tabvisor_page::act::{ActError, Chord, Outcome, Press, Target, TypeMode, TypeText, press, type_text};

use super::support::{Stage, budget};

pub(crate) const MODES: [TypeMode; 3] = [TypeMode::InsertText, TypeMode::Keystrokes, TypeMode::SetValue];

/// Records keys and input, ahead of all other listeners of the page.
const LOG: &str = "<script>window.keys=[];window.inputs=[];window.items=[];
for(const type of ['keydown','keypress','keyup'])addEventListener(type,e=>keys.push(
    [type,e.key,e.code,e.keyCode,e.shiftKey,e.composedPath()[0].id||'',e.isTrusted]),true);
for(const type of ['input','change'])addEventListener(type,e=>inputs.push(type+' '+(e.target.id||'')),true);
window.downs=()=>keys.filter(it=>it[0]==='keydown').map(it=>it[1]);
window.$=id=>document.getElementById(id);
</script>";

impl Stage {
    /// Shows a page that keeps a record of keys and input.
    pub(crate) async fn write_on(&self, body: &str) {
        self.show(&format!("{LOG}{body}")).await;
    }

    pub(crate) async fn try_type(&self, request: &TypeText) -> Result<Outcome, ActError> {
        type_text(&self.page, request, &budget()).await
    }

    /// Types and gives what is told of it.
    pub(crate) async fn type_in(&self, css: &str, text: &str, mode: TypeMode) -> Value {
        told(self.try_type(&TypeText { mode, ..typing(css, text) }).await)
    }

    /// The same, in the place of what is there.
    pub(crate) async fn replace_in(&self, css: &str, text: &str, mode: TypeMode) -> Value {
        told(self.try_type(&TypeText { mode, replace: true, ..typing(css, text) }).await)
    }

    /// Presses a key on what has the focus, or on an element.
    pub(crate) async fn press(&self, chord: &str, css: Option<&str>) -> Value {
        let press_it = Press {
            chord: Chord::read("key", chord, false).unwrap(),
            on: css.map(|css| Target::Css(css.into())),
            hold_for: Duration::ZERO,
        };
        told(press(&self.page, &press_it, &budget()).await)
    }
}

/// Text at the end of what is there.
pub(crate) fn typing(css: &str, text: &str) -> TypeText {
    TypeText {
        target: Target::Css(css.to_owned()),
        text: text.to_owned(),
        mode: TypeMode::InsertText,
        replace: false,
        submit: false,
        delay: Duration::ZERO,
    }
}

/// What is told of an action, or why there was none.
pub(crate) fn told(done: Result<Outcome, ActError>) -> Value {
    match done {
        Ok(done) => serde_json::to_value(done).unwrap(),
        Err(error) => json!({ "kind": error.kind(), "error": error.to_string(), "sent": error.was_sent() }),
    }
}
