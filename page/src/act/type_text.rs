//! Entering text into a field.

use std::time::Duration;

use tabvisor_cdp::budget::Budget;

use super::aim::SOFTLY_DISABLED;
use super::chord::Chord;
use super::error::ActError;
use super::field::{FieldAfterEnter, FieldFacts, FieldKind, ReadBack, Verdict};
use super::input_seen::{InputSeen, TextSeen};
use super::keyboard::Keyboard;
use super::keys::Key;
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::press::{arrived, press_on};
use super::ready::{Need, ask};
use super::target::Target;
use super::text_plan::{Plan, TypeMode, plan};

/// Longest time between two keys.
const LONGEST: Duration = Duration::from_secs(5);

/// Text for a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeText {
    /// Into which field.
    pub target: Target,
    /// May be empty, which with `replace` clears the field.
    pub text: String,
    /// How.
    pub mode: TypeMode,
    /// In the place of what is in it.
    pub replace: bool,
    /// Press Enter afterwards.
    pub submit: bool,
    /// Time between two keys, for keystrokes.
    pub delay: Duration,
}

/// How far the text got.
struct Way {
    /// Unicode scalar values.
    count: usize,
    /// A key took the focus elsewhere.
    left_field: bool,
    /// What ended it, of which something was sent or not.
    error: Option<ActError>,
    was_sent: bool,
}

/// Enters text, reads back what the field makes of it, and presses Enter where it is asked for.
///
/// # Errors
/// Every [`ActError`]; [`ActError::NotEditable`] leaves the field as it was.
pub async fn type_text(page: &ActPage, request: &TypeText, budget: &Budget) -> Result<Outcome, ActError> {
    if request.delay > LONGEST {
        let why = format!("must be 0 to 5000 ms, got {}", request.delay.as_millis());
        return Err(ActError::Invalid { field: "delayMs", why });
    }
    let node = Node::find(page, &request.target, budget).await?;
    let facts = match node.field(budget).await {
        // It cannot be told what kind of field it is.
        Err(ActError::Unreadable(_)) => return blindly(page, &node, &request.text, budget).await,
        facts => facts?,
    };
    type_into(page, node, &facts, request, budget).await
}

/// Enters text at the caret of what has the focus.
pub(super) async fn insert_at_caret(
    page: &ActPage,
    node: Node,
    text: &str,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let facts = node.field(budget).await?;
    let request = TypeText {
        target: Target::Css(node.name()),
        text: text.to_owned(),
        mode: TypeMode::InsertText,
        replace: false,
        submit: false,
        delay: Duration::ZERO,
    };
    type_into(page, node, &facts, &request, budget).await
}

/// The same, for a field that was looked at.
pub(super) async fn type_into(
    page: &ActPage,
    node: Node,
    facts: &FieldFacts,
    request: &TypeText,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let refuse = |why: String| Err(ActError::NotEditable { name: node.name(), why });
    if let Some(why) = facts.kind.why_no_text() {
        return refuse(why.to_owned());
    }
    if let Some(why) = &facts.off {
        return refuse(why.clone());
    }
    if facts.read_only {
        return refuse("it is readonly".to_owned());
    }
    let plan = plan(facts.kind, &request.text, request.mode, request.submit)
        .map_err(|why| ActError::Invalid { field: "text", why: why.to_owned() })?;
    let replace = request.replace || request.mode == TypeMode::SetValue || facts.kind == FieldKind::Value;
    if facts.kind.is_single_line() && plan.mode == TypeMode::SetValue {
        let held = node.would_hold(&plan.text, budget).await?;
        if held != plan.text {
            let why = format!("an input of type {} does not take this value as it is", facts.r#type);
            return Err(ActError::Invalid { field: "text", why });
        }
    }
    // What has the focus takes text wherever it is: some editors hide the field that does.
    let need = if facts.focused { Need::ATTACHED } else { Need::VISIBLE };
    let ready = ask(&node, need, budget).await?;
    let empty = node.prepare(&plan.text, replace, budget).await?;
    let sent = send(page, &node, facts.kind, &plan, replace && !empty, request.delay, budget).await;
    let mut outcome = conclude(page, &node, facts, &plan, sent, budget).await?;
    outcome.observed.warnings.extend(ready.softly_disabled.then_some(SOFTLY_DISABLED));
    Ok(outcome)
}

/// Sends the text; what was selected is replaced by it.
async fn send(
    page: &ActPage,
    node: &Node,
    kind: FieldKind,
    plan: &Plan,
    clear: bool,
    delay: Duration,
    budget: &Budget,
) -> Way {
    let mut keyboard = Keyboard::new(&page.session);
    let (mut count, mut left_field, mut by_page) = (0, false, false);
    let done = page
        .during(budget, async {
            if plan.mode == TypeMode::SetValue {
                by_page = true;
                node.set_value(budget).await?;
                count = plan.text.chars().count();
                return Ok(());
            }
            if plan.text.is_empty() {
                if clear && let Some(key) = Key::named("Delete") {
                    keyboard.chord(&Chord { modifiers: Vec::new(), key }, Duration::ZERO).await?;
                }
                return Ok(());
            }
            if plan.mode == TypeMode::InsertText {
                return insert(node, kind, &plan.text, &mut keyboard, &mut count, budget).await;
            }
            for (at, character) in plan.text.chars().enumerate() {
                if at > 0 && !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                keyboard.character(character).await?;
                count += 1;
                if character == '\t' && !node.has_focus(budget).await? {
                    left_field = true;
                    return Ok(());
                }
            }
            Ok(())
        })
        .await;
    let was_sent = keyboard.sent || by_page;
    let error = done.err().map(|error| if was_sent { error.after_sending() } else { error });
    Way { count, left_field, error, was_sent }
}

/// Text as an input method enters it. It has no newlines outside of a textarea: a rich editor
/// gets its paragraphs as commands, for many send what is in them at the Enter key.
async fn insert(
    node: &Node,
    kind: FieldKind,
    text: &str,
    keyboard: &mut Keyboard,
    count: &mut usize,
    budget: &Budget,
) -> Result<(), ActError> {
    if kind != FieldKind::Editable {
        keyboard.text(text).await?;
        *count = text.chars().count();
        return Ok(());
    }
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            node.new_paragraph(budget).await?;
            *count += 1;
        }
        if !line.is_empty() {
            keyboard.text(line).await?;
            *count += line.chars().count();
        }
    }
    Ok(())
}

/// Reads back, and presses Enter if the text is in.
async fn conclude(
    page: &ActPage,
    node: &Node,
    facts: &FieldFacts,
    plan: &Plan,
    sent: Way,
    budget: &Budget,
) -> Result<Outcome, ActError> {
    let route = if plan.mode == TypeMode::SetValue { Route::Page } else { Route::TrustedInput };
    let requested = plan.text.chars().count();
    let mut seen = TextSeen { requested_chars: requested, ..TextSeen::default() };
    seen.enter_pressed = plan.enter.then_some(false);
    let mut observed = Observed { target: Some(facts.words.clone()), ..Observed::default() };
    let error = match sent.error {
        Some(error) => Some(error),
        None => match node.read_back(budget).await.map_err(ActError::after_sending) {
            Ok(read) => {
                let verdict = read.verdict;
                let mut effect = judge(&mut seen, read, &sent);
                if plan.enter && matches!(verdict, Verdict::Equal | Verdict::Rewritten) {
                    effect = enter(page, node, effect, &mut seen, &mut observed, budget).await?;
                }
                observed.input = Some(InputSeen::Text(seen));
                return Ok(Outcome { effect, route, observed });
            }
            Err(error) => Some(error),
        },
    };
    // What was typed led to something that ends every further question.
    seen.delivered_chars = sent.count;
    match error {
        Some(ActError::Dialog(dialog)) if sent.was_sent => observed.dialog = Some(dialog),
        Some(ActError::Navigated { .. } | ActError::Stale(_)) if sent.was_sent => {
            observed.warnings.push("the field was gone before it could be read back");
        }
        Some(error) => return Err(error),
        None => {}
    }
    // The character under way may have arrived.
    let effect = if sent.count + 1 < requested && plan.mode == TypeMode::Keystrokes {
        Effect::Partial
    } else {
        Effect::Unverifiable
    };
    observed.input = Some(InputSeen::Text(seen));
    Ok(Outcome { effect, route, observed })
}

fn judge(seen: &mut TextSeen, read: ReadBack, sent: &Way) -> Effect {
    let ReadBack { verdict, arrived, elsewhere, value, value_chars } = read;
    (seen.value, seen.value_chars, seen.elsewhere) = (value, value_chars, elsewhere);
    seen.differs_from_requested = !matches!(verdict, Verdict::Equal);
    seen.delivered_chars = match verdict {
        Verdict::Equal | Verdict::Rewritten => seen.requested_chars,
        Verdict::Different => arrived,
        Verdict::Unchanged => 0,
        Verdict::Gone => sent.count,
    };
    if sent.left_field {
        // The key that moved the focus was pressed, and is not in the field.
        seen.delivered_chars = sent.count;
        return Effect::Partial;
    }
    match verdict {
        Verdict::Equal | Verdict::Rewritten => Effect::Confirmed,
        Verdict::Different => Effect::Partial,
        Verdict::Unchanged => Effect::SuspectedNoop,
        Verdict::Gone => Effect::Unverifiable,
    }
}

/// Presses Enter; the text is in.
async fn enter(
    page: &ActPage,
    node: &Node,
    effect: Effect,
    seen: &mut TextSeen,
    observed: &mut Observed,
    budget: &Budget,
) -> Result<Effect, ActError> {
    let Some(key) = Key::named("Enter") else { return Ok(effect) };
    let chord = Chord { modifiers: Vec::new(), key };
    let pressed =
        press_on(page, node, &chord, Duration::ZERO, budget).await.map_err(ActError::after_sending)?;
    (observed.navigation, observed.dialog) = (pressed.observed.navigation, pressed.observed.dialog);
    observed.warnings.extend(pressed.observed.warnings);
    let was_seen = arrived(&pressed.heard);
    seen.enter_pressed = Some(was_seen);
    if !was_seen {
        observed.warnings.push("the text is in the field, but Enter was not seen by it");
        return Ok(Effect::Partial);
    }
    if observed.dialog.is_none() {
        seen.field_after_enter = match node.after_enter(budget).await {
            Ok(after) => Some(after),
            Err(ActError::Navigated { .. } | ActError::Stale(_)) => Some(FieldAfterEnter::Replaced),
            Err(ActError::Dialog(dialog)) => {
                observed.dialog = Some(dialog);
                None
            }
            Err(error) => return Err(error.after_sending()),
        };
    }
    Ok(effect)
}

/// As plain text, into a field of which nothing is known.
async fn blindly(page: &ActPage, node: &Node, text: &str, budget: &Budget) -> Result<Outcome, ActError> {
    let mut keyboard = Keyboard::new(&page.session);
    let work = async {
        let focus = serde_json::json!({ "objectId": node.object_id() });
        node.session().call("DOM.focus", focus, budget).await?;
        Ok(keyboard.text(text).await?)
    };
    let done = page.during(budget, work).await;
    done.map_err(|error| if keyboard.sent { error.after_sending() } else { error })?;
    let count = text.chars().count();
    let seen = TextSeen { requested_chars: count, delivered_chars: count, ..TextSeen::default() };
    let warnings = vec!["the field could not be examined: its text was entered as it is, and not read back"];
    let observed = Observed { input: Some(InputSeen::Text(seen)), warnings, ..Observed::default() };
    Ok(Outcome { effect: Effect::Unverifiable, route: Route::TrustedInput, observed })
}
