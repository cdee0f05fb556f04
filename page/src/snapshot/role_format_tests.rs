use std::fmt::Write as _;

use serde_json::json;

use super::super::ax::AxTree;
use super::super::fit::{TOO_DEEP, TOO_LARGE, ref_map};
use super::super::frame::FrameState;
use super::super::tests_page::{capture, frame, node, property, recorded, text, with};
use super::*;
use crate::refs::{RefId, StaleReason};

fn shown(options: TextOptions) -> Rendered {
    render_role(&recorded(), &mut RefTable::default(), &options, None)
}

fn text_of(options: TextOptions) -> String {
    shown(options).text
}

/// The lines of the recorded example; the frame is the one addition.
const INTERACTIVE: &str = r#"- link "Two" [ref=e16]
            - link "Two" [ref=e17] [nth=1]
      - button "Save" [ref=e3]
      - button "Save" [ref=e4] [nth=1]
      - button "Other: x" [ref=e5]
      - button [ref=e6]
      - textbox "Name" [ref=e7] value="Ada"
      - checkbox "Agree" [ref=e8] [checked]
      - combobox "Pick" [ref=e9] value="A"
          - option "A" [ref=e14] [selected]
          - option "B" [ref=e15]
      - button "Dialog" [ref=e10]
      - button "Off" [ref=e11] [disabled]
      - generic "Clicky div" [ref=e12] [cursor:pointer, onclick]
      - Iframe "Inner" [ref=e13]
              - button "InFrame" [ref=f1e1]
              - button "Save" [ref=f1e2]"#;

#[test]
fn the_recorded_interactive_snapshot() {
    let options = TextOptions { interactive: true, ..TextOptions::default() };
    let rendered = shown(options);
    assert_eq!(rendered.text, INTERACTIVE);
    assert_eq!((rendered.stats.refs, rendered.stats.interactive, rendered.stats.lines), (17, 15, 17));
    assert_eq!(rendered.stats.chars, INTERACTIVE.encode_utf16().count());
    let map = ref_map(&rendered.refs, serde_json::value::Serializer).unwrap();
    assert_eq!(map["e3"]["nth"], 0, "every member of a group stores its place");
    assert_eq!(
        (map["e4"]["nth"].clone(), map["f1e2"].get("nth")),
        (json!(1), None),
        "frames count by themselves"
    );
    assert_eq!(map["e6"], json!({ "role": "button", "backendDOMNodeId": map["e6"]["backendDOMNodeId"] }));
    assert_eq!(map["e13"]["role"], "iframe");
}

#[test]
fn compact_drops_bare_structure_and_keeps_text() {
    let text = text_of(TextOptions { compact: true, ..TextOptions::default() });
    assert!(
        text.starts_with(
            "- RootWebArea \"Main\"\n      - heading \"Head \\\"quoted\\\"\" [ref=e1] [level=1]\n"
        ),
        "{text}"
    );
    assert!(text.contains("\n      - navigation \"Nav\" [ref=e2]\n          - listitem [level=1]\n            - ListMarker \"• \"\n"));
    assert!(text.contains("\n        - MenuListPopup\n") && text.contains("\n      - LayoutTable\n"));
    assert!(
        text.ends_with("\n        - StaticText \"para text\"\n          - InlineTextBox \"para text\""),
        "{text}"
    );
    assert!(!text.contains("- list\n") && !text.contains("- none"));
}

#[test]
fn depth_urls_and_efficient() {
    let text = text_of(TextOptions { depth: Some(2), ..TextOptions::default() });
    assert_eq!(text, "- RootWebArea \"Main\"\n  - none\n    - none");
    let text = text_of(TextOptions { interactive: true, urls: true, ..TextOptions::default() });
    assert!(text.contains("- link \"Two\" [ref=e17] [nth=1] [url=http://127.0.0.1:33297/two]\n"));
    let efficient = TextOptions::efficient();
    assert_eq!((efficient.depth, efficient.max_chars), (Some(6), 8_000));
    assert!(text_of(efficient).starts_with("- link \"Two\" [ref=e16]\n            - link"));
}

#[test]
fn whole_lines_are_kept_and_the_refs_on_them() {
    let all = shown(TextOptions { max_chars: 0, ..TextOptions::default() });
    let cut = shown(TextOptions { max_chars: 300, ..TextOptions::default() });
    assert!(cut.truncated && !all.truncated);
    let body = cut.text.strip_suffix(&format!("\n\n{TOO_LARGE}")).unwrap();
    assert!(all.text.starts_with(&format!("{body}\n")));
    assert_eq!(cut.lines_left_out + body.lines().count(), all.text.lines().count());
    for entry in &cut.refs {
        assert!(body.contains(&format!("[ref={}]", entry.id)));
    }
    assert_eq!(cut.refs.len(), body.matches("[ref=").count());
}

#[test]
fn states_come_in_their_order() {
    let all = json!({ "properties": [
        { "name": "invalid", "value": { "value": "grammar" } }, { "name": "level", "value": { "value": 2 } },
        { "name": "selected", "value": { "value": true } }, { "name": "pressed", "value": { "value": "mixed" } },
        { "name": "expanded", "value": { "value": true } }, { "name": "disabled", "value": { "value": true } },
        { "name": "checked", "value": { "value": "mixed" } },
    ], "value": { "value": "v\"1" } });
    let page = capture(vec![frame("M", None, with("treeitem", "T", all))]);
    let rendered = render_role(&page, &mut RefTable::default(), &TextOptions::default(), None);
    let states =
        "[checked=mixed] [disabled] [expanded] [pressed=mixed] [selected] [level=2] [invalid=grammar]";
    assert_eq!(rendered.text, format!("- treeitem \"T\" [ref=e1] {states} value=\"v\\\"1\""));
    let page = capture(vec![frame("M", None, with("textbox", "", property("invalid", "true")))]);
    let rendered = render_role(&page, &mut RefTable::default(), &TextOptions::default(), None);
    assert_eq!(rendered.text, "- textbox [ref=e1] [invalid]");
}

#[test]
fn a_second_snapshot_marks_what_is_new() {
    let mut table = RefTable::default();
    let options = TextOptions { interactive: true, ..TextOptions::default() };
    let button = |name| node("button", name, vec![]);
    let page = |buttons| capture(vec![frame("M", None, node("RootWebArea", "", buttons))]);
    let first = render_role(&page(vec![button("A"), button("B")]), &mut table, &options, None);
    assert_eq!(first.new_elements, None);
    let same = page(vec![button("A"), button("B")]);
    let same = render_role(&same, &mut table, &options, Some(&first.identities));
    assert_eq!((same.text == first.text, same.new_elements), (true, Some(0)));
    let more = page(vec![button("A"), button("B"), button("C"), button("B")]);
    let more = render_role(&more, &mut table, &options, Some(&first.identities));
    assert_eq!(
        more.text,
        "- button \"A\" [ref=e1]\n  - button \"B\" [ref=e2]\n  - button \"C\" [ref=e3] [new]\n  \
         - button \"B\" [ref=e4] [nth=1] [new]\n\n2 new elements since last snapshot"
    );
}

#[test]
fn frames_that_are_not_there_are_listed_as_such() {
    let mut page = recorded();
    for (state, word) in [
        (FrameState::Loading, "loading"),
        (FrameState::Failed, "failed"),
        (FrameState::NotLoaded, "not-loaded"),
    ] {
        page.frames[1].state = state;
        page.frames[1].tree = AxTree::default();
        let options = TextOptions { interactive: true, ..TextOptions::default() };
        let text = render_role(&page, &mut RefTable::default(), &options, None).text;
        assert!(text.ends_with(&format!("- Iframe \"Inner\" [ref=e13] [frame={word}]")), "{text}");
    }
    page.frames.pop();
    let text = render_role(&page, &mut RefTable::default(), &TextOptions::default(), None).text;
    assert!(text.contains("- Iframe \"Inner\" [ref=e13] [frame=not-read]"));
}

#[test]
fn what_is_too_deep_is_cut_and_said() {
    let mut root = node("button", "deepest", vec![]);
    for _ in 0..3_000 {
        root = node("generic", "", vec![root]);
    }
    let page = capture(vec![frame("M", None, root)]);
    let rendered = render_role(
        &page,
        &mut RefTable::default(),
        &TextOptions { max_chars: 0, ..TextOptions::default() },
        None,
    );
    assert!(rendered.truncated && rendered.text.ends_with(&format!("\n\n{TOO_DEEP}")));
    assert_eq!(rendered.text.lines().count(), 103);
    let shallow = TextOptions { depth: Some(3), ..TextOptions::default() };
    assert!(!render_role(&page, &mut RefTable::default(), &shallow, None).truncated, "it was asked for");
}

#[test]
fn empty_pages_say_so() {
    let page = capture(vec![frame("M", None, node("RootWebArea", "", vec![text("only text")]))]);
    let options = TextOptions { interactive: true, ..TextOptions::default() };
    assert_eq!(
        render_role(&page, &mut RefTable::default(), &options, None).text,
        "(no interactive elements)"
    );
    let mut nothing = page.clone();
    nothing.frames[0].tree = AxTree::default();
    assert_eq!(
        render_role(&nothing, &mut RefTable::default(), &TextOptions::default(), None).text,
        "(empty page)"
    );
}

#[test]
fn refs_of_a_snapshot_name_its_nodes() {
    let page = recorded();
    let mut table = RefTable::default();
    let rendered = render_role(&page, &mut table, &TextOptions::default(), None);
    let mut seen = String::new();
    for entry in &rendered.refs {
        let found = table.resolve(&entry.id.to_string(), &page.documents).unwrap();
        assert_eq!((found.backend_node_id, &found.role), (entry.backend_node_id, &entry.role));
        write!(seen, "{} ", entry.id).unwrap();
    }
    assert!(seen.starts_with("e1 e2 e16 e17 e3 "), "{seen}");
    table.detached(RefId::Element { frame: 0, number: 3 });
    assert_eq!(table.resolve("e3", &page.documents).unwrap_err().reason, StaleReason::NodeDetached);
}
