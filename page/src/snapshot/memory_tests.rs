use serde_json::json;

use super::super::frame::Scope;
use super::super::tests_page::{capture, frame, node, recorded, text};
use super::*;

fn render(memory: &mut Memory, request: Request, page: &Capture) -> Result<Snapshot, SnapshotError> {
    let plan = memory.begin(request)?;
    memory.render(&Taken { plan, capture: page.clone() })
}

fn body(snapshot: &Snapshot) -> &str {
    match &snapshot.body {
        Body::Text(text) => &text.snapshot,
        Body::List(_) => panic!("a list"),
    }
}

fn role() -> Request {
    Request { interactive: Some(true), ..Request::default() }
}

/// A page of this document with buttons of these names.
fn buttons(document: &str, names: &[&'static str]) -> Capture {
    let buttons = names.iter().map(|name| node("button", name, vec![text(name)])).collect();
    let mut main = frame("M", None, node("RootWebArea", "", buttons));
    main.document = document.into();
    capture(vec![main])
}

#[test]
fn answers_have_the_shape_of_the_contract() {
    let mut memory = Memory::default();
    let small = buttons("m", &["A", "A"]);
    let answer = serde_json::to_value(render(&mut memory, role(), &small).unwrap()).unwrap();
    assert_eq!(
        answer,
        json!({
            "format": "ai", "url": "http://test/",
            "snapshot": "- button \"A\" [ref=e1]\n  - button \"A\" [ref=e2] [nth=1]",
            "refs": {
                "e1": { "role": "button", "name": "A", "nth": 0, "backendDOMNodeId": 2 },
                "e2": { "role": "button", "name": "A", "nth": 1, "backendDOMNodeId": 3 },
            },
            "stats": { "lines": 2, "chars": 53, "refs": 2, "interactive": 2 },
        })
    );
    let again = serde_json::to_value(render(&mut memory, role(), &small).unwrap()).unwrap();
    assert_eq!(again["newElements"], 0);
    let list = Request { format: super::super::Format::Aria, limit: Some(1), ..Request::default() };
    let list = serde_json::to_value(render(&mut memory, list, &small).unwrap()).unwrap();
    assert_eq!(
        list["nodes"],
        json!([{ "ref": "ax1", "role": "RootWebArea", "name": "", "backendDOMNodeId": 1, "depth": 0 }])
    );
    assert_eq!(
        (&list["format"], &list["truncated"], &list["missing"]["lines"]),
        (&json!("aria"), &json!(true), &json!(6))
    );
}

#[test]
fn a_cut_is_gone_on_with_until_the_end() {
    let mut memory = Memory::default();
    let page = recorded();
    let whole = render(&mut memory, Request { max_chars: Some(0), ..Request::default() }, &page).unwrap();
    assert!(whole.next.is_none());
    let mut request = Request { max_chars: Some(300), ..Request::default() };
    let mut lines = Vec::new();
    loop {
        let part = render(&mut memory, request.clone(), &page).unwrap();
        let shown = body(&part).strip_suffix(super::super::TOO_LARGE).unwrap_or(body(&part)).trim_end();
        lines.extend(shown.lines().map(str::to_owned));
        assert_eq!((part.truncated, part.changed), (part.next.is_some(), false));
        let Some(next) = part.next else { break };
        request.after = Some(next);
    }
    assert_eq!(lines.join("\n"), body(&whole));
}

#[test]
fn another_page_behind_a_cut_is_said() {
    let mut memory = Memory::default();
    let names = ["A", "B", "C", "D", "E"];
    let request = Request { max_chars: Some(90), ..role() };
    let cut = render(&mut memory, request.clone(), &buttons("m", &names)).unwrap();
    let on = Request { after: cut.next, ..request };
    assert!(on.after.is_some());
    let other = render(&mut memory, on.clone(), &buttons("m", &names[1..])).unwrap();
    assert!(other.changed && body(&other).ends_with(super::super::CHANGED), "{}", body(&other));
    let error = render(&mut memory, on.clone(), &buttons("m2", &names)).unwrap_err();
    assert_eq!(error, SnapshotError::OtherDocument);
    let error = memory.begin(Request { compact: Some(true), ..on.clone() }).unwrap_err();
    assert_eq!((error.field(), error), (Some("after"), SnapshotError::OtherOptions));
    let error = memory.begin(Request { after: Some("7".into()), ..on.clone() }).unwrap_err();
    assert_eq!(error, SnapshotError::BadAfter);
    assert!(
        memory.begin(Request { max_chars: Some(5), ..on }).is_ok(),
        "the next part may have another size"
    );
}

#[test]
fn what_is_told_while_a_page_is_read_is_newer() {
    let mut memory = Memory::default();
    assert_eq!(memory.resolve("e1").unwrap_err().reason, StaleReason::Unknown);
    let page = recorded();
    let child = Arc::clone(&page.frames[1].id);
    render(&mut memory, role(), &page).unwrap();
    assert_eq!(&*memory.resolve("f1e1").unwrap().name, "InFrame");

    let plan = memory.begin(role()).unwrap();
    memory.show(Arc::clone(&child), "another".into());
    memory.render(&Taken { plan, capture: page.clone() }).unwrap();
    assert_eq!(memory.resolve("f1e1").unwrap_err().reason, StaleReason::FrameChanged);
    assert!(memory.resolve("e3").is_ok());

    let plan = memory.begin(role()).unwrap();
    memory.remove(&child);
    memory.render(&Taken { plan, capture: page.clone() }).unwrap();
    assert_eq!(memory.resolve("f1e1").unwrap_err().reason, StaleReason::FrameChanged);

    let plan = memory.begin(role()).unwrap();
    memory.show(Arc::clone(&page.main().id), "another".into());
    let error = memory.render(&Taken { plan, capture: page }).unwrap_err();
    assert_eq!(error, SnapshotError::DocumentChanged);
    assert_eq!(memory.resolve("e3").unwrap_err().reason, StaleReason::DocumentChanged);
}

#[test]
fn what_is_told_is_bounded() {
    let mut memory = Memory::default();
    for at in 0..10_000 {
        memory.show(format!("F{at}").into(), "d".into());
    }
    assert!(memory.told_of.len() <= MOST_TOLD && memory.told_of.contains_key("F9999"));
}

#[test]
fn a_part_has_no_wrappers_and_no_indent() {
    let mut memory = Memory::default();
    let inner = node("none", "", vec![node("generic", "", vec![node("button", "In", vec![text("In")])])]);
    let region = node("region", "Part", vec![inner, node("heading", "H", vec![])]);
    let mut page =
        capture(vec![frame("M", None, node("RootWebArea", "", vec![node("button", "Out", vec![]), region]))]);
    let at = page.main().tree.nodes.iter().position(|it| &*it.role == "region").unwrap();
    page.scope = Some(Scope { frame: Some(0), roots: vec![at] });
    let request = Request { selector: Some("section".into()), ..Request::default() };
    let part = render(&mut memory, request.clone(), &page).unwrap();
    // Numbers are given through the whole page, so that they are the same in every part.
    assert_eq!(
        body(&part),
        "- region \"Part\" [ref=e2]\n  - button \"In\" [ref=e4]\n    - StaticText \"In\"\n      - InlineTextBox \"In\"\n  - heading \"H\" [ref=e3]"
    );
    let flat = render(&mut memory, Request { interactive: Some(true), ..request.clone() }, &page).unwrap();
    assert_eq!(body(&flat), "- button \"In\" [ref=e4]");
    let shallow = render(&mut memory, Request { depth: Some(0), ..request.clone() }, &page).unwrap();
    assert_eq!(body(&shallow), "- region \"Part\" [ref=e2]");
    page.scope = Some(Scope { frame: Some(0), roots: vec![] });
    assert_eq!(body(&render(&mut memory, request, &page).unwrap()), "(empty)");
}

#[test]
fn a_frame_is_named_by_a_ref_or_by_css() {
    let mut memory = Memory::default();
    let part = |memory: &Memory, text: &str| {
        memory.begin(Request { frame: Some(text.into()), ..Request::default() }).map(|plan| plan.part.frame)
    };
    assert_eq!(part(&memory, "#f"), Ok(Some(FrameElement::Css("#f".into()))));
    assert!(matches!(part(&memory, "e13"), Err(SnapshotError::StaleFrame(_))));
    render(&mut memory, role(), &recorded()).unwrap();
    let Ok(Some(FrameElement::Node { frame, text, .. })) = part(&memory, "@e13") else { panic!("no node") };
    assert_eq!((&*frame, &*text), ("M", "e13"));
}
