use proptest::prelude::*;

use super::*;

const MAIN: &str = "M";

fn reducer() -> Reducer {
    Reducer::new(MAIN, Known::default())
}

fn frame(loader: &str, url: &str) -> Frame {
    let (url, fragment) = match url.split_once('#') {
        Some((url, fragment)) => (url, Some(format!("#{fragment}"))),
        None => (url, None),
    };
    Frame {
        id: MAIN.into(),
        parent_id: None,
        loader_id: loader.into(),
        url: url.into(),
        url_fragment: fragment,
        unreachable_url: None,
    }
}

fn committed(loader: &str, url: &str) -> StateEvent {
    StateEvent::Committed { frame: frame(loader, url), restored: false }
}

fn failed(loader: &str, url: &str) -> StateEvent {
    let unreachable_url = Some(url.to_owned());
    let frame = Frame { unreachable_url, ..frame(loader, "chrome-error://chromewebdata/") };
    StateEvent::Committed { frame, restored: false }
}

fn embedded(event: StateEvent) -> StateEvent {
    let inner = || "inner".to_owned();
    match event {
        StateEvent::Committed { frame, restored } => {
            let frame = Frame { id: inner(), parent_id: Some(MAIN.into()), ..frame };
            StateEvent::Committed { frame, restored }
        }
        StateEvent::Started { same_document, .. } => StateEvent::Started { frame: inner(), same_document },
        StateEvent::Within { url, .. } => StateEvent::Within { frame: inner(), url },
        StateEvent::Stopped { .. } => StateEvent::Stopped { frame: inner() },
        other => other,
    }
}

fn started() -> StateEvent {
    StateEvent::Started { frame: MAIN.into(), same_document: false }
}

fn within(url: &str) -> StateEvent {
    StateEvent::Within { frame: MAIN.into(), url: url.into() }
}

fn stopped() -> StateEvent {
    StateEvent::Stopped { frame: MAIN.into() }
}

fn reported(reducer: &Reducer, title: &str, icon: Option<&str>) -> StateEvent {
    let report = Report { title: title.into(), icon: icon.map(Into::into), loaded: false, prints: 0 };
    StateEvent::Reported { at: reducer.mark(), report }
}

fn history(reducer: &Reducer, back: bool, forward: bool, title: &str) -> StateEvent {
    let history = History { back, forward, url: "http://h/".into(), title: title.into() };
    StateEvent::History { at: reducer.mark(), history }
}

fn named(reducer: &Reducer, shown: &str) -> StateEvent {
    StateEvent::Named { at: reducer.mark(), shown: shown.into() }
}

/// A good page that has loaded, with title and icon.
fn good() -> Reducer {
    let mut reducer = reducer();
    for event in [started(), committed("L1", "http://a/x#f"), StateEvent::Parsed] {
        reducer.on(event);
    }
    reducer.on(reported(&reducer, "T", Some("http://a/i.png")));
    reducer.on(StateEvent::Loaded);
    reducer.on(stopped());
    reducer
}

/// Runs events that must leave a page that has loaded as it is.
fn unchanged(mut reducer: Reducer, events: impl IntoIterator<Item = StateEvent>) {
    let before = reducer.known().clone();
    for event in events {
        reducer.on(event);
    }
    assert_eq!(reducer.known(), &before);
}

#[test]
fn a_plain_load() {
    let mut reducer = reducer();
    assert!(reducer.on(started()).changed);
    assert!(reducer.known().state.loading);
    let effects = reducer.on(committed("L1", "http://a/x#f"));
    assert!(effects.changed && effects.read_history && effects.enter_world && !effects.read_tree);
    let effects = reducer.on(StateEvent::Parsed);
    assert!(!effects.changed && effects.read_history && effects.enter_world);
    assert!(reducer.on(history(&reducer, true, false, "from the history")).changed);
    assert_eq!(reducer.known().state.title, "from the history");
    assert!(reducer.on(reported(&reducer, "T", Some("http://a/i.png"))).changed);
    assert!(reducer.known().state.loading, "it still is");
    reducer.on(StateEvent::Loaded);
    assert!(reducer.on(stopped()).changed);
    let state = &reducer.known().state;
    assert_eq!((state.url.as_str(), state.title.as_str()), ("http://a/x#f", "T"));
    assert!(!state.loading && state.can_go_back && !state.can_go_forward && state.error.is_none());
    assert_eq!((state.generation, state.document.as_deref()), (1, Some("L1")));
    let kept = reducer.known().last_good.clone().unwrap();
    assert_eq!((kept.url.as_str(), kept.favicon.as_deref()), ("http://a/x#f", Some("http://a/i.png")));
    assert!(!reducer.on(reported(&reducer, "T", Some("http://a/i.png"))).changed, "nothing new");
    reducer.on(history(&reducer, true, false, "older"));
    assert_eq!(reducer.known().state.title, "T", "the observer knows better");
}

#[test]
fn moves_within_the_document_keep_it() {
    let mut reducer = good();
    reducer.on(StateEvent::Started { frame: MAIN.into(), same_document: true });
    assert!(!reducer.known().state.loading);
    let effects = reducer.on(within("http://a/x#g"));
    assert!(effects.changed && effects.read_history && !effects.enter_world);
    reducer.on(stopped());
    let state = &reducer.known().state;
    assert_eq!((state.url.as_str(), state.title.as_str(), state.generation), ("http://a/x#g", "T", 1));
    assert_eq!(state.favicon.as_deref(), Some("http://a/i.png"));
}

#[test]
fn frames_inside_change_nothing_even_when_they_fail() {
    let events =
        [started(), failed("I", "http://b/"), within("http://b/#x"), committed("J", "http://c/"), stopped()];
    unchanged(good(), events.map(embedded));
}

#[test]
fn a_failed_load_shows_what_failed_and_survives_retries() {
    let mut reducer = good();
    let kept = reducer.known().last_good.clone();
    reducer.on(started());
    let effects = reducer.on(failed("L2", "http://b/"));
    assert!(effects.read_history && !effects.enter_world, "there is nothing in it yet");
    let error = reducer.known().state.error.clone().unwrap();
    assert_eq!((error.code, error.description.as_str()), (-2, "net::ERR_FAILED"));
    assert!(reducer.on(StateEvent::Parsed).enter_world);
    reducer.on(named(&reducer, "ERR_CONNECTION_REFUSED"));
    reducer.on(StateEvent::Loaded);
    reducer.on(history(&reducer, true, false, "b"));
    reducer.on(reported(&reducer, "b", Some("http://b/icon")));
    reducer.on(stopped());
    let state = &reducer.known().state;
    assert_eq!((state.url.as_str(), state.title.as_str(), &state.favicon), ("http://b/", "", &None));
    let error = state.error.clone().unwrap();
    assert_eq!((error.code, error.description.as_str()), (-102, "net::ERR_CONNECTION_REFUSED"));
    assert_eq!(error.url, "http://b/");
    assert_eq!(reducer.known().last_good, kept, "it is no visit");
    // Twice: reload, and nothing commits.
    let before = reducer.known().clone();
    for event in [started(), stopped(), started(), stopped()] {
        reducer.on(event);
    }
    assert_eq!(reducer.known(), &before);
    reducer.on(started());
    assert!(reducer.known().state.error.is_some());
    reducer.on(committed("L3", "http://b/"));
    assert_eq!(reducer.known().state.error, None);
}

#[test]
fn a_load_without_a_commit_leaves_the_page() {
    unchanged(good(), [started(), stopped()]);
    // Superseded: no stop for the first one.
    let mut reducer = good();
    for event in [started(), started(), committed("L3", "http://c/"), stopped()] {
        reducer.on(event);
    }
    assert_eq!((reducer.known().state.generation, reducer.known().state.loading), (2, false));
}

#[test]
fn stopped_after_the_commit_is_not_loading() {
    let mut reducer = good();
    for event in [started(), committed("L2", "http://b/"), stopped()] {
        reducer.on(event);
    }
    assert!(!reducer.known().state.loading);
}

#[test]
fn a_restored_document_has_loaded_already() {
    let mut reducer = good();
    let frame = frame("L0", "http://old/");
    for event in [started(), stopped(), StateEvent::Committed { frame, restored: true }] {
        reducer.on(event);
    }
    assert!(!reducer.known().state.loading);
    reducer.on(reported(&reducer, "Old", None));
    let state = &reducer.known().state;
    assert_eq!((state.title.as_str(), state.favicon.as_deref()), ("Old", Some("http://old/favicon.ico")));
}

#[test]
fn an_icon_is_guessed_for_a_loaded_web_page_without_one() {
    let mut guessing = reducer();
    guessing.on(committed("L", "https://a:8443/deep/er?q"));
    guessing.on(reported(&guessing, "", None));
    assert_eq!(guessing.known().state.favicon, None, "one may still come");
    guessing.on(StateEvent::Loaded);
    assert_eq!(guessing.known().state.favicon.as_deref(), Some("https://a:8443/favicon.ico"));
    guessing.on(reported(&guessing, "", Some("https://a/late.png")));
    assert_eq!(guessing.known().state.favicon.as_deref(), Some("https://a/late.png"));
    guessing.on(reported(&guessing, "", None));
    assert_eq!(
        guessing.known().state.favicon.as_deref(),
        Some("https://a/late.png"),
        "only a commit clears it"
    );

    let mut blank = reducer();
    blank.on(committed("L", "about:blank"));
    blank.on(reported(&blank, "", None));
    blank.on(StateEvent::Loaded);
    assert_eq!((&blank.known().state.favicon, &blank.known().last_good), (&None, &None));
}

#[test]
fn answers_of_a_document_that_is_gone_are_not_heard() {
    let mut reducer = good();
    let late = [
        reported(&reducer, "late", Some("http://late/")),
        history(&reducer, false, true, "late"),
        named(&reducer, "ERR_FAILED"),
        StateEvent::Tree { at: reducer.mark(), frame: frame("L1", "http://a/x") },
    ];
    reducer.on(committed("L2", "http://b/"));
    unchanged(reducer, late);
}

#[test]
fn a_crash_and_what_revives() {
    let mut reducer = good();
    let kept = reducer.known().last_good.clone();
    reducer.on(started());
    assert!(reducer.on(StateEvent::Crashed).changed);
    let state = &reducer.known().state;
    assert!(state.crashed && !state.loading && state.url == "http://a/x#f");
    assert_eq!(reducer.known().last_good, kept);
    reducer.on(started());
    reducer.on(committed("L2", "http://a/x"));
    assert!(!reducer.known().state.crashed && reducer.known().state.loading);
}

#[test]
fn lost_events_are_made_up_for() {
    let mut reducer = good();
    reducer.on(started());
    let effects = reducer.on(StateEvent::Lagged);
    assert!(effects.read_tree && effects.read_history && effects.enter_world);
    // The url of an answer may be older than a move that was seen since.
    let at = reducer.mark();
    reducer.on(within("http://b/2"));
    let tree = |at, url: &str| StateEvent::Tree { at, frame: frame("L2", url) };
    assert_eq!(reducer.on(tree(at, "http://b/1")), Effects { changed: false, ..Effects::TREE });
    let at = reducer.mark();
    assert!(reducer.on(tree(at, "http://b/2")).enter_world);
    assert_eq!((reducer.known().state.url.as_str(), reducer.known().state.generation), ("http://b/2", 2));
    let at = reducer.mark();
    let report = Report { title: "B".into(), icon: None, loaded: true, prints: 0 };
    reducer.on(StateEvent::Reported { at, report });
    assert!(!reducer.known().state.loading, "the stop was lost");
    assert_eq!(reducer.known().state.favicon.as_deref(), Some("http://b/favicon.ico"));
}

#[test]
fn a_later_watcher_goes_on_with_what_was_known() {
    let known = good().known().clone();
    let mut next = Reducer::new(MAIN, known.clone());
    let at = next.mark();
    next.on(StateEvent::Tree { at, frame: frame("L1", "http://a/x#f") });
    assert_eq!(next.known(), &known, "the same document");
    let mut next = Reducer::new("other", known.clone());
    let at = next.mark();
    next.on(StateEvent::Tree { at, frame: Frame { id: "other".into(), ..frame("B", "about:blank") } });
    assert_eq!((next.known().state.url.as_str(), next.known().state.generation), ("about:blank", 2));
    assert_eq!(next.known().last_good, known.last_good, "what it comes back to");
}

#[test]
fn a_page_that_does_not_answer_is_what_the_browser_says_of_it() {
    let known = good().known().clone();
    let mut next = Reducer::new(MAIN, known.clone());
    let at = next.mark();
    let history = |url: &str, title: &str| {
        let history = History { back: false, forward: false, url: url.into(), title: title.into() };
        StateEvent::History { at, history }
    };
    next.on(history("http://a/x#f", ""));
    assert_eq!(next.known(), &known, "it may be the same document");
    next.on(history("http://b/", "B"));
    let state = &next.known().state;
    assert_eq!((state.url.as_str(), state.title.as_str(), &state.favicon), ("http://b/", "B", &None));
    assert_eq!(next.known().last_good, known.last_good, "not before the page says so");
    next.on(StateEvent::Tree { at, frame: frame("L2", "http://b/") });
    assert_eq!(next.known().last_good.as_ref().unwrap().url, "http://b/");
}

#[test]
fn what_is_too_long_is_cut_and_never_kept() {
    let mut reducer = good();
    let kept = reducer.known().last_good.clone();
    reducer.on(committed("L2", &format!("http://a/{}", "ä".repeat(URL_LIMIT))));
    reducer.on(reported(&reducer, &"ä".repeat(TITLE_LIMIT), Some(&"x".repeat(URL_LIMIT + 1))));
    let state = &reducer.known().state;
    assert!(state.url.len() <= URL_LIMIT && state.title.len() <= TITLE_LIMIT && state.favicon.is_none());
    assert!(reducer.known().last_good == kept);
}

#[test]
fn a_page_cannot_make_the_history_too_large_to_be_read() {
    let mut reducer = good();
    let long = format!("http://a/{}", "x".repeat(2 << 20));
    let read = (0..50).filter(|_| reducer.on(within(&long)).read_history).count();
    assert_eq!(read, 7, "{read} times 2 MiB");
    assert!(!reducer.on(StateEvent::Lagged).read_history);
}

fn any_event() -> impl Strategy<Value = StateEvent> {
    let url = || prop::sample::select(vec!["http://a/", "https://b/x#f", "about:blank", "data:,x"]);
    let at = || (0u64..4, 0u64..3).prop_map(|(generation, moves)| Mark { generation, moves });
    let text = || prop::sample::select(vec!["", "one", "two"]);
    prop_oneof![
        any::<bool>().prop_map(|same_document| StateEvent::Started { frame: MAIN.into(), same_document }),
        ("[A-C]", url()).prop_map(|(loader, url)| committed(&loader, url)),
        ("[A-C]", url()).prop_map(|(loader, url)| failed(&loader, url)),
        ("[A-C]", url())
            .prop_map(|(loader, url)| StateEvent::Committed { frame: frame(&loader, url), restored: true }),
        url().prop_map(within),
        Just(stopped()),
        Just(StateEvent::Parsed),
        Just(StateEvent::Loaded),
        Just(StateEvent::Crashed),
        Just(StateEvent::Lagged),
        (at(), text(), prop::option::of(url()), any::<bool>()).prop_map(|(at, title, icon, loaded)| {
            let report = Report { title: title.into(), icon: icon.map(Into::into), loaded, prints: 0 };
            StateEvent::Reported { at, report }
        }),
        (at(), any::<bool>(), any::<bool>(), url(), text()).prop_map(|(at, back, forward, url, title)| {
            let history = History { back, forward, url: url.into(), title: title.into() };
            StateEvent::History { at, history }
        }),
        (at(), "[A-C]", url())
            .prop_map(|(at, loader, url)| StateEvent::Tree { at, frame: frame(&loader, url) }),
        (at(), text()).prop_map(|(at, shown)| StateEvent::Named { at, shown: shown.into() }),
    ]
}

fn is_of_a_frame(event: &StateEvent) -> bool {
    matches!(
        event,
        StateEvent::Started { .. }
            | StateEvent::Committed { .. }
            | StateEvent::Within { .. }
            | StateEvent::Stopped { .. }
    )
}

proptest! {
    #[test]
    fn frames_inside_never_matter(events in prop::collection::vec((any_event(), any::<bool>()), 0..60)) {
        let (mut with, mut without) = (reducer(), reducer());
        for (event, inside) in events {
            if inside && is_of_a_frame(&event) {
                let before = with.known().clone();
                prop_assert_eq!(with.on(embedded(event)), Effects::NONE);
                prop_assert_eq!(with.known(), &before);
            } else {
                prop_assert_eq!(with.on(event.clone()), without.on(event));
            }
        }
        prop_assert_eq!(with.known(), without.known());
    }

    #[test]
    fn only_a_document_takes_away_what_another_had(events in prop::collection::vec(any_event(), 0..60)) {
        let mut reducer = reducer();
        for event in events {
            let before = reducer.known().clone();
            let effects = reducer.on(event.clone());
            let (old, new) = (&before.state, &reducer.known().state);
            prop_assert_eq!(effects.changed, before != *reducer.known());
            if matches!(event, StateEvent::Committed { .. }) {
                prop_assert_eq!(new.generation, old.generation + 1);
            }
            // Before the first document it is only what the browser says.
            if new.generation == old.generation && new.generation > 0 {
                prop_assert_eq!(new.error.is_some(), old.error.is_some());
                prop_assert!(new.favicon.is_some() || old.favicon.is_none());
                let read = matches!(event, StateEvent::Tree { .. });
                prop_assert!(!old.crashed || new.crashed || read);
            }
            if new.error.is_some() {
                prop_assert!(new.title.is_empty() && new.favicon.is_none());
                prop_assert_eq!(&reducer.known().last_good, &before.last_good);
            }
            prop_assert!(reducer.known().last_good.as_ref().is_none_or(|kept| is_web(&kept.url)));
        }
    }
}
