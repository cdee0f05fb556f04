use super::super::tests_page::{capture, frame, node, property, recorded, text, with};
use super::*;

fn shown(options: TextOptions) -> Rendered {
    render_ai(&recorded(), &mut RefTable::default(), &options, None)
}

/// The recorded example, with refs on options too.
const RECORDED: &str = r#"- generic [active] [ref=e1]:
  - heading "Head \"quoted\"" [level=1] [ref=e2]
  - navigation "Nav" [ref=e3]:
    - list [ref=e4]:
      - listitem [ref=e5]:
        - link "Two" [ref=e6] [cursor=pointer]:
          - /url: /two
      - listitem [ref=e7]:
        - link "Two" [ref=e8] [cursor=pointer]:
          - /url: /two
  - button "Save" [ref=e9]
  - button "Save" [ref=e10]
  - 'button "Other: x" [ref=e11]'
  - button [ref=e12]
  - textbox "Name" [ref=e13]: Ada
  - checkbox "Agree" [checked] [ref=e14]
  - combobox "Pick" [ref=e15]:
    - option "A" [selected] [ref=e16]
    - option "B" [ref=e17]
  - button "Dialog" [ref=e18]
  - button "Off" [disabled] [ref=e19]
  - generic [ref=e20] [cursor=pointer]: Clicky div
  - table [ref=e21]:
    - row [ref=e22]:
      - cell "cell one" [ref=e23]
  - iframe [ref=e24]:
    - generic [ref=f1e1]:
      - button "InFrame" [ref=f1e2]
      - button "Save" [ref=f1e3]
  - paragraph [ref=e25]: para text"#;

#[test]
fn the_recorded_snapshot() {
    let rendered = shown(TextOptions::default());
    assert_eq!(rendered.text, RECORDED);
    assert_eq!(rendered.refs.len(), 28);
    assert!(rendered.refs.iter().all(|entry| entry.nth.is_none()));
}

#[test]
fn interactive_is_flat_with_the_ref_first() {
    let text = shown(TextOptions { interactive: true, ..TextOptions::default() }).text;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "- link \"Two\" [ref=e6] [cursor=pointer]:");
    assert_eq!(lines[4], "- button \"Other: x\" [ref=e11]");
    assert!(
        lines.contains(&"- checkbox \"Agree\" [ref=e14] [checked]")
            && lines.contains(&"- textbox \"Name\" [ref=e13]: Ada")
    );
    assert!(
        lines.contains(&"- button \"Save\" [ref=f1e3]")
            && lines.contains(&"- generic [ref=e20] [cursor=pointer]: Clicky div")
    );
}

#[test]
fn compact_drops_structure_without_a_name() {
    let text = shown(TextOptions { compact: true, ..TextOptions::default() }).text;
    assert!(text.starts_with("- heading"), "{text}");
    for gone in ["list [", "table [", "row [", "generic [ref=f1e1]"] {
        assert!(!text.contains(gone), "{gone}");
    }
    assert!(text.contains("\n        - link \"Two\" [ref=e6] [cursor=pointer]:\n          - /url: /two\n"));
    assert!(text.contains("Clicky div") && text.ends_with("paragraph [ref=e25]: para text"));
}

#[test]
fn links_are_listed_at_the_end() {
    let text = shown(TextOptions { urls: true, ..TextOptions::default() }).text;
    assert!(
        text.ends_with(
            "\n\nLinks:\n1. Two -> http://127.0.0.1:33297/two\n2. Two -> http://127.0.0.1:33297/two"
        ),
        "{text}"
    );
}

#[test]
fn texts_stand_together_and_are_quoted() {
    let page = capture(vec![frame(
        "M",
        None,
        node(
            "RootWebArea",
            "",
            vec![
                node(
                    "paragraph",
                    "",
                    vec![text("one  "), text("two: "), node("link", "x", vec![text("x")]), text("3")],
                ),
                node(
                    "none",
                    "",
                    vec![node("generic", "", vec![node("generic", "", vec![node("button", "in", vec![])])])],
                ),
                with("button", "- name", property("expanded", true)),
            ],
        ),
    )]);
    let text = render_ai(&page, &mut RefTable::default(), &TextOptions::default(), None).text;
    let wanted = r#"- generic [ref=e1]:
  - paragraph [ref=e2]:
    - text: "one two:"
    - link "x" [ref=e3]
    - text: "3"
  - button "in" [ref=e4]
  - button "- name" [expanded] [ref=e5]"#;
    assert_eq!(text, wanted);
}

#[test]
fn depth_and_size_are_limited() {
    let mut root = node("button", "deepest", vec![]);
    for _ in 0..3_000 {
        root = node("group", "g", vec![root]);
    }
    let page = capture(vec![frame("M", None, root)]);
    let rendered = render_ai(&page, &mut RefTable::default(), &TextOptions::default(), None);
    assert!(rendered.truncated && rendered.text.ends_with(super::super::fit::TOO_DEEP));
    let rendered = shown(TextOptions { max_chars: 200, ..TextOptions::default() });
    assert_eq!((rendered.refs.len(), rendered.stats.lines, rendered.stats.chars), (5, 7, 189), "as recorded");
    let text = shown(TextOptions { depth: Some(1), ..TextOptions::default() }).text;
    assert!(text.contains("navigation") && !text.contains("list"));
}

#[test]
fn a_second_snapshot_marks_new_refs() {
    let mut table = RefTable::default();
    let page = |buttons: &[&'static str]| {
        let buttons = buttons.iter().map(|name| node("button", name, vec![])).collect();
        capture(vec![frame("M", None, node("RootWebArea", "", buttons))])
    };
    let first = render_ai(&page(&["A", "B"]), &mut table, &TextOptions::default(), None);
    let second =
        render_ai(&page(&["A", "B", "C"]), &mut table, &TextOptions::default(), Some(&first.identities));
    assert!(
        second.text.ends_with("  - button \"C\" [ref=e4] [new]\n\n1 new element since last snapshot"),
        "{}",
        second.text
    );
}
