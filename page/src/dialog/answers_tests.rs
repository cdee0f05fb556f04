use std::collections::HashSet;
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use super::*;

const MINUTE: Duration = Duration::from_mins(1);

/// Moments at a distance from each other.
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    fn at(&self, after: Duration) -> Now {
        Now { instant: self.0 + after, wall: UNIX_EPOCH + after }
    }

    fn now(&self) -> Now {
        self.at(Duration::ZERO)
    }
}

fn opened(kind: DialogKind, message: &str) -> Event {
    Event::Opened { kind, message: message.into(), default_value: Some("Ada".into()) }
}

fn answer(accept: bool, text: Option<&str>) -> Answer {
    Answer { accept, prompt_text: text.map(Into::into) }
}

fn handle(id: &str, accept: bool, text: Option<&str>) -> Handle {
    Handle { id: id.into(), accept, prompt_text: text.map(Into::into) }
}

#[test]
fn a_dialog_is_shown_answered_once_and_remembered() {
    let (clock, mut dialogs) = (Clock::start(), Dialogs::default());
    let effects = dialogs.on(opened(DialogKind::Confirm, "sure?"), clock.now());
    assert!(matches!(&effects[..], [Effect::Show(dialog)] if dialog.id == "d1"), "{effects:?}");
    assert_eq!(dialogs.answer(Some("d9"), &OK).unwrap_err().to_string(), "Dialog \"d9\" is not pending.");
    assert_eq!(dialogs.answer(Some("d1"), &answer(false, None)), Ok(handle("d1", false, None)));
    assert_eq!(dialogs.answer(None, &OK), Err(NotPending::Any), "its answer is under way");
    assert!(dialogs.pending().is_some(), "only the close takes it away");
    let effects = dialogs.on(Event::Closed { accepted: false }, clock.at(MINUTE));
    let [Effect::Closed(record)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((record.closed_by, record.accepted), (Some(ClosedBy::Agent), Some(false)));
    assert_eq!(dialogs.answer(Some("d1"), &OK), Err(NotPending::Named("d1".into())), "a used id");
    assert_eq!(
        serde_json::to_value(dialogs.recent().next()).unwrap(),
        serde_json::json!({
            "id": "d1", "type": "confirm", "message": "sure?", "closedBy": "agent", "accepted": false,
            "openedAt": "1970-01-01T00:00:00.000Z", "closedAt": "1970-01-01T00:01:00.000Z",
        })
    );
}

#[test]
fn somebody_else_may_answer() {
    let (clock, mut dialogs) = (Clock::start(), Dialogs::after(6));
    dialogs.on(opened(DialogKind::Alert, "m"), clock.now());
    let effects = dialogs.on(Event::Closed { accepted: true }, clock.now());
    assert!(matches!(&effects[..], [Effect::Closed(it)]
        if it.closed_by == Some(ClosedBy::Remote) && it.dialog.id == "d7"));
    assert_eq!(dialogs.on(Event::Closed { accepted: true }, clock.now()), [], "closed once");
}

#[test]
fn an_accepted_prompt_gets_its_text_or_keeps_its_own() {
    for (given, kind, sent) in [
        (answer(true, Some("Eve")), DialogKind::Prompt, Some("Eve")),
        (answer(true, Some("")), DialogKind::Prompt, Some("")),
        (answer(true, None), DialogKind::Prompt, Some("Ada")),
        (answer(false, Some("Eve")), DialogKind::Prompt, None),
        (answer(true, Some("Eve")), DialogKind::Confirm, None),
    ] {
        let (clock, mut dialogs) = (Clock::start(), Dialogs::default());
        dialogs.on(opened(kind, "m"), clock.now());
        assert_eq!(dialogs.answer(None, &given), Ok(handle("d1", given.accept, sent)), "{given:?} {kind}");
    }
}

#[test]
fn an_armed_answer_serves_once_and_only_in_its_time() {
    let (clock, mut dialogs) = (Clock::start(), Dialogs::default());
    dialogs.arm(answer(true, Some("Eve")), clock.at(MINUTE).instant);
    let effects = dialogs.on(opened(DialogKind::Prompt, "m"), clock.now());
    assert_eq!(effects, [Effect::Handle(handle("d1", true, Some("Eve")))], "it is not shown");
    let effects = dialogs.on(Event::Closed { accepted: true }, clock.now());
    assert!(matches!(&effects[..], [Effect::Closed(it)] if it.closed_by == Some(ClosedBy::Armed)));
    let effects = dialogs.on(opened(DialogKind::Prompt, "m"), clock.now());
    assert!(matches!(&effects[..], [Effect::Show(_)]), "the second one is not answered");
    dialogs.on(Event::Lost, clock.now());
    dialogs.arm(OK, clock.at(MINUTE).instant);
    let effects = dialogs.on(opened(DialogKind::Alert, "m"), clock.at(MINUTE));
    assert!(matches!(&effects[..], [Effect::Show(_)]), "it came too late");
    assert_eq!(dialogs.armed_until(), None);
}

#[test]
fn an_answer_that_was_not_taken_is_told() {
    let (clock, mut dialogs) = (Clock::start(), Dialogs::default());
    dialogs.arm(OK, clock.at(MINUTE).instant);
    dialogs.on(opened(DialogKind::Alert, "m"), clock.now());
    assert_eq!(dialogs.on(Event::AnswerFailed { id: "d7".into() }, clock.now()), []);
    let effects = dialogs.on(Event::AnswerFailed { id: "d1".into() }, clock.now());
    assert!(matches!(&effects[..], [Effect::Show(_)]));
    assert!(dialogs.answer(Some("d1"), &OK).is_ok());
}

#[test]
fn a_storm_is_answered_and_counted_in_one_record() {
    let (clock, mut dialogs) = (Clock::start(), Dialogs::default());
    dialogs.on(opened(DialogKind::Confirm, "first"), clock.now());
    assert_eq!(dialogs.set_policy(Policy::Dismiss), Some(handle("d1", false, None)), "it answers this one");
    dialogs.on(Event::Closed { accepted: false }, clock.now());
    let mut told = 0;
    for at in 0..10_000 {
        let effects = dialogs.on(opened(DialogKind::Alert, "again"), clock.now());
        assert_eq!(effects, [Effect::Handle(handle(&format!("d{}", at + 2), false, None))]);
        told += dialogs.on(Event::Closed { accepted: false }, clock.at(MINUTE)).len();
    }
    assert_eq!(told, 1);
    let recent: Vec<_> = dialogs.recent().collect();
    assert_eq!(recent.len(), 2);
    assert_eq!((recent[1].repeated, &*recent[1].dialog.id), (9_999, "d10001"));
}

#[test]
fn our_own_close_is_not_held_up() {
    let (clock, mut dialogs) = (Clock::start(), Dialogs::default());
    dialogs.on(opened(DialogKind::Beforeunload, ""), clock.now());
    assert_eq!(dialogs.closing(), Some(handle("d1", true, None)));
    dialogs.on(Event::Closed { accepted: true }, clock.now());
    let effects = dialogs.on(opened(DialogKind::Beforeunload, ""), clock.now());
    assert_eq!(effects, [Effect::Handle(handle("d2", true, None))]);
    let effects = dialogs.on(opened(DialogKind::Confirm, "other"), clock.now());
    assert!(matches!(&effects[..], [.., Effect::Show(_)]), "only that question");
}

proptest! {
    #[test]
    fn one_is_open_no_id_comes_twice_and_no_opening_is_answered_twice(
        steps in prop::collection::vec((0u8..9, any::<bool>()), 0..120),
    ) {
        let (clock, mut dialogs) = (Clock::start(), Dialogs::default());
        let (mut ids, mut answered) = (HashSet::new(), HashSet::new());
        let (mut failed, mut shown) = (HashSet::new(), HashSet::new());
        for (at, (step, yes)) in steps.into_iter().enumerate() {
            let now = clock.at(MINUTE * u32::try_from(at).unwrap());
            let was_open = dialogs.pending().map(|it| it.dialog.id.clone());
            let mut handles = Vec::new();
            let mut effects = Vec::new();
            match step {
                0 | 1 => {
                    effects = dialogs.on(opened(DialogKind::Confirm, if yes { "a" } else { "b" }), now);
                    prop_assert!(ids.insert(dialogs.pending().unwrap().dialog.id.clone()));
                }
                2 => effects = dialogs.on(Event::Closed { accepted: yes }, now),
                3 => effects = dialogs.on(Event::Lost, now),
                4 => handles.extend(dialogs.answer(None, &answer(yes, None)).ok()),
                5 => dialogs.arm(answer(yes, None), now.instant + MINUTE * if yes { 1 } else { 9 }),
                6 => handles.extend(dialogs.set_policy(if yes { Policy::Accept } else { Policy::Hold })),
                7 => handles.extend(dialogs.closing()),
                _ => {
                    let id = was_open.clone().unwrap_or_default();
                    failed.insert(id.clone());
                    effects = dialogs.on(Event::AnswerFailed { id }, now);
                }
            }
            for effect in effects {
                match effect {
                    Effect::Handle(handle) => handles.push(handle),
                    Effect::Show(dialog) => {
                        prop_assert_eq!(&dialog.id, &dialogs.pending().unwrap().dialog.id);
                        shown.insert(dialog.id);
                    }
                    Effect::Closed(record) => {
                        prop_assert!(was_open.as_ref() == Some(&record.dialog.id));
                        shown.remove(&record.dialog.id);
                    }
                }
            }
            for handle in handles {
                prop_assert_eq!(&handle.id, &dialogs.pending().unwrap().dialog.id);
                prop_assert!(answered.insert(handle.id.clone()) || failed.contains(&handle.id));
            }
            if matches!(step, 2 | 3) { prop_assert!(dialogs.pending().is_none()); }
            // What is shown and was not taken back is open.
            prop_assert!(shown.iter().all(|id| *id == dialogs.pending().unwrap().dialog.id));
            prop_assert!(dialogs.recent().count() <= RECENT);
            prop_assert!(dialogs.recent().all(|it| it.closed_at.is_some() && it.closed_by.is_some()));
        }
    }
}
